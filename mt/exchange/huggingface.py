"""Folders of Hugging Face's MarianMTModel, as published models of OPUS-MT have them.

config.json             the form of the model
model.safetensors       weights; or pytorch_model.bin, of which nothing but tensors is ever read
vocab.json              the id of each piece; target_vocab.json where each side has a table
source.spm, target.spm  how text is cut
tokenizer_config.json   the languages
"""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from mt.config import Activation, ModelConfig
from mt.errors import ModelFolderError
from mt.exchange.foreign import ForeignModel, Vocabulary
from mt.exchange.options import Options
from mt.files.library_paths import library_path
from mt.model.positions import sinusoids
from mt.text.imported import ImportedTokenizer
from mt.text.tokenizer import Tokenizer
from mt.text.tokenizer_pair import TokenizerPair

CONFIG, GENERATION = "config.json", "generation_config.json"
WEIGHTS, OLD_WEIGHTS = "model.safetensors", "pytorch_model.bin"
VOCABULARY, TARGET_VOCABULARY = "vocab.json", "target_vocab.json"
SOURCE_SPM, TARGET_SPM = "source.spm", "target.spm"
TOKENIZER = "tokenizer_config.json"
END, UNKNOWN, PAD = "</s>", "<unk>", "<pad>"
NEWEST = 5
"""The main version of transformers whose folders are known."""

ACTIVATIONS: dict[str, Activation] = {
    "swish": "swish",
    "silu": "swish",
    "relu": "relu",
    "gelu": "gelu",
}
_POSITIONS = ("model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight")
_CLOSE = 2e-3  # positions may have been stored in half precision
_FORM = {
    *("activation_function", "architectures", "d_model", "decoder_attention_heads"),
    *("decoder_ffn_dim", "decoder_layers", "decoder_start_token_id", "decoder_vocab_size"),
    *("encoder_attention_heads", "encoder_ffn_dim", "encoder_layers", "eos_token_id"),
    *("is_encoder_decoder", "model_type", "pad_token_id", "scale_embedding"),
    *("share_encoder_decoder_embeddings", "static_position_embeddings", "tie_word_embeddings"),
    *("transformers_version", "vocab_size", "dropout", "attention_dropout"),
    "activation_dropout",
}
_OF_NO_MATTER = {
    *("_name_or_path", "name_or_path", "bad_words_ids", "bos_token_id", "classif_dropout"),
    *("classifier_dropout", "decoder_layerdrop", "diversity_penalty", "dtype", "early_stopping"),
    *("encoder_layerdrop", "extra_pos_embeddings", "forced_eos_token_id", "id2label"),
    *("init_std", "label2id", "length_penalty", "max_length", "max_position_embeddings"),
    *("num_beam_groups", "num_beams", "num_hidden_layers", "num_labels", "_num_labels"),
    *(
        "renormalize_logits",
        "num_return_sequences",
        "output_past",
        "repetition_penalty",
        "return_dict",
    ),
    *("temperature", "tokenizer_class", "top_k", "top_p", "torch_dtype", "typical_p"),
    *("use_cache", "gradient_checkpointing", "sep_token_id"),
}
"""Settings that do not change what the model computes."""


def is_huggingface(source: Path) -> bool:
    """Whether a path is a folder of this kind."""
    return (source / CONFIG).is_file()


def read_huggingface(folder: Path, *, prefix: str = "") -> ForeignModel:
    """Read a folder; `prefix` is the language, as `>>deu<<`, of lines that name none.

    Raises ModelFolderError, in one line, for what is damaged, missing or not understood.
    """
    options = Options(_json(folder / CONFIG), name=str(folder / CONFIG))
    config = _form_of(options)
    shares = options.get("share_encoder_decoder_embeddings", bool, True)
    of_tokenizer = Options(
        _json(folder / TOKENIZER) if (folder / TOKENIZER).exists() else {},
        name=str(folder / TOKENIZER),
    )
    separate = of_tokenizer.get("separate_vocabs", bool, False)
    if separate and shares:
        raise ModelFolderError(
            f"{folder} has a vocabulary for each side, but one matrix of embeddings for both"
        )
    source = _vocabulary(folder / VOCABULARY, options, "vocab_size")
    target = source
    if separate:
        target = _vocabulary(folder / TARGET_VOCABULARY, options, "decoder_vocab_size")
    elif options.get("decoder_vocab_size", int, len(source.pieces)) != len(source.pieces):
        raise ModelFolderError(f"{options.name}: decoder_vocab_size needs {TARGET_VOCABULARY}")
    tensors, name = _weights(folder)
    _check_positions(tensors, config, name=name)
    return ForeignModel(
        name=name,
        program="Hugging Face",
        config=config,
        tensors=tensors,
        shares_embeddings=shares,
        ties_output=options.get("tie_word_embeddings", bool, True),
        source=source,
        target=target,
        tokenizers=_tokenizers(folder, source, target, prefix=prefix),
        languages=_languages(of_tokenizer),
        beam=_beam(folder, options),
    )


