"""Beam search for hypotheses that must hold phrases, by dynamic beam allocation.

After Post and Vilar (2018), "Fast Lexically Constrained Decoding with Dynamic Beam Allocation for
Neural Machine Translation". The candidates of a sentence are the best continuations as ever, the
best one of each row, and those tokens by which a row comes on with a phrase. Sorted into banks by
how far they are with their phrases, they share the places of the beam: the banks take turns, the
furthest first, each with its best candidate left. What begins a phrase for the phrase's sake alone
has to go through with it: else rare phrases would be begun and left, again and again. A hypothesis
ends only with all phrases. At the length bound those without stay in the search if no hypothesis
has them all.

Sentences without phrases are not touched.

Shapes: B sentences, K places, V vocabulary, C candidates.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence

import torch
from torch import Tensor

from mt.search.constrained.phrases import Progress, Reached
from mt.search.hypothesis import CLOSE
from mt.search.sentence import Sentence, Symbols


def has_phrases(sentences: Sequence[Sentence]) -> bool:
    """Whether any sentence needs what this module does."""
    return any(sentence.demands.phrases for sentence in sentences)


def forbid_early_ends(scores: Tensor, sentences: Sequence[Sentence], symbols: Symbols) -> None:
    """Set the end symbol's scores (B, K, V) to -inf where phrases are missing, in place."""
    places = []
    for b, sentence in enumerate(sentences):
        phrases = sentence.demands.phrases
        if not phrases or sentence.is_done:
            continue
        progress = _progress(sentence, scores.size(1), symbols)
        without = [k for k, each in enumerate(progress) if not each.may_end(phrases)]
        if sentence.length < sentence.limit or sentence.finished:
            places += [(b, k) for k in without]
        elif without:
            # At the bound, hypotheses without all phrases are better than none.
            live = scores[b, :, symbols.end] > -math.inf
            have_all = [
                k for k, is_live in enumerate(live.tolist()) if is_live and k not in without
            ]
            places += [(b, k) for k in without] if have_all else []
    if places:
        rows, columns = torch.tensor(places, device=scores.device).unbind(1)
        scores[rows, columns, symbols.end] = -math.inf


def allocate(
    scores: Tensor,
    top: Tensor,
    index: Tensor,
    left: Sequence[int],
    *,
    sentences: Sequence[Sentence],
    symbols: Symbols,
) -> tuple[Tensor, Tensor]:
    """Choose the continuations of the sentences with phrases; those of the others stay.

    top (B, C) are the best of scores (B, K, V), and index (B, C) where they stand in (K * V); left
    (B) says how many places a sentence has. Returns both anew, of sentences with phrases as many
    as are chosen, best first, then -inf; their progress is noted in the sentences.
    """
    lines = [b for b, each in enumerate(sentences) if each.demands.phrases and not each.is_done]
    if not lines:
        return top, index
    width, vocabulary = scores.shape[1:]
    rows = torch.tensor(lines, device=scores.device)
    two = scores[rows].topk(min(2, vocabulary), dim=2)  # (B', K, 2)
    ways = [_ways_on(sentences[b], width, vocabulary, symbols) for b in lines]
    flat = [
        b * width * vocabulary + place
        for b, places in zip(lines, ways, strict=True)
        for place in places
    ]
    found = iter(scores.view(-1)[torch.tensor(flat, dtype=torch.long, device=rows.device)].tolist())
    usual = zip(top[rows].tolist(), index[rows].tolist(), strict=True)
    of_rows = zip(two.values.tolist(), two.indices.tolist(), strict=True)
    new_top, new_index = [], []
    for b, places, best, each_row in zip(lines, ways, usual, of_rows, strict=True):
        candidates = dict(zip(best[1][: left[b]], best[0][: left[b]], strict=True))
        for k, (values, tokens) in enumerate(zip(*each_row, strict=True)):
            candidates[k * vocabulary + tokens[0]] = values[0]
            if len(values) > 1 and values[0] - values[1] < CLOSE and values[1] > -math.inf:
                sentences[b].finished.had_close_call = True
        forced = set(places) - candidates.keys()
        for place in places:
            candidates[place] = next(found)
        chosen = _take_turns(sentences[b], candidates, forced, left[b], vocabulary)
        missing = top.size(1) - len(chosen)
        new_top.append([*(candidates[place] for place in chosen), *[-math.inf] * missing])
        new_index.append([*chosen, *[0] * missing])
    top, index = top.clone(), index.clone()
    top[rows] = torch.tensor(new_top, dtype=top.dtype, device=top.device)
    index[rows] = torch.tensor(new_index, device=index.device)
    return top, index


def _ways_on(sentence: Sentence, width: int, vocabulary: int, symbols: Symbols) -> list[int]:
    """Where in (K * V) the tokens stand by which the rows come on with their phrases."""
    return [
        k * vocabulary + token
        for k, progress in enumerate(_progress(sentence, width, symbols))
        for phrase, reached in zip(sentence.demands.phrases, progress.reached, strict=True)
        for token in phrase.ways_on(reached, progress.last)
    ]


def _take_turns(
    sentence: Sentence,
    candidates: dict[int, float],
    forced: set[int],
    left: int,
    vocabulary: int,
) -> list[int]:
    """Choose `left` of the candidates, by their places in (K * V): best first.

    Those in `forced` are candidates for their phrases alone.
    """
    phrases = sentence.demands.phrases
    ranked = sorted(candidates, key=lambda place: (-candidates[place], place))
    ranked = [place for place in ranked if candidates[place] > -math.inf]
    progress = {
        place: sentence.progress[place // vocabulary].after(
            phrases, place % vocabulary, is_forced=place in forced
        )
        for place in ranked
    }
    # What is lost goes, unless nothing else is left.
    good = [place for place in ranked if not progress[place].is_lost]
    banks: defaultdict[float, list[int]] = defaultdict(list)
    for place in good or ranked:
        banks[progress[place].bank(phrases)].append(place)
    order = [banks[bank] for bank in sorted(banks, reverse=True)]
    turns = itertools.chain.from_iterable(itertools.zip_longest(*order))
    chosen = [place for place in turns if place is not None][:left]
    for bank in order:
        taken = sum(place in chosen for place in bank)
        if 0 < taken < len(bank):
            gap = candidates[bank[taken - 1]] - candidates[bank[taken]]
            sentence.finished.had_close_call |= gap < CLOSE
    chosen.sort(key=lambda place: (-candidates[place], place))
    sentence.progress = [progress[place] for place in chosen]
    return chosen


def _progress(sentence: Sentence, width: int, symbols: Symbols) -> list[Progress]:
    """How far the hypothesis in each of the places is; those without one count as begun anew."""
    begin = Progress(symbols.start, (Reached(),) * len(sentence.demands.phrases))
    sentence.progress += [begin] * (width - len(sentence.progress))
    return sentence.progress
