"""What is imported from Hugging Face is the same model: logits, tokens, translations, refusals."""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import functional

from mt.config import SearchConfig
from mt.exchange.foreign import Vocabulary
from mt.model_folder.folder import LoadedModel, load_model, read_config
from mt.model_folder.imported import Imported
from mt.text.padding import pad_with_end
from mt.text.tokenizer import PAD, START, UNKNOWN
from mt.translation.options import TranslationOptions
from mt.translation.translator import Translator
from tests.cases.runs import run_here
from tests.exchange.marian_models import (
    lines,
    tables,
    tokenizer_of,
    toy_pair,
    train_huggingface,
    write_huggingface,
)

FORMS: dict[str, dict[str, Any]] = {
    "joint": {},
    "separate": {"joint": False},
    "untied": {"tie_word_embeddings": False},
    "separate-untied": {"joint": False, "tie_word_embeddings": False},
    "relu": {"activation_function": "relu", "encoder_attention_heads": 2,
             "decoder_attention_heads": 2},
    "gelu-unscaled": {"activation_function": "gelu", "scale_embedding": False},
}  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def _needs_transformers() -> None:
    pytest.importorskip("transformers")


def imported(source: Path, output: Path, *options: str) -> Path:
    run_here("import", source, "-o", output, *options).check()
    return output


def sides(*, joint: bool) -> tuple[list[int | None], list[int | None]]:
    """For each side the id there of each id of mt."""
    source, target = (
        Vocabulary(pieces=table, start=table.index("<pad>"), end=0, unknown=1).order
        for table in tables(joint=joint)
    )
    return source, target


def theirs(order: list[int | None], ids: list[int]) -> list[int]:
    return [number for i in ids if (number := order[i]) is not None]


def token_pairs(source: int, target: int) -> list[tuple[list[int], list[int]]]:
    draw = random.Random(2)
    return [
        ([draw.randrange(UNKNOWN, source) for _ in range(draw.randint(0, 40))],
         [draw.randrange(UNKNOWN, target) for _ in range(draw.randint(0, 40))])
        for _ in range(50)
    ]  # fmt: skip


@torch.no_grad()
def own_logits(loaded: LoadedModel, pairs: list[tuple[list[int], list[int]]]) -> list[Tensor]:
    source, mask = pad_with_end([each for each, _ in pairs])
    wanted, real = pad_with_end([each for _, each in pairs])
    hidden = loaded.model(source, mask, functional.pad(wanted[:, :-1], (1, 0), value=START))
    return [loaded.model.project(h[r]) for h, r in zip(hidden, real, strict=True)]


@pytest.mark.parametrize("form", FORMS)
def test_logits_of_fifty_pairs_are_those_of_transformers(form: str, tmp_path: Path) -> None:
    changes = FORMS[form]
    other = write_huggingface(tmp_path / "hf", **changes)
    loaded = load_model(imported(tmp_path / "hf", tmp_path / "m"))
    of_source, of_target = sides(joint=changes.get("joint", True))
    pairs = token_pairs(len(of_source), len(of_target))
    start = other.config.decoder_start_token_id
    for (source, target), mine in zip(pairs, own_logits(loaded, pairs), strict=True):
        with torch.no_grad():
            expected = other(
                input_ids=torch.tensor([[*theirs(of_source, source), 0]]),
                decoder_input_ids=torch.tensor([[start, *theirs(of_target, target)]]),
            ).logits[0]
        found = torch.empty_like(expected)
        found[:, theirs(of_target, list(range(START, len(of_target))))] = mine[:, START:]
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
        assert mine[:, PAD].max() < -99


def test_what_was_compared_is_told_and_stored(tmp_path: Path) -> None:
    write_huggingface(tmp_path / "hf")
    run = run_here("import", tmp_path / "hf", "-o", tmp_path / "m").check()
    assert "compared with transformers 5" in run.err
    origin = Imported.load(tmp_path / "m")
    assert origin is not None
    assert origin.compared_with.startswith("transformers 5")
    assert 0 < origin.difference < 1e-5
    assert "hf (Hugging Face); logits differ" in (tmp_path / "m" / "README.md").read_text("utf-8")
    config = read_config(tmp_path / "m")
    assert (config.source_language, config.target_language) == ("de", "en")
    assert config.search.beam == 4


