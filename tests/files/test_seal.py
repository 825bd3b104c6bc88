"""A sealed file is known to be damaged by any bit of it, and is a safetensors file all the same."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file, save_file

from mt.errors import ModelFolderError
from mt.files.seal import UNSEALED, check_seal, seal

TENSORS: dict[str, NDArray[Any]] = {
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "b": np.array(3, dtype=np.int64),
}
METADATA = {
    "by a key of its own": {"sha256": UNSEALED},
    "in the JSON of another": {"about": json.dumps({"version": 1, "sha256": UNSEALED})},
}


@pytest.fixture(params=METADATA)
def sealed(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "file.safetensors"
    save_file(TENSORS, path, metadata=METADATA[request.param])
    seal(path)
    return path


def test_a_sealed_file_passes_and_holds_what_it_held(sealed: Path) -> None:
    check_seal(sealed)
    loaded = load_file(sealed)
    assert loaded.keys() == TENSORS.keys()
    assert all(np.array_equal(loaded[name], TENSORS[name]) for name in TENSORS)


def test_the_seal_is_the_digest_of_the_file_before_it_was_sealed(sealed: Path) -> None:
    with safe_open(sealed, framework="numpy") as file:
        metadata = file.metadata()
    digest = metadata["sha256"] if "sha256" in metadata else json.loads(metadata["about"])["sha256"]
    content = sealed.read_bytes().replace(digest.encode("ascii"), UNSEALED.encode("ascii"))
    assert digest == hashlib.sha256(content).hexdigest()


def test_every_single_bit_that_flips_is_seen(sealed: Path) -> None:
    """Those in the word sha256 itself leave a file without a seal, whose tensors are whole."""
    content = sealed.read_bytes()
    for place in range(8 * len(content)):
        damaged = bytearray(content)
        damaged[place // 8] ^= 1 << place % 8
        sealed.write_bytes(damaged)
        try:
            check_seal(sealed)
            loaded = load_file(sealed)
        except (ModelFolderError, SafetensorError):
            continue
        assert all(np.array_equal(loaded[name], TENSORS[name]) for name in TENSORS)


def test_the_message_names_the_file(sealed: Path) -> None:
    with sealed.open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"x")
    with pytest.raises(ModelFolderError, match=r"file\.safetensors is damaged.*SHA-256"):
        check_seal(sealed)


def test_every_truncation_is_seen(sealed: Path) -> None:
    content = sealed.read_bytes()
    for length in range(len(content)):
        sealed.write_bytes(content[:length])
        with pytest.raises((ModelFolderError, SafetensorError)):
            check_seal(sealed)
            load_file(sealed)


def test_a_file_without_a_seal_passes_and_none_can_be_put_into_it(tmp_path: Path) -> None:
    path = tmp_path / "file.safetensors"
    save_file(TENSORS, path)
    check_seal(path)
    with pytest.raises(ValueError, match="metadata"):
        seal(path)
