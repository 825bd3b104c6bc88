"""What is exported to CTranslate2 is the same model: probabilities, translations, refusals."""

from __future__ import annotations

import dataclasses
import json
import random
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
import torch
from torch import Tensor

from mt.config import Config, ModelConfig, SearchConfig, TokenizerConfig
from mt.model_folder.folder import build_model, load_model, save_weights, write_config
from mt.model_folder.shortlist import SHORTLIST, Shortlist
from mt.text.padding import pad_with_end
from mt.text.subwords import train_subwords
from mt.text.tokenizer import END, PAD, START, UNKNOWN, Tokenizer
from mt.text.tokenizer_pair import TokenizerPair
from mt.translation.options import TranslationOptions
from mt.translation.translator import Translator
from tests.cases.runs import run_here

SHAPE = ModelConfig(
    d_model=32, d_inner=48, encoder_layers=2, decoder_layers=3, heads=4, max_positions=40
)
SOURCE_WORDS = ["haus", "katze", "läuft", "grün", "und", "Straße", "nicht", "über"]
TARGET_WORDS = ["house", "cat", "runs", "green", "and", "street", "not", "above", "below"]


@cache
def lines(words: tuple[str, ...]) -> tuple[str, ...]:
    draw = random.Random(3)
    return tuple(" ".join(draw.choices(words, k=draw.randint(1, 9))) for _ in range(40))


@cache
def tokenizer(words: tuple[str, ...], size: int) -> Tokenizer:
    return train_subwords(lines(words), kind="bpe", vocab_size=size)


def tokenizers(*, joint: bool) -> TokenizerPair:
    source = tokenizer(tuple(SOURCE_WORDS), 290)
    target = source if joint else tokenizer(tuple(TARGET_WORDS), 300)
    return TokenizerPair(source=source, target=target)


def write_model(folder: Path, shape: ModelConfig = SHAPE, *, joint: bool = True) -> Path:
    """A model folder with random weights, biases and norms included."""
    pair = tokenizers(joint=joint)
    config = Config(model=shape, tokenizer=TokenizerConfig(joint=joint))
    torch.manual_seed(5)
    model = build_model(config, pair)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.1)
    folder.mkdir()
    write_config(folder, config)
    pair.save(folder)
    save_weights(folder, model)
    return folder


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


def write_talker(folder: Path, shape: ModelConfig, *, joint: bool) -> Path:
    """A model whose hypotheses end before the bound, and which never thinks of reserved symbols."""
    write_model(folder, dataclasses.replace(shape, tied="none"), joint=joint)
    model = load_model(folder).model
    assert isinstance(model.decoder_norm, torch.nn.LayerNorm)
    with torch.no_grad():
        model.decoder_norm.bias[0] = 4.0
        model.output_weight[[PAD, START, UNKNOWN], 0] = -20.0
        model.output_weight[END, 0] += 0.9
    save_weights(folder, model)
    return folder


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


def make_shortlist(pair: TokenizerPair) -> Shortlist:
    """Two target pieces for each source piece but the last ten, and six for all."""
    draw = random.Random(4)
    known = pair.source.vocab_size - 10 - (UNKNOWN + 1)
    sizes = [0] * (UNKNOWN + 1) + [2] * known + [0] * 10
    ids = range(UNKNOWN + 1, pair.target.vocab_size)
    return Shortlist(
        first=np.cumsum([0, *sizes], dtype=np.int32),
        pieces=np.array(draw.choices(ids, k=2 * known), dtype=np.int32),
        frequent=np.array(draw.sample(ids, k=6), dtype=np.int32),
        target_vocab=pair.target.vocab_size,
    )


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize("beam", [1, 4])
def test_a_shortlist_bounds_what_the_engine_gives(beam: int, joint: bool, tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2")
    folder, pair = write_talker(tmp_path / "m", SHAPE, joint=joint), tokenizers(joint=joint)
    shortlist = make_shortlist(pair)
    shortlist.save(folder, pair)
    run_here("export", "-m", folder, "-o", tmp_path / "ct2").check()
    names = pair.target.pieces(range(pair.target.vocab_size))
    sources = pair.source.encode_batch(lines(tuple(SOURCE_WORDS)))
    pieces = [pair.source.pieces(ids) for ids in sources]
    free, bounded = (
        engine(tmp_path / "ct2").translate_batch(
            pieces,
            use_vmap=use_vmap,
            max_batch_size=1,  # lists are those of a batch together
            beam_size=beam,
            max_decoding_length=12,
            disable_unk=True,
        )
        for use_vmap in (False, True)
    )
    num_bounded = num_copying = 0
    for i, ids in enumerate(sources):
        listed = {names[number] for number in shortlist.candidates(ids)}
        copies = {p for n, p in zip(ids, pieces[i], strict=True) if not shortlist.likely(n).size}
        given, unbounded = (set(found[i].hypotheses[0]) for found in (bounded, free))
        assert given <= listed | copies
        num_bounded += not unbounded <= listed | copies
        num_copying += not given <= listed
    assert num_bounded > 20
    assert (num_copying > 0) == joint  # no other target has these pieces


def test_without_a_shortlist_there_is_no_vocabulary_map_and_a_damaged_one_is_named(
    tmp_path: Path,
) -> None:
    pytest.importorskip("ctranslate2")
    folder = write_model(tmp_path / "m")
    run_here("export", "-m", folder, "-o", tmp_path / "ct2").check()
    assert not (tmp_path / "ct2" / "vmap.txt").exists()
    (folder / SHORTLIST).write_bytes(b"no tensors")
    message = run_here("export", "-m", folder, "-o", tmp_path / "no").check_refusal()
    assert message.startswith(f"mt: error: {folder / SHORTLIST} is no shortlist, or is damaged")
    assert not (tmp_path / "no").exists()


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
    assert message.endswith("pip install ctranslate2")
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
