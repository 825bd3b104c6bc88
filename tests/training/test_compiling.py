"""Compiled layers: the same loss, the same names, and one program for all sizes.

The compiler is torch's up to the writing of kernels, which takes long and is left out here
(`aot_eager`); the test marked slow has the whole of it.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

from mt.config import Architecture, ModelConfig, PositionKind
from mt.corpus.store import TokenBlock, TokenStore, write_tokens
from mt.errors import ConfigError
from mt.model.decoder_only import DecoderOnly
from mt.model.encoder_decoder import EncoderDecoder
from mt.training.batch import Batch, make_batch
from mt.training.compiling import WIDTH_MULTIPLE, compile_layers, uncompiled
from mt.training.loss import Objective
from tests.training.small_run import TINY, VOCABULARY, run_in_float64

pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # by torch itself

TWO_LAYERS = dataclasses.replace(TINY, encoder_layers=2, decoder_layers=2, dropout=0.0)


@pytest.fixture(autouse=True)
def _fresh_compiler() -> Iterator[None]:
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    yield
    torch._dynamo.reset()


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    """30 pairs of 1 to 40 tokens a side."""
    draw = random.Random(5)

    def side() -> list[list[int]]:
        return [
            [draw.randrange(4, VOCABULARY) for _ in range(draw.randint(1, 40))] for _ in range(30)
        ]

    write_tokens(tmp_path / "s.arrow", [TokenBlock.of(side(), side())], vocab_size=VOCABULARY)
    return TokenStore(tmp_path / "s.arrow")


def objective_of(compiler: str | None, shape: ModelConfig = TWO_LAYERS) -> Objective:
    torch.manual_seed(2)
    kind = DecoderOnly if shape.architecture == "decoder-only" else EncoderDecoder
    model = kind(shape, source_vocab=VOCABULARY, target_vocab=VOCABULARY)
    if compiler is not None:
        compile_layers(model, backend=compiler)
    return Objective(model.train(), smoothing=0.1, dtype=torch.float32)


def gradient(objective: Objective, batch: Batch) -> tuple[float, list[Tensor]]:
    objective.zero_grad()
    loss = objective(batch)
    loss.backward()
    return float(loss.detach()), [p.grad for p in objective.parameters() if p.grad is not None]


def test_programs_are_not_cut_for_the_buckets_of_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch._dynamo.config, "optimize_ddp", True)
    objective_of("eager")
    assert torch._dynamo.config.optimize_ddp is False


def test_lengths_rounded_up_change_no_loss_and_no_gradient(store: TokenStore) -> None:
    objective = objective_of(None).double()
    objective.dtype = torch.float64
    for indices in ([0, 1, 2], [3], [4, 5, 6, 7, 8]):
        narrow, wide = (make_batch(store, indices, multiple=m) for m in (1, 8))
        assert wide.source.size(1) % 8 == wide.target.size(1) % 8 == 0
        assert torch.equal(wide.labels, narrow.labels)
        loss, gradients = gradient(objective, narrow)
        again, others = gradient(objective, wide)
        assert again == pytest.approx(loss, rel=1e-12)
        for one, other in zip(gradients, others, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("positions", "architecture"),
    [
        ("sinusoidal", "encoder-decoder"),
        ("relative", "decoder-only"),
        *(
            pytest.param(*form, marks=pytest.mark.slow)
            for form in (
                ("sinusoidal", "decoder-only"),
                ("relative", "encoder-decoder"),
                ("rotary", "encoder-decoder"),
                ("rotary", "decoder-only"),
            )
        ),
    ],
)
def test_compiled_layers_give_the_same_gradient_and_are_compiled_a_few_times(
    store: TokenStore, positions: PositionKind, architecture: Architecture
) -> None:
    """However many layers and shapes of batches there are."""
    shape = dataclasses.replace(
        TWO_LAYERS,
        positions=positions,
        architecture=architecture,
        encoder_layers=2 if architecture == "encoder-decoder" else 0,
    )
    plain, compiled = objective_of(None, shape), objective_of("aot_eager", shape)
    counts = []
    for size, start in itertools.product((5, 2, 3, 4, 6, 7), (0, 9, 18)):
        batch = make_batch(store, range(start, start + size), multiple=WIDTH_MULTIPLE)
        loss, gradients = gradient(plain, batch)
        again, others = gradient(compiled, batch)
        assert again == pytest.approx(loss, rel=1e-5)
        for one, other in zip(gradients, others, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
        counts.append(torch._dynamo.utils.counters["stats"]["unique_graphs"])
    num_stacks = 2 if architecture == "encoder-decoder" else 1
    assert counts[0] == num_stacks  # one program each
    assert (
        counts[-1] <= 2 * num_stacks
    )  # where two sizes were equal in the first batch, once more for others
    assert counts[-9:] == [counts[-1]] * 9
    names = [[name for name, _ in each.named_parameters()] for each in (plain, compiled)]
    assert names[0] == names[1]


def test_validation_is_not_compiled(store: TokenStore) -> None:
    plain, compiled = objective_of(None), objective_of("aot_eager")
    batch = make_batch(store, [0, 1, 2])
    with torch.no_grad(), uncompiled(is_compiled=True):
        assert torch.equal(compiled.eval()(batch), plain.eval()(batch))
    assert not torch._dynamo.utils.counters["stats"]["unique_graphs"]


def test_a_compiled_run_goes_on_as_a_plain_one_and_the_other_way(tmp_path: Path) -> None:
    """And it saves under the same names: what is compiled is no part of a checkpoint."""
    runs = []
    for name, plan in (
        ("plain", [(12, None)]),
        ("mixed", [(4, "eager"), (8, None), (12, "eager")]),
    ):
        (tmp_path / name).mkdir()
        for updates, compiler in plan:
            run = run_in_float64(tmp_path / name, updates, compiler=compiler)
            if updates > plan[0][0]:
                run.trainer.resume()
            run.trainer.run()
        runs.append(run)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"]
    assert [run.trainer.progress.update for run in runs] == [12, 12]
    for one, other in zip(runs[0].weights(), runs[1].weights(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-7)


def test_a_missing_compiler_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ConfigError, match="needs a C"):
        objective_of("inductor")


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # torch's compiler uses what torch gave up
def test_the_whole_compiler_gives_the_same_gradient(store: TokenStore) -> None:
    plain, compiled = objective_of(None), objective_of("inductor")
    for size in (5, 7):
        batch = make_batch(store, range(size), multiple=WIDTH_MULTIPLE)
        loss, gradients = gradient(plain, batch)
        again, others = gradient(compiled, batch)
        assert again == pytest.approx(loss, rel=1e-5)
        for one, other in zip(gradients, others, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
