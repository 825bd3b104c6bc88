"""Reserved tags: what no text makes, what leaves no text behind, and files that are damaged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.errors import ModelFolderError
from mt.text.symbols import SymbolTokenizer
from mt.text.tags import HEADER, SYNTHETIC, TaggedTokenizer, tag_of
from mt.text.tokenizer import PAD, START, UNKNOWN, Tokenizer
from mt.text.tokenizer_pair import TokenizerPair, read_tokenizer
from tests.text.tokenizers import tokenizer as trained

TAGS = (tag_of("sw"), tag_of("de"), SYNTHETIC)


def bases() -> list[Tokenizer]:
    return [trained("unigram"), SymbolTokenizer(["<to", "sw>", "a"])]


@given(st.text() | st.sampled_from([*TAGS, f"{TAGS[0]} a", ">>sw<<"]))
def test_no_text_makes_a_tag(text: str) -> None:
    for base in bases():
        tagged = TaggedTokenizer(base, TAGS)
        assert tagged.encode(text) == base.encode(text)
        assert tagged.encode_batch([text]) == [base.encode(text)]
        led = tagged.with_tags([TAGS[0], SYNTHETIC]).encode(text)
        size = base.vocab_size
        assert led == ([size, size + 2, *base.encode(text)] if base.encode(text) else [])
        assert tagged.decode(led) == base.decode(base.encode(text))
        assert tagged.word_of_each(led)[:2] in ([], [None, None])
        assert tagged.spell(led)[:2] in ([], [b"", b""])


def test_tags_have_ids_behind_the_pieces_and_names_of_their_own() -> None:
    for base in bases():
        tagged = TaggedTokenizer(base, TAGS)
        size = base.vocab_size
        assert tagged.vocab_size == size + 3
        assert tagged.pieces(range(size, size + 3)) == list(TAGS)
        names = tagged.pieces(range(tagged.vocab_size))
        assert len(set(names)) == len(names)
        assert tagged.reserved == (PAD, START, UNKNOWN, size, size + 1, size + 2)
        assert tagged.targets == ("sw", "de")


def test_a_file_gives_the_same_tokenizer_and_a_view_is_saved_as_its_own() -> None:
    tagged = TaggedTokenizer(trained("unigram"), TAGS)
    again = read_tokenizer(tagged.model)
    assert isinstance(again, TaggedTokenizer)
    assert again.tags == TAGS and again.model == tagged.model
    pair = TokenizerPair(source=tagged, target=tagged)
    assert pair.towards("sw").is_joint and pair.towards("sw").digests == pair.digests
    assert pair.towards("sw").source.is_aimed and not pair.source.is_aimed


@pytest.mark.parametrize("head", [b"", b"{}", b'{"tags": 3}', b'{"tags": [3]}', b'{"tags": ["a"]}'])
def test_a_damaged_file_is_refused(head: bytes) -> None:
    with pytest.raises(ModelFolderError, match=r"damaged|tags"):
        read_tokenizer(HEADER + head + b"\n" + trained("unigram").model)


def test_a_tag_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="fr"):
        TaggedTokenizer(trained("unigram"), TAGS).towards("fr")
    with pytest.raises(ValueError, match="fr"):
        trained("unigram").towards("fr")
