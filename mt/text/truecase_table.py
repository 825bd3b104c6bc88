"""The table of a truecaser: learnt from text, and as a file of a model folder.

A word counts where its case is informative: inside a sentence, in a line of no unusual style,
behind nothing but white space, a comma, an apostrophe, a hyphen or a digit.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from mt.errors import ModelFolderError
from mt.files import write_text
from mt.files.digests import blake2b_of_text
from mt.text.truecase import WORD, Style, Truecaser, lowered, style_of

FILE = "truecase.txt"
_FORMAT = 1
_INSIDE = re.compile(r"[\s,'’\-\d]+")
# Of lines: a style that more have is as usual. Capitals take many lines to be learnt, since they
# share hardly a token with other text.
_USUAL_SHARE: dict[Style, float] = {"capitals": 0.1, "capitalised": 0.02, "small": 0.02}
_LEAST_WORDS = 3  # of a line whose style counts
_MOST_FORMS = 300_000


def learn_truecaser(texts: Iterable[str], *, language: str) -> Truecaser | None:
    """Learn from normalised lines of a language; None from text without case."""
    forms: Counter[str] = Counter()
    styles: Counter[Style | None] = Counter()
    starts: Counter[bool] = Counter()
    for text in texts:
        matches = list(WORD.finditer(text))
        words = [match[0] for match in matches]
        style = style_of(words)
        if len(words) >= _LEAST_WORDS:
            styles[style] += 1
        if style is not None or not words:
            continue
        starts[words[0][0].isupper()] += 1
        forms.update(
            match[0]
            for last, match in pairwise(matches)
            if _INSIDE.fullmatch(text, last.end(), match.start())
        )
    usual = frozenset(
        style
        for style, count in styles.items()
        if style is not None and count > _USUAL_SHARE[style] * styles.total()
    )
    chosen, rare_are_capitals = _usual_forms(forms, language)
    if not chosen and not usual:
        return None
    return Truecaser(
        language=language,
        forms=chosen,
        starts_are_capitals=starts[True] > starts[False],
        rare_are_capitals=rare_are_capitals,
        usual=usual,
    )


def _usual_forms(counts: Counter[str], language: str) -> tuple[tuple[str, ...], bool]:
    """The usual form of each cased word, and whether most words that came once had a capital."""
    totals: Counter[str] = Counter()
    best: dict[str, tuple[int, str]] = {}  # by the word in small letters: the count, and the form
    for form, count in counts.items():
        small = lowered(form, language)
        if small == form and form.upper() == form:
            continue
        totals[small] += count
        best[small] = max(best.get(small, (0, "")), (count, form))
    once = [best[small][1] for small, total in totals.items() if total == 1]
    num_capitals = sum(form[0].isupper() for form in once)
    ordered = sorted(totals, key=lambda small: (-totals[small], small))[:_MOST_FORMS]
    return tuple(best[small][1] for small in ordered), 2 * num_capitals > len(once)


def merged(new: Truecaser | None, old: Truecaser | None) -> Truecaser | None:
    """What `new` knows, and the words that only `old` knows: that of a model after fine-tuning."""
    if new is None or old is None:
        return new or old
    known = {lowered(form, new.language) for form in new.forms}
    others = [form for form in old.forms if lowered(form, new.language) not in known]
    return Truecaser(
        language=new.language,
        forms=(*new.forms, *others)[:_MOST_FORMS],
        starts_are_capitals=new.starts_are_capitals,
        rare_are_capitals=new.rare_are_capitals,
        usual=new.usual | old.usual,
    )


def save_truecaser(truecaser: Truecaser, folder: Path) -> None:
    """Write `truecase.txt`: a line of JSON, then a form a line, frequent ones first."""
    body = "".join(f"{form}\n" for form in truecaser.forms)
    head = {
        "format": _FORMAT,
        "language": truecaser.language,
        "starts_are_capitals": truecaser.starts_are_capitals,
        "rare_are_capitals": truecaser.rare_are_capitals,
        "usual": sorted(truecaser.usual),
        "digest": blake2b_of_text(body),
    }
    write_text(folder / FILE, json.dumps(head, ensure_ascii=False) + "\n" + body)


def load_truecaser(folder: Path) -> Truecaser | None:
    """Read what `save_truecaser` wrote; None where there is none, as in folders of mt 0.1.

    Raises ModelFolderError, naming the file, when it is damaged or of a newer format.
    """
    path = folder / FILE
    try:
        head, _, body = path.read_text("utf-8").partition("\n")
        values = json.loads(head)
        if values["format"] > _FORMAT:
            raise ModelFolderError(
                f"{path} has format {values['format']}, this mt knows up to {_FORMAT}",
                hint="Install a newer mt",
            )
        if values["digest"] != blake2b_of_text(body):
            raise ValueError("its words are not those that were written")
        return Truecaser(
            language=str(values["language"]),
            forms=tuple(body.split("\n")[:-1]),
            starts_are_capitals=bool(values["starts_are_capitals"]),
            rare_are_capitals=bool(values["rare_are_capitals"]),
            usual=frozenset(values["usual"]),
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ModelFolderError(
            f"{path} is damaged: {error}",
            hint="Copy it again, or delete it: lines in capitals then stay as they are",
        ) from error
