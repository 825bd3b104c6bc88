"""The tokenizer of imported models: ids of a table, text and back, and files that are damaged."""

from __future__ import annotations

import io
from functools import cache

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from mt.errors import ModelFolderError
from mt.text.imported import HEADER, ImportedTokenizer
from mt.text.normalise import normalise
from mt.text.tokenizer import RESERVED, UNKNOWN
from mt.text.tokenizer_pair import read_tokenizer
from tests.text.tokenizers import sentences


@cache
def cutter(*, bytes_too: bool = False) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(sentences()),
        model_writer=model,
        vocab_size=320 if bytes_too else 60,
        hard_vocab_limit=False,
        byte_fallback=bytes_too,
        eos_id=0,
        unk_id=1,
        bos_id=-1,
        pad_id=-1,
        minloglevel=3,
    )
    return model.getvalue()


@cache
def tokenizer(*, bytes_too: bool = False, prefix: str = "") -> ImportedTokenizer:
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(cutter(bytes_too=bytes_too))
    pieces = [processor.IdToPiece(i) for i in range(2, processor.GetPieceSize())]
    return ImportedTokenizer(
        [*reversed(pieces), ">>deu<<"], cutter(bytes_too=bytes_too), prefix=prefix
    )


def test_ids_are_those_of_the_table_and_pieces_those_of_sentencepiece() -> None:
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(cutter())
    own = tokenizer()
    size = processor.GetPieceSize()
    assert own.vocab_size == size - 2 + len(RESERVED) + 1
    for text in sentences()[:50]:
        ids = own.encode(text)
        assert own.pieces(ids) == processor.EncodeAsPieces(text)
        assert ids == [len(RESERVED) + size - 1 - i for i in processor.EncodeAsIds(text)]
        assert own.decode(ids) == own.normalise(text) == text
    assert own.encode_batch(sentences()[:50]) == [own.encode(text) for text in sentences()[:50]]


@given(st.text())
def test_any_text_that_bytes_can_spell_comes_back_as_it_is_normalised(text: str) -> None:
    own = tokenizer(bytes_too=True)
    if text.startswith(">>"):
        return
    ids = own.encode(text)
    assert UNKNOWN not in ids
    assert own.decode(ids) == own.normalise(text)
    assert own.unknown(text) == []


@given(st.text())
def test_unknown_parts_are_those_with_the_unknown_id(text: str) -> None:
    own = tokenizer()
    ids = own.encode(text)
    assert len(own.unknown(text)) == ids.count(UNKNOWN)
    assert len(own.word_of_each(ids)) == len(ids)


def test_words_are_counted_past_what_is_unknown_and_without_the_language() -> None:
    own = tokenizer(prefix=">>deu<<")
    ids = own.encode("haus 漢字 katze")
    words = own.word_of_each(ids)
    assert own.pieces(ids)[0] == ">>deu<<"
    assert words[0] is None
    assert words[-1] == 2
    assert words[ids.index(UNKNOWN)] == 1


def test_a_file_gives_the_same_tokenizer() -> None:
    own = tokenizer(prefix=">>deu<<")
    again = read_tokenizer(own.model)
    assert isinstance(again, ImportedTokenizer)
    assert again.model == own.model
    assert again.encode("haus") == own.encode("haus")
    assert again.normalise("ﬁn") == normalise("fin")  # as the model of sentencepiece rules


@pytest.mark.parametrize(
    "damaged",
    [
        HEADER,
        HEADER + b"{}\n",
        HEADER + b'{"pieces": 3, "prefix": ""}\n',
        HEADER + b'{"pieces": [3], "prefix": ""}\n',
        HEADER + b'{"pieces": ["a", "a"], "prefix": ""}\n' + cutter(),
        HEADER + b'{"pieces": ["</s>"], "prefix": ""}\n' + cutter(),
        HEADER + b'{"pieces": ["a"], "prefix": ">>x<<"}\n' + cutter(),
        tokenizer().model[:-30],
        tokenizer().model[:200],
    ],
)
def test_a_damaged_file_is_refused(damaged: bytes) -> None:
    with pytest.raises(ModelFolderError, match=r"^my\.model "):
        read_tokenizer(damaged, name="my.model")


def test_a_language_that_is_asked_for_stands_before_lines_that_name_none() -> None:
    own = tokenizer().towards("deu")
    text = sentences()[0]
    assert own.targets == ("deu",) and own.is_aimed and not tokenizer().is_aimed
    assert own.encode(text) == tokenizer(prefix=">>deu<<").encode(text)
    assert own.encode("") == own.encode(">>deu<<") == []
    assert own.model is tokenizer().model
