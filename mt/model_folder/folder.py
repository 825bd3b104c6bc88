"""A model folder: all that translating needs, in plain formats, written whole or not at all.

config.toml          settings and format version
tokenizer.model      or tokenizer.source.model and tokenizer.target.model
truecase.txt         the usual case of source words
model.safetensors    the best weights so far
metrics.jsonl        what happened during training
average.json         what the weights are the mean of, if `mt average` made them
imported.json        where they come from, if `mt import` made them
README.md            the model card
scores.json          scores of test sets, if `mt eval --card` was run
dev.source, .target  the validation set
shortlist.safetensors  what `mt shortlist` learnt, if it was run
seen-lines.safetensors  keys of the lines that it was trained on
training/            what resuming needs; may be deleted afterwards
"""

from __future__ import annotations

import dataclasses
import shlex
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from mt import __version__
from mt.config import Config, SearchConfig
from mt.config.toml import from_toml, to_toml
from mt.errors import ConfigError, ModelFolderError
from mt.files import replaced_file, write_text
from mt.files.library_paths import library_path
from mt.files.lines import split_lines
from mt.files.seal import check_seal, seal
from mt.model.decoder_only import DecoderOnly
from mt.model.device import choose_device, fitting_in_memory, is_out_of_memory, memory_error
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.translation_model import TranslationModel
from mt.model_folder.belonging import metadata_of, require_own_form, require_own_tokenizers
from mt.text.tokenizer_pair import TokenizerPair

FORMAT_VERSION = 2
_FREE_MEMORY = "Free the device of other programs, or use --device cpu"
DEV = ("dev.source", "dev.target")
CONFIG, WEIGHTS, METRICS, CARD, TRAINING = (
    "config.toml",
    "model.safetensors",
    "metrics.jsonl",
    "README.md",
    "training",
)
WEIGHTS_HELD = "WeightsHeld"
"""In METRICS, the validation of weights that stay the model of a run which has gone back."""


@dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """What a model folder holds."""

    config: Config
    tokenizers: TokenizerPair
    model: TranslationModel


def write_config(folder: Path, config: Config) -> None:
    """Write `config.toml`."""
    extra: dict[str, str | int] = {
        "format_version": FORMAT_VERSION,
        "mt_version": __version__,
    }
    write_text(folder / CONFIG, to_toml(config, extra=extra))


def read_config(folder: Path) -> Config:
    """Read `config.toml`; settings that an older mt did not know take their defaults.

    Raises ModelFolderError when the folder is no model folder, or of a newer format.
    """
    if not folder.is_dir():
        raise ModelFolderError(f"{folder} is not a model folder: no such folder")
    path = folder / CONFIG
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise ModelFolderError(f"{folder} is not a model folder: it has no {CONFIG}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ModelFolderError(f"{path} cannot be read: {error}") from error
    version = _format_version(text)
    if version is not None and version > FORMAT_VERSION:
        raise ModelFolderError(
            f"{folder} has format version {version}, this mt ({__version__}) knows up to "
            f"{FORMAT_VERSION}",
            hint="Install a newer mt",
        )
    try:
        values, _ = from_toml(text, name=str(path))
        return Config().with_values(values)
    except ConfigError as error:
        raise ModelFolderError(error.message, hint=error.hint) from error


def read_dev_pairs(folder: Path) -> list[tuple[str, str]]:
    """The validation set of a model folder; none where its files are not there.

    Raises ModelFolderError where they cannot be read or have unequal numbers of lines.
    """
    sides = []
    for name in DEV:
        path = folder / name
        try:
            sides.append([line.decode("utf-8") for line in split_lines([path.read_bytes()])])
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError) as error:
            raise ModelFolderError(f"{path} cannot be read: {error}") from error
    sources, targets = sides
    if len(sources) != len(targets):
        raise ModelFolderError(
            f"{folder} is damaged: {DEV[0]} has {len(sources)} lines, {DEV[1]} has {len(targets)}"
        )
    return list(zip(sources, targets, strict=True))


def _format_version(text: str) -> int | None:
    """The format version, read before anything else: later formats may not parse."""
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "format_version" and value.strip().isdigit():
            return int(value)
    return None


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


def load_tokenizers(folder: Path, config: Config) -> TokenizerPair:
    """Read the tokenizers of a model folder.

    Raises ModelFolderError where one is missing, or not the one that its weights know.
    """
    tokenizers = TokenizerPair.load(folder, joint=config.tokenizer.joint)
    require_own_tokenizers(folder / WEIGHTS, tokenizers)
    return tokenizers


def load_onto(folder: Path, *, device: str, search: SearchConfig | None) -> LoadedModel:
    """The same on a device, with `search` in place of the settings stored in the folder.

    Raises ConfigError for a device that is not there as well.
    """
    loaded = load_model(folder)
    config = loaded.config if search is None else dataclasses.replace(loaded.config, search=search)
    with fitting_in_memory(f"the model in {folder}", hint=_FREE_MEMORY):
        model = loaded.model.to(choose_device(device))
    return LoadedModel(config=config, tokenizers=loaded.tokenizers, model=model)


def weights_of(folder: Path) -> Path:
    """The file with the weights; raises ModelFolderError when there is none yet."""
    path = folder / WEIGHTS
    if not path.exists():
        raise ModelFolderError(
            f"{folder} holds no weights yet: its training did not reach a validation",
            hint=f"Go on with: mt train --resume {shlex.quote(str(folder))}",
        )
    return path


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
