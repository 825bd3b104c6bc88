"""Which values of a catalogue or a configuration are text: by rules that look at one value."""

from __future__ import annotations

import re

NO_WORDS = "value without words"
ADDRESS = "address or path"
IDENTIFIER = "identifier"
BROKEN = "half of a surrogate pair"

_PLACEHOLDER = re.compile(
    r"\{\{.*?\}\}|\$\{[^{}]*\}|%?\{[^{}]*\}|%\(\w+\)[#0 +-]*\d*(?:\.\d+)?[a-zA-Z]|\$t\([^()]*\)"
    r"|%(?:\d+\$)?[#0 +-]*\d*(?:\.\d+)?(?:hh|h|ll|l|z|q|L)?[diouxXeEfgGaAcsSpn@]|\$[A-Z0-9_]+\$"
    r"|</?[A-Za-z0-9][^<>]*>|&\w+;"
)
_CHOICE = re.compile(r"\{\s*[\w.-]+\s*,\s*(?:plural|select|selectordinal)\s*,")
_ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://|mailto:|www\.|data:[a-z]+/)\S*"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?:\.{0,2}/)(?:[\w.@{}:-]+/?)*|(?:[\w.@-]+/)+[\w.@-]+\.\w{1,5}|[\w-]+\.(?:png|jpe?g|svg|gif|"
    r"webp|ico|css|js|ts|json|html?|xml|ya?ml|md|txt|pdf|woff2?|mp[34])",
    re.IGNORECASE,
)
_COLOUR = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})|(?:rgb|hsl)a?\([^()]*\)", re.I)
_IDENTIFIER = re.compile(
    r"[a-z0-9]+(?:[_.:][a-z0-9]+)+|[A-Z0-9]+(?:_[A-Z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+"
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|(?=[A-Za-z0-9+/=_-]*\d)(?=[A-Za-z0-9+/=_-]*[A-Z])(?=[A-Za-z0-9+/=_-]*[a-z])[\w+/=-]{24,}"
    r"|v?\d[\w.+-]*"
)
_LOOKED_AT = 2000  # characters


def reason_against(text: str) -> str:
    """Why a value is no text; empty if it is."""
    core = text.strip()[:_LOOKED_AT]
    if any("\ud800" <= each <= "\udfff" for each in text):
        return BROKEN
    if _COLOUR.fullmatch(core) or not any(map(str.isalpha, core)):
        return NO_WORDS
    if _ADDRESS.fullmatch(core):
        return ADDRESS
    if _IDENTIFIER.fullmatch(core):
        return IDENTIFIER
    if not _CHOICE.search(core) and not any(map(str.isalpha, _PLACEHOLDER.sub("", core))):
        return NO_WORDS
    return ""
