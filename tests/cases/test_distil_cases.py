"""`mt distil` as users run it, with the model of the toy language as the teacher."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from mt.config.presets import fast_preset_for, preset
from mt.errors import ConfigError
from mt.model_folder.folder import read_config
from mt.tasks.requests import TrainRequest
from mt.tasks.train import train
from tests.cases.model_files import records
from tests.cases.runs import Run, run_here
from tests.cases.toy import Files, as_lines, toy_pairs, write_files

MACHINE = ("--device", "cpu", "--precision", "float32", "--threads", "1")
SMALL = (
    *("--set", "model.d_model=16", "--set", "model.d_inner=16", "--set", "model.heads=2"),
    *("--set", "model.encoder_layers=2", "--set", "search.max_length=8"),
)
BRIEF = (*SMALL, *MACHINE, "--updates", "2")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return write_files(tmp_path_factory.mktemp("corpus"), "more", toy_pairs(60, seed="more"))


@pytest.fixture(scope="module")
def student(model: Path, corpus: Files, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A student after two updates; tests do not change it."""
    folder = tmp_path_factory.mktemp("distilled") / "student"
    run = run_here("distil", model, *corpus.arguments, "-o", folder, *BRIEF).check()
    (folder.parent / "stdout").write_bytes(run.out)
    (folder.parent / "stderr").write_text(run.err, "utf-8")
    return folder


@pytest.fixture
def own(student: Path, tmp_path: Path) -> Path:
    """A copy of the student and of its text."""
    for path in student.parent.iterdir():
        if path.is_dir():
            shutil.copytree(path, tmp_path / path.name)
        else:
            shutil.copy(path, tmp_path / path.name)
    return tmp_path / "student"


def again(model: Path, corpus: Files, folder: Path, *options: str | Path) -> Run:
    return run_here("distil", model, *corpus.arguments, "-o", folder, *BRIEF, *options)


def test_the_student_learns_from_what_the_teacher_translates(
    model: Path, corpus: Files, student: Path
) -> None:
    text = student.with_name("student.distilled.jsonl")
    pairs = [json.loads(line) for line in as_lines(text.read_bytes())]
    translated = run_here("translate", "-m", model, corpus.source, *MACHINE[:2]).lines
    of_teacher = dict(zip(as_lines(corpus.source.read_bytes()), translated, strict=True))
    assert len(pairs) > 50
    assert all(of_teacher[pair["source"]] == pair["target"] for pair in pairs)
    prepared = json.loads((student / "training" / "corpus.json").read_text("utf-8"))
    (origin,) = prepared["corpus"]["origins"]
    assert (origin["name"], origin["num_read"]) == (str(text), len(pairs))


def test_the_student_has_the_form_of_fast_and_the_tokenizer_of_its_teacher(
    model: Path, student: Path
) -> None:
    config = read_config(student)
    assert (config.preset, config.model.decoder_layers) == ("fast-tiny", 1)
    assert config.distilled_from == model.name
    assert config.fine_tuned_from == ""
    assert (student / "tokenizer.model").read_bytes() == (model / "tokenizer.model").read_bytes()
    assert f"| distilled from | {model.name} |" in (student / "README.md").read_text("utf-8")


def test_the_validation_set_is_that_of_the_teacher_with_its_references(
    model: Path, student: Path
) -> None:
    for name in ("dev.source", "dev.target"):
        assert (student / name).read_bytes() == (model / name).read_bytes()


def test_quality_and_speed_of_both_are_told(model: Path, student: Path) -> None:
    lines = as_lines((student.parent / "stdout").read_bytes())
    names = ["teacher, beam 5", "student, beam 5", "teacher, greedy", "student, greedy"]
    assert [line[:18].rstrip() for line in lines[1:5]] == names
    assert lines[0].split() == ["BLEU", "chrF2", "lines/s"]
    out = run_here("eval", "-m", model, student / "dev.source", student / "dev.target").lines
    assert out[0].split()[1] == lines[1].split()[3]
    assert out[1].split()[1] == lines[1].split()[4]
    assert lines[5] == "on 20 validation pairs, median of 3 rounds in turns"


def test_the_same_command_goes_on_and_finds_nothing_to_do(
    model: Path, corpus: Files, own: Path
) -> None:
    before = (own / "model.safetensors").read_bytes()
    # The copy of the text is as finished as the first one was.
    run = again(model, corpus, own, "--json").check()
    assert "is finished already" in run.err
    assert "nothing left to do: 2 updates are done" in run.err
    assert (own / "model.safetensors").read_bytes() == before
    record = json.loads(run.lines[0])
    assert [(each["system"], each["beam"]) for each in record["measured"]] == [
        *(("teacher", 5), ("student", 5), ("teacher", 1), ("student", 1)),
    ]
    assert record["lines"]["read"] == 60


