"""One process at a time in a model folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt.errors import ModelFolderError
from mt.files.folder_lock import NAME, folder_lock
from tests.files.lock_holders import _WAIT, heard, holders, tell


def test_a_second_process_is_told_who_holds_the_folder(tmp_path: Path) -> None:
    with holders(tmp_path) as (process,):
        tell(process)
        assert heard(process) == "locked"
        with (
            pytest.raises(ModelFolderError, match=f"{tmp_path} is in use by process {process.pid}"),
            folder_lock(tmp_path),
        ):
            pass
        tell(process)
        assert process.wait(timeout=_WAIT) == 0
        with folder_lock(tmp_path):
            pass
    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_a_killed_process_blocks_nobody(tmp_path: Path) -> None:
    with holders(tmp_path) as (process,):
        tell(process)
        assert heard(process) == "locked"
        process.kill()
        process.wait(timeout=_WAIT)
        assert (tmp_path / NAME).exists()
        with folder_lock(tmp_path):
            pass
    assert not (tmp_path / NAME).exists()


def test_of_many_that_make_a_folder_at_once_one_has_it(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    with holders(folder, 4) as processes:
        for process in processes:
            tell(process)
        told = [heard(process) for process in processes]
        assert sum(text == "locked" for text in told) == 1
        assert sum("is in use by" in text for text in told) == 3
        holder = processes[told.index("locked")]
        tell(holder)
        assert holder.wait(timeout=_WAIT) == 0
    # One that was refused may have made the folder; whoever holds it then leaves it there.
    assert not folder.exists() or not list(folder.iterdir())
