"""Which products may be rounded, and what a want of memory becomes."""

from __future__ import annotations

import errno

import pytest
import torch
from safetensors import SafetensorError

from mt.errors import ConfigError, DeviceMemoryError
from mt.model.device import (
    choose_device,
    choose_devices,
    fitting_in_memory,
    products_in_tf32,
    set_threads,
    using_threads,
)


def test_tf32_is_on_within_on_cuda_alone_and_off_again_after() -> None:
    """The setting is of the process; it says what CUDA would do, whether it is there or not."""
    seen = []
    before = torch.get_float32_matmul_precision()
    for device, is_on in (("cuda", True), ("cuda", False), ("cpu", True)):
        with products_in_tf32(torch.device(device), is_on=is_on):
            seen.append(torch.get_float32_matmul_precision())
        assert torch.get_float32_matmul_precision() == before
    assert seen == ["high", "highest", "highest"]
    with pytest.raises(RuntimeError, match="x"), products_in_tf32(torch.device("cuda")):
        raise RuntimeError("x")
    assert torch.get_float32_matmul_precision() == before == "highest"


def test_a_want_of_memory_is_one_line_that_says_of_what() -> None:
    text = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 8 GiB"
    with pytest.raises(DeviceMemoryError) as caught, fitting_in_memory("it", hint="Do less"):
        raise torch.OutOfMemoryError(text)
    line = "it does not fit in the memory of the device (CUDA out of memory). Do less"
    assert str(caught.value) == line


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        RuntimeError("[enforce fail] . DefaultCPUAllocator: can't allocate memory: you tried"),
        RuntimeError("CUDA error: out of memory"),
        SafetensorError("Error while deserializing: I/O error: Cannot allocate memory"),
    ],
)
def test_memory_is_wanting_by_many_names(error: Exception) -> None:
    with (
        pytest.raises(DeviceMemoryError, match="it does not fit"),
        fitting_in_memory("it", hint=""),
    ):
        raise error


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(RuntimeError, match="illegal"), fitting_in_memory("it", hint="Do less"):
        raise RuntimeError("an illegal memory access")


@pytest.mark.parametrize(("has_cuda", "expected"), [(True, "cuda"), (False, "cpu")])
def test_auto_takes_cuda_or_the_cpu_and_mps_only_where_it_is_asked_for(
    has_cuda: bool, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_cuda)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "set_device", lambda number: None)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert choose_device("auto").type == expected
    assert choose_device("mps").type == "mps"


@pytest.mark.parametrize(
    ("visible", "count", "number", "expected"),
    [
        ("5", 1, 0, 0),
        ("5", 1, 3, 0),
        ("GPU-8f6a", 1, 3, 0),
        ("4,5", 2, 1, 1),
        ("4,5", 2, 2, None),
        (None, 1, 1, None),
    ],
)
def test_a_rank_that_sees_one_gpu_of_its_own_takes_it_whatever_its_number(
    visible: str | None,
    count: int,
    number: int,
    expected: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As SLURM gives each task one; a number beyond the GPUs that are shared is refused."""
    monkeypatch.delenv("TORCHELASTIC_RUN_ID", raising=False)
    if visible is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    current: list[int] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    monkeypatch.setattr(torch.cuda, "set_device", current.append)
    if expected is None:
        with pytest.raises(ConfigError, match=f"GPU {number}, but there are {count}"):
            choose_device("cuda", number)
        return
    assert choose_device("auto", number) == torch.device("cuda", expected)
    assert current == [expected]


def test_ranks_of_torchrun_do_not_share_the_one_gpu_they_all_see(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(ConfigError, match="GPU 1, but there are 1"):
        choose_device("cuda", 1)


@pytest.mark.parametrize("was_on", [True, False])
def test_no_attention_on_cuda_plans_a_kernel_for_each_shape(
    was_on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "set_device", lambda number: None)
    before = torch.backends.cuda.cudnn_sdp_enabled()  # type: ignore[no-untyped-call]
    try:
        torch.backends.cuda.enable_cudnn_sdp(was_on)
        choose_device("cuda")
        assert not torch.backends.cuda.cudnn_sdp_enabled()  # type: ignore[no-untyped-call]
        assert torch.backends.cuda.flash_sdp_enabled()  # type: ignore[no-untyped-call]
        assert torch.backends.cuda.mem_efficient_sdp_enabled()  # type: ignore[no-untyped-call]
        assert torch.backends.cuda.math_sdp_enabled()  # type: ignore[no-untyped-call]
    finally:
        torch.backends.cuda.enable_cudnn_sdp(before)


def test_threads_are_set_where_a_number_is_given() -> None:
    before = torch.get_num_threads()
    with using_threads(2):
        set_threads(None)
        assert torch.get_num_threads() == 2
        set_threads(1)
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


def test_as_many_devices_as_there_are_may_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setattr(torch.cuda, "set_device", lambda number: None)
    for count, expected in ((1, [0]), (2, [0, 1]), (3, [0, 1, 2]), (None, [0, 1, 2])):
        assert [each.index for each in choose_devices("cuda", count)] == expected
    with pytest.raises(ConfigError, match="--devices 4: there are 3 CUDA devices"):
        choose_devices("cuda", 4)
