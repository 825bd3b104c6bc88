"""What each of two ranks does for test_sharding.py: `python -m tests.training.ranks FOLDER`.

Starting a process takes seconds, so that one pair of them does all. The first rank leaves what it
found in FOLDER.
"""

from __future__ import annotations

import dataclasses
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.distributed.tensor import DTensor

from mt.config import ModelConfig, TrainingConfig
from mt.corpus.store import TokenBlock, TokenStore, write_tokens
from mt.events import BatchDone, Event, Validated
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.inference.search_model import SearchModel
from mt.training.batch import make_batch
from mt.training.checkpoint import Parts, save_checkpoint
from mt.training.data_loader import TrainingData
from mt.training.distributed import Ranks, joined_ranks
from mt.training.sharding import whole
from mt.training.trainer import Trainer
from mt.training.validation import TranslationScores, ValidationTask

VOCABULARY = 21
MODEL = ModelConfig(
    d_model=12, d_inner=30, encoder_layers=2, decoder_layers=2, heads=3, dropout=0.0
)
"""Sizes of which some cannot be cut in two equal parts."""
WIDE = ModelConfig(
    d_model=128, d_inner=512, encoder_layers=2, decoder_layers=2, heads=4, dropout=0.0
)
PLAN = TrainingConfig(
    batch_tokens=40,
    warmup_updates=4,
    optimizer="muon",
    peak_rate=1e-2,
    validate_every=3,
    max_updates=6,
    patience=0,
    clip_norm=0.5,
    average_decay=0.9,
    keep_weights=1,
)
MICRO_BATCHES = ([0, 1], [2, 4], [3], [5, 6, 7])
"""Of very unequal numbers of tokens; a rank of two takes every second one."""


def write_pairs(path: Path, lengths: list[int], seed: int) -> None:
    draw = random.Random(seed)
    sides = [[draw.randrange(4, VOCABULARY) for _ in range(length)] for length in lengths]
    write_tokens(path, [TokenBlock.of(sides, sides)], vocab_size=VOCABULARY)


class Run:
    """A small run that anyone can repeat: no dropout, the same first weights."""

    def __init__(
        self,
        folder: Path,
        pairs: Path,
        *,
        config: TrainingConfig = PLAN,
        ranks: Ranks | None = None,
        shard: bool = False,
        dtype: torch.dtype = torch.float64,
        shape: ModelConfig = MODEL,
    ) -> None:
        self.events: list[Event] = []
        self.num_kept = 0
        torch.manual_seed(1)
        torch.set_default_dtype(torch.float32 if dtype == torch.bfloat16 else dtype)
        model = EncoderDecoder(shape, source_vocab=VOCABULARY, target_vocab=VOCABULARY)
        torch.set_default_dtype(torch.float32)
        self.first_weights = [p.detach().clone() for p in model.parameters()]
        store = TokenStore(pairs)
        self.trainer = Trainer(
            model=model,
            config=config,
            data=TrainingData(train=store, dev=store),
            device=torch.device("cpu"),
            dtype=dtype,
            folder=folder,
            validator=self._scores,
            keep_best=self._keep,
            listener=self.events.append,
            ranks=ranks or Ranks(),
            shard=shard,
        )

    @torch.inference_mode()
    def _scores(self, task: ValidationTask) -> TranslationScores:
        """What search sees of the model, in the place of a score of translations."""
        source = torch.arange(4, 12).view(2, 4)
        model = SearchModel(self.trainer.model)
        logits, _ = model.step(source[:, 0], model.start(source, source > 0))
        return TranslationScores(scores={"BLEU": float(logits.square().sum())}, signatures={})

    def _keep(self, progress: object) -> None:
        self.num_kept += 1

    def gradients(self, batches: Sequence[Sequence[int]]) -> dict[str, Tensor]:
        """The gradient of an update of these pairs, by the names of the parameters."""
        trainer = self.trainer
        store = trainer.data.train
        trainer.gradients.accumulate(
            [make_batch(store, batch) for batch in batches],
            drop_gradient=trainer.parts.optimizer.zero_grad,
        )
        named = trainer.parts.model.named_parameters()
        return {name: whole(p.grad) for name, p in named if p.grad is not None}

    @property
    def numbers(self) -> dict[str, list[float]]:
        """Losses, norms and scores that were reported."""
        done = [event for event in self.events if isinstance(event, BatchDone)]
        validated = [event for event in self.events if isinstance(event, Validated)]
        return {
            "loss": [event.loss for event in done],
            "norm": [event.gradient_norm for event in done],
            "dev loss": [event.scores["loss"] for event in validated],
            "search": [event.scores["BLEU"] for event in validated],
        }


