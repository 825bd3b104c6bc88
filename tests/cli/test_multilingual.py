"""One model of several directions, from files to translations into the language asked for."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mt import Translator
from mt.corpus.balance import balance_weights
from mt.corpus.store import TokenStore
from mt.model_folder.folder import load_model, read_config
from mt.preparation.reuse import Prepared
from mt.text.tags import TaggedTokenizer, tag_of
from mt.translation.options import TranslationOptions
from tests.cases.model_files import same_tensors
from tests.cases.runs import run_here

WORDS = ["ba", "be", "bi", "bo", "bu", "da", "de", "di", "do", "du", "ga", "ge", "gi", "go", "gu"]
WRITTEN: dict[str, Callable[[str], str]] = {
    "en": lambda word: word,
    "de": lambda word: word.upper(),
    "sw": lambda word: f"{word}k",
}
"""How each language writes a word: nothing of the three can be taken for another."""
Words = list[str | Path]
SMALL = (
    *("--vocab-size", "300", "--seed", "1", "--device", "cpu", "--precision", "float32"),
    *("--threads", "1", "--batch-tokens", "1000", "--preset", "tiny"),
    *("--set", "model.d_model=48", "--set", "model.d_inner=96", "--set", "model.heads=2"),
    *("--set", "model.encoder_layers=1", "--set", "model.decoder_layers=1"),
    *("--set", "training.warmup_updates=20", "--set", "training.peak_rate=0.01"),
)
ONE_STACK = ("--architecture", "decoder-only", "--set", "model.encoder_layers=0")
THREE = ("--langs", "en-de,de-en,en-sw", "--balance", "5")


def write(folder: Path, stem: str, count: int, languages: str, *, seed: int = 0) -> list[Path]:
    """Aligned files of random lines, one for each language."""
    draw = random.Random(f"{stem} {seed}")
    lines = [draw.choices(WORDS, k=draw.randint(2, 4)) for _ in range(count)]
    paths = []
    for language in languages.split():
        path = folder / f"{stem}.{language}"
        spelt = (" ".join(map(WRITTEN[language], line)) for line in lines)
        path.write_text("".join(f"{line}\n" for line in spelt), "utf-8")
        paths.append(path)
    return paths


def corpora(folder: Path) -> Words:
    """Training files of English and German, and fewer of English and Swahili; small --dev files."""
    dev = [*write(folder, "dev-a", 10, "en de"), *write(folder, "dev-b", 10, "en sw")]
    return [
        *write(folder, "a", 300, "en de"),
        *write(folder, "b", 100, "sw en"),
        *(word for path in dev for word in ("--dev", path)),
    ]


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Words:
    return corpora(tmp_path_factory.mktemp("text"))


@pytest.fixture(scope="module")
def make(text: Words, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    folder = tmp_path_factory.mktemp("models")

    def train(name: str, *options: str | Path, updates: int = 2) -> Path:
        if not (folder / name).exists():
            more = ("-o", folder / name, *SMALL, *THREE, "--updates", str(updates), *options)
            run_here("train", *text, *more).check()
        return folder / name

    return train


@pytest.fixture(scope="module")
def trained(make: Callable[..., Path]) -> Path:
    return make("trained", updates=150)


def languages_of(line: str) -> set[str]:
    return {
        "de" if word.isupper() else "sw" if word.endswith("k") else "en" for word in line.split()
    }


def test_a_line_becomes_the_language_that_is_asked_for(trained: Path) -> None:
    lines = "".join(f"{a} {b}\n" for a, b in zip(WORDS, WORDS[3:], strict=False)).encode()
    for language in ("de", "sw"):
        run = run_here("translate", "-m", trained, "--to", language, stdin=lines).check()
        assert languages_of(run.out.decode()) == {language}
    shouted = lines.upper()
    run = run_here("translate", "-m", trained, "--to", "en", "--keep-case", stdin=shouted).check()
    assert languages_of(run.out.decode()) == {"en"}


def test_scores_stand_by_direction_and_their_mean_decides(trained: Path) -> None:
    lines = (trained / "metrics.jsonl").read_text("utf-8").splitlines()
    best = json.loads([line for line in lines if "by_origin" in line][-1])
    by_direction = best["by_origin"]
    assert list(by_direction) == ["en-de", "de-en", "en-sw"]
    mean = np.mean([scores["chrF2"] for scores in by_direction.values()])
    assert best["scores"]["chrF2"] == pytest.approx(mean) and mean > 15


def test_the_target_must_be_said_and_be_known(trained: Path) -> None:
    run = run_here("translate", "-m", trained, stdin=b"ba\n")
    assert run.status == 2 and "into de, en, sw, and it is not said which" in run.err
    run = run_here("translate", "-m", trained, "--to", "fr", stdin=b"ba\n")
    assert run.status == 2 and "does not translate into fr. It knows de, en, sw" in run.err
    assert run.out == b""


def test_a_combination_that_no_text_had_is_made_and_told_of(trained: Path, tmp_path: Path) -> None:
    path = tmp_path / "some.de"
    path.write_text("BA BE\n", "utf-8")
    run = run_here("translate", "-m", trained, "--to", "sw", "--keep-case", path).check()
    assert "not trained on de-sw, but on en-de, de-en, en-sw" in run.err
    assert run.out.count(b"\n") == 1
    seen = run_here("translate", "-m", trained, "--to", "en", "--keep-case", path).check()
    assert "not trained" not in seen.err


def test_what_a_tag_is_shown_as_is_text_like_any_other(trained: Path) -> None:
    tokenizer = load_model(trained).tokenizers.source
    assert isinstance(tokenizer, TaggedTokenizer)
    for tag in tokenizer.tags:
        assert not set(tokenizer.encode(f"{tag} ba")) & set(tokenizer.tag_ids(tokenizer.tags))
        assert tokenizer.decode(tokenizer.encode(tag)) == tag
    to_sw = tokenizer.towards("sw")
    assert to_sw.encode("ba") == [*tokenizer.tag_ids([tag_of("sw")]), *tokenizer.encode("ba")]
    assert to_sw.encode("") == []


def test_eval_score_and_the_api_agree_with_translate(trained: Path, tmp_path: Path) -> None:
    source, reference = write(tmp_path, "test", 6, "en sw", seed=7)
    record = json.loads(
        run_here("eval", "-m", trained, "--to", "sw", source, reference, "--json").check().out
    )
    lines = run_here("translate", "-m", trained, "--to", "sw", "--json", source).check().out
    made = [json.loads(line)["hypotheses"][0] for line in lines.decode().splitlines()]
    hypotheses = tmp_path / "made.sw"
    hypotheses.write_text("".join(f"{each['text']}\n" for each in made), "utf-8")
    of_file = run_here("eval", "--hyp", hypotheses, reference, "--json").check().out
    assert record["scores"][1] == json.loads(of_file)["scores"][1]
    scores = run_here("score", "-m", trained, "--to", "sw", source, hypotheses).check().out
    found = np.array(list(map(float, scores.decode().split())))
    same = np.array([each["same_tokens"] for each in made])
    told = np.array([each["score"] for each in made])
    assert np.abs(found - told)[same].max() < 1e-5
    translator = Translator.load(trained, options=TranslationOptions(to="sw", device="cpu"))
    texts = source.read_text("utf-8").splitlines()
    assert [each.text for each in translator.translate(texts)] == [each["text"] for each in made]
    into_de = translator.towards("de").translate(texts)
    assert languages_of(" ".join(each.text for each in into_de)) == {"de"}


def test_the_folder_tells_of_its_directions(trained: Path) -> None:
    config = read_config(trained)
    assert config.directions == ("en-de", "de-en", "en-sw")
    assert (config.source_language, config.target_language) == ("", "")
    card = (trained / "README.md").read_text("utf-8")
    assert "en → de, de → en, en → sw" in card and "dev en-sw" in card
    assert (trained / "dev.directions").read_text("utf-8").split() == [
        each for each in config.directions for _ in range(10)
    ]


def test_weights_are_those_of_the_formula(trained: Path) -> None:
    store = TokenStore(trained / "training" / "tokens.arrow")
    counts = np.bincount(store.origins).tolist()
    config = read_config(trained)
    sizes = np.array(counts, dtype=float)
    shares = sizes**0.2 / (sizes**0.2).sum()
    assert np.array(config.corpus.weights) * sizes == pytest.approx(shares * sizes.sum())


def test_balance_by_hand() -> None:
    """Sizes 16 and 1 at T = 2: shares 4/5 and 1/5 of 17 pairs."""
    assert balance_weights([10, 6, 1], [0, 0, 1], 2.0) == pytest.approx((0.85, 0.85, 3.4))
    assert balance_weights([10, 6, 0], [0, 0, 1], 2.0) == pytest.approx((1.0, 1.0, 0.0), abs=9)


def test_each_source_begins_with_the_tag_of_its_target(trained: Path) -> None:
    store = TokenStore(trained / "training" / "tokens.arrow")
    tokenizer = load_model(trained).tokenizers.source
    tags = [tokenizer.tag_ids([tag_of(each)])[0] for each in ("de", "en", "sw")]
    for index in range(len(store)):
        ids = store.sources([index])[0].tolist()
        assert ids[0] == tags[store.origins[index]]
        assert not set(ids[1:]) & set(tags)
        assert not set(store.targets([index])[0].tolist()) & set(tags)


def test_a_run_that_is_resumed_is_the_same(make: Callable[..., Path]) -> None:
    whole = make("whole", updates=6)
    half = make("half", updates=3)
    run_here(
        "train",
        "--resume",
        half,
        "--updates",
        "6",
        "--device",
        "cpu",
        "--threads",
        "1",
        "--precision",
        "float32",
    ).check()
    assert same_tensors(whole, half)


def test_a_prepared_corpus_is_taken_over_and_an_average_keeps_its_directions(
    make: Callable[..., Path], tmp_path: Path
) -> None:
    one, other = make("half", updates=3), make("other", "--seed", "2", updates=1)
    assert (one / "training" / "tokens.arrow").samefile(other / "training" / "tokens.arrow")
    assert (one / "dev.directions").read_bytes() == (other / "dev.directions").read_bytes()
    run_here("average", one, other, "-o", tmp_path / "mean").check()
    assert (tmp_path / "mean" / "dev.directions").read_bytes() == (
        one / "dev.directions"
    ).read_bytes()
    assert load_model(tmp_path / "mean").tokenizers.source.targets == ("de", "en", "sw")


def test_one_stack_translates_into_each_language(make: Callable[..., Path]) -> None:
    model = make("one-stack", *ONE_STACK, "--set", "model.bidirectional_source=true", updates=150)
    for language in ("de", "sw"):
        run = run_here("translate", "-m", model, "--to", language, stdin=b"ba be\ngi go\n").check()
        assert languages_of(run.out.decode()) == {language}


def test_a_model_of_one_direction_has_no_tag(text: Words, tmp_path: Path) -> None:
    files = [
        *text[:2],
        "-o",
        tmp_path / "one",
        *SMALL,
        "--updates",
        "1",
        "--set",
        "corpus.held_out=5",
    ]
    run_here("train", *files).check()
    tokenizers = load_model(tmp_path / "one").tokenizers
    assert not isinstance(tokenizers.source, TaggedTokenizer)
    assert tokenizers.source.vocab_size == read_config(tmp_path / "one").tokenizer.vocab_size
    assert tokenizers.source.vocab_size <= 300
    assert not (tmp_path / "one" / "dev.directions").exists()
    assert read_config(tmp_path / "one").directions == ()
    run = run_here("translate", "-m", tmp_path / "one", "--to", "sw", stdin=b"ba\n")
    assert run.status == 2 and "does not translate into sw. It translates into de" in run.err
    run_here("score", "-m", tmp_path / "one", "--to", "de", *text[:2]).check()


def test_a_direction_without_text_and_text_without_a_direction_are_refused(
    text: Words, tmp_path: Path
) -> None:
    output = ("-o", tmp_path / "no", *SMALL, "--updates", "1")
    run = run_here("train", *text, *output, "--langs", "en-de,de-sw")
    assert run.status == 1 and "holds none of the directions en-de, de-sw" in run.err
    run = run_here("train", *text[:2], *output, "--langs", "en-de,en-sw")
    assert run.status == 2 and "no CORPUS holds the direction en-sw" in run.err
    run = run_here("train", *text[:2], *output, "--balance", "3")
    assert run.status == 2 and "--balance is between directions" in run.err
    assert not (tmp_path / "no").exists()


def test_without_dev_each_direction_holds_out_lines_that_no_side_of_training_has(
    text: Words, tmp_path: Path
) -> None:
    files = [
        *text[:4],
        "-o",
        tmp_path / "held",
        *SMALL,
        "--updates",
        "1",
        "--langs",
        "en-de,de-en,sw-en",
    ]
    run_here("train", *files, "--set", "corpus.held_out=30").check()
    model = load_model(tmp_path / "held")
    store = TokenStore(tmp_path / "held" / "training" / "tokens.arrow")
    decode = model.tokenizers.source.decode
    rows = range(len(store))
    trained = {
        (decode(source.tolist()), decode(target.tolist()))
        for source, target in zip(store.sources(rows), store.targets(rows), strict=True)
    }
    sources, targets = (
        (tmp_path / "held" / f"dev.{side}").read_text("utf-8").splitlines()
        for side in ("source", "target")
    )
    directions = (tmp_path / "held" / "dev.directions").read_text("utf-8").split()
    assert set(directions) == {"en-de", "de-en", "sw-en"} and len(directions) == len(sources)
    for pair in zip(sources, targets, strict=True):
        assert pair not in trained and pair[::-1] not in trained


def test_pairs_with_made_sources_have_a_tag_and_their_weight(text: Words, tmp_path: Path) -> None:
    made = tmp_path / "made.jsonl"
    texts = [f"{one} {other}" for one in WORDS for other in WORDS]
    lines = [{"source": each, "target": each.upper()} for each in texts]
    made.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    folder = tmp_path / "tagged"
    options = ("-o", folder, *SMALL, "--updates", "1", "--weight", f"{made}=0.5")
    run_here("train", *text[:2], "--synthetic", made, *options).check()
    tokenizer = load_model(folder).tokenizers.source
    assert isinstance(tokenizer, TaggedTokenizer) and tokenizer.targets == ()
    (tag,) = tokenizer.tag_ids(tokenizer.tags)
    store = TokenStore(folder / "training" / "tokens.arrow")
    first = [ids[0] == tag for ids in store.sources(range(len(store)))]
    assert first == (store.origins == 1).tolist() and any(first)
    assert read_config(folder).corpus.weights == (1.0, 0.5)
    assert tokenizer.encode("ba")[0] != tag
    real, synthetic = Prepared.load(folder / "training").corpus.origins
    assert real.num_held_out > 0 and synthetic.num_held_out == 0


def test_a_child_takes_over_the_tags_and_has_no_others(
    make: Callable[..., Path], text: Words, tmp_path: Path
) -> None:
    parent = make("half")
    options = ("--from", parent, "-o", tmp_path / "child", "--updates", "1", "--device", "cpu")
    run_here("train", *text[2:4], *options, "--langs", "en-sw", "--threads", "1").check()
    assert read_config(tmp_path / "child").directions == ("en-sw",)
    english, other = write(tmp_path, "c", 40, "en de")
    french = other.rename(tmp_path / "c.fr")
    start = ("train", english, french, "--from", parent, "-o", tmp_path / "fr")
    run = run_here(*start, "--langs", "en-fr")
    assert run.status == 2 and "has no tag <to fr>" in run.err and "--new-tokenizer" in run.err
    more = (*SMALL[:2], *SMALL[4:12], "--updates", "1", "--new-tokenizer")
    run_here(*start, *more, "--langs", "en-fr,fr-en").check()
    assert load_model(tmp_path / "fr").tokenizers.source.targets == ("fr", "en")


def test_a_conversion_is_checked_into_each_language(make: Callable[..., Path]) -> None:
    pytest.importorskip("ctranslate2")
    model = make("trained", updates=150)
    lines = b"ba be gi\nbo\n"
    run = run_here(
        *("translate", "-m", model, "--to", "sw", "--engine", "ctranslate2", "--beam", "1"),
        stdin=lines,
    ).check()
    own = run_here(
        "translate", "-m", model, "--to", "sw", "--beam", "1", "--engine", "mt", stdin=lines
    )
    assert run.out == own.check().out
    assert "into 3 languages" in run.err
    refused = run_here("export", "-m", model, "--format", "huggingface", "-o", model / "x")
    assert refused.status == 1
