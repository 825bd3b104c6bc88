"""Symbols are taken as they are; what the vocabulary lacks is unknown, and told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.errors import ConfigError, DataError, ModelFolderError
from mt.events import Event, Notice
from mt.text.symbols import SymbolTokenizer, learn_symbols, symbols_of
from mt.text.tokenizer import RESERVED, UNKNOWN
from mt.text.tokenizer_pair import TokenizerPair, read_tokenizer

SYMBOLS = st.text(min_size=1).filter(lambda text: symbols_of(text) == [text])


def vocabulary(*lines: str, size: int = 1000, min_count: int = 1) -> SymbolTokenizer:
    return learn_symbols(lines, vocab_size=size, min_count=min_count)


@given(symbols=st.lists(SYMBOLS, min_size=1))
def test_known_symbols_survive_character_by_character(symbols: list[str]) -> None:
    line = " ".join(symbols)
    one = vocabulary(line)
    ids = one.encode(line)
    assert min(ids) > UNKNOWN
    assert one.decode(ids) == line
    assert one.pieces(ids) == symbols
    assert one.unknown(line) == []


@given(text=st.text(st.characters(exclude_categories=())))
def test_any_text_is_cut_into_symbols_or_told_as_unknown(text: str) -> None:
    one = vocabulary("a b c")
    ids = one.encode(text)
    assert len(ids) == len(symbols_of(text))
    assert ids.count(UNKNOWN) == len(one.unknown(text))
    assert one.is_blank(text) == (not ids)
    assert one.normalise(text) == " ".join(symbols_of(text))


KEPT = ["é", "e\u0301", "\u00a0", "ﬁ", "▁", "\u200b", "A", "a", "½", "a.b"]


@pytest.mark.parametrize("symbol", KEPT)
def test_neither_case_nor_unicode_form_is_changed(symbol: str) -> None:
    one = vocabulary(" ".join(KEPT))
    assert one.decode(one.encode(f" \t{symbol}\r")) == symbol
    assert one.vocab_size == len(RESERVED) + len(KEPT)


@pytest.mark.parametrize("name", RESERVED)
def test_a_symbol_named_like_a_reserved_one_is_another(name: str) -> None:
    one = vocabulary(f"{name} x")
    assert min(one.encode(name)) > UNKNOWN
    assert one.decode(one.encode(name)) == name


def test_ids_go_by_frequency_and_then_by_code_points() -> None:
    one = vocabulary("c b b", "a c b")
    assert one.pieces(range(one.vocab_size)) == [*RESERVED, "b", "c", "a"]
    assert one.encode("a b x c") == [6, 4, UNKNOWN, 5]
    assert one.decode([6, UNKNOWN, 1, 2, 4]) == "a b"


def test_rare_symbols_are_left_out_where_asked_and_told() -> None:
    events: list[Event] = []
    one = learn_symbols(["a a a b b c"], vocab_size=99, min_count=2, listener=events.append)
    assert one.unknown("a b c d") == ["c", "d"]
    (notice,) = events
    assert isinstance(notice, Notice)
    assert "2 of 3 symbols; the others, 16.67% of all" in notice.text
    assert "less than 2 times" in notice.text


def test_a_full_vocabulary_keeps_the_most_frequent_symbols_and_warns() -> None:
    events: list[Event] = []
    one = learn_symbols(["a a a b b c"], vocab_size=5, listener=events.append)
    assert one.vocab_size == 5
    assert one.unknown("a b c") == ["b", "c"]
    (notice,) = events
    assert isinstance(notice, Notice)
    assert notice.is_warning
    assert "1 of 3 symbols" in notice.text
    assert "50.00%" in notice.text


def test_what_cannot_be_learnt_is_refused() -> None:
    with pytest.raises(DataError, match="no text"):
        vocabulary(" \t", "")
    with pytest.raises(ConfigError, match="vocabulary of 4 symbols is too small"):
        vocabulary("a", size=4)
    with pytest.raises(ConfigError, match="min_count = 3 leaves no symbol"):
        vocabulary("a a b", min_count=3)


@pytest.mark.parametrize("symbols", [["a", "a"], ["a b"], [""], ["\n"], ["\ufffd"]])
def test_what_is_no_vocabulary_is_refused(symbols: list[str]) -> None:
    with pytest.raises(ValueError, match="symbols must"):
        SymbolTokenizer(symbols)


@pytest.mark.parametrize(
    "model", [b"mt symbols 1\na", b"mt symbols 1\na\na\n", b"mt symbols 1\n\xff\n"]
)
def test_a_damaged_file_is_refused_by_name(model: bytes) -> None:
    with pytest.raises(ModelFolderError, match=r"^here is not a list of symbols"):
        read_tokenizer(model, name="here")


@pytest.mark.parametrize("is_joint", [True, False])
def test_a_folder_gives_back_what_was_saved(is_joint: bool, tmp_path: Path) -> None:
    source = vocabulary("a b e\u0301 é \u2028 \u0085")
    target = source if is_joint else vocabulary("x y")
    TokenizerPair(source=source, target=target).save(tmp_path)
    loaded = TokenizerPair.load(tmp_path, joint=is_joint)
    assert isinstance(loaded.source, SymbolTokenizer)
    assert (loaded.source.model, loaded.target.model) == (source.model, target.model)
    assert loaded.is_joint == is_joint


def test_every_symbol_is_a_word() -> None:
    one = vocabulary("a \u00a0 b")
    assert one.word_of_each(one.encode("b \u00a0 z a")) == [0, 1, 2, 3]
    assert one.spell(one.encode("b z")) == ["▁b".encode(), b""]
