"""Models of Marian: an .npz file with its settings inside, and files of its vocabulary.

Settings are YAML in the array `special:model.yml`. Vocabularies are sentencepiece models, whose ids
are Marian's then, or tables (.yml, .json) beside sentencepiece models that cut the text.

Matrices stand there as inputs × outputs, vectors as one row. They are handed on under the names
and in the shapes of Hugging Face (`mt.exchange.foreign`).
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import yaml
from numpy.typing import NDArray
from torch import Tensor

from mt.config import Activation, ModelConfig, NormOrder
from mt.errors import ModelFolderError
from mt.exchange.foreign import BIAS, OUTPUT, SHARED, SOURCE, TARGET, ForeignModel, Vocabulary
from mt.exchange.options import Options
from mt.text.imported import ImportedTokenizer
from mt.text.subwords import sentencepiece_table
from mt.text.tokenizer_pair import TokenizerPair

SETTINGS = "special:model.yml"
NEWEST = 1
"""The main version of Marian whose files are known."""
EPSILON = 1e-6
"""What Marian adds to the variance in normalisation."""
SPM = ("source.spm", "target.spm")
END, UNKNOWN = "</s>", "<unk>"

_ACTIVATIONS: dict[str, Activation] = {"swish": "swish", "relu": "relu", "gelu": "gelu"}
ORDERS: dict[tuple[str, str, str], NormOrder] = {("", "an", ""): "post", ("n", "a", "n"): "pre"}
"""Operations before and after a sublayer and at the end of a stack; a adds, n normalises."""
_DIMENSIONS = ("enc-depth", "dec-depth", "dim-emb", "transformer-heads", "transformer-dim-ffn")
_READ = {
    *_DIMENSIONS,
    *("type", "version", "dim-vocabs", "transformer-ffn-activation", "transformer-preprocess"),
    *("transformer-postprocess", "transformer-postprocess-top", "transformer-postprocess-emb"),
    *("tied-embeddings", "tied-embeddings-src", "tied-embeddings-all", "output-omit-bias"),
    *("transformer-decoder-dim-ffn", "transformer-ffn-depth", "transformer-decoder-ffn-depth"),
    *("transformer-dim-aan", "transformer-decoder-autoreg", "skip", "layer-normalization"),
    "transformer-attention-mask",
}
_OF_NO_MATTER = {
    *("bert-train-type-embeddings", "bert-type-vocab-size", "dec-cell", "dec-cell-base-depth"),
    *("dec-cell-high-depth", "dim-rnn", "enc-cell", "enc-cell-depth", "enc-type"),
    *("transformer-aan-activation", "transformer-aan-depth", "max-length"),
    "transformer-guided-alignment-layer",
    *("char-highway", "char-stride", "char-conv-filters-num", "char-conv-filters-widths"),
    *("factors-combine", "separator-symbol"),
    *("transformer-depth-scaling", "transformer-dropout", "transformer-dropout-attention"),
    *("transformer-dropout-ffn", "dropout-rnn", "dropout-src", "dropout-trg"),
    *("embedding-fix-src", "embedding-fix-trg", "embedding-vectors", "original-type"),
}
"""Settings of other architectures than the one that is taken, or of training alone."""

PARTS = {
    **{f"self_{a}{b}": f"self_attn.{p}_proj.{n}" for a, n in (("W", "weight"), ("b", "bias"))
       for b, p in (("q", "q"), ("k", "k"), ("v", "v"), ("o", "out"))},
    **{f"context_{a}{b}": f"encoder_attn.{p}_proj.{n}" for a, n in (("W", "weight"), ("b", "bias"))
       for b, p in (("q", "q"), ("k", "k"), ("v", "v"), ("o", "out"))},
    "self_Wo_ln_scale": "self_attn_layer_norm.weight",
    "self_Wo_ln_bias": "self_attn_layer_norm.bias",
    "context_Wo_ln_scale": "encoder_attn_layer_norm.weight",
    "context_Wo_ln_bias": "encoder_attn_layer_norm.bias",
    "ffn_W1": "fc1.weight",
    "ffn_b1": "fc1.bias",
    "ffn_W2": "fc2.weight",
    "ffn_b2": "fc2.bias",
    "ffn_ffn_ln_scale": "final_layer_norm.weight",
    "ffn_ffn_ln_bias": "final_layer_norm.bias",
}  # fmt: skip
"""Hugging Face's names of the tensors of a layer."""
WHOLE = {
    "Wemb": SHARED,
    "encoder_Wemb": SOURCE,
    "decoder_Wemb": TARGET,
    "decoder_ff_logit_out_W": OUTPUT,
    "decoder_ff_logit_out_Wt": OUTPUT,
    "decoder_ff_logit_out_b": BIAS,
    **{
        f"{stack}_top_ln_{part}": f"model.{stack}.layer_norm.{name}"
        for stack in ("encoder", "decoder")
        for part, name in (("scale", "weight"), ("bias", "bias"))
    },
}
_LAYER = re.compile(r"(encoder|decoder)_l(\d+)_(\w+)")
_KEPT = ("Wemb", "encoder_Wemb", "decoder_Wemb", "decoder_ff_logit_out_Wt")
"""Matrices that stand as mt has them."""


