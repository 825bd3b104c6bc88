"""Any text goes through both kinds of tokenizer and back; damaged models are refused."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.errors import ModelFolderError
from mt.text.normalise import normalise
from mt.text.subwords import train_subwords
from mt.text.symbols import learn_symbols
from mt.text.tokenizer import Tokenizer
from mt.text.tokenizer_pair import read_tokenizer
from tests.fuzz.damage import Damage, damages

pytestmark = pytest.mark.slow

SUBWORDS = train_subwords(
    ["Der Hund schläft und die Katze wacht.", "The dog sleeps, and the cat is awake."] * 3,
    kind="unigram",
    vocab_size=300,
)
SYMBOLS = learn_symbols(["a b c click:1 click:2", "b a"], vocab_size=100)
TEXT = st.text(max_size=60) | st.builds(
    lambda piece, times: piece * times, st.text(max_size=4), st.integers(1, 30_000)
)


@given(text=TEXT)
def test_subwords_give_back_any_text(text: str) -> None:
    clean = text.encode("utf-8", "replace").decode("utf-8")
    ids = SUBWORDS.encode(clean)
    assert all(0 <= each < SUBWORDS.vocab_size for each in ids)
    assert SUBWORDS.decode(ids) == normalise(clean)
    assert SUBWORDS.encode_batch([clean]) == [ids]


@given(text=TEXT)
def test_symbols_give_back_what_they_know(text: str) -> None:
    clean = text.encode("utf-8", "replace").decode("utf-8")
    ids = SYMBOLS.encode(clean)
    assert all(0 <= each < SYMBOLS.vocab_size for each in ids)
    assert len(ids) == len(SYMBOLS.normalise(clean).split(" ")) or not ids


@pytest.mark.parametrize("tokenizer", [SUBWORDS, SYMBOLS], ids=["subwords", "symbols"])
@given(harm=damages())
def test_a_damaged_tokenizer_is_refused_or_works(tokenizer: Tokenizer, harm: Damage) -> None:
    with suppress(ModelFolderError):
        found = read_tokenizer(harm(tokenizer.model))
        ids = found.encode("Der Hund a b click:1 猫")
        assert isinstance(found.decode(ids), str)
        found.pieces(ids)
        found.spell(ids)
        found.word_of_each(ids)
