"""Patterns for times of day and set phrases."""

from __future__ import annotations

from dataclasses import replace

from clauses import ClauseSampler
from german import Clause
from nouns import pairs
from phrases import noun_phrase
from places import NUMBERS
from sentences import (
    Pair,
    sentence,
    statement_pair,
)
from verbs import VERBS

GREETINGS = """
    Guten Morgen! = Good morning!
    Guten Tag! = Good day!
    Guten Abend! = Good evening!
    Gute Nacht! = Good night!
    Danke schön. = Thank you very much.
    Auf Wiedersehen! = Goodbye!
    Bis morgen! = See you tomorrow!
    Herzlichen Glückwunsch! = Congratulations!
    Guten Appetit! = Enjoy your meal!
    Wie geht es dir? = How are you?
    Mir geht es gut. = I am fine.
    Wie heißt du? = What is your name?
    Es tut mir leid. = I am sorry.
    Das macht nichts. = That does not matter.
    Wie spät ist es? = What time is it?
    Ich weiß es nicht. = I do not know.
    Keine Ahnung. = No idea.
    Gute Reise! = Have a good trip!
    Viel Glück! = Good luck!
    Herzlich willkommen! = Welcome!
"""


def clock(s: ClauseSampler, allow_digits: bool = True) -> tuple[str, str]:
    """A time of day: um acht Uhr, um halb neun, um Viertel nach sieben, um 14.30 Uhr."""
    hours = [*pairs(NUMBERS), ("elf", "eleven"), ("zwölf", "twelve")]
    index = s.random.randrange(1, len(hours))
    (german, english), (_, before) = hours[index], hours[index - 1]
    minutes = s.pick(("15", "20", "30", "45"))
    hour = str(s.random.randrange(6, 23))
    times = [
        (f"{german} Uhr", f"{english} o'clock"),
        (f"halb {german}", f"half past {before}"),
        (f"Viertel nach {german}", f"a quarter past {english}"),
        (f"Viertel vor {german}", f"a quarter to {english}"),
        (f"zehn nach {german}", f"ten past {english}"),
    ]
    if allow_digits:
        times += [(f"{hour}.{minutes} Uhr", f"{hour}:{minutes}")] * 2
    return s.pick(times)


def at_the_clock(s: ClauseSampler) -> Pair:
    """Der Zug fährt um halb neun ab. Wir frühstücken um acht Uhr."""
    german, english = clock(s)
    time = (f"um {german}", f"at {english}")
    if s.chance(0.35):
        noun = s.noun(("Zug", "Bus", "Schiff", "Flugzeug", "Straßenbahn"))
        city, english_city = s.city()
        verb = "abfahren" if noun.german in ("Zug", "Bus", "Straßenbahn", "Schiff") else "ankommen"
        subject = noun_phrase(noun, "the", False, s.adjective_for(noun, 0.1))
        to_city = s.chance(0.6)
        if to_city and noun.german in ("Zug", "Bus", "Flugzeug"):
            direction = ("nach", "to") if verb == "abfahren" else ("aus", "from")
            subject = replace(
                subject,
                german=(f"{subject.german[0]} {direction[0]} {city}", "", "", ""),
                english=f"{subject.english} {direction[1]} {english_city}",
            )
        verb_entry = next(v for v in VERBS if v.name == verb)
        clause = Clause(subject=subject, verb=verb_entry, tense=s.pick(("habit", "future", "past")))
        clause = replace(clause, verb=replace(verb_entry, notes=("stative",)))
    else:
        names = ("aufstehen", "frühstücken", "aufwachen", "ankommen", "einschlafen")
        verb_entry = s.pick([v for v in VERBS if v.name in names])
        tense = s.pick(("past", "past", "future", "müssen"))
        if verb_entry.name in ("aufwachen", "einschlafen"):
            tense = "past"
        if verb_entry.name != "ankommen":
            german, english = clock(s, allow_digits=False)
            time = (f"um {german}", f"at {english}")
        clause = Clause(subject=s.subject(), verb=verb_entry, tense=tense)
    clause = s.add_time(clause, time)
    if clause.tense == "habit":
        clause = replace(clause, time_german=time[0], time_english=time[1], english_middle="")
    return statement_pair(s, clause, fronting=0.3)


def time_now(s: ClauseSampler) -> Pair:
    """Es ist halb neun."""
    german, english = clock(s, allow_digits=False)
    start = s.pick((("es ist", "it is"), ("es ist schon", "it is already")))
    start = s.pick((start, start, ("es ist jetzt", "it is now"), ("jetzt ist es", "now it is")))
    return sentence(f"{start[0]} {german}"), sentence(f"{start[1]} {english}")


def greeting(s: ClauseSampler) -> Pair:
    """As in: Guten Morgen! ..."""
    return s.pick_pair(GREETINGS)


def greeting_with_name(s: ClauseSampler) -> Pair:
    """As in: Guten Morgen, Frau Weber! ..."""
    german, english = s.pick_pair(GREETINGS)
    while english in ("Congratulations!", "No idea.") and s.chance(0.5):
        german, english = s.pick_pair(GREETINGS)
    name = s.name()
    return (
        f"{german[:-1]}, {name.case('nominative')}{german[-1]}",
        f"{english[:-1]}, {name.english}{english[-1]}",
    )
