"""Which source token, and which source word, each part of a target belongs to, by attention.

A target token is linked to the source token that the decoder attends to most. Not every layer
attends to what it translates, and one that does may do so when it predicts a token or one step
later, when it is fed it (Chen et al. 2020, "Accurate Word Alignment Induction from Neural Machine
Translation"). `best_view` finds by examples which layer and which step it is.

Shapes: S source tokens, T target tokens, both without end symbols.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torch import Tensor

from mt.text.tokenizer import END
from mt.translation.forced import Forced, TokenPair

Link = tuple[int, int]
"""An index in the source and one in the target, counted from 0."""


@dataclass(frozen=True, kw_only=True)
class AttentionView:
    """Where to look for alignments."""

    layer: int
    """Decoder layer, counted from 0."""
    is_fed: bool
    """Look when the token is fed to the decoder, not when it is predicted."""

    def rows(self, attention: Tensor) -> Tensor:
        """What belongs to each of T target tokens, (T, S + 1), of `Forced.attention`."""
        return attention[1:] if self.is_fed else attention[:-1]

    def links(self, attention: Tensor) -> list[int | None]:
        """The source token of each of T target tokens; None where the end symbol has most weight.

        attention (T + 1, S + 1) is as in `Forced.attention`.
        """
        num_source = attention.size(1) - 1
        sources: list[int] = self.rows(attention).argmax(dim=1).tolist()
        return [index if index < num_source else None for index in sources]

    def links_both_ways(self, attention: Tensor) -> list[Link]:
        """The `links`, and one for each source token that none of them leads to.

        That is to the target token that attends to it most. attention (T + 1, S + 1) is as in
        `Forced.attention`.
        """
        found = [(s, t) for t, s in enumerate(self.links(attention)) if s is not None]
        reached = {source for source, _ in found}
        targets: list[int] = self.rows(attention).argmax(dim=0).tolist()[:-1]
        return sorted([*found, *((s, t) for s, t in enumerate(targets) if s not in reached)])


def word_alignment(
    links: Sequence[int | None],
    source_words: Sequence[int | None],
    target_words: Sequence[int | None],
) -> list[Link]:
    """Links of words, in order of the target: two words are linked where tokens of theirs are.

    links (T) is the source token of each target token; source_words (S) and target_words (T) are
    the word of each token. None: none.
    """
    found = {
        (target_word, source_words[source])
        for source, target_word in zip(links, target_words, strict=True)
        if source is not None
    }
    return sorted(
        (source, target) for target, source in found if source is not None and target is not None
    )


def pharaoh(alignment: Iterable[Link]) -> str:
    """Links in the form of Pharaoh, fast_align and Moses: `0-0 1-2`, source first."""
    return " ".join(f"{source}-{target}" for source, target in alignment)


def best_view(pairs: Sequence[TokenPair], forced: Sequence[Forced]) -> AttentionView:
    """The view whose links say most about the examples `pairs`, decoded by force.

    `forced` holds the attention of the layers to choose from. Measured is `linked_information`:
    good links join the same tokens again and again. Raises ValueError without examples.
    """
    layers = forced[0].attention if forced else {}
    views = [AttentionView(layer=layer, is_fed=fed) for layer in layers for fed in (True, False)]
    if not views:
        raise ValueError("no attention to choose from")

    def information(view: AttentionView) -> float:
        joint: Counter[tuple[int, int]] = Counter()
        for (source, target), each in zip(pairs, forced, strict=True):
            for index, token in zip(view.links(each.attention[view.layer]), target, strict=True):
                joint[END if index is None else source[index], token] += 1
        return linked_information(joint)

    return max(views, key=information)


def linked_information(joint: Counter[tuple[int, int]]) -> float:
    """How much linked tokens say of each other, in nats, by the counts of each two together.

    sum_xy p(x, y) log(p(x, y) / (p(x) p(y))), the mutual information, over those x and y that were
    linked twice or more: few examples make what is linked once look informative, whatever it is.
    """
    total = joint.total()
    left: Counter[int] = Counter()
    right: Counter[int] = Counter()
    for (x, y), count in joint.items():
        left[x] += count
        right[y] += count
    return sum(
        count / total * math.log(count * total / (left[x] * right[y]))
        for (x, y), count in joint.items()
        if count > 1
    )
