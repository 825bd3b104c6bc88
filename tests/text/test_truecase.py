"""Usual case: what is written as usual stays to the byte, the rest loses nothing but its case."""

from __future__ import annotations

import time
import unicodedata
from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mt.text.normalise import normalise
from mt.text.truecase import Truecaser
from mt.text.truecase_table import learn_truecaser

GERMAN = (
    "Die Frau wohnt in der Straße, und der Mann kauft ein altes Haus.",
    "Heute fährt das Kind mit der U-Bahn nach Berlin, weil die Sonne nicht scheint.",
    "Am Abend essen wir mit Peter und seiner Frau im Garten.",
    "Wir haben ein Auto und die NATO ein iPhone, und Marie lernt schnell das System.",
    "Ein Hund, eine Katze und ein Vogel: Das ist gut.",
    "In der Masse sind die Maße gut, weil die Maße groß sind.",
)
ENGLISH = (
    "Yesterday, I saw the old man and his dog in London with a friend from the USA.",
    "The young woman is sitting on a bench, and the children are playing.",
    "He said that I know the way, but it isn't far to New York.",
)
TURKISH = ("Bugün, ılık bir gün ve ışık var, ama iyi bir iş yok diyor İzmir ve Isparta.",)
GREEK = ("Ο άνθρωπος είδε, ότι ο δρόμος της Αθήνας και ο σκύλος είναι εδώ.",)
CROATIAN = ("Danas, ovdje je ǉubav i moja ǈubica, tu na moru.",)


@cache
def truecaser(language: str) -> Truecaser:
    texts = {"de": GERMAN, "en": ENGLISH, "tr": TURKISH, "el": GREEK, "hr": CROATIAN}[language]
    found = learn_truecaser(texts, language=language)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("language", "text", "restored"),
    [
        ("de", "DIE FRAU KAUFT EIN ALTES HAUS.", "Die Frau kauft ein altes Haus."),
        ("de", "die frau kauft ein altes haus.", "Die Frau kauft ein altes Haus."),
        ("de", "Die Frau Kauft Ein Altes Haus.", "Die Frau kauft ein altes Haus."),
        ("de", "DAS HAUS IN DER STRASSE", "Das Haus in der Straße"),
        ("de", "DAS HAUS IN DER STRAßE", "Das Haus in der Straße"),
        ("de", "DAS HAUS IN DER STRAẞE", "Das Haus in der Straße"),
        ("de", "MIT DER U-BAHN NACH BERLIN", "Mit der U-Bahn nach Berlin"),
        ("de", "DIE NATO IST GUT. DER HUND AUCH!", "Die NATO ist gut. Der Hund auch!"),
        ("de", "DAS IPHONE UND DIE NATO", "Das iPhone und die NATO"),
        ("de", f"DAS iPhone{' UND DIE NATO' * 5}", f"Das iPhone{' und die NATO' * 5}"),
        ("de", "DAS ANTRIEBSSYSTEM IST GUT", "Das Antriebssystem ist gut"),
        ("de", "hund", "Hund"),
        ("de", "Straße", None),
        ("de", "STRASSE", "Straße"),
        ("en", "the old man and i saw london.", "The old man and I saw London."),
        ("en", "THE OLD MAN ISN'T IN LONDON", "The old man isn't in London"),
        (
            "en",
            "THE DOG IS IN THE USA. I SAW HIS FRIEND",
            "The dog is in the USA. I saw his friend",
        ),
        ("en", "The Old Man And His Dog", "The old man and his dog"),
        ("en", "The old man and his dog", None),
        ("en", "The Lord of the Rings", None),
        ("en", "USA", None),
        ("en", "BMW AG", None),
        ("en", "NATO UND UNHCR", None),
        ("en", "dog", None),
        ("en", "usa", None),
        ("tr", "ILIK BİR IŞIK İYİ DİYOR", "Ilık bir ışık iyi diyor"),
        ("tr", "IYI BIR IŞIK DIYOR", "İyi bir ışık diyor"),  # by a program that knows no Turkish
        ("tr", "iyi bir iş, isparta ve izmir", "İyi bir iş, isparta ve İzmir"),
        ("el", "Ο ΆΝΘΡΩΠΟΣ ΕΊΔΕ ΤΟΝ ΔΡΌΜΟΣ", "Ο άνθρωπος είδε τον δρόμος"),
        ("hr", "OVDJE JE ǇUBAV I MOJA", "Ovdje je ǉubav i moja"),
        ("de", "这是我们的 NATO 和 STRASSE。", None),
        ("de", "我们在这里", None),
        ("de", "12 : 30", None),
        ("de", "", None),
    ],
)
def test_lines_are_given_the_usual_case_of_their_words(
    language: str, text: str, restored: str | None
) -> None:
    assert truecaser(language).restore(text) == (text if restored is None else restored)


