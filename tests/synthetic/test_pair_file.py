"""What is written is what the readers of corpora read, whatever the text holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.formats import open_corpora
from mt.formats.options import ReadingOptions, on_one_line
from mt.synthetic.pair_file import MadePair, form_of

_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1)


@pytest.mark.parametrize("suffix", [".jsonl", ".tsv"])
@pytest.mark.parametrize("languages", [None, ("de", "en")])
@given(sides=st.lists(st.tuples(_TEXT, _TEXT), min_size=1, max_size=5))
def test_pairs_are_read_as_they_were_written(
    suffix: str,
    languages: tuple[str, str] | None,
    sides: list[tuple[str, str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("pairs") / f"pairs{suffix}"
    head, as_line = form_of(path)
    lines = [as_line(MadePair(*pair, -0.25, ("repetition", "truncated"))) for pair in sides]
    path.write_bytes((head + "".join(f"{line}\n" for line in lines)).encode())
    options = ReadingOptions(languages=languages)
    (reader,) = open_corpora([str(path)], options).readers
    assert [(pair.source, pair.target) for pair in reader] == [
        (on_one_line(source), on_one_line(target)) for source, target in sides
    ]


def test_a_line_has_the_score_and_the_flags(tmp_path: Path) -> None:
    pair = MadePair("a\tb", "c", -0.25, ("repetition", "truncated"))
    _, as_json = form_of(tmp_path / "a.jsonl")
    assert as_json(pair) == (
        '{"source": "a\\tb", "target": "c", "score": -0.25, "flags": ["repetition", "truncated"]}'
    )
    head, as_tabs = form_of(tmp_path / "a.TSV")
    assert head + as_tabs(pair) == (
        "source\ttarget\tscore\tflags\na b\tc\t-0.25\trepetition,truncated"
    )
