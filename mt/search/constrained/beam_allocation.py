"""Beam search for hypotheses that must hold phrases, by dynamic beam allocation.

After Post and Vilar (2018), "Fast Lexically Constrained Decoding with Dynamic Beam Allocation for
Neural Machine Translation". The candidates of a sentence are the best continuations as ever, the
best one of each row, and those tokens by which a row comes on with a phrase. Sorted into banks by
how far they are with their phrases, they share the slots of the beam: the banks take turns, the
furthest first, each with its best candidate left. What begins a phrase only for the phrase's sake
has to go through with it: else rare phrases would be begun and left, again and again. A hypothesis
ends only with all phrases. At the length bound those without stay in the search if no hypothesis
has them all.

Sentences without phrases are not touched.

Shapes: B sentences, K slots, V vocabulary, C candidates.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence

import torch
from torch import Tensor

from mt.search.constrained.phrases import PhraseProgress, Reached
from mt.search.hypothesis import CLOSE
from mt.search.sentence import Sentence, Symbols


def has_phrases(sentences: Sequence[Sentence]) -> bool:
    """Whether any sentence needs what this module does."""
    return any(sentence.demands.phrases for sentence in sentences)


def forbid_early_ends(scores: Tensor, sentences: Sequence[Sentence], symbols: Symbols) -> None:
    """Set the end symbol's scores (B, K, V) to -inf where phrases are missing, in place."""
    slots = []
    for b, sentence in enumerate(sentences):
        phrases = sentence.demands.phrases
        if not phrases or sentence.is_done:
            continue
        progress = _progress(sentence, scores.size(1), symbols)
        without = [k for k, each in enumerate(progress) if not each.may_end(phrases)]
        if sentence.length < sentence.limit or sentence.finished:
            slots += [(b, k) for k in without]
        elif without:
            # At the bound, hypotheses without all phrases are better than none.
            live = scores[b, :, symbols.end] > -math.inf
            have_all = [
                k for k, is_live in enumerate(live.tolist()) if is_live and k not in without
            ]
            slots += [(b, k) for k in without] if have_all else []
    if slots:
        rows, columns = torch.tensor(slots, device=scores.device).unbind(1)
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
    (B) says how many slots a sentence has. Returns both anew, of sentences with phrases as many
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
        b * width * vocabulary + way
        for b, of_sentence in zip(lines, ways, strict=True)
        for way in of_sentence
    ]
    found = iter(scores.view(-1)[torch.tensor(flat, dtype=torch.long, device=rows.device)].tolist())
    usual = zip(top[rows].tolist(), index[rows].tolist(), strict=True)
    of_rows = zip(two.values.tolist(), two.indices.tolist(), strict=True)
    new_top, new_index = [], []
    for b, of_sentence, best, each_row in zip(lines, ways, usual, of_rows, strict=True):
        candidates = dict(zip(best[1][: left[b]], best[0][: left[b]], strict=True))
        for k, (values, tokens) in enumerate(zip(*each_row, strict=True)):
            candidates[k * vocabulary + tokens[0]] = values[0]
            if len(values) > 1 and values[0] - values[1] < CLOSE and values[1] > -math.inf:
                sentences[b].finished.had_close_call = True
        forced = set(of_sentence) - candidates.keys()
        for way in of_sentence:
            candidates[way] = next(found)
        chosen = _take_turns(sentences[b], candidates, forced, left[b], vocabulary)
        missing = top.size(1) - len(chosen)
        new_top.append([*(candidates[each] for each in chosen), *[-math.inf] * missing])
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
    """Choose `left` of the candidates, by their indices in (K * V): best first.

    Those in `forced` are candidates only for their phrases.
    """
    phrases = sentence.demands.phrases
    ranked = sorted(candidates, key=lambda index: (-candidates[index], index))
    ranked = [index for index in ranked if candidates[index] > -math.inf]
    progress = {
        index: sentence.progress[index // vocabulary].after(
            phrases, index % vocabulary, is_forced=index in forced
        )
        for index in ranked
    }
    # What is lost goes, unless nothing else is left.
    good = [index for index in ranked if not progress[index].is_lost]
    banks: defaultdict[float, list[int]] = defaultdict(list)
    for index in good or ranked:
        banks[progress[index].bank(phrases)].append(index)
    order = [banks[bank] for bank in sorted(banks, reverse=True)]
    turns = itertools.chain.from_iterable(itertools.zip_longest(*order))
    chosen = [index for index in turns if index is not None][:left]
    for bank in order:
        taken = sum(index in chosen for index in bank)
        if 0 < taken < len(bank):
            gap = candidates[bank[taken - 1]] - candidates[bank[taken]]
            sentence.finished.had_close_call |= gap < CLOSE
    chosen.sort(key=lambda index: (-candidates[index], index))
    sentence.progress = [progress[index] for index in chosen]
    return chosen


def _progress(sentence: Sentence, width: int, symbols: Symbols) -> list[PhraseProgress]:
    """How far the hypothesis in each of the slots is; those without one count as begun anew."""
    begin = PhraseProgress(symbols.start, (Reached(),) * len(sentence.demands.phrases))
    sentence.progress += [begin] * (width - len(sentence.progress))
    return sentence.progress
