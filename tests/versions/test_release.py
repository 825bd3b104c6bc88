"""Model folders of release 0.1 load, translate, score and resume as they did (README.md)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from tests.cases.runs import run_here
from tests.versions.make_release import FORMS, MORE, RESUMED

RELEASE = Path(__file__).parent / "release-0.1"
TEST = (RELEASE / "test.src", RELEASE / "test.tgt")
ON_CPU = ("--device", "cpu", "--threads", "1")

_SCORE = 1e-4
"""Most that a score may differ: CPUs round differently."""
_WEIGHT = 1e-5
"""Most that a resumed weight may differ. SSE in place of AVX-512 makes 1e-7, a rate that is 2 %
larger 2e-3, other dropout 4e-2."""


def _json_lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def _without_key_biases(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Attention does not depend on biases of keys: their gradient is rounding noise, nothing else,
    and AdamW makes it as large as any."""
    return {
        name: each.chunk(2)[1] if name.endswith("key_value.bias") else each
        for name, each in weights.items()
    }


def _hypotheses(lines: list[Any]) -> list[tuple[str, str]]:
    return [(line["source"], line["hypotheses"][0]["text"]) for line in lines]


@pytest.mark.parametrize("form", FORMS)
def test_a_model_of_0_1_translates_to_the_same_text_and_scores(form: str) -> None:
    run = run_here(
        *("translate", "-m", RELEASE / form, "--json", *ON_CPU), stdin=TEST[0].read_bytes()
    ).check()
    lines = _json_lines(run.out.decode("utf-8"))
    expected = _json_lines((RELEASE / f"{form}.json").read_text("utf-8"))
    assert _hypotheses(lines) == _hypotheses(expected)
    scores, recorded = (
        [line["hypotheses"][0]["score"] for line in each] for each in (lines, expected)
    )
    assert scores == pytest.approx(recorded, abs=_SCORE)


@pytest.mark.parametrize("form", FORMS)
def test_a_model_of_0_1_scores_pairs_alike(form: str) -> None:
    run = run_here("score", "-m", RELEASE / form, *TEST, *ON_CPU).check()
    recorded = [float(line) for line in (RELEASE / f"{form}.score").read_text().split()]
    assert [float(line) for line in run.lines] == pytest.approx(recorded, abs=_SCORE)


@pytest.mark.parametrize("form", FORMS)
def test_a_model_of_0_1_has_the_same_evaluation(form: str) -> None:
    run = run_here("eval", "-m", RELEASE / form, *TEST, "--json", *ON_CPU).check()
    found, recorded = (
        {score["name"]: score["score"] for score in json.loads(text)["scores"]}
        for text in (run.out, (RELEASE / f"{form}.eval").read_bytes())
    )
    names = {"BLEU", "chrF2", "exact"}
    assert {name: found[name] for name in names} == pytest.approx(
        {name: recorded[name] for name in names}
    )


@pytest.mark.parametrize("form", RESUMED)
def test_a_run_of_0_1_goes_on_as_it_would_have(form: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(RELEASE / form, folder)
    options = ("--updates", str(MORE), "--threads", "1", "--precision", "float32")
    run_here("train", "--resume", folder, *options).check()
    state = load_file(folder / "training" / f"checkpoint-{MORE}" / "state.safetensors")
    weights = {name: each for name, each in state.items() if name.startswith("model.")}
    recorded = load_file(RELEASE / f"{form}.resumed.safetensors")
    torch.testing.assert_close(
        _without_key_biases(weights), _without_key_biases(recorded), rtol=0.0, atol=_WEIGHT
    )
