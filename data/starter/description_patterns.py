"""Patterns with one clause that say what somebody or something is like."""

from __future__ import annotations

from dataclasses import replace

from adjectives import ADJECTIVES, STATES
from clauses import ClauseSampler
from english import be, english_statement, indefinite_article
from german import Clause, german_main, join
from nouns import NOUN_BY_NAME, nouns_for, pairs, split_pair, table_lines
from phrases import PRONOUNS, name_phrase, noun_phrase, ownable
from places import CITIES, MEN, WOMEN
from sentences import (
    Pair,
    clause_of,
    sentence,
    statement_pair,
)
from usage import listed
from verbs import VERB_BY_NAME, VERBS

EXCESS = [
    "teuer",
    "laut",
    "klein",
    "groß",
    "schwer",
    "kalt",
    "heiß",
    "lang",
    "kurz",
    "langsam",
    "schwierig",
    "süß",
    "alt",
    "gefährlich",
]

OWNED = ("vehicle", "device", "clothes", "room")

OWNED_NOUNS = listed("Haus Hund Katze Pferd Tasche Koffer Garten Idee Plan Buch")

TOWN = "Schule Kirche Museum Restaurant Café Bibliothek Supermarkt Theater Kino Hotel Park Brücke"

VILLAGE = "Schule Kirche Restaurant Café Supermarkt Hotel Brücke Park See"

BUILT = """
    gebaut = built: Haus Schule Kirche Bahnhof Museum Hotel Schloss Brücke Turm
    gemalt = painted: Bild
    geschrieben = written: Buch Roman Brief Gedicht Artikel
    gefunden = found: Ring Schlüssel Hund Tasche Auto
    verkauft = sold: Haus Auto Hotel Boot Bild
    gestohlen = stolen: Fahrrad Auto Bild Ring Kamera
    repariert = repaired: Uhr Auto Fahrrad Straße Brücke
"""


def state(s: ClauseSampler) -> Pair:
    """Die Kinder sind müde. Gestern war er nicht krank."""
    german, english = s.pick_pair(STATES)
    clause = clause_of(s.known_subject(), "sein", s.pick(("present", "past")), german, english)
    if s.chance(0.25):
        clause = replace(clause, negated=True, not_word="nicht")
    elif s.chance(0.3) and german != "allein":
        degree = s.pick((("sehr", "very"), ("ein bisschen", "a bit"), ("noch", "still")))
        tail = join(degree[0], german)
        clause = replace(clause, tail=tail, english=join(degree[1], english))
    return statement_pair(s, s.add_time(clause) if clause.tense == "past" else clause)


def quality(s: ClauseSampler) -> Pair:
    """Die Suppe ist sehr heiß. Unser Haus ist nicht groß."""
    adjective = s.pick(ADJECTIVES)
    noun = s.noun(tuple(kind for kind in adjective.goes_with if kind != "family"))
    plural = s.chance(0.25) and noun.countable
    key = s.pick(("the", "the", "the", "this", "ich", "wir", "er", "sie"))
    if not ownable(noun, PRONOUNS["sie"]) and key not in ("the", "this"):
        key = "this"
    thing = noun_phrase(noun, key, plural)
    very = s.pick((("", ""), ("sehr", "very"), ("zu", "too"), ("nicht", "not")))
    tense = s.pick(("present", "present", "past"))
    if very[0] == "zu" and adjective.german not in EXCESS:
        very = ("sehr", "very")
    if not adjective.comparative and very[0] == "sehr":
        very = ("", "")
    clause = clause_of(
        thing, "sein", tense, join(very[0], adjective.german), join(very[1], adjective.english)
    )
    return statement_pair(s, clause)


def comparison(s: ClauseSampler) -> Pair:
    """Der Zug ist schneller als der Bus. Das Buch ist so alt wie der Tisch."""
    adjective = s.pick([a for a in ADJECTIVES if a.comparative])
    kinds = tuple(kind for kind in adjective.goes_with if kind != "family")
    first = s.noun(kinds)
    same_kind = [n for n in nouns_for(kinds) if n.kind == first.kind and adjective.fits(n)]
    second = s.pick(same_kind)
    if first.german == second.german and not ownable(first, PRONOUNS["sie"]):
        first, second = NOUN_BY_NAME["Zug"], NOUN_BY_NAME["Bus"]
        adjective = next(a for a in ADJECTIVES if a.german in ("schnell",))
    if first.german == second.german:
        left = noun_phrase(first, s.pick(("this", "ich", "er")))
        right = noun_phrase(second, s.pick(("wir", "sie")))
    else:
        left = noun_phrase(first, s.pick(("the", "the", "this")))
        right = noun_phrase(second, "the")
    if s.chance(0.65):
        tail = f"{adjective.comparative} als {right.case('nominative')}"
        english = f"{adjective.english_comparative} than {right.english}"
    else:
        no = s.pick((("", ""), ("nicht ", "not ")))
        tail = f"{no[0]}so {adjective.german} wie {right.case('nominative')}"
        english = f"{no[1]}as {adjective.english} as {right.english}"
    return statement_pair(s, clause_of(left, "sein", "present", tail, english))


