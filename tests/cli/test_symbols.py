"""Models of symbols through every command: what goes in comes out, and the unknown is told."""

from __future__ import annotations

import json
import random
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from mt.model_folder.folder import load_model, read_config
from mt.text.symbols import HEADER
from mt.text.tokenizer import RESERVED, UNKNOWN
from tests.cases.runs import Run, run_here
from tests.evaluation.corpus_scores import sequence_scores

MEANING = {"e\u0301": "E1", "é": "E2", "a": "A", "A": "a.a", "ﬁ": "fi", "go:1": "▁", "x": "<unk>"}
SOURCES, TARGETS = list(MEANING), list(MEANING.values())
SMALL = (
    *("--tokenizer", "symbols", "--device", "cpu", "--precision", "float32", "--seed", "1"),
    *("--set", "model.d_model=32", "--set", "model.d_inner=32", "--set", "model.heads=2"),
    *("--set", "model.encoder_layers=1", "--set", "model.decoder_layers=1"),
    *("--set", "model.positions=sinusoidal"),  # one layer has no place to go by with rotary ones
    *("--set", "model.dropout=0", "--batch-tokens", "256"),
    *("--set", "training.warmup_updates=50", "--set", "training.average_decay=0.9"),
    *("--set", "tokenizer.joint=false", "--set", "model.tied=target", "--set", "search.beam=2"),
)


def meaning_of(source: str) -> str:
    return " ".join(MEANING[symbol] for symbol in source.split(" "))


def write(folder: Path, stem: str, sources: list[str]) -> tuple[str, str]:
    sides = sources, [meaning_of(source) for source in sources]
    for name, lines in zip(("in", "out"), sides, strict=True):
        (folder / f"{stem}.{name}").write_text("".join(f"{x}\n" for x in lines), "utf-8")
    return str(folder / f"{stem}.in"), str(folder / f"{stem}.out")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("symbols")
    draw = random.Random(1)
    lines = [" ".join(draw.choices(SOURCES, k=draw.randint(1, 5))) for _ in range(1000)]
    write(folder, "train", lines[:980])
    write(folder, "dev", lines[980:])
    return folder


@pytest.fixture(scope="module")
def trained(corpus: Path) -> tuple[Path, Run]:
    run = run_here(*train(corpus, "model"), "--updates", "200", *SMALL)
    return corpus / "model", run.check()


@pytest.fixture(scope="module")
def model(trained: tuple[Path, Run]) -> Path:
    return trained[0]


def train(corpus: Path, name: str) -> list[str]:
    files = [str(corpus / f"train.{side}") for side in ("in", "out")]
    dev = [x for side in ("in", "out") for x in ("--dev", str(corpus / f"dev.{side}"))]
    return ["train", *files, *dev, "-o", str(corpus / name)]


def test_symbols_come_out_as_they_went_in(model: Path) -> None:
    sources = ["a", "A a x", "é e\u0301", "", "ﬁ go:1", "  x\ta \r"]
    run = run_here("translate", "-m", model, stdin="".join(f"{x}\n" for x in sources).encode())
    assert run.check().lines == ["A", "a.a A <unk>", "E2 E1", "", "fi ▁", "<unk> A"]
    assert run.err == ""


def test_unknown_symbols_are_told_in_one_line(model: Path) -> None:
    run = run_here("translate", "-m", model, stdin=b"a new a\nx\nnew other \xc3\xa9\n").check()
    assert len(run.lines) == 3
    assert run.err == (
        "mt: warning: 3 symbols are unknown to the model, in 2 lines (the first: 'new', line 1)\n"
    )
    run = run_here("translate", "-m", model, "--json", stdin=b"a new a\nx\n").check()
    records = [json.loads(line) for line in run.lines]
    assert [record["unknown_symbols"] for record in records] == [["new"], []]
    assert records[1]["hypotheses"][0]["flags"] == []


def test_a_long_line_is_translated_whole(model: Path) -> None:
    line = " ".join(["a"] * 30)
    run = run_here("translate", "-m", model, stdin=f"{line}\n".encode()).check()
    assert "perhaps badly" in run.err
    assert "parts" not in run.err


