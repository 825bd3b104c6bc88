"""The table of a shortlist: what it holds, and its file."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file

from mt.errors import ModelFolderError
from mt.model_folder.shortlist import SHORTLIST, Shortlist
from mt.text.subwords import train_subwords
from mt.text.tokenizer_pair import TokenizerPair


def ids(*values: int) -> NDArray[np.int32]:
    return np.array(values, dtype=np.int32)


def small() -> Shortlist:
    """Of five source pieces the last two are known."""
    return Shortlist(
        first=ids(0, 0, 0, 0, 2, 5), pieces=ids(7, 9, 5, 7, 8), frequent=ids(6), target_vocab=10
    )


@cache
def separate() -> TokenizerPair:
    sides = (["ein haus 1234", "zwei bäume 1234"], ["a house 1234", "two trees 1234"])
    source, target = (train_subwords(side, kind="bpe", vocab_size=290) for side in sides)
    return TokenizerPair(source=source, target=target)


def made() -> Shortlist:
    """For the tokenizers of `separate`: each source piece gives one piece."""
    size = separate().source.vocab_size
    return Shortlist.of(
        first=np.arange(size + 1, dtype=np.int32),
        pieces=np.full(size, 4, dtype=np.int32),
        frequent=ids(5, 6),
        tokenizers=separate(),
    )


def test_the_candidates_are_those_of_the_pieces_and_the_frequent_ones() -> None:
    assert small().candidates([3]).tolist() == [6, 7, 9]
    assert small().candidates([4, 3, 4]).tolist() == [5, 6, 7, 8, 9]
    assert small().candidates([]).tolist() == [6]
    assert small().num_known == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"first": ids(0, 0, 0, 0, 2, 4)},
        {"first": ids(0, 0, 0, 3, 2, 5)},
        {"first": ids(1, 1, 1, 1, 2, 5)},
        {"first": ids()},
        {"pieces": ids(7, 9, 3, 7, 8)},
        {"pieces": ids(7, 10, 5, 7, 8)},
        {"frequent": ids(-1)},
    ],
)
def test_a_table_that_does_not_fit_is_refused(changes: dict[str, NDArray[np.int32]]) -> None:
    given = {"first": small().first, "pieces": small().pieces, "frequent": small().frequent}
    with pytest.raises(ValueError, match=r"must lie between|not in order"):
        Shortlist(**{**given, **changes}, target_vocab=10)


def test_a_known_piece_may_be_copied() -> None:
    tokenizers = separate()
    spelled = tokenizers.source.pieces(range(tokenizers.source.vocab_size))
    there = tokenizers.target.pieces(range(tokenizers.target.vocab_size))
    shared = [piece for piece in spelled[4:] if piece in there]
    foreign = [piece for piece in spelled[4:] if piece not in there]
    assert any(piece not in there[4:260] for piece in shared)
    assert foreign
    for piece in shared:
        assert there.index(piece) in made().candidates([spelled.index(piece)])
    for piece in foreign:
        assert made().candidates([spelled.index(piece)]).tolist() == [4, 5, 6]


def test_an_unknown_piece_stays_unknown() -> None:
    size = separate().source.vocab_size
    none = Shortlist.of(
        first=np.zeros(size + 1, dtype=np.int32),
        pieces=ids(),
        frequent=ids(5),
        tokenizers=separate(),
    )
    assert none.num_known == 0


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    written = made()
    written.save(tmp_path, separate())
    found = Shortlist.load(tmp_path, separate())
    assert found.target_vocab == written.target_vocab
    for name in ("first", "pieces", "frequent"):
        assert getattr(found, name).tolist() == getattr(written, name).tolist()
    first = (tmp_path / SHORTLIST).read_bytes()
    written.save(tmp_path, separate())
    assert (tmp_path / SHORTLIST).read_bytes() == first


def damage(path: Path, kind: str) -> None:
    """Make a shortlist bad in some way."""
    about = {"format_version": 1, "target_vocab": 290, "tokenizers": ""}
    tensors = {"first": ids(0), "pieces": ids(), "frequent": ids()}
    if kind == "newer":
        about["format_version"] = 2
    elif kind == "wide":
        tensors["first"] = tensors["first"].astype(np.int64)
    elif kind == "lacking":
        del tensors["pieces"]
    if kind == "cut":
        path.write_bytes(path.read_bytes()[:-8])
    elif kind == "text":
        path.write_text("no tensors")
    elif kind == "foreign":
        save_file(tensors, path)
    else:
        if kind != "other":
            made().save(path.parent, separate())
            about["tokenizers"] = _digest_in(path)
        save_file(tensors, path, metadata={"shortlist": json.dumps(about)})


def _digest_in(path: Path) -> str:
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        about: dict[str, str] = json.loads(file.metadata()["shortlist"])
    return about["tokenizers"]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("cut", "is damaged: its content is not what was written"),
        ("text", "is no shortlist, or is damaged"),
        ("foreign", "is no shortlist, or is damaged"),
        ("lacking", "is no shortlist, or is damaged"),
        ("wide", "its tensors are not lists of 32-bit integers"),
        ("short", "another number of source pieces"),
        ("newer", "has format version 2, this mt knows up to 1"),
        ("other", "was made for other tokenizers"),
    ],
)
def test_a_bad_file_is_named(kind: str, message: str, tmp_path: Path) -> None:
    made().save(tmp_path, separate())
    damage(tmp_path / SHORTLIST, kind)
    with pytest.raises(ModelFolderError, match=message) as error:
        Shortlist.load(tmp_path, separate())
    assert str(tmp_path / SHORTLIST) in str(error.value)


def test_a_folder_without_one_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(ModelFolderError, match=r"has no shortlist.safetensors.*mt shortlist -m"):
        Shortlist.load(tmp_path, separate())
