"""Tokenizers: text survives, sizes fit the data, the same text gives the same pieces."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.config import SubwordKind
from mt.errors import ConfigError, DataError, ModelFolderError
from mt.events import Event, Notice
from mt.text.normalise import normalise
from mt.text.subwords import SubwordTokenizer, train_subwords
from mt.text.tokenizer import UNKNOWN, Tokenizer
from tests.text.tokenizers import sentences, tokenizer

KINDS: list[SubwordKind] = ["unigram", "bpe"]


@pytest.mark.parametrize("kind", KINDS)
@given(text=st.text(st.characters(exclude_categories=())))
def test_any_text_survives_encoding_and_decoding(kind: SubwordKind, text: str) -> None:
    ids = tokenizer(kind).encode(text)
    assert tokenizer(kind).decode(ids) == normalise(text)
    assert all(i > UNKNOWN for i in ids)


@pytest.mark.parametrize("kind", KINDS)
@given(ids=st.lists(st.integers(0, 329), max_size=30))
def test_any_ids_decode_to_whole_text(kind: SubwordKind, ids: list[int]) -> None:
    one = tokenizer(kind)
    text = one.decode([i for i in ids if i < one.vocab_size])
    assert text == normalise(text)
    assert not {"▁", "\ufffd", "⁇", "\n", "\r"} & set(text)
    assert "<unk>" not in text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["<unk>", "<s> </s>", "<pad>", "<0x0A>", "a</s>b", "<0x41>"])
def test_users_text_cannot_write_a_reserved_symbol(kind: SubwordKind, text: str) -> None:
    ids = tokenizer(kind).encode(text)
    assert min(ids) > UNKNOWN
    assert tokenizer(kind).decode(ids) == text


@pytest.mark.parametrize("kind", KINDS)
def test_encoding_many_equals_encoding_each(kind: SubwordKind) -> None:
    texts = [*sentences()[:20], "", "🦊 x"]
    one = tokenizer(kind)
    assert one.encode_batch(texts) == [one.encode(text) for text in texts]


def pieces_of(one: Tokenizer) -> list[str]:
    return one.pieces(range(one.vocab_size))


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_text_gives_the_same_tokenizer(kind: SubwordKind) -> None:
    again = train_subwords(sentences(), kind=kind, vocab_size=330)
    assert again.model == tokenizer(kind).model


@pytest.mark.parametrize("kind", KINDS)
def test_too_large_a_vocabulary_is_reduced_with_a_message(kind: SubwordKind) -> None:
    events: list[Event] = []
    one = train_subwords(sentences()[:20], kind=kind, vocab_size=8000, listener=events.append)
    (notice,) = events
    assert isinstance(notice, Notice)
    assert f"from 8000 to {one.vocab_size}" in notice.text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1, 4, 100, 260, 265])
def test_too_small_a_vocabulary_is_refused_with_the_least_that_works(
    kind: SubwordKind, size: int
) -> None:
    with pytest.raises(ConfigError) as caught:
        train_subwords(sentences(), kind=kind, vocab_size=size)
    least = int(str(caught.value).rsplit(maxsplit=1)[1])
    assert train_subwords(sentences(), kind=kind, vocab_size=least).vocab_size <= least


@pytest.mark.parametrize("kind", KINDS)
def test_a_letter_that_occurs_only_in_very_long_lines_is_learned(kind: SubwordKind) -> None:
    one = train_subwords([*sentences(), *["Ω" * 5000] * 20], kind=kind, vocab_size=400)
    assert any("Ω" in piece for piece in pieces_of(one))


@pytest.mark.parametrize("kind", KINDS)
def test_an_alphabet_larger_than_the_vocabulary_is_no_obstacle(kind: SubwordKind) -> None:
    draw = random.Random(2)
    common = [chr(0x4E00 + i) for i in range(100)]
    rare = [chr(0x5000 + i) for i in range(600)]
    lines = ["".join(draw.choices(common, k=40)) for _ in range(400)] + [
        "".join(rare[i : i + 10]) for i in range(0, 300, 10)
    ]
    one = train_subwords(lines, kind=kind, vocab_size=500)
    assert one.vocab_size <= 500
    assert one.decode(one.encode(rare[599] + common[0])) == rare[599] + common[0]


def test_no_text_is_refused() -> None:
    with pytest.raises(DataError, match="no text"):
        train_subwords(["", " \u2028"], kind="bpe", vocab_size=300)


def test_bytes_that_are_no_tokenizer_are_refused() -> None:
    with pytest.raises(ModelFolderError, match="not a sentencepiece model"):
        SubwordTokenizer(b"hello")


def test_a_piece_that_is_not_utf_8_is_refused_when_the_model_is_read() -> None:
    """sentencepiece loads it, and fails where the piece is spelt."""
    model = train_subwords(["größer ist größer"], kind="bpe", vocab_size=285).model
    letter = "ö".encode()
    assert letter in model
    with pytest.raises(ModelFolderError, match="it is damaged"):
        SubwordTokenizer(model.replace(letter, b"\xc3\xff"), name="it")
