"""What is conspicuous about a translation, and what is not."""

from __future__ import annotations

import math

import pytest

from mt.translation.flags import flags_of, log_proportion, usual_proportion

PLAIN = "A man in an orange hat is looking at something."


@pytest.mark.parametrize(
    ("text", "is_loop"),
    [
        ("Ein Mann mit einem orangefarbenen Hut, der etwas anstarrt.", False),
        ("Ein Mann Mann Mann Mann blickt auf etwas in der Ferne.", True),
        ("Ein Mann Mann, mann, Mann blickt auf etwas in der Ferne.", True),
        ("Ein Mann, ein Mann, ein Mann mit einem Hut blickt auf etwas.", True),
        ("Nein, nein, nein, das ist ein Mann mit einem Hut.", False),
        ("Ein Mann und ein Mann und eine Frau mit einem Hut.", False),
        ("我看我看我看我看我看我看我看我看我看我看我看我看", True),
        ("我今天买了三本书，昨天买了两本，明天还要再买一本新的书。", False),
        ("Ein Maaaaaaaaaaaaaaaaaaaaaaaaaaaaann mit einem Hut blickt.", True),
        ("Ein Mann mit einem Hut blickt auf etwas ......", False),
    ],
)
def test_loops_of_words_or_characters_are_repetition(text: str, is_loop: bool) -> None:
    assert ("repetition" in flags_of(PLAIN, text)) == is_loop


def test_a_source_that_repeats_itself_may_be_repeated() -> None:
    source = "kilo kilo kilo kilo kilo"
    assert "repetition" not in flags_of(source, "chilo chilo chilo chilo chilo")
    assert "repetition" in flags_of("kilo and kilo and so on", "chilo chilo chilo chilo chilo")
    assert "repetition" not in flags_of('"No, no, no, no , no.', "„Nein, nein, nein, nein, nein.")


@pytest.mark.parametrize(
    ("source", "text", "is_copy"),
    [
        (PLAIN, PLAIN, True),
        (PLAIN, PLAIN.upper(), True),
        (PLAIN, "A man in an orange hat is looking at etwas.", True),
        (PLAIN, "Ein man mit orange Hut is looking an etwas.", False),
        ("Berlin", "Berlin", False),
        ("Anna Maria Smith", "Anna Maria Smith", False),
        ("1984, 12:30", "1984, 12:30", False),
        ("我今天买了三本新的书了", "我今天买了三本新的书了", True),
        ("東京", "東京", False),
        (PLAIN, "", False),
    ],
)
def test_a_text_of_words_of_the_source_is_a_copy(source: str, text: str, is_copy: bool) -> None:
    assert ("copied_source" in flags_of(source, text)) == is_copy


def test_length_is_measured_against_what_is_usual() -> None:
    japanese = "帽子をかぶった男性が何かを見ています。"
    usual = usual_proportion([(PLAIN, japanese), ("", "x" * 99), (PLAIN, "x" * 20)])
    assert usual == pytest.approx(math.log(29.5 / (len(PLAIN) + 10)), abs=0.01)
    assert flags_of(PLAIN, japanese, usual=usual) == ()
    assert flags_of(PLAIN, "男", usual=usual) == ("unusual_length",)
    assert flags_of(PLAIN, "".join(map(chr, range(256, 456)))) == ("unusual_length",)
    assert flags_of(PLAIN, "") == ("empty", "unusual_length")
    assert flags_of("Ja.", "") == ("empty",), "short texts may differ in length"
    assert usual_proportion([]) == 0.0


def test_proportions_mirror_each_other() -> None:
    longer, shorter = log_proportion("ab", "abcdef"), log_proportion("abcdef", "ab")
    assert longer == pytest.approx(math.log(16 / 12))
    assert shorter == pytest.approx(-longer)


def test_a_translation_ended_at_the_bound_is_truncated() -> None:
    assert flags_of("Ja.", "Yes.", hit_limit=True) == ("truncated",)
    assert flags_of("Ja.", "Yes.") == ()
