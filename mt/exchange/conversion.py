"""A model in the form of CTranslate2.

The source needs no end symbol and the target no start symbol of the caller's: the configuration
asks CTranslate2 to add them.

Shapes: D model width, V vocabulary, P positions.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from mt.errors import ModelFolderError
from mt.exchange.ctranslate2 import Stored, model_specs
from mt.exchange.engine import NUM_POSITIONS
from mt.exchange.forms import refuse_other_forms
from mt.files.library_paths import library_path
from mt.model.attention import MultiHeadAttention
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.feed_forward import GatedFeedForward
from mt.model.layers import DecoderLayer, EncoderLayer, Residual
from mt.model.positions import LearnedPositions, Positions, SinusoidalPositions, sinusoids
from mt.model_folder.files import read_config
from mt.model_folder.folder import LoadedModel, load_model
from mt.text.tokenizer import END, START, UNKNOWN
from mt.text.tokenizer_pair import TokenizerPair

_ACTIVATIONS = {"relu": "RELU", "gelu": "GELU", "swish": "SWISH", "swiglu": "SWISH"}
_NORMS = {"pre": True, "post": False}


def convert(folder: Path, output: Path, *, stored: Stored = "float32") -> LoadedModel:
    """Write the weights of the model in `folder` for CTranslate2 into `output`, which is there.

    Gives the model. Raises ModelFolderError for a bad folder or a model that CTranslate2 has no
    form for, ConfigError when the package is not installed.
    """
    refuse_other_forms(read_config(folder), "ctranslate2", name=str(folder))
    specs = model_specs()
    loaded = load_model(folder)
    spec = _spec(specs, loaded, name=str(folder))
    spec.validate()
    spec.optimize(quantization=None if stored == "float32" else stored)
    spec.save(str(library_path(output)))
    return loaded


def _spec(specs: Any, loaded: LoadedModel, *, name: str) -> Any:
    """CTranslate2's description of the model with all its weights."""
    config, model = loaded.config.model, loaded.model
    assert isinstance(model, EncoderDecoder)  # others are refused
    shape = {
        "num_heads": config.heads,
        "pre_norm": _NORMS[config.norm],
        "activation": getattr(specs.common_spec.Activation, _ACTIVATIONS[config.activation]),
        "ffn_glu": config.activation == "swiglu",
        "rms_norm": config.norm_kind == "rmsnorm",
        "num_heads_kv": config.key_value_heads,
        # Of all dimensions, the first half with the second.
        "rotary_dim": 0 if config.positions == "rotary" else None,
        "rotary_interleave": False,
    }
    spec = specs.TransformerSpec(
        specs.TransformerEncoderSpec(config.encoder_layers, **shape),
        specs.TransformerDecoderSpec(config.decoder_layers, **shape),
    )
    weights = _Weights(model)
    (source_embedding,) = spec.encoder.embeddings
    source_embedding.weight = weights.take(model.source_embedding.weight)
    spec.decoder.embeddings.weight = weights.take(model.target_embedding.weight)
    spec.decoder.projection.weight = weights.take(model.output_weight)
    if model.output_bias is not None:
        spec.decoder.projection.bias = weights.take(model.output_bias)
    spec.encoder.scale_embeddings = spec.decoder.scale_embeddings = config.scale_embeddings
    spec.decoder.start_from_zero_embedding = config.zero_start
    if config.positions == "rotary":
        del spec.encoder.position_encodings  # nothing is added to embeddings
    else:
        spec.encoder.position_encodings.encodings = weights.positions(model.source_positions)
        spec.decoder.position_encodings.encodings = weights.positions(model.target_positions)
    for side, norm in ((spec.encoder, model.encoder_norm), (spec.decoder, model.decoder_norm)):
        if not isinstance(norm, nn.Identity):
            weights.norm(side.layer_norm, norm)
    for layer_spec, layer in zip(spec.encoder.layer, model.encoder, strict=True):
        weights.encoder_layer(layer_spec, cast(EncoderLayer, layer))
    for layer_spec, layer in zip(spec.decoder.layer, model.decoder, strict=True):
        weights.decoder_layer(layer_spec, cast(DecoderLayer, layer))
    if left := weights.left():
        raise ModelFolderError(f"{name}: CTranslate2 has no variable for the tensor {left[0]}")
    spec.config.layer_norm_epsilon = weights.epsilon
    _set_vocabularies(spec, loaded.tokenizers, name=name)
    return spec


