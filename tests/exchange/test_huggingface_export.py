"""What is exported to Hugging Face is the same model, and comes back as it was."""

from __future__ import annotations

import dataclasses
import json
import random
import sys
import textwrap
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from mt.config import Config, ModelConfig, TokenizerConfig
from mt.config.presets import preset
from mt.model_folder.folder import build_model, load_model, save_weights, write_config
from mt.text.padding import pad_with_end
from mt.text.tokenizer import START, UNKNOWN, Tokenizer
from mt.text.tokenizer_pair import TokenizerPair
from mt.translation.options import TranslationOptions
from mt.translation.translator import Translator
from tests.cases.runs import run_here
from tests.exchange.marian_models import lines, toy_pair, train_huggingface, write_huggingface
from tests.text.tokenizers import tokenizer

ROOT = Path(__file__).parents[2]

SHAPE = ModelConfig(
    d_model=16,
    d_inner=24,
    encoder_layers=2,
    decoder_layers=3,
    heads=4,
    norm="post",
    sinusoids="halves",
    activation="swish",
    output_bias=True,
    zero_start=True,
)
FORMS: dict[str, dict[str, Any]] = {
    "marian": {},
    "target-tied": {"tied": "target"},
    "untied": {"tied": "none"},
    "learned-start": {"zero_start": False},
    "learned-start-untied": {"zero_start": False, "tied": "none"},
    "no-output-bias": {"output_bias": False, "activation": "relu"},
    "unscaled": {"scale_embeddings": False, "activation": "gelu"},
    "one-side-each": {"tied": "target", "joint": False},
}


@pytest.fixture(autouse=True, scope="module")
def _needs_transformers() -> None:
    pytest.importorskip("transformers")


def write_model(folder: Path, *, joint: bool = True, **changes: Any) -> Path:
    """A model folder with random weights, biases and norms included."""
    source: Tokenizer = tokenizer("unigram")
    pair = TokenizerPair(source=source, target=source if joint else tokenizer("bpe"))
    config = Config(
        source_language="de",
        target_language="en",
        model=dataclasses.replace(SHAPE, **changes),
        tokenizer=TokenizerConfig(joint=joint),
    )
    torch.manual_seed(5)
    model = build_model(config, pair)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.2)
    folder.mkdir()
    write_config(folder, config)
    pair.save(folder)
    save_weights(folder, model)
    return folder


def exported(model: Path, output: Path) -> Path:
    run = run_here("export", "-m", model, "-o", output, "--format", "huggingface").check()
    assert "compared with transformers 5" in run.err
    return output


@torch.no_grad()
def logits(folder: Path, pairs: Sequence[tuple[list[int], list[int]]]) -> torch.Tensor:
    model = load_model(folder).model
    source, mask = pad_with_end([each for each, _ in pairs])
    wanted, real = pad_with_end([each for _, each in pairs])
    fed = torch.cat((torch.full((len(pairs), 1), START), wanted[:, :-1]), dim=1)
    return model.project(model(source, mask, fed)[real])


@pytest.mark.parametrize("form", FORMS)
def test_what_comes_back_has_the_same_logits_and_translations(form: str, tmp_path: Path) -> None:
    model = write_model(tmp_path / "m", **FORMS[form])
    exported(model, tmp_path / "hf")
    run_here("import", tmp_path / "hf", "-o", tmp_path / "back").check()
    one, two = load_model(model), load_model(tmp_path / "back")
    assert one.tokenizers.target.vocab_size == two.tokenizers.target.vocab_size
    draw = random.Random(1)
    sizes = [each.vocab_size for each in (one.tokenizers.source, one.tokenizers.target)]
    pairs = [
        tuple([draw.randrange(UNKNOWN, size) for _ in range(draw.randint(0, 30))] for size in sizes)
        for _ in range(50)
    ]
    before, after = logits(model, pairs), logits(tmp_path / "back", pairs)  # type: ignore[arg-type]
    torch.testing.assert_close(after[:, 2:], before[:, 2:], rtol=1e-5, atol=1e-5)
    texts = [*lines("source", 4, 30), "Größe ½ – 漢字!", " zwei  Räume "]
    for text in texts:
        assert one.tokenizers.source.encode(text) == two.tokenizers.source.encode(text)