def test_without_transformers_a_line_says_that_nothing_was_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_huggingface(tmp_path / "hf")
    monkeypatch.setitem(sys.modules, "transformers", None)
    run = run_here("import", tmp_path / "hf", "-o", tmp_path / "m").check()
    assert "compared with nothing: transformers is not installed" in run.err
    origin = Imported.load(tmp_path / "m")
    assert origin is not None
    assert origin.compared_with == ""


def test_a_model_that_computes_something_else_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Positions with the ladder of Marian itself differ from those of transformers."""
    write_huggingface(tmp_path / "hf")
    from mt.exchange import huggingface

    right = huggingface._form_of

    def wrong(options: Any) -> Any:
        import dataclasses

        return dataclasses.replace(right(options), sinusoids="marian")

    monkeypatch.setattr(huggingface, "_form_of", wrong)
    message = run_here("import", tmp_path / "hf", "-o", tmp_path / "m").check_refusal()
    assert "computes something else: logits differ by up to" in message
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("joint", [True, False])
def test_tokens_are_those_of_marians_tokenizer(joint: bool, tmp_path: Path) -> None:
    write_huggingface(tmp_path / "hf", joint=joint)
    other = tokenizer_of(tmp_path / "hf")
    loaded = load_model(imported(tmp_path / "hf", tmp_path / "m"))
    texts = [*lines("source", 5), "  zwei  Worte ", "½ ﬁx …", "漢字 Größe", "Ölkatze", "xyz"]
    if joint:
        texts += [">>deu<< " + text for text in lines("source", 6, 5)] + [">>xxx<< haus"]
    for side, mode, order in zip(
        (loaded.tokenizers.source, loaded.tokenizers.target),
        ("text", "text_target"),
        sides(joint=joint),
        strict=True,
    ):
        for text in texts:
            expected = other(**{mode: text})["input_ids"]
            assert [*theirs(order, side.encode(text)), 0] == expected, text
    of_target = loaded.tokenizers.target
    for text in lines("target", 8):
        ids = of_target.encode(text)
        its = other.decode(theirs(order, ids), use_source_tokenizer=False, skip_special_tokens=True)
        assert of_target.decode(ids) == its == text


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A folder with a model that has learnt a little, and the model."""
    folder = tmp_path_factory.mktemp("trained") / "hf"
    return folder, train_huggingface(folder, updates=150)


@pytest.mark.parametrize("beam", [1, 4])
def test_translations_of_a_hundred_lines_are_those_of_generate(
    beam: int, trained: tuple[Path, Any], tmp_path: Path
) -> None:
    folder, other = trained
    draw = random.Random(9)
    texts = [toy_pair(draw)[0] for _ in range(100)]
    batch = tokenizer_of(folder)(texts, return_tensors="pt", padding=True)
    pad, (_, order) = other.config.pad_token_id, sides(joint=True)
    with torch.no_grad():
        generated = other.generate(
            **batch, num_beams=beam, max_length=40, bad_words_ids=[[pad], [1]], do_sample=False
        )
    options = TranslationOptions(search=SearchConfig(beam=beam), device="cpu")
    translator = Translator.load(imported(folder, tmp_path / "m"), options=options)
    found = [list(each.hypotheses[0].tokens) for each in translator.translate(texts)]
    expected = [[i for i in row if i not in (0, pad)] for row in generated.tolist()]
    assert [theirs(order, ids) for ids in found] == expected
    assert len(set(map(tuple, expected))) > 50


