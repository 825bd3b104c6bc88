"""Patterns with one clause that say what somebody does."""

from __future__ import annotations

from dataclasses import replace

from clauses import ClauseSampler
from english import be, inflect_first
from german import Clause, Phrase, german_main, join, with_preposition
from nouns import NOUN_BY_NAME, split_pair, table_lines
from phrases import noun_phrase
from places import POSITION_TABLE
from sentences import (
    Pair,
    clause_of,
    sentence,
    statement_pair,
)
from usage import listed
from verbs import FRAMES, VERBS

SIMPLE_TENSES = listed("present present present habit past past past future")

MODALS = listed("können müssen wollen sollen dürfen möchten konnten mussten")

GOALS = {
    "gehen": "",
    "laufen": "Schule Bahnhof Park Wald Strand Garten See Küche",
    "fahren": "Stadt Bahnhof Flughafen Universität See Strand Supermarkt Krankenhaus",
}

CHILDREN = ("Kind", "Junge", "Mädchen", "Schüler")

SMALL_THINGS = listed("item vessel device Buch Zeitung Brief Hut Mantel Geschenk")

STANDING = listed("Tasse Teller Flasche Glas Koffer Lampe Computer Radio")

TABLEWARE = listed("Messer Gabel Löffel Teller Tasse Glas Flasche")


def statement(s: ClauseSampler) -> Pair:
    """Der Mann hat gestern ein Buch gelesen."""
    return statement_pair(s, s.clause(s.subject(), s.pick(SIMPLE_TENSES), timed=0.65))


GLADLY = listed(
    "lesen essen trinken schwimmen tanzen singen malen backen fotografieren einkaufen "
    "fernsehen hören kochen spielen zeichnen"
)


def intransitive(s: ClauseSampler) -> Pair:
    """Das Kind schläft. Wir sind früh aufgestanden."""
    frames = ("intransitive", "reflexive")
    return statement_pair(s, s.clause(s.subject(), s.pick(SIMPLE_TENSES), frames, timed=0.6))


def dative(s: ClauseSampler) -> Pair:
    """Anna hilft ihrem Bruder. Er zeigt mir das Haus."""
    frames = ("dative", "giving")
    return statement_pair(s, s.clause(s.subject(), s.pick(SIMPLE_TENSES), frames, timed=0.6))


def prepositional(s: ClauseSampler) -> Pair:
    """Wir warten auf den Bus."""
    frames = ("prepositional",)
    return statement_pair(s, s.clause(s.subject(), s.pick(SIMPLE_TENSES), frames, timed=0.6))


def negation(s: ClauseSampler) -> Pair:
    """Er liest das Buch nicht. Sie hat keinen Hund."""
    tense = s.pick(("present", "past", "future", "können", "müssen", "wollen", "dürfen"))
    return statement_pair(s, s.clause(s.known_subject(), tense, negated=True, timed=0.3))


def modal(s: ClauseSampler) -> Pair:
    """Die Frau muss morgen arbeiten."""
    frames = [frame for frame in FRAMES if frame != "reflexive"]
    return statement_pair(s, s.clause(s.subject(), s.pick(MODALS), frames, timed=0.6))


def damals(s: ClauseSampler) -> Pair:
    """Eines Tages fand der Junge einen Schlüssel."""
    clause = s.clause(s.subject(), "narrative", timed=1.0)
    return statement_pair(s, clause, fronting=1.0)


def movement(s: ClauseSampler) -> Pair:
    """Die Kinder gehen in den Park."""
    subject = s.subject()
    tense = s.pick((*SIMPLE_TENSES, "müssen", "möchten", "wollen"))
    verb = s.pick(("gehen", "gehen", "laufen", "fahren", "fliegen", "reisen", "fahren", "by"))
    if verb == "fahren" and any(child in subject.german[0] for child in CHILDREN):
        verb = "gehen"
    if verb in GOALS:
        german, english = s.place(GOALS[verb], "accusative")
    else:
        city, english_city = s.city()
        german, english = f"nach {city}", f"to {english_city}"
    if verb == "by":
        vehicle, english_vehicle = s.pick((("Bus", "bus"), ("Zug", "train"), ("Auto", "car")))
        clause = clause_of(
            subject,
            "fahren",
            tense,
            f"mit dem {vehicle} {german}",
            f"{english} by {english_vehicle}",
        )
        clause = replace(clause, verb=replace(clause.verb, english="go", english_past="went"))
    else:
        clause = clause_of(subject, verb, tense, german, english)
    return statement_pair(s, s.add_time(clause) if tense == "habit" or s.chance(0.4) else clause)


