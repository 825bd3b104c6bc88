"""All sentence patterns of the starter corpus and how often each is drawn."""

from __future__ import annotations

import clock_patterns as clocks
import combined_patterns as combined
import description_patterns as describing
import question_patterns as asking
import statement_patterns as stating
import subordinate_patterns as subordinate
from sentences import Pattern

PATTERNS: dict[str, tuple[Pattern, float]] = {
    "statement": (stating.statement, 12),
    "intransitive": (stating.intransitive, 3.5),
    "dative": (stating.dative, 5),
    "prepositional": (stating.prepositional, 4),
    "negation": (stating.negation, 6),
    "modal": (stating.modal, 7),
    "damals": (stating.damals, 3),
    "movement": (stating.movement, 5),
    "living": (stating.living, 1.5),
    "being somewhere": (stating.being_somewhere, 2.5),
    "lying": (stating.lying, 3),
    "putting": (stating.putting, 2.5),
    "state": (describing.state, 2),
    "quality": (describing.quality, 2),
    "comparison": (describing.comparison, 2),
    "people compared": (describing.people_compared, 0.7),
    "belonging": (describing.belonging, 2),
    "liking": (describing.liking, 2.5),
    "gladly": (stating.gladly, 2),
    "there is": (describing.there_is, 1.5),
    "profession": (describing.profession, 1.5),
    "passive": (describing.passive, 1),
    "yes-no question": (asking.yes_no, 6),
    "what": (asking.what, 2),
    "whom": (asking.whom, 2),
    "who": (asking.who, 3),
    "which": (asking.which, 2),
    "where": (asking.where, 2),
    "when and why": (asking.when_and_why, 3),
    "polite request": (asking.polite_request, 1.5),
    "imperative": (asking.imperative, 2),
    "price": (describing.price, 1),
    "age": (describing.age, 0.5),
    "at the clock": (clocks.at_the_clock, 2),
    "time now": (clocks.time_now, 0.5),
    "greeting": (clocks.greeting, 0.5),
    "greeting with name": (clocks.greeting_with_name, 0.7),
    "weil": (subordinate.weil, 6),
    "dass ... weil": (subordinate.dass_weil, 3),
    "obwohl": (subordinate.obwohl, 5),
    "dass": (subordinate.dass, 7),
    "indirect question": (subordinate.indirect_question, 5),
    "wenn": (subordinate.wenn, 6),
    "als": (subordinate.als, 5),
    "bevor": (subordinate.bevor, 3.5),
    "relative subject": (combined.relative_subject, 5),
    "relative object": (combined.relative_object, 5),
    "relative dative": (combined.relative_dative, 3.5),
    "knowing somebody": (combined.knowing_somebody, 3.5),
    "versuchen": (combined.versuchen, 5),
    "um zu": (combined.um_zu, 5),
    "and, but": (combined.and_but, 6),
    "searching": (combined.searching, 4),
    "because of a quality": (subordinate.because_quality, 3),
}
