"""Which verbs suit which tense, object and situation."""

from __future__ import annotations

from german import (
    PAST_TENSES,
)
from verbs import Verb


def listed(names: str) -> tuple[str, ...]:
    """The names in a string, one blank between them."""
    return tuple(names.split())


# Verbs whose objects are things in general ("Er mag Hunde."), or new ones ("Ich habe einen Hund.").
GENERIC_VERBS = ("mögen",)

INDEFINITE_VERBS = listed("haben brauchen mieten malen zeichnen bauen pflanzen")

# Verbs that one cannot well say of every day.
UNREPEATABLE = listed(
    "bauen verkaufen mieten stehlen pflanzen lösen planen ausziehen übersetzen lernen "
    "finden ankommen zurückkommen hinsetzen gratulieren beeilen treffen gewinnen bekommen "
    "probieren geben holen tragen vergessen"
)

CONSUMING = listed(
    "essen trinken kaufen bestellen schreiben lesen backen kochen holen bezahlen mitbringen "
    "schneiden probieren malen zeichnen geben schicken bringen leihen zeigen vorlesen "
    "erklären"
)

# Verbs with objects that one does not own yet.
ACQUIRING = ("kaufen", "bekommen", "bestellen", "mieten", "gewinnen")
PARTICLES = ("up", "on", "off", "along")

MANNER = {
    "schlafen": "gut = well",
    "singen": "laut = loudly",
    "lachen": "laut = loudly",
    "laufen": "schnell = fast",
    "arbeiten": "hart = hard",
    "warten": "lange = for a long time",
    "weinen": "leise = quietly",
    "aufstehen": "früh = early",
    "aufwachen": "früh = early",
    "ankommen": "spät = late",
    "zurückkommen": "spät = late",
}

# What one can well do or fail to do on any day; used where two clauses have to suit each other.
ACTIVITIES = listed(
    "lesen schreiben übersetzen kaufen besuchen treffen anrufen einladen kochen backen "
    "putzen aufräumen reparieren waschen helfen tanzen singen arbeiten schwimmen einkaufen "
    "warten abholen füttern malen fotografieren spielen sprechen zuhören fernsehen "
    "frühstücken essen trinken zeichnen hören"
)

DUTIES = listed("arbeiten einkaufen kochen putzen aufräumen schreiben helfen abholen backen")

# Verbs that go with "last summer" and "many years ago", not only with single days.
LASTING = listed(
    "kaufen verkaufen bauen mieten besuchen verlieren finden lernen arbeiten reparieren "
    "pflanzen malen übersetzen schreiben lesen treffen fotografieren helfen bekommen "
    "gewinnen leihen zeigen gehen fliegen reisen wohnen einladen zeichnen planen"
)

SEASONAL = ("fahren", "fliegen", "reisen", "schwimmen", "besuchen", "malen")

NEVER_PLANNED = listed(
    "denken träumen lachen weinen freuen folgen beschweren aufwachen einschlafen"
)


def usable(verb: Verb, tense: str) -> bool:
    """Whether the verb makes sense in the tense."""
    notes = verb.notes
    if verb.name in NEVER_PLANNED and tense not in ("present", "habit", *PAST_TENSES):
        return tense == "background"
    if "accident" in notes:
        return tense in ("past", "narrative")
    if "stative" in notes or verb.english.startswith("be "):
        return tense == "present" or (tense in ("past", "narrative") and "plain" in notes)
    if "event" in notes and tense in ("present", "background"):
        return False
    return not (tense == "habit" and verb.name in UNREPEATABLE)
