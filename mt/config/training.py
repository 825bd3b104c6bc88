"""How the weights are found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from mt.errors import require

MetricName = Literal["bleu", "chrf", "loss", "exact", "ser"]
Precision = Literal["auto", "float32", "bfloat16"]
Optimizer = Literal["adamw", "muon"]
ModelPart = Literal["embeddings", "encoder", "decoder"]
"""The parts of a model; together they are all of it."""
MODEL_PARTS: tuple[str, ...] = get_args(ModelPart)


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
    """Share of the budget at its end over which the rate falls linearly to zero; 0: none. A resumed
    run with a longer budget goes on from before the fall."""
    optimizer: Optimizer = "adamw"
    """What moves the weights; "muon" takes the matrices of layers, and AdamW the rest."""
    momentum: float = 0.95
    """Decay of Muon's mean of gradients."""
    beta1: float = 0.9
    """Decay of AdamW's mean of gradients."""
    beta2: float = 0.98
    """Decay of AdamW's mean of squared gradients."""
    weight_decay: float = 0.0
    """Decoupled weight decay, on matrices only."""
    clip_norm: float = 1.0
    """Largest norm of the whole gradient; 0 turns clipping off."""
    dropout_epochs: float = 0.0
    """Epochs over which dropout rises, in four steps, from nothing to its rates; 0: at once."""
    label_smoothing: float = 0.1
    """Mass moved from the reference token to all tokens alike."""
    average_decay: float = 0.999
    """Decay of the exponential moving average of the weights; 0 turns averaging off."""
    max_updates: int | None = None
    """Budget in updates; whichever of the three budgets is reached first ends training."""
    max_epochs: float | None = None
    """Budget in passes over the corpus."""
    max_minutes: float | None = None
    """Budget in wall-clock minutes from the first update on, the last validation included."""
    validate_every: int | None = None
    """Updates between validations; without it, one epoch, but 1,000 to 5,000 updates."""
    patience: int = 10
    """Validations in a row without a better score that end training; 0 never ends it."""
    metric: MetricName = "bleu"
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
            require(value >= 1, f"training.{name} must be at least 1: {value}")
        for name in ("max_updates", "max_epochs", "max_minutes", "validate_every"):
            value = getattr(self, name)
            require(value is None or value > 0, f"training.{name} must be positive: {value}")
        require(self.peak_rate > 0, f"training.peak_rate must be positive: {self.peak_rate}")
        require(
            0.0 <= self.cooldown <= 1.0, f"training.cooldown must lie in [0, 1]: {self.cooldown}"
        )
        for name in ("label_smoothing", "average_decay", "momentum", "beta1", "beta2"):
            value = getattr(self, name)
            require(0.0 <= value < 1.0, f"training.{name} must lie in [0, 1): {value}")
        for name in (
            "patience",
            "clip_norm",
            "weight_decay",
            "dropout_epochs",
            "seed",
            "keep_weights",
        ):
            value = getattr(self, name)
            require(value >= 0, f"training.{name} must not be negative: {value}")
        require(
            set(self.freeze) != set(MODEL_PARTS),
            f"training.freeze leaves nothing to train: {', '.join(MODEL_PARTS)} are all of a model",
        )
