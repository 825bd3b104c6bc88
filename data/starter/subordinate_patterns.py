"""Patterns with two clauses: weil, obwohl, dass, ob, wenn, als, bevor."""

from __future__ import annotations

from dataclasses import replace

from adjectives import ADJECTIVES, OBSTACLES, STATES
from clauses import ClauseSampler
from english import english_statement
from german import Clause, Phrase, german_final, german_main, join
from nouns import pairs
from phrases import PRONOUNS, noun_phrase, refer_back
from sentences import (
    LIGHT_FRAMES,
    Pair,
    clause_of,
    inverted,
    sentence,
)
from usage import ACTIVITIES, DUTIES, listed
from verbs import VERBS

# German, English, and both again in the past.
WEATHER = (
    ("es regnet", "it is raining", "es geregnet hat", "it rained"),
    ("es schneit", "it is snowing", "es geschneit hat", "it snowed"),
    (
        "das Wetter schlecht ist",
        "the weather is bad",
        "das Wetter schlecht war",
        "the weather was bad",
    ),
    ("es sehr kalt ist", "it is very cold", "es sehr kalt war", "it was very cold"),
)

OUTSIDE = listed("besuchen einkaufen schwimmen fotografieren treffen warten abholen")
BUYING = ("kaufen", "besuchen", "bezahlen", "mieten")

INDOORS = [
    "lesen",
    "schreiben",
    "übersetzen",
    "kochen",
    "backen",
    "putzen",
    "aufräumen",
    "reparieren",
    "tanzen",
    "singen",
    "arbeiten",
    "fernsehen",
    "malen",
    "zeichnen",
    "hören",
    "lernen",
    "schlafen",
    "spielen",
]

ARRIVING = ("ankommen", "zurückkommen", "aufwachen", "aufstehen")


def state_of(s: ClauseSampler, who: Phrase, past: bool) -> Clause:
    """Why something is hard for somebody: tired, no time."""
    tense = "past" if past else "present"
    if s.chance(0.6):
        obstacles = [p for p in pairs(STATES) if p[0] in OBSTACLES]
        german, english = s.pick([p for p in obstacles if p[0] not in who.german[0]])
        if s.chance(0.3):
            german, english = f"sehr {german}", f"very {english}"
        return clause_of(who, "sein", tense, german, english)
    german, english = s.pick(
        (
            ("wenig Zeit", "little time"),
            ("viel Arbeit", "a lot of work"),
            ("Kopfschmerzen", "a headache"),
        )
    )
    return Clause(subject=who, verb=s.named("haben"), tense=tense, objects=german, english=english)


def weil(s: ClauseSampler) -> Pair:
    """Er kann nicht kommen, weil er arbeiten muss."""
    subject = s.clear_subject()
    past = s.chance(0.4)
    tense = s.pick(("past", "konnten")) if past else s.pick(("können", "present", "wollen"))
    main = s.clause(subject, tense, LIGHT_FRAMES, negated=True, timed=0.0, names=ACTIVITIES)
    german, english = german_main(main), english_statement(main)
    who = refer_back(subject)
    if main.verb.name in OUTSIDE and s.chance(0.4):
        now, english_now, then, english_then = s.pick(WEATHER)
        reason, english_reason = (then, english_then) if past else (now, english_now)
        return sentence(f"{german}, weil {reason}"), sentence(f"{english} because {english_reason}")
    if main.verb.name in BUYING and s.chance(0.6):
        haben = s.named("haben")
        cause = Clause(
            subject=who,
            verb=haben,
            tense="past" if past else "present",
            objects="kein Geld",
            english="no money",
        )
    elif s.chance(0.5):
        modal = "mussten" if past else "müssen"
        cause = s.clause(who, modal, timed=0.0, names=[n for n in DUTIES if n != main.verb.name])
    else:
        cause = state_of(s, who, past)
    if s.chance(0.2):
        return sentence(f"{german}, denn {german_main(cause)}"), sentence(
            f"{english}, for {english_statement(cause)}"
        )
    return sentence(f"{german}, weil {german_final(cause)}"), sentence(
        f"{english} because {english_statement(cause)}"
    )


