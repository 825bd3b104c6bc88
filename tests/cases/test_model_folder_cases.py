"""Model folders and checkpoints: faults that users of other toolkits reported.

The letter and number of a case and the public threads it comes from stand in each docstring.
"""

from __future__ import annotations

import dataclasses
import json
import random
import re
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

from mt import __version__
from mt.config import TiedEmbeddings
from mt.events import BatchDone
from mt.model.encoder_decoder import EncoderDecoder
from mt.model_folder.folder import load_model
from mt.training.trainer import Trainer
from mt.training.validation import TranslationScores
from mt.training.weight_average import WeightAverage
from tests.cases.model_files import records
from tests.cases.runs import SMALL, Run, run_here, run_process, start_mt
from tests.cases.toy import Toy, toy_pairs, write_files
from tests.training.small_run import TINY, VOCABULARY, budget
from tests.training.small_run import Run as SmallRun


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
    lines = path.read_text("utf-8").split("\n")[:-1]
    assert all("event" in json.loads(line) for line in lines)


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
    text = path.read_text("utf-8").replace("format_version = 2\n", "format_version = 999\n")
    path.write_text(text + unknown, "utf-8")
    run = translate(own_model, toy) if command == "translate" else resume(own_model)
    message = check_one_line(run, own_model)
    assert "999" in message
    assert "up to 2" in message
    assert __version__ in message


def test_training_folder_may_be_deleted(own_model: Path, model: Path, toy: Toy) -> None:
    """C07: it serves resuming alone, and a resume then says so."""
    shutil.rmtree(own_model / "training")
    assert translate(own_model, toy).check().out == translate(model, toy).check().out
    check_one_line(resume(own_model), own_model)


@pytest.fixture
def few(tmp_path: Path) -> tuple[str, ...]:
    """200 toy pairs and a validation set, as arguments of `mt train`."""
    train = write_files(tmp_path, "few", toy_pairs(200, seed="few"))
    return (*train.arguments, *write_files(tmp_path, "dev", toy_pairs(5, seed="dev")).as_dev)


_MACHINE = ("--device", "cpu", "--precision", "float32", "--threads", "1")
_EPOCHS = (
    *("--batch-tokens", "200", "--set", "training.accumulate=2", "--threads", "1"),
    *("--set", "training.validate_every=5", "--set", "model.dropout=0.1"),
)
"""About twelve updates an epoch."""


