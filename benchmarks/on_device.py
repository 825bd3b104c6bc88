"""What `gpu.py` measures: training, the size of batches, decoding, and agreement with the CPU."""

from __future__ import annotations

import dataclasses
import gc
import resource
import time
from dataclasses import dataclass

import numpy as np
import torch
from flops import training_operations
from gemm import product_rate, square
from synthetic import RandomStore, number_tokenizer, random_numbers
from torch._dynamo.utils import counters
from updates import Setup, pairs_of_updates, train_until

from mt.config import Config
from mt.errors import DeviceMemoryError
from mt.events import BatchDone, Event, Notice
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.translation_model import count_parameters
from mt.text.tokenizer_pair import TokenizerPair
from mt.translation.options import TranslationOptions
from mt.translation.translator import Translator

TOLERANCE = 1e-4  # relative, between devices in float32
_BOUND = 25  # tokens of a translation
_GAIN = 1.02  # what twice the batch must bring to be worth its memory

WAYS = ("cuDNN attention", "four batches an update")
"""Ways to train beside the default: kernels of attention planned for each shape, and the work of
an update in four pieces, as `training.accumulate` has it (what merging them would gain)."""

Record = dict[str, object]


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How much is done."""

    vocabulary: int
    pairs: int
    check_pairs: int
    warmup_updates: int
    timed_seconds: float
    """Of each way of training, if it lies within a twentieth of all the time."""
    probe_seconds: float
    """Of each size of batch that is tried."""
    batches: tuple[int, ...]
    """Sizes that are tried, in padded tokens, each twice the one before."""
    sentences: int
    compiler: str
    changes: dict[str, dict[str, object]]
    """Settings that replace those of the presets."""


class _TooLargeError(Exception):
    """A batch did not fit in the memory of the device."""


def free(device: torch.device) -> None:
    """Give back what earlier measurements took, and forget what they compiled."""
    gc.collect()
    torch.compiler.reset()
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def best_batch(setup: Setup, scale: Scale) -> int:
    """The size of batch, of those of `scale`, that fits and beyond which nothing is gained."""
    best, best_rate = scale.batches[0], 0.0
    for size in scale.batches:
        free(setup.device)
        rate = _probe(with_batch(setup, size), scale)
        if rate < _GAIN * best_rate or not rate:
            break
        best, best_rate = size, rate
    free(setup.device)
    return best


def with_batch(setup: Setup, size: int, *, accumulate: int = 1) -> Setup:
    """The same with batches of that size, so many an update."""
    changes: dict[str, object] = {"batch_tokens": size, "accumulate": accumulate}
    values = {"training": changes}
    return dataclasses.replace(setup, config=setup.config.with_values(values))


def _probe(setup: Setup, scale: Scale) -> float:
    """Target tokens a second of a few updates after the first; 0 if a batch does not fit."""
    seen: list[BatchDone] = []

    def refuse_pieces(event: Event) -> None:
        if isinstance(event, Notice):
            raise _TooLargeError

    def is_enough(event: BatchDone) -> bool:
        seen.append(event)
        return len(seen) > 2 and event.seconds - seen[1].seconds >= scale.probe_seconds

    try:
        train_until(setup, is_enough, listener=refuse_pieces)
    except (_TooLargeError, DeviceMemoryError):
        return 0.0
    tokens = sum(event.num_target_tokens for event in seen[2:])
    return tokens / (seen[-1].seconds - seen[1].seconds)


def train(setup: Setup, scale: Scale, *, seconds: float, peak: float | None) -> Record:
    """Target tokens a second, utilisation and memory of training.

    Whenever something was compiled the warm-up begins anew.
    """
    seen: list[BatchDone] = []
    free(setup.device)
    programs, last_warm = num_programs(), scale.warmup_updates

    def is_enough(event: BatchDone) -> bool:
        nonlocal programs, last_warm
        seen.append(event)
        if num_programs() != programs:
            programs, last_warm = num_programs(), event.update + scale.warmup_updates
        return event.update > last_warm and event.seconds - seen[last_warm - 1].seconds >= seconds

    trainer = train_until(setup, is_enough)
    memory = peak_memory(setup.device)
    timed = seen[last_warm:]
    warm = seen[last_warm - 1].seconds
    taken = timed[-1].seconds - warm
    pairs = np.concatenate(
        [np.array(p) for p in pairs_of_updates(trainer, timed[0].update, timed[-1].update)]
    )
    source, target = setup.store.source_lengths[pairs] + 1, setup.store.target_lengths[pairs] + 1
    num_target_tokens = sum(event.num_target_tokens for event in timed)
    assert num_target_tokens == target.sum(), "these are not the pairs that were trained on"
    counted = training_operations(
        setup.config.model,
        vocabulary=setup.vocabulary,
        source=source.tolist(),
        target=target.tolist(),
        num_labels=num_target_tokens,
    )
    tera = counted.total / taken / 1e12
    limit = product_rate(square(setup.device), setup.dtype, setup.device).best / 1e3
    return {
        "preset": setup.config.preset,
        "compiled": setup.compiler or "no",
        "precision": str(setup.dtype).removeprefix("torch."),
        "parameters": count_parameters(trainer.model),
        "batch_tokens": setup.config.training.batch_tokens,
        "accumulate": setup.config.training.accumulate,
        "updates": len(timed),
        "warmup_seconds": round(warm, 1),
        "tokens_per_second": round(num_target_tokens / taken),
        "tflop_per_second": round(tera, 3),
        "utilisation": None if peak is None else round(tera / peak, 4),
        "share_of_measured_limit": round(tera / limit, 4),
        "peak_gb": round(memory / 1e9, 2),
    }


def train_otherwise(
    setup: Setup, scale: Scale, *, way: str, seconds: float, peak: float | None
) -> Record:
    """`train` in one of `WAYS`, which are not the default until a GPU has run them."""
    if way == "four batches an update":
        size = setup.config.training.batch_tokens
        setup = with_batch(setup, max(size // 4, scale.batches[0] // 4), accumulate=4)
    before = torch.backends.cuda.cudnn_sdp_enabled()  # type: ignore[no-untyped-call]
    torch.backends.cuda.enable_cudnn_sdp(way == "cuDNN attention")
    try:
        return {"way": way, **train(setup, scale, seconds=seconds, peak=peak)}
    finally:
        torch.backends.cuda.enable_cudnn_sdp(before)


def num_programs() -> int:
    """Programs that `torch.compile` has made so far in this process."""
    return counters["stats"]["unique_graphs"]


def peak_memory(device: torch.device) -> int:
    """Bytes: on a GPU the most that tensors took, on the CPU the process as a whole."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def decode(config: Config, dtype: torch.dtype, device: torch.device, scale: Scale) -> Record:
    """Tokens a second of beam search, end symbols counted."""
    free(device)
    torch.manual_seed(1)
    size = scale.vocabulary
    model = EncoderDecoder(config.model, source_vocab=size, target_vocab=size).to(device)
    tokenizer = number_tokenizer(size)
    search = dataclasses.replace(config.search, beam=4, max_length=_BOUND)
    translator = Translator(
        model,
        TokenizerPair(source=tokenizer, target=tokenizer),
        dataclasses.replace(config, search=search),
        options=TranslationOptions(
            batch_size=min(128, scale.sentences),
            precision="bfloat16" if dtype == torch.bfloat16 else "float32",
        ),
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


class Check:
    """One update on the CPU and on the device, without dropout, of a corpus of one batch."""

    def __init__(self, config: Config, device: torch.device, scale: Scale) -> None:
        self._store = RandomStore(num_pairs=scale.check_pairs, vocabulary=scale.vocabulary)
        values: dict[str, dict[str, object]] = {"model": {"dropout": 0.0}}
        values["training"] = {"batch_tokens": 10**6, "accumulate": 1}
        self._config = config.with_values(values)
        self._device = device
        self._scale = scale
        self._oracle = self._update(torch.device("cpu"), torch.float32)

    def _update(
        self,
        device: torch.device,
        dtype: torch.dtype,
        *,
        tf32: bool = False,
        compiler: str | None = None,
    ) -> BatchDone:
        return first_update(
            Setup(
                config=self._config,
                vocabulary=self._scale.vocabulary,
                store=self._store,
                device=device,
                dtype=dtype,
                tf32=tf32,
                compiler=compiler,
            )
        )

    def plain(self) -> Record:
        """How far the device is from the CPU in float32, TF32 and bfloat16."""
        result: Record = {
            "loss": self._oracle.loss,
            "gradient_norm": self._oracle.gradient_norm,
        }
        result |= self._away("float32", self._update(self._device, torch.float32))
        if self._device.type == "cuda":
            result |= self._away("tf32", self._update(self._device, torch.float32, tf32=True))
        return result | self._away("bfloat16", self._update(self._device, torch.bfloat16))

    def compiled(self) -> Record:
        """How far compiled layers are from the CPU in float32."""
        compiler = self._scale.compiler
        found = self._update(self._device, torch.float32, compiler=compiler)
        return self._away("compiled_float32", found)

    def _away(self, kind: str, found: BatchDone) -> Record:
        return {
            f"{kind}_loss": abs(found.loss / self._oracle.loss - 1),
            f"{kind}_gradient_norm": abs(found.gradient_norm / self._oracle.gradient_norm - 1),
        }
