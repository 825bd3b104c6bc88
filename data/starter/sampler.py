"""Random but sensible building blocks: people, things, places, expressions of time.

The `Sampler` owns the only random generator of the program, so a seed fixes the whole corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

from adjectives import ADJECTIVES, Adjective
from german import (
    Phrase,
    with_preposition,
)
from nouns import NOUN_BY_NAME, Noun, nouns_for, pairs, split_pair, table_lines
from phrases import (
    PRONOUNS,
    name_phrase,
    noun_phrase,
    ownable,
    possessor,
)
from places import (
    CITIES,
    DAYS,
    MEN,
    MONTHS,
    NUMBERS,
    PLACE_TABLE,
    SURNAMES,
    TIMES,
    WOMEN,
)

Item = TypeVar("Item")

SIZES = ("groß", "klein")


class Sampler:
    """Draws building blocks with a random generator of its own."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self.random.random() < probability

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items, all equally likely."""
        return items[self.random.randrange(len(items))]

    def pick_pair(self, table: str) -> tuple[str, str]:
        """One entry of a German = English table."""
        return self.pick(pairs(table))

    def adjective_for(self, noun: Noun, probability: float = 0.5) -> Adjective | None:
        """Sometimes an adjective that fits the noun."""
        fitting = [
            adjective
            for adjective in ADJECTIVES
            if adjective.fits(noun) and (noun.countable or adjective.german not in SIZES)
        ]
        return self.pick(fitting) if fitting and self.chance(probability) else None

    def noun(self, names: tuple[str, ...]) -> Noun:
        """One of the nouns that the kinds and single nouns stand for."""
        return self.pick(nouns_for(names))

    def name(self) -> Phrase:
        """A first name or Herr or Frau with a surname."""
        if self.chance(0.12):
            surname = self.pick(SURNAMES)
            if self.chance(0.5):
                return name_phrase(f"Herr {surname}", f"Mr. {surname}", "m", f"Herrn {surname}")
            return name_phrase(f"Frau {surname}", f"Ms. {surname}", "f")
        if self.chance(0.5):
            first = self.pick(MEN)
            return name_phrase(first, first, "m")
        first = self.pick(WOMEN)
        return name_phrase(first, first, "f")

    def family(self, owner: Phrase | None = None) -> Phrase:
        """A relative with a possessive: meine Schwester, their parents."""
        noun = self.noun(("family",))
        plural = not noun.german
        key = possessor(owner) if owner else ""
        if not key or self.chance(0.3):
            key = self.pick(("ich", "ich", "wir", "er", "sie") if owner is None else ("ich",))
        adjective = None
        if noun.german in ("Bruder", "Schwester", "Sohn", "Tochter") and self.chance(0.15):
            adjective = next(a for a in ADJECTIVES if a.german == "klein")
            adjective = replace(adjective, english="little")
        return noun_phrase(noun, key, plural, adjective)

    def person_noun(self, determiners: Sequence[str] = ("the",)) -> Phrase:
        """A person named by a common noun."""
        noun = self.noun(("person",))
        determiner = self.pick(determiners)
        plural = self.chance(0.22) and determiner in ("the", "this", "a", "no")
        if plural and determiner == "a":
            determiner = "einige=some"
        if determiner == "number":
            determiner, plural = "=".join(self.pick_pair(NUMBERS)), True
        if determiner in ("viele=many", "einige=some", "all"):
            plural = True
        return noun_phrase(noun, determiner, plural, self.adjective_for(noun, 0.4))

    def subject(self, pronouns: bool = True, third: bool = False) -> Phrase:
        """Who does something."""
        draw = self.random.random()
        if pronouns and draw < 0.28:
            keys = ("er", "sie", "sie (plural)") if third else ("ich", "er", "sie", "wir")
            return PRONOUNS[self.pick((*keys, "sie (plural)"))]
        if draw < 0.5:
            return self.name()
        if draw < 0.65:
            return self.family()
        if draw < 0.68:
            first, second = self.pick(WOMEN), self.pick(MEN)
            return replace(
                name_phrase(f"{first} und {second}", f"{first} and {second}", "m"),
                plural=True,
                english_pronoun="they",
            )
        many = ("viele=many", "einige=some", "all", "every", "number", "this", "a", "a")
        return self.person_noun(("the",) * 16 + many)

    def known_subject(self, first_person: bool = True) -> Phrase:
        """A particular person: a pronoun, a name, a relative, "the doctor"."""
        draw = self.random.random()
        if draw < 0.25:
            return PRONOUNS[self.pick(("er", "sie", "sie (plural)"))]
        if draw < 0.35 and first_person:
            return PRONOUNS[self.pick(("ich", "wir"))]
        if draw < 0.6:
            return self.name()
        return self.family() if draw < 0.78 else self.person_noun()

    def clear_subject(self) -> Phrase:
        """A particular person that a pronoun can refer back to in both languages."""
        while True:
            subject = self.known_subject()
            if subject.person == 1 or subject.english_pronoun:
                return subject

    def thing(
        self, names: tuple[str, ...], owner: Phrase | None = None, definite: bool | None = None
    ) -> Phrase:
        """A noun phrase for a thing, a person or an animal."""
        noun = self.noun(names)
        if noun.kind == "family":
            return self.family(owner)
        adjective = self.adjective_for(noun)
        if definite is None:
            definite = self.chance(0.55)
        if not noun.countable:
            return noun_phrase(noun, "the" if definite else "=", False, adjective)
        plural = noun.german == "Schuh" or self.chance(0.25)
        if definite:
            key = possessor(owner) if owner and self.chance(0.3) and ownable(noun, owner) else ""
            return noun_phrase(noun, key or self.pick(("the",) * 6 + ("this",)), plural, adjective)
        if not plural:
            return noun_phrase(noun, "a", False, adjective)
        numeral = "=".join(self.pick_pair(NUMBERS))
        some = self.pick((numeral, "=", "=", "viele=many", "einige=some"))
        if noun.kind == "person":
            some = self.pick(("viele=many", "einige=some"))
        return noun_phrase(noun, some, True, adjective)

    def without(self, names: tuple[str, ...], generic: bool = False) -> Phrase:
        """An object with kein."""
        noun = self.noun(names)
        while noun.kind == "family":
            noun = self.noun(names)
        plural = noun.countable and (generic or noun.german == "Schuh" or self.chance(0.35))
        determiner = "no generic" if generic else "no"
        return noun_phrase(noun, determiner, plural, self.adjective_for(noun, 0.25))

    def generic(self, names: tuple[str, ...]) -> Phrase:
        """Things in general: Hunde, Kaffee."""
        noun = self.noun(names)
        return noun_phrase(noun, "=", noun.countable, self.adjective_for(noun, 0.3))

    def number(self) -> tuple[str, str]:
        """A number from two to ten in words."""
        return self.pick_pair(NUMBERS)

    def time(self, tense: str) -> tuple[str, str]:
        """An expression of time that goes with the tense."""
        german, english = self.pick_pair(TIMES[tense])
        for slot, table in (("{day}", DAYS), ("{month}", MONTHS), ("{number}", NUMBERS)):
            if slot in german:
                word, translation = self.pick_pair(table)
                german, english = german.replace(slot, word), english.replace(slot, translation)
        return german, english

    def city(self) -> tuple[str, str]:
        """A city or country."""
        return self.pick_pair(CITIES)

    def place(self, names: str = "", case: str = "dative") -> tuple[str, str]:
        """In which place (dative) or into which place (accusative)."""
        lines = [split_pair(line, ":") for line in table_lines(PLACE_TABLE)]
        fitting = [line for line in lines if not names or line[0] in names.split()]
        name, rest = self.pick(fitting)
        german, english = split_pair(rest)
        where, direction = german.split(", ")
        noun = NOUN_BY_NAME[name]
        adjective = self.adjective_for(noun, 0.15)
        phrase = noun_phrase(noun, "the", False, adjective)
        if case == "dative":
            return with_preposition(where, phrase.case("dative")), f"{english} {phrase.english}"
        target = phrase.case("dative" if direction == "zu" else "accusative")
        return with_preposition(direction, target), f"to {phrase.english}"
