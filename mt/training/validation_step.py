"""What happens at a validation: the averaged weights are scored, compared and kept.

How translations are scored comes from outside; `mt.training.timetable` knows when.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from mt.corpus.store import TokenStore
from mt.events import LinesValidated, Listener, Validated, ValidationStarted
from mt.model.translation_model import TranslationModel
from mt.training.agreement import Agreement
from mt.training.best import METRIC_NAMES
from mt.training.checkpoint import Parts
from mt.training.compiling import uncompiled
from mt.training.kept_weights import WeightKeeper
from mt.training.minutes import MinutesPlan
from mt.training.progress import Progress
from mt.training.sharding import holding
from mt.training.validation import (
    TranslationScores,
    ValidationTask,
    Validator,
    score_weights,
)


@dataclass(frozen=True, kw_only=True)
class ValidationStep:
    """A validation after the last update, on all ranks together."""

    model: TranslationModel
    parts: Parts
    agreement: Agreement
    plan: MinutesPlan | None
    """That of a budget in minutes."""
    dev: TokenStore
    validator: Validator
    """Scores translations by the weights that the model holds."""
    keep_best: Callable[[Progress], None]
    """Called on the first rank when the model holds the best weights so far."""
    keeper: WeightKeeper
    device: torch.device
    is_compiled: bool
    is_sharded: bool
    listener: Listener

    def run(self, *, epoch: float, is_last: bool = False) -> bool:
        """Validate after so many epochs; False where a stop ended it without scores.

        Raises DivergedError for weights that are those of no model.
        """
        progress = self.parts.progress
        self.listener(ValidationStarted(update=progress.update))
        begun = time.monotonic()
        self.model.eval()
        with self._averaged():
            scored = score_weights(
                self.model,
                self.dev,
                self.validator,
                self._task(is_last=is_last),
                device=self.device,
                ranks=self.agreement.ranks,
            )
            is_best = scored is not None and self._take(scored)
        self.agreement.reach()
        if scored is None:
            self.agreement.is_stopped = True
            return False
        taken = self._note_costs(scored, time.monotonic() - begun)
        self.listener(
            Validated(
                update=progress.update,
                epoch=epoch,
                scores=scored.scores,
                signatures=scored.signatures,
                is_best=is_best,
                seconds=progress.seconds,
                validation_seconds=taken,
                samples=scored.samples,
                by_origin=scored.by_origin,
                also=scored.also,
                intervals=scored.intervals,
                num_pairs=scored.num_pairs,
                num_all_pairs=scored.num_all_pairs,
            )
        )
        return True

    @contextmanager
    def _averaged(self) -> Iterator[None]:
        """Let the model hold the averaged weights, whole, in layers that are not compiled."""
        average = self.parts.average
        held = holding(self.model, average.tensors()) if self.is_sharded else average.applied()
        with held, uncompiled(is_compiled=self.is_compiled):
            yield

    def _task(self, *, is_last: bool) -> ValidationTask:
        """What is asked of the scores now."""
        plan, agreement, begun = self.plan, self.agreement, self.parts.progress.seconds

        def has_time(seconds: float) -> bool:
            if plan is None:
                return True
            return plan.has_time(agreement.seconds(), begun, seconds, is_last=is_last)

        def report(num_done: int, num_lines: int) -> None:
            seconds = agreement.seconds()
            self.listener(LinesValidated(num_done=num_done, num_lines=num_lines, seconds=seconds))

        return ValidationTask(
            looks_first=not self.parts.tracker.has_translated,
            is_timed=plan is not None,
            has_time=has_time,
            should_stop=agreement.should_stop,
            report=report,
        )

    def _take(self, scored: TranslationScores) -> bool:
        """Note scores, and keep the weights that the model holds if they are the best so far.

        Returns whether they are the model now: there may be better ones of a shorter run.
        """
        progress, tracker = self.parts.progress, self.parts.tracker
        is_best = tracker.take(
            scored.scores,
            progress.update,
            of_sample=scored.of_sample,
            extent=scored.extent,
            num_pairs=scored.num_pairs,
        )
        is_best = is_best and tracker.held is None
        progress.validated_update = progress.update
        if self.agreement.ranks.is_first:
            if is_best:
                self.keep_best(progress)
            score = scored.scores[METRIC_NAMES[tracker.metric]]
            self.keeper.keep(self.model, update=progress.update, score=score)
        return is_best

    def _note_costs(self, scored: TranslationScores, taken: float) -> float:
        """Note what a validation took, as the first rank measured it; returns the whole."""
        progress = self.parts.progress
        costs = (taken, scored.loss_seconds, scored.look_seconds)
        searched = (scored.sample_seconds, scored.whole_seconds)
        ranks = self.agreement.ranks
        taken, progress.loss_seconds, look, *searches = ranks.of_first((*costs, *searched))
        progress.sample_seconds, progress.whole_seconds = searches
        progress.look_seconds = look or progress.look_seconds
        progress.validated_seconds = progress.seconds
        if progress.update:
            progress.validation_seconds += taken
        return taken
