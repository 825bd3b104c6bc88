"""Make the model folders of a release, and what that release did with them.

`python -m tests.versions.make_release FOLDER`, with the code of the release: trains a small model
of each form on the toy corpus of tests/cases/toy.py, and writes beside it what the same code makes
of it: translations, scores, and the weights after more updates.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from safetensors.torch import load_file, save_file

from tests.cases.toy import toy_pairs, write_files

UPDATES, MORE = 300, 320
"""Updates of the model, and those after which the resumed run ends."""

COMMON = (
    *("--device", "cpu", "--precision", "float32", "--threads", "1", "--seed", "1"),
    *("--updates", str(UPDATES), "--batch-tokens", "512", "--set", "corpus.max_length=50"),
    *("--set", "model.d_model=12", "--set", "model.d_inner=24", "--set", "model.heads=2"),
    *("--set", "model.dropout=0.1", "--set", "training.peak_rate=1e-2"),
    *("--set", "training.warmup_updates=60", "--set", "training.average_decay=0.97"),
    *("--set", "training.validate_every=300", "--set", "search.max_length=40"),
)
ONE_LAYER = ("--set", "model.encoder_layers=1", "--set", "model.decoder_layers=1")
FORMS: dict[str, tuple[str, ...]] = {
    "subwords": (*ONE_LAYER, "--vocab-size", "290", "--set", "tokenizer.kind=bpe"),
    "symbols": (
        *(*ONE_LAYER, "--tokenizer", "symbols", "--set", "tokenizer.joint=false"),
        *("--set", "model.tied=target", "--set", "model.positions=rotary"),
        *("--set", "model.norm=post", "--set", "model.key_value_heads=1"),
    ),
    "decoder-only": (
        *("--architecture", "decoder-only", "--tokenizer", "symbols"),
        *("--set", "model.encoder_layers=0", "--set", "model.decoder_layers=2"),
        *("--set", "model.positions=relative", "--set", "model.norm_kind=rmsnorm"),
        *("--set", "model.activation=swiglu", "--set", "model.biases=false"),
    ),
}
"""The options of each form, by its name."""

RESUMED = ("subwords", "symbols")
"""The forms that keep what resuming needs."""


def run(*arguments: str, cwd: Path, stdin: Path | None = None) -> bytes:
    """The output of a command of mt."""
    given = stdin.read_bytes() if stdin else b""
    done = subprocess.run(
        [sys.executable, "-m", "mt", *arguments],
        input=given,
        stdout=subprocess.PIPE,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        timeout=600,
        check=True,
    )
    return done.stdout


def make(folder: Path) -> None:
    """Write all of it into `folder`."""
    folder.mkdir(parents=True)
    for stem, number in (("train", 200), ("dev", 10), ("test", 12)):
        write_files(folder, stem, toy_pairs(number, seed=f"release: {stem}"))
    sides = ("train.src", "train.tgt", "--dev", "dev.src", "--dev", "dev.tgt")
    for form, options in FORMS.items():
        run("train", *sides, "-o", form, *COMMON, *options, cwd=folder)
        record(folder, form)
        if form in RESUMED:
            record_resumed(folder, form)
        else:
            shutil.rmtree(folder / form / "training")


def record(folder: Path, form: str) -> None:
    """Write what this code makes of the model: `FORM.json`, `FORM.score`, `FORM.eval`."""
    on_cpu = ("-m", form, "--device", "cpu", "--threads", "1")
    translated = run("translate", *on_cpu, "--json", cwd=folder, stdin=folder / "test.src")
    (folder / f"{form}.json").write_bytes(translated)
    scored = run("score", *on_cpu, "test.src", "test.tgt", cwd=folder)
    (folder / f"{form}.score").write_bytes(scored)
    evaluated = run("eval", *on_cpu, "test.src", "test.tgt", "--json", cwd=folder)
    (folder / f"{form}.eval").write_bytes(evaluated)


def record_resumed(folder: Path, form: str) -> None:
    """Write the weights after more updates: `FORM.resumed.safetensors`."""
    copy = folder / "resumed"
    shutil.copytree(folder / form, copy)
    run("train", "--resume", "resumed", "--updates", str(MORE), "--threads", "1", cwd=folder)
    state = load_file(copy / "training" / f"checkpoint-{MORE}" / "state.safetensors")
    kept = {name: state[name] for name in state if name.startswith("model.")}
    save_file(kept, folder / f"{form}.resumed.safetensors")
    shutil.rmtree(copy)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
