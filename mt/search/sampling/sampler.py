"""Ancestral sampling: each of K samples of a sentence grows by tokens drawn from the model.

The samples of a sentence have the slots of a beam, sample k slot k from its first token to its
last; one that ends keeps its slot until all have ended. So samples are scheduled as hypotheses are,
and refilled alike. A sample has the model's own log-probability, whatever the temperature and the
filters it was drawn by, and whatever constraints left to draw from.

The random numbers of a token follow from the seed, the random stream of the sentence
(`Demands.random_stream`), the number of the sample and that of the token: neither the rest of the
batch nor how many samples a sentence has changes a sample.

Shapes: B sentences, K samples, V vocabulary, T tokens of the longest sample.
"""

from __future__ import annotations

import dataclasses
import math

import torch
from torch import Tensor

from mt.config import SamplingConfig, SearchConfig
from mt.errors import ModelNumbersError
from mt.search.beam import Beam, next_tokens, stop, without_done
from mt.search.hypothesis import SearchResult
from mt.search.sampling.philox import key_of
from mt.search.sampling.top_p import Drawn, draw_tokens
from mt.search.sentence import Symbols
from mt.search.step import S, StepModel


def advance_samples(
    model: StepModel[S],
    beam: Beam[S],
    *,
    symbols: Symbols,
    config: SearchConfig,
    sampling: SamplingConfig,
) -> tuple[Beam[S], list[tuple[int, SearchResult]]]:
    """Draw a token for each sample; gives the beam after it, and what is now done, as `advance`.

    What `constrain` leaves is drawn from, at its price. A sample that the model gives no way to go
    on as is demanded ends at a log-probability of -inf, as it is or with the whole of its prefix.

    Raises ModelNumbersError when the model gives NaN.
    """
    step, state = next_tokens(model, beam, symbols=symbols, config=config)
    size, width, vocabulary = step.shape
    # At first a sentence has one row, then one for each sample.
    origin = torch.arange(sampling.samples, device=step.device).clamp(max=width - 1)
    rows = torch.arange(size, device=step.device)[:, None] * width + origin  # (B, K)
    before = beam.log_probability[:, origin]
    live = before > -math.inf
    drawn = _draw(step.view(-1, vocabulary), rows, live, beam, sampling)
    token = torch.full_like(rows, symbols.end)
    token[live] = drawn.token
    log_probability = before + step.view(-1, vocabulary)[rows, token]
    if bool(log_probability[live].isnan().any()):
        raise ModelNumbersError("a next token")
    tokens = torch.cat((beam.tokens[:, origin], token[:, :, None]), dim=2)
    ended = live & ((token == symbols.end) | (log_probability == -math.inf))
    _retire(tokens, log_probability, ended, beam)
    for b in live.nonzero()[drawn.is_close, 0].tolist():
        beam.sentences[b].finished.had_close_call = True
    for sentence in beam.sentences:
        sentence.length += 1
    new = dataclasses.replace(
        beam,
        log_probability=log_probability.masked_fill(ended | ~live, -math.inf),
        tokens=tokens,
        state=state,
    )
    done = stop(new.sentences, new.log_probability.amax(dim=1).tolist())
    return without_done(new, rows), done


def _draw(
    step: Tensor, rows: Tensor, live: Tensor, beam: Beam[S], sampling: SamplingConfig
) -> Drawn:
    """Draw the next tokens of samples that are `live` (B, K), by `rows` (B, K) of step (N, V)."""
    streams = [sentence.demands.random_stream for sentence in beam.sentences]
    keys = torch.tensor([key_of(sampling.seed, each) for each in streams], device=step.device)
    lengths = torch.tensor([each.length for each in beam.sentences], device=step.device)
    b, k = live.nonzero().unbind(1)
    return draw_tokens(step, rows[live], keys[b], torch.stack((lengths[b], k), dim=1), sampling)


def _retire(tokens: Tensor, log_probability: Tensor, ended: Tensor, beam: Beam[S]) -> None:
    """Give the sentences their samples that have `ended` (B, K); tokens (B, K, T + 2).

    All of them come from the device together: each transfer waits for all that it has to do.
    """
    slots = ended.nonzero()
    fed = tokens[ended, :-1].tolist()  # (R, T + 1), as `slots` are ordered
    prices = log_probability[ended].tolist()
    for (b, k), row, price in zip(slots.tolist(), fed, prices, strict=True):
        sentence = beam.sentences[b]
        found = tuple(row[len(row) - sentence.length :])
        if price == -math.inf and len(found) < len(sentence.demands.prefix):
            found = sentence.demands.prefix
        is_at_limit = len(found) >= sentence.limit
        sentence.finished.add(found, price, slot=k, hit_limit=is_at_limit)
