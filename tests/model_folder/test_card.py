"""The model card: what it tells, what stays when it is written anew, scores on test sets."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mt.config import Config
from mt.errors import ModelFolderError
from mt.events import RunDescribed, TrainingEnded, TrainingStarted, Validated
from mt.files.digests import blake2b_of_lines
from mt.model_folder.card import BEGIN, NOTES, model_card
from mt.model_folder.card_file import add_test_scores, write_card
from mt.model_folder.facts import AVERAGE, Averaged, CardFacts, read_facts
from mt.model_folder.scores import (
    SCORES,
    SetResult,
    SetScore,
    add_result,
    current_results,
    digest_of_weights,
    read_results,
)
from mt.tasks.metrics_file import MetricsFile

RUN = RunDescribed(
    command="mt train 'my text.de' train.en -o m",
    processor="AMD EPYC 9B45",
    num_cores=2,
    memory=16 * 2**30,
    gpus=(),
    num_threads=1,
    num_processes=1,
    software=("mt 0.1.0", "torch 2.8.0", "Linux x86_64"),
)
STARTED = TrainingStarted(
    num_parameters=1_837_568,
    first_update=1,
    updates_per_epoch=10,
    max_updates=None,
    max_seconds=None,
    device="cpu",
    precision="bfloat16",
)
BEST = Validated(
    update=8000,
    epoch=28.3,
    scores={"loss": 1.64, "BLEU": 37.74, "SER": 9.0},
    signatures={"BLEU": "nrefs:1|tok:13a", "SER": "nrefs:1"},
    is_best=True,
    seconds=1698.0,
    validation_seconds=8.0,
    intervals={"BLEU": (37.7, 1.61)},
)
ENDED = TrainingEnded(
    update=8748,
    reason="interrupted",
    seconds=1842.0,
    tokens_per_second=9178.6,
    validation_seconds=66.0,
    metric="BLEU",
    best=37.74,
    best_update=8000,
    num_skipped=0,
    num_skipped_pairs=0,
)


def facts(**more: Any) -> CardFacts:
    config = Config(source_language="en", target_language="no")
    return CardFacts(**{"config": config, "runs": (RUN,), "started": STARTED, "best": BEST, **more})


def result(folder: Path, **more: Any) -> SetResult:
    values: dict[str, Any] = {
        "source": "test.de",
        "references": ("test.en",),
        "source_digest": blake2b_of_lines(["Ja."]),
        "reference_digests": (blake2b_of_lines(["Yes."]),),
        "num_lines": 1000,
        "num_seen": 50,
        "scores": (
            SetScore(
                name="BLEU", score=37.73, signature="nrefs:1|bs:1000", mean=37.72, half_width=1.6
            ),
        ),
        "beside": ("copy of the source: BLEU 0.48",),
        "command": "mt eval -m m test.de test.en --card",
        "date": "2026-11-30",
        "weights": digest_of_weights(folder),
    }
    return SetResult(**(values | more))


def test_the_card_tells_what_made_the_model() -> None:
    card = model_card(facts(ended=ENDED))
    for line in (
        "| parameters | 1,837,568 |",
        "| trained on | AMD EPYC 9B45, 2 cores, 1 thread, 16 GiB of memory; cpu, bfloat16 |",
        "| software | mt 0.1.0, torch 2.8.0, Linux x86_64 |",
        "| weights of | update 8000, epoch 28.3, after 28.3 minutes |",
        "| training time | 30.7 minutes, 1.1 of them in validation; 8,748 updates, 9,179 target "
        "tokens a second; ended: interrupted |",
        "mt train 'my text.de' train.en -o m",
        "| dev BLEU | 37.74 (`nrefs:1\\|tok:13a`) | 37.70 ± 1.61 |",
        "| dev SER | 9.00 (`nrefs:1`) |  |",
        "| dev loss | 1.64 nats per token |  |",
    ):
        assert line in card.split("\n")


def test_every_machine_and_command_of_a_resumed_run_is_told_once() -> None:
    other = dataclasses.replace(
        RUN, command="mt train --resume m", gpus=("NVIDIA X (80 GiB)",), num_processes=4
    )
    card = model_card(facts(runs=(RUN, other, other)))
    assert card.count("| trained on |") == 2
    told = "NVIDIA X (80 GiB), AMD EPYC 9B45, 2 cores, 16 GiB of memory, 4 processes"
    assert f"| trained on | {told}; cpu, bfloat16 |" in card
    assert card.count("| software |") == 1
    assert card.count("mt train --resume m\n") == 1


def test_the_facts_of_averaged_weights_are_read_from_a_file(tmp_path: Path) -> None:
    averaged = Averaged(
        sources=("a, update 5: dev BLEU 3.00", "b|c\udcff"),
        num_parameters=1234,
        command="mt average a b",
    )
    averaged.save(tmp_path)
    found = read_facts(tmp_path, Config())
    assert found.averaged == averaged
    card = model_card(found).split("\n")
    for line in (
        "| average of | a, update 5: dev BLEU 3.00 |",
        "| average of | b\\|c\udcff |",
        "| parameters | 1,234 |",
        "mt average a b",
    ):
        assert line in card
    (tmp_path / AVERAGE).write_text("{}", "utf-8")
    assert read_facts(tmp_path, Config()).averaged is None


def test_facts_are_those_that_the_run_recorded(tmp_path: Path) -> None:
    metrics = MetricsFile(tmp_path / "metrics.jsonl")
    start = dataclasses.replace(BEST, update=0, scores={"BLEU": 1.25}, is_best=False)
    for event in (RUN, STARTED, start, BEST, ENDED):
        metrics(event)
    with (tmp_path / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.write('nonsense\n[]\n{"event": "Validated"}\n{"event": "Unheard"}\n')
    found = read_facts(tmp_path, Config())
    assert model_card(found) == model_card(
        CardFacts(
            config=Config(),
            runs=(RUN,),
            started=STARTED,
            best=BEST,
            ended=ENDED,
            starting_scores={"BLEU": 1.25},
        )
    )
    assert "| dev BLEU before | 1.25 |  |" in model_card(found).split("\n")
    metrics(STARTED)
    assert read_facts(tmp_path, Config()).ended is None, "it goes on"


def test_what_is_not_known_is_left_out() -> None:
    bare = CardFacts(config=Config())
    card = model_card(bare)
    assert "| trained on" not in card
    assert "language:" not in card
    assert "## Commands" not in card
    without = dataclasses.replace(RUN, memory=None)
    assert "memory" not in model_card(facts(runs=(without,)))


def test_front_matter_is_yaml_in_which_norwegian_is_no_truth_value() -> None:
    front = model_card(facts()).split("---\n")[1]
    lines = front.split("\n")
    assert lines[0].startswith("# license: ")
    assert lines[1:4] == ["language:", '- "en"', '- "no"']
    assert "pipeline_tag: translation" in lines
    assert lines[lines.index("metrics:") + 1] == '- "bleu"'


def test_a_bar_in_a_name_ends_no_cell() -> None:
    config = Config(fine_tuned_from="a|b\nc")
    assert "| fine-tuned from | a\\|b c |" in model_card(facts(config=config)).split("\n")


def test_a_license_and_notes_stay_when_the_card_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    write_card(tmp_path, facts())
    assert path.read_text("utf-8") == model_card(facts())
    text = path.read_text("utf-8").replace("# license: apache-2.0", "license: cc0-1.0 #")
    path.write_text(f"{text}\n## Mine\n\nAsk Jo.\n", "utf-8")
    write_card(tmp_path, facts(ended=ENDED))
    new = path.read_text("utf-8")
    assert "license: cc0-1.0" in new.split("---\n")[1]
    assert new.endswith(f"{NOTES}\n\n## Mine\n\nAsk Jo.\n")
    assert "ended: interrupted" in new
    write_card(tmp_path, facts(ended=ENDED))
    assert path.read_text("utf-8") == new


def test_a_card_of_an_older_mt_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Translation model en → de\n\nOld.\n", "utf-8")
    write_card(tmp_path, facts())
    assert (tmp_path / "README.md").read_text("utf-8") == model_card(facts())


def test_names_that_are_no_text_are_escaped(tmp_path: Path) -> None:
    write_card(tmp_path, facts(config=Config(fine_tuned_from="m\udcff")))
    assert "| fine-tuned from | m\\udcff |" in (tmp_path / "README.md").read_text("utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    write_card(tmp_path, facts())
    return tmp_path


def test_scores_on_a_test_set_change_their_part_of_the_card_alone(folder: Path) -> None:
    path = folder / "README.md"
    before = path.read_text("utf-8")
    add_result(folder, result(folder))
    add_test_scores(folder)
    after = path.read_text("utf-8")
    assert "| BLEU | 37.73 (`nrefs:1\\|bs:1000`) | 37.72 ± 1.60 |" in after.split("\n")
    assert "50 of these lines occur in the training text" in after
    assert "Beside it, copy of the source: BLEU 0.48." in after
    assert after.split(BEGIN)[0] == before.split(BEGIN)[0]
    assert after.endswith(before[before.index("<!-- end of test scores -->") :])
    write_card(folder, facts(results=current_results(folder)))
    assert path.read_text("utf-8") == after


def test_scoring_again_replaces_and_another_set_is_added(folder: Path) -> None:
    add_result(folder, result(folder))
    add_result(folder, result(folder, source="other.de", source_digest="0"))
    add_result(folder, result(folder, date="2026-12-01"))
    found = [(each.source, each.date) for each in read_results(folder)]
    assert found == [("other.de", "2026-11-30"), ("test.de", "2026-12-01")]


def test_scores_of_earlier_weights_leave_the_card_and_stay_on_file(folder: Path) -> None:
    add_result(folder, result(folder))
    assert len(current_results(folder)) == 1
    (folder / "model.safetensors").write_bytes(b"better weights")
    assert current_results(folder) == ()
    assert len(read_results(folder)) == 1


def test_a_card_without_the_part_gets_it_above_the_notes(folder: Path) -> None:
    path = folder / "README.md"
    path.write_text(f"# Mine\n\n{NOTES}\nNote.\n", "utf-8")
    add_result(folder, result(folder))
    add_test_scores(folder)
    card = path.read_text("utf-8")
    assert card.startswith("# Mine\n\n## Scores\n\n<!-- test scores -->\n")
    assert card.endswith(f"<!-- end of test scores -->\n\n{NOTES}\nNote.\n")
    path.unlink()
    add_test_scores(folder)
    assert "37.73" in path.read_text("utf-8")


@pytest.mark.parametrize("text", ["{", "[]", '{"results": [{}]}', '{"results": [3]}'])
def test_a_damaged_file_of_scores_is_named(folder: Path, text: str) -> None:
    (folder / SCORES).write_text(text, "utf-8")
    with pytest.raises(ModelFolderError, match=r"scores\.json cannot be read"):
        current_results(folder)


def test_the_digest_of_a_text_is_that_of_b2sum(tmp_path: Path) -> None:
    lines = ["Ja, é.", "", "Nein."]
    path = tmp_path / "a.txt"
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    try:
        done = subprocess.run(["b2sum", "-l", "128", path], capture_output=True, check=True)
    except OSError:
        pytest.skip("there is no b2sum here")
    assert done.stdout.decode().split()[0] == blake2b_of_lines(lines)
