"""Writers of corpora: pairs to a file of both sides, or to two files of plain text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from mt.errors import ConfigError
from mt.files import written_file
from mt.formats.compressed import packer
from mt.formats.kind import Kind, kind_of_name
from mt.formats.options import on_one_line
from mt.formats.pair import Pair

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped."""


@dataclass(frozen=True, kw_only=True)
class _Form:
    """How a file of both sides is written."""

    begin: str
    line: Callable[[str, str], str]
    end: str = ""


def _text(side: str) -> str:
    """A side that XML can hold: control characters as spaces."""
    return escape(_NO_XML.sub(" ", side))


def _tmx(languages: tuple[str, str]) -> _Form:
    source, target = (quoteattr(code or "und") for code in languages)
    head = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n<header creationtool="mt" '
        'creationtoolversion="1" segtype="sentence" o-tmf="mt" adminlang="en" '
        f'srclang={source} datatype="plaintext"/>\n<body>\n'
    )

    def unit(first: str, second: str) -> str:
        sides = ((source, first), (target, second))
        variants = "".join(
            f"<tuv xml:lang={code}><seg>{_text(side)}</seg></tuv>" for code, side in sides
        )
        return f"<tu>{variants}</tu>"

    return _Form(begin=head, line=unit, end="</body>\n</tmx>\n")


def _tabs(first: str, second: str) -> str:
    return f"{on_one_line(first)}\t{on_one_line(second)}"


def _json(first: str, second: str) -> str:
    return json.dumps({"source": first, "target": second}, ensure_ascii=False)


def _form_of(path: Path, languages: tuple[str, str]) -> _Form | None:
    kind = kind_of_name(path)
    if kind is Kind.TSV:
        return _Form(begin="source\ttarget\n", line=_tabs)
    if kind is Kind.JSON:
        return _Form(begin="", line=_json)
    return _tmx(languages) if kind is Kind.TMX else None


def require_forms(paths: Sequence[Path]) -> None:
    """Raise ConfigError unless `paths` are a file of both sides, or two of plain text."""
    names = ", ".join(map(str, paths))
    kinds = [kind_of_name(path) for path in paths]
    if kinds == [Kind.TEXT] * 2 and paths[0] != paths[1]:
        return
    if len(paths) != 1 or _form_of(paths[0], ("", "")) is None:
        raise ConfigError(
            f"{names}: pairs are not written in this form",
            hint="Name one file .tsv, .jsonl or .tmx, or two of plain text, source first",
        )


def write_corpus(
    paths: Sequence[Path], pairs: Iterable[Pair], *, languages: tuple[str, str]
) -> int:
    """Write pairs into `paths` (`require_forms`); gives their number.

    The files appear when all is written, or not at all; a suffix as .gz packs. Tabs and line ends
    within a side become spaces in plain and tab-separated text, and in TMX what XML cannot hold.
    Raises OSError, naming the file, where it cannot be written.
    """
    form = _form_of(paths[0], languages)
    count = 0
    with ExitStack() as stack:
        files = [stack.enter_context(written_file(path)) for path in paths]
        packers = [packer(path) or bytes for path in paths]

        def put(*texts: str) -> None:
            for file, pack, text in zip(files, packers, texts, strict=True):
                file.write(pack(text.encode("utf-8", "replace")))

        if form is None:
            for block in _blocks(pairs):
                sides = [pair.source for pair in block], [pair.target for pair in block]
                put(*("".join(f"{on_one_line(text)}\n" for text in side) for side in sides))
                count += len(block)
            return count
        put(form.begin)
        for block in _blocks(pairs):
            put("".join(f"{form.line(pair.source, pair.target)}\n" for pair in block))
            count += len(block)
        put(form.end)
    return count


def _blocks(pairs: Iterable[Pair], size: int = 10_000) -> Iterator[list[Pair]]:
    remaining = iter(pairs)
    return iter(lambda: list(islice(remaining, size)), [])
