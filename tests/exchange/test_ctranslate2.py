"""What is exported to CTranslate2 is the same model: probabilities, translations, refusals."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
import torch
from torch import Tensor

from mt.config import ModelConfig, SearchConfig
from mt.model_folder.folder import load_model
from mt.text.padding import pad_with_end
from mt.text.tokenizer import START
from mt.translation.options import TranslationOptions
from mt.translation.translator import Translator
from tests.cases.runs import run_here
from tests.exchange.talkers import (
    SHAPE,
    SOURCE_WORDS,
    TARGET_WORDS,
    lines,
    tokenizers,
    write_model,
    write_talker,
)


def engine(folder: Path) -> Any:
    ctranslate2 = pytest.importorskip("ctranslate2")
    return ctranslate2.Translator(str(folder), device="cpu", inter_threads=1, intra_threads=1)


@torch.no_grad()
def log_probabilities(folder: Path, sources: list[list[int]], targets: list[list[int]]) -> Tensor:
    """Of each target with its end symbol, by the teacher-forced pass (B)."""
    model = load_model(folder).model
    source, mask = pad_with_end(sources)
    target, real = pad_with_end(targets)
    fed = torch.cat((torch.full((len(targets), 1), START), target[:, :-1]), dim=1)
    logits = model.project(model(source, mask, fed))
    each = torch.log_softmax(logits, dim=-1).gather(2, target[:, :, None])[:, :, 0]
    return (each * real).sum(dim=1)


def variants() -> list[tuple[str, object]]:
    """Each value of each setting of a model that has a list of them, or is yes or no."""
    found: list[tuple[str, object]] = []
    for name, kind in get_type_hints(ModelConfig).items():
        listed = get_origin(kind) is Literal
        values = get_args(kind) if listed else (True, False) * (kind is bool)
        found += [(name, value) for value in values]
    return found


MODERN = {
    "positions": "rotary",
    "norm_kind": "rmsnorm",
    "activation": "swiglu",
    "biases": False,
    "key_value_heads": 2,
}


def test_the_variants_of_the_model_are_found() -> None:
    assert {("norm", "post"), ("activation", "gelu"), ("positions", "learned")} <= set(variants())


@pytest.mark.parametrize(("key", "value"), variants())
@pytest.mark.parametrize("joint", [True, False])
def test_every_variant_keeps_its_probabilities_or_is_refused(
    key: str, value: object, joint: bool, tmp_path: Path
) -> None:
    pytest.importorskip("ctranslate2")
    shape = SHAPE if joint else dataclasses.replace(SHAPE, tied="target")
    changes = {key: value}
    if value == "decoder-only" or (key == "bidirectional_source" and value):
        changes |= {"architecture": "decoder-only", "encoder_layers": 0}
        key, value = "architecture", "decoder-only"
    shape = dataclasses.replace(shape, **changes)  # type: ignore[arg-type]
    if not joint and shape.tied == "all":
        return  # no such model
    folder = write_model(tmp_path / "m", shape, joint=joint)
    run = run_here("export", "-m", folder, "-o", tmp_path / "ct2")
    if run.status:
        assert f"model.{key} = {json.dumps(value)}" in run.check_refusal()
        return
    assert_keeps_probabilities(folder, tmp_path / "ct2", joint=joint)


@pytest.mark.parametrize(
    "changes",
    [
        {"key_value_heads": 1},
        {"key_value_heads": 2},
        MODERN,
        {**MODERN, "norm": "post", "biases": True, "key_value_heads": None},
    ],
)
def test_forms_keep_their_probabilities_together(tmp_path: Path, changes: dict[str, Any]) -> None:
    pytest.importorskip("ctranslate2")
    folder = write_model(tmp_path / "m", dataclasses.replace(SHAPE, **changes))
    run_here("export", "-m", folder, "-o", tmp_path / "ct2").check()
    assert_keeps_probabilities(folder, tmp_path / "ct2", joint=True)


def assert_keeps_probabilities(folder: Path, exported: Path, *, joint: bool) -> None:
    pair = tokenizers(joint=joint)
    sources = [pair.source.encode(line) for line in lines(tuple(SOURCE_WORDS))]
    words = SOURCE_WORDS if joint else TARGET_WORDS
    targets = [pair.target.encode(line) for line in lines(tuple(words))][::-1]
    scored = engine(exported).score_batch(
        [pair.source.pieces(ids) for ids in sources], [pair.target.pieces(ids) for ids in targets]
    )
    found = torch.tensor([sum(each.log_probs) for each in scored])
    torch.testing.assert_close(
        found, log_probabilities(folder, sources, targets), rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("changes", [{}, {**MODERN, "norm_kind": "layernorm"}])
def test_greedy_translations_are_those_of_mt_and_scores_of_any_beam(
    changes: dict[str, Any], beam: int, joint: bool, tmp_path: Path
) -> None:
    pytest.importorskip("ctranslate2")
    shape = dataclasses.replace(SHAPE, **changes)
    folder = write_talker(tmp_path / "m", shape, joint=joint)
    run_here("export", "-m", folder, "-o", tmp_path / "ct2").check()
    pair = tokenizers(joint=joint)
    source = lines(tuple(SOURCE_WORDS))
    sources = pair.source.encode_batch(source)
    found = engine(tmp_path / "ct2").translate_batch(
        [pair.source.pieces(ids) for ids in sources],
        beam_size=beam,
        max_decoding_length=21,
        min_decoding_length=0,
        return_scores=True,
    )
    number = {piece: i for i, piece in enumerate(pair.target.pieces(range(300 - 10 * joint)))}
    hypotheses = [[number[piece] for piece in each.hypotheses[0]] for each in found]
    ended = [i for i, ids in enumerate(hypotheses) if len(ids) < 20]
    assert len(ended) >= 8
    assert len({tuple(hypotheses[i]) for i in ended}) >= 5
    # A score is the mean over tokens and end symbol, there as here.
    scores = torch.tensor([each.scores[0] * (len(each.hypotheses[0]) + 1) for each in found])
    own = log_probabilities(folder, sources, hypotheses)
    torch.testing.assert_close(scores[ended], own[ended], rtol=1e-4, atol=1e-4)
    if beam > 1:
        return  # the two searches differ in which hypotheses may stay beside finished ones
    search = SearchConfig(beam=beam, max_length=20, max_length_offset=100)
    translator = Translator.load(folder, options=TranslationOptions(search=search, device="cpu"))
    expected = [list(each.hypotheses[0].tokens) for each in translator.translate(source)]
    assert [expected[i] for i in ended] == [hypotheses[i] for i in ended]


def test_int8_is_stored_in_a_third_of_the_room_and_stays_close(tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2")
    folder = write_model(tmp_path / "m", dataclasses.replace(SHAPE, d_model=64, d_inner=256))
    sizes = {}
    for precision in ("float32", "int8"):
        output = tmp_path / precision
        run_here("export", "-m", folder, "-o", output, "--precision", precision).check()
        sizes[precision] = (output / "model.bin").stat().st_size - 2 * 2048 * 64 * 4
    assert sizes["int8"] < sizes["float32"] / 2
    pair = tokenizers(joint=True)
    sources = [pair.source.encode(line) for line in lines(tuple(SOURCE_WORDS))]
    pieces = [pair.source.pieces(ids) for ids in sources]
    scored = engine(tmp_path / "int8").score_batch(pieces, pieces)
    found = torch.tensor([sum(each.log_probs) for each in scored])
    torch.testing.assert_close(
        found, log_probabilities(folder, sources, sources), rtol=0.05, atol=0.5
    )


def test_a_place_that_is_taken_is_refused(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m")
    message = run_here("export", "-m", folder, "-o", folder).check_refusal(status=2)
    assert "exists already and is not empty" in message


def test_a_folder_that_is_no_model_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2")
    tmp_path.joinpath("m").mkdir()
    message = run_here("export", "-m", tmp_path / "m", "-o", tmp_path / "ct2").check_refusal()
    assert "is not a model folder" in message
    assert not (tmp_path / "ct2").exists()


def test_without_the_package_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    folder = write_model(tmp_path / "m")
    message = run_here("export", "-m", folder, "-o", tmp_path / "ct2").check_refusal(status=2)
    assert message.endswith("pip install 'mt-trainer[ctranslate2]'")
    assert not (tmp_path / "ct2").exists()


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"positions": "relative"}, 'model.positions = "relative".*"learned", "rotary"'),
        (
            {"architecture": "decoder-only", "encoder_layers": 0},
            'model.architecture = "decoder-only".*only "encoder-decoder"',
        ),
    ],
)
def test_a_form_that_ctranslate2_lacks_is_refused(
    tmp_path: Path, change: dict[str, Any], found: str
) -> None:
    folder = write_model(tmp_path / "m", dataclasses.replace(SHAPE, **change))
    message = run_here("export", "-m", folder, "-o", tmp_path / "ct2").check_refusal()
    assert re.search(found, message)
    assert not (tmp_path / "ct2").exists()
