"""What a run says so that nobody is left with nothing: what to expect of it, and what to try next.

At its start of a corpus that is small; at its end of a model that is worth no more than a trivial
system. It changes nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mt.config import Config
from mt.errors import MtError
from mt.events import Listener, Notice, TrivialCompared
from mt.model_folder.facts import read_facts
from mt.reporting.curves import read_curves
from mt.tasks.dev_comparison import DevComparison, compare_with_trivial
from mt.tasks.trivial_systems import TrivialScores
from mt.training.best import BestTracker

_FEW_PAIRS = 1_000
_SMALL_CORPUS = 10_000  # pairs, up to which more text is what helps most
_LEAST_AVERAGED, _MOST_AVERAGED = 3, 10  # records of the loss, each of a batch of like lengths
_LEAST_RECORDS = 2 * _LEAST_AVERAGED
_RISE = 0.5  # nats a token above the lowest loss: the run has left what it had learnt
_LEAST_FALL = 0.2  # share of the first loss; the frequencies of words alone bring about as much


def tell_few_pairs(num_pairs: int, listener: Listener) -> None:
    """Say, where there are few pairs of text to train on, what to expect of them."""
    if num_pairs < _FEW_PAIRS:
        text = (
            f"fewer than {_FEW_PAIRS:,} pairs to train on: expect a model that knows their words "
            "and little else; more text, or --from a trained model, helps (docs/low-resource.md)"
        )
        listener(Notice(text=text))


def advise(
    folder: Path,
    config: Config,
    tracker: BestTracker,
    *,
    num_pairs: int,
    resume: str,
    listener: Listener,
) -> Sequence[TrivialScores] | None:
    """Warn of a model that does not beat trivial systems, and say what to try; else say nothing.

    `num_pairs` are those of the corpus, `resume` the command that goes on with the run. Gives the
    scores of the trivial systems; None where there are none to compare with.
    """
    try:
        facts = read_facts(folder, config)
        if facts.best is None or facts.best.update != tracker.best_update:
            return None
        compared = compare_with_trivial(folder, config, facts.best, tracker.standing, listener)
        course = _LossCourse.read(folder)
    except (MtError, OSError) as error:  # all that was trained is saved
        text = f"how the model stands beside trivial systems is not known: {error}"
        listener(Notice(text=text))
        return None
    if compared is None:
        return None
    listener(
        TrivialCompared(
            update=(facts.ended or facts.best).update,
            best_update=facts.best.update,
            num_pairs=compared.num_pairs,
            scores=compared.scores,
            systems={each.system: each.by_name for each in compared.trivial},
            beaten_by=tuple(each.system for each in compared.beaten_by),
        )
    )
    if compared.beaten_by:
        listener(Notice(text=_beaten(compared), is_warning=True))
        precision = "" if facts.started is None else facts.started.precision
        tries = _tries(config, tracker, course, precision=precision, resume=resume)
        if num_pairs < _SMALL_CORPUS:
            of_symbols = config.tokenizer.takes_symbols
            tries.append("more pairs" if of_symbols else "more text (docs/low-resource.md)")
        listener(Notice(text=f"to try: {'; '.join(tries)}"))
    return compared.trivial


@dataclass(frozen=True, kw_only=True)
class _LossCourse:
    """The loss in training, in nats a token, each a mean of a few records."""

    first: float
    lowest: float
    last: float
    update: int
    """Of the last record; 0 where there are too few to tell."""
    num_skipped: int
    """Updates whose gradient was not finite."""

    @classmethod
    def read(cls, folder: Path) -> _LossCourse:
        """From `metrics.jsonl`; raises ModelFolderError where that is damaged."""
        curves = read_curves(folder)
        points = curves.points("train/loss")
        if len(points) < _LEAST_RECORDS:
            return cls(first=0.0, lowest=0.0, last=0.0, update=0, num_skipped=curves.num_skipped)
        num_averaged = min(max(len(points) // 6, _LEAST_AVERAGED), _MOST_AVERAGED)
        sums = [0.0, *itertools.accumulate(point.value for point in points)]
        pairs = zip(sums, sums[num_averaged:], strict=False)
        means = [(end - start) / num_averaged for start, end in pairs]
        return cls(
            first=means[0],
            lowest=min(means),
            last=means[-1],
            update=points[-1].update,
            num_skipped=curves.num_skipped,
        )

    @property
    def is_diverged(self) -> bool:
        """Whether the run has lost what it had learnt."""
        return self.num_skipped > 0 or self.last > self.lowest + _RISE

    @property
    def has_hardly_fallen(self) -> bool:
        """Whether next to nothing was learnt; False where there are too few records to tell."""
        return self.update > 0 and self.last > (1 - _LEAST_FALL) * self.first


def _beaten(compared: DevComparison) -> str:
    """One line: the scores of the model and of trivial systems, and what that means."""
    names = list(compared.scores)
    own = " and ".join(f"{name} {compared.scores[name]:.2f}" for name in names)
    others = [
        f"the {each.system} " + " and ".join(f"{each.by_name[name]:.2f}" for name in names)
        for each in compared.trivial
    ]
    is_part = compared.num_pairs < compared.num_all_pairs
    pairs = f"{compared.num_pairs:,} of the " if is_part else "the "
    verdict = "has not learnt to translate yet"
    if not compared.is_worse_in_all:
        verdict = "has hardly learnt to translate"
    return (
        f"on {pairs}{compared.num_all_pairs:,} dev pairs the model scores {own}, "
        f"{', '.join(others)}: it {verdict}"
    )


def _tries(
    config: Config, tracker: BestTracker, course: _LossCourse, *, precision: str, resume: str
) -> list[str]:
    """What may help, by how the loss went and what ended the run."""
    training = config.training
    tries = []
    if course.is_diverged:
        rate = f"a lower rate (--set training.peak_rate={training.peak_rate / 2:g})"
        other = "" if precision == "float32" else " or --precision float32"
        tries.append(f"a new run with {rate}{other}, since the loss diverged in this one")
    elif not tracker.is_exhausted:
        budgets = ("minutes", "epochs", "updates")
        flags = [f"--{name} …" for name in budgets if getattr(training, f"max_{name}") is not None]
        tries.append(f"a longer budget ({' '.join([resume, *flags])})")
    is_warm = course.update >= training.warmup_updates
    if tracker.is_exhausted or (course.has_hardly_fallen and is_warm):
        tries.append("`mt check` on the corpus: are its two sides translations, line by line?")
    return tries
