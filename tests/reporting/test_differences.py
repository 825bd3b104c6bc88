from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mt.reporting.differences import Span, differences, pieces_of


def marked(spans: list[Span]) -> str:
    """Spans with the signs of their kinds around: =same=, ~moved~, [only]."""
    signs = {"same": ("", ""), "moved": ("~", "~"), "only": ("[", "]")}
    return "".join(f"{signs[s.kind][0]}{s.text}{signs[s.kind][1]}" for s in spans)


def both(one: str, other: str, **flags: bool) -> tuple[str, str]:
    first, second = differences(one, other, **flags)
    return marked(first), marked(second)


def test_words_of_one_side_alone_are_told_apart() -> None:
    assert both("a red house stands", "the red house stands here") == (
        "[a] red house stands",
        "[the] red house stands [here]",
    )


def test_neighbouring_words_are_one_span() -> None:
    assert both("he quickly ran home", "he slowly walked home")[1] == "he [slowly walked] home"


def test_what_stands_elsewhere_has_moved() -> None:
    assert both("today we sold two lamps", "we sold two lamps today") == (
        "~today~ we sold two lamps",
        "we sold two lamps ~today~",
    )


def test_a_word_moves_as_often_as_both_have_it() -> None:
    first, second = both("x x a b c", "a b c x")
    assert (first, second) == ("~x~ [x] a b c", "a b c ~x~")


def test_punctuation_is_no_part_of_a_word() -> None:
    assert both("we left.", "we left!") == ("we left[.]", "we left[!]")
    assert pieces_of("it's half-way (50%).") == [
        *("it's", " ", "half-way", " ", "(", "50", "%", ")", "."),
    ]


def test_letters_without_spaces_are_compared_one_by_one() -> None:
    assert both("日本の車は赤い", "日本の家は赤い") == ("日本の[車]は赤い", "日本の[家]は赤い")


def test_signs_stay_with_their_letters() -> None:
    assert pieces_of("हिन्दी में") == ["हिन्दी", " ", "में"]
    assert pieces_of("กำลัง") == ["ก", "ำ", "ลั", "ง"]
    assert pieces_of("e\u0301a 👍🏽") == ["e\u0301a", " ", "👍", "🏽"]


def test_case_counts_unless_it_is_left_out() -> None:
    assert both("Red", "red") == ("[Red]", "[red]")
    assert both("Red", "red", lowercase=True) == ("Red", "red")


def test_symbols_are_what_stands_between_spaces() -> None:
    assert both("a-b c.", "a-b c", of_symbols=True) == ("a-b [c.]", "a-b [c]")


def test_an_empty_text_differs_wholly() -> None:
    assert both("", "a b") == ("", "[a b]")


@given(st.text(max_size=30), st.text(max_size=30), st.booleans())
def test_spans_are_the_texts_again(one: str, other: str, of_symbols: bool) -> None:
    first, second = differences(one, other, of_symbols=of_symbols)
    assert "".join(span.text for span in first) == one
    assert "".join(span.text for span in second) == other
    same, _ = differences(one, one, of_symbols=of_symbols)
    assert all(span.kind == "same" for span in same)
