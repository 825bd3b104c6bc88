"""Patterns for questions and requests."""

from __future__ import annotations

from dataclasses import replace

from clauses import ClauseSampler
from english import english_question, english_statement
from german import Clause, Phrase, german_main, german_question, join
from nouns import NOUN_BY_NAME
from phrases import PRONOUNS, noun_phrase
from sentences import (
    PLAIN_FRAMES,
    Pair,
    clause_of,
    sentence,
)
from usage import listed
from verbs import VERBS

DU = PRONOUNS["du"]

WHO = Phrase(german=("wer", "wen", "wem", ""), english="who", english_object="whom", pronoun=True)

# Requests: "Mach bitte die Tür zu!": verb, objects and the rest in both languages.
REQUESTS = """
    mach | zu | close: Tür Fenster Buch Koffer Tasche
    öffne | | open: Tür Fenster Flasche Brief Paket Geschenk
    räum | auf | tidy up: Zimmer Küche Wohnung Büro
    schalte | ein | turn on: Lampe Computer Radio
    schalte | aus | turn off: Lampe Computer Radio Handy Kamera
    lies | | read: Buch Brief Artikel Gedicht Bericht Geschichte
    putz | | clean: Küche Fenster Schuh Zimmer Spiegel
    hol | | fetch: Stuhl Glas Teller Arzt Wasser Tasse
    zieh | an | put on: Jacke Mantel Mütze Pullover Schuh Hut
    zieh | aus | take off: Jacke Mantel Schuh Hut
    füttere | | feed: Hund Katze Pferd Kuh Hase Vogel
    ruf | an | call: Arzt Lehrer Nachbar Kollege Polizist
    bring | mit | bring along: Kamera Buch Karte Regenschirm
    iss | | eat: Suppe Apfel Kuchen Salat Brot
    trink | | drink: Milch Tee Wasser Saft
    beantworte | | answer: Frage E-Mail Brief
"""

REQUEST_VERBS = ("geben", "zeigen", "bringen", "leihen", "schicken", "erklären")


def question_tense(s: ClauseSampler) -> str:
    """A tense for a question."""
    return s.pick(("present", "present", "past", "past", "future", "können", "müssen", "wollen"))


def asked(s: ClauseSampler) -> Phrase:
    """The subject of a question; often the person one talks to."""
    return DU if s.chance(0.3) else s.known_subject(first_person=False)


def yes_no(s: ClauseSampler) -> Pair:
    """As in: Hat der Mann das Buch gelesen? ..."""
    clause = s.clause(asked(s), question_tense(s), timed=0.3)
    return sentence(german_question(clause), "?"), sentence(english_question(clause), "?")


def what(s: ClauseSampler) -> Pair:
    """As in: Was hat sie gekauft? What did she buy? ..."""
    verbs = listed(
        "lesen schreiben essen trinken bestellen kaufen verkaufen suchen malen zeichnen bauen "
        "reparieren mitbringen brauchen kochen übersetzen benutzen holen sehen putzen probieren "
        "pflanzen"
    )
    verb = s.pick([v for v in VERBS if v.name in verbs and v.frame == "accusative"])
    tense = "present" if "stative" in verb.notes else question_tense(s)
    clause = Clause(subject=asked(s), verb=verb, tense=tense)
    clause = s.add_time(clause) if s.chance(0.35) else clause
    if verb.name == "mitbringen":
        clause = replace(clause, verb=replace(verb, english="bring", english_past="brought"))
        clause = replace(clause, english="along", time_english=clause.time_english)
    return sentence(german_question(clause, "was"), "?"), sentence(
        english_question(clause, "what"), "?"
    )


def whom(s: ClauseSampler) -> Pair:
    """As in: Wem hilft der Arzt? Auf wen wartest du? Who are you waiting for? ..."""
    names = listed(
        "helfen danken antworten suchen besuchen treffen anrufen folgen einladen fragen abholen "
        "zuhören warten sprechen denken"
    )
    frames = ("accusative", "dative", "prepositional")
    people = [
        v
        for v in VERBS
        if v.name in names
        and v.frame in frames
        and ("person" in v.objects or "family" in v.objects)
    ]
    verb = s.pick(people)
    case = verb.case or verb.frame
    tense = question_tense(s)
    if "event" in verb.notes and tense == "present":
        tense = "past"
    word = join(verb.preposition, WHO.case(case))
    clause = Clause(subject=asked(s), verb=verb, tense=tense)
    clause = s.add_time(clause) if s.chance(0.3) else clause
    return sentence(german_question(clause, word), "?"), sentence(
        english_question(clause, "who"), "?"
    )


def who(s: ClauseSampler) -> Pair:
    """As in: Wer hat den Brief geschrieben? Who wrote the letter? ..."""
    tense = s.pick(("present", "present", "past", "past", "past", "future", "können", "möchten"))
    frames = ("accusative", "dative", "prepositional", "intransitive", "giving")
    clause = s.clause(WHO, tense, frames, timed=0.25)
    return sentence(german_main(clause), "?"), sentence(english_statement(clause), "?")


