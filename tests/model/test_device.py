"""Which products may be rounded, and what a want of memory becomes."""

from __future__ import annotations

import pytest
import torch

from mt.errors import DeviceMemoryError
from mt.model.device import fitting_in_memory, products_in_tf32


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


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(RuntimeError, match="illegal"), fitting_in_memory("it", hint="Do less"):
        raise RuntimeError("an illegal memory access")
