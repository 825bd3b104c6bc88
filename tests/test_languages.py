"""What a language code says about writing."""

from __future__ import annotations

import pytest

from mt.languages import base_code, writes_no_spaces, writes_spaces_between_phrases


@pytest.mark.parametrize(
    ("code", "base"),
    [
        ("de", "de"),
        ("DE-at", "de"),
        ("deu_Latn", "de"),
        ("ger", "de"),
        ("zho_Hans", "zh"),
        ("yue", "yue"),
        ("xx", "xx"),
        ("", ""),
    ],
)
def test_the_language_of_a_code_in_two_letters(code: str, base: str) -> None:
    assert base_code(code) == base


def test_chinese_and_japanese_write_no_spaces_but_their_romanisations_do() -> None:
    assert all(writes_no_spaces(code) for code in ("zh", "zh-Hant", "jpn_Jpan", "ja"))
    assert not any(writes_no_spaces(code) for code in ("zh-Latn", "ko", "th", "de", ""))


def test_thai_and_khmer_write_spaces_between_phrases() -> None:
    assert all(writes_spaces_between_phrases(code) for code in ("th", "khm_Khmr", "lo", "my"))
    assert not any(writes_spaces_between_phrases(code) for code in ("zh", "vi", "th-Latn", ""))
