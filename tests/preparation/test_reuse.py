"""A prepared corpus is known again by what it holds, and by nothing else."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import pytest

from mt.config import Config
from mt.config.toml import Values
from mt.errors import ModelFolderError
from mt.events import CorpusRead, OriginRead
from mt.formats import open_corpora
from mt.formats.options import ReadingOptions
from mt.preparation.reuse import Prepared, digest_of, find_prepared, key_of_run, take_over
from mt.text.subwords import SubwordTokenizer, train_subwords
from mt.text.tokenizer_pair import TokenizerPair

TEXTS = {
    "c.de": "Ja.\nNein.\n",
    "c.en": "Yes.\nNo.\n",
    "c.tsv": "Ja.\tYes.\n",
    "c.csv": "Ja.,Yes.\n",
    "c.jsonl": '{"de": "Ja.", "en": "Yes."}\n',
}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text, "utf-8")
    return {name: str(tmp_path / name) for name in TEXTS}


def digests(*paths: str, **options: Any) -> list[str]:
    return [digest_of(r) for r in open_corpora(paths, ReadingOptions(**options)).readers]


def test_digests_follow_content_and_reading_not_name_or_time(
    files: dict[str, str], tmp_path: Path
) -> None:
    (before,) = digests(files["c.de"], files["c.en"])
    for name in ("c.de", "c.en"):
        moved = tmp_path / f"moved.{name[2:]}"
        moved.write_bytes((tmp_path / name).read_bytes())
        os.utime(moved, (1, 1))
    assert digests(str(tmp_path / "moved.de"), str(tmp_path / "moved.en")) == [before]
    (turned,) = digests(files["c.en"], files["c.de"])
    (asked,) = digests(files["c.de"], files["c.en"], columns=("1", "2"))
    Path(files["c.de"]).write_text("Ja.\nNein!\n", "utf-8")
    (changed,) = digests(files["c.de"], files["c.en"])
    assert len({before, turned, asked, changed}) == 4


def test_bytes_on_the_other_side_or_in_another_form_are_another_content(
    files: dict[str, str], tmp_path: Path
) -> None:
    Path(files["c.csv"]).write_bytes(Path(files["c.tsv"]).read_bytes())
    found = {*digests(files["c.csv"]), *digests(files["c.tsv"])}
    for cut in (0, 3, 6):
        (tmp_path / "x.de").write_text("a\nb\nc\n"[:cut], "utf-8")
        (tmp_path / "x.en").write_text("a\nb\nc\n"[cut:], "utf-8")
        found |= {*digests(str(tmp_path / "x.de"), str(tmp_path / "x.en"))}
    assert len(found) == 5


def test_a_dataset_is_known_by_its_rows(tmp_path: Path) -> None:
    from datasets import Dataset

    rows = {"source": ["a", "b", "c"], "target": ["x", "y", "z"]}
    whole = Dataset.from_dict(rows)
    found = []
    for name, data in {
        "whole": whole,
        "again": Dataset.from_dict(rows),
        "turned": whole.select([2, 1, 0]).select([2, 1, 0]),
        "less": whole.select(range(2)),
        "other": Dataset.from_dict({**rows, "target": ["x", "y", "Z"]}),
    }.items():
        data.save_to_disk(str(tmp_path / name))
        found += digests(f"hf:{tmp_path / name}")
    assert found[0] == found[1] == found[2]
    assert len(set(found)) == 3


def test_what_can_be_read_only_once_has_no_key(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.tsv")
    assert digests(str(tmp_path / "pipe.tsv")) == [""]
    assert key_of_run(Config(), corpus=["", "1"], others=[]) == ""
    assert key_of_run(Config(), corpus=["1"], others=[["2"], [""]]) == ""


def test_the_key_follows_settings_of_cleaning_and_tokenizer_alone() -> None:
    def key(
        corpus: tuple[str, ...] = ("1", "2"),
        dev: tuple[str, ...] = (),
        against: tuple[str, ...] = (),
        values: Values | None = None,
    ) -> str:
        config = Config().with_values(values or {})
        return key_of_run(config, corpus=corpus, others=[dev, against])

    same: list[Values] = [
        {"model": {"d_model": 64}},
        {"training": {"seed": 7}},
        {"search": {"beam": 2}},
        {"corpus": {"weights": (1.0, 2.0)}},
        {"corpus": {"drop": tuple(reversed(Config().corpus.drop))}},
    ]
    assert {key(values=values) for values in same} == {key()}
    changes: list[Values] = [
        {"tokenizer": {"vocab_size": 300}},
        {"tokenizer": {"kind": "bpe"}},
        {"corpus": {"drop": ()}},
        {"corpus": {"max_length": 10}},
        {"corpus": {"max_ratio": 3.0}},
        {"corpus": {"held_out": 10}},
    ]
    different = [key(values=values) for values in changes]
    different += [key(), key(corpus=("2", "1")), key(dev=("3",)), key(against=("3",))]
    assert len(set(different)) == 10
    assert all(different)


def test_the_key_follows_the_bytes_of_tokenizers_that_are_given() -> None:
    one, other = (
        train_subwords([text], kind="bpe", vocab_size=270) for text in ("ab abc", "de def g")
    )
    pairs = [
        TokenizerPair(source=one, target=one),
        TokenizerPair(source=other, target=other),
        TokenizerPair(source=one, target=other),
        TokenizerPair(source=other, target=one),
        None,
    ]
    keys = [key_of_run(Config(), corpus=["1"], others=[], tokenizers=pair) for pair in pairs]
    assert len(set(keys)) == 5
    again = TokenizerPair(source=SubwordTokenizer(one.model), target=SubwordTokenizer(one.model))
    assert key_of_run(Config(), corpus=["1"], others=[], tokenizers=again) == keys[0]


PREPARED = Prepared(
    key="k",
    corpus=CorpusRead(
        origins=(
            OriginRead(name="a.de", num_read=9, num_held_out=1, dropped={"too long": 2}),
            OriginRead(name="b.tmx", num_read=5, num_held_out=0, dropped={}, weight=2.0),
        )
    ),
    dev=(("a.de", 1), ("b.tmx", 0)),
)


def test_what_became_of_a_corpus_comes_back(tmp_path: Path) -> None:
    PREPARED.save(tmp_path)
    assert Prepared.load(tmp_path) == PREPARED
    (tmp_path / "corpus.json").write_text("{}", "utf-8")
    with pytest.raises(ModelFolderError, match="missing or damaged"):
        Prepared.load(tmp_path)


def test_a_folder_with_the_same_key_is_found_among_others(tmp_path: Path) -> None:
    for name, key in (("a", "other"), ("b", "k"), ("c", "")):
        (tmp_path / name / "training").mkdir(parents=True)
        dataclasses.replace(PREPARED, key=key).save(tmp_path / name / "training")
    (tmp_path / "aa" / "training").mkdir(parents=True)
    (tmp_path / "aa" / "training" / "corpus.json").write_text("half {", "utf-8")
    assert find_prepared(tmp_path / "new", "training", "k") == tmp_path / "b"
    assert find_prepared(tmp_path / "new", "training", "none") is None
    gone = [Path("training") / "tokens.arrow"]
    assert find_prepared(tmp_path / "new", "training", "k", files=gone) is None
    (tmp_path / "b" / gone[0]).touch()
    assert find_prepared(tmp_path / "new", "training", "k", files=gone) == tmp_path / "b"
    assert find_prepared(tmp_path / "new", "training", "") is None


def test_a_file_taken_over_outlives_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("text", "utf-8")
    take_over(tmp_path / "a", tmp_path / "deep" / "b")

    def no_links(*paths: object) -> None:
        raise OSError("this file system has no hard links")

    monkeypatch.setattr(os, "link", no_links)
    take_over(tmp_path / "a", tmp_path / "c")
    (tmp_path / "a").unlink()
    assert (tmp_path / "deep" / "b").read_text("utf-8") == "text"
    assert (tmp_path / "c").read_text("utf-8") == "text"
