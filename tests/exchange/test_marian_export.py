"""What is exported to Marian is the same model, and comes back as it was."""

from __future__ import annotations

import dataclasses
import json
import random
import re
import textwrap
from pathlib import Path
from typing import Any, get_args

import pytest
import torch
import yaml

from mt.config import Config, ExportForm, ModelConfig
from mt.errors import ConfigError
from mt.exchange.forms import require_form
from mt.exchange.marian_export import _quoted
from mt.exchange.stacks import put_stacks
from mt.model_folder.folder import load_model
from mt.text.tokenizer import END, UNKNOWN
from tests.cases.runs import run_here
from tests.exchange.marian_models import lines, toy_pair
from tests.exchange.test_huggingface_export import logits, write_model
from tests.text.tokenizers import sentences

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "export.md").read_text("utf-8")
MARIAN: dict[str, Any] = {"sinusoids": "marian", "norm_epsilon": 1e-6}
FORMS: dict[str, dict[str, Any]] = {
    "marian": {},
    "target-tied": {"tied": "target"},
    "untied": {"tied": "none"},
    "norms-before": {"norm": "pre", "activation": "relu"},
    "no-output-bias": {"output_bias": False, "activation": "gelu"},
    "one-side-each": {"tied": "target", "joint": False},
}


def write(folder: Path, **changes: Any) -> Path:
    return write_model(folder, **{**MARIAN, **changes})


def exported(model: Path, output: Path) -> str:
    run = run_here("export", "-m", model, "-o", output, "--format", "marian").check()
    assert "read back by mt: log-probabilities of the tokens of" in run.err
    return run.err


def token_pairs(folder: Path) -> list[tuple[list[int], list[int]]]:
    loaded, draw = load_model(folder), random.Random(1)
    sizes = [each.vocab_size for each in (loaded.tokenizers.source, loaded.tokenizers.target)]

    def side(size: int) -> list[int]:
        return [draw.randrange(UNKNOWN, size) for _ in range(draw.randint(0, 30))]

    return [(side(sizes[0]), side(sizes[1])) for _ in range(50)]


@pytest.mark.parametrize("form", FORMS)
def test_what_comes_back_has_the_same_logits_and_cuts_text_alike(form: str, tmp_path: Path) -> None:
    model = write(tmp_path / "m", **FORMS[form])
    exported(model, tmp_path / "marian")
    run_here("import", tmp_path / "marian", "-o", tmp_path / "back").check()
    one, two = load_model(model), load_model(tmp_path / "back")
    assert one.config.model == dataclasses.replace(
        two.config.model, output_bias=one.config.model.output_bias, dropout=one.config.model.dropout
    )
    pairs = token_pairs(model)
    before, after = logits(model, pairs), logits(tmp_path / "back", pairs)
    torch.testing.assert_close(after[:, END:], before[:, END:], rtol=1e-6, atol=1e-6)
    for text in [*lines("source", 4, 30), "Größe ½ – 漢字!", " zwei  Räume "]:
        assert one.tokenizers.source.encode(text) == two.tokenizers.source.encode(text)
        assert one.tokenizers.target.encode(text) == two.tokenizers.target.encode(text)


