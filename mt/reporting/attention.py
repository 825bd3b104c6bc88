"""What every head of a model attends to over one pair of texts.

The weights are those that the layers used in one pass over the pair, as training and `mt score`
make it (teacher forcing): the target is given, and each of its tokens is predicted from those
before it.

Shapes: L layers, H heads, S source tokens and T target tokens, end symbols not counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mt.errors import DataError
from mt.events import Listener, Notice, ignore
from mt.model.attention_recorder import recorded_weights
from mt.model.reach import check_reach
from mt.model_folder.folder import LoadedModel
from mt.reporting.heads import HeadProfile, Kind, profile_heads
from mt.text.tokenizer import END, START, Tokenizer
from mt.translation.forced import force

_LAYERS: dict[Kind, re.Pattern[str]] = {
    "cross": re.compile(r"decoder\.(\d+)\.cross_attention"),
    "encoder": re.compile(r"encoder\.(\d+)\.attention"),
    "decoder": re.compile(r"decoder\.(\d+)\.self_attention"),
    "stream": re.compile(r"decoder\.(\d+)\.attention"),
}
"""Names of the attention layers in a model."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AttentionMaps:
    """The attention of one kind, of all layers and heads."""

    kind: Kind
    queries: tuple[str, ...]
    """The tokens that attend, as people read them."""
    keys: tuple[str, ...]
    """The tokens attended to."""
    weights: Tensor
    """(L, H, queries, keys) in float32 on the CPU; each row sums to 1."""
    profiles: list[list[HeadProfile]]
    """One for each head of each layer."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AttendedPair:
    """One pair of texts, and all attention of a model over it."""

    source: str
    """Normalised, as the model reads it."""
    target: str
    is_own: bool
    """The target is the model's own translation."""
    source_pieces: tuple[str, ...]
    """(S + 1), the end symbol last."""
    fed_pieces: tuple[str, ...]
    """(T + 1) what the decoder is fed: the start symbol first."""
    predicted_pieces: tuple[str, ...]
    """(T + 1) what it is to predict at each of these steps: the end symbol last."""
    log_probabilities: tuple[float, ...]
    """(T + 1) natural logs of the probabilities of the predicted pieces."""
    maps: tuple[AttentionMaps, ...]
    """Cross-attention, the encoder's and the decoder's self-attention; or that of one stream."""


def attend_to_pair(
    loaded: LoadedModel,
    source: str,
    target: str,
    *,
    target_tokens: Sequence[int] | None = None,
    listener: Listener = ignore,
) -> AttendedPair:
    """Let a model read `source` and predict `target`, and keep what its heads attend to.

    `target_tokens` are those of the target where the model found it itself. Symbols that the
    model does not know are reported to `listener`. Raises DataError for a blank text and for one
    beyond a table of learned positions.
    """
    tokenizers = loaded.tokenizers
    source = tokenizers.in_usual_case(source)
    _check_text("source", source, tokenizers.source, listener)
    _check_text("target", target, tokenizers.target, listener)
    source_tokens = tokenizers.source.encode(source)
    tokens = tokenizers.target.encode(target) if target_tokens is None else list(target_tokens)
    for side, encoded in (("source", source_tokens), ("target", tokens)):
        hint = "Give a sentence of it"
        check_reach(len(encoded), loaded.model.longest, what=f"the {side}", hint=hint)
    with recorded_weights(loaded.model) as recorded:
        (forced,) = force(loaded.model, [(source_tokens, tokens)])
    source_pieces = tokenizers.source.pieces([*source_tokens, END])
    num_prefix = len(source_pieces) if loaded.config.model.bidirectional_source else 0
    fed = tokenizers.target.pieces([START, *tokens])
    predicted = tokenizers.target.pieces([*tokens, END])
    # Cross-attention chooses what to predict; self-attention is between the tokens that are fed.
    sides: dict[Kind, tuple[list[str], list[str]]]
    if loaded.config.model.architecture == "decoder-only":
        stream = [*source_pieces, *fed]
        sides = {"stream": (stream, stream)}
    else:
        sides = {
            "cross": (predicted, source_pieces),
            "encoder": (source_pieces, source_pieces),
            "decoder": (fed, fed),
        }
    return AttendedPair(
        source=tokenizers.source.normalise(source),
        target=tokenizers.target.normalise(target),
        is_own=target_tokens is not None,
        source_pieces=tuple(source_pieces),
        fed_pieces=tuple(fed),
        predicted_pieces=tuple(predicted),
        log_probabilities=forced.log_probabilities,
        maps=tuple(
            _maps(kind, _stacked(kind, recorded), queries, keys, num_prefix=num_prefix)
            for kind, (queries, keys) in sides.items()
        ),
    )


def _check_text(side: str, text: str, tokenizer: Tokenizer, listener: Listener) -> None:
    if tokenizer.is_blank(text):
        raise DataError(
            f"the {side} is blank: there is nothing to attend to",
            hint="Give a text of one word at least",
        )
    if unknown := tokenizer.unknown(text):
        listed = ", ".join(dict.fromkeys(unknown))
        said = f"the {side} has symbols that the model does not know, read as <unk>: {listed}"
        listener(Notice(text=said, is_warning=True))


def _stacked(kind: Kind, recorded: dict[str, Tensor]) -> Tensor:
    """The weights of all layers of one kind, (L, H, queries, keys)."""
    by_layer = {
        int(match[1]): weights[0]
        for name, weights in recorded.items()
        if (match := _LAYERS[kind].fullmatch(name))
    }
    return torch.stack([by_layer[layer].float().cpu() for layer in sorted(by_layer)])


def _maps(
    kind: Kind, weights: Tensor, queries: Sequence[str], keys: Sequence[str], *, num_prefix: int
) -> AttentionMaps:
    return AttentionMaps(
        kind=kind,
        queries=tuple(queries),
        keys=tuple(keys),
        weights=weights,
        profiles=profile_heads(kind, weights, num_prefix=num_prefix),
    )
