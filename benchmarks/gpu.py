"""One GPU in one command: training, memory, decoding, and whether it computes what the CPU does.

    python benchmarks/gpu.py
    python benchmarks/gpu.py --device cpu --quick     (tiny shapes, to try the program)

Trains the presets `base` and `big` on synthetic tokens by mt's own Trainer, without validation.
The operations of a model are 6 N a token and those of attention (benchmarks/flops.py): for a pair
of S source and T target tokens, with D the width, I the inner width, V the vocabulary and the
matrices of each layer counted for the tokens that go through them,

    3 * (encoder layers * (2 S (4 D^2 + 2 D I) + 4 S^2 D)
         + decoder layers * (2 T (6 D^2 + 2 D I) + 4 S D^2 + 4 T^2 D + 4 T S D)
         + 2 T D V)

over real tokens, padding left out. The model-FLOP utilisation is that over time, over the peak of
the card for dense bfloat16 products (a table, or --peak); beside it stands the share of the limit
that a large product of the same type reaches here.

Decoding is by beam 4 through mt's Translator, with first weights and a bound of 25 tokens. The
check makes one update of `base` without dropout on the CPU and on the device.
"""

from __future__ import annotations

import dataclasses
import json
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass

import click
import numpy as np
import torch
from flops import training_operations
from gemm import product_rate, square
from synthetic import NumberTokenizer, RandomStore, random_numbers
from updates import Setup, pairs_of_updates, train_until

from mt.config import Config
from mt.corpus.store import TokenStore
from mt.events import BatchDone
from mt.model.device import choose_device, has_fast_bfloat16, set_threads
from mt.model.encoder_decoder import EncoderDecoder, count_parameters
from mt.presets import preset
from mt.text.tokenizer_pair import TokenizerPair
from mt.translate.translator import Translator

_PEAKS = {  # TFLOP/s of dense bfloat16 products, as the maker states them; the first that fits
    "H200": 989.0,
    "H100 PCIe": 756.0,
    "H100": 989.0,
    "A100": 312.0,
    "L40S": 362.0,
    "L4": 121.0,
    "A10": 125.0,
    "RTX 4090": 165.0,
    "RTX 3090": 71.0,
}
_TOLERANCE = 1e-4  # relative, between devices in float32
_BOUND = 25  # tokens of a translation


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How much is done."""

    vocabulary: int
    pairs: int
    warmup_updates: int
    seconds: float
    """Of training that is timed, for each preset."""
    sentences: int
    changes: dict[str, dict[str, object]]
    """Settings that replace those of the presets."""


FULL = Scale(
    vocabulary=32_000, pairs=100_000, warmup_updates=5, seconds=20.0, sentences=512, changes={}
)
QUICK = Scale(
    vocabulary=300,
    pairs=500,
    warmup_updates=1,
    seconds=1.0,
    sentences=8,
    changes={
        "model": {"d_model": 32, "d_inner": 64, "encoder_layers": 2, "decoder_layers": 2},
        "training": {"batch_tokens": 512},
    },
)


def train(setup: Setup, scale: Scale, peak: float | None) -> dict[str, object]:
    """Target tokens a second, utilisation and memory of training."""
    seen: list[BatchDone] = []
    if setup.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()

    def is_enough(event: BatchDone) -> bool:
        seen.append(event)
        if event.update <= scale.warmup_updates:
            return False
        return event.seconds - seen[scale.warmup_updates - 1].seconds >= scale.seconds

    trainer = train_until(setup, is_enough)
    memory = peak_memory(setup.device)
    timed = seen[scale.warmup_updates :]
    seconds = timed[-1].seconds - seen[scale.warmup_updates - 1].seconds
    pairs = np.concatenate(
        [np.array(p) for p in pairs_of_updates(trainer, timed[0].update, timed[-1].update)]
    )
    source, target = setup.store.source_lengths[pairs] + 1, setup.store.target_lengths[pairs] + 1
    counted = training_operations(
        setup.config.model,
        vocabulary=setup.vocabulary,
        source=source.tolist(),
        target=target.tolist(),
        num_labels=int(target.sum()),
    )
    tera = counted.total / seconds / 1e12
    limit = product_rate(square(setup.device), setup.dtype, setup.device).best / 1e3
    return {
        "preset": setup.config.preset,
        "precision": str(setup.dtype).removeprefix("torch."),
        "parameters": count_parameters(trainer.model),
        "batch_tokens": setup.config.training.batch_tokens,
        "accumulate": setup.config.training.accumulate,
        "updates": len(timed),
        "tokens_per_second": round(sum(event.num_target_tokens for event in timed) / seconds),
        "tflop_per_second": round(tera, 3),
        "utilisation": None if peak is None else round(tera / peak, 4),
        "share_of_measured_limit": round(tera / limit, 4),
        "peak_gb": round(memory / 1e9, 2),
    }


def peak_memory(device: torch.device) -> int:
    """Bytes: on a GPU the most that tensors took, on the CPU the process as a whole."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def decode(
    config: Config, dtype: torch.dtype, device: torch.device, scale: Scale
) -> dict[str, object]:
    """Tokens a second of beam search, end symbols counted."""
    torch.manual_seed(1)
    size = scale.vocabulary
    model = EncoderDecoder(config.model, source_vocab=size, target_vocab=size).to(device)
    tokenizer = NumberTokenizer(size)
    search = dataclasses.replace(config.search, beam=4, max_length=_BOUND)
    translator = Translator(
        model,
        TokenizerPair(source=tokenizer, target=tokenizer),
        dataclasses.replace(config, search=search),
        batch_size=min(128, scale.sentences),
        dtype=dtype,
    )
    lengths = np.random.default_rng(2).integers(10, 40, size=scale.sentences)
    lines = [tokenizer.decode(numbers) for numbers in random_numbers(lengths, vocabulary=size)]
    translator.translate_window(lines[:8])
    begun = time.perf_counter()
    translations = list(translator.translate(lines))
    seconds = time.perf_counter() - begun
    tokens = sum(len(each.hypotheses[0].tokens) + 1 for each in translations)
    return {
        "preset": config.preset,
        "precision": str(dtype).removeprefix("torch."),
        "tokens_per_second": round(tokens / seconds),
        "sentences_per_second": round(len(lines) / seconds, 1),
    }


