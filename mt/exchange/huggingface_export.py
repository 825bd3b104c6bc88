"""A model folder as a folder of Hugging Face's MarianMTModel (`mt.exchange.huggingface`).

Its ids begin with end and unknown. Padding, which the target starts with there, takes the row of
mt's start symbol; the row of mt's own padding, which is never looked at, goes.

Shapes: D model width, V vocabulary.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from mt import __version__
from mt.config import Config
from mt.errors import ModelFolderError
from mt.events import Listener, Notice, ignore
from mt.exchange.foreign import BIAS, NEVER, OUTPUT, SHARED, SOURCE, TARGET, Vocabulary
from mt.exchange.forms import refuse_other_forms, refuse_tags
from mt.exchange.huggingface import (
    ACTIVATIONS,
    CONFIG,
    END,
    GENERATION,
    PAD,
    SOURCE_SPM,
    TARGET_SPM,
    TARGET_VOCABULARY,
    TOKENIZER,
    UNKNOWN,
    VOCABULARY,
    WEIGHTS,
)
from mt.exchange.stacks import put_stacks
from mt.exchange.transformers_check import compare_with_transformers
from mt.files import new_folder, write_bytes, write_text
from mt.files.library_paths import library_path
from mt.model.encoder_decoder import EncoderDecoder
from mt.model_folder.folder import load_model
from mt.text.imported import sentencepiece_of, warn_of_prefix
from mt.text.tokenizer import RESERVED, Tokenizer

LONGEST = 512
"""Positions that are there for each side, as in published models."""
CHECK = "mt.json"
"""What came of comparing the two models."""


def export_huggingface(folder: Path, output: Path, listener: Listener = ignore) -> None:
    """Write the model of `folder` into the new folder `output`, whole or not at all.

    A notice tells what came of comparing it by transformers, where that is installed.

    Raises ModelFolderError for a bad folder, a model that MarianMTModel has no form for, and one
    that computes something else there.
    """
    loaded = load_model(folder)
    config, model, tokenizers = loaded.config, loaded.model, loaded.tokenizers
    refuse_other_forms(config, "huggingface", name=str(folder))
    refuse_tags(tokenizers, "huggingface", name=str(folder))
    assert isinstance(model, EncoderDecoder)  # others are refused
    pad = min(tokenizers.source.vocab_size, tokenizers.target.vocab_size) - len(RESERVED) + 2
    source, target = (
        _vocabulary(tokenizer, pad) for tokenizer in (tokenizers.source, tokenizers.target)
    )
    with new_folder(output.absolute()) as temporary:
        weights = library_path(temporary / WEIGHTS)
        save_file(_tensors(model, source, target), weights, metadata={"format": "pt"})
        _write_settings(temporary, config, source, target)
        _write_vocabulary(temporary / VOCABULARY, source)
        if source.pieces != target.pieces:
            _write_vocabulary(temporary / TARGET_VOCABULARY, target)
        for name, tokenizer in ((SOURCE_SPM, tokenizers.source), (TARGET_SPM, tokenizers.target)):
            write_bytes(temporary / name, sentencepiece_of(tokenizer))
        compared = compare_with_transformers(
            model, temporary, source=source, target=target, with_start=False
        )
        if not compared.is_same:
            raise ModelFolderError(
                f"{folder}: {compared.program} computes something else of what was written: logits "
                f"differ by up to {compared.difference:.1e}, so that nothing was exported"
            )
        _write_json(
            temporary / CHECK,
            {
                "mt_version": __version__,
                "compared_with": compared.program,
                "difference": compared.difference,
            },
        )
    listener(Notice(text=compared.sentence))
    warn_of_prefix(tokenizers.source, listener)


def _vocabulary(tokenizer: Tokenizer, pad: int) -> Vocabulary:
    """End, unknown and the pieces in the order of mt's ids, with padding at `pad`."""
    own = tokenizer.pieces(range(len(RESERVED), tokenizer.vocab_size))
    pieces = [END, UNKNOWN, *own]
    return Vocabulary(pieces=[*pieces[:pad], PAD, *pieces[pad:]], start=pad, end=0, unknown=1)


