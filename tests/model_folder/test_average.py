"""The mean of weights against numpy's, in float64."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from mt.config import ModelConfig
from mt.errors import ModelFolderError
from mt.model.encoder_decoder import EncoderDecoder
from mt.model_folder.average import average_weights

SHAPE = ModelConfig(d_model=8, d_inner=8, encoder_layers=1, decoder_layers=1, heads=2)


def model() -> EncoderDecoder:
    return EncoderDecoder(SHAPE, source_vocab=11, target_vocab=11)


def write(folder: Path, count: int) -> list[Path]:
    paths = []
    for number in range(count):
        torch.manual_seed(number)
        tensors = {name: p.detach() * 10.0**number for name, p in model().named_parameters()}
        paths.append(folder / f"{number}.safetensors")
        save_file(tensors, paths[-1])
    return paths


def averaged(paths: list[Path]) -> dict[str, torch.Tensor]:
    mean = model()
    average_weights(paths, mean)
    return {name: p.detach() for name, p in mean.named_parameters()}


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_mean_is_that_of_float64_rounded_once(tmp_path: Path, count: int) -> None:
    paths = write(tmp_path, count)
    sets = [load_file(path) for path in paths]
    for name, tensor in averaged(paths).items():
        wide = np.mean([each[name].numpy().astype(np.float64) for each in sets], axis=0)
        np.testing.assert_array_max_ulp(tensor.numpy(), wide.astype(np.float32), maxulp=1)


def test_equal_weights_are_their_own_mean(tmp_path: Path) -> None:
    (path,) = write(tmp_path, 1)
    own = load_file(path)
    assert all(torch.equal(own[name], tensor) for name, tensor in averaged([path] * 3).items())


def test_the_order_of_two_changes_nothing(tmp_path: Path) -> None:
    paths = write(tmp_path, 2)
    one, other = averaged(paths), averaged(paths[::-1])
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_weights_of_another_shape_are_named(tmp_path: Path) -> None:
    paths = write(tmp_path, 2)
    tensors = load_file(paths[1])
    name = random.Random(1).choice(sorted(tensors))
    save_file({**tensors, name: torch.zeros(3, 3, 3)}, paths[1])
    with pytest.raises(ModelFolderError, match=rf"1\.safetensors: tensor {name} has shape"):
        averaged(paths)
