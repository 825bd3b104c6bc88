"""How a validation set is scored while training: by the translator and the scores of `mt eval`.

A set of more than 500 pairs is first looked at: a fixed sample of 200 is translated, with tight
bounds, and as long as that scores below 1 BLEU nothing more is. Where minutes are counted, a set of
more than 200 is, and its sample has to do where there is no time for the rest. Otherwise no clock
decides anything here.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mt.config import Config
from mt.directions import Direction
from mt.errors import ModelFolderError
from mt.events import Listener, ignore
from mt.model_folder.files import read_dev_directions
from mt.model_folder.folder import read_dev_pairs
from mt.tasks.also_dev import AlsoSet
from mt.tasks.dev_lines import SAMPLE, cut_up, fixed_sample, in_turn
from mt.tasks.dev_scores import (
    DirectionScoring,
    Scoring,
    interval_of,
    scores_by_origin,
    scoring_for,
)
from mt.training.best import Extent
from mt.training.distributed import Ranks
from mt.training.validation import TranslationScores, ValidationTask, Validator
from mt.translation.translator import Translator

_NUM_SHOWN = 2  # translations shown at each validation
_LEAST_LOOKED_AT = 500  # pairs: a smaller set is translated whole, unless minutes are counted
_LEAST_BLEU = 1.0  # of the sample, below which the rest is not worth its time
_CHUNKS_OF_WINDOW, _LEAST_CHUNK = 16, 16
_LEAST_OF_DIRECTION = 25  # pairs of each direction in the sample


def make_validator(
    folder: Path,
    translator: Callable[[Config], Translator],
    origins: Sequence[tuple[str, int]],
    ranks: Ranks,
    *,
    also: Sequence[AlsoSet] = (),
    config: Config,
    listener: Listener,
) -> Validator:
    """Translate the validation set as `mt translate` does and score it as `mt eval` does.

    `translator` is asked for anew each time: it translates with the weights as they are then.
    `origins` are the names and numbers of pairs of the corpora in it: where there are several, each
    is scored by itself too. Each rank translates its share, and all have the scores. The sets of
    `also` are scored after it, whatever time is left.
    """
    pairs = read_dev_pairs(folder)
    if not pairs:
        raise ModelFolderError(f"{folder} has no validation set")
    directions = read_dev_directions(folder) if config.directions else []
    by_direction = DirectionScoring(config, directions, listener) if directions else None
    first = _DevSet(
        sources=[source for source, _ in pairs],
        references=[reference for _, reference in pairs],
        origins=origins,
        ranks=ranks,
        config=config,
        translator=translator,
        scores_of=scoring_for(config, listener if by_direction is None else ignore),
        directions=directions,
        by_direction=by_direction,
    )
    further = {
        each.name: dataclasses.replace(
            first, sources=each.sources, references=each.references, origins=()
        )
        for each in also
    }

    def validate(task: ValidationTask) -> TranslationScores | None:
        found, begun = first.validate(task), time.monotonic()
        if found is None:
            return None
        by_name = {}
        for name, each in further.items():
            scores = each.all_scores(task)
            if scores is None:
                return None
            by_name[name] = scores
        return dataclasses.replace(
            found, also=by_name, also_seconds=time.monotonic() - begun if further else 0.0
        )

    return validate


@dataclass(frozen=True, kw_only=True)
class _DevSet:
    """A validation set, and what translates and scores it."""

    sources: list[str]
    references: list[str]
    origins: Sequence[tuple[str, int]]
    ranks: Ranks
    config: Config
    translator: Callable[[Config], Translator]
    scores_of: Scoring
    directions: Sequence[Direction] = ()
    """That of each line, of a model of several languages."""
    by_direction: DirectionScoring | None = None

    @property
    def sample(self) -> list[int]:
        """The lines that stand for the set: of several directions, as many of each."""
        if not self.directions:
            return fixed_sample(len(self.sources))
        lines: dict[Direction, list[int]] = {}
        for i, direction in enumerate(self.directions):
            lines.setdefault(direction, []).append(i)
        each = max(SAMPLE // len(lines), _LEAST_OF_DIRECTION)
        return sorted(mine[i] for mine in lines.values() for i in fixed_sample(len(mine), each))

    def validate(self, task: ValidationTask) -> TranslationScores | None:
        """The scores of the set, or of its sample; None where a stop is asked for."""
        sample, begun = self.sample, time.monotonic()
        look_seconds = 0.0
        least = SAMPLE if task.is_timed else _LEAST_LOOKED_AT
        if task.looks_first and len(self.sources) > least:
            texts = self._translated(self.translator(_bounded(self.config)), sample, task)
            if texts is None:
                return None
            look_seconds = time.monotonic() - begun
            scores = self._scores(texts, sorted(texts), "look")
            if len(texts) < len(sample) or _is_untrained(scores.scores):
                return self._timed(scores, look_seconds, texts, sample)
            begun = time.monotonic()
        translator = self.translator(self.config)
        texts = self._translated(translator, sample, task)
        if texts is None:
            return None
        sample_seconds = time.monotonic() - begun
        if len(texts) < len(sample):
            cut = self._scores(texts, sorted(texts), "cut")
            return dataclasses.replace(
                self._timed(cut, sample_seconds, texts, sample), look_seconds=look_seconds
            )
        chosen = set(sample)
        rest = [i for i in range(len(self.sources)) if i not in chosen]
        others = self._translated(translator, rest, task, after=texts, begun=begun)
        if others is None:
            return None
        seconds = time.monotonic() - begun
        is_whole = len(others) == len(rest)
        done = self._size() if is_whole else self._size(sample) + self._size(list(others))
        found = self._scores(texts, sample, "sample")
        if is_whole and rest:
            of_sample = found.scores
            everything = range(len(self.sources))
            found = self._scores({**texts, **others}, everything, "whole")
            found = dataclasses.replace(found, of_sample=of_sample)
        return dataclasses.replace(
            found,
            look_seconds=look_seconds,
            sample_seconds=sample_seconds,
            whole_seconds=seconds * self._size() / max(done, 1),
        )

    def all_scores(self, task: ValidationTask) -> dict[str, float] | None:
        """The scores of the whole set, whatever time is left; None where a stop is asked for."""
        patient = ValidationTask(should_stop=task.should_stop, report=task.report)
        everything = list(range(len(self.sources)))
        texts = self._translated(self.translator(self.config), everything, patient)
        return None if texts is None else self._scores(texts, everything, "whole").scores

    def _timed(
        self,
        scores: TranslationScores,
        seconds: float,
        texts: Mapping[int, str],
        sample: Sequence[int],
    ) -> TranslationScores:
        """Scores of some lines of the sample, with what they tell of the time of more."""
        each = seconds / self._size(list(texts))
        return dataclasses.replace(
            scores,
            extent=scores.extent if len(texts) == len(sample) else "cut",
            look_seconds=each * self._size(sample) if scores.extent == "look" else 0.0,
            sample_seconds=each * self._size(sample),
            whole_seconds=each * self._size(),
        )

    def _translated(
        self,
        translator: Translator,
        indices: Sequence[int],
        task: ValidationTask,
        *,
        after: Mapping[int, str] | None = None,
        begun: float = 0.0,
    ) -> dict[int, str] | None:
        """The translations of lines by their index; None where a stop is asked for.

        It ends after the first few where time is short; what comes `after` other lines, translated
        since `begun`, may be none at all.
        """
        before = [] if after is None else list(after)
        begun = begun if before else time.monotonic()
        total = len(before) + len(indices)
        goal = self._size([*before, *indices])
        texts: dict[int, str] = {}
        for chunk in self._chunks(translator, indices, is_timed=task.is_timed):
            done = self._size([*before, *texts])
            seconds = (time.monotonic() - begun) / max(done, 1) * (goal - done)
            is_late = self.ranks.is_first and not task.has_time(seconds)
            num_stopped, num_late = self.ranks.summed(task.should_stop(), is_late)
            if num_stopped:
                return None
            if num_late and done:
                break
            translated = self._texts(translator, self.ranks.share(chunk))
            texts.update(zip(chunk, self.ranks.joined(translated), strict=True))
            task.report(len(before) + len(texts), total)
        num_stopped, _ = self.ranks.summed(task.should_stop(), 0)
        return None if num_stopped else texts

    def _texts(self, translator: Translator, lines: Sequence[int]) -> list[str]:
        """The translations of lines, each into the language of its direction."""
        if not self.directions:
            return [each.text for each in translator.translate([self.sources[i] for i in lines])]
        texts: dict[int, str] = {}
        for direction in dict.fromkeys(self.directions[i] for i in lines):
            mine = [i for i in lines if self.directions[i] == direction]
            towards = translator.towards(direction.target, source=direction.source)
            found = towards.translate([self.sources[i] for i in mine])
            texts.update(zip(mine, (each.text for each in found), strict=True))
        return [texts[i] for i in lines]

    def _chunks(
        self, translator: Translator, indices: Sequence[int], *, is_timed: bool
    ) -> list[list[int]]:
        """Lines of like lengths that are translated between two questions whether to stop."""
        size = max(translator.window // _CHUNKS_OF_WINDOW, _LEAST_CHUNK)
        chunks: list[list[int]] = []
        for order in in_turn(self.sources, indices, is_timed=is_timed):
            chunks += cut_up(order, [len(self.sources[i]) for i in order], size)
        return chunks

    def _size(self, indices: Sequence[int] | None = None) -> int:
        """What the time of a search follows: the characters of lines, of all without `indices`."""
        lines = self.sources if indices is None else [self.sources[i] for i in indices]
        return sum(map(len, lines)) + len(lines)

    def _scores(
        self, texts: Mapping[int, str], indices: Sequence[int], extent: Extent
    ) -> TranslationScores:
        """The scores of some lines, and where they are all, of each corpus."""
        hypotheses = [texts[i] for i in indices]
        references = [self.references[i] for i in indices]
        is_all = len(indices) == len(self.sources)
        shown = range(len(indices))[:: max(len(indices) // _NUM_SHOWN, 1)][:_NUM_SHOWN]
        samples = ((self.sources[indices[i]], hypotheses[i], references[i]) for i in shown)
        return dataclasses.replace(
            self._scored(hypotheses, references, indices),
            samples=tuple(samples),
            extent="whole" if is_all and extent != "look" else extent,
            num_pairs=None if is_all else len(indices),
            num_all_pairs=None if is_all else len(self.sources),
        )

    def _scored(
        self, hypotheses: list[str], references: list[str], indices: Sequence[int]
    ) -> TranslationScores:
        """The scores of the translations of some lines."""
        if self.by_direction is not None:
            mean = self.by_direction.scores(
                hypotheses, references, [self.directions[i] for i in indices]
            )
            return TranslationScores(
                scores=mean.scores,
                signatures=mean.signatures,
                intervals=mean.intervals,
                by_origin=mean.by_direction,
            )
        measured = self.scores_of(hypotheses, references)
        scores = [each.score() for each in measured]
        by_origin: dict[str, dict[str, float]] = {}
        if len(indices) == len(self.sources):
            by_origin = scores_by_origin(hypotheses, self.references, self.origins, self.scores_of)
        return TranslationScores(
            scores={score.name: score.score for score in scores},
            signatures={score.name: score.signature for score in scores},
            by_origin=by_origin,
            intervals={each.metric.name: interval_of(each) for each in measured},
        )


def _bounded(config: Config) -> Config:
    """The same settings with half the room for a translation.

    A model that has learnt little does not end its sentences, and runs each to its bound.
    """
    search = config.search
    return dataclasses.replace(
        config,
        search=dataclasses.replace(
            search,
            max_length_ratio=search.max_length_ratio / 2,
            max_length_offset=max(search.max_length_offset // 2, 1),
            min_length_ratio=min(search.min_length_ratio, search.max_length_ratio / 2),
        ),
    )


def _is_untrained(scores: Mapping[str, float]) -> bool:
    """Whether a model is not worth more than a look: hardly a word is where it should be."""
    return scores["BLEU"] < _LEAST_BLEU and not scores.get("exact", 0.0)
