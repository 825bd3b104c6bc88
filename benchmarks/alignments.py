"""Word alignments by attention beside those of a statistical model.

    python benchmarks/alignments.py MODEL CORPUS --test test_2016_flickr

Gold alignments are made by hand and rare. Silver ones stand in: IBM model 2 with the diagonal prior
of fast_align (Dyer et al. 2013), in both directions, over train and test set. Links that both
directions find count as sure, those of either as possible; the alignment error rate (Och and Ney
2003) is 1 - (|A and S| + |A and P|) / (|A| + |S|). A table shows every view of the attention, which
tells whether the one that `mt` chooses without any of this is a good one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from time_to_quality import find

from mt.formats.text import read_text_lines
from mt.text.normalise import normalise
from mt.text.words import word_of_each_token
from mt.translation.alignment import AttentionView, word_alignment
from mt.translation.forced import force
from mt.translation.scorer import Scorer

_ROUNDS = 8  # of expectation maximisation
_TENSION = 4.0  # how strongly the prior draws links to the diagonal, as in fast_align
_NULL = 0.08  # prior probability of no link, as in fast_align
Links = list[set[tuple[int, int]]]


def one_way(sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]) -> Links:
    """The best source word of each target word by IBM model 2, if it is not the null word."""
    left, right = _numbered(sources), _numbered(targets)
    size = 1 + max(int(words.max()) for words in right)
    cells, priors = [], []
    for source, target in zip(left, right, strict=True):
        i = (np.arange(len(target)) + 1)[:, None] / len(target)
        j = (np.arange(len(source)) + 1)[None] / len(source)
        near = np.exp(-_TENSION * np.abs(i - j))
        near *= (1 - _NULL) / near.sum(axis=1, keepdims=True)
        # (T, S + 1), the null word last: a number for each two words, and their prior
        words = np.append(source + 1, 0)
        cells.append((words[None] * size + target[:, None]).ravel())
        priors.append(np.column_stack([near, np.full(len(target), _NULL)]).ravel())
    widths = [len(source) + 1 for source, target in zip(left, right, strict=True) for _ in target]
    row = np.repeat(np.arange(len(widths)), widths)
    kinds, kind = np.unique(np.concatenate(cells), return_inverse=True)
    prior = np.concatenate(priors)
    probability = np.ones(len(kinds))
    for _ in range(_ROUNDS):
        joint = probability[kind] * prior
        posterior = joint / np.bincount(row, joint)[row]
        counts = np.bincount(kind, posterior)
        probability = counts / np.bincount(kinds // size, counts)[kinds // size]
    joint = probability[kind] * prior
    found: Links = []
    start = 0
    for source, target in zip(left, right, strict=True):
        end = start + len(target) * (len(source) + 1)
        best = joint[start:end].reshape(len(target), -1).argmax(axis=1).tolist()
        found.append({(j, i) for i, j in enumerate(best) if j < len(source)})
        start = end
    return found


def _numbered(texts: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
    numbers: dict[str, int] = {}
    return [np.array([numbers.setdefault(word, len(numbers)) for word in text]) for text in texts]


def words_of(text: str) -> list[str]:
    """Words without case and the punctuation around them, for counting."""
    return [word.lower().strip(".,;:!?\"'()„“”-") or word for word in text.split(" ")]


def error_rate(found: Links, sure: Links, possible: Links) -> float:
    """The alignment error rate of links over all pairs."""
    num_right = sum(len(a & s) + len(a & p) for a, s, p in zip(found, sure, possible, strict=True))
    return 1 - num_right / sum(len(a) + len(s) for a, s in zip(found, sure, strict=True))


def read_pairs(corpus: Path, name: str, languages: tuple[str, str]) -> list[tuple[str, str]]:
    """The pairs of a set with text on both sides, normalised."""
    sides = [read_text_lines(Path(find(corpus, name, language))) for language in languages]
    pairs = ((normalise(source), normalise(target)) for source, target in zip(*sides, strict=True))
    return [pair for pair in pairs if all(pair)]


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("corpus", type=click.Path(path_type=Path))
@click.option("--test", required=True, help="Name of the set whose alignments are compared.")
def main(model: Path, corpus: Path, test: str) -> None:
    """Compare every view of the attention of MODEL with silver alignments."""
    scorer = Scorer.load(model, device="cpu")
    languages = scorer.config.source_language, scorer.config.target_language
    pairs = read_pairs(corpus, test, languages)
    every = read_pairs(corpus, "train", languages) + pairs
    left, right = ([words_of(pair[side]) for pair in every] for side in (0, 1))
    there = one_way(left, right)[-len(pairs) :]
    back = [{(i, j) for j, i in links} for links in one_way(right, left)[-len(pairs) :]]
    sure = [a & b for a, b in zip(there, back, strict=True)]
    possible = [a | b for a, b in zip(there, back, strict=True)]

    source, target = scorer.tokenizers.source, scorer.tokenizers.target
    tokens = [(source.encode(s), target.encode(t)) for s, t in pairs]
    words = [
        (word_of_each_token(source.spell(s)), word_of_each_token(target.spell(t)))
        for s, t in tokens
    ]
    layers = range(len(scorer.model.decoder))
    forced = force(scorer.model, tokens, attention_of=layers)
    rates = {}
    print(f"{len(pairs)} pairs, {sum(map(len, sure))} sure links, chosen: {scorer.view}")
    print("| layer | when predicted | when fed |\n|---|---|---|")
    for layer in layers:
        for is_fed in (False, True):
            view = AttentionView(layer=layer, is_fed=is_fed)
            links = (view.links(each.attention[layer]) for each in forced)
            found = [
                set(word_alignment(of_pair, *both))
                for of_pair, both in zip(links, words, strict=True)
            ]
            rates[view] = error_rate(found, sure, possible)
        row = (f"{rates[AttentionView(layer=layer, is_fed=fed)]:.3f}" for fed in (False, True))
        print(f"| {layer} | {' | '.join(row)} |")
    print(json.dumps({"chosen": rates[scorer.view], "best": min(rates.values())}))


if __name__ == "__main__":
    main()
