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

    members: tuple[EncoderDecoder, ...]
    """The models that predict together, with the products of a search."""
    model: StepModel[Any]
    """What is searched with: the only member by itself, or the ensemble of all."""
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
    copies = [[copied_to(each, device).eval() for each in models] for device in copies_on]
    return tuple(_replica(each, precision) for each in (models, *copies))


def together(models: Sequence[StepModel[Any]]) -> StepModel[Any]:
    """One model as it is, several as an ensemble."""
    return models[0] if len(models) == 1 else Ensemble(models)


def _replica(models: Sequence[EncoderDecoder], precision: SearchPrecision) -> Replica:
    members = tuple(_ready(model, precision) for model in models)
    return Replica(members=members, model=together(members), device=_device_of(models[0]))


def _ready(model: EncoderDecoder, precision: SearchPrecision) -> EncoderDecoder:
    """With narrow products where they are made from weights: a GPU narrows them as it goes."""
    is_on_cpu = _device_of(model).type == "cpu"
    if is_on_cpu and (precision == "bfloat16" or precision == "int8"):
        return narrowed(model, precision)
    return model


def _device_of(model: EncoderDecoder) -> torch.device:
    return next(model.parameters()).device