def npz_of(source: Path) -> Path | None:
    """The .npz file of a model: `source` itself, or the only one in it."""
    if source.is_dir():
        found = sorted(source.glob("*.npz"))
        return found[0] if len(found) == 1 else None
    return source if source.suffix == ".npz" else None


def read_marian(
    npz: Path, *, vocabularies: Sequence[Path] = (), spm: Sequence[Path] = (), prefix: str = ""
) -> ForeignModel:
    """Read a model; `vocabularies` are its files, one for both sides or one each.

    Without them they are those that the file's `.decoder.yml`, or `decoder.yml` beside it, names.
    `spm` cut the text where a vocabulary is a table, `source.spm` and `target.spm` beside the file
    unless given. `prefix` is the language, as `>>deu<<`, of lines that name none.

    Raises ModelFolderError, in one line, for what is damaged, missing or not understood.
    """
    arrays = _arrays(npz)
    options = _settings(npz, arrays)
    config = _form_of(options)
    ties_all, ties_output, ties_source = (
        options.get(key, bool, False)
        for key in ("tied-embeddings-all", "tied-embeddings", "tied-embeddings-src")
    )
    files = _pair(vocabularies or _named_vocabularies(npz), "vocabularies")
    cutters = _pair(spm or [npz.parent / name for name in SPM], "sentencepiece models")
    (source, source_spm), (target, target_spm) = (
        _vocabulary(file, cutter) for file, cutter in zip(files, cutters, strict=True)
    )
    _check_sizes(options, (source, target), files)
    of_source = ImportedTokenizer(source.own, source_spm, prefix=prefix, name=str(files[0]))
    of_target = ImportedTokenizer(target.own, target_spm, name=str(files[1]))
    if of_source.model == of_target.model:
        of_target = of_source
    shares = ties_all or ties_source
    if shares and source.pieces != target.pieces:
        raise ModelFolderError(f"{npz} has one matrix of embeddings, but {files[1]} has other ids")
    tensors = {
        new: tensor
        for name, array in arrays.items()
        for new, tensor in [_renamed(name, array, name_of_file=str(npz))]
    }
    if options.get("output-omit-bias", bool, False):
        tensors[BIAS] = torch.zeros(1, len(target.pieces))
    return ForeignModel(
        name=str(npz),
        program="Marian",
        config=config,
        tensors=tensors,
        shares_embeddings=shares,
        ties_output=ties_all or ties_output,
        source=source,
        target=target,
        tokenizers=TokenizerPair(source=of_source, target=of_target),
    )