def people_compared(s: ClauseSampler) -> Pair:
    """Peter ist älter als Anna."""
    adjective = s.pick([a for a in ADJECTIVES if a.comparative and "person" in a.goes_with])
    left, right = s.known_subject(), s.name()
    while left.german == right.german:
        right = s.name()
    tail = f"{adjective.comparative} als {right.case('nominative')}"
    english = f"{adjective.english_comparative} than {right.english}"
    return statement_pair(s, clause_of(left, "sein", "present", tail, english))


def belonging(s: ClauseSampler) -> Pair:
    """Das Auto des Arztes ist rot."""
    adjective = s.pick(ADJECTIVES)
    while not nouns_for(tuple(k for k in adjective.goes_with if k in OWNED or k in OWNED_NOUNS)):
        adjective = s.pick(ADJECTIVES)
    noun = s.noun(tuple(k for k in adjective.goes_with if k in OWNED or k in OWNED_NOUNS))
    tense = s.pick(("present", "present", "past"))
    thing = noun_phrase(noun, "the")
    if s.chance(0.5):
        owner = s.name()
        if " " in owner.english:
            owner = s.person_noun()
    else:
        owner = s.person_noun() if s.chance(0.6) else s.family()
    if noun.german in ("Rock", "Kleid") and owner.english_pronoun != "she":
        owner = name_phrase("Anna", "Anna", "f")
    clause = clause_of(thing, "sein", tense, adjective.german, adjective.english)
    bare = thing.english.removeprefix("the ")
    short = owner.german[0] in MEN + WOMEN
    german = (
        f"{owner.case('genitive')} {noun.german}"
        if short
        else f"{thing.case('nominative')} {owner.case('genitive')}"
    )
    ending = "'" if owner.english.endswith("s") else "'s"
    english = f"{owner.english}{ending} {bare}"
    return sentence(german_main(clause, subject=german)), sentence(
        english_statement(clause, subject=english)
    )


def liking(s: ClauseSampler) -> Pair:
    """Das Haus gefällt dem Mann. The man likes the house."""
    thing = s.thing(("clothes", "Haus", "Film", "Stadt", "Bild", "Lied", "Buch"), None, True)
    person = PRONOUNS[s.pick(tuple(PRONOUNS))] if s.chance(0.4) else s.known_subject(False)
    no = s.chance(0.25)
    past = s.chance(0.25)
    verb = "gefielen" if thing.plural else "gefiel"
    if not past:
        verb = "gefallen" if thing.plural else "gefällt"
    german = join(thing.case("nominative"), verb, person.case("dative"), "nicht" if no else "")
    like = next(v for v in VERBS if v.name == "mögen")
    clause = Clause(
        subject=person,
        verb=like,
        tense="narrative" if past else "present",
        english=thing.english_object,
        negated=no,
    )
    return sentence(german), sentence(english_statement(clause))


def there_is(s: ClauseSampler) -> Pair:
    """In der Stadt gibt es viele Museen."""
    city, english_city = s.pick(pairs(CITIES)[:16])
    german, english, kinds = s.pick(
        (
            (f"in {city}", f"in {english_city}", TOWN),
            (f"in {city}", f"in {english_city}", TOWN),
            ("in unserer Stadt", "in our city", TOWN),
            ("in dieser Stadt", "in this city", TOWN),
            ("in der Stadt", "in the city", TOWN),
            ("im Dorf", "in the village", VILLAGE),
            ("in unserem Dorf", "in our village", VILLAGE),
        )
    )
    noun = s.noun(tuple(kinds.split()))
    adjective = s.adjective_for(noun, 0.4)
    some = ("a", "a", "no", "zwei=two", "drei=three")
    determiner = s.pick(some if kinds == VILLAGE else (*some, "viele=many", "einige=some"))
    plural = determiner not in ("a", "no")
    thing = noun_phrase(noun, determiner, plural, adjective)
    word = thing.english.removeprefix("any ")
    if determiner == "no":
        word = "no " + thing.english.removeprefix("an ").removeprefix("a ")
    english_be = "are" if plural else "is"
    if s.chance(0.5):
        return (
            sentence(f"{german} gibt es {thing.case('accusative')}"),
            sentence(f"{english} there {english_be} {word}"),
        )
    return (
        sentence(f"es gibt {thing.case('accusative')} {german}"),
        sentence(f"there {english_be} {word} {english}"),
    )


