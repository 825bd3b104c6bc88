"""Each token knows its word, in any text and for any tokens."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.text.normalise import normalise
from mt.text.words import word_of_each_token
from tests.text.tokenizers import tokenizer


def words_of(ids: list[int]) -> list[int | None]:
    return word_of_each_token(tokenizer("unigram").spell(ids))


@pytest.mark.parametrize(
    ("spellings", "words"),
    [
        (["▁die", "▁Kat", "ze", "."], [0, 1, 1, 1]),
        (["▁", "die", "▁", "▁", "Katze"], [0, 0, 1, 1, 1]),
        (["die", "▁Katze", "▁"], [0, 1, None]),
        (["▁a▁b", "c", "▁d"], [0, 1, 2]),
        (["", "▁a", "", "b"], [None, 0, None, 0]),
        ([], []),
        (["▁"], [None]),
    ],
)
def test_tokens_of_a_word_stand_between_spaces(
    spellings: list[str], words: list[int | None]
) -> None:
    assert word_of_each_token([spelling.encode() for spelling in spellings]) == words


def test_the_bytes_of_a_character_are_of_its_word() -> None:
    fox = [bytes((byte,)) for byte in "🦊".encode()]
    assert word_of_each_token([b"a", "▁".encode(), *fox, b"b"]) == [0, 1, 1, 1, 1, 1, 1]
    broken = [b"a", *fox[:3], b"b"]
    assert word_of_each_token(broken) == [0, 1, 1, 1, 1], "broken bytes part words, as in the text"


@given(text=st.text())
def test_the_tokens_of_a_word_spell_it(text: str) -> None:
    ids = tokenizer("unigram").encode(text)
    groups: dict[int, list[int]] = defaultdict(list)
    for token, word in zip(ids, words_of(ids), strict=True):
        assert word is not None
        groups[word].append(token)
    spelled = [tokenizer("unigram").decode(groups[word]) for word in sorted(groups)]
    assert spelled == normalise(text).split()


@given(ids=st.lists(st.integers(0, 319), max_size=30))
def test_any_tokens_have_as_many_words_as_their_text(ids: list[int]) -> None:
    one = tokenizer("unigram")
    ids = [i for i in ids if i < one.vocab_size]
    found = [word for word in words_of(ids) if word is not None]
    assert found == sorted(found)
    assert sorted(set(found)) == list(range(len(one.decode(ids).split())))
