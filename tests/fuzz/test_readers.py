"""Whatever stands in a corpus, a reader gives pairs of clean text or raises an MtError."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.errors import MtError
from mt.files.lines import split_lines
from mt.formats import open_corpora
from mt.formats.options import ReadingOptions
from mt.formats.text import read_lines
from tests.fuzz.damage import Damage, damages, flips
from tests.fuzz.samples import FORMS, OTHER, PACKINGS, TEXT

pytestmark = pytest.mark.slow

OPTIONS = st.builds(
    ReadingOptions,
    languages=st.sampled_from([None, ("de", "en"), ("en", "de"), ("fr", "x-none")]),
    columns=st.sampled_from([None, None, None, ("source", "target"), ("1", "2"), ("9", "1")]),
    keep_invalid=st.booleans(),
)


def _read(*paths: Path, options: ReadingOptions) -> None:
    """Read all pairs, twice as training does: the content for its digest, too."""
    with suppress(MtError):
        corpora = open_corpora([str(path) for path in paths], options)
        for reader in corpora.readers:
            for block in reader.content() or ():
                assert isinstance(block, bytes)
            for pair in reader:
                for side in (pair.source, pair.target):
                    side.encode("utf-8")
                    assert "\n" not in side
                assert pair.line >= 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.mark.parametrize("name", FORMS)
@given(damage=damages(), options=OPTIONS)
def test_damaged_files_of_both_sides(
    folder: Path, name: str, damage: Damage, options: ReadingOptions
) -> None:
    path = folder / name
    path.write_bytes(damage(FORMS[name]))
    _read(path, options=options)


@given(one=damages(), other=damages(), options=OPTIONS)
def test_damaged_aligned_text(
    folder: Path, one: Damage, other: Damage, options: ReadingOptions
) -> None:
    source, target = folder / "a.de", folder / "a.en"
    source.write_bytes(one(TEXT))
    target.write_bytes(other(OTHER))
    _read(source, target, options=options)


@pytest.mark.parametrize("suffix", PACKINGS)
@given(damage=flips())
def test_a_damaged_compression_gives_all_of_the_text_or_is_refused(
    folder: Path, suffix: str, damage: Damage
) -> None:
    path = folder / f"packed{suffix}"
    text = TEXT * 3
    packed = PACKINGS[suffix](text)
    path.write_bytes(damage(packed))
    whole = [line.decode("utf-8") for line in split_lines([text])]
    with suppress(MtError):
        lines = [line for line in read_lines(path) if line is not None]
        assert lines == whole


@given(blocks=st.lists(st.binary(max_size=40) | st.sampled_from([b"\n", b"\r\n", b"\xef\xbb\xbf"])))
def test_lines_do_not_depend_on_blocks(blocks: list[bytes]) -> None:
    content = b"".join(blocks)
    lines = list(split_lines(blocks))
    assert lines == list(split_lines([content]))
    text = content.removeprefix(b"\xef\xbb\xbf")
    assert len(lines) == text.count(b"\n") + (text != b"" and not text.endswith(b"\n"))
