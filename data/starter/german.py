"""German grammar for the starter corpus: endings, verb forms and word order.

A `Clause` states once who does what; the functions here put it into a main clause (verb second), a
subordinate clause (verb last), a question or an infinitive group; english.py does the same for
English.
"""

from __future__ import annotations

from dataclasses import dataclass

from nouns import Noun
from verbs import Verb

CASES = ("nominative", "accusative", "dative", "genitive")


@dataclass(frozen=True, kw_only=True)
class Phrase:
    """A noun phrase or pronoun in both languages.

    `german` holds the four cases.  `english_pronoun` is what English uses to refer back to it
    (he, she, it, they), and is empty where German and English would disagree (das Mädchen).
    """

    german: tuple[str, str, str, str]
    english: str
    english_object: str
    person: int = 3
    plural: bool = False
    gender: str = "m"
    english_pronoun: str = ""
    pronoun: bool = False
    definite: bool = True
    animate: bool = False

    def case(self, name: str) -> str:
        """The German form in the named case."""
        return self.german[CASES.index(name)]


@dataclass(frozen=True, kw_only=True)
class Clause:
    """Who does what, when and where, before word order.

    `light` (pronoun objects), `objects` and `tail` are the German complements in the order in
    which they follow the subject; `english` is the English complement.  `time_german` and
    `time_english` can be moved to the front; `english_middle` is a word like "often".
    """

    subject: Phrase
    verb: Verb
    tense: str
    light: str = ""
    objects: str = ""
    tail: str = ""
    english: str = ""
    negated: bool = False
    not_word: str = ""
    time_german: str = ""
    time_english: str = ""
    english_middle: str = ""


# Endings for masculine, feminine, neuter, plural, in the order of CASES.
DEFINITE = {
    "m": ("der", "den", "dem", "des"),
    "f": ("die", "die", "der", "der"),
    "n": ("das", "das", "dem", "des"),
    "p": ("die", "die", "den", "der"),
}

EIN_ENDINGS = {
    "m": ("", "en", "em", "es"),
    "f": ("e", "e", "er", "er"),
    "n": ("", "", "em", "es"),
    "p": ("e", "e", "en", "er"),
}

DIESER_ENDINGS = {
    "m": ("er", "en", "em", "es"),
    "f": ("e", "e", "er", "er"),
    "n": ("es", "es", "em", "es"),
    "p": ("e", "e", "en", "er"),
}

WEAK_ENDINGS = {
    "m": ("e", "en", "en", "en"),
    "f": ("e", "e", "en", "en"),
    "n": ("e", "e", "en", "en"),
    "p": ("en", "en", "en", "en"),
}

MIXED_ENDINGS = {
    "m": ("er", "en", "en", "en"),
    "f": ("e", "e", "en", "en"),
    "n": ("es", "es", "en", "en"),
    "p": ("en", "en", "en", "en"),
}

STRONG_ENDINGS = {
    "m": ("er", "en", "em", "en"),
    "f": ("e", "e", "er", "er"),
    "n": ("es", "es", "em", "en"),
    "p": ("e", "e", "en", "er"),
}

CONTRACTIONS = {
    ("in", "dem"): "im",
    ("in", "das"): "ins",
    ("an", "dem"): "am",
    ("an", "das"): "ans",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
    ("von", "dem"): "vom",
    ("bei", "dem"): "beim",
}

AUXILIARIES = {
    "haben": ("habe", "hast", "hat", "haben", "haben"),
    "sein": ("bin", "bist", "ist", "sind", "sind"),
    "werden": ("werde", "wirst", "wird", "werden", "werden"),
    "können": ("kann", "kannst", "kann", "können", "können"),
    "müssen": ("muss", "musst", "muss", "müssen", "müssen"),
    "wollen": ("will", "willst", "will", "wollen", "wollen"),
    "sollen": ("soll", "sollst", "soll", "sollen", "sollen"),
    "dürfen": ("darf", "darfst", "darf", "dürfen", "dürfen"),
    "möchten": ("möchte", "möchtest", "möchte", "möchten", "möchten"),
    "konnten": ("konnte", "konntest", "konnte", "konnten", "konnten"),
    "mussten": ("musste", "musstest", "musste", "mussten", "mussten"),
    "wollten": ("wollte", "wolltest", "wollte", "wollten", "wollten"),
}

PRETERITE_TENSES = ("narrative", "background")

PAST_TENSES = ("past", "narrative")


def join(*parts: str) -> str:
    """The non-empty parts with single blanks between them."""
    return " ".join(part for part in parts if part)


def with_preposition(preposition: str, phrase: str) -> str:
    """A German preposition in front of a phrase, contracted where German contracts (im, zur)."""
    first, _, rest = phrase.partition(" ")
    short = CONTRACTIONS.get((preposition, first))
    return join(short, rest) if short else f"{preposition} {phrase}"


def noun_forms(noun: Noun, plural: bool) -> tuple[str, str, str, str]:
    """The four cases of a noun."""
    if plural:
        dative = noun.plural if noun.plural[-1] in "ns" else noun.plural + "n"
        return noun.plural, noun.plural, dative, noun.plural
    word = noun.german
    if noun.weak:
        return word, noun.plural, noun.plural, noun.plural
    if noun.gender == "f":
        return word, word, word, word
    return word, word, word, genitive(word)