def test_a_trained_model_translates_as_before_when_it_comes_back(tmp_path: Path) -> None:
    """The recipe of the documents trains, in small, what can be exported."""
    draw = random.Random(4)
    for name, count in (("train", 600), ("dev", 30)):
        pairs = [toy_pair(draw) for _ in range(count)]
        for side, texts in zip(("de", "en"), zip(*pairs, strict=True), strict=True):
            text = "".join(f"{each}\n" for each in texts)
            (tmp_path / f"{name}.{side}").write_text(text, "utf-8")
    small = {"d_model": 32, "d_inner": 64, "heads": 2, "encoder_layers": 1, "decoder_layers": 1}
    run_here(
        *("train", tmp_path / "train.de", tmp_path / "train.en", "-o", tmp_path / "m"),
        *("--dev", tmp_path / "dev.de", "--dev", tmp_path / "dev.en", "--preset", "marian"),
        *("--for", "huggingface", "--updates", "150", "--device", "cpu", "--threads", "1"),
        *("--vocab-size", "300", "--batch-tokens", "512", "--keep", "duplicate"),
        *("--set", "training.peak_rate=0.01", "--set", "training.warmup_updates=30"),
        *("--set", "training.accumulate=1", "--set", "training.metric=loss"),
        *(word for key, value in small.items() for word in ("--set", f"model.{key}={value}")),
    ).check()
    exported(tmp_path / "m", tmp_path / "hf")
    run_here("import", tmp_path / "hf", "-o", tmp_path / "back").check()
    stdin = "".join(f"{toy_pair(draw)[0]}\n" for _ in range(1000)).encode("utf-8")

    def translations(name: str, *options: str) -> list[str]:
        run = run_here(
            *("translate", "-m", tmp_path / name, "--threads", "1", "--no-split"),
            *("--keep-case", *options),
            stdin=stdin,
        )
        return run.check().lines

    greedy = translations("m", "--beam", "1")
    assert greedy == translations("back", "--beam", "1")
    assert len(set(greedy)) > 100
    # Label smoothing gives the start symbol a share of 0.1 / 300, which is not there any more.
    pairs_of_lines = zip(translations("m"), translations("back"), strict=True)
    assert sum(one != two for one, two in pairs_of_lines) < 5


