"""What is searched with on each device: a model or an ensemble, arranged for search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from mt.config import SearchPrecision
from mt.model.device import copied_to
from mt.model.inference.search_model import SearchModel
from mt.model.translation_model import TranslationModel
from mt.search.ensemble import Ensemble
from mt.search.step import StepModel


@dataclass(frozen=True, kw_only=True)
class Replica:
    """What is searched with on one device."""

    members: tuple[SearchModel, ...]
    """The models, arranged for search."""
    model: StepModel[Any]
    """What is searched with: the only member by itself, or the ensemble of all."""
    device: torch.device
    """Where its weights are."""


def replicas_of(
    models: Sequence[TranslationModel],
    *,
    copies_on: Sequence[torch.device] = (),
    precision: SearchPrecision,
) -> tuple[Replica, ...]:
    """`models`, all on one device, as they predict together there and on each of `copies_on`.

    A copy of the weights is made now for each of these; what is arranged otherwise for search is
    made now for all.
    """
    copies = [[copied_to(each, device).eval() for each in models] for device in copies_on]
    return tuple(_replica(each, precision) for each in (models, *copies))


def _replica(models: Sequence[TranslationModel], precision: SearchPrecision) -> Replica:
    narrow = precision if precision == "bfloat16" or precision == "int8" else "as trained"
    members = tuple(SearchModel(model, narrow) for model in models)
    return Replica(
        members=members,
        model=members[0] if len(members) == 1 else Ensemble(members),
        device=members[0].device,
    )
