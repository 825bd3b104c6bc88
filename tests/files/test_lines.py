"""Only LF ends a line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.files.lines import describe_invalid_utf8, split_lines


def chunked(data: bytes, size: int) -> list[bytes]:
    return [data[i : i + size] for i in range(0, len(data), size)]


@given(st.binary(max_size=60), st.integers(1, 7))
def test_the_size_of_blocks_changes_nothing(data: bytes, size: int) -> None:
    assert list(split_lines(chunked(data, size))) == list(split_lines([data]))


@given(st.lists(st.binary().filter(lambda b: b"\n" not in b), max_size=6))
def test_n_lines_in_give_n_lines_out(lines: list[bytes]) -> None:
    data = b"x\n" + b"".join(line + b"\n" for line in lines)
    assert len(list(split_lines([data]))) == len(lines) + 1


@pytest.mark.parametrize("text", ["\u2028", "\u2029", "\x85", "\f", "\v", "\x1c", "\x1e", "\r"])
def test_nothing_else_in_unicode_ends_a_line(text: str) -> None:
    data = f"a{text}b\nc\n".encode()
    assert list(split_lines([data])) == [f"a{text}b".encode(), b"c"]


def test_line_ends_marks_and_missing_ends_leave_no_trace() -> None:
    expected = [b"a", b"", b"b"]
    for data in (b"a\n\nb\n", b"a\n\nb", b"a\r\n\r\nb\r\n", b"\xef\xbb\xbfa\n\nb\n"):
        assert list(split_lines([data])) == expected
    assert list(split_lines([])) == []
    assert list(split_lines([b"\n"])) == [b""]
    assert list(split_lines([b"a\r\r\n"])) == [b"a\r"]


def test_a_line_is_given_before_the_next_block_is_asked_for() -> None:
    def blocks() -> object:
        yield b"a\n"
        pytest.fail("asked for more before giving the line")

    assert next(split_lines(blocks())) == b"a"  # type: ignore[arg-type]


def test_the_first_bad_byte_is_named() -> None:
    assert describe_invalid_utf8(b"nor\xe9a") == "byte 0xe9 at position 4 is not UTF-8"
