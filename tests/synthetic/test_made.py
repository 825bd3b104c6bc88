"""What is kept of a translation comes back, and its score is by token whatever the penalty was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.config import LengthPenalty, SearchConfig
from mt.search.penalty import length_penalty
from mt.synthetic.made import Made, MadeLine, from_block, made_line, to_block
from mt.translation.translation import TranslatedPart, TranslatedText, Translation

_MADE = st.builds(Made, st.text(), st.floats(allow_nan=False), st.booleans())
_LINES = st.builds(
    MadeLine,
    st.integers(0, 2**64 - 1),
    st.lists(_MADE, max_size=3).map(tuple),
    st.lists(st.sampled_from(["split", "recased"]), max_size=2).map(tuple),
)


@given(st.lists(_LINES))
def test_lines_come_back_from_their_block(lines: list[MadeLine]) -> None:
    try:
        block = to_block(lines)
    except UnicodeEncodeError:  # half a surrogate pair, which no tokenizer gives
        return
    assert list(from_block(block)) == lines


@pytest.mark.parametrize("penalty", ["none", "mean", "gnmt"])
@pytest.mark.parametrize("num_parts", [1, 3])
def test_a_score_is_the_log_probability_by_token(penalty: LengthPenalty, num_parts: int) -> None:
    search = SearchConfig(length_penalty=penalty, alpha=0.6)
    tokens = tuple(range(9))
    length = len(tokens) + num_parts  # each part has an end symbol
    part = TranslatedPart(source="a", text="b", score=-1.0, tokens=tokens[:3])
    text = TranslatedText(
        text="b",
        score=-6.0 / length_penalty(penalty, 0.6, length),
        tokens=tokens,
        hit_limit=False,
        parts=(part,) * num_parts if num_parts > 1 else (),
    )
    line = made_line(Translation(source="a", hypotheses=(text,), recased="A"), search)
    assert line.made[0].score == pytest.approx(-6.0 / length, abs=1e-6)
    assert line.facts == (("split", "recased") if num_parts > 1 else ("recased",))