def _write_json(path: Path, values: object) -> None:
    write_text(path, f"{json.dumps(values, indent=2, ensure_ascii=False)}\n")


def _write_vocabulary(path: Path, vocabulary: Vocabulary) -> None:
    _write_json(path, {piece: i for i, piece in enumerate(vocabulary.pieces)})


def _write_settings(folder: Path, config: Config, source: Vocabulary, target: Vocabulary) -> None:
    model = config.model
    ids = {
        "bos_token_id": 0,
        "decoder_start_token_id": target.start,
        "eos_token_id": target.end,
        "forced_eos_token_id": target.end,
        "pad_token_id": target.start,
    }
    names = {its: name for name, its in reversed(ACTIVATIONS.items())}
    _write_json(
        folder / CONFIG,
        {
            "architectures": ["MarianMTModel"],
            "model_type": "marian",
            "is_encoder_decoder": True,
            "activation_function": names[model.activation],
            "d_model": model.d_model,
            **{
                f"{side}_{key}": value
                for side in ("encoder", "decoder")
                for key, value in (("attention_heads", model.heads), ("ffn_dim", model.d_inner))
            },
            "encoder_layers": model.encoder_layers,
            "decoder_layers": model.decoder_layers,
            "dropout": model.dropout,
            "attention_dropout": model.attention_dropout,
            "activation_dropout": model.activation_dropout,
            "max_position_embeddings": LONGEST,
            "scale_embedding": model.scale_embeddings,
            "static_position_embeddings": True,
            "normalize_embedding": False,
            "share_encoder_decoder_embeddings": model.tied == "all",
            "tie_word_embeddings": model.tied != "none",
            "vocab_size": len(source.pieces),
            "decoder_vocab_size": len(target.pieces),
            "dtype": "float32",
            **ids,
        },
    )
    _write_json(
        folder / GENERATION,
        {
            **ids,
            "bad_words_ids": [[target.start], [target.unknown]],
            "max_length": LONGEST,
            "num_beams": config.search.beam,
        },
    )
    _write_json(
        folder / TOKENIZER,
        {
            "tokenizer_class": "MarianTokenizer",
            "source_lang": config.source_language or None,
            "target_lang": config.target_language or None,
            "separate_vocabs": source.pieces != target.pieces,
            "model_max_length": LONGEST,
        },
    )


@torch.no_grad()
def _tensors(model: EncoderDecoder, source: Vocabulary, target: Vocabulary) -> dict[str, Tensor]:
    """All tensors by their names there; tied ones once."""
    config = model.config
    output = _rows(model.output_weight, target)
    bias = torch.zeros(len(target.pieces))
    if model.output_bias is not None:
        bias = _rows(model.output_bias, target)
    start = target.start
    assert start is not None
    tensors = {}
    if config.tied == "none":
        tensors[TARGET] = _rows(model.target_embedding.weight, target)
        tensors[OUTPUT] = output
    elif config.zero_start and output[start].any():
        bias[start] = NEVER  # its row is zeros, so that nothing else tells that it is no piece
    if config.tied != "all":
        tensors[SOURCE] = _rows(model.source_embedding.weight, source)
        tensors[SOURCE][start] = 0.0
    tensors.setdefault(SHARED if config.tied == "all" else TARGET, output)
    if config.zero_start:
        tensors[SHARED if config.tied == "all" else TARGET][start] = 0.0
    tensors[BIAS] = bias[None]
    put_stacks(tensors, model)
    return {name: tensor.detach().contiguous().clone() for name, tensor in tensors.items()}


def _rows(tensor: Tensor, vocabulary: Vocabulary) -> Tensor:
    """The rows of mt's `tensor` (V, …) in the order of the other ids, as a copy."""
    place = {its: i for i, its in enumerate(vocabulary.order)}
    return tensor[torch.tensor([place[i] for i in range(len(vocabulary.pieces))])].detach()
