"""The mean of several sets of weights of one architecture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from mt.model.translation_model import TranslationModel
from mt.model_folder.folder import load_weights


@torch.no_grad()
def average_weights(paths: Sequence[Path], model: TranslationModel) -> None:
    """Put the mean of the weights of `paths` into `model`, which has their shape.

    Each number is summed in float64 and rounded once. Memory holds one model and the sums.

    Raises ModelFolderError, naming the file, when one is damaged or of another shape.
    """
    parameters = list(model.parameters())
    sums = [torch.zeros_like(parameter, dtype=torch.float64) for parameter in parameters]
    for path in paths:
        load_weights(path, model)
        for total, parameter in zip(sums, parameters, strict=True):
            total += parameter
    for total, parameter in zip(sums, parameters, strict=True):
        parameter.copy_(total / len(paths))