def test_fine_tuning_lowers_the_loss_on_the_dev_set(
    trained: tuple[Path, Any], tmp_path: Path
) -> None:
    folder, _ = trained
    base = imported(folder, tmp_path / "base")
    draw = random.Random(4)
    for name, count in (("train", 300), ("dev", 40)):
        pairs = [toy_pair(draw) for _ in range(count)]
        for side, texts in zip(("de", "en"), zip(*pairs, strict=True), strict=True):
            text = "".join(f"{each}\n" for each in texts)
            (tmp_path / f"{name}.{side}").write_text(text, "utf-8")
    run_here(
        *("train", "--from", base, tmp_path / "train.de", tmp_path / "train.en"),
        *("--dev", tmp_path / "dev.de", "--dev", tmp_path / "dev.en", "-o", tmp_path / "tuned"),
        *("--updates", "30", "--device", "cpu", "--threads", "1", "--keep", "duplicate"),
        *("--keep", "overlap_source", "--set", "training.warmup_updates=5"),
        *("--set", "training.metric=loss", "--set", "training.label_smoothing=0"),
    ).check()
    metrics = (tmp_path / "tuned" / "metrics.jsonl").read_text("utf-8").splitlines()
    records = [json.loads(line) for line in metrics]
    losses = [each["scores"]["loss"] for each in records if each["event"] == "Validated"]
    assert losses[-1] < losses[0]
    run_here("translate", "-m", tmp_path / "tuned", stdin=b"haus und katze\n").check()


def test_an_imported_model_scores_aligns_reports_and_is_exported(
    trained: tuple[Path, Any], tmp_path: Path
) -> None:
    folder, _ = trained
    base = imported(folder, tmp_path / "base", "--prefix", ">>deu<<", "--langs", "de-en")
    draw = random.Random(5)
    pairs = [toy_pair(draw) for _ in range(6)]
    for side, texts in zip(("de", "en"), zip(*pairs, strict=True), strict=True):
        (tmp_path / f"test.{side}").write_text("".join(f"{text}\n" for text in texts), "utf-8")
    test = tmp_path / "test.de", tmp_path / "test.en"
    run_here("score", "-m", base, *test).check()
    aligned = run_here("score", "-m", base, *test, "--alignment").check()
    assert "0-0" in aligned.out.decode("utf-8")
    run_here("eval", "-m", base, *test).check()
    run_here("report", base, *test, "-o", tmp_path / "report.html").check()
    pytest.importorskip("ctranslate2")
    run_here("export", "-m", base, "-o", tmp_path / "ct2").check()


def test_a_language_before_the_line_is_one_token_that_spells_nothing(tmp_path: Path) -> None:
    write_huggingface(tmp_path / "hf")
    plain = load_model(imported(tmp_path / "hf", tmp_path / "plain")).tokenizers.source
    of_all = load_model(
        imported(tmp_path / "hf", tmp_path / "all", "--prefix", ">>nld<<")
    ).tokenizers.source
    code = plain.encode(">>nld<< haus")[0]
    assert plain.pieces([code]) == [">>nld<<"]
    assert of_all.encode("haus") == plain.encode(">>nld<<haus") == [code, *plain.encode("haus")]
    assert of_all.encode(">>deu<< haus") == plain.encode(">>deu<< haus")
    assert of_all.decode(of_all.encode("haus")) == "haus" == of_all.normalise(">>deu<< haus")
    assert plain.word_of_each(plain.encode(">>nld<< haus katze"))[0] is None
    assert plain.is_blank(">>nld<< ")
    assert plain.unknown(">>xxx<< haus") == [">>xxx<<"]
    message = run_here(
        "import", tmp_path / "hf", "-o", tmp_path / "no", "--prefix", ">>xxx<<"
    ).check_refusal()
    assert "has no language >>xxx<< (only >>deu<<, >>nld<<)" in message


def test_weights_of_half_precision_in_the_old_file_are_read(tmp_path: Path) -> None:
    write_huggingface(tmp_path / "hf")
    weights = tmp_path / "hf" / "model.safetensors"
    tensors = {name: each.half() for name, each in load_file(weights).items()}
    weights.unlink()
    torch.save(tensors, tmp_path / "hf" / "pytorch_model.bin")
    loaded = load_model(imported(tmp_path / "hf", tmp_path / "m"))
    own = loaded.model.output_weight[4:8]
    assert torch.equal(own, tensors["model.shared.weight"][2:6].float())


class _Bomb:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (str(self.path),)


