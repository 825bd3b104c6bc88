"""What a score of a model stands beside: systems that know nothing, and lines that it has seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mt.corpus.store import TokenStore
from mt.errors import ModelFolderError
from mt.evaluation.metrics import Metric, measure
from mt.evaluation.nearest import nearest
from mt.evaluation.results import Result
from mt.evaluation.scores import Score
from mt.events import Listener, Notice
from mt.model_folder import folder as model_folder
from mt.model_folder.seen_lines import FILE, SeenLines
from mt.preparation.pipeline import TOKENS, rules_of
from mt.tasks.scored_text import System
from mt.text.tags import tag_of

_MOST_COMPARISONS = 200_000_000
"""Of test lines with training pairs: some seconds. More pairs are passed over evenly."""
_LEAST = 0.01  # a score that is told as more than nothing


def copied_source(sources: Sequence[str]) -> System:
    """The system that gives its source."""
    return System(name="copy of the source", hypotheses=list(sources))


def nearest_pairs(
    folders: Sequence[Path],
    sources: Sequence[str],
    *,
    to: str = "",
    most_pairs: int | None = None,
) -> list[System]:
    """The system that gives the translation of the training source most like its source.

    It knows the corpus of the first model folder that still holds one, or `most_pairs` of it; none
    where none does. Of a model of several languages only pairs into `to` count, if that is given.
    Raises ModelFolderError where the corpus is damaged.
    """
    for folder in folders:
        path = folder / model_folder.TRAINING / TOKENS
        if path.is_file():
            break
    else:
        return []
    config = model_folder.read_config(folder)
    tokenizers = model_folder.load_tokenizers(folder, config)
    store = TokenStore(path)
    rows: Sequence[int] = range(len(store))
    if config.directions and to:
        (tag,) = tokenizers.source.tag_ids([tag_of(to)])
        rows = [row for row in rows if store.sources([row])[0][0] == tag]
    stride = -(-len(rows) * len(sources) // _MOST_COMPARISONS)
    if most_pairs is not None:
        stride = max(stride, -(-len(rows) // most_pairs))
    indices = rows[:: max(stride, 1)]
    queries = [np.array(ids, dtype=np.int64) for ids in tokenizers.source.encode_batch(sources)]
    found = nearest(queries, store.sources(indices))
    targets = store.targets([indices[index] for index in found.tolist()])
    name = f"nearest of {len(indices):,} training pairs"
    hypotheses = [tokenizers.target.decode(ids.tolist()) for ids in targets]
    return [System(name=name, hypotheses=hypotheses)]


def trivial_systems(
    folders: Sequence[Path],
    sources: Sequence[str],
    listener: Listener,
    *,
    to: str = "",
    most_pairs: int | None = None,
) -> list[System]:
    """The copy of the source, and the nearest training pairs where there are any."""
    systems = [copied_source(sources)]
    try:
        systems += nearest_pairs(folders, sources, to=to, most_pairs=most_pairs)
    except ModelFolderError as error:  # of an older mt; the model itself was read
        listener(Notice(text=f"no nearest training pairs: {error}"))
    return systems


@dataclass(frozen=True, kw_only=True)
class SeenOverlap:
    """How many lines of a test set stand in the training text of a model."""

    num_lines: int
    num_sources: int
    """Lines whose source was a training source."""
    num_references: int
    """Lines of which a reference was a training target."""
    num_both: int
    is_whole: bool
    """False where the model was trained on other text before, of which nothing is known."""

    def __str__(self) -> str:
        return (
            f"{self.num_either} of {self.num_lines} test lines occur in the training text: "
            f"{self.num_sources} sources, {self.num_references} references, {self.num_both} both"
        )

    @property
    def record(self) -> dict[str, int | bool]:
        """The counts as JSON."""
        return {
            "sources": self.num_sources,
            "references": self.num_references,
            "both": self.num_both,
            "is_whole": self.is_whole,
        }

    @property
    def num_either(self) -> int:
        """Lines of which a side occurs."""
        return self.num_sources + self.num_references - self.num_both


def overlap_with_training(
    folders: Sequence[Path],
    sources: Sequence[str],
    references: Sequence[Sequence[str]],
    listener: Listener,
) -> SeenOverlap | None:
    """What of a test set the models of these folders were trained on; None where none knows.

    Lines are the same in the declared normalisation; blank ones do not count.
    """
    kept = [SeenLines.load(folder / FILE) for folder in folders]
    if not any(kept):
        text = "whether test lines were trained on is not known: the model keeps no record of it"
        listener(Notice(text=text))
        return None
    seen = SeenLines.union(kept)
    normalise = rules_of(model_folder.read_config(folders[0])).normalise
    known = seen.holds("source", sources, normalise)
    told = np.any([seen.holds("target", lines, normalise) for lines in references], axis=0)
    overlap = SeenOverlap(
        num_lines=len(sources),
        num_sources=int(known.sum()),
        num_references=int(told.sum()),
        num_both=int((known & told).sum()),
        is_whole=seen.is_whole,
    )
    if overlap.num_either:
        listener(Notice(text=f"{overlap}; the scores flatter the model", is_warning=True))
    if not overlap.is_whole:
        listener(Notice(text="of a part of its training text the model keeps no record"))
    return overlap


@dataclass(frozen=True, kw_only=True)
class TrivialScores:
    """What a system that knows nothing of translating scores."""

    system: str
    scores: Sequence[Score]

    def __str__(self) -> str:
        """One line: the system and its scores."""
        return f"{self.system}: " + ", ".join(f"{s.name} {s.score:.2f}" for s in self.scores)

    @property
    def by_name(self) -> dict[str, float]:
        """The scores by the names of their metrics."""
        return {score.name: score.score for score in self.scores}

    @property
    def record(self) -> dict[str, object]:
        """The scores as JSON."""
        rows = [{"name": score.name, "score": score.score} for score in self.scores]
        return {"system": self.system, "scores": rows}


def score_trivial(
    folders: Sequence[Path],
    sources: Sequence[str],
    metrics: Sequence[Metric],
    results: Sequence[Result],
    listener: Listener,
    *,
    to: str = "",
) -> list[TrivialScores]:
    """Score trivial systems, and warn where they do no worse than `results`, of the same metrics.

    Metrics of errors are left out: TER looks long for edits where nothing fits.
    """
    fast = [metric for metric in metrics if not metric.is_error]
    own = {result.score.name: result.score.score for result in results}
    systems = trivial_systems(folders, sources, listener, to=to)
    found = []
    for system in systems if fast else ():
        scores = [each.score() for each in measure(system.hypotheses, fast)]
        trivial = TrivialScores(system=system.name, scores=scores)
        listener(Notice(text=f"beside it, {trivial}"))
        beaten = [score.name for score in scores if score.score >= max(own[score.name], _LEAST)]
        if beaten:
            text = f"{system.name} scores no less in {' and '.join(beaten)}"
            listener(Notice(text=text, is_warning=True))
        found.append(trivial)
    return found