def test_transformers_translates_by_the_code_of_the_documents(tmp_path: Path) -> None:
    train_huggingface(tmp_path / "first", updates=60)
    settings = tmp_path / "first" / "generation_config.json"
    settings.write_text(json.dumps({"num_beams": 1}), "utf-8")
    run_here("import", tmp_path / "first", "-o", tmp_path / "m").check()
    folder = exported(tmp_path / "m", tmp_path / "hf")
    page = (ROOT / "docs" / "export.md").read_text("utf-8")
    code = textwrap.dedent(
        page[page.index("    from transformers import") :].partition("\n    config")[0]
    )
    assert '"checkpoints/de-en-hf"' in code
    names: dict[str, Any] = {"lines": [toy_pair(random.Random(i))[0] for i in range(40)]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that sacremoses is not there
        exec(code.replace("checkpoints/de-en-hf", str(folder)), names)
    translator = Translator.load(tmp_path / "m", options=TranslationOptions(device="cpu"))
    own = [each.hypotheses[0] for each in translator.translate(names["lines"])]
    pairs = zip(names["texts"], own, strict=True)
    assert sum(mine.hit_limit for mine in own) < 10
    assert all(its == mine.text for its, mine in pairs if not mine.hit_limit)
    assert len(set(names["texts"])) > 20


def test_an_import_that_is_exported_has_the_tensors_and_files_that_it_came_from(
    tmp_path: Path,
) -> None:
    from safetensors.torch import load_file

    write_huggingface(tmp_path / "hf")
    run_here("import", tmp_path / "hf", "-o", tmp_path / "m").check()
    exported(tmp_path / "m", tmp_path / "again")
    before, after = (load_file(tmp_path / name / "model.safetensors") for name in ("hf", "again"))
    assert before.keys() == after.keys()
    for name, tensor in before.items():
        assert torch.equal(tensor, after[name]), name
    for name in ("source.spm", "target.spm"):
        assert (tmp_path / "hf" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    one, two = (json.loads((tmp_path / n / "vocab.json").read_text()) for n in ("hf", "again"))
    assert one == two


def test_a_prefix_that_is_not_carried_over_is_warned_of(tmp_path: Path) -> None:
    write_huggingface(tmp_path / "hf")
    run_here("import", tmp_path / "hf", "-o", tmp_path / "m", "--prefix", ">>deu<<").check()
    options = ("-o", tmp_path / "again", "--format", "huggingface")
    run = run_here("export", "-m", tmp_path / "m", *options).check()
    assert "warning: >>deu<< is not put before lines there" in run.err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"norm": "pre"}, 'model.norm = "pre", which cannot be exported to Hugging Face'),
        ({"sinusoids": "marian"}, 'model.sinusoids = "marian"'),
        ({"sinusoids": "interleaved"}, 'model.sinusoids = "interleaved"'),
        ({"sinusoids": "interleaved", "positions": "rotary"}, 'model.positions = "rotary"'),
        ({"norm_kind": "rmsnorm"}, 'model.norm_kind = "rmsnorm"'),
        ({"norm_epsilon": 1e-6}, "model.norm_epsilon = 1e-06"),
        ({"activation": "swiglu"}, 'model.activation = "swiglu"'),
        ({"biases": False}, "model.biases = false"),
        ({"key_value_heads": 2}, "model.key_value_heads = 2"),
    ],
)
def test_a_form_that_marian_lacks_is_refused(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    model = write_model(tmp_path / "m", **change)
    options = ("-o", tmp_path / "hf", "--format", "huggingface")
    assert message in run_here("export", "-m", model, *options).check_refusal()
    assert not (tmp_path / "hf").exists()


def test_a_run_for_a_program_is_refused_before_it_begins(tmp_path: Path) -> None:
    (tmp_path / "a.de").write_text("haus\n", "utf-8")
    (tmp_path / "a.en").write_text("house\n", "utf-8")
    corpus = (tmp_path / "a.de", tmp_path / "a.en", "-o", tmp_path / "m")
    for program, options, message in (
        ("huggingface", ("--preset", "tiny"), 'this run has model.positions = "rotary"'),
        ("huggingface", ("--preset", "marian", "--tokenizer", "symbols"), 'kind = "symbols"'),
        ("ctranslate2", ("--set", "model.positions=relative"), 'model.positions = "relative"'),
    ):
        run = run_here("train", *corpus, "--for", program, *options)
        assert message in run.check_refusal(status=2)
        assert not (tmp_path / "m").exists()
    assert preset("marian").model.zero_start


def test_without_transformers_it_is_told_and_other_precisions_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    model = write_model(tmp_path / "m")
    options = ("-m", model, "--format", "huggingface")
    run = run_here("export", *options, "-o", tmp_path / "hf").check()
    assert "compared with nothing: transformers is not installed" in run.err
    record = json.loads((tmp_path / "hf" / "mt.json").read_text("utf-8"))
    assert record["compared_with"] == ""
    message = run_here(
        "export", *options, "-o", tmp_path / "no", "--precision", "int8"
    ).check_refusal(status=2)
    assert "--precision int8: huggingface is written in float32" in message
