"""The table of pairs that were left out of a corpus."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mt.events import Event, Listener, PairDropped, ignore
from mt.files import written_file


@contextmanager
def rejected_pairs(path: Path | None) -> Iterator[Listener]:
    """A listener that writes each dropped pair to `path`: reason, location, source, target.

    The file appears when all of the corpus is read, or not at all. Without a path it listens to
    nothing.
    """
    if path is None:
        yield ignore
        return
    with written_file(path) as out:

        def write(event: Event) -> None:
            if isinstance(event, PairDropped):
                location = f"{event.origin}:{event.line}"
                fields = (event.reason, location, event.source, event.target)
                line = "\t".join(field.replace("\t", " ") for field in fields)
                out.write(f"{line}\n".encode())

        yield write
