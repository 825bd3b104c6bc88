"""Parts of a text that are not language and must come out as they are: placeholders.

What counts as one is said by regular expressions. The usual ones are those of programs and of the
web; they know nothing of a file format beyond the text itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from mt.errors import ConfigError

_TAG = r"</?[A-Za-z][\w:.-]*(?:\s[^<>]*)?/?>"
_USUAL = (
    r"(?:https?|ftp)://[^\s<>\"]*[^\s<>\"'.,;:!?)\]}]",  # addresses of the web
    r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+",  # of mail; linear in long words
    _TAG,
    r"\{\{[^{}]*\}\}|[$#%]?\{[^{}\s]*\}",  # {{name}}, {name}, {0:.2f}, ${name}, #{x}, %{x}
    r"\{%[^{}]*%\}|<%.*?%>",  # of templates
    # %s, %d, %5.2f, %1$s, %(name)s, %@, %-5d, %ld: the conversions of printf, but not "50 % der"
    r"(?<![\w%])%(?:\(\w+\)|\d+\$)?[-+#0']*(?:\d+|\*)?(?:\.(?:\d+|\*))?"
    r"(?:hh?|ll?|[zjtLq])?[@diouxXeEfFgGcrsapn](?!\w)",
    r"(?<![\w%])%L?\d{1,2}(?![\w%$]|[.,]\d)",  # %1, %L2: those of Qt
    r"%%|\$\$|\{\{|\}\}",  # what stands for a sign of a format itself
    # \n, \t, \", \u00e4: escapes of strings, but not C:\new
    r"(?<![A-Za-z]:)\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[abfnrtv0\\\"'])",
    r"&(?:[A-Za-z][A-Za-z0-9]{1,31}|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});",  # &amp; &#228;
    r"__\w+?__",  # __PH1__
)
USUAL_PLACEHOLDERS: tuple[re.Pattern[str], ...] = tuple(re.compile(each) for each in _USUAL)
"""Web and mail addresses, tags, and the placeholders and escapes of format strings."""
TAG = re.compile(_TAG)
"""A tag of XML or HTML."""
PLACEHOLDERS_IN_DOCUMENTS = tuple(
    re.compile(each)
    for each in (
        *(usual for usual in _USUAL if usual != _TAG),
        r"\{\s*[\w.-]+\s*(?:,\s*\w+\s*(?:,[^{}]*)?)?\}",  # { name }, {when, date, short}
        r"[$#%]\{[^{}]*\}",  # ${ name }
        r"%#@\w+@",  # of Apple's plurals
    )
)
"""The usual ones without tags, which markup is made of, and forms with spaces inside."""

_NAME_OF_USUAL = "default"


def parse_placeholders(expressions: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    """The patterns of regular expressions; `default` stands for the usual ones.

    Raises ConfigError for what is no regular expression, or matches the empty text.
    """
    patterns: list[re.Pattern[str]] = []
    for expression in expressions:
        if expression == _NAME_OF_USUAL:
            patterns += USUAL_PLACEHOLDERS
            continue
        try:
            pattern = re.compile(expression)
        except re.error as error:
            raise ConfigError(
                f"placeholders {expression!r} is not a regular expression: {error}"
            ) from error
        if pattern.search(""):
            raise ConfigError(f"placeholders {expression!r} matches the empty text")
        patterns.append(pattern)
    return tuple(patterns)


def literal_pattern(texts: Iterable[str]) -> re.Pattern[str] | None:
    """What finds texts as they are, of words no part of a longer one; None without texts."""
    longest_first = sorted({text for text in texts if text}, key=lambda text: (-len(text), text))
    if not longest_first:
        return None
    return re.compile("|".join(map(_literal, longest_first)))


def _literal(text: str) -> str:
    escaped = re.escape(text)
    return rf"(?<!\w){escaped}(?!\w)" if re.fullmatch(r"\w+", text) else escaped


def find_placeholders(text: str, patterns: Sequence[re.Pattern[str]]) -> Iterator[tuple[int, int]]:
    """The spans of placeholders, in order: of overlapping ones the first, then the longest."""
    spans = [match.span() for pattern in patterns for match in pattern.finditer(text)]
    last = 0
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= last and end > start:
            yield start, end
            last = end