def first_update(setup: Setup) -> BatchDone:
    """What the first update says: its loss and the norm of its gradient."""
    events: list[BatchDone] = []

    def is_enough(event: BatchDone) -> bool:
        events.append(event)
        return True

    train_until(setup, is_enough)
    return events[0]


def check(
    config: Config, device: torch.device, store: TokenStore, scale: Scale
) -> dict[str, object]:
    """Loss and gradient norm of one update on the CPU and on the device, without dropout."""
    values: dict[str, dict[str, object]] = {"model": {"dropout": 0.0}}
    values["training"] = {"batch_tokens": 1024, "accumulate": 1}
    plain = config.with_values(values)

    def update(place: torch.device, dtype: torch.dtype) -> BatchDone:
        return first_update(
            Setup(config=plain, vocabulary=scale.vocabulary, store=store, device=place, dtype=dtype)
        )

    oracle = update(torch.device("cpu"), torch.float32)
    result: dict[str, object] = {"loss": oracle.loss, "gradient_norm": oracle.gradient_norm}
    for dtype in (torch.float32, torch.bfloat16):
        found = update(device, dtype)
        kind = str(dtype).removeprefix("torch.")
        loss, norm = oracle.loss, oracle.gradient_norm
        result[f"{kind}_loss"] = abs(found.loss / loss - 1)
        result[f"{kind}_gradient_norm"] = abs(found.gradient_norm / norm - 1)
        if dtype == torch.float32:
            worst = max(abs(found.loss / loss - 1), abs(found.gradient_norm / norm - 1))
            result["agrees"] = worst <= _TOLERANCE
    return result


def table(rows: Sequence[dict[str, object]]) -> None:
    """Print records of the same fields."""
    click.echo("| " + " | ".join(key.replace("_", " ") for key in rows[0]) + " |")
    click.echo("|" + "---|" * len(rows[0]))
    for row in rows:
        cells = ("–" if value is None else str(value) for value in row.values())
        click.echo("| " + " | ".join(cells) + " |")


@click.command()
@click.option("--device", "name", default="cuda", show_default=True)
@click.option("--quick", is_flag=True, help="Tiny shapes: to try the program.")
@click.option("--peak", type=float, help="TFLOP/s of the card for dense bfloat16 products.")
@click.option("--batch-tokens", type=click.IntRange(min=1), help="Else the preset's.")
@click.option("--seconds", type=float, help="Timed training of each preset; else 20.")
@click.option("--threads", type=click.IntRange(min=1))
def main(
    name: str,
    quick: bool,
    peak: float | None,
    batch_tokens: int | None,
    seconds: float | None,
    threads: int | None,
) -> None:
    """Measure one GPU."""
    device = choose_device(name)
    set_threads(threads)
    scale = QUICK if quick else FULL
    if seconds is not None:
        scale = dataclasses.replace(scale, seconds=seconds)
    values = {key: dict(section) for key, section in scale.changes.items()}
    if batch_tokens is not None:
        values.setdefault("training", {})["batch_tokens"] = batch_tokens
    card = torch.cuda.get_device_name() if device.type == "cuda" else "CPU"
    if peak is None:
        peak = next((value for part, value in _PEAKS.items() if part in card), None)
    dtype = torch.bfloat16 if has_fast_bfloat16(device) else torch.float32
    configs = [preset(size).with_values(values) for size in ("base", "big")]
    begun = time.perf_counter()
    store = RandomStore(num_pairs=scale.pairs, vocabulary=scale.vocabulary)
    checked = check(configs[0], device, store, scale)
    click.echo(f"check: {checked}")
    trained = []
    for config in configs:
        setup = Setup(
            config=config,
            vocabulary=scale.vocabulary,
            store=store,
            device=device,
            dtype=dtype,
        )
        # The table of peaks is of bfloat16 products.
        trained.append(train(setup, scale, peak if dtype == torch.bfloat16 else None))
        if device.type == "cuda":
            torch.cuda.empty_cache()
    decoded = [
        decode(config, kind, device, scale)
        for config in configs
        for kind in dict.fromkeys((torch.float32, dtype))
    ]
    table(trained)
    click.echo("")
    table(decoded)
    record = {
        "card": card,
        "torch": torch.__version__,
        "peak_tflops": peak,
        "seconds": round(time.perf_counter() - begun, 1),
        "check": checked,
        "training": trained,
        "decoding": decoded,
    }
    click.echo(json.dumps(record))
    if not checked["agrees"]:
        raise click.ClickException(f"{card} and CPU differ by more than {_TOLERANCE:g} in float32")


if __name__ == "__main__":
    main()
