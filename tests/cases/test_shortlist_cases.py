"""`mt shortlist`, from the command line."""

from __future__ import annotations

import shutil
from pathlib import Path

from mt.model_folder.folder import load_tokenizers, read_config
from mt.model_folder.shortlist import SHORTLIST, Shortlist
from tests.cases.runs import run_here
from tests.cases.toy import LEXICON, Toy

_FEW = ("--per-piece", "4", "--frequent", "24")


def check_lists(folder: Path) -> None:
    """The lists hold what the lexicon of the toy language says, and little more."""
    tokenizers = load_tokenizers(folder, read_config(folder))
    shortlist = Shortlist.load(folder, tokenizers)
    for source, target in LEXICON.items():
        candidates = set(shortlist.candidates(tokenizers.source.encode(source)).tolist())
        assert set(tokenizers.target.encode(target)) <= candidates
        assert len(candidates) < 40


def test_it_is_learnt_from_the_tokens_of_training(own_model: Path) -> None:
    run_here("shortlist", "-m", own_model, *_FEW).check()
    check_lists(own_model)


def test_it_is_learnt_from_a_corpus_too(own_model: Path, toy: Toy) -> None:
    (own_model / "training" / "tokens.arrow").unlink()
    command = ("shortlist", "-m", own_model, *toy.train.arguments, *_FEW, "--pairs", "500")
    run = run_here(*command).check()
    assert "learning from 500 of 2000 pairs (0 more are blank or faulty, 0 longer" in run.err
    assert "of 20 validation pairs: lists of" in run.err
    check_lists(own_model)
    first = (own_model / SHORTLIST).read_bytes()
    run_here(*command).check()
    assert (own_model / SHORTLIST).read_bytes() == first


def test_a_folder_without_tokens_asks_for_a_corpus(own_model: Path) -> None:
    shutil.rmtree(own_model / "training")
    message = run_here("shortlist", "-m", own_model).check_refusal()
    assert message.startswith(f"mt: error: {own_model} holds no tokens of its training: ")
    assert message.endswith(f"Give a corpus: mt shortlist -m {own_model} CORPUS")
    assert not (own_model / SHORTLIST).exists()


def test_a_corpus_without_usable_pair_is_refused(own_model: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "blank.tsv"
    corpus.write_text("a\t\n\tb\n", "utf-8")
    message = run_here("shortlist", "-m", own_model, corpus).check_refusal()
    assert message == "mt: error: no pair to learn from: 2 read, all blank or faulty"


def test_an_option_without_effect_is_refused(model: Path) -> None:
    run = run_here("shortlist", "-m", model, "--langs", "a-b").check(2)
    assert "--langs and --columns have an effect with CORPUS only" in run.err