def which(s: ClauseSampler) -> Pair:
    """As in: Welchen Film hast du gesehen? Which book is he reading? ..."""
    verbs = listed(
        "lesen schreiben kaufen verkaufen übersetzen besuchen singen reparieren benutzen kennen "
        "verstehen suchen anziehen mieten"
    )
    verb = s.pick([v for v in VERBS if v.name in verbs and v.frame == "accusative"])
    tense = "present" if "stative" in verb.notes else question_tense(s)
    noun = s.noun(tuple(o for o in verb.objects if o not in ("family", "Geld")))
    while not noun.countable:
        noun = s.noun(verb.objects)
    thing = noun_phrase(noun, "which", s.chance(0.25), s.adjective_for(noun, 0.1))
    clause = Clause(subject=asked(s), verb=verb, tense=tense)
    return sentence(german_question(clause, thing.case("accusative")), "?"), sentence(
        english_question(clause, thing.english), "?"
    )


def where(s: ClauseSampler) -> Pair:
    """As in: Wo ist der Bahnhof? Wo wohnt deine Schwester? Wohin geht er? ..."""
    draw = s.random.random()
    if draw < 0.35:
        noun = s.noun(
            ("item", "vessel", "device", "clothes", "text", "place", "outdoors", "animal")
        )
        key = s.pick(("the", "ich", "du"))
        if noun.kind in ("place", "outdoors"):
            key = "the"
        thing = noun_phrase(noun, key, s.chance(0.2) and key != "the")
        clause = clause_of(thing, "sein", s.pick(("present", "present", "past")), "", "")
        words = ("wo", "where")
    elif draw < 0.6:
        clause = clause_of(asked(s), s.pick(("wohnen", "sein")), "present", "", "")
        if clause.verb.name == "sein":
            clause = s.add_time(replace(clause, tense="past"))
        words = ("wo", "where")
    elif draw < 0.85:
        verb = s.pick(("gehen", "fahren", "fliegen", "reisen"))
        clause = clause_of(asked(s), verb, question_tense(s), "", "")
        clause = s.add_time(clause) if s.chance(0.4) else clause
        words = ("wohin", "where")
    else:
        clause = clause_of(asked(s), "kommen", "habit", "", "from")
        words = ("woher", "where")
    return sentence(german_question(clause, words[0]), "?"), sentence(
        english_question(clause, words[1]), "?"
    )


def when_and_why(s: ClauseSampler) -> Pair:
    """As in: Warum lacht das Kind? Wann hat er den Brief geschrieben? ..."""
    german, english = s.pick((("warum", "why"), ("wann", "when"), ("wie oft", "how often")))
    tense = {
        "why": question_tense(s),
        "when": s.pick(("past", "future", "wollen")),
        "how often": "habit",
    }[english]
    negated = english == "why" and (tense == "können" or s.chance(0.3))
    if english == "how often":
        clause = s.clause(asked(s), "habit", PLAIN_FRAMES)
        clause = replace(clause, time_german="", time_english="", english_middle="")
    else:
        clause = s.clause(asked(s), tense, PLAIN_FRAMES, negated=negated, timed=0.0)
    return sentence(german_question(clause, german), "?"), sentence(
        english_question(clause, english), "?"
    )


def polite_request(s: ClauseSampler) -> Pair:
    """As in: Können Sie mir bitte das Salz geben? Could you please give me the salt? ..."""
    you = replace(DU, german=("Sie", "Sie", "Ihnen", ""), plural=True, person=3)
    verb = s.pick([v for v in VERBS if v.name in REQUEST_VERBS])
    receiver = PRONOUNS[s.pick(("ich", "ich", "wir", "er", "sie"))]
    thing = s.thing(verb.objects, None, s.chance(0.7))
    clause = Clause(
        subject=you,
        verb=verb,
        tense="konnten",
        light=receiver.case("dative"),
        objects=join("bitte", thing.case("accusative")),
    )
    word = verb.english
    complement = join(receiver.english_object, thing.english_object)
    if word.endswith(" to"):
        word = word.removesuffix(" to")
        complement = f"{thing.english_object} to {receiver.english_object}"
    german = german_question(clause).replace("konnten", "können", 1)
    return sentence(german, "?"), sentence(f"could you please {word} {complement}", "?")


def imperative(s: ClauseSampler) -> Pair:
    """As in: Mach bitte die Tür zu! Please close the door! ..."""
    german, names = s.pick(list(REQUESTS.strip().split("\n"))).split(": ")
    verb, prefix, english = [part.strip() for part in german.split("|")]
    noun = NOUN_BY_NAME[s.pick(names.split())]
    key = s.pick(("the", "the", "this", "ich", "du"))
    if noun.kind in ("person", "part") or not noun.countable:
        key = "the"
    thing = noun_phrase(noun, key, noun.german == "Schuh", s.adjective_for(noun, 0.35))
    accusative = thing.case("accusative")
    complement = thing.english_object
    if english == "bring along":
        english, complement = "bring", complement + " along"
    if s.chance(0.5):
        return sentence(join(verb, "bitte", accusative, prefix), "!"), sentence(
            f"please {english} {complement}", "!"
        )
    return sentence(join(verb, accusative, prefix), "!"), sentence(f"{english} {complement}", "!")