def test_a_longer_budget_goes_on_here_and_by_mt_train(
    model: Path, corpus: Files, own: Path
) -> None:
    again(model, corpus, own, "--updates", "4").check()
    run_here("train", "--resume", own, "--updates", "5").check()
    assert records(own, "TrainingEnded")[-1]["update"] == 5


def test_text_that_is_finished_is_trained_on_without_the_teacher_at_work(
    model: Path, corpus: Files, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mt.tasks import synthetic_text

    shutil.rmtree(own)
    monkeypatch.delattr(synthetic_text, "Translating")
    again(model, corpus, own).check()
    assert read_config(own).preset == "fast-tiny"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--preset", "fast"), "holds a run with preset = fast-tiny, and not fast"),
        (("--set", "model.encoder_layers=3"), "with model.encoder_layers = 2, and not 3"),
        (("--seed", "5"), "with training.seed = 1, and not 5"),
        (("--dev", "SOURCE", "--dev", "TARGET"), "with another validation set"),
        (("--beam", "2"), "student.distilled.jsonl exists already, of another request"),
    ],
)
def test_what_contradicts_the_run_that_is_there_is_refused(
    options: tuple[str, ...], named: str, model: Path, corpus: Files, own: Path
) -> None:
    names = {"SOURCE": str(corpus.source), "TARGET": str(corpus.target)}
    run = again(model, corpus, own, *(names.get(each, each) for each in options))
    assert named in run.check_refusal(status=2)


def test_a_new_tokenizer_is_trained_where_one_is_asked_for(
    model: Path, corpus: Files, tmp_path: Path
) -> None:
    folder = tmp_path / "student"
    options = ("--vocab-size", "300", "--beam", "1", "--text", tmp_path / "text.tsv")
    again(model, corpus, folder, *options).check()
    assert (folder / "tokenizer.model").read_bytes() != (model / "tokenizer.model").read_bytes()
    assert read_config(folder).tokenizer.vocab_size == 300
    assert (tmp_path / "text.tsv").read_text("utf-8").startswith("source\ttarget\tscore\tflags\n")


def test_an_ensemble_teaches_from_text_of_one_language_alone(
    model: Path, own_model: Path, corpus: Files, tmp_path: Path
) -> None:
    folder = tmp_path / "student"
    options = ("--and", own_model, "--mono", corpus.source, "--beam", "1", "-o", folder, *BRIEF)
    run_here("distil", model, *options).check()
    assert read_config(folder).distilled_from == f"{model.name} + {own_model.name}"


@pytest.mark.parametrize(
    ("arguments", "named", "status"),
    [
        (("MODEL", "-o", "student"), "there is nothing to translate", 2),
        (("nowhere", "SOURCE", "TARGET", "-o", "student"), "nowhere is not a model folder", 1),
        (("MODEL", "SOURCE", "-o", "student"), "has no partner", 2),
        (
            ("MODEL", "SOURCE", "TARGET", "-o", "student", "--langs", "tgt-src"),
            "translates src-",
            2,
        ),
        (("MODEL", "SOURCE", "TARGET", "-o", "own-model/training"), "exists already and is not", 2),
        (("MODEL", "SOURCE", "TARGET", "-o", "."), "gives the student no name", 2),
        (("MODEL", "--mono", "missing", "-o", "student"), "missing cannot be read", 1),
        (("BARE", "SOURCE", "TARGET", "-o", "student"), "holds no validation set", 2),
    ],
)
def test_faults_are_named_before_anything_is_made(
    arguments: tuple[str, ...],
    named: str,
    status: int,
    model: Path,
    own_model: Path,
    corpus: Files,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("dev.source", "dev.target"):
        (own_model / name).unlink()
    names = {
        "MODEL": str(model),
        "BARE": str(own_model),
        "SOURCE": str(corpus.source),
        "TARGET": str(corpus.target),
    }
    before = sorted(tmp_path.iterdir())
    run = run_here("distil", *(names.get(each, each) for each in arguments))
    assert named in run.check_refusal(status=status)
    assert sorted(tmp_path.iterdir()) == before


def test_a_tokenizer_that_is_taken_over_leaves_none_to_choose(
    model: Path, corpus: Files, tmp_path: Path
) -> None:
    common = TrainRequest(corpus=corpus.arguments, output=tmp_path / "m", tokenizer_of=model)
    for asked in (
        dataclasses.replace(common, vocab_size=300),
        dataclasses.replace(common, start=model),
        dataclasses.replace(common, settings={"tokenizer": {"joint": False}}),
    ):
        with pytest.raises(ConfigError, match="is taken over, so none can be asked for"):
            train(asked)
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("width", "name"),
    [(16, "fast-tiny"), (128, "fast-tiny"), (255, "fast-tiny"), (256, "fast"), (512, "fast-base")],
)
def test_the_form_of_the_student_follows_from_the_width_of_its_teacher(
    width: int, name: str
) -> None:
    assert fast_preset_for(width) == name
    assert preset(name).model.decoder_layers == 1
    assert preset(name).model.d_model <= max(width, 128)
