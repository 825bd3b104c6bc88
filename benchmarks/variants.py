"""Every form of the Transformer on the same text for the same time: parameters, speed, loss, BLEU.

    python benchmarks/variants.py rates CORPUS WORK
    python benchmarks/variants.py train CORPUS WORK --variant "rotary positions"
    python benchmarks/variants.py table WORK

CORPUS holds `train`, `val` and a test set as aligned text. `rates` measures all variants in turns
on a quiet machine. `train` then gives one variant as many updates as its rate makes in `--minutes`:
so a budget of minutes is the same for all whatever else the machine does meanwhile. Each call adds
lines to a file in WORK, and `table` shows what is there.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import torch
from step import prepare
from time_to_quality import find, last_event, mt
from updates import Setup, train_until

from mt.config.toml import merged, parse_assignment
from mt.corpus.store import TokenStore
from mt.events import BatchDone
from mt.model.device import choose_training_dtype, set_threads
from mt.model_folder.folder import TRAINING, build_model, read_config
from mt.preparation.pipeline import TOKENS
from mt.text.tokenizer_pair import TokenizerPair

DECODER_ONLY = (
    "model.architecture=decoder-only",
    "model.encoder_layers=0",
    "model.decoder_layers=10",  # nearest to the parameters of 4 + 4 layers
)
VARIANTS: dict[str, tuple[str, ...]] = {
    "default": (),
    "learned positions": ("model.positions=learned",),
    "rotary positions": ("model.positions=rotary",),
    "relative positions": ("model.positions=relative",),
    "GELU": ("model.activation=gelu",),
    "SwiGLU": ("model.activation=swiglu",),
    "RMSNorm": ("model.norm_kind=rmsnorm",),
    "post-norm": ("model.norm=post",),
    "post-norm, peak rate 0.001": ("model.norm=post", "training.peak_rate=0.001"),
    "one head of keys and values": ("model.key_value_heads=1",),
    "no biases": ("model.biases=false",),
    "first weights by depth": ("model.initialisation=depth",),
    "rotary, SwiGLU, RMSNorm, no biases": (
        "model.positions=rotary",
        "model.activation=swiglu",
        "model.norm_kind=rmsnorm",
        "model.biases=false",
    ),
    "rotary, first weights by depth": (
        "model.positions=rotary",
        "model.initialisation=depth",
    ),
    "decoder-only": DECODER_ONLY,
    "decoder-only, bidirectional source": (*DECODER_ONLY, "model.bidirectional_source=true"),
}
"""Settings other than those of the preset."""
SETTINGS = ("training.warmup_updates=200", "training.cooldown=0.2", "tokenizer.vocab_size=4000")
"""Those of all runs: the warm-up of the preset is longer than these budgets bear."""
RATES, RUNS = "rates.jsonl", "runs.jsonl"
SKIPPED = 3  # updates of a round that are not timed

_F = TypeVar("_F", bound=Callable[..., Any])


def _text(command: _F) -> _F:
    """Add the arguments and options that say what is trained on."""
    for option in (
        click.option("--target", default="de", show_default=True),
        click.option("--source", default="en", show_default=True),
        click.argument("work", type=click.Path(path_type=Path)),
        click.argument("corpus", type=click.Path(path_type=Path, exists=True)),
    ):
        command = option(command)
    return command


def _assignments(variant: str) -> tuple[str, ...]:
    return (*SETTINGS, *VARIANTS[variant])


def _flags(variant: str) -> list[str]:
    """The settings of a variant as arguments of `mt train`."""
    sets = (("--set", assignment) for assignment in _assignments(variant))
    return ["--preset", "tiny", *(word for pair in sets for word in pair)]


def _add(path: Path, record: dict[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(record)}\n")
    click.echo(json.dumps(record))


def _records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _rate(work: Path, variant: str, key: str = "updates_per_second") -> float:
    """The median over the rounds of `rates`."""
    records = _records(work / RATES)
    found: list[float] = [each[key] for each in records if each["variant"] == variant]
    if not found:
        raise click.ClickException(f"{work / RATES} has no {variant}: measure its rate first")
    return statistics.median(found)


@click.group()
def main() -> None:
    """Compare the forms of the Transformer."""


@main.command()
@_text
@click.option("--variant", "variants", type=click.Choice(list(VARIANTS)), multiple=True)
@click.option("--rounds", default=9, show_default=True, help="Of all variants in random order.")
@click.option("--updates", default=10, show_default=True, help="Timed, of a round.")
@click.option("--threads", default=2, show_default=True)
def rates(
    corpus: Path,
    work: Path,
    source: str,
    target: str,
    variants: tuple[str, ...],
    rounds: int,
    updates: int,
    threads: int,
) -> None:
    """Measure updates and target tokens a second, all variants in turns (without --variant)."""
    prepared = work / "prepared"
    if not prepared.exists():
        prepare(corpus, prepared, (source, target), _flags("default"))
    set_threads(threads)
    store = TokenStore(prepared / TRAINING / TOKENS)
    base = read_config(prepared)
    tokenizers = TokenizerPair.load(prepared, joint=True)
    device = torch.device("cpu")
    for turn in range(1, rounds + 1):
        order = list(variants or VARIANTS)
        random.Random(turn).shuffle(order)
        for variant in order:
            setup = Setup(
                config=base.with_values(merged(*map(parse_assignment, _assignments(variant)))),
                vocabulary=tokenizers.target.vocab_size,
                store=store,
                device=device,
                dtype=choose_training_dtype("auto", device),
            )
            seconds, tokens = _timed(setup, tokenizers, updates)
            record = {
                "variant": variant,
                "round": turn,
                "threads": threads,
                "updates_per_second": updates / seconds,
                "tokens_per_second": tokens / seconds,
            }
            _add(work / RATES, record)


def _timed(setup: Setup, tokenizers: TokenizerPair, updates: int) -> tuple[float, int]:
    """Seconds and target tokens of some updates after those that are skipped."""
    moments: list[float] = []
    tokens: list[int] = []

    def is_enough(event: BatchDone) -> bool:
        moments.append(time.perf_counter())
        tokens.append(event.num_target_tokens)
        return len(moments) == SKIPPED + updates

    train_until(setup, is_enough, make_model=lambda: build_model(setup.config, tokenizers))
    return moments[-1] - moments[SKIPPED - 1], sum(tokens[SKIPPED:])


@main.command()
@_text
@click.option("--variant", type=click.Choice(list(VARIANTS)), default="default")
@click.option("--minutes", default=4.0, show_default=True, help="Of training at its rate.")
@click.option("--seed", default=1, show_default=True)
@click.option("--test", "test_set", default="test_2016_flickr", show_default=True)
@click.option("--threads", default=2, show_default=True)
def train(
    corpus: Path,
    work: Path,
    source: str,
    target: str,
    variant: str,
    minutes: float,
    seed: int,
    test_set: str,
    threads: int,
) -> None:
    """Train a variant by `mt train`, validate it once, at the end, and score the test set."""
    updates = round(60 * minutes * _rate(work, variant))
    (texts, dev, test) = (
        [find(corpus, stem, side) for side in (source, target)]
        for stem in ("train", "val", test_set)
    )
    model = work / f"{variant.replace(',', '').replace(' ', '-')}-{seed}"
    machine = ("--threads", str(threads))
    mt(
        *("train", *texts, "--dev", dev[0], "--dev", dev[1], "-o", str(model), *_flags(variant)),
        *("--updates", str(updates), "--seed", str(seed), *machine),
        *("--set", f"training.validate_every={updates}"),
    )
    scores = json.loads(mt("eval", "-m", str(model), *test, "--json", *machine))["scores"]
    validated = last_event(model, "Validated")
    record = {
        "variant": variant,
        "seed": seed,
        "minutes": minutes,
        "updates": updates,
        "parameters": last_event(model, "TrainingStarted")["num_parameters"],
        "dev": validated["scores"],
        "test": {score["name"]: score["score"] for score in scores},
        "signature": scores[0]["signature"],
    }
    _add(work / RUNS, record)


@main.command()
@click.argument("work", type=click.Path(path_type=Path, exists=True))
def table(work: Path) -> None:
    """Print all runs in Markdown, in the order of the variants, and the signature."""
    runs = sorted(_records(work / RUNS), key=lambda run: list(VARIANTS).index(run["variant"]))
    click.echo(
        "| variant | parameters | tokens/s | updates | dev loss | dev BLEU | test BLEU |\n"
        "|---|---:|---:|---:|---:|---:|---:|"
    )
    for run in runs:
        title = run["variant"] if run["seed"] == 1 else f"{run['variant']}, seed {run['seed']}"
        speed = _rate(work, run["variant"], "tokens_per_second")
        click.echo(
            f"| {title} | {run['parameters']:,} | {speed:,.0f} | {run['updates']:,} "
            f"| {run['dev']['loss']:.3f} | {run['dev']['BLEU']:.1f} | {run['test']['BLEU']:.1f} |"
        )
    click.echo(f"\nBLEU: {', '.join(sorted({run['signature'] for run in runs}))}")


if __name__ == "__main__":
    main()
