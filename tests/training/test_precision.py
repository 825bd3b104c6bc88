"""What training computes in bfloat16 and TF32, and what it leaves in float32."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from mt.model import device
from mt.model.device import choose_training_dtype
from mt.model.encoder_decoder import EncoderDecoder
from mt.training.batch import make_batch
from mt.training.data_loader import BatchStream
from mt.training.loss import Objective
from tests.training.small_run import TINY, VOCABULARY, Run, budget, write_pairs

_BY_WEIGHTS = ("mm", "addmm")
_FLOAT32 = ("native_layer_norm", "_softmax", "native_layer_norm_backward")


class Operators(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts operators by name and type of their first floating-point input."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: Counter[tuple[str, torch.dtype]] = Counter()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kinds = [x.dtype for x in args if isinstance(x, Tensor) and x.is_floating_point()]
        if kinds:
            self.seen[func.overloadpacket.__name__, kinds[-1]] += 1
        return func(*args, **(kwargs or {}))

    def types_of(self, names: tuple[str, ...]) -> Counter[torch.dtype]:
        found: Counter[torch.dtype] = Counter()
        for (name, kind), count in self.seen.items():
            if name in names:
                found[kind] += count
        return found


def operators_of_an_update(folder: Path, dtype: torch.dtype) -> Operators:
    store = write_pairs(folder / "pairs.arrow", 6)
    torch.manual_seed(1)
    model = EncoderDecoder(TINY, source_vocab=VOCABULARY, target_vocab=VOCABULARY)
    objective = Objective(model.train(), smoothing=0.1, dtype=dtype)
    operators = Operators()
    with operators:
        objective(make_batch(store, range(6))).backward()
    return operators


def test_in_bfloat16_every_weight_is_multiplied_in_it(tmp_path: Path) -> None:
    """Forward and backward, in the layers and at the output; attention on CPUs is in float32."""
    narrow, wide = (
        operators_of_an_update(tmp_path, dtype) for dtype in (torch.bfloat16, torch.float32)
    )
    products = narrow.types_of(_BY_WEIGHTS)
    assert products.keys() == {torch.bfloat16}
    # A layer of the encoder has 5 matrices, one of the decoder 8; each has a forward product and
    # two of the backward pass, and so has the output.
    assert sum(products.values()) >= 3 * (5 + 8 + 1)
    assert wide.types_of(_BY_WEIGHTS) == {torch.float32: sum(products.values())}


def test_in_bfloat16_norms_softmax_and_gradients_stay_in_float32(tmp_path: Path) -> None:
    operators = operators_of_an_update(tmp_path, torch.bfloat16)
    assert operators.types_of(_FLOAT32).keys() == {torch.float32}
    assert operators.types_of(("bmm",)).keys() == {torch.float32}


def test_bfloat16_is_chosen_where_it_is_fast_or_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    here = torch.device("cpu")
    for is_fast, by_itself in ((True, torch.bfloat16), (False, torch.float32)):
        monkeypatch.setattr(device, "has_fast_bfloat16", lambda device, fast=is_fast: fast)
        assert choose_training_dtype("auto", here) == by_itself
        assert choose_training_dtype("bfloat16", here) == torch.bfloat16
        assert choose_training_dtype("float32", here) == torch.float32


@pytest.mark.parametrize(
    ("name", "tf32", "expected"),
    [("cuda", True, "high"), ("cuda", False, "highest"), ("cpu", True, "highest")],
)
def test_updates_on_cuda_round_products_to_tf32_and_nothing_else_does(
    name: str, tf32: bool, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told by the setting of the process at each loss; no GPU is needed for that."""
    monkeypatch.setattr(BatchStream, "prepare", lambda stream, count: None)
    run = Run(tmp_path, budget(1), model=dataclasses.replace(TINY, dropout=0.0))
    run.trainer.device, run.trainer.tf32 = torch.device(name), tf32
    seen: list[str] = []
    objective = run.trainer.gradients.objective
    objective.register_forward_hook(
        lambda *arguments: seen.append(torch.get_float32_matmul_precision())
    )
    store = run.trainer.data.train
    run.trainer._update([make_batch(store, [0, 1]), make_batch(store, [2])])
    assert seen == [expected] * 2
    assert torch.get_float32_matmul_precision() == "highest"


def test_an_update_on_a_gpu_waits_for_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told by every way in which a number of a tensor reaches Python; batches are there already.

    Accumulated batches do not wait in between, and clipping not at all.
    """
    monkeypatch.setattr(BatchStream, "prepare", lambda stream, count: None)
    run = Run(tmp_path, budget(2, clip_norm=0.1), model=dataclasses.replace(TINY, dropout=0.0))
    run.trainer.device = torch.device("cuda")
    batches = [make_batch(run.trainer.data.train, [i, i + 1]) for i in range(3)]
    run.trainer._update(batches)  # the first one makes the state of the optimizer
    waits: list[str] = []

    def counted(name: str) -> Any:
        original = getattr(Tensor, name)

        def wait(tensor: Tensor, *arguments: Any, **options: Any) -> Any:
            waits.append(name)
            return original(tensor, *arguments, **options)

        return wait

    names = ("item", "tolist", "cpu", "numpy", "nonzero", "__bool__", "__float__", "__int__")
    for name in (*names, "__index__"):
        monkeypatch.setattr(Tensor, name, counted(name))
    with Operators() as operators:
        run.trainer._update(batches)
    monkeypatch.undo()
    assert waits == ["tolist"]
    inside = {name for name, _ in operators.seen}
    assert not inside & {"_local_scalar_dense", "nonzero", "masked_select", "is_nonzero", "equal"}
