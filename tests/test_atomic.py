"""A failed or killed write leaves the old file good."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt.atomic import new_folder, replaced_file, write_text


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_text(path, "old")
    with pytest.raises(OSError, match="full"), replaced_file(path) as temporary:
        temporary.write_text("half")
        raise OSError("full")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_folder_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "d"
    with new_folder(path) as temporary:
        (temporary / "a").write_text("old")
    with pytest.raises(OSError, match="full"), new_folder(path) as temporary:
        (temporary / "a").write_text("half")
        raise OSError("full")
    assert (path / "a").read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_folder_replaces_the_old_one_whole(tmp_path: Path) -> None:
    path = tmp_path / "d"
    for name in ("a", "b"):
        with new_folder(path) as temporary:
            (temporary / name).write_text(name)
    assert [p.name for p in path.iterdir()] == ["b"]
