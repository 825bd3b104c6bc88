"""Where translations go, and what stays of them when something ends the work before its end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from mt.cli.line_progress import LineProgress
from mt.cli.streams import ReaderGoneError
from mt.files import OpenFile, written_file
from mt.formats.compressed import Output, PackedFile, packer


@contextmanager
def translation_output(
    path: Path | None, progress: LineProgress, *, say: Callable[[str], None]
) -> Iterator[Output]:
    """Standard output (-), or a file that has its new content when that is complete.

    A file whose name ends like a packed one is packed.

    Whatever ends the work before, the translations of whole groups of lines are kept: for a file
    `PATH`, which stays as it was, in `PATH.partial`. How many they are, and where, is said.
    """
    file: OpenFile | None = None
    path = None if path is None or str(path) == "-" else path
    try:
        if path is None:
            yield sys.stdout.buffer
        else:
            pack = packer(path)
            with written_file(path, partial=path.with_name(f"{path.name}.partial")) as file:
                if pack is None:
                    yield file
                    return
                packed = PackedFile(file, pack)
                yield packed
                packed.end()
    except ReaderGoneError:
        raise
    except KeyboardInterrupt as interruption:
        interruption.args = (_kept(path, file, progress),)
        raise
    except Exception:
        say(f"mt: ended{_kept(path, file, progress)}")
        raise


def _kept(path: Path | None, file: BinaryIO | None, progress: LineProgress) -> str:
    """How far the work got, and what holds its results."""
    partial = getattr(file, "partial", None)
    text = f" after {progress.reached()}"
    if path is None or not progress.num_lines:
        return text
    unchanged = f"; {path} is as it was" if partial is not None and path.exists() else ""
    return f"{text}; {partial or path} holds their translations{unchanged}"