def test_a_trained_model_translates_as_before_when_it_comes_back(tmp_path: Path) -> None:
    """The recipe of the documents trains, in small, what can be exported."""
    draw = random.Random(4)
    for name, count in (("train", 600), ("dev", 30)):
        pairs = [toy_pair(draw) for _ in range(count)]
        for side, texts in zip(("de", "en"), zip(*pairs, strict=True), strict=True):
            text = "".join(f"{each}\n" for each in texts)
            (tmp_path / f"{name}.{side}").write_text(text, "utf-8")
    (recipe,) = re.findall(
        r"^    mt train \S+ \S+ (--preset .* --for marian) -o", PAGE, re.MULTILINE
    )
    small = {"d_model": 32, "d_inner": 64, "heads": 2, "encoder_layers": 1, "decoder_layers": 1}
    run_here(
        *("train", tmp_path / "train.de", tmp_path / "train.en", "-o", tmp_path / "m"),
        *("--dev", tmp_path / "dev.de", "--dev", tmp_path / "dev.en", *recipe.split()),
        *("--updates", "150", "--device", "cpu", "--threads", "1"),
        *("--vocab-size", "300", "--batch-tokens", "512", "--keep", "duplicate"),
        *("--set", "training.peak_rate=0.01", "--set", "training.warmup_updates=30"),
        *("--set", "training.accumulate=1", "--set", "training.metric=loss"),
        *(word for key, value in small.items() for word in ("--set", f"model.{key}={value}")),
    ).check()
    told = exported(tmp_path / "m", tmp_path / "marian")
    assert "of 30 pairs differ by" in told and "30 of 30 lines are translated alike" in told
    record = json.loads((tmp_path / "marian" / "mt.json").read_text("utf-8"))
    assert record["difference"] < 1e-4
    assert (record["num_pairs"], record["num_lines"], record["num_same"]) == (30, 30, 30)
    run_here("import", tmp_path / "marian", "-o", tmp_path / "back", "--langs", "de-en").check()
    stdin = "".join(f"{toy_pair(draw)[0]}\n" for _ in range(1000)).encode("utf-8")

    def translations(name: str, *options: str) -> list[str]:
        run = run_here(
            *("translate", "-m", tmp_path / name, "--threads", "1", "--no-split"),
            *("--keep-case", "--precision", "float32", *options),
            stdin=stdin,
        )
        return run.check().lines

    greedy = translations("m", "--beam", "1")
    assert greedy == translations("back", "--beam", "1")
    assert len(set(greedy)) > 100


def test_ctranslate2_reads_the_same_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that others wrote; but for the frequencies of positions, which are not Marian's."""
    ctranslate2 = pytest.importorskip("ctranslate2")
    converter = pytest.importorskip("ctranslate2.converters.marian")
    from mt.model.positions import sinusoids

    def of_marian(dim: int, num_positions: int = 2048) -> Any:
        return sinusoids(num_positions, dim, order="marian").float().numpy()

    monkeypatch.setattr(converter, "_make_sinusoidal_position_encodings", of_marian)
    model = write(tmp_path / "m", tied="target", joint=False)
    exported(model, tmp_path / "marian")
    vocabularies = [str(tmp_path / "marian" / f"vocab.{side}.yml") for side in ("source", "target")]
    npz = str(tmp_path / "marian" / "model.npz")
    converter.MarianConverter(npz, vocabularies).convert(str(tmp_path / "ct2"))
    engine, loaded = ctranslate2.Translator(str(tmp_path / "ct2"), device="cpu"), load_model(model)
    source, target = loaded.tokenizers.source, loaded.tokenizers.target
    for one, two in zip(sentences()[:20], sentences()[20:40], strict=True):
        ids = source.encode(one), target.encode(two)
        (scored,) = engine.score_batch([source.pieces(ids[0])], [target.pieces(ids[1])])
        own = logits(model, [ids])[:, END:].log_softmax(dim=1)
        wanted = torch.tensor([*ids[1], END])[:, None] - END
        expected = own.gather(1, wanted)[:, 0].tolist()
        assert scored.log_probs == pytest.approx(expected, abs=2e-3)


def test_marian_translates_by_the_code_of_the_documents(tmp_path: Path) -> None:
    pytest.importorskip("pymarian")
    model = write(tmp_path / "m")
    exported(model, tmp_path / "marian")
    code = textwrap.dedent(
        PAGE[PAGE.index("    import sentencepiece\n    from pymarian") :].partition("\n\nAt the")[0]
    )
    names: dict[str, Any] = {"lines": list(sentences()[:20])}
    exec(code.replace("checkpoints/de-en-marian", str(tmp_path / "marian")), names)
    assert len(names["texts"]) == 20 and all(names["texts"])


def test_pieces_of_any_letters_are_read_back() -> None:
    pieces = ['"', "\\", "\\n", ": ", "#", "no", "12", "~", "\u2581", "\x85", "\x9f", "\u2028"]
    pieces += ["\ufeffa", "- a", "&a", "'", "\U0001f600", "\\u0041", "<0x0A>", "\ufffe"]
    text = "".join(f"{_quoted(piece)}: {i}\n" for i, piece in enumerate(pieces))
    read = yaml.load(text, Loader=yaml.BaseLoader)
    assert list(read) == pieces


