"""Do deep stacks train? The loss on reversal, update by update, under pre-norm and post-norm.

python benchmarks/depth.py                   # 60 + 60 layers of width 64, three ways
python benchmarks/depth.py --way pre         # one of them
"""

from __future__ import annotations

import json
import statistics

import click
import torch
from toy_tasks import VOCABULARY, Done, train

from mt.config import Initialisation, ModelConfig, NormOrder, TrainingConfig
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.translation_model import count_parameters

WAYS: dict[str, tuple[NormOrder, Initialisation]] = {
    "pre": ("pre", "xavier"),
    "pre, depth": ("pre", "depth"),
    "post": ("post", "xavier"),
}
"""Order of normalisation, and first weights."""


@click.command()
@click.option("--way", type=click.Choice(list(WAYS)), multiple=True, help="Without it all.")
@click.option("--layers", default=60, show_default=True, help="Of the encoder, and of the decoder.")
@click.option("--longest", default=6, show_default=True, help="Symbols of a sequence.")
@click.option("--sequences", default=32, show_default=True, help="Of an update.")
@click.option("--rate", default=1e-3, show_default=True, help="Learning rate after the warm-up.")
@click.option("--updates", default=150, show_default=True, help="For each way.")
@click.option("--threads", default=2, show_default=True)
def main(
    way: tuple[str, ...],
    layers: int,
    longest: int,
    sequences: int,
    rate: float,
    updates: int,
    threads: int,
) -> None:
    """Print the mean loss of each tenth of a run, and one JSON line."""
    torch.set_num_threads(threads)
    results: dict[str, list[Done]] = {}
    for name in way or tuple(WAYS):
        norm, initialisation = WAYS[name]
        torch.manual_seed(1)
        model = EncoderDecoder(
            ModelConfig(
                d_model=64,
                d_inner=128,
                encoder_layers=layers,
                decoder_layers=layers,
                heads=4,
                dropout=0.0,
                norm=norm,
                initialisation=initialisation,
            ),
            source_vocab=VOCABULARY,
            target_vocab=VOCABULARY,
        )
        config = TrainingConfig(peak_rate=rate, warmup_updates=50, label_smoothing=0.0)
        results[name] = list(
            train(
                model,
                "reversal",
                config=config,
                longest=longest,
                sequences=sequences,
                updates=updates,
            )
        )
        _show(name, results[name], count_parameters(model))
    losses = {name: [round(done.loss, 4) for done in each] for name, each in results.items()}
    print(json.dumps({"layers": 2 * layers, "rate": rate, "losses": losses}))


def _show(name: str, done: list[Done], parameters: int) -> None:
    losses = [each.loss for each in done]
    tenth = max(len(losses) // 10, 1)
    means = [statistics.mean(losses[i : i + tenth]) for i in range(0, len(losses), tenth)]
    pace = statistics.median(each.seconds for each in done)
    print(
        f"{name}: {parameters:,} parameters, {len(losses)} updates, {1000 * pace:.0f} ms each; "
        f"loss by tenths {' '.join(f'{mean:.3f}' for mean in means)}",
        flush=True,
    )


if __name__ == "__main__":
    main()