def genitive(word: str) -> str:
    """The genitive singular of a strong masculine or neuter noun."""
    lower = word.lower()
    syllables = sum(
        letter in "aeiouäöüyé" and (index == 0 or lower[index - 1] not in "aeiouäöüyé")
        for index, letter in enumerate(lower)
    )
    if word in ("Chef", "Park", "Film", "See", "Café", "Koch"):
        return word + "s"
    if word == "Bus":
        return "Busses"
    if word[-1] in "sßzx" or word.endswith("sch"):
        return word + "es"
    return word + ("es" if syllables == 1 and word[-1] not in "aeiou" else "s")


def person_key(subject: Phrase) -> int:
    """0 ich, 1 du, 2 er, 3 wir, 4 sie (plural)."""
    if subject.plural:
        return 3 if subject.person == 1 else 4
    return subject.person - 1


def present(verb: Verb, subject: Phrase) -> str:
    """The German present tense."""
    key = person_key(subject)
    irregular = {
        "sein": ("bin", "bist", "ist", "sind", "sind"),
        "wissen": ("weiß", "weißt", "weiß", "wissen", "wissen"),
        "mögen": ("mag", "magst", "mag", "mögen", "mögen"),
        "laden": ("lade", "lädst", "lädt", "laden", "laden"),
        "haben": ("habe", "hast", "hat", "haben", "haben"),
    }
    if verb.infinitive in irregular:
        return irregular[verb.infinitive][key]
    stem = verb.infinitive.removesuffix("n").removesuffix("e")
    third = verb.third_person
    root = third.removesuffix("t")
    second = third if root[-1] in "sßzx" else root + "st"
    return (stem + "e", second, third, verb.infinitive, verb.infinitive)[key]


def preterite(verb: Verb, subject: Phrase) -> str:
    """The German preterite."""
    past = verb.preterite
    plural = past + ("n" if past.endswith("e") else "en")
    second = past + ("t" if past[-1] in "sß" else "st")
    return (past, second, past, plural, plural)[person_key(subject)]


def german_verb(clause: Clause) -> tuple[str, str]:
    """The finite verb and what stands at the end of a main clause."""
    verb, subject, tense = clause.verb, clause.subject, clause.tense
    if tense in PRETERITE_TENSES or (tense == "past" and "plain" in verb.notes):
        return preterite(verb, subject), verb.prefix.strip()
    if tense in ("present", "habit"):
        return present(verb, subject), verb.prefix.strip()
    if tense == "past":
        return AUXILIARIES[verb.auxiliary][person_key(subject)], verb.participle
    auxiliary = "werden" if tense == "future" else tense
    return AUXILIARIES[auxiliary][person_key(subject)], verb.name


def reflexive_pronoun(subject: Phrase) -> str:
    """The accusative reflexive pronoun that belongs to the subject."""
    return ("mich", "dich", "sich", "uns", "sich")[person_key(subject)]


def middle(clause: Clause, time: bool) -> str:
    """Everything between subject and final verb, except the reflexive pronoun."""
    when = clause.time_german if time else ""
    return join(clause.light, when, clause.objects, clause.not_word, clause.tail)


def german_main(clause: Clause, front: str = "", subject: str = "") -> str:
    """A main clause, verb second; `front` moves into first place, `subject` renames the subject."""
    finite, final = german_verb(clause)
    who = subject or clause.subject.case("nominative")
    reflexive = reflexive_pronoun(clause.subject) if clause.verb.reflexive else ""
    rest = join(middle(clause, time=not front or front != clause.time_german), final)
    if not front:
        return join(who, finite, reflexive, rest)
    if clause.subject.pronoun or not reflexive:
        return join(front, finite, who, reflexive, rest)
    return join(front, finite, reflexive, who, rest)


def german_question(clause: Clause, question_word: str = "") -> str:
    """A question; without a question word the verb comes first."""
    finite, final = german_verb(clause)
    who = clause.subject.case("nominative")
    reflexive = reflexive_pronoun(clause.subject) if clause.verb.reflexive else ""
    return join(question_word, finite, who, reflexive, middle(clause, time=True), final)


def german_final(clause: Clause, without_subject: bool = False) -> str:
    """A subordinate clause without its conjunction, verb last."""
    finite, final = german_verb(clause)
    who = "" if without_subject else clause.subject.case("nominative")
    reflexive = reflexive_pronoun(clause.subject) if clause.verb.reflexive else ""
    if final and final == clause.verb.prefix.strip():
        end = clause.verb.prefix + finite
    else:
        end = join(final, finite)
    return join(who, reflexive, middle(clause, time=True), end)


def german_zu(clause: Clause) -> str:
    """The infinitive group with "zu"."""
    verb = clause.verb
    infinitive = f"{verb.prefix}zu{verb.infinitive}" if verb.prefix else f"zu {verb.infinitive}"
    if verb.prefix.endswith(" "):
        infinitive = f"{verb.prefix}zu {verb.infinitive}"
    reflexive = reflexive_pronoun(clause.subject) if verb.reflexive else ""
    return join(reflexive, middle(clause, time=True), infinitive)
