"""Subtitles as documents: the text of cues changes, and nothing else."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.errors import DataError
from mt.formats.documents.unit import Code, CodeForm, Content, Document
from mt.formats.documents.wrapping import balanced, wrapped
from mt.formats.subtitles import read_cues
from tests.formats.documents.filling import fill_all, forms, opened, sources, upper, written

SRT = """1
00:00:01,000 --> 00:00:02,500 X1:100 X2:200
I have been walking for
two days <i>without</i> a rest,

2
00:00:02,600 --> 00:00:04,000
{\\an8}and I am tired.

3
00:00:05,000 --> 00:00:06,000
- Are you?
- <b>Yes.</b>

4
00:00:07,000 --> 00:00:08,000
[door slams]

5
00:00:08,000 --> 00:00:09,000
♪ Row, row, row your boat ♪

6
00:00:09,500 --> 00:00:10,000
<i>Never

7
00:00:10,500 --> 00:00:11,000

8
00:00:12,000 --> 00:00:13,000
100"""

VTT = """WEBVTT - a title
Kind: captions

STYLE
::cue { color: red }

NOTE
Not to be translated --

intro
00:01.000 --> 00:02.000 align:start
<v Ann>Fish &amp; chips
for <c.loud>all</c>

00:02.000 --> 00:03.000
<v Ben>A &lt; B<00:02.500> now

REGION
id:one
"""

ASS = """[Script Info]
ScriptType: v4.00+
Dialogue: not here

