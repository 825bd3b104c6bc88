"""F01 to F03: a file is read as what it is, or refused in one line; no markup is translated."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from mt.formats.compressed import read_blocks
from tests.cases.runs import run_here, run_process
from tests.cases.toy import Toy

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": zstandard.ZstdCompressor().compress,
}


def docx() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", "<w:document/>")
    return file.getvalue()


DOCUMENTS = [
    ("m.xlf", b'<?xml version="1.0"?>\n<xliff version="1.2"><file/></xliff>\n', "XLIFF"),
    ("m.txt", b'<?xml version="1.0"?>\n<xliff version="1.2"><file/></xliff>\n', "XLIFF"),
    ("de.po", b'msgid ""\nmsgstr "Language: de\\n"\n\nmsgid "one"\nmsgstr ""\n', "PO"),
    ("de.txt", b'# x\nmsgid "one"\nmsgstr ""\n', "PO"),
    ("film.srt", b"1\n00:00:01,000 --> 00:00:02,500\nkilo\n", "SubRip"),
    ("film.src", "1\n00:00:01,000 --> 00:00:02,500\nkilo\n".encode("utf-16"), "SubRip"),
    ("film.vtt", b"WEBVTT\n\n00:01.000 --> 00:02.000\nkilo\n", "WebVTT"),
    ("set.sgm", b'<srcset setid="x">\n<doc docid=1>\n<seg id=1>kilo</seg>', "SGML"),
    ("a.json", b'{\n "a": "kilo"\n}\n', "JSON"),
    ("a.docx", docx(), "Word"),
    ("a.bin", docx(), "Word"),
    ("app.ts", b'<!DOCTYPE TS>\n<TS version="2.1"></TS>', "Qt"),
    ("a.ttx", b'<?xml version="1.0"?><TRADOStag>', "TTX"),
    ("a.txml", b'<?xml version="1.0"?><txml version="1.0">', "TXML"),
    ("m.html", b"kilo", "HTML"),
    ("m.md", b"# kilo\n", "Markdown"),
    ("m.tsv", b"kilo\tadun\n", "tab-separated"),
]
NOT_TRANSLATED = ("SGML", "TTX", "TXML")
"""Others are translated as documents, where -o says into which file."""


@pytest.mark.parametrize(("name", "content", "kind"), DOCUMENTS)
def test_translate_refuses_a_document_unless_it_is_to_be_text(
    name: str, content: bytes, kind: str, model: Path, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    run = run_here("translate", "-m", model, path)
    message = run.check_refusal(status=1 if kind in NOT_TRANSLATED else 2)
    assert f"{path} is " in message
    assert kind in message
    assert "--format text" in message
    assert (": -o says into which file" in message) == (kind not in NOT_TRANSLATED)
    if b"PK" not in content:
        run = run_here("translate", "-m", model, "--format", "text", path)
        text = content.decode("utf-16" if content[:2] == b"\xff\xfe" else "utf-8")
        assert len(run.lines) == len(text.rstrip("\n").split("\n"))


@pytest.mark.parametrize(("name", "content", "kind"), DOCUMENTS[:10])
def test_score_and_eval_refuse_what_is_no_plain_text(
    name: str, content: bytes, kind: str, model: Path, toy: Toy, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    for command in (
        ("score", "-m", model, path, toy.test.target),
        ("score", "-m", model, toy.test.source, path),
        ("eval", "-m", model, path, toy.test.target),
        ("eval", "--hyp", path, toy.test.target),
    ):
        message = run_here(*command).check_refusal()
        assert f"{path} is " in message
        assert kind in message
    # A file of both sides may be a test set, but these have no pair.
    assert str(path) in run_here("eval", "--hyp", toy.test.target, path).check_refusal()


@pytest.mark.parametrize(
    ("content", "kind"), [(each[1], each[2]) for each in DOCUMENTS[:12] if each[0] != "a.bin"]
)
def test_standard_input_that_is_a_document_is_refused(
    content: bytes, kind: str, model: Path
) -> None:
    message = run_here("translate", "-m", model, stdin=content).check_refusal()
    assert "standard input is " in message
    assert kind in message


@pytest.mark.parametrize(
    "text",
    ["<b>kilo</b>\nlema\n", "{kilo} lema\n{nora}\n", "# kilo\n1\n", "<3 kilo\n", '{"a": 1}\n'],
)
def test_plain_text_may_begin_like_markup(text: str, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text, "utf-8")
    run = run_here("translate", "-m", model, path).check()
    assert len(run.lines) == text.count("\n")
    assert run_here("translate", "-m", model, stdin=text.encode()).check().out == run.out


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "utf-32"])
@pytest.mark.parametrize("packing", ["", *PACKERS])
def test_marks_and_packings_are_read_everywhere(
    encoding: str, packing: str, model: Path, toy: Toy, tmp_path: Path
) -> None:
    """F08: from a file, from standard input, and from standard input by its name."""
    lines = toy.test.source.read_text("utf-8").split("\n")[:3]
    expected = run_here("translate", "-m", model, stdin="\n".join(lines).encode()).check()
    data = "\n".join(lines).encode(encoding)
    data = PACKERS[packing](data) if packing else data
    path = tmp_path / "source"
    path.write_bytes(data)
    for run in (
        run_here("translate", "-m", model, path),
        run_here("translate", "-m", model, stdin=data),
        run_here("translate", "-m", model, "-", stdin=data),
    ):
        assert run.check().out == expected.out
        assert "warning" not in run.err
    target = tmp_path / "target"
    target.write_bytes(expected.out)
    scored = run_here("score", "-m", model, path, target).check().out
    assert run_here("score", "-m", model, "-", target, stdin=data).check().out == scored
    translated = run_here("eval", "-m", model, "-", target, stdin=data).check().out
    assert b"BLEU 100.00" in translated


@pytest.mark.parametrize("packing", PACKERS)
def test_a_packed_input_that_is_cut_is_an_error(packing: str, model: Path) -> None:
    data = PACKERS[packing](b"kilo lema\n" * 100)[:-6]
    run = run_here("translate", "-m", model, stdin=data)
    assert "standard input is damaged or cut short" in run.err
    assert run.status == 1


def test_a_mark_that_comes_in_pieces_through_a_pipe_is_read(model: Path) -> None:
    data = gzip.compress("kilo lema\n".encode("utf-16"))
    whole = run_process("translate", "-m", model, stdin=data).check()
    assert len(whole.lines) == 1


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("count", [0, 1, 300])
def test_an_output_is_packed_by_its_name(
    packing: str, count: int, model: Path, toy: Toy, tmp_path: Path
) -> None:
    lines = toy.test.source.read_bytes().splitlines(keepends=True)
    source = b"".join((lines * 20)[:count])
    expected = run_here("translate", "-m", model, stdin=source).check().out
    out = tmp_path / f"out.{packing}"
    run_here("translate", "-m", model, "-o", out, stdin=source).check()
    assert b"".join(read_blocks(out)) == expected
    assert count == 0 or out.read_bytes() != expected
    if packing == "gz":
        assert gzip.decompress(out.read_bytes()) == expected


def test_standard_output_has_a_name_as_well(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = run_here("translate", "-m", model, "-o", "-", stdin=b"kilo\n").check()
    assert len(run.lines) == 1
    assert not list(tmp_path.iterdir())


def test_standard_input_is_read_for_one_file_only(model: Path, toy: Toy) -> None:
    for command in (
        ("eval", "-m", model, "-", "-"),
        ("eval", "--hyp", "-", "-"),
        ("translate", "-m", model, "-", "-"),
        ("check", "-", toy.dev.target, "--against", "-"),
    ):
        run = run_here(*command, stdin=b"kilo\n").check(2)
        assert "standard input (-) can stand for one file only" in run.err
    run = run_here("translate", "-m", model, "--prefix", "-", stdin=b"kilo\n").check(2)
    assert "both" in run.err


def test_a_corpus_comes_from_standard_input(toy: Toy) -> None:
    source, target = (path.read_bytes() for path in (toy.dev.source, toy.dev.target))
    expected = run_here("check", *toy.dev.arguments, "--json").check().out
    found = run_here("check", "-", toy.dev.target, "--json", stdin=gzip.compress(source)).check()
    name = str(toy.dev.source).encode()
    assert found.out == expected.replace(name, b"standard input")
    rows = b"".join(
        b'{"source": "%s", "target": "%s"}\n' % pair
        for pair in zip(source.splitlines(), target.splitlines(), strict=True)
    )
    found = run_here("check", "-", "--json", stdin=rows).check()
    assert json.loads(found.out)["pairs"] == json.loads(expected)["pairs"]