def _arrays(path: Path) -> dict[str, NDArray[np.generic]]:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (OSError, ValueError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise ModelFolderError(f"{path} is not an .npz file, or is damaged: {error}") from error


def _settings(path: Path, arrays: dict[str, NDArray[np.generic]]) -> Options:
    """The settings, which are taken out of `arrays`."""
    if SETTINGS not in arrays:
        raise ModelFolderError(f"{path} has no {SETTINGS}: it is no model of Marian")
    text = arrays.pop(SETTINGS).tobytes().rstrip(b"\0")  # padded with as many as it pleases
    try:
        return Options(yaml.safe_load(text), name=f"{path} ({SETTINGS})")
    except (yaml.YAMLError, ValueError) as error:
        raise ModelFolderError(f"{path}: {SETTINGS} is not YAML: {error}") from error


def _form_of(options: Options) -> ModelConfig:
    """The form of model that the settings describe."""
    options.demand("type", "transformer")
    version = re.match(r"v?(\d+)\.", options.get("version", str, ""))
    if version and int(version[1]) > NEWEST:
        raise ModelFolderError(
            f"{options.name} was written by Marian {options.found('version')}; this mt knows the "
            f"form up to version {NEWEST}",
            hint="Install a newer mt",
        )
    options.demand("transformer-decoder-autoreg", "self-attention")
    options.demand("transformer-ffn-depth", 2)
    options.demand("transformer-decoder-ffn-depth", 0, 2)
    options.demand("layer-normalization", False)
    options.demand("skip", False)
    options.demand("transformer-attention-mask", "default")
    options.refuse_others(_READ | _OF_NO_MATTER)
    inner = options.get("transformer-dim-ffn", int)
    options.demand("transformer-decoder-dim-ffn", 0, inner)
    before, after, top, of_embedding = (
        options.get(f"transformer-{place}", str, default).replace("d", "")  # dropout
        for place, default in (
            ("preprocess", "d"),
            ("postprocess", "dan"),
            ("postprocess-top", "d"),
            ("postprocess-emb", "d"),
        )
    )
    if (before, after, top) not in ORDERS or of_embedding:
        raise ModelFolderError(
            f"{options.name} adds and normalises in an order that mt has no form for: before "
            f"{before!r}, after {after!r}, at the end {top!r}, embeddings {of_embedding!r}"
        )
    activation = options.get("transformer-ffn-activation", str, "swish")
    if activation not in _ACTIVATIONS:
        raise options.unknown("transformer-ffn-activation", activation, _ACTIVATIONS)
    return ModelConfig(
        d_model=options.get("dim-emb", int),
        d_inner=inner,
        encoder_layers=options.get("enc-depth", int),
        decoder_layers=options.get("dec-depth", int),
        heads=options.get("transformer-heads", int),
        dropout=0.1,
        norm=ORDERS[before, after, top],
        norm_epsilon=EPSILON,
        activation=_ACTIVATIONS[activation],
        sinusoids="marian",
        output_bias=True,
    )


def _renamed(name: str, array: NDArray[np.generic], *, name_of_file: str) -> tuple[str, Tensor]:
    """A tensor under its name of Hugging Face, in the shape that it has there."""
    if not np.issubdtype(array.dtype, np.floating):
        raise ModelFolderError(f"{name_of_file}: tensor {name} holds no floating-point numbers")
    tensor = torch.from_numpy(array)
    plain = name.removesuffix("_pre")
    layer = _LAYER.fullmatch(plain)
    if plain in WHOLE:
        new = WHOLE[plain]
    elif layer and layer[3] in PARTS:
        new = f"model.{layer[1]}.layers.{int(layer[2]) - 1}.{PARTS[layer[3]]}"
    else:
        raise ModelFolderError(f"{name_of_file} has a tensor that mt has no form for: {name}")
    if new == BIAS or name in _KEPT:
        return new, tensor
    if tensor.dim() == 2 and (new.endswith(".bias") or "layer_norm" in new):
        return new, tensor[0] if tensor.size(0) == 1 else tensor
    return new, tensor.T.contiguous()


def _named_vocabularies(npz: Path) -> list[Path]:
    """The vocabularies that the settings of a decoder beside the file name."""
    for path in (npz.with_name(f"{npz.name}.decoder.yml"), npz.with_name("decoder.yml")):
        if not path.exists():
            continue
        names = _yaml(path)
        found = names.get("vocabs") if isinstance(names, dict) else None
        if isinstance(found, list) and found:
            return [npz.parent / str(name) for name in found]
    raise ModelFolderError(
        f"{npz} has no vocabulary: there is no decoder.yml beside it that names one",
        hint="Give its file, or those of both sides: --vocab vocab.spm",
    )


def _pair(files: Sequence[Path], what: str) -> tuple[Path, Path]:
    if len(files) > 2:
        raise ModelFolderError(f"a model has {what} for two sides, not {len(files)}")
    return files[0], files[-1]


def _yaml(path: Path) -> object:
    """What a file of YAML or JSON holds; all scalars are text, so that `no` stays `no`."""
    try:
        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        return yaml.load(path.read_text("utf-8"), Loader=loader)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ModelFolderError(f"{path} cannot be read: {error}") from error


def _vocabulary(path: Path, cutter: Path) -> tuple[Vocabulary, bytes]:
    """The pieces of a side, and the sentencepiece model that cuts it."""
    is_spm = path.suffix == ".spm"
    file = path if is_spm else cutter
    try:
        spm = file.read_bytes()
    except OSError as error:
        raise ModelFolderError(f"{file} cannot be read: {error.strerror}") from error
    if is_spm:
        pieces, end, unknown = sentencepiece_table(spm, name=str(path))
        return Vocabulary(pieces=pieces, start=None, end=end, unknown=unknown), spm
    table = _yaml(path)
    if not isinstance(table, dict) or sorted(map(str, table.values())) != sorted(
        map(str, range(len(table)))
    ):
        raise ModelFolderError(f"{path} does not give each id to a piece")
    pieces = sorted(table, key=lambda piece: int(table[piece]))
    for name in (END, UNKNOWN):
        if name not in table:
            raise ModelFolderError(f"{path} has no {name}")
    end, unknown = (int(table[name]) for name in (END, UNKNOWN))
    return Vocabulary(pieces=pieces, start=None, end=end, unknown=unknown), spm


def _check_sizes(options: Options, sides: Sequence[Vocabulary], files: Sequence[Path]) -> None:
    sizes = options.found("dim-vocabs")
    if not isinstance(sizes, list) or not 1 <= len(sizes) <= 2:
        raise ModelFolderError(f"{options.name}: dim-vocabs must be one or two sizes, not {sizes}")
    for size, side, file in zip((sizes[0], sizes[-1]), sides, files, strict=True):
        if size != len(side.pieces):
            raise ModelFolderError(
                f"{file} has {len(side.pieces)} pieces, but {options.name} says {size}"
            )
