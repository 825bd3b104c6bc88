"""Weights and logits that are no numbers: every command says so in one line, and ends.

A NaN is neither above nor below anything, so that a search that met one went on for ever. All
commands run in one other process, which is given up on when it hangs.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.cases.runs import run_python
from tests.cases.toy import Toy

_SCRIPT = """
import io, json, sys, time
from contextlib import redirect_stderr, redirect_stdout
from mt.cli.main import main

runs = []
for arguments, file in json.load(sys.stdin):
    sys.stdin = io.TextIOWrapper(open(file, "rb"))
    out, err = (io.TextIOWrapper(io.BytesIO()) for _ in "oe")
    status = 0
    start = time.monotonic()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as end:
            status = end.code
    for stream in (out, err):
        stream.flush()
    texts = [each.buffer.getvalue().decode() for each in (out, err)]
    runs.append([status, *texts, time.monotonic() - start])
json.dump(runs, sys.__stdout__)
"""

Run = tuple[int, str, str, float]


def run_all(commands: list[list[str]], *, stdin: Path) -> list[Run]:
    """Run commands one after the other in one process: status, output, messages and seconds."""
    asked = json.dumps([[command, str(stdin)] for command in commands])
    done = run_python("-c", _SCRIPT, "train", stdin=asked.encode()).check()
    runs: list[Run] = [tuple(each) for each in json.loads(done.out)]
    return runs


def damaged(folder: Path, other: Path, change: Callable[[torch.Tensor], None]) -> Path:
    """A copy of a model folder whose embeddings are changed."""
    shutil.copytree(folder, other, ignore=shutil.ignore_patterns("training"))
    tensors = load_file(other / "model.safetensors")
    change(tensors[max(tensors, key=lambda name: tensors[name].numel())])
    save_file(tensors, other / "model.safetensors", metadata={"format": "pt"})
    return other


def commands_of(model: Path, good: Path, toy: Toy, tmp_path: Path) -> dict[str, list[str]]:
    """Every command that searches or scores with a model."""
    m, test = str(model), list(toy.test.arguments)
    translate = ["translate", "--device", "cpu", "-m"]
    prefix = tmp_path / "prefix"
    prefix.write_text("im\n" * 20, "utf-8")
    terms = tmp_path / "terms.tsv"
    terms.write_text("bako\timsel\n", "utf-8")
    return {
        "translate": [*translate, m],
        "greedy": [*translate, m, "--beam", "1", "--workers", "1"],
        "sampling": [*translate, m, "--sample", "3"],
        "top-p": [*translate, m, "--sample", "2", "--top-p", "0.9", "--top-k", "5"],
        "MBR": [*translate, m, "--mbr", "chrf"],
        "MBR of samples": [*translate, m, "--sample", "4", "--mbr", "bleu"],
        "ensemble": [*translate, str(good), "-m", m],
        "prefix": [*translate, m, "--prefix", str(prefix)],
        "glossary": [*translate, m, "--glossary", str(terms)],
        "JSON": [*translate, m, "--json", "--alignment"],
        "eval": ["eval", "--device", "cpu", "-m", m, *test],
        "score": ["score", "--device", "cpu", "-m", m, *test],
        "inspect": ["inspect", m, "--pair", "a", "b", "-o", str(tmp_path / "a.html")],
        "report": ["report", m, *test, "--device", "cpu", "-o", str(tmp_path / "r.html")],
    }


def check_all(commands: dict[str, list[str]], word: str, *, stdin: Path) -> None:
    """Each command ends with 1, nothing on standard output, and one line that says `word`."""
    runs = run_all(list(commands.values()), stdin=stdin)
    for name, (status, out, err, seconds) in zip(commands, runs, strict=True):
        assert (status, out) == (1, ""), (name, out, err)
        assert "Traceback" not in err, (name, err)
        message = err.splitlines()[-1]
        assert message.startswith("mt: error: "), (name, err)
        assert word in message, (name, err)
        assert seconds < 60, name


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_weights_that_are_no_numbers_are_refused_by_every_command(
    value: float, model: Path, toy: Toy, tmp_path: Path
) -> None:
    def change(tensor: torch.Tensor) -> None:
        tensor[7, 3] = value

    bad = damaged(model, tmp_path / "bad", change)
    out = [str(tmp_path / f"out-{number}") for number in range(3)]
    commands = {
        **commands_of(bad, model, toy, tmp_path),
        "average": ["average", str(model), str(bad), "-o", out[0]],
        "export": ["export", "-m", str(bad), "-o", out[1]],
        "train": ["train", *toy.train.arguments, "--from", str(bad), "-o", out[2]],
    }
    if not math.isnan(value):  # one value was tried with all; two with a few
        commands = {name: commands[name] for name in ("translate", "score", "average")}
    check_all(commands, "model.safetensors: tensor", stdin=toy.test.source)
    assert not any(Path(each).exists() for each in out)


def test_a_model_whose_logits_are_no_numbers_ends_every_command_that_uses_it(
    model: Path, toy: Toy, tmp_path: Path
) -> None:
    """Its weights are finite, but their products are not, as after a training that diverged."""

    def change(tensor: torch.Tensor) -> None:
        tensor[4:] = 3e38

    bad = damaged(model, tmp_path / "bad", change)
    check_all(commands_of(bad, model, toy, tmp_path), "NaN", stdin=toy.test.source)
