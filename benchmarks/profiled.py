"""Where the time of updates goes: torch's operators, as its profiler saw them, in a few groups.

Time is that of an operator itself, without the operators that it calls; on a GPU it is that of the
kernels that it starts. An operator belongs to a group by its name, by the region of the program
that it ran in (the loss, dropout, the optimizer), or, in the backward pass, by the region of the
forward operator whose gradient it computes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from torch._C._autograd import DeviceType
from torch._C._profiler import _ExperimentalConfig
from torch.autograd.profiler_util import FunctionEvent
from torch.profiler import ProfilerActivity, profile, record_function

from mt.model.dropout import Dropout
from mt.training import loss

GROUPS = (
    "products, forward",
    "products, backward",
    "products of attention",
    "softmax of attention",
    "norm",
    "dropout",
    "loss: products",
    "loss: the rest",
    "optimizer and average",
    "copies and conversions",
    "embedding and indexing",
    "other element-wise",
    "autograd itself",
    "other operators",
)

_DROPOUT, _LOSS = "region: dropout", "region: loss"
_BACKWARD = "autograd::engine::evaluate_function"
_PRODUCTS = ("aten::mm", "aten::addmm", "aten::linear", "aten::mkldnn_linear", "aten::matmul")
_ATTENTION = (
    *("aten::bmm", "aten::baddbmm", "aten::_scaled_dot_product", "aten::_flash_attention"),
    *("aten::_efficient_attention", "aten::_fused_sdp", "aten::scaled_dot_product"),
)
_OPTIMIZER = (
    *("aten::_fused_adam", "aten::_foreach", "aten::lerp", "aten::linalg_vector_norm"),
    "Optimizer.",
)
_COPIES = (
    *("aten::copy_", "aten::_to_copy", "aten::to", "aten::clone", "aten::contiguous", "aten::cat"),
    *("aten::fill_", "aten::zero", "aten::empty", "aten::reshape", "aten::pin", "aten::new_"),
    *("aten::transpose", "aten::view", "aten::as_strided", "aten::t", "aten::expand"),
    *("aten::_unsafe_view", "aten::slice", "aten::select", "aten::detach"),
)
_INDEXING = (
    *("aten::embedding", "aten::_embedding", "aten::index", "aten::_index", "aten::gather"),
    *("aten::scatter", "aten::nonzero", "aten::masked", "aten::slice_backward"),
)
_DROPPING = ("aten::native_dropout", "aten::bernoulli", "aten::random_")
_ELEMENTWISE = (
    *("aten::add", "aten::sub", "aten::mul", "aten::div", "aten::relu", "aten::gelu"),
    *("aten::threshold", "aten::sum", "aten::clamp", "aten::triu", "aten::ge"),
)
_BY_NAME = (
    ("products of attention", _ATTENTION),
    ("softmax of attention", ("aten::softmax", "aten::_softmax")),
    ("norm", ("aten::native_layer_norm", "aten::layer_norm", "aten::_fused_rms_norm")),
    ("dropout", _DROPPING),
    ("optimizer and average", _OPTIMIZER),
    ("embedding and indexing", _INDEXING),
    ("other element-wise", _ELEMENTWISE),
    ("copies and conversions", _COPIES),
)


@contextmanager
def profiled(activities: Iterable[ProfilerActivity]) -> Iterator[profile]:
    """Within, operators are recorded, and the regions of dropout and loss are marked."""
    marks: list[tuple[Any, str, str]] = [
        (Dropout, "forward", _DROPOUT),
        (loss, "projected_cross_entropy", _LOSS),
    ]
    held = [(owner, name, getattr(owner, name)) for owner, name, _ in marks]
    for owner, name, region in marks:
        setattr(owner, name, _marked(getattr(owner, name), region))
    try:
        everywhere = _ExperimentalConfig(profile_all_threads=True)  # those of workers too
        with profile(activities=list(activities), experimental_config=everywhere) as recorded:
            yield recorded
    finally:
        for owner, name, function in held:
            setattr(owner, name, function)


def _marked(function: Callable[..., Any], region: str) -> Callable[..., Any]:
    def marked(*arguments: Any, **options: Any) -> Any:
        with record_function(region):
            return function(*arguments, **options)

    return marked


def seconds_by_group(recorded: profile, *, on_gpu: bool) -> Counter[str]:
    """Seconds of each of `GROUPS` over all that was recorded."""
    everything: list[FunctionEvent] = recorded.events()  # type: ignore[no-untyped-call]
    events = [event for event in everything if event.device_type == DeviceType.CPU]
    regions = _regions_by_sequence(events)
    seconds: Counter[str] = Counter()
    for event in events:
        own = event.self_device_time_total if on_gpu else event.self_cpu_time_total
        if own > 0 and not event.name.startswith("ProfilerStep"):
            seconds[group_of(event, regions)] += own / 1e6
    return seconds


def group_of(event: FunctionEvent, regions: dict[tuple[int | None, int], str]) -> str:
    """The group of an operator; `regions` are those of forward operators by thread and number."""
    callers = list(_callers(event))
    names = [caller.name for caller in callers]
    backward = next((caller for caller in callers if caller.name.startswith(_BACKWARD)), None)
    region = _region(names)
    if backward is not None:
        region = regions.get((backward.fwd_thread, backward.sequence_nr), "")
    is_product = event.name.startswith(_PRODUCTS)
    if region == _LOSS or "_ProjectedCrossEntropy" in names:
        return "loss: products" if is_product else "loss: the rest"
    if region == _DROPOUT:
        return "dropout"
    if any(name.startswith("Optimizer.") for name in names):
        return "optimizer and average"
    if is_product and "aten::bmm" not in names:
        return "products, forward" if backward is None else "products, backward"
    for group, prefixes in _BY_NAME:
        if event.name.startswith(prefixes):
            return group
    is_engine = event.name.startswith("autograd::") or re.search(r"Backward\d*$", event.name)
    return "autograd itself" if is_engine else "other operators"


def _callers(event: FunctionEvent) -> Iterator[FunctionEvent]:
    """An event and those around it, inside out."""
    current: FunctionEvent | None = event
    while current is not None:
        yield current
        current = current.cpu_parent


def _region(names: Iterable[str]) -> str:
    return next((name for name in names if name in (_DROPOUT, _LOSS)), "")


def _regions_by_sequence(events: Iterable[FunctionEvent]) -> dict[tuple[int | None, int], str]:
    """The region of each forward operator that has a gradient.

    Operators without a gradient carry the number of the next one that has: the last one counts.
    """
    regions: dict[tuple[int | None, int], str] = {}
    for event in sorted(events, key=lambda event: event.time_range.start):
        names = [caller.name for caller in _callers(event)]
        if event.sequence_nr >= 0 and not any(name.startswith(_BACKWARD) for name in names):
            regions[event.thread, event.sequence_nr] = _region(names)
    return regions
