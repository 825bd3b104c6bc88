"""A model folder as files of Marian (`mt.exchange.marian`), as OPUS-MT publishes them.

Ids there are those of mt without padding and start symbol, which Marian has not: end, unknown, then
the pieces. Vocabularies are tables beside the sentencepiece models that cut the text.

Shapes: D model width, V vocabulary.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mt import __version__
from mt.config import Config
from mt.exchange.foreign import BIAS, OUTPUT, SHARED, SOURCE, TARGET
from mt.exchange.marian import END, ORDERS, PARTS, SETTINGS, SPM, UNKNOWN, WHOLE
from mt.exchange.stacks import put_stacks
from mt.files import write_bytes, write_text
from mt.model.encoder_decoder import EncoderDecoder
from mt.model_folder.folder import LoadedModel
from mt.text.imported import sentencepiece_of
from mt.text.tokenizer import END as END_ID
from mt.text.tokenizer import RESERVED, Tokenizer

MODEL, DECODER = "model.npz", "model.npz.decoder.yml"
VOCABULARY, VOCABULARIES = "vocab.yml", ("vocab.source.yml", "vocab.target.yml")
_VERSION = "v1.12.0"
"""Of the form; Marian tells it when it loads the model."""

_NAMES = {its: name for name, its in WHOLE.items()}
_NAMES_IN_LAYER = {its: name for name, its in PARTS.items()}
_LAYER = re.compile(r"model\.(encoder|decoder)\.layers\.(\d+)\.(.+)")
_NOT_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


def write_marian(loaded: LoadedModel, folder: Path) -> None:
    """Write a model whose form Marian has (`mt.exchange.forms`) into `folder`, which is there."""
    config, model, tokenizers = loaded.config, loaded.model, loaded.tokenizers
    assert isinstance(model, EncoderDecoder)
    tables = [_table(each) for each in (tokenizers.source, tokenizers.target)]
    arrays = {
        **_arrays(model),
        SETTINGS: _settings(config, [len(table) for table in tables]),
    }
    save_arrays: Any = np.savez  # whose own flags are keywords, too
    with (folder / MODEL).open("wb") as file:
        save_arrays(file, **arrays)
    names = [VOCABULARY] * 2 if tables[0] == tables[1] else VOCABULARIES
    for name, table in zip(names, tables, strict=True):
        lines = (f"{_quoted(piece)}: {number}\n" for number, piece in enumerate(table))
        write_text(folder / name, "".join(lines))
    for name, tokenizer in zip(SPM, (tokenizers.source, tokenizers.target), strict=True):
        write_bytes(folder / name, sentencepiece_of(tokenizer))
    write_text(
        folder / DECODER,
        _yaml(
            {
                "relative-paths": True,
                "models": [MODEL],
                "vocabs": list(names),
                "beam-size": config.search.beam,
                "normalize": 0.0 if config.search.length_penalty == "none" else 1.0,
                "word-penalty": 0.0,
            }
        ),
    )


def _table(tokenizer: Tokenizer) -> list[str]:
    """The pieces in the order of their ids."""
    return [END, UNKNOWN, *tokenizer.pieces(range(len(RESERVED), tokenizer.vocab_size))]


def _settings(config: Config, sizes: list[int]) -> NDArray[np.int8]:
    """What describes the model, as YAML."""
    model = config.model
    before, after, top = next(key for key, norm in ORDERS.items() if norm == model.norm)
    text = _yaml(
        {
            "type": "transformer",
            "version": f"{_VERSION} (written by mt {__version__})",
            "dim-vocabs": sizes,
            "dim-emb": model.d_model,
            "enc-depth": model.encoder_layers,
            "dec-depth": model.decoder_layers,
            "transformer-heads": model.heads,
            "transformer-dim-ffn": model.d_inner,
            "transformer-decoder-dim-ffn": 0,
            "transformer-ffn-depth": 2,
            "transformer-decoder-ffn-depth": 0,
            "transformer-ffn-activation": model.activation,
            "transformer-preprocess": before,
            "transformer-postprocess": f"d{after}",
            "transformer-postprocess-top": top,
            "transformer-postprocess-emb": "d",
            "transformer-decoder-autoreg": "self-attention",
            "transformer-guided-alignment-layer": "last",
            "transformer-train-position-embeddings": False,
            "transformer-no-projection": False,
            "transformer-tied-layers": [],
            "tied-embeddings-all": model.tied == "all",
            "tied-embeddings": model.tied == "target",
            "tied-embeddings-src": False,
            "output-omit-bias": False,
            "layer-normalization": False,
            "skip": False,
            "right-left": False,
            "input-types": [],
            "lemma-dim-emb": 0,
        }
    )
    return np.frombuffer(text.encode() + b"\0", dtype=np.int8)


def _yaml(values: Mapping[str, object]) -> str:
    """A mapping, whose values are written as JSON has them."""
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in values.items())


def _quoted(piece: str) -> str:
    """A piece between quotes, for readers of YAML of any strictness."""
    text = json.dumps(piece, ensure_ascii=False)
    return _NOT_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


@torch.no_grad()
def _arrays(model: EncoderDecoder) -> dict[str, NDArray[np.float32]]:
    """All tensors by their names there, as inputs × outputs or as one row."""
    tied = model.config.tied
    target = model.target_embedding.weight[END_ID:]
    tensors = {SHARED if tied == "all" else TARGET: target}
    if tied != "all":
        tensors[SOURCE] = model.source_embedding.weight[END_ID:]
    if tied == "none":
        tensors[OUTPUT] = model.output_weight[END_ID:]
    bias = model.output_bias
    tensors[BIAS] = (torch.zeros(len(target)) if bias is None else bias[END_ID:])[None]
    layers: dict[str, Tensor] = {}
    put_stacks(layers, model)
    suffix = "_pre" if model.config.norm == "pre" else ""
    arrays = {_NAMES[name]: tensor for name, tensor in tensors.items()}
    for name, tensor in layers.items():
        mine = _renamed(name)
        is_norm = "_ln_" in mine and "_top_" not in mine
        arrays[mine + suffix * is_norm] = tensor.T if tensor.dim() == 2 else tensor[None]
    return {name: np.ascontiguousarray(tensor.numpy()) for name, tensor in arrays.items()}


def _renamed(name: str) -> str:
    """Marian's name of a tensor of Hugging Face's."""
    layer = _LAYER.fullmatch(name)
    if layer is None:
        return _NAMES[name]
    return f"{layer[1]}_l{int(layer[2]) + 1}_{_NAMES_IN_LAYER[layer[3]]}"
