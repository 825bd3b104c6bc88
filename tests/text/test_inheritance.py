"""What a vocabulary takes over from another: pieces of the same name, and parts for the others."""

from __future__ import annotations

import pytest

from mt.config import SubwordKind
from mt.text.imported import ImportedTokenizer
from mt.text.inheritance import inherit
from mt.text.subwords import train_subwords
from mt.text.symbols import SymbolTokenizer
from mt.text.tokenizer import RESERVED, Tokenizer
from tests.exchange.marian_models import pieces_of, spm
from tests.text.tokenizers import tokenizer

KINDS: tuple[SubwordKind, ...] = ("unigram", "bpe")


def other(kind: SubwordKind = "unigram") -> Tokenizer:
    texts = ["das große haus steht", "katze über 漢字", "läuft die straße", "haus-tür geht"] * 9
    return train_subwords(texts, kind=kind, vocab_size=340)


@pytest.mark.parametrize("kind", KINDS)
def test_a_vocabulary_takes_itself_over_as_it_is(kind: SubwordKind) -> None:
    found = inherit(tokenizer(kind), tokenizer(kind))
    assert found.ids == [[i] for i in range(tokenizer(kind).vocab_size)]
    assert (found.num_kept, found.num_new) == (tokenizer(kind).vocab_size - len(RESERVED), 0)


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_of_the_same_name_are_kept_and_others_are_spelt(kind: SubwordKind) -> None:
    parent, child = tokenizer(kind), other()
    found = inherit(child, parent)
    assert found.ids[:4] == [[0], [1], [2], [3]]
    names = parent.pieces(range(parent.vocab_size))
    num_kept = 0
    for i, piece in list(enumerate(child.pieces(range(child.vocab_size))))[len(RESERVED) :]:
        if piece in names:
            num_kept += 1
            assert found.ids[i] == [names.index(piece)]
        else:
            assert b"".join(parent.spell(found.ids[i])) == child.spell([i])[0]
    assert (found.num_kept, found.num_new) == (num_kept, child.vocab_size - num_kept - 4)
    assert found.num_kept > 256 and found.num_new > 5


@pytest.mark.parametrize("kind", KINDS)
def test_the_parts_are_those_of_the_text_in_its_place(kind: SubwordKind) -> None:
    """At the beginning of a word as the line begins, inside as behind a letter of no piece."""
    parent = tokenizer(kind)
    for word in ("hausgeht", "straßen", "Größenicht"):
        start, inside = parent.parts([f"\u2581{word}", word])
        assert start == parent.encode(word)
        assert inside == parent.encode(f"漢{word}")[len(parent.encode("漢")) :]
    assert parent.parts(["\u2581"]) == [[parent.pieces(range(parent.vocab_size)).index("\u2581")]]


def test_what_no_piece_spells_has_no_parts() -> None:
    parent = ImportedTokenizer(pieces_of("source")[2:], spm("source"))
    child = other()
    found = inherit(child, parent)
    by_name = dict(zip(child.pieces(range(child.vocab_size)), found.ids, strict=True))
    assert by_name["<0xE4>"] == by_name["字"] == []
    assert by_name["<0x61>"] == parent.parts(["a"])[0] != []


def test_of_two_cuts_of_one_vocabulary_the_better_one_counts() -> None:
    pieces = dict.fromkeys((*pieces_of("source")[2:], *pieces_of("target")[2:]))
    source, target = (ImportedTokenizer(list(pieces), spm(side)) for side in ("source", "target"))
    child = train_subwords(["katzeläuft streetgreen"] * 9, kind="bpe", vocab_size=300)
    found = inherit(child, target, source)
    for i, piece in enumerate(child.pieces(range(child.vocab_size))):
        if i < 260 or len(found.ids[i]) < 2:
            continue
        cuts = [each.parts([piece])[0] for each in (source, target)]
        spelt = [len(b"".join(source.spell(cut))) for cut in cuts]
        assert found.ids[i] in cuts
        assert len(b"".join(source.spell(found.ids[i]))) == max(spelt)


def test_a_symbol_is_spelt_by_itself_alone() -> None:
    known = SymbolTokenizer(["a", "b"])
    assert known.parts(["a", "\u2581b", "ab"]) == [[4], [5], []]