def _form_of(options: Options) -> ModelConfig:
    """The form of model that config.json describes."""
    options.demand("model_type", "marian")
    version = options.get("transformers_version", str, "")
    main = version.partition(".")[0]
    if main.isdigit() and int(main) > NEWEST:
        raise ModelFolderError(
            f"{options.name} was written by transformers {version}; this mt knows the form up to "
            f"version {NEWEST}",
            hint="Install a newer mt",
        )
    options.demand("is_encoder_decoder", True)
    options.demand("static_position_embeddings", True)
    options.demand("normalize_embedding", False)
    options.refuse_others(_FORM | _OF_NO_MATTER)
    for key in ("attention_heads", "ffn_dim"):
        sides = [options.get(f"{side}_{key}", int) for side in ("encoder", "decoder")]
        if sides[0] != sides[1]:
            raise ModelFolderError(
                f"{options.name}: encoder_{key} is {sides[0]} and decoder_{key} {sides[1]}; mt has "
                "one for both"
            )
    activation = options.get("activation_function", str, "gelu")
    if activation not in ACTIVATIONS:
        raise options.unknown("activation_function", activation, ACTIVATIONS)
    return ModelConfig(
        d_model=options.get("d_model", int),
        d_inner=options.get("encoder_ffn_dim", int),
        encoder_layers=options.get("encoder_layers", int),
        decoder_layers=options.get("decoder_layers", int),
        heads=options.get("encoder_attention_heads", int),
        dropout=options.get("dropout", float, 0.1),
        attention_dropout=options.get("attention_dropout", float, 0.0),
        activation_dropout=options.get("activation_dropout", float, 0.0),
        norm="post",
        activation=ACTIVATIONS[activation],
        sinusoids="halves",
        output_bias=True,
        scale_embeddings=options.get("scale_embedding", bool, False),
    )


def _json(path: Path) -> object:
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise ModelFolderError(f"{path.parent} has no {path.name}") from None
    except (OSError, ValueError) as error:
        raise ModelFolderError(f"{path} cannot be read: {error}") from error


def _vocabulary(path: Path, options: Options, size_key: str) -> Vocabulary:
    """The table of a side; `<pad>`, which the target starts with, is no piece of its own."""
    table = _json(path)
    size = options.get(size_key, int)
    if not isinstance(table, dict) or sorted(map(str, table.values())) != sorted(
        map(str, range(size))
    ):
        raise ModelFolderError(
            f"{path} does not give each of the {size} ids of {size_key} to a piece"
        )
    for key, piece in (
        ("pad_token_id", PAD),
        ("decoder_start_token_id", PAD),
        ("eos_token_id", END),
    ):
        wanted = options.get(key, int)
        if table.get(piece) != wanted:
            raise ModelFolderError(
                f"{path}: {piece} has the id {table.get(piece)}, but {key} of {options.name} is "
                f"{wanted}"
            )
    if UNKNOWN not in table:
        raise ModelFolderError(f"{path} has no {UNKNOWN}")
    return Vocabulary(
        pieces=sorted(table, key=lambda piece: int(table[piece])),
        start=table[PAD],
        end=table[END],
        unknown=table[UNKNOWN],
    )


def _tokenizers(
    folder: Path, source: Vocabulary, target: Vocabulary, *, prefix: str
) -> TokenizerPair:
    def read(name: str, vocabulary: Vocabulary, code: str = "") -> Tokenizer:
        path = folder / name
        try:
            cutter = path.read_bytes()
        except OSError as error:
            raise ModelFolderError(f"{path} cannot be read: {error.strerror}") from error
        return ImportedTokenizer(vocabulary.own, cutter, prefix=code, name=str(path))

    of_source, of_target = read(SOURCE_SPM, source, prefix), read(TARGET_SPM, target)
    if of_source.model == of_target.model:
        of_target = of_source
    return TokenizerPair(source=of_source, target=of_target)


def _weights(folder: Path) -> tuple[dict[str, Tensor], str]:
    """The tensors of a folder, and the file they come from; a pickle with code in it is refused."""
    path = folder / WEIGHTS
    if path.exists():
        try:
            return load_file(library_path(path)), str(path)
        except (OSError, RuntimeError, SafetensorError) as error:
            raise ModelFolderError(
                f"{path} is not a safetensors file, or is damaged: {error}"
            ) from error
    path = folder / OLD_WEIGHTS
    if not path.exists():
        raise ModelFolderError(f"{folder} has neither {WEIGHTS} nor {OLD_WEIGHTS}")
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, OSError, EOFError, ValueError, KeyError, RuntimeError) as error:
        raise ModelFolderError(
            f"{path} is damaged, or holds other things than weights: nothing of it was run"
        ) from error
    if not isinstance(found, dict) or not all(
        isinstance(key, str) and isinstance(value, Tensor) for key, value in found.items()
    ):
        raise ModelFolderError(f"{path} holds other things than weights by name")
    return found, str(path)


def _check_positions(tensors: dict[str, Tensor], config: ModelConfig, *, name: str) -> None:
    """Take stored positions out; raise ModelFolderError where they are no sinusoids of mt's."""
    for key in _POSITIONS:
        table = tensors.pop(key, None)
        if table is None:
            continue
        shape = table.shape
        if len(shape) == 2 and shape[1] == config.d_model:
            own = sinusoids(shape[0], shape[1], order=config.sinusoids)
            if (table.double() - own).abs().max() < _CLOSE:
                continue
        raise ModelFolderError(f"{name}: {key} does not hold the sinusoids of Hugging Face")


def _languages(options: Options) -> tuple[str, str]:
    """Source and target as tokenizer_config.json names them, where it names one language each."""
    source, target = (options.found(key) for key in ("source_lang", "target_lang"))
    if all(
        isinstance(each, str) and each.isalpha() and len(each) <= 3 for each in (source, target)
    ):
        return str(source), str(target)
    return "", ""


def _beam(folder: Path, options: Options) -> int | None:
    """The width of the beam that the folder asks for."""
    if (folder / GENERATION).exists():
        path = folder / GENERATION
        beam = Options(_json(path), name=str(path)).found("num_beams")
    else:
        beam = options.found("num_beams")
    return beam if isinstance(beam, int) and beam >= 1 else None
