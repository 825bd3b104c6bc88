"""The model card as commands write it: training, resuming, `mt eval --card`, and what it hides."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from tests.cases.runs import SMALL, run_here
from tests.cases.toy import toy_pairs, write_files


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    place = tmp_path_factory.mktemp("corpus")
    train = write_files(place, "train", toy_pairs(40, seed="train"))
    dev = write_files(place, "dev", toy_pairs(3, seed="dev"))
    return (*train.arguments, *dev.as_dev)


@pytest.fixture
def model(corpus: tuple[str, ...], tmp_path: Path) -> Path:
    run_here("train", *corpus, "-o", tmp_path / "m", "--updates", "2", *SMALL).check()
    return tmp_path / "m"


def rows(card: str, name: str) -> list[str]:
    return [line for line in card.split("\n") if line.startswith(f"| {name} |")]


def card_of(model: Path) -> str:
    return (model / "README.md").read_text("utf-8")


def test_a_run_and_its_resumption_tell_commands_machine_and_time(model: Path) -> None:
    first = card_of(model)
    (made,) = [line for line in first.split("\n") if line.startswith("mt train ")]
    assert "--updates 2" in made
    assert len(rows(first, "trained on")) == 1
    assert "ended: 2 updates are done" in rows(first, "training time")[0]
    machine = ("--device", "cpu", "--precision", "float32")
    run_here("train", "--resume", model, "--updates", "3", *machine).check()
    second = card_of(model)
    made_by = [line for line in second.split("\n") if line.startswith("mt train ")]
    assert made_by[0] == made
    assert made_by[1].startswith("mt train --resume ")
    assert "ended: 3 updates are done" in rows(second, "training time")[0]
    assert len(rows(second, "weights of")) == 1
    assert rows(second, "parameters") == rows(first, "parameters")


def test_no_host_is_named(model: Path) -> None:
    host = socket.gethostname()
    metrics = (model / "metrics.jsonl").read_text("utf-8").split("\n")
    described = [line for line in metrics if '"RunDescribed"' in line]
    assert len(described) == 1
    assert set(json.loads(described[0])) == {
        *("event", "command", "processor", "num_cores", "memory", "gpus", "num_threads"),
        *("num_processes", "software"),
    }
    assert len(host) < 4 or host not in card_of(model)


def test_a_folder_of_an_older_mt_is_resumed_with_a_card(model: Path) -> None:
    path = model / "metrics.jsonl"
    records = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
    old = [record for record in records if record["event"] != "RunDescribed"]
    for record in old:
        record.pop("intervals", None)
        record.pop("metric", None)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in old), "utf-8")
    machine = ("--device", "cpu", "--precision", "float32")
    run_here("train", "--resume", model, "--updates", "3", *machine).check()
    assert "ended: 3 updates are done" in rows(card_of(model), "training time")[0]


def test_scores_of_a_test_set_are_kept_in_the_card(
    model: Path, corpus: tuple[str, ...], tmp_path: Path
) -> None:
    files = (corpus[0], corpus[1])
    run = run_here("eval", "-m", model, *files, "--card", "--device", "cpu", "--json").check()
    assert run.err.endswith(f"the scores are in the card of {model}\n")
    scores = json.loads(run.out)["scores"]
    card = card_of(model)
    assert f"### {files[0]} → {files[1]}" in card
    for score in scores:
        signature = score["signature"].replace("|", "\\|")
        interval = f"{score['mean']:.2f} ± {score['half_width']:.2f}"
        row = f"| {score['name']} | {score['score']:.2f} (`{signature}`) | {interval} |"
        assert row in card.split("\n")
    assert "40 of these lines occur in the training text" in card
    assert "--card --device cpu --json\n" in card
    again = run_here("eval", "-m", model, *files, "--card", "--device", "cpu", "--json").check()
    assert again.out == run.out
    assert card_of(model) == card


def test_without_one_model_or_a_folder_to_write_in_it_is_refused(
    model: Path, corpus: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = (corpus[0], corpus[1])
    for arguments in (("--hyp", corpus[1], corpus[1]), ("-m", model, "-m", model, *files)):
        run = run_here("eval", *arguments, "--card").check(2)
        assert "--card has an effect with one -m MODEL only" in run.err
    before = card_of(model)
    monkeypatch.setattr(os, "access", lambda path, mode, **_: mode != os.W_OK)
    run = run_here("eval", "-m", model, *files, "--card", "--device", "cpu")
    assert f"--card cannot write into {model}: it is read-only" in run.check_refusal()
    assert card_of(model) == before
