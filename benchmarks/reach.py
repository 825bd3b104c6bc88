"""How far back does a model see? The click-stream of `sequences_data.py` at several distances.

    python benchmarks/reach.py RESULTS.jsonl --distance 50 --model transformer
    python benchmarks/reach.py RESULTS.jsonl --table

Each call trains one model at one distance and adds a line to RESULTS; `--table` shows them all. The
Transformer of `mt` and an LSTM encoder–decoder of as many parameters, without and with attention,
have the same trainer, batches, optimizer and updates; `--rate` is tried, and the best one shown.
Accuracy is that of the first symbol, the likeliest of all, on windows that training did not see.
Times are medians over updates, accuracies left out.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from lstm import LstmEncoderDecoder, width_for
from numpy.typing import NDArray
from sequences_data import NUM_ITEMS, click_pairs
from updates import Setup, train_until

from mt.config import Config, ModelConfig, TrainingConfig
from mt.corpus.store import TokenBlock, TokenStore, write_tokens
from mt.events import BatchDone
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.translation_model import count_parameters
from mt.text.symbols import SymbolTokenizer, learn_symbols
from mt.text.tokenizer import END, START

MODELS = ("transformer", "lstm", "lstm-attention")
NUM_TRAIN, NUM_TEST = 20_000, 1_000
LAYERS = 2
WINDOWS_PER_UPDATE = 64
"""Sources of 60 actions and the end symbol in a batch."""
SHAPE = ModelConfig(
    d_model=64, d_inner=128, encoder_layers=LAYERS, decoder_layers=LAYERS, heads=4, dropout=0.0
)


def make_model(name: str, vocabulary: int) -> EncoderDecoder:
    """A model of the name; all have about the same number of parameters."""
    transformer = EncoderDecoder(SHAPE, source_vocab=vocabulary, target_vocab=vocabulary)
    if name == "transformer":
        return transformer
    attention = name == "lstm-attention"
    width = width_for(
        count_parameters(transformer), vocabulary=vocabulary, layers=LAYERS, attention=attention
    )
    model = LstmEncoderDecoder(
        vocabulary=vocabulary, width=width, layers=LAYERS, attention=attention
    )
    return cast(EncoderDecoder, model)  # the trainer asks no more of it than it has


@torch.no_grad()
def accuracy(
    model: EncoderDecoder, sources: NDArray[np.int64], targets: NDArray[np.int64]
) -> float:
    """The share of windows (N, S) whose likeliest first symbol is the target (N), in per cent."""
    model.eval()
    num_right = 0
    for place in range(0, len(sources), 100):
        source = torch.from_numpy(sources[place : place + 100])
        start = torch.full((len(source), 1), START)
        hidden = model(source, torch.ones_like(source, dtype=torch.bool), start)
        found = (hidden[:, 0] @ model.output_weight.T).argmax(dim=-1)
        num_right += int((found == torch.from_numpy(targets[place : place + 100])).sum())
    model.train()
    return 100 * num_right / len(sources)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Train one model at one distance; what came out."""
    torch.set_num_threads(arguments.threads)
    train = click_pairs(NUM_TRAIN, distance=arguments.distance, seed="train")
    test = click_pairs(NUM_TEST, distance=arguments.distance, seed="test")
    tokenizer = learn_symbols((text for pair in train for text in pair), vocab_size=1000)
    sources, targets = _as_arrays(tokenizer, test)
    setup = Setup(
        config=Config(
            model=SHAPE,
            training=TrainingConfig(
                batch_tokens=WINDOWS_PER_UPDATE * (sources.shape[1]),
                peak_rate=arguments.rate,
                warmup_updates=100,
                label_smoothing=0.0,
                seed=arguments.seed,
            ),
        ),
        vocabulary=tokenizer.vocab_size,
        store=_store(Path(arguments.results).with_suffix(".arrow"), tokenizer, train),
        device=torch.device("cpu"),
        dtype=torch.float32,
    )
    torch.manual_seed(arguments.seed)
    model = make_model(arguments.model, tokenizer.vocab_size)
    curve: list[tuple[int, float]] = []
    durations: list[float] = []
    began = last = time.monotonic()

    def is_enough(event: BatchDone) -> bool:
        nonlocal last
        durations.append(time.monotonic() - last)
        is_last = event.update >= arguments.updates
        is_last = is_last or time.monotonic() - began > arguments.seconds
        if is_last or event.update % arguments.every == 0:
            curve.append((event.update, accuracy(model, sources, targets)))
        last = time.monotonic()
        return bool(is_last)

    train_until(setup, is_enough, make_model=lambda: model)
    return {
        "model": arguments.model,
        "distance": arguments.distance,
        "parameters": count_parameters(model),
        "rate": arguments.rate,
        "updates": curve[-1][0],
        "accuracy": curve[-1][1],
        "ms_per_update": 1000 * statistics.median(durations),
        "curve": curve,
        "threads": arguments.threads,
        "seed": arguments.seed,
    }


def _as_arrays(
    tokenizer: SymbolTokenizer, pairs: list[tuple[str, str]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sources with their end symbols (N, S), and the one symbol of each target (N)."""
    sources = [[*tokenizer.encode(source), END] for source, _ in pairs]
    targets = [tokenizer.encode(target)[0] for _, target in pairs]
    return np.array(sources, dtype=np.int64), np.array(targets, dtype=np.int64)


def _store(path: Path, tokenizer: SymbolTokenizer, pairs: list[tuple[str, str]]) -> TokenStore:
    sides = [tokenizer.encode_batch([pair[side] for pair in pairs]) for side in (0, 1)]
    write_tokens(path, [TokenBlock.of(*sides)], vocab_size=tokenizer.vocab_size)
    return TokenStore(path)


def table(results: list[dict[str, Any]]) -> str:
    """A row of Markdown for each model and distance, at the rate that did best."""
    lines = [
        "| model | parameters | distance | accuracy | updates | 99 % from | rate | ms an update |",
        "|---" * 8 + "|",
    ]
    best: dict[tuple[int, int], dict[str, Any]] = {}
    for each in results:
        key = MODELS.index(each["model"]), each["distance"]
        if key not in best or each["accuracy"] > best[key]["accuracy"]:
            best[key] = each
    for _, each in sorted(best.items()):
        first = next((update for update, value in each["curve"] if value >= 99), None)
        lines.append(
            f"| {each['model']} | {each['parameters']:,} | {each['distance']} "
            f"| {each['accuracy']:.1f} % | {each['updates']:,} "
            f"| {'never' if first is None else f'{first:,}'} | {each['rate']:g} "
            f"| {each['ms_per_update']:.0f} |"
        )
    lines.append("")
    lines.append(f"Chance is {100 / NUM_ITEMS:.1f} %.")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--table", action="store_true", help="show what RESULTS holds")
    parser.add_argument("--model", choices=MODELS, default="transformer")
    parser.add_argument("--distance", type=int, default=50)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--updates", type=int, default=2000)
    parser.add_argument("--every", type=int, default=100, help="updates between accuracies")
    parser.add_argument("--seconds", type=float, default=160, help="end earlier than --updates")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if not arguments.table:
        result = run(arguments)
        with arguments.results.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(result)}\n")
        print(json.dumps(result))
        return
    lines = arguments.results.read_text("utf-8").splitlines()
    print(table([json.loads(line) for line in lines]))


if __name__ == "__main__":
    main()
