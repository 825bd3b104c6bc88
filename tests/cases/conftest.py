"""The toy corpus and the one model that the cases share."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock

from mt.translation.options import TranslationOptions
from mt.translation.translator import Translator
from tests.cases.runs import Run, run_here
from tests.cases.toy import Toy

_SETTINGS = (
    *("--updates", "300", "--batch-tokens", "1024", "--vocab-size", "400", "--seed", "1"),
    *("--device", "cpu", "--precision", "float32"),
    *("--set", "tokenizer.kind=bpe", "--set", "corpus.max_length=50"),
    *("--set", "model.d_model=64", "--set", "model.d_inner=128", "--set", "model.dropout=0.1"),
    *("--set", "model.encoder_layers=2", "--set", "model.decoder_layers=2"),
    *("--set", "training.warmup_updates=100"),
    *("--set", "training.validate_every=100"),
)


@dataclass(frozen=True, kw_only=True)
class Trained:
    """A model folder and the run that made it."""

    folder: Path
    run: Run


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Toy:
    """The toy corpus on disk; tests do not change it."""
    return Toy.write(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="session")
def trained(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """A model that has learnt the toy language, trained once by `mt train`.

    Of several test processes one trains, and the others wait and take what it made.
    """
    base = tmp_path_factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "trained"
    place.mkdir(exist_ok=True)
    said = place / "stderr"
    with FileLock(place / "lock"):
        if not said.exists():
            folder = place / "model"
            run = run_here("train", *toy.train.arguments, *toy.dev.as_dev, "-o", folder, *_SETTINGS)
            (place / "stdout").write_bytes(run.check().out)
            said.write_text(run.err, "utf-8")
    run = Run(status=0, out=(place / "stdout").read_bytes(), err=said.read_text("utf-8"))
    return Trained(folder=place / "model", run=run)


@pytest.fixture(scope="session")
def model(trained: Trained) -> Path:
    """The folder of the toy model; tests do not change it."""
    return trained.folder


@pytest.fixture(scope="session")
def translator(model: Path) -> Translator:
    """The toy model through the Python API, with the settings of its folder."""
    return Translator.load(model, options=TranslationOptions(device="cpu"))


@pytest.fixture
def own_model(model: Path, tmp_path: Path) -> Path:
    """A copy of the toy model that a test may change."""
    folder = tmp_path / "own-model"
    shutil.copytree(model, folder)
    return folder
