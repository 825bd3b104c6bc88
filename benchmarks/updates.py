"""Updates of mt's own Trainer, without validation and without checkpoints."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from mt.config import Config
from mt.corpus.store import TokenStore
from mt.events import BatchDone, Event, Listener, ignore
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.translation_model import TranslationModel
from mt.training.data_loader import TrainingData
from mt.training.progress import Progress
from mt.training.trainer import Trainer
from mt.training.validation import TranslationScores, ValidationTask

_NEVER = 10**9  # updates


class _EnoughError(Exception):
    """Raised by the listener to end a run where it stands."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What is trained on what."""

    config: Config
    vocabulary: int
    store: TokenStore
    device: torch.device
    dtype: torch.dtype
    compiler: str | None = None
    tf32: bool = True


class _Unsaved(Trainer):
    """A trainer that leaves nothing on the disk."""

    def save(self) -> None:
        """Save nothing."""


def train_until(
    setup: Setup,
    is_enough: Callable[[BatchDone], bool],
    *,
    make_model: Callable[[], TranslationModel] | None = None,
    listener: Listener = ignore,
) -> Trainer:
    """Train from first weights until `is_enough`, asked after each update, says so.

    `make_model` makes another model than that of the setup. `listener` hears of everything.
    """

    def listen(event: Event) -> None:
        listener(event)
        if isinstance(event, BatchDone) and is_enough(event):
            raise _EnoughError

    def validate(task: ValidationTask) -> TranslationScores:
        raise AssertionError("nothing is validated here")

    def keep(progress: Progress) -> None:
        raise AssertionError("nothing is kept here")

    config = dataclasses.replace(
        setup.config.training,
        validate_every=_NEVER,
        max_updates=None,
        max_epochs=None,
        max_minutes=None,
    )
    torch.manual_seed(config.seed)
    size = setup.vocabulary
    model: TranslationModel
    if make_model is None:
        model = EncoderDecoder(setup.config.model, source_vocab=size, target_vocab=size)
    else:
        model = make_model()
    trainer = _Unsaved(
        model=model,
        config=config,
        data=TrainingData(train=setup.store, dev=setup.store),
        device=setup.device,
        dtype=setup.dtype,
        folder=Path("unused"),
        validator=validate,
        keep_best=keep,
        listener=listen,
        compiler=setup.compiler,
        tf32=setup.tf32,
    )
    with contextlib.suppress(_EnoughError):
        trainer.run()
    return trainer


def pairs_of_updates(trainer: Trainer, first: int, last: int) -> list[list[int]]:
    """The pairs of each batch of updates `first` to `last`, counted from 1, in order."""
    each = trainer.config.accumulate
    batches: list[list[int]] = []
    epoch = 0
    while len(batches) < last * each:
        batches += [indices.tolist() for indices in trainer.stream.epoch(epoch)]
        epoch += 1
    return batches[(first - 1) * each : last * each]