def test_a_pickle_with_code_is_refused_and_nothing_is_run(tmp_path: Path) -> None:
    write_huggingface(tmp_path / "hf")
    (tmp_path / "hf" / "model.safetensors").unlink()
    weights = {"model.shared.weight": torch.zeros(3), "x": _Bomb(tmp_path / "run")}
    torch.save(weights, tmp_path / "hf" / "pytorch_model.bin")
    message = run_here("import", tmp_path / "hf", "-o", tmp_path / "m").check_refusal()
    assert "holds other things than weights: nothing of it was run" in message
    assert not (tmp_path / "run").exists()
    assert not (tmp_path / "m").exists()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("whole") / "hf"
    write_huggingface(made)
    return made


def config_with(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **changes}), "utf-8")


def tensors_with(folder: Path, name: str, tensor: Tensor | None) -> None:
    path = folder / "model.safetensors"
    tensors = load_file(path)
    if tensor is None:
        del tensors[name]
    else:
        tensors[name] = tensor
    save_file(tensors, path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"activation_function": "gelu_new"}, "activation_function = 'gelu_new', for which mt has"),
        ({"fancy_attention": 3}, "an option that mt does not know: fancy_attention = 3"),
        ({"normalize_embedding": True}, "normalize_embedding = True, for which mt has no form"),
        ({"static_position_embeddings": False}, "static_position_embeddings = False"),
        ({"model_type": "t5"}, "model_type = 't5', for which mt has no form (only 'marian')"),
        ({"transformers_version": "6.0.1"}, "written by transformers 6.0.1; this mt knows"),
        ({"decoder_attention_heads": 2}, "decoder_attention_heads 2; mt has one for both"),
        ({"vocab_size": 60}, "vocab.json does not give each of the 60 ids"),
        ({"decoder_start_token_id": 0}, "<pad> has the id"),
        ({"d_model": "16"}, "d_model must be of type int, but is '16'"),
        ({"encoder_ffn_dim": 25, "decoder_ffn_dim": 25}, "fc1.weight has shape (24, 16)"),
        ({"encoder_layers": 3}, "lacks the tensor model.encoder.layers.2.self_attn.q_proj.weight"),
        ({"encoder_layers": 1}, "has a stray tensor model.encoder.layers.1"),
    ],
)
def test_a_form_that_is_not_understood_is_refused(
    folder: Path, change: dict[str, object], message: str, tmp_path: Path
) -> None:
    shutil.copytree(folder, tmp_path / "hf")
    config_with(tmp_path / "hf", **change)
    assert message in run_here("import", tmp_path / "hf", "-o", tmp_path / "m").check_refusal()
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("vocab.json", "has no vocab.json"),
        ("source.spm", "source.spm cannot be read"),
        ("model.safetensors", "has neither model.safetensors nor pytorch_model.bin"),
        ("config.json", "no config.json and no .npz"),
    ],
)
def test_a_missing_file_is_named(folder: Path, name: str, message: str, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "hf")
    (tmp_path / "hf" / name).unlink()
    assert message in run_here("import", tmp_path / "hf", "-o", tmp_path / "m").check_refusal()


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.json", "source.spm", "config.json"])
def test_a_truncated_file_is_named(folder: Path, name: str, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "hf")
    path = tmp_path / "hf" / name
    path.write_bytes(path.read_bytes()[:-40])
    assert name in run_here("import", tmp_path / "hf", "-o", tmp_path / "m").check_refusal()
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("name", "tensor", "message"),
    [
        ("final_logits_bias", None, "lacks the tensor final_logits_bias"),
        ("lm_head.weight", torch.ones(53, 16), "are one by its settings, but they differ"),
        ("model.encoder.embed_positions.weight", torch.ones(8, 16), "does not hold the sinusoids"),
        ("final_logits_bias", torch.full((1, 53), torch.nan), "holds NaN or infinite values"),
    ],
)
def test_tensors_that_do_not_fit_are_named(
    folder: Path, name: str, tensor: Tensor | None, message: str, tmp_path: Path
) -> None:
    assert len(tables(joint=True)[0]) == 53
    shutil.copytree(folder, tmp_path / "hf")
    tensors_with(tmp_path / "hf", name, tensor)
    assert message in run_here("import", tmp_path / "hf", "-o", tmp_path / "m").check_refusal()
