"""Units filled through a translator by words: where codes go, what is kept, what is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from mt.documents.report import DocumentReport
from mt.documents.sentence_translator import Asked, Told
from mt.documents.translate_document import Filling, translate_document
from mt.formats.documents.unit import State, Unit
from tests.documents.memory_document import ByWords, MemoryDocument, content, shown, unit

WORDS = {
    "Der": "The",
    "Hund": "dog",
    "schläft": "sleeps",
    ".": ".",
    "schläft.": "sleeps.",
    "Hund.": "dog.",
    "Er": "He",
}


class InOrder(ByWords):
    """Gives texts that are written beforehand, with the links between their words."""

    def __init__(self, told: Mapping[str, tuple[str, str]]) -> None:
        """`told` has for each source a translation and links as `0-1 1-0`."""
        super().__init__()
        self._told_texts = told

    def _told(self, sentence: Asked) -> Told:
        text, links = self._told_texts[sentence.text]
        self._links[sentence] = [
            (int(source), int(target))
            for source, target in (link.split("-") for link in links.split())
        ]
        return Told(text=text)


def translated(
    source: str, translator: ByWords | None = None, *, to: str = "en"
) -> tuple[str | None, DocumentReport]:
    document = MemoryDocument(unit(source))
    filling = Filling(source_language="de", target_language=to)
    report = translate_document(document, translator or ByWords(words=WORDS), filling)
    return (shown(document.filled[0]) if 0 in document.filled else None), report


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Der ⟨b⟩Hund⟨/b⟩ schläft.", "The ⟨b⟩dog⟨/b⟩ sleeps."),
        ("⟨b⟩Der Hund schläft.⟨/b⟩", "⟨b⟩The dog sleeps.⟨/b⟩"),
        ("⟨b⟩Der Hund schläft⟨/b⟩.", "⟨b⟩The dog sleeps⟨/b⟩."),
        (" ⟨b⟩ Der Hund schläft. ⟨/b⟩\n", " ⟨b⟩ The dog sleeps. ⟨/b⟩\n"),
        ("Der ⟨b⟩Hu⟨/b⟩nd schläft.", "The ⟨b⟩dog⟨/b⟩ sleeps."),
        ("Der⟨x/⟩ Hund ⟨y/⟩schläft.", "The⟨x/⟩ dog ⟨y/⟩sleeps."),
        ("Der ⟨x/⟩ Hund schläft.⟨y/⟩", "The ⟨x/⟩ dog sleeps.⟨y/⟩"),
        ("Der Hund.⟨br/⟩Er schläft.", "The dog.⟨br/⟩He sleeps."),
        ("Der ⟨b⟩Hund.\n\nEr⟨/b⟩ schläft.", "The ⟨b⟩dog.\n\nHe⟨/b⟩ sleeps."),
        ("Der ⟨a⟩⟨b⟩Hund⟨/b⟩⟨/a⟩ schläft.", "The ⟨a⟩⟨b⟩dog⟨/b⟩⟨/a⟩ sleeps."),
        ("⟨a⟩⟨/a⟩Der Hund⟨b⟩⟨/b⟩ schläft.", "⟨a⟩⟨/a⟩The dog⟨b⟩⟨/b⟩ sleeps."),
        ("Der⟨b⟩ ⟨/b⟩Hund ⟨i⟩schläft⟨/i⟩⟨u⟩ ⟨/u⟩.", "The⟨b⟩ ⟨/b⟩dog ⟨i⟩sleeps⟨/i⟩⟨u⟩ ⟨/u⟩."),
        ("Der %s Hund [Ada] schläft.", "The %s dog [Ada] sleeps."),
        ("Der <b>Hund</b> schläft.", "The <b>dog</b> sleeps."),
        ("%d %s", "%d %s"),
    ],
)
def test_codes_stand_where_they_stood(source: str, target: str) -> None:
    found, report = translated(source)
    assert found == target
    assert report.fallbacks == 0


@pytest.mark.parametrize(
    ("source", "told", "links", "target"),
    [
        # Another order of words.
        ("A ⟨b⟩B⟨/b⟩ C", "c b a", "0-2 1-1 2-0", "c ⟨b⟩b⟨/b⟩ a"),
        # The smallest span that covers what belongs to the pair, what is between included.
        ("⟨b⟩A⟨/b⟩ B", "a b a", "0-0 0-2 1-1", "⟨b⟩a b a⟨/b⟩"),
        # Far apart with more foreign words between: the denser part.
        ("⟨b⟩A⟨/b⟩ B C", "a b c a", "0-0 0-3 1-1 2-2", "⟨b⟩a b c a⟨/b⟩"),
        ("⟨b⟩A⟨/b⟩ B C D", "a b c d a", "0-0 0-4 1-1 2-2 3-3", "⟨b⟩a⟨/b⟩ b c d a"),
        # Pairs beside each other whose words mix never cross.
        ("⟨b⟩A B⟨/b⟩ ⟨i⟩C D⟨/i⟩", "a c b d", "0-0 1-2 2-1 3-3", "⟨b⟩a⟨/b⟩ ⟨i⟩c⟨/i⟩ b d"),
        # Two words that became one.
        ("⟨b⟩A⟨/b⟩ ⟨i⟩B⟨/i⟩ C", "ab c", "0-0 1-0 2-1", "⟨b⟩⟨i⟩ab⟨/i⟩⟨/b⟩ c"),
        # Nothing belongs to the word before a mark: it goes behind the one before that.
        ("A B⟨x/⟩ C", "a c", "0-0 2-1", "a⟨x/⟩ c"),
        # A full stop outside of a pair stays outside, one inside stays inside.
        ("A ⟨b⟩B⟨/b⟩.", "a b.", "0-0 1-1 2-2", "a ⟨b⟩b⟨/b⟩."),
        ("A ⟨b⟩B.⟨/b⟩", "b a.", "0-1 1-0 2-2", "⟨b⟩b⟨/b⟩ a."),
        ("⟨b⟩„A“⟨/b⟩ B", "“a” b", "0-0 1-1 2-2 3-3", "⟨b⟩“a”⟨/b⟩ b"),
        ("⟨b⟩A⟨/b⟩, B", "b, a", "0-2 1-1 2-0", "b, ⟨b⟩a⟨/b⟩"),
    ],
)
def test_codes_follow_the_words(source: str, told: str, links: str, target: str) -> None:
    plain = "".join(part for part in content(source) if isinstance(part, str))
    found, report = translated(source, InOrder({plain: (told, links)}))
    assert found == target
    assert report.fallbacks == 0


def test_a_pair_that_nothing_belongs_to_goes_to_the_ends() -> None:
    found, report = translated("A ⟨b⟩B⟨/b⟩⟨x/⟩ C", InOrder({"A B C": ("a c", "0-0 2-1")}))
    assert found == "⟨b⟩a c⟨/b⟩⟨x/⟩"
    assert report.fallbacks == report.doubtful == 1
    assert report.reasons == {"codes at the ends": 1}


@pytest.mark.parametrize(
    ("told", "target"),
    [
        ("a b", "a %s b"),  # it is missing: behind the word before it
        ("a %s %s b", "a %s b"),  # it comes twice
        ("a %d %s b", "a %s b"),  # one that the source does not have
        ("a %s <b> b", "a %s b"),
    ],
)
def test_placeholders_are_mended(told: str, target: str) -> None:
    found, report = translated("A %s B", InOrder({"A %s B": (told, "0-0 4-1")}))
    assert found == target
    assert report.fallbacks == 1
    assert report.reasons == {"a placeholder mended": 1}


def test_languages_without_spaces_get_none() -> None:
    told = {"Der Hund.": ("狗。", "0-0 1-0 2-1"), "Er schläft.": ("它睡。", "0-0 1-1 2-2")}
    found, _ = translated("Der ⟨b⟩Hund⟨/b⟩. Er ⟨x/⟩ schläft.", InOrder(told), to="zh")
    assert found == "⟨b⟩狗⟨/b⟩。它⟨x/⟩睡。"


def units_of_all_states() -> Sequence[Unit]:
    more = content("schon da")
    return [
        unit("Der Hund"),
        unit("Der Hund", target=more, state=State.FILLED),
        unit("Der Hund", target=more, state=State.DOUBTFUL),
        unit("Der Hund", target=more, state=State.LOCKED),
        unit("%d / 12"),
        unit("Der Hund schläft.", most_characters=5),
    ]


@pytest.mark.parametrize(("overwrites", "filled"), [(False, {0, 4, 5}), (True, {0, 1, 2, 4, 5})])
def test_what_has_a_target_is_kept(overwrites: bool, filled: set[int]) -> None:
    document = MemoryDocument(*units_of_all_states())
    translator = ByWords(words=WORDS)
    done: list[int] = []
    report = translate_document(document, translator, Filling(overwrites=overwrites), done.append)
    assert set(document.filled) == filled
    assert document.marked == filled - {4}
    assert sum(done) == report.units == 6
    assert report.kept == (0 if overwrites else 2)
    assert (report.locked, report.copied, report.left) == (1, 1, 0)
    assert report.reasons == {"longer than the file allows": 1}
    assert [asked.text for asked in translator.asked] == ["Der Hund", "Der Hund schläft."]


def test_without_marks_only_doubtful_units_are_marked() -> None:
    document = MemoryDocument(*units_of_all_states())
    report = translate_document(document, ByWords(words=WORDS), Filling(marks=False))
    assert document.marked == {5}
    assert report.marked == report.doubtful == 1


def test_equal_sentences_are_translated_once_though_far_apart() -> None:
    document = MemoryDocument(*[unit("Der ⟨b⟩Hund⟨/b⟩."), unit("Er schläft.")] * 50)
    translator = ByWords(words=WORDS, window=4)
    translate_document(document, translator, Filling())
    assert sorted(asked.text for asked in translator.asked) == ["Der Hund.", "Er schläft."]
    assert {shown(target) for target in document.filled.values()} == {
        "The ⟨b⟩dog⟨/b⟩.",
        "He sleeps.",
    }


def test_an_empty_translation_leaves_the_unit() -> None:
    found, report = translated("A", InOrder({"A": ("", "")}))
    assert found is None
    assert (report.left, report.reasons) == (1, {"an empty translation": 1})


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("{n, plural, one {# Hund} other {# Hund}}", "{n, plural, one {# dog} other {# dog}}"),
        (
            "{g, select, m {Er schläft} other {{x} Hund}}",
            "{g, select, m {He sleeps} other {{x} dog}}",
        ),
        (
            "{n, plural, offset:1 =0 {Hund} other {{g, select, other {Hund #}}}}",
            "{n, plural, offset:1 =0 {dog} other {{g, select, other {dog #}}}}",
        ),
        ("{n, plural, other {⟨b⟩Hund⟨/b⟩ schläft}}", "{n, plural, other {⟨b⟩dog⟨/b⟩ sleeps}}"),
    ],
)
def test_branches_of_messages_are_translated(source: str, target: str) -> None:
    words = {**WORDS, "schläft": "sleeps"}
    found, report = translated(source, ByWords(words=words))
    assert found == target.replace("Er schläft", "He sleeps")
    assert report.fallbacks == 0


@pytest.mark.parametrize(
    "source",
    [
        "Du hast {n, plural, one {# Hund} other {# Hunde}} hier.",
        "{n, plural, one {# Hund}}",
        "{n, plural, one {# Hund} other {# Hunde}",
        "{n, plural, other {ein '{' Hund}}",
    ],
)
def test_messages_that_are_not_safe_are_left(source: str) -> None:
    found, report = translated(source)
    assert found is None
    assert report.left == 1


def test_apostrophes_of_branches_quote_nothing() -> None:
    source = "{n, plural, other {Hund}}"
    found, _ = translated(source, InOrder({"Hund": ("dogs'", "0-0 0-1")}))
    assert found == "{n, plural, other {dogs''}}"


def flowing(*texts: str, told: Mapping[str, tuple[str, str]]) -> tuple[list[str], DocumentReport]:
    document = MemoryDocument(*(unit(text, flow="cues") for text in texts))
    filling = Filling(source_language="de", target_language="en")
    report = translate_document(document, InOrder(told), filling)
    return [shown(document.filled[i]) for i in range(len(texts))], report


def test_a_sentence_over_several_units_is_translated_whole() -> None:
    told = {
        "Der Hund, der dort liegt, schläft.": (
            "The dog that is lying there is sleeping.",
            "0-0 1-1 3-2 4-5 5-4 7-7 8-8",
        ),
        "Er bellt.": ("It barks.", "0-0 1-1 2-2"),
    }
    texts = ("Der ⟨i⟩Hund⟨/i⟩,", "der dort liegt,", "schläft. Er bellt.")
    found, report = flowing(*texts, told=told)
    assert found == ["The ⟨i⟩dog⟨/i⟩ that", "is lying there is", "sleeping. It barks."]
    assert report.filled == 3


def test_units_without_enough_words_are_translated_by_themselves() -> None:
    told = {"Ja doch": ("Yes", "0-0"), "Ja": ("Yes", "0-0"), "doch": ("indeed", "0-0")}
    found, _ = flowing("Ja", "doch", told=told)
    assert found == ["Yes", "indeed"]


def test_a_speaker_and_a_kept_unit_end_a_flow() -> None:
    kept = unit("kept", flow="cues", target=content("x"), state=State.FILLED)
    document = MemoryDocument(
        unit("Der", flow="cues"), kept, unit("Hund", flow="cues"), unit("- Er", flow="cues")
    )
    translator = ByWords(words=WORDS)
    translate_document(document, translator, Filling())
    assert [asked.text for asked in translator.asked] == ["Der", "Hund", "- Er"]


def test_words_of_tokens_are_words_of_the_text() -> None:
    """A token of several words counts for those that say something; unknown ones are passed."""
    from mt.documents.sentence_translator import words_of_tokens
    from tests.translation.random_models import tokenizers

    tokenizer = tokenizers().source
    text = "haus, katze läuft"
    tokens = tokenizer.encode(text)
    words = words_of_tokens(tokenizer, tokens, text)
    assert {word for of_token in words for word in of_token} >= {0, 2, 3}
    assert [word for of_token in words for word in of_token] == sorted(
        word for of_token in words for word in of_token
    )
    changed = words_of_tokens(tokenizer, tokens, f"neu {text}")
    assert {word for of_token in changed for word in of_token} >= {1, 3, 4}


def test_hostile_units_are_done_in_time_and_whole() -> None:
    deep = "".join(f"⟨p{i}⟩" for i in range(3000))
    deep += "Hund" + "".join(f"⟨/p{i}⟩" for i in reversed(range(3000)))
    many = " ".join(f"⟨a⟩w{i}⟨/a⟩⟨x/⟩" for i in range(1000))
    data = "QUJD" * 250_000
    document = MemoryDocument(unit(deep), unit(many), unit(f"Hier {data}"))
    translator = ByWords()
    report = translate_document(document, translator, Filling(target_language="en"))
    assert report.filled == 3
    assert report.reasons["codes at the ends"] == 1
    assert shown(document.filled[1]) == many
    assert len(translator.asked) == 2