[V4+ Styles]
Format: Name, Fontname
Style: Default,Arial

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Comment: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,not this
Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,{\\i1}Well, I{\\i0} never\\Nsaw it.
Dialogue: 0,0:00:02.00,0:00:03.00,Default,,0,0,0,,{\\p1}m 0 0 l 10 10{\\p0}
"""


def test_what_is_not_filled_stays_byte_for_byte(tmp_path: Path) -> None:
    for name, text in (("a.srt", SRT), ("a.vtt", VTT), ("a.ass", ASS)):
        for newline in ("\n", "\r\n"):
            for encoding in ("utf-8", "utf-8-sig", "utf-16"):
                data = text.replace("\n", newline).encode(encoding)
                assert written(opened(tmp_path / name, data)) == data


def test_cues_are_units_of_a_flow_that_speakers_and_sounds_interrupt(tmp_path: Path) -> None:
    document = opened(tmp_path / "a.srt", SRT.encode())
    assert sources(document) == [
        "I have been walking for two days ⟦<i>⟧without⟦</i>⟧ a rest,",
        "⟦{\\an8}⟧and I am tired.",
        "⟦- ⟧Are you?⟦\n- ⟧⟦<b>⟧Yes.⟦</b>⟧",
        "[door slams]",
        "⟦♪ ⟧Row, row, row your boat⟦ ♪⟧",
        "⟦<i>⟧Never",
    ]
    flows = [unit.flow for unit in document.units]
    assert flows[0] == flows[1] != ""
    assert flows[2] not in flows[:2]
    assert flows[3:5] == ["", ""]
    assert flows[5] not in flows[:5]
    assert document.skipped == {"cue without words": 2}
    breaks = [p.is_break for p in document.units[2].source if isinstance(p, Code)]
    assert breaks == [True, True, False, False]
    assert forms(document.units[5].source) == ["isolated"]  # it is never closed


def skeleton(text: str) -> list[str]:
    """Lines that hold no text of a cue."""
    return [
        line for line in text.split("\n") if not line.strip() or "-->" in line or line.isdigit()
    ]


def test_another_reader_finds_the_same_cues_with_the_new_text(tmp_path: Path) -> None:
    document = opened(tmp_path / "a.srt", SRT.encode())
    result = fill_all(document, upper, marked=True)
    assert skeleton(result.decode()) == skeleton(SRT)
    (tmp_path / "b.srt").write_bytes(result)
    old, new = (read_cues(tmp_path / name, hint="") for name in ("a.srt", "b.srt"))
    assert [(c.start, c.end, c.text.upper()) for c in old] == [
        (c.start, c.end, c.text) for c in new
    ]
    assert "- ARE YOU?\n- <b>YES.</b>" in result.decode()


def test_the_entities_of_webvtt_are_characters(tmp_path: Path) -> None:
    document = opened(tmp_path / "a.vtt", VTT.encode())
    assert sources(document) == [
        "⟦<v Ann>⟧Fish & chips for ⟦<c.loud>⟧all⟦</c>⟧",
        "⟦<v Ben>⟧A < B⟦<00:02.500>⟧ now",
    ]
    assert document.units[0].flow != document.units[1].flow
    result = fill_all(document).decode()
    assert "<v Ann>FISH &amp; CHIPS\nFOR <c.loud>ALL</c>\n" in result
    assert "A &lt; B<00:02.500> NOW" in result
    assert skeleton(result) == skeleton(VTT)
    assert result.startswith(VTT[: VTT.index("<v Ann>")])
    assert result.endswith("\n\nREGION\nid:one\n")


def test_substation_keeps_fields_overrides_and_drawings(tmp_path: Path) -> None:
    document = opened(tmp_path / "a.ass", ASS.encode())
    assert sources(document) == ["⟦{\\i1}⟧Well, I⟦{\\i0}⟧ never saw it."]
    assert document.skipped == {"drawing": 1}
    expected = ASS.replace("Well, I{\\i0} never\\Nsaw it.", "WELL, I{\\i0} NEVER\\NSAW IT.")
    assert fill_all(document).decode() == expected


def test_a_line_may_be_as_wide_as_it_may() -> None:
    assert balanced(("aaaa bbbb, c dddd",), 2, 10) == [("aaaa bbbb,",), ("c dddd",)]


def lines_of(document: Document, target: str) -> list[str]:
    document.fill(0, (target,), marked=False)
    return written(document).decode().split("\n")[2:]


def test_a_cue_gets_as_many_lines_as_it_had(tmp_path: Path) -> None:
    head = "1\n00:00:01,000 --> 00:00:02,000\n"
    two = opened(tmp_path / "a.srt", f"{head}One line and\nanother line".encode())
    assert lines_of(two, "eins, zwei drei vier") == ["eins, zwei", "drei vier"]
    assert lines_of(two, "Wort") == ["Wort"]
    one = opened(tmp_path / "a.srt", f"{head}Only one line".encode())
    assert lines_of(one, "Nur eine Zeile") == ["Nur eine Zeile"]
    # One that outgrows the screen gets a second one.
    long = "Eine Zeile, die viel zu lang geworden ist, um noch zu passen"
    assert [len(line) <= 42 for line in lines_of(one, long)] == [True, True]


def test_lines_of_scripts_without_spaces_are_joined_and_cut_anywhere(tmp_path: Path) -> None:
    head = "1\n00:00:01,000 --> 00:00:02,000\n"
    data = f"{head}今天天气\n很好吗。".encode()
    document = opened(tmp_path / "a.srt", data, source="zh", target="ja")
    assert sources(document) == ["今天天气很好吗。"]
    assert lines_of(document, "今日はいい天気ですね。") == ["今日はいい天", "気ですね。"]


@given(
    st.lists(st.text("abc.,", min_size=1, max_size=8), min_size=1, max_size=8), st.integers(1, 4)
)
def test_lines_are_the_best_of_all_ways_to_cut(words: list[str], num_lines: int) -> None:
    lines = [str(*line) for line in balanced((" ".join(words),), num_lines, 42)]
    assert " ".join(lines) == " ".join(words)
    assert len(lines) == min(num_lines, len(words))
    mean = len(" ".join(words)) / len(lines)

    def cost(cut: list[str]) -> float:
        ends = cut[:-1]
        gain = sum(0.6 if e.endswith(".") else 0.2 if e.endswith(",") else 0 for e in ends)
        return sum(len(line) ** 2 for line in cut) - gain * mean**2

    best = math.inf
    for places in itertools.combinations(range(1, len(words)), len(lines) - 1):
        edges = [0, *places, len(words)]
        cut = [" ".join(words[a:b]) for a, b in itertools.pairwise(edges)]
        best = min(best, cost(cut))
    assert cost(lines) == pytest.approx(best)


@given(st.lists(st.text("ab", min_size=1, max_size=9), min_size=1, max_size=20), st.integers(1, 30))
def test_wrapped_lines_keep_their_words_and_width(words: list[str], width: int) -> None:
    code = Code(form=CodeForm.ISOLATED, name="1", markup="<x>")
    content: Content = (" ".join(words), code)
    lines = wrapped(content, width)
    assert " ".join(str(line[0]) for line in lines) == " ".join(words)
    assert all(len(str(line[0])) <= width or " " not in str(line[0]) for line in lines)
    assert lines[-1][-1] == code


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nA\n\n2\n00:00:0x --> 1\nB", None),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nA\n\n2\n00:00:03 --> \nB", ":6: "),
        ("a.ass", ASS + "Dialogue: 0,1\n", ":14: 2 fields"),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nA\udcff", ":3: byte 0xff at position 2"),
    ],
)
def test_broken_subtitles_are_one_line(
    tmp_path: Path, name: str, text: str, where: str | None
) -> None:
    data = text.encode("utf-8", "surrogateescape")
    if where is None:  # no times at all are text
        assert len(opened(tmp_path / name, data).units) == 1
        return
    with pytest.raises(DataError, match=re.escape(where)) as caught:
        opened(tmp_path / name, data)
    assert "\n" not in str(caught.value)
