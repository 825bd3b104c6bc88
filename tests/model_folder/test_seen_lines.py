"""Keys of training lines: what is known again, and what a file of them holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mt.corpus.keys import key_of
from mt.errors import ModelFolderError
from mt.model_folder.seen_lines import SeenLines
from mt.text.normalise import normalise


def keys(*texts: str) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.array([key_of(text) for text in texts], dtype=np.uint64)


def test_lines_are_known_again_in_their_normalised_form(tmp_path: Path) -> None:
    SeenLines.of(keys("ein Satz", "café", "ein Satz"), keys("a", "b", "c")).save(tmp_path / "f")
    seen = SeenLines.load(tmp_path / "f")
    assert seen is not None
    assert seen.is_whole
    assert len(seen.source) == 2
    lines = ["ein\u2028Satz ", "cafe\u0301", "Ein Satz", "", " "]
    assert seen.holds("source", lines, normalise).tolist() == [True, True, False, False, False]
    assert seen.holds("target", ["ein Satz", "c"], normalise).tolist() == [False, True]


def test_union_knows_what_it_does_not_know() -> None:
    one, two = (SeenLines.of(keys(text), keys(text)) for text in "ab")
    both = SeenLines.union([one, two])
    assert both.is_whole
    assert both.holds("target", ["a", "b", "c"], normalise).tolist() == [True, True, False]
    assert not SeenLines.union([one, None]).is_whole
    assert not SeenLines.union([SeenLines.union([one, None]), two]).is_whole


def test_no_file_is_no_record_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    assert SeenLines.load(tmp_path / "none") is None
    (tmp_path / "f").write_bytes(b"\0" * 40)
    with pytest.raises(ModelFolderError, match="damaged"):
        SeenLines.load(tmp_path / "f")
