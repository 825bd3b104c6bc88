"""Parts of a model that training leaves as they are."""

from __future__ import annotations

from collections.abc import Collection

from torch import nn

from mt.config import ModelPart

_PART_OF: dict[str, ModelPart] = {
    "source_embedding": "embeddings",
    "target_embedding": "embeddings",
    "output": "embeddings",
    "output_bias": "embeddings",
    "source_positions": "embeddings",
    "target_positions": "embeddings",
    "positions": "embeddings",
    "encoder": "encoder",
    "encoder_norm": "encoder",
    "decoder": "decoder",
    "decoder_norm": "decoder",
}
"""The part of each module of the model; the output matrix goes with those it may be tied to."""


def part_of(parameter: str) -> ModelPart:
    """The part that a parameter of this name belongs to; each belongs to one."""
    return _PART_OF[parameter.partition(".")[0]]


def freeze(model: nn.Module, parts: Collection[ModelPart]) -> None:
    """Let the parameters of `parts` need no gradient; to be called before an optimizer is made."""
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(part_of(name) not in parts)


def describe_frozen(model: nn.Module, parts: Collection[ModelPart]) -> str:
    """What is frozen and what is left, in words."""
    total = sum(parameter.numel() for parameter in model.parameters())
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return f"frozen: {', '.join(parts)}; {trained:,} of {total:,} parameters are trained"
