"""What XLIFF, and the tools that write it, say of how far a translation is."""

from __future__ import annotations

from mt.formats.xml import Element, attribute, children, local_name

UNTRANSLATED = "marked as not translated"
UNCONFIRMED = "not confirmed"
"""The fault of a translation that is a draft, was rejected, or that no one has confirmed."""

OPEN = frozenset({"new", "needs-translation", "initial"})
_BY_MACHINE = frozenset({"mt-suggestion", "leveraged-mt", "tm-suggestion", "fuzzy-match"})
SDL_APPROVED = frozenset({"ApprovedTranslation", "ApprovedSignOff"})
_SDL_DONE = frozenset({"Translated"}) | SDL_APPROVED
_MEMOQ_DONE = frozenset(
    {"ManuallyConfirmed", "Proofread", "Reviewer1Confirmed", "Reviewer2Confirmed"}
)


def fault_of_unit(unit: Element, target: Element) -> str:
    """The fault that a unit of version 1.2 and its target have by what is said of them."""
    if target.get("state") in OPEN:
        return UNTRANSLATED
    qualifier = target.get("state-qualifier", "")
    if qualifier in _BY_MACHINE or qualifier.startswith("rejected-"):
        return UNCONFIRMED
    if attribute(unit, "confirmed") == "0":  # Memsource, Phrase
        return UNCONFIRMED
    status = _of_memoq(unit)
    return UNCONFIRMED if status and status not in _MEMOQ_DONE else ""


def _of_memoq(unit: Element) -> str:
    return next(
        (value for key, value in unit.attrib.items() if "memoq" in key and key.endswith("}status")),
        "",
    )


def confirmations(unit: Element) -> dict[str, str]:
    """The faults of segments by their numbers, as Trados says (sdl:seg-defs)."""
    return {
        number: "" if segment.get("conf") in _SDL_DONE else UNCONFIRMED
        for number, segment in segment_definitions(unit).items()
    }


def segment_definitions(unit: Element) -> dict[str, Element]:
    """What Trados says of segments, by their numbers."""
    return {
        segment.get("id", ""): segment
        for definitions in children(unit, "seg-defs")
        for segment in definitions
        if local_name(segment) == "seg"
    }