def living(s: ClauseSampler) -> Pair:
    """Meine Tante wohnt in Berlin. Er kommt aus Wien."""
    city, english_city = s.city()
    subject = s.subject()
    if s.chance(0.4):
        clause = clause_of(subject, "kommen", "habit", f"aus {city}", f"from {english_city}")
        return statement_pair(s, clause)
    where, english_where = f"in {city}", f"in {english_city}"
    if s.chance(0.5):
        noun = s.noun(("Haus", "Wohnung", "Dorf", "Stadt"))
        phrase = noun_phrase(noun, "a", False, s.adjective_for(noun, 0.9))
        where, english_where = f"in {phrase.case('dative')}", f"in {phrase.english}"
    clause = clause_of(subject, "wohnen", s.pick(("present", "past")), where, english_where)
    if clause.tense == "present":
        return statement_pair(s, clause)
    time = s.pick(
        (
            ("letztes Jahr", "last year"),
            ("letzten Sommer", "last summer"),
            ("vor vielen Jahren", "many years ago"),
            ("vor zwei Jahren", "two years ago"),
        )
    )
    return statement_pair(s, s.add_time(clause, time))


def being_somewhere(s: ClauseSampler) -> Pair:
    """Der Lehrer ist im Garten. Wir waren gestern im Kino."""
    tense = s.pick(("present", "past", "past", "future"))
    clause = clause_of(s.known_subject(), "sein", tense, *s.place())
    return statement_pair(s, s.add_time(clause) if tense != "present" else clause)


def thing_and_position(s: ClauseSampler, case: str) -> tuple[Phrase, str, str, bool]:
    """A movable thing, where it is or goes, and whether it stands (rather than lies) there."""
    while True:
        preposition, rest = split_pair(s.pick(table_lines(POSITION_TABLE)))
        english, _, names = rest.partition(": ")
        where = NOUN_BY_NAME[s.pick(names.split())]
        noun = s.noun(SMALL_THINGS)
        fits = noun.german != where.german
        if noun.german in STANDING and where.german in ("Tasche", "Koffer", "Bett"):
            fits = False
        if noun.german in TABLEWARE:
            fits = where.german in ("Tisch", "Schrank", "Küche") and preposition in ("auf", "in")
        if fits:
            break
    plural = s.chance(0.2)
    thing = noun_phrase(noun, "the", plural, s.adjective_for(noun, 0.3))
    place = noun_phrase(where, "the", False, s.adjective_for(where, 0.2))
    german = with_preposition(preposition, place.case(case))
    return thing, german, f"{english} {place.english}", noun.german in STANDING


def lying(s: ClauseSampler) -> Pair:
    """Der Schlüssel liegt auf dem Tisch. Die Lampe steht neben dem Bett."""
    thing, german, english, stands = thing_and_position(s, "dative")
    clause = clause_of(thing, "stehen" if stands else "liegen", "present", german, english)
    if s.chance(0.25):
        return (
            sentence(german_main(clause, german).removesuffix(" " + german)),
            sentence(f"{english} {be(thing, False)} {thing.english}"),
        )
    return statement_pair(s, clause)


def putting(s: ClauseSampler) -> Pair:
    """Sie hat das Buch auf den Tisch gelegt."""
    thing, german, english, stands = thing_and_position(s, "accusative")
    tense = s.pick(("present", "past", "past", "future", "müssen", "sollen"))
    clause = clause_of(s.known_subject(), "stellen" if stands else "legen", tense, german, english)
    clause = replace(
        clause,
        objects=thing.case("accusative"),
        english=join(thing.english_object, english),
    )
    return statement_pair(s, s.add_time(clause) if s.chance(0.3) else clause)


def gladly(s: ClauseSampler) -> Pair:
    """Sie liest gern Bücher. She likes reading books."""
    verb = s.pick(
        [v for v in VERBS if v.name in GLADLY and v.frame in ("accusative", "intransitive")]
    )
    subject = s.subject()
    clause = Clause(subject=subject, verb=verb, tense="habit", objects="gern")
    complement = ""
    if verb.objects:
        thing = s.generic(verb.objects)
        clause = replace(clause, objects=f"gern {thing.case('accusative')}")
        complement = thing.english_object
    likes = "like" if subject.plural or subject.person != 3 else "likes"
    word = inflect_first(verb.english, "ing")
    return sentence(german_main(clause)), sentence(join(subject.english, likes, word, complement))
