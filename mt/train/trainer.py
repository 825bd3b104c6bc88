"""The training loop: batches in, better weights out. It prints nothing and reports by events."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from mt.config import TrainingConfig
from mt.corpus.sampler import BatchSampler
from mt.corpus.store import TokenStore
from mt.errors import TrainingError
from mt.events import (
    BatchDone,
    Listener,
    TrainingEnded,
    TrainingStarted,
    Validated,
    ValidationStarted,
)
from mt.model.encoder_decoder import EncoderDecoder, count_parameters
from mt.train.averaging import WeightAverage
from mt.train.batch import Batch, make_batch
from mt.train.checkpoint import Parts, Progress, load_checkpoint, save_checkpoint
from mt.train.loss import projected_cross_entropy
from mt.train.memory import MemoryGuard, largest_first
from mt.train.optimizer import make_optimizer
from mt.train.schedule import inverse_square_root
from mt.train.validation import BestTracker, Validator, validation_loss

_METRIC_NAMES = {"bleu": "BLEU", "chrf": "chrF2", "loss": "loss"}
_LEAST_INTERVAL, _MOST_INTERVAL = 1000, 5000  # updates between validations when not given


@dataclass(frozen=True, kw_only=True)
class TrainingData:
    """The token stores of a run."""

    train: TokenStore
    dev: TokenStore
    weights: Sequence[float] = ()
    """How often the pairs of each corpus come in an epoch; none: once."""


@dataclass(kw_only=True)
class Trainer:
    """One training run, new or resumed."""

    model: EncoderDecoder
    config: TrainingConfig
    data: TrainingData
    device: torch.device
    dtype: torch.dtype
    """Type of the products; weights, sums and the optimizer's moments stay float32."""
    folder: Path
    """Where checkpoints go."""
    validator: Validator
    """Scores translations by the weights that the model holds when it is called."""
    keep_best: Callable[[Progress], None]
    """Called when the model holds the best weights so far, to keep them."""
    listener: Listener
    should_stop: Callable[[], bool] = lambda: False
    """Asked after each update; True ends the run with everything saved."""
    progress: Progress = field(default_factory=Progress)

    def __post_init__(self) -> None:
        self.model.to(self.device)
        self.sampler = BatchSampler(
            self.data.train.source_lengths + 1,
            self.data.train.target_lengths + 1,
            max_tokens=self.config.batch_tokens,
            seed=self.config.seed,
            origins=self.data.train.origins,
            weights=self.data.weights,
        )
        self.parts = Parts(
            model=self.model,
            average=WeightAverage(self.model, self.config.average_decay),
            optimizer=make_optimizer(self.model, self.config),
            progress=self.progress,
            tracker=BestTracker(
                smaller_is_better=self.config.metric == "loss", patience=self.config.patience
            ),
        )
        self.memory = MemoryGuard(listener=self.listener, progress=self.progress)
        self._started = time.monotonic()
        self._seconds_before = 0.0
        self._num_nonfinite = 0
        self._batches_in_epoch = len(self.sampler.epoch(0))

    def resume(self) -> None:
        """Go on from the newest checkpoint in the folder."""
        load_checkpoint(self.folder, self.parts)
        self._seconds_before = self.progress.seconds
        self._started = time.monotonic()

    def run(self) -> str:
        """Train until the budget or the patience ends, or a stop is asked; returns why.

        Raises TrainingError when gradients stay non-finite; the last good state is kept.
        """
        interval = self.validation_interval
        self._report_start()
        micro_batches = self._micro_batches()
        while (reason := self.reason_to_end()) is None:
            self._update([next(micro_batches) for _ in range(self.config.accumulate)])
            if self.progress.update % interval == 0:
                self._validate()
                save_checkpoint(self.folder, self.parts)
        if self.progress.validated_update != self.progress.update and not self.should_stop():
            self._validate()
        save_checkpoint(self.folder, self.parts)
        training = self.progress.seconds - self.progress.validation_seconds
        tracker = self.parts.tracker
        self.listener(
            TrainingEnded(
                update=self.progress.update,
                reason=reason,
                seconds=self.progress.seconds,
                tokens_per_second=self.progress.target_tokens / max(training, 1e-9),
                validation_seconds=self.progress.validation_seconds,
                metric=_METRIC_NAMES[self.config.metric],
                best=tracker.best,
                best_update=tracker.best_update,
                num_skipped=self.progress.num_skipped,
                num_skipped_pairs=self.progress.num_skipped_pairs,
            )
        )
        return reason

    @property
    def validation_interval(self) -> int:
        """Updates between validations."""
        if self.config.validate_every is not None:
            return self.config.validate_every
        return min(max(self._updates_per_epoch, _LEAST_INTERVAL), _MOST_INTERVAL)

    @property
    def _updates_per_epoch(self) -> int:
        return math.ceil(self._batches_in_epoch / self.config.accumulate)

    @property
    def _epochs(self) -> float:
        return self.progress.epoch + self.progress.batch / self._batches_in_epoch

    def _clock(self) -> float:
        self.progress.seconds = self._seconds_before + time.monotonic() - self._started
        return self.progress.seconds

    def reason_to_end(self) -> str | None:
        """Why the run is over, in words, or None while it is not."""
        config, progress = self.config, self.progress
        if self.should_stop():
            return "interrupted"
        if config.max_updates is not None and progress.update >= config.max_updates:
            return f"{config.max_updates} updates are done"
        if config.max_epochs is not None and self._epochs >= config.max_epochs:
            return f"{config.max_epochs:g} epochs are done"
        if config.max_minutes is not None and self._clock() >= 60 * config.max_minutes:
            return f"{config.max_minutes:g} minutes are over"
        if self.parts.tracker.is_exhausted:
            return f"no better {config.metric} in {config.patience} validations"
        return None

    def _micro_batches(self) -> Iterator[Batch]:
        """Batches without end, from where the run stands; marks the place as they are taken."""
        while True:
            batches = self.sampler.epoch(self.progress.epoch)
            if self.device.type == "cuda":
                batches = largest_first(batches, self.data.train)
            self._batches_in_epoch = len(batches)
            for indices in batches[self.progress.batch :]:
                self.progress.batch += 1
                yield self._make_batch(self.data.train, indices.tolist())
            self.progress.epoch += 1
            self.progress.batch = 0

    def _make_batch(self, store: TokenStore, indices: Sequence[int]) -> Batch:
        return make_batch(store, indices).to(self.device)

    def _update(self, batches: Sequence[Batch]) -> None:
        """One optimizer step; the gradient is divided once by the tokens of all batches."""
        self.model.train()
        optimizer = self.parts.optimizer
        done = self.memory.accumulate(
            batches, drop_gradient=optimizer.zero_grad, add_gradient=self._add_gradient
        )
        limit = self.config.clip_norm or math.inf
        norm = float(torch.nn.utils.clip_grad_norm_(self.model.parameters(), limit))
        progress = self.progress
        progress.update += 1
        rate = inverse_square_root(
            progress.update,
            peak_rate=self.config.peak_rate,
            warmup_updates=self.config.warmup_updates,
        )
        is_finite = math.isfinite(norm)
        if is_finite and done.loss is not None:
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
            self.parts.average.update(progress.update)
            self._num_nonfinite = 0
            progress.target_tokens += done.num_tokens
        self.listener(
            BatchDone(
                update=progress.update,
                epoch=self._epochs,
                loss=math.nan if done.loss is None else float(done.loss) / done.num_tokens,
                rate=rate,
                gradient_norm=norm,
                num_target_tokens=done.num_tokens,
                seconds=self._clock(),
                skipped=not is_finite,
            )
        )
        if not is_finite:
            self._count_nonfinite()

    def _add_gradient(self, batch: Batch, num_tokens: int) -> Tensor:
        """Add the gradient of a batch, divided by the tokens of the update; returns its loss."""
        loss = self._loss(batch)
        (loss / num_tokens).backward()  # type: ignore[no-untyped-call]
        return loss.detach()

    def _loss(self, batch: Batch) -> Tensor:
        with torch.autocast(
            self.device.type, dtype=torch.bfloat16, enabled=self.dtype == torch.bfloat16
        ):
            hidden = self.model(batch.source, batch.source_mask, batch.target)
        loss, _ = projected_cross_entropy(
            hidden[batch.target_mask],
            self.model.output_weight,
            batch.labels,
            smoothing=self.config.label_smoothing,
            dtype=self.dtype,
        )
        return loss

    def _count_nonfinite(self) -> None:
        self.progress.num_skipped += 1
        self._num_nonfinite += 1
        if self._num_nonfinite >= self.config.max_nonfinite:
            save_checkpoint(self.folder, self.parts)
            raise TrainingError(
                f"update {self.progress.update}: the gradient was non-finite "
                f"{self._num_nonfinite} times in a row",
                hint="Lower the rate (--set training.peak_rate=…) or use --precision float32; "
                "the last good weights are kept",
            )

    def _validate(self) -> None:
        update = self.progress.update
        self.listener(ValidationStarted(update=update))
        begun = time.monotonic()
        self.model.eval()
        with self.parts.average.applied():
            loss = validation_loss(self.model, self._dev_batches(), device=self.device)
            translated = self.validator()
            scores = {"loss": loss, **translated.scores}
            is_best = self.parts.tracker.take(scores[_METRIC_NAMES[self.config.metric]], update)
            self.progress.validated_update = update
            self._clock()
            if is_best:
                self.keep_best(self.progress)
        taken = time.monotonic() - begun
        self.progress.validation_seconds += taken
        self.listener(
            Validated(
                update=update,
                epoch=self._epochs,
                scores=scores,
                signatures=translated.signatures,
                is_best=is_best,
                seconds=self._clock(),
                validation_seconds=taken,
                samples=translated.samples,
                by_origin=translated.by_origin,
            )
        )

    def _dev_batches(self) -> Iterator[Batch]:
        order = self.data.dev.target_lengths.argsort(kind="stable").tolist()
        for start in range(0, len(order), 64):
            yield self._make_batch(self.data.dev, order[start : start + 64])

    def _report_start(self) -> None:
        minutes = self.config.max_minutes
        self.listener(
            TrainingStarted(
                num_parameters=count_parameters(self.model),
                first_update=self.progress.update + 1,
                updates_per_epoch=self._updates_per_epoch,
                max_updates=self.config.max_updates,
                max_seconds=None if minutes is None else 60 * minutes,
                device=self.device.type,
                precision=str(self.dtype).removeprefix("torch."),
            )
        )