def state_of(folder: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Tensors and record of the one state of a run."""
    (path,) = (folder / "training").glob("checkpoint-*")
    record: dict[str, Any] = json.loads((path / "progress.json").read_text("utf-8"))
    return load_file(path / "state.safetensors"), record


@pytest.mark.parametrize("stops", [(20,), (12, 27, 33)])
def test_resumed_run_is_the_run_itself(
    stops: tuple[int, ...], few: tuple[str, ...], tmp_path: Path
) -> None:
    """C01 (OpenNMT-py#2006; transformers#8874, PR#40691; accelerate PR#4071; fairseq#1156)."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    plan = ("train", *few, *SMALL, *_EPOCHS)
    run_here(*plan, "-o", whole, "--updates", "40").check()
    run_here(*plan, "-o", parts, "--updates", str(stops[0])).check()
    for end in (*stops[1:], 40):
        run_here("train", "--resume", parts, "--updates", str(end), *_MACHINE).check()
    (ours, record), (theirs, other) = state_of(whole), state_of(parts)
    assert record["progress"]["epoch"] >= 2
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if not torch.equal(ours[name], theirs[name])] == []
    assert record["progress"]["batch"] == other["progress"]["batch"]
    told = [
        {r["update"]: (r["loss"], r["rate"]) for r in records(f, "BatchDone")}
        for f in (whole, parts)
    ]
    assert told[0] == told[1]
    assert told[0].keys() == {20, 40}


def test_resume_restores_the_optimizer(tmp_path: Path) -> None:
    """C02 (OpenNMT-py#617, #116, #1911; modernmt#321): moments, steps and the rate."""
    whole, first = SmallRun(tmp_path, budget(21)), SmallRun(tmp_path, budget(20))
    first.trainer.run()
    second = SmallRun(tmp_path, budget(21))
    second.trainer.resume()
    before, after = (run.trainer.parts.optimizer.state_dict() for run in (first, second))
    assert before["param_groups"][0].keys() == after["param_groups"][0].keys()
    assert before["state"].keys() == after["state"].keys() != set()
    for i, moments in before["state"].items():
        assert moments.keys() == after["state"][i].keys()
        assert all(torch.equal(moments[key], after["state"][i][key]) for key in moments)
        assert float(moments["step"]) == 20
    second.trainer.run()
    whole.trainer.run()
    rates = [[e.rate for e in run.events if isinstance(e, BatchDone)] for run in (whole, second)]
    assert rates[0][20:] == rates[1]


@pytest.mark.parametrize(
    "option",
    [
        ("--set", "training.peak_rate=1"),
        ("--seed", "5"),
        ("--batch-tokens", "9"),
        ("--preset", "small"),
    ],
)
def test_option_that_a_resume_cannot_honour_is_refused(
    option: tuple[str, str], own_model: Path
) -> None:
    """C02: aloud, and before anything changes."""
    before = (own_model / "config.toml").read_bytes()
    run = run_here("train", "--resume", own_model, "--updates", "301", *option)
    assert run.check(2).out == b""
    assert option[0] in run.err
    assert (own_model / "config.toml").read_bytes() == before


@pytest.mark.parametrize(("stop", "patience"), [(7, 3), (14, 2), (21, 3), (21, 4)])
def test_best_score_and_patience_survive_a_resume(stop: int, patience: int, tmp_path: Path) -> None:
    """C03 (fairseq#3531; joeynmt#128, PR#75; unsloth-zoo PR#822): the best weights stay."""
    scores = {7: 5.0, 14: 4.0, 21: 3.0, 28: 2.0, 35: 1.0, 42: 0.5}
    ends, kept = [], []
    for name, parts in (("whole", [1000]), ("parts", [stop, 1000])):
        (tmp_path / name).mkdir()
        for number, end in enumerate(parts):
            plan = budget(end, patience=patience)
            run = SmallRun(tmp_path / name, plan, scores=scores.__getitem__)
            if number:
                run.trainer.resume()
            run.trainer.run()
            kept.append(run.kept)
        ends.append(run.trainer.progress.update)
    assert ends[0] == ends[1] == 7 * (patience + 1)
    assert kept == [[7], [7], []]


@pytest.mark.parametrize("count", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_run_leaves_a_model_that_translates_and_a_state_that_resumes(
    count: int, few: tuple[str, ...], toy: Toy, tmp_path: Path
) -> None:
    """C04 (metaseq#53; allennlp#2129; fairseq#2684): at any moment after the first save."""
    draw = random.Random(count)
    folder = tmp_path / "m"
    metric = ("--set", "training.metric=loss")
    every = ("--set", "training.validate_every=1", "--patience", "0", *metric, "--threads", "1")
    endless = ("--updates", "100000")
    arguments: tuple[str | Path, ...] = ("train", *few, "-o", folder, *SMALL, *every, *endless)
    for _ in range(count):
        process = start_mt(*arguments)
        known = _newest(folder)
        while process.poll() is None and _newest(folder) <= known:
            time.sleep(0.01)
        time.sleep(draw.uniform(0.0, 0.5))
        process.kill()
        assert process.wait() == -signal.SIGKILL
        translate(folder, toy).check()
        assert _newest(folder) > known
        arguments = ("train", "--resume", folder, *_MACHINE)
    update = str(_newest(folder) + 1)
    run_here("train", "--resume", folder, "--updates", update, *_MACHINE).check()
    assert [path.name for path in folder.rglob(".*")] == []


def _newest(folder: Path) -> int:
    """The update of the newest state; -1 if there is none."""
    names = [path.name for path in (folder / "training").glob("checkpoint-*")]
    return max((int(name.rpartition("-")[2]) for name in names), default=-1)


@pytest.mark.parametrize("tied", ["all", "target", "none"])
def test_average_of_weights_is_their_average(tied: TiedEmbeddings) -> None:
    """C08 (fairseq#732, PR#747, PR#743, #1079; OpenNMT-tf PR#173): a tied matrix once."""
    shape = dataclasses.replace(TINY, tied=tied)
    model = EncoderDecoder(shape, source_vocab=VOCABULARY, target_vocab=VOCABULARY)
    first = [p.detach().clone() for p in model.parameters()]
    average = WeightAverage(model, 0.5)
    average.update(1_000_000)  # the decay is no longer warming up
    assert all(torch.equal(a, b) for a, b in zip(average.tensors(), first, strict=True))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1.0)
    average.update(1_000_000)
    for a, b in zip(average.tensors(), first, strict=True):
        assert a.dtype == torch.float32
        torch.testing.assert_close(a, b + 0.5, rtol=1e-6, atol=1e-6)
    places = {parameter.data_ptr() for parameter in model.parameters()}
    with average.applied():
        assert {parameter.data_ptr() for parameter in model.parameters()} == places
        for parameter, b in zip(model.parameters(), first, strict=True):
            torch.testing.assert_close(parameter, b + 0.5, rtol=1e-6, atol=1e-6)
    for parameter, b in zip(model.parameters(), first, strict=True):
        assert torch.equal(parameter, b + 1.0)


@pytest.mark.parametrize("best", [1, 3, 5])
def test_best_weights_and_last_state_survive_whatever_comes_after(
    best: int, few: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C09 (transformers#15089, #12915, PR#11748): wherever in the run the best one was."""
    folder = tmp_path / "m"
    held: dict[int, bytes] = {}
    weights = folder / "model.safetensors"

    def made_up(self: Trainer, *, is_last: bool = False) -> None:
        update = self.progress.update
        score = 10.0 if update == best else 1.0 + update / 100
        self.validator = lambda task: TranslationScores(
            scores={"BLEU": score, "chrF2": 0.0}, signatures={}
        )
        original(self, is_last=is_last)
        held[update] = weights.read_bytes()

    original = Trainer._validate
    monkeypatch.setattr(Trainer, "_validate", made_up)
    every = ("--set", "training.validate_every=1", "--updates", "5", "--threads", "1")
    run = run_here("train", *few, "-o", folder, *SMALL, *every).check()
    assert f"best dev BLEU 10.00, of update {best}" in run.err
    assert weights.read_bytes() == held[best]
    assert best == 1 or held[best - 1] != held[best]
    _, record = state_of(folder)
    assert record["progress"]["update"] == 5
    assert (record["tracker"]["best"], record["tracker"]["best_update"]) == (10.0, best)
    scores = {r["update"]: r["scores"]["BLEU"] for r in records(folder, "Validated")}
    assert max(scores, key=scores.__getitem__) == best


@pytest.mark.gpu
def test_model_of_a_gpu_translates_alike_on_a_cpu(
    few: tuple[str, ...], toy: Toy, tmp_path: Path
) -> None:
    """C10 (spacy-transformers#33; pytorch/examples PR#935): also where there is no GPU."""
    folder = tmp_path / "m"
    on_gpu = ("--device", "cuda", "--precision", "float32")
    plan = [option for option in SMALL if option not in ("--device", "cpu")]
    run_here("train", *few, "-o", folder, *plan, "--device", "cuda", "--updates", "20").check()
    here = run_here("translate", "-m", folder, *on_gpu, toy.test.source).check().lines
    hidden = {"CUDA_VISIBLE_DEVICES": ""}
    there = run_process("translate", "-m", folder, toy.test.source, environment=hidden).check()
    assert sum(a == b for a, b in zip(here, there.lines, strict=True)) >= len(here) - 1


def test_weights_hold_no_device_and_one_tensor_for_each_parameter(model: Path) -> None:
    """C10, C08: float32 alone, nothing of the machine in the header."""
    with safe_open(model / "model.safetensors", framework="pt") as file:
        about = file.metadata()
        assert about.keys() == {"mt"}
        assert json.loads(about["mt"]).keys() == {"model", "sha256", "tokenizers"}
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    assert all(tensor.dtype == torch.float32 for tensor in tensors.values())
    loaded = load_model(model).model
    assert tensors.keys() == {name for name, _ in loaded.named_parameters()}