def compare_gradients(folder: Path, ranks: Ranks) -> None:
    """Leave the gradient that both engines find, in all precisions."""
    for dtype in (torch.bfloat16, torch.float32, torch.float64):
        for shard in (False, True):
            run = Run(folder, folder / "few.arrow", ranks=ranks, shard=shard, dtype=dtype)
            gradients = run.gradients(ranks.share(MICRO_BATCHES))
            if ranks.is_first:
                save_file(gradients, folder / f"gradient-{shard}-{dtype}.safetensors")


def count_saved(folder: Path, ranks: Ranks) -> None:
    """Leave the bytes that autograd keeps alive from the forward to the backward pass.

    The batch is one short pair, so that activations are next to nothing beside weights.
    """
    found = {}
    for dtype in (torch.float32, torch.bfloat16):
        run = Run(folder, folder / "few.arrow", ranks=ranks, shard=True, dtype=dtype, shape=WIDE)
        saved: list[Tensor] = []

        def keep(tensor: Tensor, saved: list[Tensor] = saved) -> Tensor:
            saved.append(tensor)
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            loss = run.trainer.gradients.loss(make_batch(run.trainer.data.train, [0]))
        # Weights that were given back have storages of no bytes.
        storages = {each.data_ptr(): each for each in map(Tensor.untyped_storage, saved)}
        found[str(dtype)] = sum(storage.nbytes() for storage in storages.values())
        loss.backward()  # type: ignore[no-untyped-call]
        for parameter in run.trainer.parts.model.parameters():
            assert parameter.grad is not None
            assert parameter.dtype == parameter.grad.dtype == torch.float32
    if ranks.is_first:
        layers = sum(p.numel() for layer in run.trainer.model.layers() for p in layer.parameters())
        (folder / "saved.json").write_text(json.dumps({**found, "weights": 2 * layers}))


def train(folder: Path, ranks: Ranks) -> None:
    """Train, each rank in a folder of its own, and leave the numbers."""
    own = folder / f"rank-{ranks.rank}"
    config = dataclasses.replace(PLAN, accumulate=2)
    run = Run(own, folder / "pairs.arrow", config=config, ranks=ranks, shard=True)
    first = [whole(parameter) for parameter in run.trainer.parts.model.parameters()]
    assert all(map(torch.equal, first, run.first_weights))
    run.trainer.run()
    check_share(run.trainer.parts)
    assert run.num_kept == 0 or ranks.is_first
    assert ranks.gathered(run.numbers) == [run.numbers] * ranks.size
    assert not any(p.untyped_storage().size() for p in run.trainer.model.parameters())
    if ranks.is_first:
        (folder / "numbers.json").write_text(json.dumps(run.numbers))


def check_share(parts: Parts) -> None:
    """Demand that this rank holds about half of weights, gradients, moments and average."""
    parameters = list(parts.model.parameters())
    moments = [
        state["momentum" if "momentum" in state else "exp_avg"]
        for state in parts.optimizer.state.values()
    ]
    total = sum(parameter.numel() for parameter in parameters)
    for tensors in (parameters, [p.grad for p in parameters], moments, parts.average.tensors()):
        shards = [tensor.to_local() for tensor in tensors if isinstance(tensor, DTensor)]
        assert len(shards) == len(tensors)
        storages = {storage.data_ptr(): storage for storage in map(Tensor.untyped_storage, shards)}
        held = sum(storage.nbytes() for storage in storages.values()) / shards[0].element_size()
        assert held <= 0.55 * total, held / total  # padding of odd numbers of rows included


def take_over(folder: Path, ranks: Ranks) -> None:
    """Resume what one process has trained, and save it again."""
    run = Run(folder / "alone", folder / "pairs.arrow", ranks=ranks, shard=True)
    run.trainer.resume()
    save_checkpoint(folder / "again", run.trainer.parts, writes=ranks.is_first)


def go_back(folder: Path, ranks: Ranks) -> None:
    """Train with a cooldown, go on with a longer budget, and do that at once, sharded."""
    for name, budgets in (("parts", (5, 10)), ("whole", (10,))):
        for number, updates in enumerate(budgets):
            config = dataclasses.replace(PLAN, cooldown=0.5, max_updates=updates)
            own = folder / f"cooled-{name}"
            run = Run(own, folder / "pairs.arrow", config=config, ranks=ranks, shard=True)
            if number:
                run.trainer.resume()
                assert run.trainer.progress.update == 2
            run.trainer.run()
            ranks.meet()


if __name__ == "__main__":
    torch.set_num_threads(1)
    place, of_ranks = Path(sys.argv[1]), Ranks.of_environment()
    with joined_ranks(of_ranks):
        compare_gradients(place, of_ranks)
        count_saved(place, of_ranks)
        train(place, of_ranks)
        take_over(place, of_ranks)
        go_back(place, of_ranks)
        of_ranks.meet()