def profession(s: ClauseSampler) -> Pair:
    """Mein Bruder ist Arzt. Tim möchte Lehrer werden."""
    names = listed(
        "Lehrer Arzt Polizist Koch Bäcker Bauer Kellner Maler Ingenieur Anwalt Verkäufer "
        "Journalist Student"
    )
    noun = NOUN_BY_NAME[s.pick(names)]
    sons = noun_phrase(s.noun(("Bruder", "Onkel", "Vater", "Sohn")), s.pick(("ich", "wir", "sie")))
    first = s.pick(MEN)
    he = s.pick((sons, PRONOUNS["er"], name_phrase(first, first, "m")))
    english = indefinite_article(noun.english)
    if s.chance(0.5):
        return statement_pair(
            s, clause_of(he, "sein", s.pick(("present", "past")), noun.german, english)
        )
    become = replace(VERB_BY_NAME["sein"], infinitive="werden", english="become")
    clause = Clause(
        subject=he,
        verb=become,
        tense=s.pick(("wollen", "möchten", "wollten")),
        objects=noun.german,
        english=english,
    )
    return statement_pair(s, clause)


def passive(s: ClauseSampler) -> Pair:
    """Das Haus wurde im Jahr 1998 gebaut."""
    participle, rest = split_pair(s.pick(table_lines(BUILT)))
    english, _, names = rest.partition(": ")
    noun = s.noun(tuple(names.split()))
    plural = s.chance(0.25)
    made = participle in ("gebaut", "gemalt", "geschrieben")
    adjective = None if made else s.adjective_for(noun, 0.4)
    thing = noun_phrase(noun, s.pick(("the", "the", "this")), plural, adjective)
    german_time, english_time = s.time("past")
    if made:
        year = str(s.random.randrange(1950, 2025, 5))
        german_time, english_time = f"im Jahr {year}", f"in {year}"
    was = "wurden" if plural else "wurde"
    english = f"{be(thing, True)} {english}"
    if s.chance(0.4):
        german = f"{german_time} {was} {thing.case('nominative')} {participle}"
        return sentence(german), sentence(f"{english_time} {thing.english} {english}")
    german = f"{thing.case('nominative')} {was} {german_time} {participle}"
    return sentence(german), sentence(f"{thing.english} {english} {english_time}")


def age(s: ClauseSampler) -> Pair:
    """Anna ist 34 Jahre alt."""
    years = str(s.random.randrange(18, 70))
    grown_up = ("Bruder", "Schwester", "Onkel", "Tante", "Chef")
    relative = noun_phrase(s.noun(grown_up), s.pick(("ich", "wir", "er", "sie")))
    who = s.pick((s.name(), s.name(), PRONOUNS["er"], PRONOUNS["sie"], PRONOUNS["ich"], relative))
    clause = clause_of(who, "sein", "present", f"{years} Jahre alt", f"{years} years old")
    return statement_pair(s, clause)


def price(s: ClauseSampler) -> Pair:
    """Die Tasche kostet 25 Euro."""
    kinds, low, high, step = s.pick(
        (
            (("clothes",), 15, 200, 5),
            (("furniture", "device", "Fahrrad"), 50, 900, 10),
            (("Buch", "Tasche", "Messer", "Regenschirm", "Ball", "Stift", "Karte"), 2, 40, 1),
        )
    )
    noun = s.noun(kinds)
    adjective = s.adjective_for(noun, 0.4)
    if adjective and adjective.german in ("schmutzig", "schwer", "leer", "langsam"):
        adjective = None
    thing = noun_phrase(noun, s.pick(("the", "the", "this")), s.chance(0.2), adjective)
    amount = str(s.random.randrange(low, high, step))
    clause = clause_of(thing, "kosten", "present", f"{amount} Euro", f"{amount} euros")
    return statement_pair(s, clause)
