"""Turning clauses into sentence pairs: the last step that all patterns share."""

from __future__ import annotations

from collections.abc import Callable

from clauses import ClauseSampler
from english import english_statement
from german import Clause, Phrase, german_main
from verbs import FRAMES, VERB_BY_NAME

Pair = tuple[str, str]

Pattern = Callable[[ClauseSampler], Pair]

PLAIN_FRAMES = [frame for frame in FRAMES if frame != "reflexive"]

LIGHT_FRAMES = ("intransitive", "accusative", "dative", "prepositional")


def sentence(text: str, mark: str = ".") -> str:
    """Capitalise the first letter and add the final mark."""
    return text[0].upper() + text[1:] + mark


def statement_pair(s: ClauseSampler, clause: Clause, fronting: float = 0.4) -> Pair:
    """A statement; the expression of time comes first with the given probability."""
    front, english_front = "", ""
    if clause.time_english and s.chance(fronting):
        front, english_front = s.fronted(clause)
    german, english = german_main(clause, front), english_statement(clause, english_front)
    return sentence(german), sentence(english)


def clause_of(subject: Phrase, name: str, tense: str, tail: str, english: str) -> Clause:
    """A clause with a verb of the group "other" and a ready complement."""
    return Clause(subject=subject, verb=VERB_BY_NAME[name], tense=tense, tail=tail, english=english)


def inverted(clause: Clause) -> str:
    """A main clause after a subordinate clause: verb, subject, rest."""
    return german_main(clause, front="#").removeprefix("# ")
