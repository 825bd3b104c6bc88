"""`mt train --from`: another run from trained weights, with the same tokenizer and shape."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from mt.model_folder.folder import read_config
from mt.text.tokenizer_pair import TokenizerPair
from tests.cases.model_files import records, same_tensors
from tests.cases.runs import SMALL, run_here
from tests.cli.starter import BRIEF, MACHINE, content, write_corpus


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of German to English; tests do not change it."""
    folder = tmp_path_factory.mktemp("base")
    corpus = write_corpus(folder, "train", 0)
    options = (*SMALL, "--vocab-size", "400", "--threads", "1", "--updates", "3")
    run_here("train", *corpus, "-o", folder / "old", *options).check()
    return folder / "old"


@pytest.fixture
def more(tmp_path: Path) -> list[str]:
    return write_corpus(tmp_path, "more", 100)


def test_a_fine_tuned_model_has_the_tokenizer_and_shape_of_its_start(
    base: Path, more: list[str], tmp_path: Path
) -> None:
    before = content(base)
    new = tmp_path / "new"
    options = ("--set", "model.dropout=0.0", "--seed", "7", *BRIEF)
    run = run_here("train", *more, "--from", base, "-o", new, *options).check()
    assert content(base) == before
    assert (new / "tokenizer.model").read_bytes() == (base / "tokenizer.model").read_bytes()
    old, config = read_config(base), read_config(new)
    assert config.model == dataclasses.replace(old.model, dropout=0.0)
    assert config.tokenizer == old.tokenizer
    assert (config.source_language, config.target_language) == ("de", "en")
    assert config.training.seed == 7
    assert "fine-tuning old: its tokenizer, architecture and weights" in run.err
    assert "training the tokenizer" not in run.err
    assert "preset" not in run.err
    card = (new / "README.md").read_text("utf-8")
    assert "| fine-tuned from | old |" in card
    lines = [Path(path).read_text("utf-8").split("\n")[0] for path in more]
    out = run_here("translate", "-m", new, stdin=f"{lines[0]}\n".encode())
    assert len(out.lines) == 1 and "Traceback" not in out.err


def test_the_first_validation_scores_the_weights_of_the_start(
    base: Path, more: list[str], tmp_path: Path
) -> None:
    options = ("--set", "training.metric=loss", "--set", "training.validate_every=1")
    run_here("train", *more, "--from", base, "-o", tmp_path / "new", *BRIEF, *options).check()
    tokenizers = [(folder / "tokenizer.model").read_bytes() for folder in (base, tmp_path / "new")]
    assert tokenizers[0] == tokenizers[1]
    found = records(tmp_path / "new", "Validated")
    assert [record["update"] for record in found] == [0, 1, 2]
    assert found[0]["is_best"]
    pair = (tmp_path / "new" / "dev.source", tmp_path / "new" / "dev.target")
    out = run_here("eval", "-m", base, *pair, "--device", "cpu").check()
    assert out.lines[0].startswith(f"BLEU {found[0]['scores']['BLEU']:.2f} ")
    assert out.lines[1].startswith(f"chrF2 {found[0]['scores']['chrF2']:.2f} ")


def test_a_start_that_is_never_beaten_stays_the_model_and_the_user_is_told(
    base: Path, more: list[str], tmp_path: Path
) -> None:
    settings = ("training.metric=loss", "training.peak_rate=3", "training.warmup_updates=1")
    options = [option for setting in settings for option in ("--set", setting)]
    run = run_here("train", *more, "--from", base, "-o", tmp_path / "new", *BRIEF, *options).check()
    tokenizers = [(folder / "tokenizer.model").read_bytes() for folder in (base, tmp_path / "new")]
    assert tokenizers[0] == tokenizers[1]
    assert same_tensors(base, tmp_path / "new")
    assert "warning: no update made the weights better: the model is still that of old" in run.err


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--preset", "small"), "--preset small contradicts --from"),
        (("--vocab-size", "500"), "tokenizer.vocab_size (--vocab-size) = 500 contradicts"),
        (("--set", "model.d_model=16"), "model.d_model = 16 contradicts"),
        (("--set", "model.tied=none"), "model.tied = none contradicts"),
        (("--set", "tokenizer.kind=bpe"), "tokenizer.kind (--tokenizer) = bpe contradicts"),
        (("--config", "{tmp}/settings.toml"), "model.encoder_layers = 3 contradicts"),
        (("-o", "{base}/inner"), "which --from leaves as it is"),
        (("-o", "{base}"), "which --from leaves as it is"),
    ],
)
def test_what_contradicts_the_start_is_refused_by_name(
    options: tuple[str, str], named: str, base: Path, more: list[str], tmp_path: Path
) -> None:
    (tmp_path / "settings.toml").write_text("[model]\nencoder_layers = 3\n", "utf-8")
    before = content(base)
    given = [text.replace("{tmp}", str(tmp_path)).replace("{base}", str(base)) for text in options]
    run = run_here("train", *more, "--from", base, "-o", tmp_path / "new", *BRIEF, *given)
    assert named in run.check_refusal(status=2)
    assert not (tmp_path / "new").exists()
    assert content(base) == before


def test_what_agrees_with_the_start_may_be_said(
    base: Path, more: list[str], tmp_path: Path
) -> None:
    options = (
        "--preset",
        "tiny-2017",
        "--set",
        "model.d_model=8",
        "--set",
        "tokenizer.kind=unigram",
    )
    run_here("train", *more, "--from", base, "-o", tmp_path / "new", *BRIEF, *options).check()
    tokenizers = [(folder / "tokenizer.model").read_bytes() for folder in (base, tmp_path / "new")]
    assert tokenizers[0] == tokenizers[1]


