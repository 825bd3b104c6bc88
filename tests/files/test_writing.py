"""Files: old or new as a whole, links and modes kept, what is no regular file written into."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from mt.errors import DataError
from mt.files import (
    append_text,
    new_folder,
    remove_temporaries,
    replaced_file,
    require_writable,
    write_text,
    written_file,
)
from mt.files.byte_writer import ByteWriter

_IS_ROOT = os.geteuid() == 0
_AS_USER = "import os, sys; os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk with room for 64 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if not _IS_ROOT or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users may enter, as that of pytest is not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def device(path: Path, minor: int) -> Path:
    """A node for a memory device: 3 takes all, 7 is always full."""
    try:
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, minor))
        path.open("wb").close()
    except OSError:
        pytest.skip("only root may make device nodes")
    return path


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_text(path, "old")
    with pytest.raises(OSError, match="full"), replaced_file(path) as temporary:
        temporary.write_text("half")
        raise OSError("full")
    with pytest.raises(OSError, match="full"), written_file(path) as file:
        file.write(b"half")
        raise OSError("full")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_was_flushed_before_a_failure_is_kept_on_request(tmp_path: Path) -> None:
    path, partial = tmp_path / "x", tmp_path / "x.partial"
    path.write_text("old")
    path.chmod(0o600)
    with pytest.raises(KeyboardInterrupt), written_file(path, partial=partial) as file:
        file.write(b"one\n")
        file.flush()
        file.write(b"two")
        raise KeyboardInterrupt
    assert (path.read_text(), partial.read_text()) == ("old", "one\n")
    assert file.partial == partial
    assert stat.S_IMODE(partial.stat().st_mode) == 0o600
    assert set(tmp_path.iterdir()) == {path, partial}


def test_nothing_is_kept_of_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with pytest.raises(KeyError), written_file(path, partial=tmp_path / "p") as file:
        raise KeyError
    assert file.partial is None
    assert list(tmp_path.iterdir()) == []


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


def test_new_files_and_folders_have_the_modes_of_the_umask(tmp_path: Path) -> None:
    (tmp_path / "usual").mkdir()
    (tmp_path / "usual" / "file").touch()
    with new_folder(tmp_path / "new") as temporary:
        (temporary / "file").touch(mode=0o600)
    write_text(tmp_path / "new" / "other", "x")
    for name, usual in (("new", "usual"), ("new/file", "usual/file"), ("new/other", "usual/file")):
        assert (tmp_path / name).stat().st_mode == (tmp_path / usual).stat().st_mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_file_keeps_its_mode(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("old")
    path.chmod(mode)
    write_text(path, "new")
    with replaced_file(path) as temporary:
        temporary.write_text("newer")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_text() == "newer"


@pytest.mark.skipif(not _IS_ROOT, reason="only root may give files away")
def test_a_file_keeps_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("old")
    os.chown(path, 65534, 65534)
    write_text(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid) == (65534, 65534)


def test_nobody_else_can_read_what_becomes_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.touch(mode=0o600)
    with written_file(path):
        (folder,) = (each for each in tmp_path.iterdir() if each.is_dir())
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("is_relative", [False, True])
def test_a_symbolic_link_stays_and_its_target_is_written(is_relative: bool, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "x", tmp_path / "link"
    link.symlink_to("there/x" if is_relative else target)
    second = tmp_path / "second"
    second.symlink_to("link")
    write_text(second, "made by a link that led nowhere")
    assert target.read_text().startswith("made")
    write_text(link, "new")
    assert (link.is_symlink(), second.is_symlink(), target.is_symlink()) == (True, True, False)
    assert target.read_text() == "new"
    assert list((tmp_path / "there").iterdir()) == [target]


def test_a_link_through_a_linked_folder_means_what_the_system_means(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "short").symlink_to("a/b")
    (tmp_path / "a" / "b" / "up").symlink_to("../x")
    write_text(tmp_path / "short" / "up", "new")
    assert (tmp_path / "a" / "x").read_text() == "new"


def test_only_the_name_that_was_given_of_a_file_of_several_names_is_new(tmp_path: Path) -> None:
    path, other = tmp_path / "x", tmp_path / "y"
    path.write_text("old")
    other.hardlink_to(path)
    write_text(path, "new")
    assert (path.read_text(), other.read_text()) == ("new", "old")


def test_what_cannot_be_written_is_named_before_anything_is_made(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").touch()
    (tmp_path / "to-nowhere").symlink_to("none/x")
    before = set(tmp_path.iterdir())
    for name, number in (
        ("loop", errno.ELOOP),
        (".", errno.EISDIR),
        ("none/x", errno.ENOENT),
        ("to-nowhere", errno.ENOENT),
        ("file/x", errno.ENOTDIR),
    ):
        path = tmp_path / name
        for written in (replaced_file, written_file):
            with pytest.raises(OSError, match=os.strerror(number)) as caught, written(path):
                pass
            assert (caught.value.errno, caught.value.filename) == (number, str(path))
        with pytest.raises(DataError, match="cannot be written"):
            require_writable(path)
    assert set(tmp_path.iterdir()) == before


def test_a_pipe_gets_the_bytes_as_they_are_flushed(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[bytes] = []

    def reader() -> None:
        with path.open("rb", buffering=0) as file:
            while block := file.read(100):
                read.append(block)

    thread = threading.Thread(target=reader, daemon=True)
    thread.start()
    with written_file(path) as file:
        file.write(b"one")
        file.flush()
        for _ in range(100):
            if read:
                break
            time.sleep(0.05)
        assert read == [b"one"]
        file.write(b"two")
    thread.join(10)
    assert read == [b"one", b"two"]
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert list(tmp_path.iterdir()) == [path]


def test_a_writer_of_whole_files_serves_a_pipe_too(tmp_path: Path) -> None:
    path, content = tmp_path / "pipe", "x" * 300_000
    os.mkfifo(path)
    with (tmp_path / "read").open("wb") as out, subprocess.Popen(["cat", path], stdout=out) as cat:
        with replaced_file(path) as temporary:
            temporary.write_text(content)
        cat.wait(20)
    assert (tmp_path / "read").read_text() == content
    assert {each.name for each in tmp_path.iterdir()} == {"pipe", "read"}


def test_an_open_descriptor_is_written_where_it_stands(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    with log.open("ab") as file:
        for folder in ("/dev/fd", "/proc/self/fd"):
            if Path(folder).is_dir():
                write_text(Path(folder) / str(file.fileno()), f"{folder}\n")
        (tmp_path / "link").symlink_to(f"/dev/fd/{file.fileno()}")
        write_text(tmp_path / "link", "after\n")
    lines = log.read_text().splitlines()
    assert (lines[0], lines[1], lines[-1]) == ("before", "/dev/fd", "after")


def test_a_device_stays_one(tmp_path: Path) -> None:
    null = device(tmp_path / "null", 3)
    before = null.stat()
    write_text(null, "x" * 100_000)
    with replaced_file(null) as temporary:
        temporary.write_text("x")
    after = null.stat()
    assert (after.st_ino, after.st_mode, after.st_rdev) == (
        before.st_ino,
        before.st_mode,
        before.st_rdev,
    )


def test_a_full_device_is_an_error_that_names_it(tmp_path: Path) -> None:
    full = device(tmp_path / "full", 7)
    with pytest.raises(OSError, match="No space") as caught:
        write_text(full, "x")
    assert caught.value.filename == str(full)
    assert stat.S_ISCHR(full.stat().st_mode)


@pytest.mark.parametrize("size", [70_000, 1_000_000])
def test_a_full_disk_is_an_error_that_names_the_target(size: int, small_disk: Path) -> None:
    path = small_disk / "x"
    path.write_text("old")
    with pytest.raises(OSError, match="No space") as one:
        write_text(path, "x" * size)
    with pytest.raises(OSError, match="No space") as two, replaced_file(path) as temporary:
        temporary.write_bytes(b"x" * size)
    with pytest.raises(OSError, match="No space") as three, replaced_file(path) as temporary:
        save_file({"x": np.zeros(size, np.uint8)}, temporary)
    with pytest.raises(OSError, match="No space") as four:
        for _ in range(size // 1000):
            append_text(small_disk / "log", "x" * 1000)
    assert {each.value.filename for each in (one, two, three)} == {str(path)}
    assert four.value.filename == str(small_disk / "log")
    assert path.read_text() == "old"
    assert {each.name for each in small_disk.iterdir()} == {"x", "log"}


@pytest.mark.skipif(not _IS_ROOT, reason="root runs this as another user")
def test_a_file_in_a_folder_that_is_not_ours_is_written_as_a_whole_and_no_new_one_is_made(
    open_folder: Path,
) -> None:
    folder = open_folder / "theirs"
    folder.mkdir()
    (folder / "open").write_text("old")
    (folder / "open").chmod(0o666)
    (folder / "shut").write_text("old")
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from mt.files import replaced_file, write_text\n"
        + _AS_USER
        + "folder = Path(sys.argv[1])\n"
        "write_text(folder / 'open', 'new')\n"
        "for name in ('shut', 'none'):\n"
        "    try: write_text(folder / name, 'new')\n"
        "    except PermissionError as error: print(error.filename)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stderr == ""
    assert done.stdout.split() == [str(folder / "shut"), str(folder / "none")]
    assert (folder / "open").read_text() == "new"
    assert (folder / "shut").read_text() == "old"
    assert {each.name for each in folder.iterdir()} == {"open", "shut"}


@pytest.mark.skipif(not _IS_ROOT, reason="only root may mount")
def test_a_file_that_is_mounted_by_itself_is_written_into(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.write_text("old")
    inside.touch()
    command = ["mount", "--bind", str(outside), str(inside)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounts are not permitted")
    try:
        write_text(inside, "new")
    finally:
        subprocess.run(["umount", str(inside)], check=True)
    assert outside.read_text() == "new"


def test_what_a_killed_process_left_goes_with_the_next_write_and_what_a_live_one_has_stays(
    tmp_path: Path,
) -> None:
    path = tmp_path / "x"
    left, used, of_another = (tmp_path / name for name in (".x.1.tmp", ".x.2.tmp", ".y.1.tmp"))
    for folder in (left, used, of_another):
        folder.mkdir()
        os.utime(folder, (0, 0))
    descriptor = os.open(used, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        write_text(path, "new")
        assert set(tmp_path.iterdir()) == {path, used, of_another}
    finally:
        os.close(descriptor)


def test_what_this_process_would_leave_can_be_taken_away_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), replaced_file(tmp_path / "x") as temporary:
        temporary.write_text("half")
        remove_temporaries()
        assert list(tmp_path.iterdir()) == []


def test_a_long_name_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("ä" * 125)
    write_text(path, "new")
    with written_file(path) as file, written_file(path.with_name(path.name[:-1])) as other:
        file.write(b"one")
        other.write(b"two")
    assert path.read_text() == "one"
    assert len(list(tmp_path.iterdir())) == 2


def test_every_byte_is_written_to_a_descriptor_that_does_not_block() -> None:
    content = os.urandom(1_000_000)
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    read = bytearray()

    def reader() -> None:
        while block := os.read(ours, 5000):
            read.extend(block)

    thread = threading.Thread(target=reader, daemon=True)
    thread.start()
    writer = ByteWriter(theirs, "the pipe")
    assert writer.write(content) == len(content)
    writer.close()
    thread.join(20)
    assert read == content
    os.close(ours)


def test_every_byte_is_written_by_short_writes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    content, write = os.urandom(10_000), os.write
    monkeypatch.setattr(os, "write", lambda number, view: write(number, view[:7]))
    with written_file(tmp_path / "x") as file:
        file.write(content)
    assert (tmp_path / "x").read_bytes() == content


def test_nothing_is_written_after_a_failed_write(tmp_path: Path) -> None:
    full = device(tmp_path / "full", 7)
    writer = ByteWriter(os.open(full, os.O_WRONLY), "the disk")
    with pytest.raises(OSError, match="No space") as caught:
        writer.write(b"x")
    assert caught.value.filename == "the disk"
    writer.write(b"x")
    writer.close()