@pytest.mark.parametrize(
    "literal",
    [
        "%S",
        "%(NAME)S",
        "%1$S",
        "{NAME}",
        "${HOME}",
        "{{ USER NAME }}",
        "<B>",
        '<A HREF="HTTPS://EXAMPLE.COM/FRAU">',
        "HTTPS://EXAMPLE.COM/FRAU?HAUS=MANN",
        "FRAU@EXAMPLE.COM",
        "WWW.HAUS.DE",
        "@FRAU",
        "#HAUS",
        r"C:\FRAU\HAUS",
        "HAUS_UND_HOF",
        "$HAUS",
        "&NBSP;",
        "MP3",
        "__HAUS__",
        "-O",
        "--HAUS-KAUFT",
    ],
)
@pytest.mark.parametrize("change", [str.upper, str.lower])
def test_what_is_no_word_stays_as_it_is_written(literal: str, change: type[str]) -> None:
    literal = change(literal)
    text = f"{change('die frau kauft')} {literal} {change('in der strasse und ein haus')}"
    restored = truecaser("de").restore(text)
    assert restored.split(" ")[:3] == ["Die", "Frau", "kauft"]
    assert f" {literal} " in restored


def test_text_in_tags_is_restored_and_begins_a_sentence() -> None:
    assert truecaser("de").restore("<B>DIE FRAU</B> KAUFT") == "<B>Die Frau</B> kauft"


@pytest.mark.parametrize("line", [*GERMAN, *ENGLISH, *TURKISH, *GREEK, "Das Haus", "Na ja, IBM!"])
@pytest.mark.parametrize("language", ["de", "en"])
def test_text_as_it_is_usually_written_is_the_same_object(language: str, line: str) -> None:
    for text in (line, unicodedata.normalize("NFD", line), f"  {line}\t"):
        assert truecaser(language).restore(text) is text


ODD = "aAbBßẞſıİiIǅǆΣσςé\u0301\u0345 .,!?'’-_@%{}<>/1\t\n\u200b\ud800中ﬁŉ"
sentences = st.lists(st.sampled_from(" ".join((*GERMAN, *ENGLISH)).split()), max_size=12)
texts = st.one_of(
    st.text(max_size=40),
    st.text(alphabet=ODD, max_size=40),
    sentences.map(" ".join),
    sentences.map(lambda words: " ".join(words).upper()),
    sentences.map(lambda words: " ".join(words).lower()),
    sentences.map(lambda words: " ".join(words).title()),
)


def folded(text: str) -> str:
    return unicodedata.normalize("NFC", normalise(text).casefold())


@settings(max_examples=150, deadline=None)
@given(text=texts, language=st.sampled_from(["de", "en", "el"]))
@example(text="DIE MASSE DER STRASSE IST GUT", language="de")
@example(text="İSTANBUL IST EIN GUTES HAUS", language="de")
def test_nothing_changes_but_case_and_twice_is_once(text: str, language: str) -> None:
    once = truecaser(language).restore(text)
    assert folded(once) == folded(text)
    assert len(normalise(once).split(" ")) == len(normalise(text).split(" "))
    assert truecaser(language).restore(once) == once


@settings(max_examples=100, deadline=None)
@given(text=texts)
def test_turkish_twice_is_once_too(text: str) -> None:
    once = truecaser("tr").restore(text)
    assert len(normalise(once).split(" ")) == len(normalise(text).split(" "))
    assert truecaser("tr").restore(once) == once


def test_what_is_kept_stands_as_it_is_said() -> None:
    text = "DIE IT KAUFT EIN ALTES HAUS UND EIN AUTO"
    house = text.index("HAUS")
    kept = [(4, 6, "IT"), (house, house + 4, "haus")]
    expected = "Die IT kauft ein altes haus und ein Auto"
    assert truecaser("de").restore(text, kept) == expected
    assert truecaser("de").restore("Die IT und das Haus", [(4, 6, "it")]) == "Die IT und das Haus"


def test_nothing_is_kept_inside_what_is_no_word() -> None:
    text = "DIE FRAU KAUFT EIN BEI WWW.HAUS.DE"
    start = text.index("HAUS")
    restored = truecaser("de").restore(text, [(start, start + 4, "Haus")])
    assert restored == "Die Frau kauft ein bei WWW.HAUS.DE"


@pytest.mark.parametrize(
    "part", ["A", "FRAU ", "a.", "a@", "{", "<a ", "%", "FRAU. ", "1a", "É", "&"]
)
def test_long_lines_take_time_that_grows_with_their_length(part: str) -> None:
    start = time.process_time()
    truecaser("de").restore(part * (100_000 // len(part)))
    assert time.process_time() - start < 20
