"""What is searched with on each device: a model or an ensemble, perhaps with narrow products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from mt.config import SearchPrecision
from mt.model.device import copied_to
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.narrow import narrowed
from mt.search.ensemble import Ensemble
from mt.search.step import StepModel


@dataclass(frozen=True, kw_only=True)
class Replica:
    """What is searched with on one device."""

    model: StepModel[Any]
    """A model by itself, or the ensemble of several."""
    device: torch.device
    """Where its weights are."""


def replicas_of(
    models: Sequence[EncoderDecoder],
    *,
    copies_on: Sequence[torch.device] = (),
    precision: SearchPrecision,
) -> tuple[Replica, ...]:
    """`models`, all on one device, as they predict together there and on each of `copies_on`.

    A copy of the weights is made now for each of these and, in bfloat16 and int8, for the CPU.
    """
    replicas = [Replica(model=_together(models, precision), device=_device_of(models[0]))]
    for device in copies_on:
        copies = [copied_to(model, device).eval() for model in models]
        replicas.append(Replica(model=_together(copies, precision), device=device))
    return tuple(replicas)


def _together(models: Sequence[EncoderDecoder], precision: SearchPrecision) -> StepModel[Any]:
    """One model as it is, several as an ensemble."""
    ready = [_ready(model, precision) for model in models]
    return ready[0] if len(ready) == 1 else Ensemble(ready)


def _ready(model: EncoderDecoder, precision: SearchPrecision) -> EncoderDecoder:
    """With narrow products where they are made from weights: a GPU narrows them as it goes."""
    is_on_cpu = _device_of(model).type == "cpu"
    if is_on_cpu and (precision == "bfloat16" or precision == "int8"):
        return narrowed(model, precision)
    return model


def _device_of(model: EncoderDecoder) -> torch.device:
    return next(model.parameters()).device
