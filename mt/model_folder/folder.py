"""A model folder: all that translating needs, in plain formats, written whole or not at all.

What stands in it is listed in `mt.model_folder.files`, whose names can be had here, too; reading
the weights is here, and needs torch.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from mt.config import Config, SearchConfig
from mt.errors import ModelFolderError
from mt.files import replaced_file
from mt.files.library_paths import library_path
from mt.files.seal import check_seal, seal
from mt.model.decoder_only import DecoderOnly
from mt.model.device import choose_device, fitting_in_memory, is_out_of_memory, memory_error
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.translation_model import TranslationModel
from mt.model_folder.belonging import metadata_of, require_own_form
from mt.model_folder.files import (
    CARD,
    CONFIG,
    DEV,
    DEV_DIRECTIONS,
    FORMAT_VERSION,
    METRICS,
    TRAINING,
    WEIGHTS,
    WEIGHTS_HELD,
    load_tokenizers,
    read_config,
    read_dev_pairs,
    weights_of,
    write_config,
)
from mt.text.tokenizer_pair import TokenizerPair

__all__ = [
    "CARD",
    "CONFIG",
    "DEV",
    "DEV_DIRECTIONS",
    "FORMAT_VERSION",
    "METRICS",
    "TRAINING",
    "WEIGHTS",
    "WEIGHTS_HELD",
    "LoadedModel",
    "build_model",
    "load_model",
    "load_onto",
    "load_tokenizers",
    "load_weights",
    "read_config",
    "read_dev_pairs",
    "save_weights",
    "weights_of",
    "write_config",
]

_FREE_MEMORY = "Free the device of other programs, or use --device cpu"


@dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """What a model folder holds."""

    config: Config
    tokenizers: TokenizerPair
    model: TranslationModel


def save_weights(folder: Path, model: TranslationModel) -> None:
    """Write the weights that `model` holds; tied matrices once, and on no device.

    They say that they belong to the tokenizers in `folder` (`mt.model_folder.belonging`).

    Raises ModelFolderError or OSError, for example when the disk is full; the old ones stay.
    """
    tensors = {
        name: parameter.detach().cpu().contiguous() for name, parameter in model.named_parameters()
    }
    with replaced_file(folder / WEIGHTS) as temporary:
        try:
            # One key of metadata only: several are written in a random order.
            save_file(tensors, library_path(temporary), metadata=metadata_of(folder, model.config))
        except SafetensorError as error:
            raise ModelFolderError(f"{folder / WEIGHTS} cannot be written: {error}") from error
        seal(temporary)


def build_model(config: Config, tokenizers: TokenizerPair) -> TranslationModel:
    """A model of the shape of `config`, with first weights from torch's default generator."""
    kind = DecoderOnly if config.model.architecture == "decoder-only" else EncoderDecoder
    return kind(
        config.model,
        source_vocab=tokenizers.source.vocab_size,
        target_vocab=tokenizers.target.vocab_size,
    )


def load_model(folder: Path) -> LoadedModel:
    """Read a model folder; the model is on the CPU, in float32, in evaluation mode.

    Raises ModelFolderError, naming the file, when something is missing, damaged or foreign.
    """
    config = read_config(folder)
    tokenizers = load_tokenizers(folder, config)
    model = build_model(config, tokenizers)
    load_weights(weights_of(folder), model)
    model.eval()
    return LoadedModel(config=config, tokenizers=tokenizers, model=model)


def load_onto(folder: Path, *, device: str, search: SearchConfig | None) -> LoadedModel:
    """The same on a device, with `search` in place of the settings stored in the folder.

    Raises ConfigError for a device that is not there as well.
    """
    loaded = load_model(folder)
    config = loaded.config if search is None else dataclasses.replace(loaded.config, search=search)
    with fitting_in_memory(f"the model in {folder}", hint=_FREE_MEMORY):
        model = loaded.model.to(choose_device(device))
    return LoadedModel(config=config, tokenizers=loaded.tokenizers, model=model)


def load_weights(path: Path, model: TranslationModel) -> None:
    """Put the weights of a file into `model`.

    Raises ModelFolderError, naming the file, when it is damaged, fits another architecture or holds
    NaN or an infinite value, and DeviceMemoryError when it does not fit in memory.
    """
    try:
        check_seal(path)
        tensors = load_file(library_path(path))
    except (OSError, MemoryError, RuntimeError, SafetensorError) as error:
        if is_out_of_memory(error):
            raise memory_error(f"the model in {path}", error, hint=_FREE_MEMORY) from error
        raise ModelFolderError(
            f"{path} is not a safetensors file, or is damaged: {error}"
        ) from error
    parameters = dict(model.named_parameters())
    for name in sorted(parameters.keys() ^ tensors.keys()):
        where = "lacks" if name in parameters else "has a stray"
        raise ModelFolderError(f"{path} {where} tensor {name}: it does not fit {CONFIG}")
    for name, parameter in parameters.items():
        if parameter.shape != tensors[name].shape:
            raise ModelFolderError(
                f"{path}: tensor {name} has shape {tuple(tensors[name].shape)}, "
                f"but {CONFIG} asks for {tuple(parameter.shape)}"
            )
    require_own_form(path, model.config)
    with torch.no_grad():
        for name, parameter in parameters.items():
            _refuse_nonfinite(path, name, tensors[name])
            parameter.copy_(tensors[name])


def _refuse_nonfinite(path: Path, name: str, tensor: torch.Tensor) -> None:
    """Raise ModelFolderError where a tensor holds NaN or an infinite value."""
    extremes = torch.stack(torch.aminmax(tensor))  # NaN where any is; one quick pass
    if not torch.isfinite(extremes).all():
        num_bad = int((~torch.isfinite(tensor)).sum())
        raise ModelFolderError(
            f"{path}: tensor {name} holds {num_bad} of {tensor.numel()} values that are NaN or "
            "infinite: the file is damaged, or its training diverged",
            hint="Take another copy, or train again with a lower training.peak_rate",
        )
