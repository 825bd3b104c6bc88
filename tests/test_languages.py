"""What a language code means, and says about writing."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import datasets
import pytest

from mt.languages import (
    base_code,
    is_chinese,
    is_same_language,
    normal_code,
    writes_no_spaces,
    writes_spaces_between_phrases,
)

with (Path(__file__).parent / "iso-639.tsv").open(encoding="utf-8") as file:
    ISO_639 = list(csv.reader(file, delimiter="\t"))[1:]
"""ISO 639-1, 639-2/T (639-3 has the same), and 639-2/B where that differs; iso-codes 4.15."""

FLORES = (
    "ace_Arab af als amh arb asm azj bak bel ben bod bos bul cat ces cym dan deu ell eng epo ekk "
    "eus pes fin fra gaz gla gle glg guj heb hin hrv hun hye ind isl ita jpn kan kat kaz khm khk "
    "kir kor lao lvs lit mal mar mkd mlt mya nld nob nno npi ory pan pbt plt pol por quy ron rus "
    "san sin slk slv som spa srp swe swh tam tat tel tha tur uig ukr urd uzn vie ydd zho zsm zul"
)


def test_all_codes_of_iso_639_give_two_letters() -> None:
    assert len(ISO_639) == 185  # with bh and sh, which ISO 639-1 has withdrawn
    assert sum(len(row) == 3 for row in ISO_639) == 20
    listed = Path(datasets.__file__).parent / "utils" / "resources" / "languages.json"
    known = json.loads(listed.read_text("utf-8"))
    assert [row[0] for row in ISO_639] == sorted(code for code in known if len(code) == 2)
    for two, *threes in ISO_639:
        for code in (two, *threes):
            for form in (code, code.upper(), f"{code}_Latn", f"{code}-XX", f"{code}_Latn_XX"):
                assert base_code(form) == two
            assert is_same_language(code, two)


def test_no_two_languages_of_iso_639_are_the_same() -> None:
    bases = [base_code(row[-1]) for row in ISO_639]
    assert len(set(bases)) == len(bases)


def test_codes_of_the_flores_set_are_found_by_the_labels_of_language_identification() -> None:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    labels = [str(label) for label in LanguageIdentifier.from_model_file(MODEL_FILE).labels]
    assert all(len(label) == 3 or base_code(label) == label for label in labels)
    unknown = [
        code
        for code in FLORES.split()
        if not any(is_same_language(code, label) for label in labels)
    ]
    assert unknown == ["bod", "ydd"]  # which it cannot tell


@pytest.mark.parametrize(
    ("code", "base"),
    [
        ("de", "de"),
        ("DE-at", "de"),
        ("deu_Latn", "de"),
        ("zho_Hans", "zh"),
        ("zh-Hant-TW", "zh"),
        ("cmn", "zh"),
        ("zh-cmn-Hans", "zh"),
        ("yue", "yue"),
        ("zh-yue-HK", "yue"),
        ("yue_Hant", "yue"),
        ("nan", "nan"),
        ("arb_Arab", "ar"),
        ("arz", "arz"),
        ("pes", "fa"),
        ("fil", "tl"),
        ("nob_Latn", "nb"),
        ("iw", "he"),
        ("in", "id"),
        ("ji", "yi"),
        ("mo", "ro"),
        ("sr@latin", "sr"),
        ("xx", "xx"),
        ("qaa", "qaa"),
        ("x-klingon", "x-klingon"),
        ("I-default", "i-default"),
        ("", ""),
    ],
)
def test_the_language_of_a_code_in_two_letters(code: str, base: str) -> None:
    assert base_code(code) == base


def test_regions_and_scripts_are_spelt_in_one_way() -> None:
    assert normal_code("DEU_at") == normal_code("de-AT") == "de-at"
    assert normal_code("zho_Hant") == "zh-hant" != normal_code("zh")
    assert normal_code("zh-yue-HK") == "yue-hk"


def test_a_macrolanguage_is_the_same_as_its_members_and_these_differ() -> None:
    for whole, members in {"no": ("nb", "nno"), "hbs": ("sr", "hrv", "bs-Cyrl", "cnr")}.items():
        for member in members:
            assert is_same_language(whole, member)
            assert is_same_language(member, whole)
        assert not is_same_language(*members[:2])
    assert not is_same_language("zh", "yue")
    assert not is_same_language("no", "sv")


def test_chinese_and_japanese_write_no_spaces_but_their_romanisations_do() -> None:
    written = ("zh", "zh-Hant", "jpn_Jpan", "ja", "cmn", "chi", "yue_Hant", "wuu", "nan", "hak")
    assert all(writes_no_spaces(code) for code in written)
    assert not any(writes_no_spaces(code) for code in ("zh-Latn", "nan_Latn", "ko", "th", "de", ""))
    assert is_chinese("yue")
    assert not is_chinese("ja")


def test_thai_and_khmer_write_spaces_between_phrases() -> None:
    assert all(writes_spaces_between_phrases(code) for code in ("th", "khm_Khmr", "lo", "mya"))
    assert not any(writes_spaces_between_phrases(code) for code in ("zh", "vi", "th-Latn", ""))
