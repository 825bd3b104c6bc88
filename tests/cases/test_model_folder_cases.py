"""Model folders and checkpoints: faults that users of other toolkits reported.

The letter and number of a case and the public threads it comes from stand in each docstring.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from mt import __version__
from tests.cases.runs import Run, run_here
from tests.cases.toy import Toy


def _cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _text(path: Path) -> None:
    path.write_text("This is no such file.\n", "utf-8")


def _binary(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 8)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _missing(path: Path) -> None:
    path.unlink()


HARM: dict[str, Callable[[Path], None]] = {
    "cut short": _cut_short,
    "empty": _empty,
    "text": _text,
    "binary": _binary,
    "folder": _folder,
    "missing": _missing,
}


_FILES_OF_A_RUN = (
    "training/checkpoint-300/state.safetensors",
    "training/checkpoint-300/progress.json",
    "training/tokens.arrow",
    "training/dev-tokens.arrow",
    "training/corpus.json",
    "tokenizer.model",
    "config.toml",
    "dev.source",
    "dev.target",
)


def _harms_of_a_run() -> list[Any]:
    return [
        pytest.param(name, change, id=f"{name}-{harm}")
        for name in _FILES_OF_A_RUN
        for harm, change in HARM.items()
    ]


def translate(folder: Path, toy: Toy) -> Run:
    """Translate the test set by the model in a folder."""
    return run_here("translate", "-m", folder, toy.test.source)


def resume(folder: Path) -> Run:
    """Go on with the training in a folder for one update."""
    machine = ("--device", "cpu", "--precision", "float32")
    return run_here("train", "--resume", folder, "--updates", "301", *machine)


def check_one_line(run: Run, folder: Path) -> str:
    """Demand a refusal in one line that names something in the folder, or the folder."""
    message = run.check_refusal()
    assert [line for line in run.err.split("\n") if line] == [message]
    assert str(folder) in message
    assert "\\x" not in message  # the content of a binary file is no message
    return message


@pytest.mark.parametrize("harm", HARM.values(), ids=HARM)
@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.model", "config.toml"])
def test_damaged_file_of_a_model_is_refused_in_one_line(
    name: str, harm: Callable[[Path], None], own_model: Path, toy: Toy
) -> None:
    """C05 (bghira/SimpleTuner#2613; fairseq#2684): no traceback of a parser."""
    harm(own_model / name)
    check_one_line(translate(own_model, toy), own_model)


@pytest.mark.parametrize(("name", "harm"), _harms_of_a_run())
def test_damaged_file_of_a_run_is_refused_in_one_line(
    name: str, harm: Callable[[Path], None], own_model: Path
) -> None:
    """C05: on a resume, whichever of its files it is; the best weights stay as they are."""
    weights = (own_model / "model.safetensors").read_bytes()
    harm(own_model / name)
    check_one_line(resume(own_model), own_model)
    assert (own_model / "model.safetensors").read_bytes() == weights


def test_last_record_cut_short_does_not_stop_a_resume(own_model: Path) -> None:
    """C05: a kill while `metrics.jsonl` grows leaves half a line."""
    path = own_model / "metrics.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    resume(own_model).check()


@pytest.mark.parametrize("place", ["a text file", "an empty folder", "nothing"])
def test_what_is_no_model_folder_is_called_so(place: str, toy: Toy, tmp_path: Path) -> None:
    """C05: for translating and for resuming."""
    path = tmp_path / "model"
    if place == "a text file":
        path.write_text("a text\n", "utf-8")
    elif place == "an empty folder":
        path.mkdir()
    assert "is not a model folder" in check_one_line(translate(path, toy), path)
    assert "is not a model folder" in check_one_line(resume(path), path)


class _Trap:
    """Pickled, it is code that makes a file when it is read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (str(self._path), "w")


@pytest.mark.parametrize(
    "name",
    [
        "model.safetensors",
        "tokenizer.model",
        "config.toml",
        "training/checkpoint-300/state.safetensors",
        "training/checkpoint-300/progress.json",
    ],
)
@pytest.mark.parametrize("as_zip", [True, False])
def test_no_file_of_a_model_can_run_code(
    name: str, as_zip: bool, own_model: Path, toy: Toy, tmp_path: Path
) -> None:
    """C06 (gemma_pytorch#1; fairseq2 PR#774; pytorch#179904): no pickle is read."""
    trap = tmp_path / "PWNED"
    torch.save({"model": _Trap(trap)}, own_model / name, _use_new_zipfile_serialization=as_zip)
    run = resume(own_model) if "checkpoint" in name else translate(own_model, toy)
    check_one_line(run, own_model)
    assert not trap.exists()


def test_pickled_checkpoint_as_a_model_is_refused(toy: Toy, tmp_path: Path) -> None:
    """C06: a single file of another toolkit."""
    trap = tmp_path / "PWNED"
    path = tmp_path / "model.pt"
    torch.save({"model": _Trap(trap)}, path)
    check_one_line(translate(path, toy), path)
    check_one_line(resume(path), path)
    assert not trap.exists()


@pytest.mark.parametrize(
    "key", ["activation_dropout", "beam", "seed", "max_length_ratio", "held_out", "preset"]
)
def test_setting_that_an_older_mt_did_not_write_takes_its_default(
    key: str, own_model: Path, model: Path, toy: Toy
) -> None:
    """C07 (OpenNMT-py#111, #531, #1380; fairseq#3211): same translations."""
    path = own_model / "config.toml"
    text = path.read_text("utf-8")
    without = re.sub(rf"(?m)^{key} = .*\n", "", text)
    assert without != text
    path.write_text(without, "utf-8")
    assert translate(own_model, toy).check().out == translate(model, toy).check().out


def test_section_that_an_older_mt_did_not_write_takes_its_defaults(
    own_model: Path, model: Path, toy: Toy
) -> None:
    """C07: a whole table, here that of search, which the toy model leaves at its defaults."""
    path = own_model / "config.toml"
    text = path.read_text("utf-8")
    without = re.sub(r"\n\[search\]\n(?:\w.*\n)*", "", text)
    assert without != text
    path.write_text(without, "utf-8")
    assert translate(own_model, toy).check().out == translate(model, toy).check().out


@pytest.mark.parametrize("unknown", ["", "wonders = 1\n", "= not even TOML\n"])
@pytest.mark.parametrize("command", ["translate", "resume"])
def test_newer_format_is_refused_with_both_versions(
    unknown: str, command: str, own_model: Path, toy: Toy
) -> None:
    """C07: before whatever else a newer mt may have written is read."""
    path = own_model / "config.toml"
    text = path.read_text("utf-8").replace("format_version = 1\n", "format_version = 999\n")
    path.write_text(text + unknown, "utf-8")
    run = translate(own_model, toy) if command == "translate" else resume(own_model)
    message = check_one_line(run, own_model)
    assert "999" in message
    assert "up to 1" in message
    assert __version__ in message


def test_training_folder_may_be_deleted(own_model: Path, model: Path, toy: Toy) -> None:
    """C07: it serves resuming alone, and a resume then says so."""
    shutil.rmtree(own_model / "training")
    assert translate(own_model, toy).check().out == translate(model, toy).check().out
    check_one_line(resume(own_model), own_model)
