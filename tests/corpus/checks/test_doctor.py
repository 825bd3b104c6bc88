"""The corpus doctor finds what is wrong, where it is, and nothing in clean text."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.corpus.checks.alignment import alignment_break
from mt.corpus.checks.doctor import examine
from mt.corpus.checks.finding import KINDS, CheckReport
from mt.corpus.checks.sides import main_script
from mt.corpus.keys import loose_text
from mt.formats.pair import Reader
from mt.text.normalise import is_blank, normalise
from tests.corpus.list_reader import ListReader

Sides = list[tuple[str, str]]


def clean(count: int, *, seed: int = 0) -> Sides:
    """Pairs of different lengths that agree, as translations do."""
    draw = random.Random(seed)
    words = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("ama", "elo", "ini", "oru", "usa")]
    pairs = []
    for _ in range(count):
        chosen = draw.choices(words, k=draw.randint(3, 25))
        pairs.append((" ".join(chosen) + ".", " ".join(word[::-1] for word in chosen) + "."))
    return pairs


def check(pairs: Sides, *, against: Sides | None = None, error: str = "") -> CheckReport:
    others: list[Reader] = [] if against is None else [ListReader(against, name="test.de")]
    return examine(
        [ListReader(pairs, error=error)], against=others, normalise=normalise, is_blank=is_blank
    )


def counts(report: CheckReport) -> dict[str, int]:
    return {finding.id: finding.count for finding in report.findings}


def test_clean_text_has_no_findings() -> None:
    report = check(clean(2000), against=clean(300, seed=1))
    assert counts(report) == {}
    assert report.num_pairs == 2000
    assert report.files == {"c.de": 2000}
    assert not report.is_at_fault


@pytest.mark.parametrize(
    ("name", "source", "target"),
    [
        ("blank", "Haus am See", "  "),
        ("blank", "\u3000\u200b", "house by the lake"),
        ("copy", "Copyright by the authors", "Copyright by the authors"),
        ("ratio", "Ja.", "Yes, and this is a very long story that nobody has told before."),
        ("long", "wort " * 201, "word " * 201),
        ("markup", "Das ist <b>fett</b>.", "This is bold."),
        ("markup", "Hinz &amp; Kunz", "Tom and Dick"),
        ("nul", "Ha\0us", "house"),
        ("separator", "Haus\u2028am See", "house by the lake"),
        ("carriage_return", "Haus\ram See", "house by the lake"),
        ("control", "Haus\x07", "house"),
        ("bom", "Haus", "\ufeffhouse"),
        ("replacement", "H\ufffduser", "houses"),
        ("not_nfc", "Ha\u0308user", "houses"),
        ("numbers_differ", "kostet 95 Euro", "costs 59 euros"),
        ("mojibake", "HÃ¤user und BÃ¼cher", "houses and books"),
        ("mojibake", "Er sagte, dass es geht.", "He said â€œit worksâ€\x9d."),
        ("mojibake", "Ja und nein.", "Ð”Ð° Ð¸ Ð½ÐµÑ‚."),
        ("script_target", "Haus am See", "дом у озера"),
        ("script_source", "家は湖のそばにあります", "house by the lake"),
    ],
)
def test_a_fault_is_found_once_and_at_its_place(name: str, source: str, target: str) -> None:
    pairs = clean(700)
    pairs.insert(600, (source, target))
    report = check(pairs)
    finding = next(finding for finding in report.findings if finding.id == name)
    assert finding.count == 1
    assert finding.examples[0].place.startswith("c.de:601")
    assert finding.examples[0].text.isprintable()


@pytest.mark.parametrize(
    "text",
    [
        "Über Ärger, Öl und Ähren: ça va, Ångström, œuvre — „gut“ … 50 €",
        "Ελληνικά και Русский и עברית",
        "3.5 Liter am 24.12. um 10:30, siehe § 5",
        "a < b und c > d & e",
        "नमस्ते दुनिया",
    ],
)
def test_ordinary_text_is_not_suspected(text: str) -> None:
    report = check([*clean(20), (text, text + "!")])
    assert not {"mojibake", "markup", "control", "not_nfc"} & counts(report).keys()


GERMAN = "Die Mannschaft hat gestern wieder einmal gewonnen, und alle haben sich gefreut."
ENGLISH = "The team has won once again yesterday, and everybody was very happy about it."
FRENCH = "Ils ont décidé de partir demain matin, parce que le temps sera meilleur qu'aujourd'hui."


def test_text_in_another_language_is_found_and_sides_in_the_wrong_order() -> None:
    pairs = [(f"{GERMAN} {i}", f"{ENGLISH} {i}") for i in range(600)]
    pairs[550] = (pairs[550][0], FRENCH)
    pairs[20] = (ENGLISH, pairs[20][1])
    report = examine(
        [ListReader(pairs)], normalise=normalise, is_blank=is_blank, languages=("de", "en")
    )
    found = {finding.id: finding for finding in report.findings}
    assert found["language_target"].count == found["language_source"].count == 1
    assert found["language_target"].examples[0].place == "c.de:551"
    assert found["language_source"].examples[0].place == "c.de:21"
    assert "unexpected_language" not in found
    turned = examine(
        [ListReader(pairs)], normalise=normalise, is_blank=is_blank, languages=("en", "de")
    )
    (finding,) = [f for f in turned.findings if f.id == "unexpected_language"]
    assert [example.text for example in finding.examples] == [
        "most is de, not en",
        "most is en, not de",
    ]


def test_duplicates_are_told_from_near_duplicates() -> None:
    pairs = clean(50)
    source, target = pairs[3]
    pairs += [pairs[3], (source.upper(), target + " 12!"), (source, target[::-1])]
    assert counts(check(pairs)) == {"duplicate": 1, "near_duplicate": 1}


def test_serial_numbers_are_found_when_they_are_many() -> None:
    pairs = clean(100)
    numbered = [(source, f"{5000 + i}- {target}") for i, (source, target) in enumerate(pairs)]
    assert counts(check(numbered)) == {"serial": 100}
    assert counts(check([*numbered[:5], *pairs[5:]])) == {}


def test_overlap_counts_the_lines_of_the_test_set() -> None:
    corpus, test = clean(400), clean(30, seed=2)
    test[4] = corpus[7]
    test[5] = (corpus[8][0], "another translation of it")
    test[6] = (corpus[9][0].upper() + " 7", corpus[9][1])
    report = check([*corpus, corpus[7]], against=test)
    found = counts(report)
    assert found["overlap_source"] == 2
    assert found["overlap_source_loose"] == 3
    assert found["overlap_target"] == 2
    assert found["overlap_pair"] == 1
    assert report.is_at_fault
    finding = next(f for f in report.findings if f.id == "overlap_pair")
    assert finding.out_of == 30
    assert finding.examples[0].place == "test.de:5 = c.de:8"


@pytest.mark.parametrize("place", [300, 1500, 2900])
@pytest.mark.parametrize("lacking", ["source", "target"])
def test_a_lacking_line_is_placed(place: int, lacking: str) -> None:
    pairs = clean(4000)
    sides = [[source for source, _ in pairs], [target for _, target in pairs]]
    del sides[0 if lacking == "source" else 1][place - 1]
    report = check(list(zip(*sides, strict=False)), error="unequal sides: 4000 and 3999")
    findings = {finding.id: finding for finding in report.findings}
    assert {"unreadable", "misaligned"} <= findings.keys()
    found = int(findings["misaligned"].examples[0].place.rpartition(":")[2])
    assert abs(found - place) <= 20


def test_a_change_of_text_is_no_break_of_alignment() -> None:
    random.seed(0)
    loose = [(source, target[: random.randint(10, 200)]) for source, target in clean(500, seed=5)]
    lengths = [(len(s), len(t)) for s, t in [*clean(2000), *loose]]
    assert alignment_break(*zip(*lengths, strict=True)) is None


def test_few_pairs_have_no_break() -> None:
    assert alignment_break([], []) is None
    assert alignment_break([5] * 49, [500] * 49) is None


def test_every_finding_has_its_kind_and_an_order_by_gravity() -> None:
    levels = ["fault", "doubt", "note"]
    order = [levels.index(kind.level) for kind in KINDS.values()]
    assert order == sorted(order)


def test_keys_and_scripts() -> None:
    assert loose_text("Ja, 12 Bücher!") == loose_text("JA bücher 3") == "jabücher"
    assert main_script("Haus am See") == "LATIN"
    assert main_script("昨日は古い橋") == "CJK"
    assert main_script("12 € ok") == ""


@given(st.lists(st.tuples(st.text(max_size=30), st.text(max_size=30)), max_size=8))
def test_any_text_is_examined(pairs: Sides) -> None:
    report = check(pairs, against=pairs[::2])
    assert report.num_pairs == len(pairs)
    for finding in report.findings:
        assert 1 <= len(finding.examples) <= min(finding.count, 3)
        assert all(example.text.isprintable() for example in finding.examples)
