"""A damaged model folder gives what it gave before, or one line that names the fault.

No flipped bit and no file that was cut short may pass for another model: weights, states, tokens
and tables know their digest. `config.toml` is for people to change, and `progress.json` and
`corpus.json` say in words where a run stands: of them it is asked that nothing breaks.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases.model_files import same_tensors
from tests.cases.runs import Run, run_here
from tests.cases.toy import as_bytes, toy_pairs, toy_sources, write_files
from tests.fuzz.damage import Damage, damages, flips

pytestmark = pytest.mark.slow

LINES = as_bytes(toy_sources(3, seed="fuzz"))
CPU = ("--device", "cpu", "--threads", "1")
FOR_PEOPLE = ("config.toml", "progress.json", "corpus.json", "README.md", "metrics.jsonl")


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("healthy")
    corpus = write_files(folder, "train", toy_pairs(60, seed="fuzz"))
    dev = write_files(folder, "dev", toy_pairs(6, seed="fuzz dev"))
    model = folder / "model"
    run_here(
        *("train", *corpus.arguments, *dev.as_dev, "-o", model, *CPU, "--tokenizer", "symbols"),
        *("--updates", "6", "--batch-tokens", "256", "--set", "training.keep_weights=1"),
        *("--set", "model.d_model=8", "--set", "model.d_inner=8", "--set", "model.heads=2"),
        *("--set", "model.encoder_layers=1", "--set", "model.decoder_layers=1"),
        *("--set", "search.max_length=5", "--set", "training.validate_every=3"),
        *("--set", "training.peak_rate=0.05", "--set", "training.warmup_updates=1"),
    ).check()
    return model


def _translated(folder: Path) -> Run:
    return run_here("translate", "-m", folder, *CPU, stdin=LINES)


def _resumed(folder: Path) -> Run:
    return run_here("train", "--resume", folder, "--updates", "8", "--threads", "1")


def _check_end(run: Run) -> None:
    """A result, or one line and status 1 (2 where a setting is at fault)."""
    assert run.status in (0, 1, 2), run.err
    assert "Traceback" not in run.err
    assert run.status == 0 or run.err.count("mt: error: ") == 1, run.err


def _files(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    )


@pytest.fixture(scope="module")
def expected(healthy: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path | Run]:
    resumed = tmp_path_factory.mktemp("resumed") / "model"
    shutil.copytree(healthy, resumed)
    _resumed(resumed).check()
    return {
        "plain": _translated(healthy).check(),
        "resumed": resumed,
    }


@given(data=st.data())
def test_a_damaged_folder_translates_as_before_or_is_refused(
    healthy: Path,
    expected: dict[str, Path | Run],
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
) -> None:
    name = data.draw(st.sampled_from(_files(healthy)))
    harm: Damage = data.draw(flips() | damages())
    folder = tmp_path_factory.mktemp("damaged") / "model"
    shutil.copytree(healthy, folder)
    path = folder / name
    path.write_bytes(harm(path.read_bytes()))
    is_for_people = path.name in FOR_PEOPLE
    run = _translated(folder)
    _check_end(run)
    before = expected["plain"]
    assert isinstance(before, Run)
    assert run.status or is_for_people or run.out == before.out, f"{name}: other text"
    run = _resumed(folder)
    _check_end(run)
    resumed = expected["resumed"]
    assert isinstance(resumed, Path)
    if run.status == 0 and not is_for_people and not name.startswith(("dev.", "seen-lines")):
        assert same_tensors(folder, resumed), f"{name}: other weights"
    shutil.rmtree(folder.parent)
