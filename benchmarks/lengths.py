"""Accuracy on sequences longer than any in training, by kind of positions.

python benchmarks/lengths.py                           # copy, all kinds
python benchmarks/lengths.py --task reversal --kind rotary
"""

from __future__ import annotations

import json
import statistics
from typing import get_args

import click
import torch
from toy_tasks import VOCABULARY, Task, accuracy, train

from mt.config import ModelConfig, PositionKind, TrainingConfig
from mt.errors import DataError
from mt.model.encoder_decoder import EncoderDecoder

LENGTHS = (20, 25, 30, 40)


@click.command()
@click.option("--task", type=click.Choice(get_args(Task)), default="copy", show_default=True)
@click.option(
    "--kind", "kinds", type=click.Choice(get_args(PositionKind)), multiple=True, help="Default: all"
)
@click.option("--longest", default=20, show_default=True, help="Symbols of a sequence in training.")
@click.option("--sequences", default=64, show_default=True, help="Of an update; tested are 200.")
@click.option("--rate", default=2e-3, show_default=True, help="Learning rate after the warm-up.")
@click.option("--updates", default=3000, show_default=True, help="For each kind.")
@click.option("--threads", default=2, show_default=True)
def main(
    task: Task,
    kinds: tuple[PositionKind, ...],
    longest: int,
    sequences: int,
    rate: float,
    updates: int,
    threads: int,
) -> None:
    """Print a row a kind, sequences right and symbols right in %, and one JSON line."""
    torch.set_num_threads(threads)
    print("| positions | ms an update | last loss | " + " | ".join(map(str, LENGTHS)) + " |")
    print("|---" * (3 + len(LENGTHS)) + "|")
    found: dict[str, list[tuple[float, float] | None]] = {}
    for kind in kinds or get_args(PositionKind):
        torch.manual_seed(1)
        model = EncoderDecoder(
            ModelConfig(
                d_model=64,
                d_inner=256,
                encoder_layers=2,
                decoder_layers=2,
                heads=4,
                dropout=0.0,
                positions=kind,
                max_positions=longest + 2,  # with the end symbol, and one that search may try
            ),
            source_vocab=VOCABULARY,
            target_vocab=VOCABULARY,
        )
        done = list(
            train(
                model,
                task,
                config=TrainingConfig(
                    peak_rate=rate, warmup_updates=200, cooldown=0.2, label_smoothing=0.0
                ),
                longest=longest,
                sequences=sequences,
                updates=updates,
            )
        )
        found[kind] = [_accuracy(model, task, length) for length in LENGTHS]
        cells = [
            "refused" if each is None else f"{100 * each[0]:.0f} / {100 * each[1]:.0f}"
            for each in found[kind]
        ]
        last = sum(each.loss for each in done[-50:]) / len(done[-50:])
        pace = statistics.median(each.seconds for each in done)
        print(f"| {kind} | {1000 * pace:.0f} | {last:.4f} | {' | '.join(cells)} |", flush=True)
    print(json.dumps({"task": task, "longest": longest, "lengths": LENGTHS, "accuracy": found}))


def _accuracy(model: EncoderDecoder, task: Task, length: int) -> tuple[float, float] | None:
    """Shares of sequences and symbols that are right; None where the model refuses the length."""
    try:
        return accuracy(model, task, length=length, sequences=200)
    except DataError:
        return None


if __name__ == "__main__":
    main()