def test_the_best_weights_are_those_of_the_least_symbol_error_rate(
    trained: tuple[Path, Run], corpus: Path
) -> None:
    folder, run = trained
    config = read_config(folder)
    assert config.training.metric == "ser"
    assert config.tokenizer.kind == "symbols"
    assert config.tokenizer.vocab_size == len(RESERVED) + len(TARGETS)
    assert "symbols as they are" in run.err
    assert "warning" not in run.err  # 980 pairs are enough, and it beats what knows nothing
    assert "fewer than" not in run.err
    assert "to try" not in run.err
    assert "SER" in (folder / "README.md").read_text("utf-8")
    chosen = run_here(
        *train(corpus, "by-loss"), *SMALL, "--updates", "1", "--set", "training.metric=loss"
    ).check()
    assert "best dev loss" in chosen.err
    assert read_config(corpus / "by-loss").training.metric == "loss"


def test_the_vocabulary_is_a_file_to_read(model: Path) -> None:
    text = (model / "tokenizer.target.model").read_bytes()
    assert text.startswith(HEADER)
    assert sorted(text[len(HEADER) :].decode("utf-8").splitlines()) == sorted(TARGETS)


def test_eval_shows_exact_match_and_symbol_error_rate(model: Path, corpus: Path) -> None:
    dev = [corpus / f"dev.{side}" for side in ("in", "out")]
    run = run_here("eval", "-m", model, *dev).check()
    names = [line.split(" ")[0] for line in run.lines]
    assert {"BLEU", "exact", "SER"} <= set(names)
    assert "tok:none" in run.lines[0]
    found = run_here("translate", "-m", model, dev[0]).check().lines
    references = dev[1].read_text("utf-8").split("\n")[:-1]
    record = json.loads(run_here("eval", "-m", model, *dev, "--json").check().out)
    scores = {score["name"]: score["score"] for score in record["scores"]}
    for score in sequence_scores(found, [references]):
        assert scores[score.name] == score.score
    assert scores["exact"] >= 90
    assert record["unknown_symbols"] == 0


def test_eval_scores_a_file_of_symbols(corpus: Path) -> None:
    hypotheses = corpus / "hypotheses"
    hypotheses.write_text("a b\nc\n", "utf-8")
    reference = corpus / "reference"
    reference.write_text("a b\nd\n", "utf-8")
    record = run_here("eval", "--hyp", hypotheses, reference, "--symbols", "--json").check()
    scores = {score["name"]: score["score"] for score in json.loads(record.out)["scores"]}
    assert scores["exact"] == 50
    assert scores["SER"] == pytest.approx(100 / 3)


