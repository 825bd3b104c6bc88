"""Random clauses: a verb that suits tense and subject, complements that suit the verb."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from german import (
    Clause,
    Phrase,
    join,
    with_preposition,
)
from phrases import (
    PRONOUNS,
)
from places import (
    OFTEN,
    PLACES_FOR,
)
from sampler import Sampler
from usage import (
    ACQUIRING,
    CONSUMING,
    GENERIC_VERBS,
    INDEFINITE_VERBS,
    LASTING,
    MANNER,
    PARTICLES,
    SEASONAL,
    usable,
)
from verbs import FRAMES, VERBS, Verb

FRAME_WEIGHTS = {
    "intransitive": 16,
    "reflexive": 5,
    "accusative": 52,
    "dative": 9,
    "giving": 9,
    "prepositional": 9,
}

PRONOUN_OBJECTS = ("ich", "du", "er", "wir")

PRONOUN_DATIVES = ("ich", "du", "er", "sie", "wir", "sie (plural)")


class ClauseSampler(Sampler):
    """Draws clauses."""

    def verb(self, tense: str, frames: Sequence[str] = FRAMES, names: Sequence[str] = ()) -> Verb:
        """A verb of one of the frames (and with one of the names) that can be used in the tense."""
        fitting = [
            verb
            for verb in VERBS
            if verb.frame in frames and usable(verb, tense) and (not names or verb.name in names)
        ]
        possible = [frame for frame in frames if any(verb.frame == frame for verb in fitting)]
        frame = self.random.choices(possible, [FRAME_WEIGHTS[name] for name in possible])[0]
        return self.pick([verb for verb in fitting if verb.frame == frame])

    def named(self, name: str) -> Verb:
        """The first verb with that infinitive."""
        return next(verb for verb in VERBS if verb.name == name)

    def clause(
        self,
        subject: Phrase,
        tense: str,
        frames: Sequence[str] = FRAMES,
        negated: bool = False,
        timed: float = 0.5,
        verb: Verb | None = None,
        pronouns: bool = True,
        names: Sequence[str] = (),
        place: float = 0.3,
    ) -> Clause:
        """A clause with complements; `timed` is the probability of an expression of time."""
        verb = verb or self.verb(tense, frames, names)
        clause = Clause(
            subject=subject,
            verb=verb,
            tense=tense,
            negated=negated,
            not_word="nicht" if negated else "",
        )
        if verb.frame == "intransitive":
            clause = self.add_manner(clause)
        elif verb.frame in ("accusative", "dative"):
            clause = self.add_object(clause, pronouns)
        elif verb.frame == "giving":
            clause = self.add_receiver(clause)
        elif verb.frame == "prepositional":
            clause = self.add_prepositional(clause)
        if verb.name in PLACES_FOR and not negated and not clause.tail and self.chance(place):
            clause = self.add_place(clause)
        return self.add_time(clause) if self.chance(timed) or tense == "habit" else clause

    def add_manner(self, clause: Clause) -> Clause:
        """How: gut, laut, früh."""
        if clause.verb.name not in MANNER or not self.chance(
            0.9 if clause.verb.english.startswith(("get", "wake", "arrive", "come")) else 0.4
        ):
            return clause
        german, english = self.pick_pair(MANNER[clause.verb.name])
        return replace(clause, tail=german, english=english)

    def add_object(self, clause: Clause, pronouns: bool) -> Clause:
        """The accusative or dative object."""
        verb = clause.verb
        people = "person" in verb.objects or "family" in verb.objects
        if pronouns and people and self.chance(0.25):
            keys = PRONOUN_DATIVES if verb.frame == "dative" else PRONOUN_OBJECTS
            phrase = PRONOUNS[self.pick(keys)]
            if phrase.person == clause.subject.person != 3:
                phrase = PRONOUNS["er"]
            german = phrase.case(verb.frame)
            return self.with_english_object(replace(clause, light=german), phrase)
        phrase = self.object_phrase(clause)
        while phrase.german == clause.subject.german:
            phrase = self.object_phrase(clause)
        if clause.negated and not phrase.definite:
            clause = replace(clause, not_word="")
        clause = replace(clause, objects=phrase.case(verb.frame))
        return self.with_english_object(clause, phrase)

    def object_phrase(self, clause: Clause) -> Phrase:
        """The noun phrase that serves as object, with an article that suits the verb."""
        verb = clause.verb
        owner = None if verb.name in ACQUIRING else clause.subject
        if verb.name in GENERIC_VERBS:
            return (
                self.without(verb.objects, True) if clause.negated else self.generic(verb.objects)
            )
        indefinite = verb.name in INDEFINITE_VERBS
        switching = verb.name in ("einschalten", "ausschalten", "zumachen")
        kein = verb.frame == "accusative" and not switching
        if clause.negated and kein and (indefinite or self.chance(0.4)):
            return self.without(verb.objects)
        if clause.negated:
            return self.thing(verb.objects, owner, True)
        if indefinite or (clause.tense == "habit" and verb.name in CONSUMING):
            return self.thing(verb.objects, owner, False)
        if verb.frame == "dative" or switching or verb.name == "lieben":
            return self.thing(verb.objects, owner, self.chance(0.85))
        return self.thing(verb.objects, owner)

    def with_english_object(self, clause: Clause, phrase: Phrase) -> Clause:
        """Add the English object; "pick up" and "take along" split around some objects."""
        verb = clause.verb
        base, _, particle = verb.english.rpartition(" ")
        if particle in PARTICLES and (phrase.pronoun or particle == "along"):
            past = verb.english_past.rpartition(" ")[0]
            english = join(phrase.english_object, particle)
            return replace(
                clause, verb=replace(verb, english=base, english_past=past), english=english
            )
        return replace(clause, english=phrase.english_object)

    def add_receiver(self, clause: Clause) -> Clause:
        """Dative person and accusative thing: he gives the boy a book, explains a plan to him."""
        verb = clause.verb
        if self.chance(0.35):
            receiver = PRONOUNS[self.pick(PRONOUN_DATIVES)]
            if receiver.person == clause.subject.person:
                receiver = PRONOUNS["sie" if clause.subject.english_pronoun == "he" else "er"]
        elif self.chance(0.4):
            receiver = self.family(clause.subject)
        elif self.chance(0.3):
            receiver = self.name()
        else:
            receiver = self.person_noun(("the",))
        while receiver.german == clause.subject.german:
            receiver = self.person_noun(("the",))
        if clause.negated:
            thing = self.thing(verb.objects, clause.subject, True)
        else:
            definite = False if clause.tense == "habit" else None
            thing = self.thing(verb.objects, clause.subject, definite)
        english = join(receiver.english_object, thing.english_object)
        if verb.english.endswith(" to"):
            base, past = verb.english.removesuffix(" to"), verb.english_past.removesuffix(" to")
            clause = replace(clause, verb=replace(verb, english=base, english_past=past))
            english = f"{thing.english_object} to {receiver.english_object}"
        person, objects = receiver.case("dative"), thing.case("accusative")
        if receiver.pronoun:
            return replace(clause, light=person, objects=objects, english=english)
        return replace(clause, objects=join(person, objects), english=english)

    def add_prepositional(self, clause: Clause) -> Clause:
        """The prepositional object: wartet auf den Bus."""
        verb = clause.verb
        if self.chance(0.15) and "person" in verb.objects:
            key = self.pick(PRONOUN_OBJECTS)
            phrase = PRONOUNS[key]
            if phrase.person == clause.subject.person:
                phrase = PRONOUNS["ich" if clause.subject.person == 3 else "er"]
        else:
            phrase = self.thing(
                verb.objects, clause.subject, clause.negated or verb.reflexive or self.chance(0.8)
            )
        tail = with_preposition(verb.preposition, phrase.case(verb.case))
        return replace(clause, tail=tail, english=phrase.english_object)

    def add_place(self, clause: Clause) -> Clause:
        """Where it happens."""
        german, english = self.place(PLACES_FOR[clause.verb.name])
        indefinite = clause.objects.startswith(("ein", "zwei", "drei", "viele"))
        clause = replace(clause, english=join(clause.english, english))
        if indefinite:
            return replace(clause, objects=join(german, clause.objects))
        if clause.verb.frame == "intransitive" and not clause.objects:
            return replace(clause, objects=german)
        return replace(clause, tail=join(german, clause.tail))

    def add_time(self, clause: Clause, fixed: tuple[str, str] | None = None) -> Clause:
        """When it happens, or how often."""
        tense = clause.tense
        if clause.verb.name == "haben":
            return clause
        if tense == "present" and ("stative" in clause.verb.notes or clause.negated):
            return clause
        if clause.verb.english.startswith("be ") or tense == "background":
            return clause
        if tense == "habit" and self.chance(0.45):
            german, english = self.pick_pair(OFTEN)
            return replace(clause, time_german=german, english_middle=english)
        scale = tense if tense in ("habit", "past", "future", "narrative", "present") else "future"
        if tense in ("konnten", "mussten", "wollten"):
            scale = "past"
        if scale in ("past", "future", "narrative") and clause.verb.name not in LASTING:
            scale += " day"
        if scale == "habit" and clause.verb.name in SEASONAL:
            scale = "habit travel"
        german, english = fixed or self.time(scale)
        while (clause.negated and german == "bald") or (
            german == "morgen früh" and clause.tail in ("früh", "spät")
        ):
            german, english = self.time(scale)
        return replace(clause, time_german=german, time_english=english)

    def fronted(self, clause: Clause) -> tuple[str, str]:
        """The expression of time that can move to the front, in both languages."""
        if clause.time_german in ("gerade", "nie", "immer", "bald"):
            return "", ""
        return clause.time_german, clause.time_english
