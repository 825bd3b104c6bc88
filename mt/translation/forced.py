"""Forced decoding: what a model makes of targets that are given, not searched.

All positions of a target are computed at once, as in training (teacher forcing). It knows tokens
and not text.

Shapes: B pairs of a batch, S source tokens and T target tokens, without end symbols, D model width,
V vocabulary.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from mt.errors import ModelNumbersError
from mt.model.device import fitting_in_memory, is_out_of_memory
from mt.model.inference.linear import Product
from mt.model.translation_model import TranslationModel
from mt.search.ensemble import log_mean
from mt.text.padding import pad_with_end
from mt.text.tokenizer import START

_BATCH_TOKENS = 64  # padded tokens of a side that a batch may hold for each pair it may hold
_ROWS = 512  # positions whose logits exist at a time

TokenPair = tuple[Sequence[int], Sequence[int]]
"""Source tokens and target tokens, without start and end symbols."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Forced:
    """What a model makes of a given target."""

    log_probabilities: tuple[float, ...]
    """(T + 1) natural logs of p(token | source, tokens before it); that of the end symbol last."""
    attention: dict[int, Tensor]
    """For each decoder layer that was asked for, (T + 1, S + 1): how much it attends to each source
    token and, last, to the end symbol, the mean over heads. Row t belongs to the step that predicts
    token t, and was fed token t - 1 (row 0: the start symbol)."""

    @property
    def log_probability(self) -> float:
        """Natural log of the probability of the whole target with its end symbol."""
        return sum(self.log_probabilities)


@torch.inference_mode()
def force(
    model: TranslationModel,
    pairs: Sequence[TokenPair],
    *,
    batch_size: int = 64,
    dtype: torch.dtype = torch.float32,
    attention_of: Collection[int] = (),
) -> list[Forced]:
    """Decode the target of each pair by force, in batches of pairs of like lengths.

    The model is put in evaluation mode. In float32 on the CPU the rest of a batch moves its
    log-probabilities by no more than rounding does. `attention_of` are the decoder layers,
    counted from 0, whose attention is wanted.

    Raises ValueError for a batch size below 1 and a layer that is not there, DeviceMemoryError for
    a pair that does not fit, ModelNumbersError when the model gives NaN.
    """
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, but is {batch_size}")
    model.eval()
    found: dict[int, Forced] = {}
    for batch in _batches(pairs, batch_size):
        forced = _force_batch(model, [pairs[i] for i in batch], dtype, attention_of)
        found.update(zip(batch, forced, strict=True))
    return [found[i] for i in range(len(pairs))]


def force_together(
    models: Sequence[TranslationModel],
    pairs: Sequence[TokenPair],
    *,
    batch_size: int = 64,
    dtype: torch.dtype = torch.float32,
    attention_of: Collection[int] = (),
) -> list[Forced]:
    """`force` by one model, or by several as the ensemble that `mt.search.ensemble` searches with.

    A token has log((1 / M) sum_m p_m(token | source, tokens before it)); attention is that of the
    first model.
    """
    first, *others = models
    forced = force(first, pairs, batch_size=batch_size, dtype=dtype, attention_of=attention_of)
    if not others:
        return forced
    of_others = [force(each, pairs, batch_size=batch_size, dtype=dtype) for each in others]
    return [
        dataclasses.replace(
            of_all[0],
            log_probabilities=tuple(
                log_mean(
                    [torch.tensor(each.log_probabilities, dtype=torch.float64) for each in of_all]
                ).tolist()
            ),
        )
        for of_all in zip(forced, *of_others, strict=True)
    ]


def _batches(pairs: Sequence[TokenPair], batch_size: int) -> Iterator[list[int]]:
    """Indices of the pairs, long ones first, in batches that hold little padding."""
    lengths = [(len(target) + 1, len(source) + 1) for source, target in pairs]
    batch: list[int] = []
    widest = longest = 0
    for i in sorted(range(len(pairs)), key=lambda i: lengths[i], reverse=True):
        target, source = lengths[i]
        wider, longer = max(widest, source), max(longest, target)
        is_full = len(batch) == batch_size
        is_over = (len(batch) + 1) * max(wider, longer) > batch_size * _BATCH_TOKENS
        # Targets shorter than half the longest would be padding for the most part.
        if batch and (is_full or is_over or 2 * target < longer):
            yield batch
            batch, wider, longer = [], source, target
        batch.append(i)
        widest, longest = wider, longer
    if batch:
        yield batch


def _force_batch(
    model: TranslationModel, pairs: Sequence[TokenPair], dtype: torch.dtype, layers: Collection[int]
) -> list[Forced]:
    """Decode pairs as one batch, or in halves where they do not fit in the device's memory."""
    if len(pairs) == 1:
        sizes = " and ".join(str(len(side)) for side in pairs[0])
        with fitting_in_memory(
            f"a pair of {sizes} tokens", hint="Split it into sentences, or use --device cpu"
        ):
            return _force_at_once(model, pairs, dtype, layers)
    try:
        return _force_at_once(model, pairs, dtype, layers)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        # The error holds the tensors of its frames until this block ends.
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    middle = len(pairs) // 2
    return [
        *_force_batch(model, pairs[:middle], dtype, layers),
        *_force_batch(model, pairs[middle:], dtype, layers),
    ]


def _force_at_once(
    model: TranslationModel, pairs: Sequence[TokenPair], dtype: torch.dtype, layers: Collection[int]
) -> list[Forced]:
    device = next(model.parameters()).device
    source, source_mask = (x.to(device) for x in pad_with_end([pair[0] for pair in pairs]))
    wanted, mask = (x.to(device) for x in pad_with_end([pair[1] for pair in pairs]))
    fed = functional.pad(wanted[:, :-1], (1, 0), value=START)  # (B, T + 1)
    with torch.autocast(device.type, dtype=dtype, enabled=dtype != torch.float32):
        hidden, attention = model.forward_with_attention(source, source_mask, fed, layers=layers)
        # (B, T + 1, D) -> (positions that are no padding)
        scores = _label_scores(hidden[mask], model.project, wanted[mask]).tolist()
    if any(map(math.isnan, scores)):
        raise ModelNumbersError("a given token")
    attention = {layer: weights.cpu() for layer, weights in attention.items()}
    forced, start = [], 0
    for row, (tokens, target) in enumerate(pairs):
        num_source, num_target = len(tokens) + 1, len(target) + 1
        forced.append(
            Forced(
                log_probabilities=tuple(scores[start : start + num_target]),
                attention={
                    # A copy, so that the padding of the batch is not kept.
                    layer: weights[row, :num_target, :num_source].clone()
                    for layer, weights in attention.items()
                },
            )
        )
        start += num_target
    return forced


def _label_scores(hidden: Tensor, project: Product, labels: Tensor) -> Tensor:
    """Log-probabilities of M labels: hidden (M, D), labels (M) -> (M)."""
    scores = torch.empty(labels.numel(), device=hidden.device)
    for start in range(0, labels.numel(), _ROWS):
        rows = slice(start, start + _ROWS)
        logits = project(hidden[rows]).float()
        picked = torch.log_softmax(logits, dim=-1).gather(1, labels[rows, None])
        scores[rows] = picked.squeeze(1)
    return scores
