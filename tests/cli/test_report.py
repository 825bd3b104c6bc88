"""`mt report` and `mt eval --html`: one page of what a folder and a test set tell; refusals."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

from mt.corpus.keys import key_of
from mt.events import BatchDone, CorpusRead, OriginRead, RunDescribed, Validated
from mt.model_folder.seen_lines import SeenLines
from mt.preparation.reuse import Prepared
from mt.tasks.metrics_file import MetricsFile
from tests.cases.runs import Run, run_here
from tests.cases.toy import as_bytes
from tests.reporting.models import SOURCE, write_model

SOURCES = [SOURCE, "haus", "日本", "haus <b>"]
REFERENCES = ["the house <i>", "house", "שלום", "the house"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder with a validation set, a course of training and a corpus."""
    folder = write_model(tmp_path_factory.mktemp("report") / "small")
    (folder / "dev.source").write_bytes(as_bytes(SOURCES[:2]))
    (folder / "dev.target").write_bytes(as_bytes(REFERENCES[:2]))
    (folder / "README.md").write_text("The <card>.\n", "utf-8")
    metrics = MetricsFile(folder / "metrics.jsonl")
    metrics(
        RunDescribed(
            command="mt train <a>",
            processor="A & B",
            num_cores=2,
            memory=None,
            gpus=(),
            num_threads=2,
            num_processes=1,
            software=("mt 0.1.0",),
        )
    )
    metrics(
        BatchDone(
            update=20,
            epoch=0.5,
            loss=3.25,
            rate=1e-3,
            gradient_norm=1.0,
            num_target_tokens=100,
            seconds=60.0,
        )
    )
    metrics(
        Validated(
            update=40,
            epoch=1.0,
            scores={"loss": 2.75, "BLEU": 12.5},
            signatures={"BLEU": "nrefs:1"},
            is_best=True,
            seconds=120.0,
            validation_seconds=1.0,
        )
    )
    origin = OriginRead(name="a.tsv", num_read=90, num_held_out=2, dropped={"repeated": 7})
    training = folder / "training"
    training.mkdir()
    Prepared(key="", corpus=CorpusRead(origins=(origin,)), dev=()).save(training)
    return folder


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    texts = {
        "source": SOURCES,
        "ref": REFERENCES,
        "other": ["a house", "house", "", "the house"],
        "short": ["one"],
    }
    for name, lines in texts.items():
        (tmp_path / name).write_bytes(as_bytes(lines))
    return {name: tmp_path / name for name in texts}


def parts(page: Path) -> list[str]:
    """What the page links to."""
    nav = page.read_text("utf-8").partition("<nav")[2].partition("</nav>")[0]
    return re.findall(r'href="#([^"]+)"', nav)


def report(*arguments: str | Path) -> Run:
    return run_here("report", *arguments, "--device", "cpu", "--resamples", "100")


