"""Damage as disks, wires, editors and programs do it: strategies over the bytes of a valid file."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

Damage = Callable[[bytes], bytes]

_AWKWARD = (
    *(b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"\r", b"\n"),
    *(b"\t", b'"', b"'", b"\\", b"<", b">", b"&", b"&#x0;", b"&#xD800;", b"]]>", b"<!--", b"{"),
    *(b"}", b"[", b"[[" * 3000, b"null", b"-1", b"1e999", b"99999999999999999999", b"=", b"#"),
    *("\u2028".encode(), "\u0085".encode(), "\u202e".encode(), "\U0001f600".encode()),
    *(b"msgstr[9]", b"msgid", b'""', b"<seg>", b"</tu>", b"\x1f\x8b", b"PAR1", b"a" * 200_000),
)
_ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252", "utf-7", "cp037")


@st.composite
def damages(draw: st.DrawFn) -> Damage:
    """One to three faults, each at a place that is a share of the length."""
    steps = draw(st.lists(_steps(), min_size=1, max_size=3))

    def damage(content: bytes) -> bytes:
        for step in steps:
            content = step(content)
        return content

    return damage


def _steps() -> st.SearchStrategy[Damage]:
    share = st.floats(0, 1, exclude_max=True)
    span = st.integers(1, 400)
    return st.one_of(
        st.builds(_flip, share, st.integers(0, 7)),
        st.builds(_cut, share),
        st.builds(_insert, share, st.sampled_from(_AWKWARD) | st.binary(max_size=8)),
        st.builds(_overwrite, share, st.binary(min_size=1, max_size=16)),
        st.builds(_repeat, share, span, st.integers(2, 40)),
        st.builds(_remove, share, span),
        st.builds(_swap, share, share, span),
        st.builds(_reencode, st.sampled_from(_ENCODINGS)),
    )


def flips() -> st.SearchStrategy[Damage]:
    """One bit that flipped, or a file that was cut short."""
    share = st.floats(0, 1, exclude_max=True)
    return st.builds(_flip, share, st.integers(0, 7)) | st.builds(_cut, share)


def _flip(share: float, bit: int) -> Damage:
    def damage(content: bytes) -> bytes:
        if not content:
            return content
        damaged = bytearray(content)
        damaged[int(share * len(content))] ^= 1 << bit
        return bytes(damaged)

    return damage


def _cut(share: float) -> Damage:
    return lambda content: content[: int(share * len(content))]


def _insert(share: float, what: bytes) -> Damage:
    def damage(content: bytes) -> bytes:
        place = int(share * len(content))
        return content[:place] + what + content[place:]

    return damage


def _overwrite(share: float, what: bytes) -> Damage:
    def damage(content: bytes) -> bytes:
        place = int(share * len(content))
        return content[:place] + what + content[place + len(what) :]

    return damage


def _repeat(share: float, span: int, times: int) -> Damage:
    def damage(content: bytes) -> bytes:
        place = int(share * len(content))
        block = content[place : place + span]
        return content[:place] + block * times + content[place + span :]

    return damage


def _remove(share: float, span: int) -> Damage:
    def damage(content: bytes) -> bytes:
        place = int(share * len(content))
        return content[:place] + content[place + span :]

    return damage


def _swap(one: float, other: float, span: int) -> Damage:
    def damage(content: bytes) -> bytes:
        first, second = sorted((int(one * len(content)), int(other * len(content))))
        end = min(first + span, second)
        moved = content[second : second + span]
        return (
            content[:first]
            + moved
            + content[end:second]
            + content[first:end]
            + content[second + span :]
        )

    return damage


def _reencode(encoding: str) -> Damage:
    return lambda content: content.decode("utf-8", "replace").encode(encoding, "replace")