def dass_weil(s: ClauseSampler) -> Pair:
    """Anna sagt, dass sie nicht arbeiten kann, weil sie krank ist."""
    speaker = s.clear_subject()
    who = refer_back(speaker)
    verb = s.pick(("sagen", "glauben", "wissen"))
    head = clause_of(speaker, verb, "present", "", "")
    tense = s.pick(("können", "konnten", "past", "müssen", "wollen"))
    negated = tense != "müssen"
    said = s.clause(who, tense, LIGHT_FRAMES, negated=negated, timed=0.25, names=ACTIVITIES)
    if negated:
        cause = state_of(s, who, past=tense in ("konnten", "past"))
        reason, english_reason = german_final(cause), english_statement(cause)
    else:
        reason, english_reason = s.pick(
            (
                ("morgen viele Gäste kommen werden", "many guests will come tomorrow"),
                ("das Wetter schlecht ist", "the weather is bad"),
                ("es regnet", "it is raining"),
            )
        )
    return sentence(f"{german_main(head)}, dass {german_final(said)}, weil {reason}"), sentence(
        f"{english_statement(head)} that {english_statement(said)} because {english_reason}"
    )


def obwohl(s: ClauseSampler) -> Pair:
    """Obwohl sie müde ist, arbeitet sie."""
    subject = s.clear_subject()
    past = s.chance(0.4)
    first = s.chance(0.5)
    who = refer_back(subject)
    tense = "past" if past else "present"
    if s.chance(0.2):
        now, english_now, then, english_then = s.pick(WEATHER)
        german, english = (then, english_then) if past else (now, english_now)
        main_subject, names = subject, OUTSIDE
    else:
        state = state_of(s, subject if first else who, past)
        german, english = german_final(state), english_statement(state)
        main_subject, names = who if first else subject, ACTIVITIES
    main = s.clause(main_subject, tense, LIGHT_FRAMES, timed=0.0, names=names)
    if first:
        return sentence(f"obwohl {german}, {inverted(main)}"), sentence(
            f"although {english}, {english_statement(main)}"
        )
    return sentence(f"{german_main(main)}, obwohl {german}"), sentence(
        f"{english_statement(main)} although {english}"
    )


def dass(s: ClauseSampler) -> Pair:
    """Anna sagt, dass ihr Bruder krank ist. Ich glaube, dass er morgen kommt."""
    speaker = s.known_subject()
    verb = s.pick(("sagen", "wissen", "glauben", "hoffen"))
    tense = s.pick(("present", "past", "future", "müssen", "wollen"))
    if verb == "hoffen":
        tense = s.pick(("future", "können"))
    head = clause_of(speaker, verb, "present", "", "")
    subject = s.known_subject()
    if s.chance(0.2) and verb != "hoffen":
        german, english = s.pick_pair(STATES)
        said = clause_of(subject, "sein", s.pick(("present", "past")), german, english)
    else:
        said = s.clause(subject, tense, negated=s.chance(0.12), timed=0.25)
    return sentence(f"{german_main(head)}, dass {german_final(said)}"), sentence(
        f"{english_statement(head)} that {english_statement(said)}"
    )


def indirect_question(s: ClauseSampler) -> Pair:
    """Ich weiß nicht, ob er das Buch gelesen hat."""
    speaker = s.pick((PRONOUNS["ich"], PRONOUNS["wir"], s.known_subject()))
    tense = s.pick(("present", "past", "future", "past", "wollen"))
    asked = s.clause(s.known_subject(first_person=False), tense, LIGHT_FRAMES, timed=0.2)
    word = s.pick((("ob", "whether"), ("warum", "why")))
    if tense in ("past", "future") and s.chance(0.3):
        word = ("wann", "when")
        asked = replace(asked, time_german="", time_english="")
    head = clause_of(speaker, "wissen", "present", "", "")
    head = replace(head, negated=True, not_word="nicht")
    return sentence(f"{german_main(head)}, {word[0]} {german_final(asked)}"), sentence(
        f"{english_statement(head)} {word[1]} {english_statement(asked)}"
    )


