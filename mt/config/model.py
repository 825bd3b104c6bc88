"""The shape of the Transformer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mt.errors import require

Architecture = Literal["encoder-decoder", "decoder-only"]
PositionKind = Literal["sinusoidal", "learned", "rotary", "relative"]
NormOrder = Literal["pre", "post"]
NormKind = Literal["layernorm", "rmsnorm"]
Activation = Literal["relu", "gelu", "swish", "swiglu"]
Sinusoids = Literal["interleaved", "halves", "marian"]
Initialisation = Literal["xavier", "depth"]
TiedEmbeddings = Literal["all", "target", "none"]
ExportForm = Literal["ctranslate2", "huggingface", "marian"]
"""Programs that a model can be written for."""


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The shape of the Transformer."""

    architecture: Architecture = "encoder-decoder"
    """Two stacks, or one that reads the source and goes on with the target."""
    d_model: int = 128
    """Width of the residual stream (D)."""
    d_inner: int = 256
    """Inner width of the feed-forward layers; "swiglu" takes 2/3 of it, for as many weights."""
    encoder_layers: int = 4
    """Layers of the encoder; 0 in a decoder-only model."""
    decoder_layers: int = 4
    """Layers of the decoder."""
    bidirectional_source: bool = False
    """Whether source tokens of a decoder-only model see later ones too (a prefix language model);
    those of an encoder always do."""
    heads: int = 4
    """Attention heads (H), each of width E = D / H."""
    key_value_heads: int | None = None
    """Heads of keys and values, each shared by as many heads of queries; without it H."""
    dropout: float = 0.3
    """Dropout on embeddings and on the output of every sublayer."""
    attention_dropout: float = 0.0
    """Dropout on attention weights."""
    activation_dropout: float = 0.0
    """Dropout after the activation of a feed-forward layer."""
    positions: PositionKind = "sinusoidal"
    """How a token knows its position: "sinusoidal" or "learned" vectors are added to embeddings,
    "rotary" turns queries and keys of self-attention, "relative" scores its offsets."""
    sinusoids: Sinusoids = "interleaved"
    """Order of fixed sinusoids: sine and cosine by turns, or "halves" as in Hugging Face's Marian;
    "marian" has halves of frequencies 10000^(-i / (D/2 - 1)), as Marian itself."""
    max_positions: int = 512
    """Learned positions for each side of a pair; longer sides are refused with them."""
    norm: NormOrder = "pre"
    """Where normalisation stands: x + f(LN(x)), or LN(x + f(x))."""
    norm_kind: NormKind = "layernorm"
    """Normalise by mean and variance, or by the root mean square alone."""
    norm_epsilon: float = 1e-5
    """What normalisation adds to the variance, or to the mean of squares."""
    activation: Activation = "relu"
    """Non-linearity of the feed-forward layers; "swiglu" is the gated form of "swish"."""
    biases: bool = True
    """Whether the linear maps of attention and feed-forward layers have biases."""
    initialisation: Initialisation = "xavier"
    """First weights; "depth" divides the last matrices of sublayers by the root of their number."""
    tied: TiedEmbeddings = "all"
    """One matrix for source, target and output ("all"), target and output ("target"), or none."""
    output_bias: bool = False
    """Whether each piece of the target has a bias, too, when it is predicted."""
    zero_start: bool = False
    """Whether the target starts from a vector of zeros and not from a learned one, as in Marian."""
    scale_embeddings: bool = True
    """Whether embeddings are multiplied by the root of model.d_model."""

    def __post_init__(self) -> None:
        for name in ("d_model", "d_inner", "decoder_layers", "heads", "max_positions"):
            value = getattr(self, name)
            require(value >= 1, f"model.{name} must be at least 1: {value}")
        if self.architecture == "decoder-only":
            require(
                self.encoder_layers == 0,
                "a decoder-only model has no encoder, but model.encoder_layers is "
                f"{self.encoder_layers}: leave it out, and set model.decoder_layers",
            )
            require(
                not self.zero_start,
                'model.zero_start = true needs model.architecture = "encoder-decoder"',
            )
        else:
            require(self.encoder_layers >= 1, "model.encoder_layers must be at least 1")
            require(
                not self.bidirectional_source,
                'model.bidirectional_source = true needs model.architecture = "decoder-only"',
            )
        require(
            self.d_model % self.heads == 0,
            f"model.d_model ({self.d_model}) must be a multiple of model.heads ({self.heads})",
        )
        require(self.d_model % 2 == 0, f"model.d_model must be even: {self.d_model}")
        shared = self.key_value_heads
        require(
            shared is None or (shared >= 1 and self.heads % shared == 0),
            f"model.heads ({self.heads}) must be a multiple of model.key_value_heads ({shared})",
        )
        require(
            self.positions != "rotary" or self.d_model // self.heads % 2 == 0,
            f"rotary positions need heads of even width, but model.d_model / model.heads is "
            f"{self.d_model // self.heads}",
        )
        require(
            self.sinusoids == "interleaved" or self.positions == "sinusoidal",
            f'model.sinusoids = "{self.sinusoids}" needs model.positions = "sinusoidal"',
        )
        require(
            self.sinusoids != "marian" or self.d_model > 2,
            f'model.sinusoids = "marian" needs model.d_model above 2: {self.d_model}',
        )
        require(
            0.0 < self.norm_epsilon < 1.0,
            f"model.norm_epsilon must lie between 0 and 1: {self.norm_epsilon}",
        )
        for name in ("dropout", "attention_dropout", "activation_dropout"):
            value = getattr(self, name)
            require(0.0 <= value < 1.0, f"model.{name} must lie in [0, 1): {value}")
