"""Patterns with relative clauses, with "zu", and with "und" and "aber"."""

from __future__ import annotations

from dataclasses import replace

from adjectives import ADJECTIVES, STATES
from clauses import ClauseSampler
from english import english_statement, english_to
from german import Clause, Phrase, german_final, german_main, german_zu, join
from nouns import NOUN_BY_NAME, NOUNS, nouns_for, pairs, split_pair, table_lines
from phrases import noun_phrase, refer_back
from sentences import (
    LIGHT_FRAMES,
    Pair,
    clause_of,
    sentence,
)
from usage import ACTIVITIES, listed
from verbs import VERBS

# What can follow each verb that takes "zu".
INFINITIVES = {
    "versuchen": "öffnen reparieren lösen schlafen übersetzen helfen finden anrufen tragen lesen",
    "vergessen": "zumachen ausschalten mitnehmen mitbringen kaufen anrufen füttern bezahlen "
    "waschen schicken abholen antworten danken aufräumen",
    "beginnen": "lesen schreiben kochen singen tanzen arbeiten lachen weinen laufen putzen "
    "aufräumen reparieren malen bauen",
    "hoffen": "finden gewinnen treffen bekommen besuchen kaufen verkaufen mieten",
    "keine Zeit": "lesen schreiben kochen einkaufen putzen aufräumen besuchen treffen helfen "
    "frühstücken anrufen backen übersetzen",
}

# Where one goes, how, what for, and with what objects.
ERRANDS = """
    gehen Supermarkt Markt: kaufen = Apfel Kartoffel Tomate Birne Brot Käse Fleisch Reis Milch Ei
    fahren Stadt: kaufen = clothes device Buch Tasche Koffer furniture Fahrrad
    fahren Bahnhof Flughafen: abholen = family Freund Gast Kollege
    gehen Bibliothek: lesen = Buch Zeitung Roman Artikel Gedicht
    gehen Bibliothek: suchen = Buch Roman Artikel
    gehen Restaurant: essen = Pizza Suppe Salat Fleisch
    gehen Café: trinken = Kaffee Tee Saft
    gehen Park Wald: fotografieren = Vogel Baum Blume Ente
    gehen Büro: schreiben = Bericht Brief E-Mail
    gehen Garten: pflanzen = Baum Blume
    gehen Küche: kochen = Suppe Ei Kartoffel Reis
    gehen Küche: backen = Kuchen Brot Brötchen
    fahren See Strand: schwimmen =
    fahren Wald See Strand: spazieren gehen =
    fahren Krankenhaus Büro: arbeiten =
    gehen Universität Schule Museum: treffen = Freund Lehrer Student Journalist Kollege
"""


def relative_german(antecedent: Phrase, case: str) -> str:
    """The relative pronoun."""
    if antecedent.plural:
        return {"nominative": "die", "accusative": "die", "dative": "denen"}[case]
    table = {"m": ("der", "den", "dem"), "f": ("die", "die", "der"), "n": ("das", "das", "dem")}
    return table[antecedent.gender][("nominative", "accusative", "dative").index(case)]


def predicate(s: ClauseSampler, thing: Phrase, noun_name: str, animate: bool) -> Clause:
    """What is said of the thing that the relative clause describes."""
    if animate:
        draw = s.random.random()
        if draw < 0.35:
            states = [pair for pair in pairs(STATES) if pair[0] not in thing.german[0]]
            return clause_of(thing, "sein", "present", *s.pick(states))
        if draw < 0.6 and not thing.plural and noun_name in ("Mann", "Frau"):
            family = ("Bruder", "Onkel", "Vater") if thing.gender == "m" else ("Schwester", "Tante")
            relative = noun_phrase(s.noun(family), s.pick(("ich", "wir", "er", "sie")))
            return clause_of(thing, "sein", "present", relative.german[0], relative.english)
        return s.clause(
            thing, s.pick(("past", "future")), LIGHT_FRAMES, timed=0.2, names=ACTIVITIES
        )
    noun = NOUN_BY_NAME[noun_name]
    fitting = [a for a in ADJECTIVES if a.fits(noun)]
    adjective = s.pick(fitting)
    degree = s.pick((("", ""), ("", ""), ("sehr", "very")))
    if not adjective.comparative:
        degree = ("", "")
    return clause_of(
        thing,
        "sein",
        s.pick(("present", "present", "past")),
        join(degree[0], adjective.german),
        join(degree[1], adjective.english),
    )