def test_an_import_from_marian_is_exported_again(tmp_path: Path) -> None:
    """With a table for both sides, two sentencepiece models and a language before lines."""
    from tests.exchange.test_marian import write_marian

    pytest.importorskip("transformers")
    write_marian(tmp_path / "first")
    options = ("--prefix", ">>deu<<", "--langs", "de-en")
    run_here("import", tmp_path / "first", "-o", tmp_path / "m", *options).check()
    told = exported(tmp_path / "m", tmp_path / "marian")
    assert "warning: >>deu<< is not put before lines there" in told
    run_here("import", tmp_path / "marian", "-o", tmp_path / "back", *options).check()
    pairs = token_pairs(tmp_path / "m")
    assert torch.equal(*(logits(tmp_path / name, pairs) for name in ("m", "back")))
    for name in ("tokenizer.source.model", "tokenizer.target.model"):
        assert (tmp_path / "m" / name).read_bytes() == (tmp_path / "back" / name).read_bytes()


def test_what_says_something_else_when_it_is_read_back_is_not_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(tensors: dict[str, torch.Tensor], model: Any) -> None:
        put_stacks(tensors, model)
        name = "model.decoder.layers.1.self_attn.q_proj.weight"
        tensors[name] = tensors[name].T

    monkeypatch.setattr("mt.exchange.marian_export.put_stacks", wrong)
    model = write(tmp_path / "m")
    run = run_here("export", "-m", model, "-o", tmp_path / "marian", "--format", "marian")
    assert "at most: nothing was exported" in run.check_refusal()
    assert not (tmp_path / "marian").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sinusoids": "halves"}, 'model.sinusoids = "halves", which cannot be exported to Marian'),
        ({"norm_epsilon": 1e-5}, "model.norm_epsilon = 1e-05"),
        ({"zero_start": False}, "model.zero_start = false"),
        ({"scale_embeddings": False}, "model.scale_embeddings = false"),
        ({"activation": "swiglu"}, 'model.activation = "swiglu"'),
        ({"key_value_heads": 2}, "model.key_value_heads = 2"),
    ],
)
def test_a_form_that_marian_lacks_is_refused(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    model = write(tmp_path / "m", **change)
    options = ("-o", tmp_path / "marian", "--format", "marian")
    assert message in run_here("export", "-m", model, *options).check_refusal()
    assert not (tmp_path / "marian").exists()


def test_a_run_for_marian_is_refused_before_it_begins(tmp_path: Path) -> None:
    (tmp_path / "a.de").write_text("haus\n", "utf-8")
    (tmp_path / "a.en").write_text("house\n", "utf-8")
    corpus = (tmp_path / "a.de", tmp_path / "a.en", "-o", tmp_path / "m")
    run = run_here("train", *corpus, "--for", "marian", "--preset", "marian")
    message = run.check_refusal(status=2)
    assert 'this run has model.sinusoids = "halves"' in message
    assert "--set model.sinusoids=marian --set model.norm_epsilon=1e-6" in message
    assert not (tmp_path / "m").exists()


def test_the_table_of_the_documents_says_which_form_goes_where() -> None:
    programs: tuple[ExportForm, ...] = get_args(ExportForm)
    rows = re.findall(r"^\| (`.*`) \| (\w+) \| (\w+) \| (\w+) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 17
    fitting: dict[ExportForm, dict[str, Any]] = {
        "ctranslate2": {},
        "huggingface": {"sinusoids": "halves", "norm": "post", "zero_start": True},
        "marian": {**MARIAN, "norm": "post", "zero_start": True},
    }
    for setting, *cells in rows:
        key, values = re.fullmatch(r"`(\w+) = (.*)`", setting.replace("`, `", ", ")).groups()  # type: ignore[union-attr]
        for value in (json.loads(each) for each in values.split(", ")):
            for program, cell in zip(programs, cells, strict=True):
                shape = {**fitting[program], key: value}
                if key == "positions":
                    shape["sinusoids"] = "interleaved"
                if value == "decoder-only":
                    shape |= {"encoder_layers": 0, "zero_start": False}
                assert _is_held(program, shape) == (cell == "yes"), (program, setting)


def _is_held(program: ExportForm, shape: dict[str, Any]) -> bool:
    try:
        require_form(Config(model=ModelConfig(**shape)), program)
    except ConfigError:
        return False
    return True
