"""Tokenizers: faults that users of other toolkits reported.

The letter and number of a case and the public threads it comes from stand in each docstring.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

from mt.config import SubwordKind
from mt.errors import ConfigError
from mt.events import Event, Notice
from mt.text.normalise import normalise
from mt.text.subwords import train_subwords
from mt.text.tokenizer import END, PAD, START, UNKNOWN, Tokenizer
from tests.cases.model_files import pieces
from tests.cases.runs import UNTRAINED, Run, run_here
from tests.cases.toy import Toy, as_bytes, toy_pairs, toy_sources, write_bytes, write_files

KINDS: tuple[SubwordKind, ...] = ("unigram", "bpe")
_CORPORA = {
    "toy": toy_sources(20, seed="small"),
    "one letter": ["aaa"],
    "many letters": ["".join(map(chr, range(0x4E00, 0x4E00 + 400)))],
    "many letters, few of them often": ["a" * 9000 + "".join(map(chr, range(0x4E00, 0x4F00)))],
}


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """A tokenizer of the toy language, which has seen nothing else."""
    return train_subwords(toy_sources(500, seed="tokenizer"), kind="unigram", vocab_size=320)


def _train(toy: Toy, folder: Path, *options: str, num_pairs: int = 20) -> Run:
    files = write_files(folder, "small", toy_pairs(num_pairs, seed="small"))
    arguments = ("train", *files.arguments, *toy.dev.as_dev, "-o", folder / "model")
    return run_here(*arguments, *UNTRAINED, *options)


@pytest.mark.parametrize("kind", KINDS)
def test_line_of_10000_bytes_is_not_skipped(kind: SubwordKind) -> None:
    """D20 (google/sentencepiece#214, #463, #502, #517): its letter is in the vocabulary."""
    lines = toy_sources(100, seed="long lines") + ["Ω" * 5000] * 20
    trained = train_subwords(lines, kind=kind, vocab_size=400)
    assert not any(piece.startswith("<0x") for piece in trained.pieces(trained.encode("Ω")))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("line", ["qqq " * 2000, "q" * 20000, "語" * 5000])
def test_corpus_of_long_lines_alone_trains(kind: SubwordKind, line: str) -> None:
    """D20: no `[!sentences_.empty()]`, and the letters are there."""
    trained = train_subwords([line] * 50, kind=kind, vocab_size=270)
    assert trained.decode(trained.encode(line)) == normalise(line)
    assert not any(piece.startswith("<0x") for piece in trained.pieces(trained.encode(line)))


@pytest.mark.parametrize("options", [(), ("--set", "tokenizer.kind=bpe")], ids=KINDS)
def test_vocabulary_too_large_for_the_corpus_is_reduced_with_a_warning(
    options: tuple[str, ...], toy: Toy, tmp_path: Path
) -> None:
    """T01 (google/sentencepiece#4, #605, #727, #730, #1079): the embedding has that many rows."""
    run = _train(toy, tmp_path, "--vocab-size", "8000", *options).check()
    found = re.search(r"warning: vocabulary .* reduced from 8000 to (\d+)", run.err)
    assert found is not None
    size = int(found[1])
    assert size < 8000
    assert len(pieces(tmp_path / "model")) == size
    weights = load_file(tmp_path / "model" / "model.safetensors")
    assert weights["target_embedding.weight"].shape[0] == size
    assert f"vocab_size = {size}\n" in (tmp_path / "model" / "config.toml").read_text("utf-8")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lines", _CORPORA.values(), ids=_CORPORA)
def test_vocabulary_too_large_trains_on_any_corpus(kind: SubwordKind, lines: list[str]) -> None:
    """T01: whatever the corpus, with one warning that names the real size."""
    events: list[Event] = []
    trained = train_subwords(lines, kind=kind, vocab_size=8000, listener=events.append)
    (notice,) = events
    assert isinstance(notice, Notice)
    assert notice.is_warning
    assert f"from 8000 to {trained.vocab_size}:" in notice.text


@pytest.mark.parametrize("size", [1, 4, 100, 260])
def test_vocabulary_too_small_is_refused_with_the_least(
    size: int, toy: Toy, tmp_path: Path
) -> None:
    """T02 (google/sentencepiece#43, #4): and the least that is named does train."""
    run = _train(toy, tmp_path, "--vocab-size", str(size))
    message = run.check_refusal(status=2)
    found = re.search(r"need at least (\d+)", message)
    assert found is not None
    assert not (tmp_path / "model").exists()
    _train(toy, tmp_path, "--vocab-size", found[1]).check()
    assert len(pieces(tmp_path / "model")) == int(found[1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lines", _CORPORA.values(), ids=_CORPORA)
def test_least_vocabulary_that_is_named_trains(kind: SubwordKind, lines: list[str]) -> None:
    """T02: on any alphabet, and one piece less is refused."""
    with pytest.raises(ConfigError) as refused:
        train_subwords(lines, kind=kind, vocab_size=4)
    found = re.search(r"need at least (\d+)", str(refused.value))
    assert found is not None
    assert train_subwords(lines, kind=kind, vocab_size=int(found[1])).vocab_size == int(found[1])
    with pytest.raises(ConfigError):
        train_subwords(lines, kind=kind, vocab_size=int(found[1]) - 1)


@given(text=st.text())
def test_any_text_survives_a_tokenizer_that_has_not_seen_it(
    tokenizer: Tokenizer, text: str
) -> None:
    """T03 (LibreTranslate#439, #33, #733; sentencepiece#134, #280; joeynmt#58): no unknown."""
    ids = tokenizer.encode(text)
    assert not set(ids) & {PAD, START, END, UNKNOWN}
    assert tokenizer.decode(ids) == normalise(text)


@given(ids=st.lists(st.integers(min_value=0, max_value=319)))
def test_no_ids_decode_to_a_mark_of_the_tokenizer(tokenizer: Tokenizer, ids: list[int]) -> None:
    """T03, T04, X04: whatever a model says, it is one line of clean text."""
    text = tokenizer.decode([i for i in ids if i < tokenizer.vocab_size])
    assert not set(text) & set("▁⁇\ufffd")
    assert text == text.strip()
    assert len(text.splitlines()) <= 1
    assert not any(unicodedata.category(character) == "Cc" for character in text)


@pytest.mark.parametrize("written", ["<unk>", "<s>", "</s>", "<pad>", "<0x0A>", " ⁇ ", "@@ a"])
def test_written_name_of_a_symbol_is_text(tokenizer: Tokenizer, written: str) -> None:
    """T03: no reserved symbol can be written by a user's text."""
    ids = tokenizer.encode(written)
    assert not set(ids) & {PAD, START, END, UNKNOWN}
    assert tokenizer.decode(ids) == written.strip()


def test_meta_symbol_in_text_is_a_space(tokenizer: Tokenizer) -> None:
    """T04 (google/sentencepiece#863, #514): U+2581 in raw text."""
    assert tokenizer.encode("one▁two ▁ three▁") == tokenizer.encode("one two three")
    assert tokenizer.encode("▁▁▁") == []


def test_same_corpus_gives_the_same_pieces_on_any_number_of_threads(
    toy: Toy, tmp_path: Path
) -> None:
    """T05 (marian-dev#657; sentencepiece#496, #609; huggingface/tokenizers#1794)."""
    found = []
    for name, threads in (("a", "1"), ("b", "1"), ("c", "4")):
        (tmp_path / name).mkdir()
        _train(toy, tmp_path / name, "--threads", threads, num_pairs=500).check()
        found.append(pieces(tmp_path / name / "model"))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("separator", ["\t", "\x0b", "\u2028", "\u00a0", "\u3000"])
def test_white_space_inside_a_segment_reaches_no_piece(
    separator: str, toy: Toy, tmp_path: Path
) -> None:
    """D10 (thammegowda/mtdata#44): the model is that of the same corpus with spaces."""
    found = []
    for name, space in (("spaces", " "), ("others", separator)):
        (tmp_path / name).mkdir()
        sources, targets = zip(*toy_pairs(50, seed="space"), strict=True)
        files = write_bytes(
            tmp_path / name,
            "x",
            source=as_bytes([text.replace(" ", space) for text in sources]),
            target=as_bytes([text.replace(" ", space) for text in targets]),
        )
        folder = tmp_path / name / "model"
        run_here("train", *files.arguments, *toy.dev.as_dev, "-o", folder, *UNTRAINED).check()
        found.append(pieces(folder))
    assert found[0] == found[1]