def _set_vocabularies(spec: Any, tokenizers: TokenizerPair, *, name: str) -> None:
    """Give the pieces in the order of their ids, and the symbols that are added or expected.

    Raises ModelFolderError where two are alike: CTranslate2 knows them only by their names.
    """
    source, target = (
        tokenizer.pieces(range(tokenizer.vocab_size))
        for tokenizer in (tokenizers.source, tokenizers.target)
    )
    for pieces in (source, target):
        twice = [piece for piece, count in Counter(pieces).items() if count > 1]
        if twice:
            raise ModelFolderError(
                f"{name} has a symbol {twice[0]!r}, which is the name of a reserved one: it cannot "
                "be exported to CTranslate2",
                hint="Give the symbol another name, and train again",
            )
    spec.register_source_vocabulary(source)
    spec.register_target_vocabulary(target)
    spec.config.bos_token, spec.config.eos_token = target[START], target[END]
    spec.config.unk_token = target[UNKNOWN]
    spec.config.decoder_start_token = target[START]
    spec.config.add_source_eos = True


class _Weights:
    """Puts the weights of a model into the variables of a description, and knows which are left."""

    def __init__(self, model: EncoderDecoder) -> None:
        self._names = {id(parameter): name for name, parameter in model.named_parameters()}
        self._taken: dict[int, NDArray[np.float32]] = {}
        self.epsilon = 1e-5

    def left(self) -> list[str]:
        """Names of the tensors that nobody took."""
        return [name for key, name in self._names.items() if key not in self._taken]

    def take(self, parameter: Tensor) -> NDArray[np.float32]:
        """The numbers of a parameter; of a tied one the same array, so that it is stored once."""
        key = id(parameter)
        if key not in self._taken:
            # A copy: quantization scales in place.
            self._taken[key] = parameter.detach().numpy().copy()
        return self._taken[key]

    def positions(self, positions: Positions) -> NDArray[np.float32]:
        """The table (P, D)."""
        if isinstance(positions, LearnedPositions):
            return self.take(positions.table)
        assert isinstance(positions, SinusoidalPositions)
        return sinusoids(NUM_POSITIONS, positions.d_model, order=positions.order).float().numpy()

    def norm(self, spec: Any, norm: nn.Module) -> None:
        """Scale and shift of a normalisation."""
        assert isinstance(norm, nn.LayerNorm | nn.RMSNorm)
        spec.gamma = self.take(norm.weight)
        if isinstance(norm, nn.LayerNorm):
            spec.beta = self.take(norm.bias)
        assert norm.eps is not None
        self.epsilon = norm.eps

    def linear(self, spec: Any, *layers: nn.Linear) -> None:
        """Linear maps of one input, their outputs side by side."""
        spec.weight = np.concatenate([self.take(layer.weight) for layer in layers])
        if layers[0].bias is not None:
            spec.bias = np.concatenate([self.take(layer.bias) for layer in layers])

    def self_attention(self, spec: Any, attention: MultiHeadAttention, residual: Residual) -> None:
        """Query, key and value are one map, in this order."""
        self.norm(spec.layer_norm, residual.norm)
        self.linear(spec.linear[0], attention.query, attention.key_value)
        self.linear(spec.linear[1], attention.output)

    def cross_attention(self, spec: Any, attention: MultiHeadAttention, residual: Residual) -> None:
        """Key and value are one map, in this order."""
        self.norm(spec.layer_norm, residual.norm)
        self.linear(spec.linear[0], attention.query)
        self.linear(spec.linear[1], attention.key_value)
        self.linear(spec.linear[2], attention.output)

    def feed_forward(self, spec: Any, layer: EncoderLayer | DecoderLayer) -> None:
        """The maps of a feed-forward layer."""
        self.norm(spec.layer_norm, layer.feed_forward_residual.norm)
        self.linear(spec.linear_0, layer.feed_forward.inner)
        if isinstance(layer.feed_forward, GatedFeedForward):
            for name in ("weight", "bias"):
                both = getattr(spec.linear_0, name)
                if isinstance(both, np.ndarray):
                    gate, value = np.split(both, 2)
                    setattr(spec.linear_0, name, gate.copy())
                    setattr(spec.linear_0_noact, name, value.copy())
        self.linear(spec.linear_1, layer.feed_forward.outer)

    def encoder_layer(self, spec: Any, layer: EncoderLayer) -> None:
        """All of an encoder layer."""
        self.self_attention(spec.self_attention, layer.attention, layer.attention_residual)
        self.feed_forward(spec.ffn, layer)

    def decoder_layer(self, spec: Any, layer: DecoderLayer) -> None:
        """All of a decoder layer."""
        self.self_attention(spec.self_attention, layer.self_attention, layer.self_residual)
        self.cross_attention(spec.attention, layer.cross_attention, layer.cross_residual)
        self.feed_forward(spec.ffn, layer)
