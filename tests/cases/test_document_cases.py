"""`mt translate` of documents: which files are, where they go, what is refused and reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mt.formats import documents
from mt.formats.kind import Kind
from tests.cases.conftest import Trained
from tests.cases.runs import Run, run_here
from tests.cases.toy import sentence, target_of
from tests.documents.line_document import LineDocument

MACHINE = ("--device", "cpu", "--precision", "float32", "--threads", "1")
FIRST, SECOND = sentence(0, 1, 2), sentence(3, 4, 5)


@pytest.fixture(autouse=True)
def line_format(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files named `.ttx` are documents of the format for tests."""
    monkeypatch.setitem(documents._READERS, Kind.TTX, LineDocument)


def document(folder: Path, *rows: str, name: str = "a.ttx") -> Path:
    path = folder / name
    path.write_text("".join(f"{row}\n" for row in rows), "utf-8")
    return path


def translate(trained: Trained, *arguments: str | Path) -> Run:
    return run_here("translate", "-m", trained.folder, *MACHINE, *arguments)


def test_a_document_is_filled_where_it_is_empty(trained: Trained, tmp_path: Path) -> None:
    path = document(tmp_path, "# none", f"{FIRST}\t\t", f"{SECOND}\tkept\t", f"{SECOND}\told\t?")
    before = path.read_bytes()
    output = tmp_path / "out.ttx"
    run = translate(trained, path, "-o", output).check()
    assert run.out == b""
    expected = [
        "# none",
        f"{FIRST}\t{target_of(FIRST)}\t?",
        f"{SECOND}\tkept\t",
        f"{SECOND}\told\t?",
    ]
    assert output.read_text("utf-8").splitlines() == expected
    assert path.read_bytes() == before
    assert "in no unit: comments 1" in run.err
    header, numbers = (line.split() for line in run.err.splitlines()[-3:-1])
    report = dict(zip(header, numbers, strict=True))
    assert (report["units"], report["filled"], report["kept"]) == ("3", "1", "2")


def test_overwrite_and_no_mark(trained: Trained, tmp_path: Path) -> None:
    path = document(tmp_path, f"{FIRST}\tkept\t", f"{SECOND}\told\t?")
    output = tmp_path / "out.ttx"
    translate(trained, path, "-o", output, "--overwrite", "--no-mark").check()
    assert output.read_text("utf-8").splitlines() == [
        f"{each}\t{target_of(each)}\t" for each in (FIRST, SECOND)
    ]


def test_several_documents_go_into_a_folder(trained: Trained, tmp_path: Path) -> None:
    paths = [
        document(tmp_path, f"{each}\t\t", name=f"{i}.ttx") for i, each in enumerate((FIRST, SECOND))
    ]
    folder = tmp_path / "out"
    run = translate(trained, *paths, "-o", folder, "--json").check()
    records = [json.loads(line) for line in run.lines]
    assert [record["output"] for record in records] == [str(folder / path.name) for path in paths]
    assert [record["filled"] for record in records] == [1, 1]
    assert (folder / "1.ttx").read_text("utf-8") == f"{SECOND}\t{target_of(SECOND)}\t?\n"


def test_codes_and_placeholders_come_through_the_model(trained: Trained, tmp_path: Path) -> None:
    words = FIRST.split()
    source = f"⟨b⟩{words[0]}⟨/b⟩ {words[1]} %s {words[2]} ."
    path = document(tmp_path, f"{source}\t\t")
    output = tmp_path / "out.ttx"
    translate(trained, path, "-o", output).check()
    target = output.read_text("utf-8").split("\t")[1]
    assert f"⟨b⟩{target_of(words[0])}⟨/b⟩" in target
    assert target.count("%s") == 1


def test_a_document_that_would_be_damaged_is_not_written(
    trained: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LineDocument, "damages", "x")
    path = document(tmp_path, f"{FIRST}\t\t")
    output = tmp_path / "out.ttx"
    output.write_text("old", "utf-8")
    message = translate(trained, path, "-o", output).check_refusal()
    assert "unit line 1 is not read as it was written" in message
    assert output.read_text("utf-8") == "old"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.ttx", "out.ttx"]


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (("a.ttx",), 2, "-o says into which file"),
        (("a.ttx", "-o", "-"), 2, "-o says into which file"),
        (("a.ttx", "-o", "a.ttx.gz"), 2, "would not be packed"),
        (("a.ttx", "-o", "a.ttx"), 2, "is the document itself"),
        (("a.ttx", "-o", "."), 2, "is the document itself"),
        (("a.ttx", "b/a.ttx", "-o", "out"), 2, "two documents would be written to"),
        (("a.ttx", "b/a.ttx", "-o", "plain.txt"), 2, "several documents need a folder"),
        (("a.ttx", "plain.txt", "-o", "out"), 1, "plain.txt is plain text, which is not"),
        (("a.ttx", "-o", "none/out.ttx"), 1, "cannot be written"),
        (("broken.ttx", "-o", "out.ttx"), 1, "broken.ttx is broken"),
        (("plain.txt", "--format", "nonsense", "-o", "out"), 2, "'nonsense' is none of text"),
        (("plain.txt", "--overwrite"), 2, "are for documents"),
        (("a.ttx", "-o", "out.ttx", "--n-best", "2"), 2, "has one translation"),
        (("a.ttx", "-o", "out.ttx", "--sample", "2"), 2, "has one translation"),
        (("a.ttx", "-o", "out.ttx", "--json", "--alignment"), 2, "are for lines of text"),
        (("a.ttx", "-o", "out.ttx", "--prefix", "plain.txt"), 2, "are for lines of text"),
    ],
)
def test_refusals(
    trained: Trained,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    status: int,
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b").mkdir()
    for name in ("a.ttx", "b/a.ttx", "broken.ttx"):
        document(tmp_path, "broken" if name == "broken.ttx" else f"{FIRST}\t\t", name=name)
    (tmp_path / "plain.txt").write_text(f"{FIRST}\n", "utf-8")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert says in translate(trained, *arguments).check_refusal(status=status)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_a_format_can_be_named_and_text_stays_text(trained: Trained, tmp_path: Path) -> None:
    path = document(tmp_path, f"{FIRST}\t\t", name="plain.txt")
    output = tmp_path / "out"
    translate(trained, path, "--format", "ttx", "-o", output).check()
    assert output.read_text("utf-8") == f"{FIRST}\t{target_of(FIRST)}\t?\n"
    path.write_text(f"{FIRST}\n\n{SECOND}\n", "utf-8")
    assert translate(trained, path).check().lines == [target_of(FIRST), "", target_of(SECOND)]


def test_paragraphs_are_units_however_their_lines_are_broken(
    trained: Trained, tmp_path: Path
) -> None:
    path, output = tmp_path / "letter.txt", tmp_path / "out.txt"
    words = FIRST.split()
    path.write_text(f"{' '.join(words[:2])}\n{' '.join(words[2:])}\n\n\n{SECOND}\n", "utf-8")
    translate(trained, path, "--paragraphs", "-o", output).check()
    first, second = output.read_text("utf-8").split("\n\n\n")
    assert (" ".join(first.split()), second) == (target_of(FIRST), f"{target_of(SECOND)}\n")
    said = translate(trained, path, "--paragraphs", "--format", "po", "-o", output)
    assert "two things" in said.check_refusal(status=2)
    assert ": -o says into which file" in translate(trained, path, "--paragraphs").check_refusal(
        status=2
    )
