"""Noun phrases and pronouns in both languages at once."""

from __future__ import annotations

from collections.abc import Sequence

from adjectives import Adjective
from english import (
    indefinite_article,
)
from german import (
    DEFINITE,
    DIESER_ENDINGS,
    EIN_ENDINGS,
    MIXED_ENDINGS,
    STRONG_ENDINGS,
    WEAK_ENDINGS,
    Phrase,
    join,
    noun_forms,
    person_key,
)
from nouns import Noun

POSSESSIVES = {
    "ich": ("mein", "my"),
    "du": ("dein", "your"),
    "er": ("sein", "his"),
    "sie": ("ihr", "her"),
    "wir": ("unser", "our"),
    "sie (plural)": ("ihr", "their"),
}

PRONOUNS = {
    "ich": Phrase(
        german=("ich", "mich", "mir", ""), english="I", english_object="me", person=1, pronoun=True
    ),
    "du": Phrase(
        german=("du", "dich", "dir", ""),
        english="you",
        english_object="you",
        person=2,
        pronoun=True,
    ),
    "er": Phrase(
        german=("er", "ihn", "ihm", ""),
        english="he",
        english_object="him",
        english_pronoun="he",
        pronoun=True,
    ),
    "sie": Phrase(
        german=("sie", "sie", "ihr", ""),
        english="she",
        english_object="her",
        gender="f",
        english_pronoun="she",
        pronoun=True,
    ),
    "wir": Phrase(
        german=("wir", "uns", "uns", ""),
        english="we",
        english_object="us",
        person=1,
        plural=True,
        pronoun=True,
    ),
    "sie (plural)": Phrase(
        german=("sie", "sie", "ihnen", ""),
        english="they",
        english_object="them",
        plural=True,
        english_pronoun="they",
        pronoun=True,
    ),
}


def possessor(owner: Phrase) -> str:
    """Which possessive refers back to the owner; "" where that would be unclear (das Mädchen)."""
    key = person_key(owner)
    if key == 2:
        return {"he": "er", "she": "sie"}.get(owner.english_pronoun, "")
    return ("ich", "du", "", "wir", "sie (plural)")[key]


def refer_back(phrase: Phrase) -> Phrase:
    """The pronoun for a noun phrase: German by grammatical gender, English by natural gender."""
    if phrase.person != 3 or phrase.pronoun:
        return phrase
    objects = {"he": "him", "she": "her", "it": "it", "they": "them"}
    forms = {
        "m": ("er", "ihn", "ihm", ""),
        "f": ("sie", "sie", "ihr", ""),
        "n": ("es", "es", "ihm", ""),
    }
    return Phrase(
        german=("sie", "sie", "ihnen", "") if phrase.plural else forms[phrase.gender],
        english=phrase.english_pronoun,
        english_object=objects[phrase.english_pronoun],
        plural=phrase.plural,
        gender=phrase.gender,
        english_pronoun=phrase.english_pronoun,
        pronoun=True,
    )


def natural_pronoun(noun: Noun, plural: bool) -> str:
    """The English pronoun for a noun; "" for children and girls, where the languages differ."""
    if plural:
        return "they"
    if noun.kind not in ("person", "family"):
        return "it"
    return {"m": "he", "f": "she", "n": ""}[noun.gender]


def determine(
    determiner: str, noun: Noun, plural: bool, english: str
) -> tuple[Sequence[str], dict[str, tuple[str, str, str, str]], str]:
    """German article forms, the adjective endings they call for, and the English words."""
    gender = "p" if plural else noun.gender
    if determiner == "the":
        return DEFINITE[gender], WEAK_ENDINGS, f"the {english}"
    if determiner in ("this", "every", "which", "all"):
        stem = {"this": "dies", "every": "jed", "which": "welch", "all": "all"}[determiner]
        word = "these" if determiner == "this" and plural else determiner
        forms = [stem + ending for ending in DIESER_ENDINGS[gender]]
        return forms, WEAK_ENDINGS, f"{word} {english}"
    if determiner == "a" and not plural:
        forms = ["ein" + ending for ending in EIN_ENDINGS[gender]]
        return forms, MIXED_ENDINGS, indefinite_article(english)
    if determiner in ("no", "no generic"):
        forms = ["kein" + ending for ending in EIN_ENDINGS[gender]]
        word = f"any {english}" if plural or not noun.countable else indefinite_article(english)
        return forms, MIXED_ENDINGS, english if determiner == "no generic" else word
    if determiner in POSSESSIVES:
        stem, word = POSSESSIVES[determiner]
        shorts = [stem + ending for ending in EIN_ENDINGS[gender]]
        return shorts, MIXED_ENDINGS, f"{word} {english}"
    number, _, word = determiner.partition("=")
    many = number in ("viele", "einige")
    forms = [number, number, number + "n", number[:-1] + "er"] if many else [number] * 4
    return forms, STRONG_ENDINGS, join(word, english)


def noun_phrase(
    noun: Noun, determiner: str, plural: bool = False, adjective: Adjective | None = None
) -> Phrase:
    """Put article, adjective and noun together.

    `determiner` is the, a, this, every, which, all, no, a key of POSSESSIVES, or a pair such as
    "drei=three"; "=" alone means no article.
    """
    gender = "p" if plural else noun.gender
    words = noun.english_plural if plural else noun.english
    english = join(adjective.english if adjective else "", words)
    articles, endings, english = determine(determiner, noun, plural, english)
    nouns = noun_forms(noun, plural)
    forms = [
        join(articles[i], adjective.stem + endings[gender][i] if adjective else "", nouns[i])
        for i in range(4)
    ]
    return Phrase(
        german=(forms[0], forms[1], forms[2], forms[3]),
        english=english,
        english_object=english,
        plural=plural,
        gender="m" if plural else noun.gender,
        english_pronoun=natural_pronoun(noun, plural),
        definite=determiner in ("the", "this", "which", "all", *POSSESSIVES),
        animate=noun.kind in ("person", "family", "animal"),
    )


def ownable(noun: Noun, owner: Phrase) -> bool:
    """Whether one says "his", "my" of the noun: not of a street, nor of a painter."""
    if noun.kind in ("place", "outdoors", "transport"):
        return noun.german == "Haus"
    if noun.kind == "person":
        return noun.german in ("Freund", "Kollege", "Nachbar", "Lehrer", "Arzt", "Gast", "Anwalt")
    if noun.german in ("Rock", "Kleid"):
        return owner.english_pronoun == "she"
    return noun.german not in ("Bär", "Maus", "Film")


def name_phrase(german: str, english: str, gender: str, accusative: str = "") -> Phrase:
    """A person's name."""
    oblique = accusative or german
    return Phrase(
        german=(german, oblique, oblique, german + "s"),
        english=english,
        english_object=english,
        gender=gender,
        english_pronoun="he" if gender == "m" else "she",
        animate=True,
    )