def with_relative(main: Clause, german: str, english: str) -> Pair:
    """Main clause whose subject carries a relative clause."""
    subject = main.subject
    who = f"{subject.case('nominative')}, {german},"
    return sentence(german_main(main, subject=who)), sentence(
        english_statement(main, subject=f"{subject.english} {english}")
    )


def relative_subject(s: ClauseSampler) -> Pair:
    """Der Mann, der im Garten arbeitet, ist mein Onkel."""
    noun = s.noun(("Mann", "Frau", "Junge", "Lehrer", "Student", "Kellner", "Tourist", "Arzt"))
    person = noun_phrase(noun, "the", s.chance(0.25), None)
    tense = s.pick(("present", "past", "past"))
    clause = s.clause(person, tense, timed=0.2, names=(*ACTIVITIES, "geben", "zeigen", "finden"))
    german = f"{relative_german(person, 'nominative')} {german_final(clause, True)}"
    english = english_statement(clause, subject="who")
    return with_relative(predicate(s, person, noun.german, True), german, english)


def relative_object(s: ClauseSampler) -> Pair:
    """Das Buch, das ich gestern gekauft habe, ist interessant."""
    names = listed(
        "lesen schreiben kaufen essen trinken suchen finden mieten verkaufen reparieren sehen "
        "bauen malen brauchen übersetzen"
    )
    verb = s.pick([v for v in VERBS if v.name in names and v.frame == "accusative"])
    kinds = tuple(k for k in verb.objects if k not in ("person", "family"))
    while True:
        noun = s.noun(kinds)
        if any(a.fits(noun) for a in ADJECTIVES):
            break
    plural = noun.countable and s.chance(0.25)
    thing = noun_phrase(noun, "the", plural)
    tense = "present" if "stative" in verb.notes else s.pick(("past", "past", "past", "wollen"))
    if verb.name in ("essen", "trinken"):
        tense = "past"
    clause = Clause(subject=s.known_subject(), verb=verb, tense=tense)
    clause = s.add_time(clause) if s.chance(0.35) and tense == "past" else clause
    german = f"{relative_german(thing, 'accusative')} {german_final(clause)}"
    english = f"that {english_statement(clause)}"
    main = predicate(s, thing, noun.german, False)
    if verb.name in ("essen", "trinken"):
        main = replace(main, tense="past")
    return with_relative(main, german, english)


def relative_dative(s: ClauseSampler) -> Pair:
    """Die Frau, der ich geholfen habe, ist krank. Der Mann, auf den wir warten, ..."""
    names = listed("helfen danken antworten warten sprechen einladen fragen treffen")
    people = [v for v in VERBS if v.name in names and {"person", "family"} & set(v.objects)]
    verb = s.pick(people)
    case = verb.case or verb.frame
    noun = s.noun(("Mann", "Frau", "Junge", "Lehrer", "Student", "Kollege", "Nachbar", "Arzt"))
    person = noun_phrase(noun, "the", s.chance(0.2))
    tense = s.pick(("past", "past", "wollen", "müssen"))
    subject = s.known_subject()
    while subject.german == person.german:
        subject = s.known_subject()
    clause = Clause(subject=subject, verb=verb, tense=tense)
    clause = s.add_time(clause) if s.chance(0.3) and tense == "past" else clause
    german = f"{join(verb.preposition, relative_german(person, case))} {german_final(clause)}"
    english = f"that {english_statement(clause)}"
    return with_relative(predicate(s, person, noun.german, True), german, english)


def knowing_somebody(s: ClauseSampler) -> Pair:
    """Ich kenne einen Mann, der in Berlin wohnt."""
    speaker = s.known_subject()
    noun = s.noun(("person",))
    adjective = s.adjective_for(noun, 0.25)
    person = noun_phrase(noun, s.pick(("a", "a", "the")), False, adjective)
    kennen = s.named("kennen")
    head = Clause(
        subject=speaker,
        verb=kennen,
        tense="present",
        objects=person.case("accusative"),
        english=person.english_object,
    )
    if s.chance(0.4):
        city, english_city = s.city()
        clause = clause_of(person, "wohnen", "present", f"in {city}", f"in {english_city}")
    else:
        clause = s.clause(
            person, s.pick(("past", "present")), LIGHT_FRAMES, timed=0.1, names=ACTIVITIES
        )
    german = f"{relative_german(person, 'nominative')} {german_final(clause, True)}"
    return sentence(f"{german_main(head)}, {german}"), sentence(
        f"{english_statement(head)} {english_statement(clause, subject='who')}"
    )


