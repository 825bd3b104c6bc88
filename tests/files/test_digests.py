"""Digests are those of the programs that people have."""

from __future__ import annotations

import hashlib
from pathlib import Path

from mt.files.digests import (
    blake2b,
    blake2b_of_lines,
    blake2b_of_text,
    blocks_of_file,
    key_of_bytes,
    sha256,
)


def test_a_digest_is_that_of_the_whole_however_it_is_cut(tmp_path: Path) -> None:
    content = bytes(range(256)) * 8200  # two blocks and a rest
    path = tmp_path / "file"
    path.write_bytes(content)
    assert b"".join(blocks_of_file(path)) == content
    short = hashlib.blake2b(content, digest_size=16).hexdigest()
    assert blake2b(blocks_of_file(path)) == blake2b([content]) == short
    assert sha256(blocks_of_file(path)) == hashlib.sha256(content).hexdigest()
    assert blake2b([b"a", b"b"], num_bytes=64) == hashlib.blake2b(b"ab").hexdigest()


def test_digests_of_lines_are_those_of_sha256sum_and_b2sum() -> None:
    """`printf 'ä\\nb\\n' | b2sum -l 128`, and the like."""
    text = "ä\nb\n"
    short = "1c58a5666a144cd9cec9174d3bcb9370"
    assert blake2b_of_lines(["ä", "b"]) == blake2b_of_text(text) == short
    long = "cfc1676b4d2518c9a7dfb7ea5f2c7ff7b03cb9d7e0f98eff2a4b4054e2b47d02"
    assert sha256([text.encode()]) == long
    assert key_of_bytes(b"abc") == int.from_bytes(bytes.fromhex("d8bb14d833d59559"), "little")
