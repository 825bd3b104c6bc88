"""English grammar for the starter corpus: verb forms, do-support and word order."""

from __future__ import annotations

from german import (
    Clause,
    Phrase,
    join,
)

# How English says the modal: the words before the verb, split into what agrees and what does not.
ENGLISH_MODALS = {
    "können": ("can", ""),
    "müssen": ("have", "to"),
    "wollen": ("want", "to"),
    "sollen": ("should", ""),
    "dürfen": ("may", ""),
    "möchten": ("would", "like to"),
    "konnten": ("could", ""),
    "mussten": ("had", "to"),
    "wollten": ("wanted", "to"),
}


def indefinite_article(english: str) -> str:
    """The word with "a" or "an" before it."""
    vowel = english[0].lower() in "aeiou" and not english.startswith(("uni", "use", "one"))
    return f"{'an' if vowel else 'a'} {english}"


def inflect_first(phrase: str, form: str) -> str:
    """Put the -s or -ing form on the first word of a verb phrase ("get up")."""
    word, _, rest = phrase.partition(" ")
    if form == "ing":
        if word in ("get", "sit", "swim", "run", "put", "cut", "plan", "win", "begin", "forget"):
            word = word + word[-1] + "ing"
        elif word == "lie":
            word = "lying"
        else:
            word = (word[:-1] if word.endswith("e") and word[-2] != "e" else word) + "ing"
    elif word == "have":
        word = "has"
    elif word.endswith(("s", "sh", "ch", "x", "o")):
        word += "es"
    elif word.endswith("y") and word[-2] not in "aeiou":
        word = word[:-1] + "ies"
    else:
        word += "s"
    return join(word, rest)


def be(subject: Phrase, past: bool) -> str:
    """The form of "be" that agrees with the subject."""
    if subject.plural or subject.person == 2:
        return "were" if past else "are"
    if past:
        return "was"
    return "am" if subject.person == 1 else "is"


def english_verb(clause: Clause, support: bool) -> tuple[str, str]:
    """The English auxiliary and the rest of the verb; `support` asks for do-support."""
    verb, subject, tense = clause.verb, clause.subject, clause.tense
    third = not subject.plural and subject.person == 3
    if tense in ENGLISH_MODALS:
        return english_modal(clause, support, third)
    if tense == "future":
        return "will", verb.english
    word, _, rest = verb.english.partition(" ")
    past = tense in ("past", "narrative", "background")
    if word == "be":
        return be(subject, past), rest
    if tense == "background" or (tense == "present" and "stative" not in verb.notes):
        return be(subject, past), inflect_first(verb.english, "ing")
    if support:
        return ("did" if past else "does" if third else "do"), verb.english
    if past:
        return "", verb.english_past
    return "", inflect_first(verb.english, "s") if third else verb.english


def english_modal(clause: Clause, support: bool, third: bool) -> tuple[str, str]:
    """A modal verb in English: "can read", "has to read", "does not want to read"."""
    word, to = ENGLISH_MODALS[clause.tense]
    rest = join(to, clause.verb.english)
    if word in ("can", "should", "may", "would", "could"):
        return word, rest
    if support:
        base = {"had": "have", "wanted": "want"}.get(word, word)
        return ("did" if base != word else "does" if third else "do"), join(base, rest)
    return "", join(inflect_first(word, "s") if third and word in ("have", "want") else word, rest)


def english_statement(clause: Clause, front: str = "", subject: str = "") -> str:
    """An English statement, with `front` (an adverbial) before the subject."""
    auxiliary, rest = english_verb(clause, support=clause.negated)
    if clause.negated:
        auxiliary = "cannot" if auxiliary == "can" else auxiliary + " not"
    end = "" if front and front == clause.time_english else clause.time_english
    who = subject or clause.subject.english
    return join(front, who, auxiliary, clause.english_middle, rest, clause.english, end)


def english_question(clause: Clause, question_word: str = "") -> str:
    """An English question with inversion."""
    auxiliary, rest = english_verb(clause, support=True)
    who = clause.subject.english
    middle_word = join("not" if clause.negated else "", clause.english_middle)
    return join(
        question_word, auxiliary, who, middle_word, rest, clause.english, clause.time_english
    )


def english_to(clause: Clause) -> str:
    """The infinitive with "to"."""
    return join("to", clause.verb.english, clause.english, clause.time_english)
