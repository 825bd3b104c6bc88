"""`mt train` as a process: signals, resume, determinism, one decoding path."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from mt.model.encoder_decoder import EncoderDecoder
from mt.training import gradients
from tests.cases.runs import start_mt
from tests.cli.starter import STARTER, status_of

SMALL = [
    "--set",
    "model.d_model=16",
    "--set",
    "model.d_inner=32",
    "--set",
    "model.encoder_layers=1",
    "--set",
    "model.decoder_layers=1",
    "--set",
    "model.heads=2",
    "--set",
    "search.max_length=8",
    "--threads",
    "1",
]


@pytest.fixture
def corpus(tmp_path: Path) -> list[str]:
    paths = []
    for language in ("de", "en"):
        lines = (STARTER / f"train.{language}").read_text("utf-8").split("\n")[:400]
        path = tmp_path / f"train.{language}"
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        paths.append(str(path))
    return paths


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_a_resume_goes_on_as_if_nothing_had_happened(
    number: signal.Signals, corpus: list[str], tmp_path: Path
) -> None:
    plan = [*SMALL, "--set", "training.validate_every=40", "--precision", "float32"]
    metrics = tmp_path / "a" / "metrics.jsonl"
    with start_mt(
        "train", *corpus, "-o", str(tmp_path / "a"), *plan, stderr=subprocess.PIPE
    ) as process:
        while not metrics.exists() or '"update": 40' not in metrics.read_text("utf-8"):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    talk = err.decode()
    assert process.returncode == 128 + number
    assert "interrupted and saved; go on with: mt train --resume" in talk
    assert "Traceback" not in talk
    (stopped,) = (tmp_path / "a" / "training").glob("checkpoint-*")
    update = int(stopped.name.rpartition("-")[2])
    end = str(update + 30)
    same = ["--precision", "float32", "--threads", "1"]
    assert status_of("train", "--resume", str(tmp_path / "a"), "--updates", end, *same) == 0
    assert status_of("train", *corpus, "-o", str(tmp_path / "b"), *plan, "--updates", end) == 0
    assert weights(tmp_path / "a") == weights(tmp_path / "b")


def test_the_same_seed_gives_the_same_folder_in_the_default_precision(
    corpus: list[str], tmp_path: Path
) -> None:
    for name in ("a", "b"):
        assert (
            status_of("train", *corpus, "-o", str(tmp_path / name), *SMALL, "--updates", "9") == 0
        )
    assert weights(tmp_path / "a") == weights(tmp_path / "b")
    for name in ("tokenizer.model", "config.toml", "dev.source", "dev.target"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_training_prints_the_score_that_translate_and_eval_give(
    corpus: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "m"
    plan = ["--updates", "60", "--set", "training.validate_every=30", "--set", "model.dropout=0.0"]
    assert status_of("train", *corpus, "-o", str(folder), *SMALL[:-4], *plan) == 0
    talk = capfd.readouterr().err
    best = re.findall(r"BLEU ([\d.]+) · chrF2 ([\d.]+) · best", talk)[-1]
    source, target = str(folder / "dev.source"), str(folder / "dev.target")
    out = tmp_path / "out"
    assert status_of("translate", "-m", str(folder), source, "-o", str(out)) == 0
    assert status_of("eval", "--hyp", str(out), target) == 0
    scored = capfd.readouterr().out
    assert status_of("eval", "-m", str(folder), source, target, "--json") == 0
    at_once = json.loads(capfd.readouterr().out)["scores"]
    assert scored.startswith(f"BLEU {best[0]} ")
    assert f"chrF2 {best[1]} " in scored
    lines = (folder / "metrics.jsonl").read_text("utf-8").split("\n")
    records = [json.loads(line) for line in lines if line]
    recorded = [record for record in records if record["event"] == "Validated"]
    exact = [record["scores"] for record in recorded if record["is_best"]][-1]
    assert [score["score"] for score in at_once[:2]] == [exact["BLEU"], exact["chrF2"]]
    card = (folder / "README.md").read_text("utf-8")
    recipe = at_once[0]["signature"].replace("|", "\\|")  # a bar would end a cell
    mean, half_width = [each for each in recorded if each["is_best"]][-1]["intervals"]["BLEU"]
    assert f"| dev BLEU | {best[0]} (`{recipe}`) | {mean:.2f} ± {half_width:.2f} |" in card
    assert status_of("eval", "-m", str(folder), source, target, "--json", "--confidence") == 0
    sampled = json.loads(capfd.readouterr().out)["scores"][0]
    assert (sampled["mean"], sampled["half_width"]) == (mean, half_width)


def test_nothing_left_to_do_is_said_and_the_old_folder_is_not_overwritten(
    corpus: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "m"
    assert status_of("train", *corpus, "-o", str(folder), *SMALL, "--updates", "3") == 0
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.safetensors")}
    assert status_of("train", "--resume", str(folder)) == 0
    assert "nothing left to do: 3 updates are done" in capfd.readouterr().err
    assert status_of("train", *corpus, "-o", str(folder), *SMALL) == 2
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.safetensors")} == before


def test_separate_tokenizers_and_post_norm_make_a_whole_model(
    corpus: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "m"
    settings = ("tokenizer.joint=false", "model.tied=none", "model.norm=post", "tokenizer.kind=bpe")
    flags = [flag for setting in settings for flag in ("--set", setting)]
    assert status_of("train", *corpus, "-o", str(folder), *SMALL, *flags, "--updates", "3") == 0
    assert (folder / "tokenizer.source.model").exists()
    assert not (folder / "tokenizer.model").exists()
    capfd.readouterr()
    assert status_of("eval", "-m", str(folder), corpus[0], corpus[1]) == 0
    assert capfd.readouterr().out.startswith("BLEU ")


def test_a_settings_file_and_flags_are_merged_and_flags_win(
    corpus: list[str], tmp_path: Path
) -> None:
    from mt.model_folder.folder import read_config

    (tmp_path / "c.toml").write_text("[model]\ndropout = 0.25\n[training]\nseed = 5\n")
    folder = tmp_path / "m"
    plan = ["--config", str(tmp_path / "c.toml"), "--seed", "6", "--updates", "2", "--langs", "x-y"]
    assert status_of("train", *corpus, "-o", str(folder), *SMALL, *plan) == 0
    config = read_config(folder)
    assert (config.model.dropout, config.training.seed) == (0.25, 6)
    assert (config.source_language, config.target_language) == ("x", "y")


def test_rejected_pairs_are_written_with_reason_and_place(
    corpus: list[str], tmp_path: Path
) -> None:
    source = Path(corpus[0])
    lines = source.read_text("utf-8").split("\n")
    lines[4], lines[7] = "  ", "sehr\t" + "lang " * 300
    source.write_text("\n".join(lines), "utf-8")
    target = Path(corpus[1])
    others = target.read_text("utf-8").split("\n")
    others[7] = "very " + "long " * 300
    target.write_text("\n".join(others), "utf-8")
    rejected = tmp_path / "rejected.tsv"
    plan = [*SMALL, "--updates", "2", "--rejected", str(rejected)]
    dev = ["--dev", str(STARTER / "dev.de"), "--dev", str(STARTER / "dev.en")]
    assert status_of("train", *corpus, *dev, "-o", str(tmp_path / "m"), *plan) == 0
    rows = [line.split("\t") for line in rejected.read_text("utf-8").split("\n") if line]
    assert [row[:2] for row in rows] == [
        ["blank side", f"{source}:5"],
        ["too long", f"{source}:8"],
    ]
    assert all(len(row) == 4 and row[3] for row in rows)


def test_a_japanese_target_trains_and_scores_without_its_tokenizer(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mt.evaluation.scores.find_spec", lambda package: None)
    for language, line in (("en", "the cat sleeps {}"), ("ja", "{}匹の猫は寝ています。")):
        text = "".join(line.format(i) + "\n" for i in range(60))
        (tmp_path / f"c.{language}").write_text(text, "utf-8")
    paths = [str(tmp_path / "c.en"), str(tmp_path / "c.ja")]
    folder = tmp_path / "m"
    assert status_of("train", *paths, "-o", str(folder), *SMALL, "--updates", "2") == 0
    assert "BLEU counts characters" in capfd.readouterr().err
    assert status_of("eval", "-m", str(folder), *paths) == 0
    captured = capfd.readouterr()
    assert "tok:char" in captured.out
    assert "BLEU counts characters" in captured.err


@pytest.mark.parametrize("option", ["--dev", "--against"])
def test_lines_of_validation_and_test_sets_are_left_out(
    option: str, corpus: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    given = []
    for path in corpus:
        lines = Path(path).read_text("utf-8").split("\n")[:5]
        clean = (STARTER / f"dev.{path[-2:]}").read_text("utf-8").split("\n")[:20]
        other = tmp_path / f"dev.{path[-2:]}"
        other.write_text("".join(f"{line}\n" for line in [*lines, *clean]), "utf-8")
        given += [option, str(other)]
    plan = [*SMALL, "--updates", "1"]
    assert status_of("train", *corpus, *given, "-o", str(tmp_path / "a"), *plan) == 0
    assert "5 dropped (overlap source: 5)" in capfd.readouterr().err
    plan += ["--keep", "overlap_source"]
    assert status_of("train", *corpus, *given, "-o", str(tmp_path / "b"), *plan) == 0
    assert ", 0 dropped" in capfd.readouterr().err


def test_a_corpus_that_is_its_own_validation_set_is_refused(
    corpus: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    dev = ["--dev", corpus[0], "--dev", corpus[1]]
    plan = [*SMALL, "--updates", "1", "-o", str(tmp_path / "m")]
    assert status_of("train", *corpus, *dev, *plan) == 1
    message = capfd.readouterr().err
    assert "0 usable pairs: 400 read, 400 dropped (overlap source: 400)" in message
    assert "--keep overlap_source" in message
    assert not (tmp_path / "m").exists()
    assert status_of("train", *corpus, *dev, *plan, "--keep", "overlap_source") == 0


def test_layers_are_compiled_if_asked_for_and_a_resumed_run_chooses_anew(
    corpus: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backends: list[str] = []

    def compile_layers(model: EncoderDecoder, *, backend: str) -> None:
        backends.append(backend)

    monkeypatch.setattr(gradients, "compile_layers", compile_layers)
    folder = str(tmp_path / "a")
    assert status_of("train", *corpus, "-o", folder, *SMALL, "--updates", "2", "--compile") == 0
    assert backends == ["inductor"]
    for updates, flags, number in (("3", [], 1), ("4", ["--compile"], 2)):
        assert status_of("train", "--resume", folder, "--updates", updates, *flags) == 0
        assert backends == ["inductor"] * number
