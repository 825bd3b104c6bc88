"""Text that is wrong or missing is said, and marks that nobody sees change nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from mt.evaluation import metrics
from mt.text.tokenizer import END
from mt.translation.translation import Translation
from mt.translation.translator import Translator
from tests.cases.runs import run_here
from tests.cases.toy import Toy, sentence, target_of, toy_sources


@pytest.mark.parametrize("mark", ["\u200f", "\u00ad", "\u200b", "\ufeff", "\u2060"])
def test_a_mark_that_nobody_sees_changes_no_translation(mark: str, translator: Translator) -> None:
    for source in toy_sources(3, seed="marks"):
        places = (0, 2, source.index(" "), len(source))
        marked = [source[:place] + mark + source[place:] for place in places]
        assert {each.text for each in translator.translate(marked)} == {target_of(source)}


def test_a_line_that_was_split_says_so_and_scores_of_its_parts_are_those_of_mt_score(
    model: Path, tmp_path: Path
) -> None:
    long = " ".join(toy_sources(9, seed="long"))
    short = sentence(0, 1, 2)
    text = f"{long}\n{short}\n".encode()
    out = run_here("translate", "-m", model, "--json", "--device", "cpu", stdin=text).check()
    split, whole = map(json.loads, out.lines)
    assert split["split"] is True
    assert "split" not in whole
    assert "parts" not in whole["hypotheses"][0]
    assert whole["hypotheses"][0]["same_tokens"] is True
    (found,) = split["hypotheses"]
    assert found["same_tokens"] is False
    assert len(found["parts"]) > 1
    assert " ".join(part["source"] for part in found["parts"]) == long
    assert " ".join(part["text"] for part in found["parts"]) == found["text"]
    files = []
    for side in ("source", "text"):
        files.append(tmp_path / side)
        files[-1].write_text("".join(f"{part[side]}\n" for part in found["parts"]), "utf-8")
    scores = run_here("score", "-m", model, *files, "--device", "cpu").check().lines
    for part, score in zip(found["parts"], scores, strict=True):
        assert part["same_tokens"] is True
        assert part["tokens"]
        assert part["score"] == pytest.approx(float(score), abs=1e-5)


def with_end_at(model: Path, folder: Path, factor: float) -> Path:
    """A copy of a model that holds the end for far more, or far less, probable."""
    shutil.copytree(model, folder, ignore=shutil.ignore_patterns("training"))
    weights = folder / "model.safetensors"
    with safe_open(weights, framework="pt") as file:
        about = {"mt": file.metadata()["mt"].replace("sha256", "unsealed")}
    tensors = load_file(weights)
    bias = torch.zeros_like(tensors["decoder_norm.bias"]) + 1.0
    tensors["decoder_norm.bias"] = bias
    tensors["decoder_norm.weight"] = torch.zeros_like(tensors["decoder_norm.weight"])
    embedding = max(tensors, key=lambda name: tensors[name].size(0))
    tensors[embedding][END] = factor
    save_file(tensors, weights, metadata=about)
    return folder


def test_a_model_that_gives_nothing_is_said_and_ends_with_1(
    model: Path, toy: Toy, tmp_path: Path
) -> None:
    silent = with_end_at(model, tmp_path / "silent", 100.0)
    source = b"\n" + b"".join(f"{sentence(i)}\n".encode() for i in range(3))
    run = run_here("translate", "-m", silent, "--device", "cpu", stdin=source).check(1)
    assert run.out == b"\n" * 4
    assert "warning: 3 translations empty, of text that is not (the first: line 2)" in run.err
    assert "silent translates all 3 lines with text by nothing" in run.err
    out = run_here("translate", "-m", silent, "--json", "--device", "cpu", stdin=source).check(1)
    flags = [json.loads(line)["hypotheses"][0]["flags"] for line in out.lines]
    assert ["empty" in each for each in flags] == [False, True, True, True]
    message = run_here("eval", "-m", silent, *toy.test.arguments).check_refusal()
    assert "by nothing" in message


def test_a_text_gives_a_translation_a_list_a_list_and_an_iterator_streams(
    translator: Translator,
) -> None:
    source = sentence(3, 1, 2)
    one = translator.translate(source)
    assert isinstance(one, Translation)
    assert one.text == target_of(source)
    several = translator.translate([source, "", source])
    assert isinstance(several, list)
    assert [each.text for each in several] == [target_of(source), "", target_of(source)]
    assert several[0].hypotheses[0].tokens == one.hypotheses[0].tokens
    assert translator.translate(()) == []
    asked = 0

    def endless() -> Iterator[str]:
        nonlocal asked
        while True:
            asked += 1
            yield source

    streamed = translator.translate(endless())
    assert asked == 0
    assert next(streamed).text == target_of(source)
    assert asked == translator.window
    with pytest.raises(TypeError, match="decode"):
        translator.translate(source.encode())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="one text"):
        translator.translate([source], prefixes="im")
    assert translator.translate(source, prefixes=target_of(source)[:5]).text == target_of(source)


def test_numbers_that_differ_are_a_finding_a_flag_and_a_warning(
    model: Path, tmp_path: Path
) -> None:
    source, target = tmp_path / "a.src", tmp_path / "a.tgt"
    source.write_text("kostet 95 Euro\nzwei bako\n", "utf-8")
    target.write_text("costs 59 euros\n2 imsel\n", "utf-8")
    report = json.loads(run_here("check", source, target, "--json").out)
    (finding,) = [each for each in report["findings"] if each["id"] == "numbers_differ"]
    assert finding["count"] == 1
    assert "95 Euro | costs 59" in finding["examples"][0]["text"]
    run = run_here("score", "-m", model, source, target, "--json").check()
    flags = [json.loads(line)["flags"] for line in run.lines]
    assert ["numbers_differ" in each for each in flags] == [True, False]
    assert "1 translation with other numbers than in the source (the first: line 1)" in run.err


@pytest.mark.parametrize("ask", [(), ("--metrics", "ter")])
def test_ter_is_left_out_of_long_segments_unless_it_is_asked_for(
    ask: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "LONGEST_FOR_TER", 5)
    hypothesis, reference = tmp_path / "h.en", tmp_path / "r.en"
    hypothesis.write_text("a b c d e f\n", "utf-8")
    reference.write_text("a b c d f e\n", "utf-8")
    run = run_here("eval", "--hyp", hypothesis, reference, "--json", *ask).check()
    record = json.loads(run.out)
    names = [each["name"] for each in record["scores"]]
    if ask:
        assert names == ["TER"]
        assert "left_out" not in record
    else:
        assert "TER" not in names
        assert "6 words" in record["left_out"]["TER"]
        assert run.err.count("TER is left out") == 1
