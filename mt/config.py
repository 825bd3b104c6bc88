"""Every setting of `mt`, one frozen dataclass a component; a default stands here and nowhere else.

`presets.py` fills these for models of four sizes; `config_file.py` reads and writes them as TOML.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Literal, get_args

from mt.errors import ConfigError

SubwordKind = Literal["unigram", "bpe"]
TokenizerKind = Literal[SubwordKind, "symbols"]
Architecture = Literal["encoder-decoder", "decoder-only"]
PositionKind = Literal["sinusoidal", "learned", "rotary", "relative"]
NormOrder = Literal["pre", "post"]
NormKind = Literal["layernorm", "rmsnorm"]
Activation = Literal["relu", "gelu", "swiglu"]
Initialisation = Literal["xavier", "depth"]
TiedEmbeddings = Literal["all", "target", "none"]
LengthPenalty = Literal["none", "mean", "gnmt"]
Metric = Literal["bleu", "chrf", "loss", "exact", "ser"]
Precision = Literal["auto", "float32", "bfloat16"]
SearchPrecision = Literal["auto", "float32", "bfloat16", "int8"]
Droppable = Literal[
    "not_utf8",
    "long",
    "ratio",
    "duplicate",
    "overlap_source",
    "near_duplicate",
    "overlap_source_loose",
    "overlap_target",
    "overlap_target_loose",
    "copy",
    "script_source",
    "script_target",
    "language_source",
    "language_target",
    "serial",
    "markup",
    "mojibake",
    "replacement",
    "nul",
    "control",
    "separator",
    "carriage_return",
    "bom",
    "not_nfc",
]
"""Findings of `mt check` for which `mt train` can leave a pair out."""
DROPPABLE: tuple[str, ...] = get_args(Droppable)
ModelPart = Literal["embeddings", "encoder", "decoder"]
"""The parts of a model; together they are all of it."""
MODEL_PARTS: tuple[str, ...] = get_args(ModelPart)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ConfigError(message)


@dataclass(frozen=True, kw_only=True)
class CorpusConfig:
    """What is taken from the corpus."""

    drop: tuple[Droppable, ...] = ("long", "ratio", "duplicate", "overlap_source")
    """Findings of `mt check` for which a pair is left out; --drop adds one, --keep removes one."""
    max_length: int = 256
    """Longest side of a pair in tokens, its end symbol not counted; beyond it a pair is "long"."""
    max_ratio: float = 9.0
    """Times the usual proportion of the sides in characters, beyond which they are a "ratio"."""
    held_out: int = 1000
    """Pairs held out for validation when no --dev is given (never over a tenth of the corpus)."""
    weights: tuple[float, ...] = ()
    """How often the pairs of each corpus come in an epoch, in the order given; none: once."""

    def __post_init__(self) -> None:
        _require(self.max_length >= 1, f"corpus.max_length must be at least 1: {self.max_length}")
        _require(self.max_ratio > 1, f"corpus.max_ratio must be above 1: {self.max_ratio}")
        _require(self.held_out >= 1, f"corpus.held_out must be at least 1: {self.held_out}")
        _require(
            all(0 <= weight < math.inf for weight in self.weights)
            and (not self.weights or max(self.weights) > 0),
            f"corpus.weights must not be negative, nor all zero: {list(self.weights)}",
        )


@dataclass(frozen=True, kw_only=True)
class TokenizerConfig:
    """How text becomes tokens."""

    kind: TokenizerKind = "unigram"
    """Subwords by a unigram language model or byte-pair encoding, or space-separated symbols."""
    vocab_size: int | None = None
    """Most pieces of each tokenizer; without it by the number of pairs, or 32,000 for symbols."""
    min_count: int = 1
    """Of symbols: one that comes fewer times in training is unknown to the model."""
    joint: bool = True
    """One tokenizer for both languages, or one for each."""

    def __post_init__(self) -> None:
        size = self.vocab_size
        _require(size is None or size >= 1, f"tokenizer.vocab_size must be at least 1: {size}")
        _require(self.min_count >= 1, f"tokenizer.min_count must be at least 1: {self.min_count}")
        _require(
            self.min_count == 1 or self.takes_symbols,
            f'tokenizer.min_count = {self.min_count} needs tokenizer.kind = "symbols"',
        )

    @property
    def takes_symbols(self) -> bool:
        """Whether tokens are symbols that stand between spaces, and not parts of text."""
        return self.kind == "symbols"


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
    """How a token knows its place: "sinusoidal" or "learned" vectors are added to embeddings,
    "rotary" turns queries and keys of self-attention, "relative" scores its offsets."""
    max_positions: int = 512
    """Learned positions for each side of a pair; longer sides are refused with them."""
    norm: NormOrder = "pre"
    """Where normalisation stands: x + f(LN(x)), or LN(x + f(x))."""
    norm_kind: NormKind = "layernorm"
    """Normalise by mean and variance, or by the root mean square alone."""
    activation: Activation = "relu"
    """Non-linearity of the feed-forward layers; "swiglu" is the gated form."""
    biases: bool = True
    """Whether the linear maps of attention and feed-forward layers have biases."""
    initialisation: Initialisation = "xavier"
    """First weights; "depth" divides the last matrices of sublayers by the root of their number."""
    tied: TiedEmbeddings = "all"
    """One matrix for source, target and output ("all"), target and output ("target"), or none."""

    def __post_init__(self) -> None:
        for name in ("d_model", "d_inner", "decoder_layers", "heads", "max_positions"):
            value = getattr(self, name)
            _require(value >= 1, f"model.{name} must be at least 1: {value}")
        if self.architecture == "decoder-only":
            _require(
                self.encoder_layers == 0,
                "a decoder-only model has no encoder, but model.encoder_layers is "
                f"{self.encoder_layers}: leave it out, and set model.decoder_layers",
            )
        else:
            _require(self.encoder_layers >= 1, "model.encoder_layers must be at least 1")
            _require(
                not self.bidirectional_source,
                'model.bidirectional_source = true needs model.architecture = "decoder-only"',
            )
        _require(
            self.d_model % self.heads == 0,
            f"model.d_model ({self.d_model}) must be a multiple of model.heads ({self.heads})",
        )
        _require(self.d_model % 2 == 0, f"model.d_model must be even: {self.d_model}")
        shared = self.key_value_heads
        _require(
            shared is None or (shared >= 1 and self.heads % shared == 0),
            f"model.heads ({self.heads}) must be a multiple of model.key_value_heads ({shared})",
        )
        _require(
            self.positions != "rotary" or self.d_model // self.heads % 2 == 0,
            f"rotary positions need heads of even width, but model.d_model / model.heads is "
            f"{self.d_model // self.heads}",
        )
        for name in ("dropout", "attention_dropout", "activation_dropout"):
            value = getattr(self, name)
            _require(0.0 <= value < 1.0, f"model.{name} must lie in [0, 1): {value}")


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """How the weights are found, and when the search for them ends."""

    seed: int = 1
    """Seed of initialisation, data order and dropout."""
    batch_tokens: int = 2048
    """Most padded tokens of a batch on either side (sentences times the longest of them)."""
    accumulate: int = 1
    """Batches whose gradients make one update."""
    peak_rate: float = 5e-3
    """Learning rate at the end of the warm-up."""
    warmup_updates: int = 600
    """Updates over which the rate rises linearly; then it falls as 1/sqrt(update). Of a budget in
    minutes the rise takes a fifth at most."""
    cooldown: float = 0.0
    """Share of the budget at its end over which the rate falls linearly to zero; 0: none."""
    beta1: float = 0.9
    """Decay of AdamW's mean of gradients."""
    beta2: float = 0.98
    """Decay of AdamW's mean of squared gradients."""
    weight_decay: float = 0.0
    """Decoupled weight decay of AdamW, on matrices only."""
    clip_norm: float = 1.0
    """Largest norm of the whole gradient; 0 turns clipping off."""
    label_smoothing: float = 0.1
    """Mass moved from the reference token to all tokens alike."""
    average_decay: float = 0.999
    """Decay of the exponential moving average of the weights; 0 turns averaging off."""
    max_updates: int | None = None
    """Budget in updates; whichever of the three budgets is reached first ends training."""
    max_epochs: float | None = None
    """Budget in passes over the corpus."""
    max_minutes: float | None = None
    """Budget in minutes, validation included."""
    validate_every: int | None = None
    """Updates between validations; without it, one epoch, but 1,000 to 5,000 updates."""
    patience: int = 10
    """Validations in a row without a better score that end training; 0 never ends it."""
    metric: Metric = "bleu"
    """The score that decides which weights are best; "exact" and "ser" are those of symbols."""
    max_nonfinite: int = 20
    """Updates in a row with a gradient that is not finite that end training with an error."""
    freeze: tuple[ModelPart, ...] = ()
    """Parts whose weights stay as they are: "embeddings" (with output), "encoder", "decoder"."""
    keep_weights: int = 0
    """Validations, best and last ones each, whose weights are kept for `mt average`."""

    def __post_init__(self) -> None:
        for name in ("batch_tokens", "accumulate", "warmup_updates", "max_nonfinite"):
            value = getattr(self, name)
            _require(value >= 1, f"training.{name} must be at least 1: {value}")
        for name in ("max_updates", "max_epochs", "max_minutes", "validate_every"):
            value = getattr(self, name)
            _require(value is None or value > 0, f"training.{name} must be positive: {value}")
        _require(self.peak_rate > 0, f"training.peak_rate must be positive: {self.peak_rate}")
        _require(
            0.0 <= self.cooldown <= 1.0, f"training.cooldown must lie in [0, 1]: {self.cooldown}"
        )
        for name in ("label_smoothing", "average_decay", "beta1", "beta2"):
            value = getattr(self, name)
            _require(0.0 <= value < 1.0, f"training.{name} must lie in [0, 1): {value}")
        for name in ("patience", "clip_norm", "weight_decay", "seed", "keep_weights"):
            value = getattr(self, name)
            _require(value >= 0, f"training.{name} must not be negative: {value}")
        _require(
            set(self.freeze) != set(MODEL_PARTS),
            f"training.freeze leaves nothing to train: {', '.join(MODEL_PARTS)} are all of a model",
        )


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """How translations are searched for."""

    beam: int = 5
    """Hypotheses kept for each sentence; 1 is greedy search."""
    n_best: int = 1
    """Hypotheses returned for each sentence; never more than the beam."""
    length_penalty: LengthPenalty = "mean"
    """What a log-probability is divided by: 1, its number of tokens, or GNMT's ((5 + n) / 6)^a."""
    alpha: float = 1.0
    """The exponent a of the GNMT penalty."""
    max_length_ratio: float = 2.0
    """A hypothesis has at most this times the source tokens, plus the offset below."""
    max_length_offset: int = 20
    """Tokens that a hypothesis may have beyond the ratio."""
    max_length: int | None = None
    """An absolute bound on the tokens of a hypothesis, on top of the relative one."""
    min_length_ratio: float = 0.0
    """A hypothesis has at least this times the source tokens, rounded down, if its bound allows."""
    no_repeat_ngram: int = 0
    """No run of so many tokens comes twice in a hypothesis; 0: any may."""
    max_repeats: int = 0
    """Most times that a token, or 2 to 16 together, may come directly in a row; 0: any number."""

    def __post_init__(self) -> None:
        _require(self.beam >= 1, f"search.beam must be at least 1: {self.beam}")
        _require(
            1 <= self.n_best <= self.beam,
            f"search.n_best must lie between 1 and the beam ({self.beam}): {self.n_best}",
        )
        _require(self.max_length_ratio >= 0, "search.max_length_ratio must not be negative")
        _require(self.max_length_offset >= 1, "search.max_length_offset must be at least 1")
        _require(
            self.max_length is None or self.max_length >= 1,
            f"search.max_length must be at least 1: {self.max_length}",
        )
        _require(
            0 <= self.min_length_ratio <= self.max_length_ratio,
            "search.min_length_ratio must lie between 0 and search.max_length_ratio "
            f"({self.max_length_ratio}): {self.min_length_ratio}",
        )
        for name in ("no_repeat_ngram", "max_repeats"):
            value = getattr(self, name)
            _require(value >= 0, f"search.{name} must not be negative: {value}")
        _require(self.alpha >= 0, f"search.alpha must not be negative: {self.alpha}")