def test_score_tells_what_is_unknown_on_both_sides(model: Path, corpus: Path) -> None:
    source, target = corpus / "score.in", corpus / "score.out"
    source.write_text("a x\nnew\n", "utf-8")
    target.write_text("A <unk>\nother A\n", "utf-8")
    run = run_here("score", "-m", model, source, target).check()
    assert float(run.lines[0]) > float(run.lines[1])
    assert "2 symbols are unknown to the model, in 1 line (the first: 'new', line 2)" in run.err
    run = run_here("score", "-m", model, source, target, "--json").check()
    records = [json.loads(line) for line in run.lines]
    assert records[1]["unknown_symbols"] == {"source": ["new"], "target": ["other"]}
    assert {tuple(link) for link in records[0]["alignment"]} <= {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_a_run_is_resumed_and_fine_tuned_with_the_vocabulary_that_it_has(
    model: Path, corpus: Path
) -> None:
    folder = corpus / "resumed"
    shutil.copytree(model, folder)
    run_here("train", "--resume", folder, "--updates", "205").check()
    refusal = run_here("train", "--resume", folder, "--tokenizer", "bpe").check(2)
    assert "--tokenizer cannot change when a run is resumed" in refusal.err
    files = corpus / "new.in", corpus / "new.out"
    files[0].write_text("a new\nx a\n" * 20, "utf-8")
    files[1].write_text("A B\n<unk> A\n" * 20, "utf-8")
    dev = ("--dev", str(files[0]), "--dev", str(files[1]), "--keep", "overlap_source")
    tuned = corpus / "tuned"
    run = run_here("train", *files, *dev, "--from", model, "-o", tuned, "--updates", "2").check()
    assert "2 of 8 symbols of the training text are unknown to the model" in run.err
    assert "40 of 160 symbols of the validation set are unknown to the model" in run.err
    assert load_model(tuned).tokenizers.source.model == load_model(model).tokenizers.source.model
    run_here("average", model, tuned, "-o", corpus / "mean").check()
    run_here("translate", "-m", corpus / "mean", stdin=b"a x\n").check()
    said = run_here(
        "train", *files, "--from", model, "-o", corpus / "no", "--tokenizer", "unigram"
    ).check_refusal(status=2)
    assert "tokenizer.kind (--tokenizer) = unigram contradicts" in said


def test_rare_symbols_of_both_sides_are_unknown_where_asked(corpus: Path) -> None:
    files = corpus / "rare.in", corpus / "rare.out"
    files[0].write_text("a b\nb a\na a\nb b\na c\n", "utf-8")
    files[1].write_text("x y\ny x\nx x\ny y\nx z\n", "utf-8")
    dev = ("--dev", str(files[0]), "--dev", str(files[1]), "--keep", "overlap_source")
    options = (*SMALL, "--updates", "1", "--set", "tokenizer.min_count=2")
    run = run_here("train", *files, *dev, "-o", corpus / "rare", *options).check()
    assert "the source tokenizer knows 2 of 3 symbols" in run.err
    tokenizers = load_model(corpus / "rare").tokenizers
    assert tokenizers.source.encode("a c") == [4, UNKNOWN]
    run = run_here("translate", "-m", corpus / "rare", stdin=b"a c\n").check()
    assert "1 symbol is unknown to the model, in 1 line" in run.err


def test_inspect_shows_symbols_and_tells_of_unknown_ones(model: Path, corpus: Path) -> None:
    page = corpus / "attention.html"
    run = run_here("inspect", model, "--source", "e\u0301 new", "-o", page).check()
    assert "the source has symbols that the model does not know, read as <unk>: new" in run.err
    assert "e\u0301" in page.read_text("utf-8")


def test_what_is_for_text_alone_is_refused(model: Path, corpus: Path) -> None:
    run = run_here("translate", "-m", model, "--placeholders", "default", stdin=b"a\n")
    assert "this model takes symbols" in run.check_refusal(status=2)
    settings = ("--set", "training.metric=ser", "--tokenizer", "bpe")
    refusal = run_here(*train(corpus, "no"), *settings).check_refusal(status=2)
    assert 'training.metric = "ser" needs tokenizer.kind = "symbols"' in refusal
    refusal = run_here(*train(corpus, "no"), "--set", "tokenizer.min_count=2").check_refusal(
        status=2
    )
    assert 'tokenizer.min_count = 2 needs tokenizer.kind = "symbols"' in refusal


def test_a_prefix_of_symbols_is_kept_and_an_unknown_one_refused(model: Path, corpus: Path) -> None:
    prefix = corpus / "prefix"
    prefix.write_text("a.a\n", "utf-8")
    run = run_here("translate", "-m", model, "--prefix", prefix, stdin=b"a x\n").check()
    assert run.lines[0].split(" ")[0] == "a.a"
    prefix.write_text("A zzz\n", "utf-8")
    refusal = run_here("translate", "-m", model, "--prefix", prefix, stdin=b"a x\n")
    assert "zzz" in refusal.check_refusal()


@pytest.mark.skipif(find_spec("ctranslate2") is None, reason="needs ctranslate2")
def test_symbols_are_exported_unless_one_is_named_like_a_reserved_one(
    model: Path, corpus: Path
) -> None:
    refusal = run_here("export", "-m", model, "-o", corpus / "ct2").check_refusal()
    assert "'<unk>'" in refusal
    files = corpus / "plain.in", corpus / "plain.out"
    files[0].write_text("a b\nb a\n", "utf-8")
    files[1].write_text("x y\ny z\n", "utf-8")
    dev = ("--dev", str(files[0]), "--dev", str(files[1]), "--keep", "overlap_source")
    options = (*SMALL, "--updates", "1")
    run_here("train", *files, *dev, "-o", corpus / "plain", *options).check()
    run_here("export", "-m", corpus / "plain", "-o", corpus / "ct2").check()
    import ctranslate2

    engine = ctranslate2.Translator(str(corpus / "ct2"))
    (result,) = engine.translate_batch([["a", "b"]], beam_size=1, max_decoding_length=3)
    assert set(result.hypotheses[0]) <= {"x", "y", "z", *RESERVED}
