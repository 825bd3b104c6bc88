"""The elements and attributes of HTML, by what they mean to a translation."""

from __future__ import annotations

import re

from mt.formats.documents.embedded import words
from mt.formats.documents.html_tokens import Token

BLOCKS = words(
    "address article aside base blockquote body button caption center col colgroup datalist dd "
    "details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 "
    "h4 h5 h6 head header hgroup hr html label legend li link main menu meta nav noembed noframes "
    "noscript xmp "
    "ol optgroup option p pre search section select slot summary table tbody td template textarea "
    "tfoot th thead title tr ul"
)
"""Tags at which a unit ends; all others are codes within one."""

VOID = words("area base basefont br col embed frame hr img input link meta param source track wbr")
UNREAD = words("math script style svg iframe object canvas audio video ruby")
"""Elements that are one code with all that is in them."""

SPOKEN = words("code kbd samp var")
"""Elements that are one code, too, but whose text stands in the sentence."""

MOST_SPOKEN = 200  # tokens in one of them
UNREAD_BLOCKS = words("pre textarea xmp noembed noframes")
_ATTRIBUTES = words("title alt placeholder aria-label aria-description summary")
_OPTIONS = words("option optgroup track")
_DESCRIPTIONS = words(
    "description og:title og:description og:image:alt twitter:title twitter:description"
)
_BUTTONS = words("submit button reset")
SPACES = re.compile(r"[ \t\r\n\f]+")
_CHARSET = re.compile(
    rb"""<meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)|<\?xml[^>]*encoding\s*=\s*["']([\w.:-]+)""",
    re.I,
)
_LATIN = frozenset({"iso-8859-1", "latin1", "latin-1", "us-ascii", "ascii"})
LANGUAGES = ("lang", "xml:lang")
PREFORMATTED = "preformatted"
NAMED = {"\u00a0": "&nbsp;", "\u00ad": "&shy;"}


def declared_encoding(body: bytes) -> str:
    """The encoding that a page declares, as browsers understand it."""
    found = _CHARSET.search(body[:4096])
    if found is None:
        return "utf-8"
    name = (found[1] or found[2]).decode("ascii").lower()
    if name.replace("-", "") in ("utf16", "utf8", "utf16le", "utf16be"):
        return "utf-8"  # it could be read as single bytes
    return "cp1252" if name in _LATIN else name


def is_untranslated(token: Token) -> bool:
    """Whether a tag says that what is in its element stays."""
    return token.get("translate") == "no" or "notranslate" in token.get("class").split()


def names_of_texts(token: Token) -> list[str]:
    """Which attributes of a tag are text."""
    names = token.attributes.keys() & _ATTRIBUTES
    if token.name in _OPTIONS:
        names.add("label")
    if token.name == "input" and token.get("type").lower() in _BUTTONS:
        names.add("value")
    described = (token.get("name") or token.get("property")).lower()
    if token.name == "meta" and described in _DESCRIPTIONS:
        names.add("content")
    return [name for name in token.attributes if name in names]