def test_a_test_set_gives_every_part(model: Path, files: dict[str, Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    run = report(model, files["source"], files["ref"], "-o", page).check()
    assert run.out == b""
    assert run.err.endswith(f"the report is in {page}\n")
    assert parts(page) == [
        *("scores", "lengths", "sentences", "attention", "training", "model", "commands"),
    ]
    text = page.read_text("utf-8")
    assert "<title>Report on small</title>" in text
    assert "90 pairs were read, 81 used." in text
    assert "languages</dt><dd>source → target" in text
    assert "weights of</dt><dd>update 40, epoch 1.0, after 2.0 minutes" in text
    assert "The &lt;card&gt;." in text
    assert f"mt report {model} {files['source']}" in text
    assert "mt train &lt;a&gt;" in text
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_scores_are_those_of_mt_eval(model: Path, files: dict[str, Path], tmp_path: Path) -> None:
    one, two = tmp_path / "one.html", tmp_path / "two.html"
    report(model, files["source"], files["ref"], "-o", one).check()
    run = run_here(
        *("eval", "-m", model, files["source"], files["ref"], "--device", "cpu", "--json"),
        *("--resamples", "100", "--html", two),
    ).check()
    record = json.loads(run.out)
    shown = [
        re.findall(r"<strong>([^<]*)</strong>", page.read_text("utf-8")) for page in (one, two)
    ]
    assert shown[0] == shown[1] == [f"{score['score']:.2f}" for score in record["scores"]]
    assert "half_width" in record["scores"][0], "a page has intervals, and so has what is printed"
    assert all(score["signature"].split("|")[0] in one.read_text() for score in record["scores"])
    assert parts(one) == parts(two)


def test_without_a_test_set_the_validation_set_is_scored(model: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    report(model, "-o", page).check()
    text = page.read_text("utf-8")
    assert "This is the set by which the weights of the model were chosen" in text
    assert f"{model.name}/<wbr>dev.source" in text
    assert "attention" in parts(page)


def test_nothing_is_scored_where_there_is_nothing(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "bare")
    page = tmp_path / "page.html"
    run = report(folder, "-o", page).check()
    assert "holds no validation set" in run.err
    text = page.read_text("utf-8")
    assert parts(page) == ["scores", "model", "commands"]
    assert "holds no validation set" in text
    assert "The course of training is not known" in text
    assert "What became of the training text is not known" in text
    assert "The model card cannot be read" in text


def test_training_alone_translates_nothing(model: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    report(model, "--training-only", "-o", page).check()
    assert parts(page) == ["scores", "training", "model", "commands"]
    assert "--training-only was given" in page.read_text("utf-8")
    assert "12.50" in page.read_text("utf-8")


def test_files_of_systems_need_no_model(files: dict[str, Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    arguments = ("--hyp", files["other"], "--hyp", files["ref"], "--paired", "bs")
    run = run_here("eval", *arguments, files["ref"], "--resamples", "100", "--html", page).check()
    assert run.lines[0].startswith("BLEU  nrefs:1|bs:100|")
    text = page.read_text("utf-8")
    assert parts(page) == ["scores", "lengths", "sentences", "commands"]
    assert "<title>Scores of 2 systems</title>" in text
    assert "p = " in text
    assert "Where B is better than A" in text
    assert "p is how often chance alone" in text
    assert "1 of 4 hypotheses" in text
    digest = hashlib.blake2b(files["other"].read_bytes(), digest_size=16).hexdigest()
    assert f"BLAKE2b {digest}" in text


def test_a_page_changes_no_score_that_is_printed(files: dict[str, Path], tmp_path: Path) -> None:
    plain = run_here("eval", "--hyp", files["other"], files["ref"], "--confidence").check()
    page = run_here(
        "eval", "--hyp", files["other"], files["ref"], "--html", tmp_path / "page.html"
    ).check()
    assert page.lines == plain.lines


def test_an_ensemble_tells_of_each_model(
    model: Path, files: dict[str, Path], tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    other = write_model(tmp_path / "second")
    run_here(
        *("eval", "-m", model, "-m", other, files["source"], files["ref"], "--device", "cpu"),
        *("--resamples", "100", "--no-trivial", "--html", page),
    ).check()
    assert {"training-1", "model-1", "model-2"} <= set(parts(page))
    assert "<title>Report on small + second</title>" in page.read_text("utf-8")


def test_a_page_replaces_an_older_one(model: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("old", "utf-8")
    report(model, "--training-only", "-o", page).check()
    assert page.read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("{tmp}/nowhere",), 1, "no such folder"),
        (("{tmp}",), 1, "is not a model folder"),
        (("{model}", "{tmp}/source"), 2, "Missing argument 'REFERENCE...'"),
        (("{model}", "{tmp}/source", "{tmp}/short"), 1, "unequal lengths"),
        (("{model}", "{tmp}/nothing", "{tmp}/ref"), 1, "nothing"),
        (("{model}", "--training-only", "{tmp}/source", "{tmp}/ref"), 2, "scores nothing"),
        (("{model}", "--tokenized", "--tokenize", "13a"), 2, "--tokenized splits nothing"),
        (("{model}", "-o", "{tmp}"), 2, "is a directory"),
        (("{model}", "-o", "{tmp}/ref/page.html"), 1, "ref/page.html cannot be written"),
        (("{model}", "--metrics", "bleu,nist"), 2, "'nist' is not one of"),
    ],
)
def test_what_cannot_be_reported_is_refused(
    arguments: tuple[str, ...],
    status: int,
    message: str,
    model: Path,
    files: dict[str, Path],
    tmp_path: Path,
) -> None:
    before = set(tmp_path.iterdir())
    given = [
        part.replace("{tmp}", str(tmp_path)).replace("{model}", str(model)) for part in arguments
    ]
    if "-o" not in given:
        given += ["-o", str(tmp_path / "page.html")]
    run = report(*given).check(status)
    assert message in run.err
    assert set(tmp_path.iterdir()) == before


def test_a_damaged_course_of_training_is_said_on_the_page(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "small")
    (folder / "metrics.jsonl").write_text("nonsense\n", "utf-8")
    page = tmp_path / "page.html"
    report(folder, "--training-only", "-o", page).check()
    assert "metrics.jsonl:1 is not a record of training: nonsense" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("seen", "told"), [(["other"], "none of the 4 lines"), (SOURCES, "4 of 4")]
)
def test_whether_lines_were_trained_on_is_told(
    seen: list[str], told: str, files: dict[str, Path], tmp_path: Path
) -> None:
    folder = write_model(tmp_path / "small")
    keys = np.array([key_of(text) for text in seen], dtype=np.uint64)
    SeenLines.of(keys, keys).save(folder / "seen-lines.safetensors")
    page = tmp_path / "page.html"
    report(folder, files["source"], files["ref"], "-o", page).check()
    assert told in page.read_text("utf-8")


def test_names_of_files_need_not_be_utf8(files: dict[str, Path], tmp_path: Path) -> None:
    odd = files["ref"].rename(tmp_path / "ref\udcff")
    page = tmp_path / "page.html"
    run_here("eval", "--hyp", files["other"], odd, "--resamples", "100", "--html", page).check()
    assert "ref\\udcff" in page.read_text("utf-8")


def test_symbols_are_compared_as_they_are(tmp_path: Path) -> None:
    hypothesis, reference, page = (tmp_path / name for name in ("hyp", "ref", "page.html"))
    hypothesis.write_bytes(as_bytes(["view-a cart.1 buy", "view-a"]))
    reference.write_bytes(as_bytes(["view-a cart.2 buy", "view-a"]))
    arguments = ("eval", "--symbols", "--hyp", hypothesis, reference, "--resamples", "100")
    run_here(*arguments, "--html", page).check()
    text = page.read_text("utf-8")
    assert "view-a <del>cart.1</del> buy" in text
    assert "view-a <ins>cart.2</ins> buy" in text
    assert '<h3>SER <span class="quiet small">less is better' in text
    assert "symbols, as they are" in text
