"""Long lines: nothing is lost, every part fits, and cuts stand where a reader would pause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mt.text.segments import Segment, join_translations, split_long
from mt.text.subwords import train_subwords
from mt.text.tokenizer import Tokenizer

Count = Callable[[str], int]


@cache
def tokenizer() -> Tokenizer:
    text = "Das Haus ist grün. Wo bist du? Ich weiß es nicht; vielleicht hier, vielleicht dort."
    return train_subwords([text] * 3, kind="bpe", vocab_size=320)


def num_words(text: str) -> int:
    return len(text.split())


def num_bytes(text: str) -> int:
    return len(text.encode("utf-8", errors="surrogatepass"))


def num_tokens(text: str) -> int:
    return len(tokenizer().encode(text))


def texts(segments: Sequence[Segment]) -> list[str]:
    return [segment.text for segment in segments]


def as_line(segments: Sequence[Segment]) -> str:
    return "".join(segment.before + segment.text + segment.after for segment in segments)


def split(text: str, max_tokens: int, *, count: Count = len, language: str = "") -> list[str]:
    return texts(split_long(text, count_tokens=count, max_tokens=max_tokens, language=language))


ODD = "aé1 .,;:!?\t\n\r\0\x85\u200b\u2028\u3000\ufffd\ud800▁。、「」।؟،។།က👨\u200d👩\u0301\u0bbe각ก"
any_text = st.text(max_size=80) | st.text(alphabet=ODD, max_size=80)


@pytest.mark.parametrize("count", [len, num_words, num_bytes, num_tokens])
@settings(max_examples=150, deadline=None)
@given(text=any_text, limit=st.integers(1, 40), language=st.sampled_from(["", "en", "ja", "xx-Y"]))
@example(text="a" * 200, limit=7, language="de")
@example(text="e" + "\u0301" * 50, limit=3, language="")
def test_segments_are_the_line_again_and_each_fits(
    count: Count, text: str, limit: int, language: str
) -> None:
    segments = split_long(text, count_tokens=count, max_tokens=limit, language=language)
    assert as_line(segments) == text
    assert all(each.text == each.text.strip() for each in segments)
    assert all(count(each.text) <= limit or len(each.text) == 1 for each in segments)
    assert not any(each.before for each in segments[1:])
    assert all(each.text for each in segments) or len(segments) == 1
    if count(text) <= limit:
        assert len(segments) == 1


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(["a", "e\u0301", "👨\u200d👩", "👍🏽", "각", "क्षि", "天"]), max_size=40
    ),
    st.integers(5, 12),
)
def test_no_cut_is_inside_a_grapheme_cluster(clusters: list[str], limit: int) -> None:
    ends = set(accumulate(map(len, clusters)))
    segments = split_long("".join(clusters), count_tokens=len, max_tokens=limit)
    assert set(accumulate(len(each.text) for each in segments)) <= ends | {0}


def test_sentences_stand_alone_even_where_two_would_fit() -> None:
    assert split("Eins. Zwei! Drei, vier?", 16) == ["Eins.", "Zwei!", "Drei, vier?"]


def test_abbreviations_of_the_language_end_no_sentence() -> None:
    text = "Dr. Maier kam am 3. Oktober. Er ging bald."
    assert split(text, 30, language="de") == ["Dr. Maier kam am 3. Oktober.", "Er ging bald."]
    assert split(text, 30, language="deu_Latn") == split(text, 30, language="de")


@pytest.mark.parametrize(
    "sentences",
    [
        ["你好吗？", "我很好。", "谢谢！"],
        ["यह एक है।", "यह दो है।"],
        ["هل هذا هو؟", "نعم هو."],
        ["នេះ។", "នោះ៕"],
        ["ဒါ။", "ဟို။"],
        ["ሰላም።", "እንዴት፧"],
        ["Hello there.", "Really?"],
    ],
)
def test_sentence_marks_of_many_scripts_need_no_language(sentences: list[str]) -> None:
    for between in ("", " ") if not sentences[0].isascii() else (" ",):
        line = between.join(sentences)
        assert split(line, len(line) - 1) == sentences


@pytest.mark.parametrize(
    ("line", "clauses"),
    [
        ("one two; three four", ["one two;", "three four"]),
        ("um 10:30 kam 1,5 mal, was", ["um 10:30 kam 1,5 mal,", "was"]),
        ("他们来了，我们走", ["他们来了，", "我们走"]),
        ("それで、行った", ["それで、", "行った"]),
        ("جاء الولد، ذهب", ["جاء الولد،", "ذهب"]),
        ("वह आया; वह गया", ["वह आया;", "वह गया"]),
    ],
)
def test_a_long_sentence_is_cut_at_clause_marks(line: str, clauses: list[str]) -> None:
    assert split(line, len(line) - 1) == clauses


def test_clauses_are_put_together_evenly() -> None:
    clauses = [f"w{number} x y," for number in range(10)]
    segments = split_long(" ".join(clauses), count_tokens=num_words, max_tokens=24)
    assert [num_words(each.text) for each in segments] == [15, 15]
    assert {each.cut for each in segments[:-1]} == {"clause"}


def test_words_are_put_together_evenly() -> None:
    assert [num_words(part) for part in split("a " * 21, 20, count=num_words)] == [11, 10]


def test_a_word_and_unspaced_text_are_cut_between_characters() -> None:
    segments = split_long("abcdefghij", count_tokens=len, max_tokens=4)
    assert [(each.text, each.cut) for each in segments] == [
        ("abcd", "character"),
        ("efgh", "character"),
        ("ij", "sentence"),
    ]
    cuts = {
        each.cut for each in split_long("天地玄黄宇宙洪荒", count_tokens=len, max_tokens=3)[:-1]
    }
    assert cuts == {"word"}


def test_white_space_stands_beside_segments() -> None:
    (first, second) = split_long("\t Eins.  Zwei. ", count_tokens=num_words, max_tokens=1)
    assert first == Segment(before="\t ", text="Eins.", after="  ")
    assert second == Segment(text="Zwei.", after=" ")


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        split_long("a", count_tokens=len, max_tokens=0)


def test_a_very_long_line_takes_no_square_of_its_length() -> None:
    """Tokens counted, summed over all calls, stay within some tens of the line's."""
    counted = 0

    def count(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return len(text)

    for line in ("x" * 100_000, "word " * 20_000, "Ein Satz ist es. " * 6_000, "天" * 100_000):
        counted = 0
        segments = split_long(line, count_tokens=count, max_tokens=200)
        assert as_line(segments) == line
        assert counted < 60 * len(line)


# Joining


def joined(source: str, parts: list[str], target: str, *, limit: int, count: Count = len) -> str:
    segments = split_long(source, count_tokens=count, max_tokens=limit)
    return join_translations(parts, segments, target_language=target)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        *((code, "A. B.") for code in ("en", "", "ko", "th", "zh-Latn")),
        *((code, "A.B.") for code in ("zh", "jpn_Jpan")),
    ],
)
def test_sentences_are_joined_as_the_target_writes(target: str, expected: str) -> None:
    assert joined("Eins. Zwei.", ["A.", "B."], target, limit=6) == expected