def versuchen(s: ClauseSampler) -> Pair:
    """Sie versucht, das Fenster zu öffnen. Er hat vergessen, die Tür zuzumachen."""
    subject = s.known_subject()
    kind = s.pick(tuple(INFINITIVES))
    frames = ("accusative", "dative", "intransitive", "giving")
    infinitive = s.clause(
        subject, "future", frames, timed=0.0, names=INFINITIVES[kind].split(), place=0.0
    )
    tense = {"vergessen": "past", "hoffen": "present"}.get(kind, s.pick(("present", "past")))
    if kind == "keine Zeit":
        head = Clause(
            subject=subject, verb=s.named("haben"), tense=tense, objects=kind, english="no time"
        )
    else:
        head = Clause(subject=subject, verb=s.named(kind), tense=tense)
    german = german_zu(infinitive)
    bare = not infinitive.english and kind != "keine Zeit"
    comma = "" if bare else ","
    return sentence(f"{german_main(head)}{comma} {german}"), sentence(
        join(english_statement(head), english_to(infinitive))
    )


def um_zu(s: ClauseSampler) -> Pair:
    """Er fährt in die Stadt, um ein Buch zu kaufen."""
    subject = s.known_subject()
    tense = s.pick(("present", "past", "past", "future", "müssen", "möchten"))
    way, rest = split_pair(s.pick(table_lines(ERRANDS)), ":")
    name, _, objects = rest.partition(" =")
    verb, _, goals = way.partition(" ")
    head = clause_of(subject, verb, tense, *s.place(goals, "accusative"))
    found = s.named(name)
    purpose = s.clause(
        subject,
        "future",
        timed=0.0,
        verb=replace(found, objects=tuple(objects.split())),
        pronouns=False,
        place=0.0,
    )
    return sentence(f"{german_main(head)}, um {german_zu(purpose)}"), sentence(
        join(english_statement(head), english_to(purpose))
    )


def and_but(s: ClauseSampler) -> Pair:
    """Peter kocht die Suppe, und Anna backt einen Kuchen."""
    tense = s.pick(("present", "past", "future"))
    frames = ("accusative", "intransitive", "dative")
    first = s.clause(s.known_subject(), tense, frames, timed=0.35, names=ACTIVITIES)
    second_subject = s.known_subject()
    while second_subject.german == first.subject.german:
        second_subject = s.known_subject()
    negated = s.chance(0.4)
    second = s.clause(second_subject, tense, frames, timed=0.0, negated=negated, names=ACTIVITIES)
    word = ("aber", "but") if negated else s.pick((("und", "and"), ("aber", "but")))
    return sentence(f"{german_main(first)}, {word[0]} {german_main(second)}"), sentence(
        f"{english_statement(first)}, {word[1]} {english_statement(second)}"
    )


def searching(s: ClauseSampler) -> Pair:
    """Der Mann sucht den Schlüssel, aber er kann ihn nicht finden."""
    subject = s.clear_subject()
    pairs_of_verbs = (
        ("suchen", "finden", "können", "nicht", "aber", "but"),
        ("kaufen", "brauchen", "present", "", "weil", "because"),
        ("lesen", "verstehen", "present", "nicht", "aber", "but"),
        ("verkaufen", "brauchen", "present", "nicht", "weil", "because"),
        ("reparieren", "benutzen", "wollen", "", "weil", "because"),
        ("waschen", "anziehen", "wollen", "", "weil", "because"),
    )
    first_name, second_name, tense, no, word, english_word = s.pick(pairs_of_verbs)
    first_verb = s.named(first_name)
    second_verb = next(v for v in VERBS if v.name == second_name and v.frame == "accusative")
    both = set(nouns_for(first_verb.objects)) & set(nouns_for(second_verb.objects))
    names = tuple(noun.german for noun in NOUNS if noun in both and noun.kind != "person")
    thing = s.thing(names, subject, True)
    back = refer_back(thing)
    first = Clause(
        subject=subject,
        verb=first_verb,
        tense=s.pick(("present", "past")) if tense != "können" else "present",
        objects=thing.case("accusative"),
        english=thing.english_object,
    )
    second = Clause(
        subject=refer_back(subject),
        verb=second_verb,
        tense=tense,
        light=back.case("accusative"),
        negated=bool(no),
        not_word=no,
    )
    second = s.with_english_object(second, back)
    tail = german_main(second) if word == "aber" else german_final(second)
    comma = "," if word == "aber" else ""
    return sentence(f"{german_main(first)}, {word} {tail}"), sentence(
        f"{english_statement(first)}{comma} {english_word} {english_statement(second)}"
    )