def wenn(s: ClauseSampler) -> Pair:
    """Wenn es regnet, bleiben wir zu Hause. Wenn sie Zeit hat, liest sie ein Buch."""
    subject = s.clear_subject()
    who = refer_back(subject)
    first = s.chance(0.65)
    front_subject, back_subject = (subject, who) if first else (who, subject)
    if s.chance(0.3):
        german, english = s.pick(
            (
                ("es regnet", "it rains"),
                ("es schneit", "it snows"),
                ("das Wetter schlecht ist", "the weather is bad"),
            )
        )
        main = s.clause(subject, "future", LIGHT_FRAMES, timed=0.0, names=INDOORS, place=0.0)
        if s.chance(0.35):
            home = s.pick(
                (
                    ("zu Hause", "at home"),
                    ("im Hotel", "in the hotel"),
                    ("im Bett", "in bed"),
                    ("im Büro", "in the office"),
                )
            )
            main = clause_of(subject, "bleiben", "future", *home)
    elif s.chance(0.25):
        inside = s.chance(0.5)
        where = ("zu Hause", "at home") if inside else ("in der Stadt", "in the city")
        condition = clause_of(front_subject, "sein", "present", *where)
        german, english = german_final(condition), english_statement(condition)
        names = INDOORS if inside else ("besuchen", "treffen", "kaufen", "einkaufen")
        main = s.clause(back_subject, "future", LIGHT_FRAMES, timed=0.0, names=names, place=0.0)
    else:
        having = Clause(subject=front_subject, verb=s.named("haben"), tense="present")
        condition = s.pick(
            (
                replace(having, objects="Zeit", english="time"),
                replace(having, objects="genug Zeit", english="enough time"),
                clause_of(front_subject, "sein", "present", "wieder gesund", "healthy again"),
                clause_of(front_subject, "sein", "present", "nicht zu müde", "not too tired"),
            )
        )
        german, english = german_final(condition), english_statement(condition)
        tense = s.pick(("future", "future", "können"))
        main = s.clause(back_subject, tense, LIGHT_FRAMES, timed=0.0, names=ACTIVITIES, place=0.0)
    if first:
        return sentence(f"wenn {german}, {inverted(main)}"), sentence(
            f"if {english}, {english_statement(main)}"
        )
    return sentence(f"{german_main(main)}, wenn {german}"), sentence(
        f"{english_statement(main)} if {english}"
    )


def als(s: ClauseSampler) -> Pair:
    """Als der Lehrer nach Hause kam, schlief das Kind."""
    person = s.clear_subject()
    room, english_room = s.place("Küche Zimmer Büro", "accusative")
    english_room = english_room.replace("to ", "into ", 1)
    event = s.pick(
        (
            clause_of(person, "kommen", "narrative", "nach Hause", "home"),
            clause_of(person, "kommen", "narrative", room, english_room),
            Clause(subject=person, verb=s.named(s.pick(ARRIVING)), tense="narrative"),
        )
    )
    other = s.known_subject()
    while (other.pronoun and other.person == 3) or other.german == person.german:
        other = s.known_subject()
    frames = ("intransitive", "accusative")
    main = s.clause(other, "background", frames, timed=0.0, names=INDOORS, place=0.0)
    if s.chance(0.75):
        return sentence(f"als {german_final(event)}, {inverted(main)}"), sentence(
            f"when {english_statement(event)}, {english_statement(main)}"
        )
    return sentence(f"{german_main(main)}, als {german_final(event)}"), sentence(
        f"{english_statement(main)} when {english_statement(event)}"
    )


def bevor(s: ClauseSampler) -> Pair:
    """Bevor er frühstückt, füttert er die Katze."""
    subject = s.clear_subject()
    names = ("frühstücken", "einschlafen", "fernsehen", "spazieren gehen")
    verb = s.pick([v for v in VERBS if v.name in names and v.frame == "intransitive"])
    past = s.chance(0.5)
    first = Clause(subject=subject, verb=verb, tense="past" if past else "habit")
    frames = ("accusative", "reflexive", "dative")
    main = s.clause(
        refer_back(subject), "past" if past else "future", frames, timed=0.0, names=ACTIVITIES
    )
    return sentence(f"bevor {german_final(first)}, {inverted(main)}"), sentence(
        f"before {english_statement(first)}, {english_statement(main)}"
    )


def because_quality(s: ClauseSampler) -> Pair:
    """Sie hat die Lampe gekauft, weil sie billig war."""
    subject = s.known_subject()
    verb = s.pick([v for v in VERBS if v.name in ("kaufen", "mieten", "verkaufen", "bestellen")])
    wanted = {
        "kaufen": ("billig", "schön", "neu", "modern"),
        "mieten": ("billig", "schön", "groß", "ruhig"),
        "verkaufen": ("alt", "langsam", "schmutzig", "klein"),
        "bestellen": ("gut", "billig", "süß", "warm"),
    }[verb.name]
    while True:
        noun = s.noun(verb.objects)
        fitting = [a for a in ADJECTIVES if a.fits(noun) and a.german in wanted]
        if fitting:
            break
    thing = noun_phrase(noun, "the", noun.countable and s.chance(0.2))
    adjective = s.pick(fitting)
    past = s.chance(0.7)
    degree = s.pick((("", ""), ("sehr", "very"), ("so", "so")))
    main = Clause(
        subject=subject,
        verb=verb,
        tense="past" if past else "wollen",
        objects=thing.case("accusative"),
        english=thing.english_object,
    )
    cause = clause_of(
        refer_back(thing),
        "sein",
        "past" if past else "present",
        join(degree[0], adjective.german),
        join(degree[1], adjective.english),
    )
    return sentence(f"{german_main(main)}, weil {german_final(cause)}"), sentence(
        f"{english_statement(main)} because {english_statement(cause)}"
    )