@dataclass(frozen=True, kw_only=True)
class SamplingConfig:
    """How translations are drawn from the model instead of searched for; no model folder has it."""

    samples: int = 1
    """Translations drawn for each sentence."""
    temperature: float = 1.0
    """What log-probabilities are divided by: below 1 the probable becomes more probable."""
    top_k: int | None = None
    """Tokens that are drawn from at each step, the most probable ones; without it all."""
    top_p: float = 1.0
    """Probability that they must reach: the smallest set of tokens that does is drawn from."""
    seed: int = 1
    """Seed of the random numbers: the same seed draws the same."""

    def __post_init__(self) -> None:
        _require(self.samples >= 1, f"sampling.samples must be at least 1: {self.samples}")
        _require(
            0.001 <= self.temperature < math.inf,
            f"sampling.temperature must be at least 0.001 and finite: {self.temperature}",
        )
        _require(
            self.top_k is None or self.top_k >= 1,
            f"sampling.top_k must be at least 1: {self.top_k}",
        )
        _require(0 < self.top_p <= 1, f"sampling.top_p must lie in (0, 1]: {self.top_p}")
        _require(self.seed >= 0, f"sampling.seed must not be negative: {self.seed}")


@dataclass(frozen=True, kw_only=True)
class Config:
    """All settings of a run; a model folder holds them as `config.toml`."""

    source_language: str = ""
    """Code of the source language as the user or the file names gave it; empty if unknown."""
    target_language: str = ""
    preset: str = ""
    """Name of the preset that the settings started from."""
    fine_tuned_from: str = ""
    """Name of the model folder whose weights training started from; empty for random ones."""
    longest_source: int = 0
    """Tokens of a source that hardly any in training was longer than; 0 if not known."""
    corpus: CorpusConfig = field(default_factory=CorpusConfig)
    tokenizer: TokenizerConfig = field(default_factory=TokenizerConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    search: SearchConfig = field(default_factory=SearchConfig)

    def __post_init__(self) -> None:
        _require(
            self.tokenizer.joint or self.model.tied != "all",
            'model.tied = "all" needs one joint tokenizer: set tokenizer.joint = true or '
            'model.tied = "target"',
        )
        _require(
            self.model.architecture == "encoder-decoder" or "encoder" not in self.training.freeze,
            "training.freeze names the encoder, which a decoder-only model has not",
        )
        _require(
            self.model.architecture == "encoder-decoder"
            or set(self.training.freeze) != {"embeddings", "decoder"},
            "training.freeze leaves nothing to train: embeddings and decoder are all of a "
            "decoder-only model",
        )
        metric = self.training.metric
        _require(
            self.tokenizer.takes_symbols or metric not in ("exact", "ser"),
            f'training.metric = "{metric}" needs tokenizer.kind = "symbols"',
        )

    def with_values(self, values: dict[str, dict[str, object]]) -> Config:
        """Return a copy with `values[section][key]` set; keys must exist (see config_file)."""
        sections = {
            name: dataclasses.replace(getattr(self, name), **keys)
            for name, keys in values.items()
            if name
        }
        return dataclasses.replace(self, **sections, **values.get("", {}))  # type: ignore[arg-type]
