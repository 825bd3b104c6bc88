"""Marks that nobody sees: gone where they say nothing, kept where a script needs them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.text.invisible import is_invisible
from mt.text.normalise import normalise

MEANINGLESS = [
    *"\u00ad\u034f\u061c\u180b\u180e\u200b\u200c\u200d\u200e\u200f",
    *"\u202a\u202c\u202e\u2060\u2063\u2064\u2066\u2069\u206a\u206f\ufe00\ufe0e\ufe0f\ufeff\ufff9",
    *"\ufffa\ufffb\U0001d173\U000e0001\U000e0041\U000e007f\U000e0100\U000e01ef",
]
SENTENCES = ["Der Hund schläft.", "שלום עולם", "Он спит — 3 часа!", "我爱你。", "Ωραία μέρα"]
KEPT = {
    "Persian": "می‌خواهم کتاب‌ها",
    "Persian suffix of a foreign word": "PDF‌ها",
    "Persian numeral": "۳۰‌ساله",
    "Hijri": "۱۴۴۷ ه‍",
    "Devanagari half form": "क्‍ष र्‍य",
    "Devanagari without conjunct": "क्‌ष",
    "Malayalam old chillu at the end of a word": "അവന്‍ വന്നു",
    "Bengali ya-phalaa": "র‍্যাব",
    "Sinhala": "ශ්‍රී ලංකාව",
    "Khmer words": "ខ្ញុំ​ស្រឡាញ់​អ្នក",
    "Thai words": "ฉัน​รัก",
    "Mongolian": "ᠮᠣᠩᠭᠣᠯ᠎ᠠ ᠠ᠋",
    "family": "👨‍👩‍👧",
    "heart on fire": "❤️‍🔥",
    "keycap": "1️⃣",
    "nod": "🙂‍↔️",
    "skin": "👩🏽‍🚀",
    "England": "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
}


@pytest.mark.parametrize("mark", MEANINGLESS, ids=lambda mark: f"U+{ord(mark):04X}")
@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_mark_without_meaning_changes_nothing_wherever_it_stands(
    sentence: str, mark: str
) -> None:
    for place in range(len(sentence) + 1):
        marked = sentence[:place] + mark + sentence[place:]
        assert normalise(marked) == sentence, place
        assert normalise(sentence[:place] + 2 * mark + sentence[place:]) == sentence, place


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_what_a_script_needs_stays(text: str) -> None:
    assert any(map(is_invisible, text))
    assert normalise(text) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize(
    "text", ["سلام\u200f دنیا", "\u200eسلام دنیا", "سلام\u200c دنیا", "سلام دنیا\u200b\ufeff"]
)
def test_marks_of_direction_and_at_the_ends_of_words_go_in_arabic_script(text: str) -> None:
    assert normalise(text) == "سلام دنیا"


def test_several_joiners_are_one() -> None:
    assert normalise("می\u200c\u200c\u200fخواهم") == "می\u200cخواهم"


@pytest.mark.parametrize("space", "\u00a0\u1680\u2000\u2003\u2009\u200a\u202f\u205f\u3000")
def test_all_kinds_of_space_are_one(space: str) -> None:
    assert normalise(f"{space}a{space}{space}b{space}") == "a b"


@given(st.text(st.sampled_from("a1 \u0301é☺❤👩👧🏴\ufe0f\u20e3همक्ക്ഖກၵ្កᠠ" + "".join(MEANINGLESS))))
def test_normalising_twice_changes_nothing_among_marks(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert unicodedata.is_normalized("NFC", once)
