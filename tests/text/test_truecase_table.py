"""The table of usual case: what is learnt from which text, and what becomes of it in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt.errors import ModelFolderError
from mt.text.truecase import Truecaser
from mt.text.truecase_table import (
    FILE,
    learn_truecaser,
    load_truecaser,
    merged,
    save_truecaser,
)


def learnt(*texts: str, language: str = "") -> Truecaser:
    found = learn_truecaser(texts, language=language)
    assert found is not None
    return found


def test_frequent_words_come_first_each_in_its_usual_form() -> None:
    found = learnt("Es ist Haus und haus und Haus.", "Es ist haus und Haus hier.")
    assert found.forms == ("Haus", "und", "ist", "hier")


def test_the_start_of_a_sentence_tells_nothing_of_a_word() -> None:
    found = learnt("Heute regnet es. Morgen nicht! „Gut gesagt“, sagt (Wer das?) einer: Ja.")
    assert found.forms == ("das", "es", "gesagt", "nicht", "regnet")


def test_a_line_of_unusual_style_tells_nothing_of_its_words() -> None:
    found = learnt(
        "Er kauft das Haus.",
        "SIE KAUFT KEIN BROT UND",
        "sie kauft kein brot",
        "Sie Kauft Kein Gutes Brot",
    )
    assert found.forms == ("das", "Haus", "kauft")


@pytest.mark.parametrize(
    ("texts", "starts", "rare"),
    [
        (("Er kauft Brot, Milch, Käse.",), True, True),
        (("He buys bread in Rome.",), True, False),
        (("er kauft Brot, Milch, Käse.",), False, True),
    ],
)
def test_starts_and_rare_words_are_learnt(texts: tuple[str, ...], starts: bool, rare: bool) -> None:
    found = learnt(*texts)
    assert (found.starts_are_capitals, found.rare_are_capitals) == (starts, rare)


def test_a_style_of_many_training_lines_is_left_as_it_is() -> None:
    usual = ["He buys bread in Rome."] * 50
    small, capitals = "he buys it in rome", "HE BUYS IT IN ROME"
    seldom = learnt(*usual, small, capitals, capitals, capitals)
    assert seldom.usual == frozenset()
    assert seldom.restore(small) == seldom.restore(capitals) == "He buys it in Rome"
    often = learnt(*usual, small, small, capitals)
    assert often.usual == {"small"}
    assert often.restore(small) == small
    assert often.restore(capitals) == "He buys it in Rome"


def test_a_model_of_small_letters_reads_capitals_in_small_letters() -> None:
    found = learnt("he buys it in rome", "she buys it")
    assert found.restore("HE BUYS IT IN ROME") == "he buys it in rome"
    assert found.restore("she is in rome") == "she is in rome"


@pytest.mark.parametrize("texts", [(), ("",), ("这是一本书。", "我们在这里。"), ("1 2 3",)])
def test_text_without_case_teaches_nothing(texts: tuple[str, ...]) -> None:
    assert learn_truecaser(texts, language="") is None


def test_a_table_is_the_same_after_saving_and_loading(tmp_path: Path) -> None:
    found = learnt("Er kauft das Haus.", "straße und Ǆ ist NATO.", "so ist es", language="de")
    assert found.usual
    save_truecaser(found, tmp_path)
    content = (tmp_path / FILE).read_bytes()
    assert load_truecaser(tmp_path) == found
    save_truecaser(found, tmp_path)
    assert (tmp_path / FILE).read_bytes() == content


def test_a_folder_without_a_table_has_none(tmp_path: Path) -> None:
    assert load_truecaser(tmp_path) is None


def test_a_damaged_table_is_refused_by_name(tmp_path: Path) -> None:
    save_truecaser(learnt("Er kauft das Haus."), tmp_path)
    path = tmp_path / FILE
    content = path.read_bytes()
    damaged = [
        content[:-3],
        content.replace(b"Haus", b"haus"),
        content + b"und\n",
        content.replace(b"{", b"["),
        b"",
        b"\xff" + content,
        b'{"format": 1}\n',
        b"[1]\n",
        b'{"format": "x"}\n',
    ]
    for each in damaged:
        path.write_bytes(each)
        with pytest.raises(ModelFolderError, match=FILE):
            load_truecaser(tmp_path)


def test_a_table_of_a_newer_format_is_refused_as_such(tmp_path: Path) -> None:
    save_truecaser(learnt("Er kauft das Haus."), tmp_path)
    path = tmp_path / FILE
    path.write_text(path.read_text("utf-8").replace('"format": 1', '"format": 2'), "utf-8")
    with pytest.raises(ModelFolderError, match="format 2, this mt knows up to 1"):
        load_truecaser(tmp_path)


def test_fine_tuning_adds_words_and_changes_those_that_it_knows_better() -> None:
    old = learnt("Er kauft das Haus und Brot.")
    new = learnt("Er isst brot.")
    both = merged(new, old)
    assert both is not None
    assert both.forms == ("brot", "isst", "das", "Haus", "kauft", "und")
    assert both.starts_are_capitals is new.starts_are_capitals
    assert merged(None, old) == old
    assert merged(new, None) == new
    assert merged(None, None) is None