def test_a_separator_of_its_own_stays_a_space_in_every_language() -> None:
    assert joined("Eins.\tZwei.", ["A.", "B."], "zh", limit=6) == "A. B."
    assert joined("Eins.\u3000Zwei.", ["A.", "B."], "ja", limit=6) == "A. B."
    assert joined("Eins.\tZwei.", ["A.", "B."], "en", limit=6) == "A. B."


def test_source_without_spaces_gives_spaces_in_the_target() -> None:
    assert joined("你好。再见。", ["Hello.", "Bye."], "en", limit=3) == "Hello. Bye."
    assert joined("天地玄黄", ["Sky", "earth"], "en", limit=2) == "Sky earth"


def test_a_word_cut_in_two_comes_together_again() -> None:
    assert joined("abcdef", ["abc", "def"], "en", limit=3) == "abcdef"


def test_words_within_a_phrase_have_no_space_in_thai() -> None:
    assert joined("one two", ["ก", "ข"], "th", limit=1, count=num_words) == "กข"
    assert joined("one two", ["a", "b"], "en", limit=1, count=num_words) == "a b"


def test_an_empty_translation_leaves_no_space_behind() -> None:
    assert joined("Eins. Zwei. Drei.", ["x", "", "y"], "en", limit=6) == "x y"
    assert joined("Eins. Zwei. Drei.", ["", "", ""], "en", limit=6) == ""


def test_a_translation_for_each_segment_is_demanded() -> None:
    with pytest.raises(ValueError, match="zip"):
        joined("A. B.", ["x"], "en", limit=2)