@pytest.mark.parametrize("damage", ["no folder", "no weights", "no tokenizer"])
def test_a_start_that_is_no_whole_model_is_refused(
    damage: str, base: Path, more: list[str], tmp_path: Path
) -> None:
    if damage != "no folder":
        shutil.copytree(base, tmp_path / "broken")
        name = {"no weights": "model.safetensors", "no tokenizer": "tokenizer.model"}[damage]
        (tmp_path / "broken" / name).unlink()
    run = run_here("train", *more, "--from", tmp_path / "broken", "-o", tmp_path / "new", *BRIEF)
    assert str(tmp_path / "broken") in run.check_refusal()
    assert not (tmp_path / "new").exists()


def test_resuming_takes_no_start(base: Path, tmp_path: Path) -> None:
    run = run_here("train", "--resume", tmp_path / "m", "--from", base).check(2)
    assert "--from cannot change when a run is resumed" in run.err


def test_a_fine_tuned_run_is_resumed_as_the_run_itself(
    base: Path, more: list[str], tmp_path: Path
) -> None:
    settings = ("--set", 'training.freeze=["decoder"]', "--set", "training.metric=loss")
    options = ("--from", base, *MACHINE, *settings)
    run_here("train", *more, "-o", tmp_path / "a", *options, "--updates", "5").check()
    run_here("train", *more, "-o", tmp_path / "b", *options, "--updates", "2").check()
    resumed = run_here("train", "--resume", tmp_path / "b", "--updates", "5", *MACHINE).check()
    assert "frozen: decoder; " in resumed.err
    states = [
        load_file(tmp_path / name / "training" / "checkpoint-5" / "state.safetensors")
        for name in ("a", "b")
    ]
    assert states[0].keys() == states[1].keys()
    assert all(torch.equal(states[0][key], states[1][key]) for key in states[0])
    old = load_file(base / "model.safetensors")
    for name, tensor in old.items():
        moved = not torch.equal(states[1][f"model.{name}"], tensor)
        assert moved == (not name.startswith("decoder")), name
    cards = [(tmp_path / name / "README.md").read_text("utf-8") for name in ("a", "b")]
    assert all("| frozen in training | decoder |" in card for card in cards)
    before = records(tmp_path / "a", "Validated")[0]["scores"]["loss"]
    assert all(f"| dev loss before | {before:.2f} |" in card for card in cards)


def test_freezing_random_weights_is_warned_of(more: list[str], tmp_path: Path) -> None:
    options = (*SMALL, "--vocab-size", "400", *BRIEF, "--set", 'training.freeze=["encoder"]')
    run = run_here("train", *more, "-o", tmp_path / "new", *options).check()
    assert "warning: training.freeze without --from: the weights of encoder stay random" in run.err


@pytest.mark.parametrize(
    ("names", "options", "languages", "warning"),
    [
        ("de en", (), ("de", "en"), ""),
        ("de-CH en-GB", (), ("de", "en"), ""),
        ("nds en", (), ("de", "en"), "is nds-en, but old translates de-en"),
        ("de en", ("--langs", "nds-en"), ("nds", "en"), "this run is nds-en, but old translates"),
    ],
)
def test_languages_are_those_of_the_start_unless_given(
    names: str,
    options: tuple[str, ...],
    languages: tuple[str, str],
    warning: str,
    base: Path,
    tmp_path: Path,
) -> None:
    corpus = write_corpus(tmp_path, "other", 100, languages=names)
    new = tmp_path / "new"
    run = run_here("train", *corpus, "--from", base, "-o", new, *BRIEF, *options).check()
    config = read_config(new)
    assert (config.source_language, config.target_language) == languages
    assert warning in run.err
    assert ("but old translates" in run.err) == bool(warning)


def test_files_in_the_other_order_are_read_in_the_direction_of_the_start(
    base: Path, more: list[str], tmp_path: Path
) -> None:
    for name, paths in (("a", more), ("b", more[::-1])):
        run_here("train", *paths, "--from", base, "-o", tmp_path / name, *BRIEF).check()
    assert same_tensors(tmp_path / "a", tmp_path / "b")


def test_a_corpus_prepared_for_one_tokenizer_is_not_taken_for_another(
    base: Path, more: list[str], tmp_path: Path
) -> None:
    other = tmp_path / "elsewhere" / "other"
    options = (*SMALL, "--vocab-size", "400", *BRIEF)
    corpus = write_corpus(tmp_path, "third", 200)
    run_here("train", *corpus, "-o", other, *options).check()
    said = []
    for name, start in (("a", base), ("b", base), ("c", other)):
        folder = tmp_path / "runs" / name
        said.append(run_here("train", *more, "--from", start, "-o", folder, *BRIEF).check().err)
        own = (folder / "tokenizer.model").read_bytes()
        assert own == (start / "tokenizer.model").read_bytes()
    assert ["is taken over" in text for text in said] == [False, True, False]


def test_the_folder_records_how_long_sources_were_in_either_training(
    base: Path, tmp_path: Path
) -> None:
    """Of 60 pairs the longest counts; a later corpus of shorter lines takes nothing away."""
    tokenizer = TokenizerPair.load(base, joint=True).source
    lines = (base.parent / "train.de").read_text("utf-8").splitlines()
    held_out = set((base / "dev.source").read_text("utf-8").splitlines())
    longest = max(len(tokenizer.encode(line)) for line in lines if line not in held_out)
    assert read_config(base).longest_source == longest
    short = []
    for language in ("de", "en"):
        path = tmp_path / f"short.{language}"
        path.write_text("".join(f"Ja {word}.\n" for word in "abcdefghijkl"), "utf-8")
        short.append(str(path))
    run_here("train", *short, "--from", base, "-o", tmp_path / "new", *BRIEF).check()
    assert read_config(tmp_path / "new").longest_source == longest
