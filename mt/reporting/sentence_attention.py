"""The attention of a model to the source over some sentences, as alignments look at it.

One layer and one step, the mean over heads: those by which `mt translate --alignment` aligns words.
`mt inspect` shows every layer and head of one pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from mt.text.tokenizer import END
from mt.translation.forced import force
from mt.translation.scorer import Scorer

MOST_TOKENS = 120
"""Of a side of a sentence that is shown: a map of more is nothing that a person looks at."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AttendedSentence:
    """What each token of a target attends to."""

    source_pieces: tuple[str, ...]
    """(S + 1), the end symbol last."""
    target_pieces: tuple[str, ...]
    """(T)."""
    weights: Tensor
    """(T, S + 1) in float32 on the CPU; each row sums to 1."""


def attend_to_sentences(
    scorer: Scorer, pairs: Mapping[int, tuple[str, str]]
) -> dict[int, AttendedSentence]:
    """The attention over each pair of a source and a target, by the same keys.

    Left out are pairs with a side that is blank, of more than `MOST_TOKENS` tokens, or beyond a
    table of learned positions. Of an ensemble it is the attention of the first model.
    """
    tokenizers = scorer.tokenizers
    longest = min(MOST_TOKENS, (scorer.model.longest or MOST_TOKENS + 1) - 1)
    tokens = {
        index: (
            tokenizers.source.encode(tokenizers.in_usual_case(source)),
            tokenizers.target.encode(target),
        )
        for index, (source, target) in pairs.items()
        if not tokenizers.source.is_blank(source) and not tokenizers.target.is_blank(target)
    }
    fitting = {index: pair for index, pair in tokens.items() if 0 < max(map(len, pair)) <= longest}
    if not fitting:
        return {}
    view = scorer.view
    forced = force(scorer.model, list(fitting.values()), attention_of=(view.layer,))
    return {
        index: AttendedSentence(
            source_pieces=tuple(tokenizers.source.pieces([*source, END])),
            target_pieces=tuple(tokenizers.target.pieces(target)),
            weights=view.rows(each.attention[view.layer]),
        )
        for (index, (source, target)), each in zip(fitting.items(), forced, strict=True)
    }
