"""The pages on symbol sequences are true: their corpora are those they show, their commands run."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.cases.runs import run_here

ROOT = Path(__file__).parents[1]
PAGE, TUTORIAL = (
    (ROOT / "docs" / name).read_text("utf-8") for name in ("sequences.md", "tutorial.md")
)
NUM_PAIRS = {"train": 60, "dev": 4, "test": 3}


@pytest.fixture(scope="module")
def generator() -> dict[str, Any]:
    """The names of the program that makes the corpora; it makes only little here."""
    names = runpy.run_path(str(ROOT / "benchmarks" / "sequences_data.py"))
    names["NUM_PAIRS"].update(NUM_PAIRS)
    return names


def shown(name: str, page: str = PAGE) -> list[list[str]]:
    """The cells of a table of a page, without its head."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    rows = page.partition(begin)[2].partition(end)[0].splitlines()
    return [re.findall("`(.*?)`", row) for row in rows[2:]]


def commands(page: str) -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", page, flags=re.DOTALL)
    return [line for block in blocks for line in block.split("\n") if line]


def test_the_words_shown_are_those_of_the_corpus(generator: dict[str, Any]) -> None:
    pairs = generator["rewriting_pairs"](500, seed="test")
    assert [list(pair) for pair in pairs[:3]] == shown("words")


def test_the_letters_shown_are_those_of_the_corpus(generator: dict[str, Any]) -> None:
    (pair,) = generator["letter_pairs"](1, seed="test", is_reversed=True)
    assert [list(pair)] == shown("letters", TUTORIAL)
    ((source, target),) = generator["letter_pairs"](1, seed="test", is_reversed=False)
    assert source == target == pair[0]


def test_the_clicks_shown_are_those_of_the_corpus(generator: dict[str, Any]) -> None:
    pairs = generator["click_pairs"](3, distance=50, seed="test")
    assert [[source.split(" ")[10], target] for source, target in pairs] == shown("clicks")
    assert {len(source.split(" ")) for source, _ in pairs} == {60}


@pytest.mark.parametrize(
    ("word", "sounds"),
    [
        ("ship", "ʃ ɪ p"),
        ("city", "s ɪ t j"),
        ("cat", "k æ t"),
        ("cate", "k eɪ t"),
        ("caxe", "k æ k s"),
        ("pang", "p æ ŋ"),
        ("chick", "tʃ ɪ k"),
        ("three", "θ r iː"),
    ],
)
def test_sounds_follow_the_rules(word: str, sounds: str, generator: dict[str, Any]) -> None:
    assert generator["sounds_of"](word) == sounds.split(" ")


@pytest.mark.parametrize("distance", [0, 61])
def test_a_distance_beyond_the_window_is_refused(distance: int, generator: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="between 1 and 60"):
        generator["click_pairs"](1, distance=distance, seed="test")


@pytest.mark.parametrize("page", [PAGE, TUTORIAL], ids=["sequences", "tutorial"])
def test_the_commands_of_the_page_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, generator: dict[str, Any]
) -> None:
    """Each command runs as it stands, on a few pairs and with a budget of one update."""
    monkeypatch.chdir(tmp_path)
    for settings in re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL):
        Path("small.toml").write_text(settings, "utf-8")
    for command in commands(page):
        words, _, redirected = command.partition(" > ")
        words, _, given = words.partition(" < ")
        program, *arguments = shlex.split(words)
        if program == "python":
            monkeypatch.setattr("sys.argv", arguments)
            generator["main"]()
            continue
        if arguments[0] == "train":
            arguments[arguments.index("--updates") + 1] = "1"
            arguments += ["--keep", "ratio"]  # few pairs tell no usual proportion
        stdin = Path(given).read_bytes() if given else b""
        run = run_here(*arguments, stdin=stdin).check()
        if redirected:
            assert len(run.lines) == NUM_PAIRS["test"]
        elif arguments[0] == "eval":
            assert {"exact", "SER"} <= {line.split(" ")[0] for line in run.lines}
