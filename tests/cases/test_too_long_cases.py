"""One line that is far too long to be computed takes no other line with it (B12)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from mt.errors import DeviceMemoryError
from mt.model.device import fitting_in_memory, is_out_of_memory
from mt.translation.bounds import MOST_TOKENS
from mt.translation.options import TranslationOptions
from mt.translation.source import Source
from mt.translation.translation import BLANK, TranslatedText
from mt.translation.translator import Translator
from tests.cases.runs import Run, run_here
from tests.cases.toy import WORDS, as_bytes, sentence

_LONG = " ".join([WORDS[0]] * 80_000)
_LINES = [sentence(0, 1), _LONG, sentence(2)]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Three lines of which one is too long, and three short ones."""
    short = [sentence(3), "", sentence(4)]
    paths = {"long": tmp_path / "long", "short": tmp_path / "short"}
    paths["long"].write_bytes(as_bytes(_LINES))
    paths["short"].write_bytes(as_bytes(short))
    return paths


def message_of(run: Run) -> str:
    """The last line of standard error of a run that failed."""
    return run.check(1).err.splitlines()[-1]


@pytest.mark.parametrize("options", [("--no-split",), ("--no-split", "--n-best", "2")])
def test_it_is_an_empty_line_and_an_error_at_the_end(
    options: tuple[str, ...], model: Path, files: dict[str, Path]
) -> None:
    run = run_here("translate", "-m", model, *options, files["long"])
    message = message_of(run)
    expected = [
        run_here("translate", "-m", model, *options, stdin=as_bytes([line])).check().lines
        for line in (_LINES[0], _LINES[2])
    ]
    assert run.lines == [*expected[0], *[""] * len(expected[0]), *expected[1]]
    assert message.startswith("mt: error: line 2: 80,000 tokens are more than the 8,192 ")


def test_it_has_an_error_and_no_hypotheses_in_json(model: Path, files: dict[str, Path]) -> None:
    run = run_here("translate", "-m", model, "--json", "--alignment", files["long"])
    assert "line 2: 80,000 tokens" in message_of(run)
    records = [json.loads(line) for line in run.lines]
    assert [len(each["hypotheses"]) for each in records] == [1, 0, 1]
    assert records[1]["error"] == "80000 tokens, too long to be translated"
    assert "error" not in records[0]


@pytest.mark.parametrize("sides", [("long", "short"), ("short", "long")])
def test_a_line_with_a_prefix_or_a_prefix_that_is_too_long_takes_no_other_with_it(
    sides: tuple[str, str], model: Path, files: dict[str, Path]
) -> None:
    files["short"].write_bytes(as_bytes([sentence(3), WORDS[3], sentence(4)]))
    source, prefix = (files[side] for side in sides)
    run = run_here("translate", "-m", model, "--prefix", prefix, source)
    assert "line 2: 80,0" in message_of(run)
    assert [bool(line) for line in run.lines] == [True, False, True]


@pytest.mark.parametrize("sides", [("long", "short"), ("short", "long"), ("long", "long")])
def test_it_has_no_score(sides: tuple[str, str], model: Path, files: dict[str, Path]) -> None:
    source, target = (files[side] for side in sides)
    if sides == ("short", "long"):
        source.write_bytes(as_bytes([sentence(3), WORDS[3], sentence(4)]))
    run = run_here("score", "-m", model, source, target)
    assert "line 2: 80,0" in message_of(run)
    assert [line == "nan" for line in run.lines] == [False, True, False]
    records = run_here("score", "-m", model, "--json", source, target).lines
    assert [json.loads(line)["score"] is None for line in records] == [False, True, False]


def test_a_line_of_as_many_tokens_as_may_be_is_none_of_these(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = TranslationOptions(device="cpu", split=False, batch_size=1)
    translator = Translator.load(model, options=options)
    at_bound, over = (" ".join([WORDS[0]] * (MOST_TOKENS + more)) for more in (0, 1))
    seen: list[int] = []

    def translate_parts(parts: Sequence[Source]) -> list[tuple[TranslatedText, ...]]:
        seen.extend(map(len, parts))
        return [BLANK] * len(parts)

    monkeypatch.setattr(translator, "_translate_parts", translate_parts)
    found = translator.translate_window([at_bound, over])
    assert seen == [MOST_TOKENS, 0]
    assert [each.error is None for each in found] == [True, False]
    assert (found[1].text, found[1].hypotheses) == ("", ())


def test_memory_that_a_cpu_does_not_have_is_an_error_of_ours() -> None:
    with (
        pytest.raises(DeviceMemoryError, match="the search does not fit in the memory"),
        fitting_in_memory("the search", hint="Split it"),
    ):
        torch.empty(1 << 60, dtype=torch.uint8)
    assert not is_out_of_memory(RuntimeError("shapes differ"))
    with pytest.raises(RuntimeError, match="shapes differ"), fitting_in_memory("x", hint="y"):
        raise RuntimeError("shapes differ")
