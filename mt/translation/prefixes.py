"""Translations that begin as the user says: prefixes beside lines, and their tokens.

The pieces of a prefix are forced, and what follows them is free: behind `Ein Ma` both `nn` and a
new word may come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from mt.errors import DataError
from mt.model.reach import check_reach
from mt.search.sentence import NO_DEMANDS, Demands
from mt.text.tokenizer import Tokenizer


def with_prefixes(
    groups: Iterable[Sequence[str]],
    prefixes: Iterable[str] | None,
    *,
    name: str = "the prefixes",
) -> Iterator[tuple[Sequence[str], list[str] | None]]:
    """Each group of lines with as many prefixes, read as they are needed; without any, with None.

    Raises DataError, calling them `name`, as soon as there are fewer prefixes than lines, and at
    the end where there are more.
    """
    if prefixes is None:
        yield from ((group, None) for group in groups)
        return
    remaining = iter(prefixes)
    num_lines = 0
    for group in groups:
        taken = list(islice(remaining, len(group)))
        num_prefixes = num_lines + len(taken)
        num_lines += len(group)
        if num_prefixes < num_lines:
            raise unequal(f"{num_lines} lines, or more,", name, num_prefixes)
        yield group, taken
    num_over = sum(1 for _ in remaining)
    if num_over:
        raise unequal(f"{num_lines} lines", name, num_lines + num_over)


def unequal(lines: str, name: str, num_prefixes: int) -> DataError:
    """The refusal of a number of prefixes that is not that of the `lines`."""
    return DataError(
        f"unequal lengths: {lines} are to be translated, but {name} are {num_prefixes}",
        hint="Give a prefix for each line; an empty one asks for nothing",
    )


def prefix_demands(
    prefixes: Sequence[str],
    sources: Sequence[Sequence[int]],
    tokenizer: Tokenizer,
    *,
    first_line: int,
    longest: int | None,
    warn: Callable[[str], None],
) -> list[Demands]:
    """What each prefix asks for; a blank one nothing. `tokenizer` is that of the target.

    The lines that they belong to count from `first_line`. A prefix of a blank line, one that has no
    `sources`, has no effect and is warned of. `longest` is the number of rows of a table of learned
    positions, which hold the start symbol too (None: no table).

    Raises DataError, naming the line, for a prefix that goes beyond that table, or has characters
    that the tokenizer cannot spell.
    """
    found: list[Demands] = []
    for number, (prefix, source) in enumerate(zip(prefixes, sources, strict=True), first_line):
        if tokenizer.is_blank(prefix) or not source:
            found.append(NO_DEMANDS)
            if not tokenizer.is_blank(prefix):
                warn(f"line {number} is blank, and its prefix has no effect")
            continue
        tokens = tuple(tokenizer.encode(prefix))
        if tokenizer.decode(tokens) != tokenizer.normalise(prefix):
            raise DataError(
                f"line {number}: the prefix {prefix!r} has characters that the tokenizer of this "
                "model cannot spell"
            )
        what = f"the prefix of line {number}"
        check_reach(len(tokens), longest, what=what, hint="Give a shorter prefix")
        found.append(Demands(prefix=tokens))
    return found
