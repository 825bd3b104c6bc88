"""String catalogues of Xcode (.xcstrings): one JSON file with the texts of all languages.

Translations go where the target language has none; what is filled is marked `needs_review`.
Variations by number and device stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from mt.errors import DataError
from mt.formats.documents.codes import require_codes
from mt.formats.documents.json_spans import Path, Strings, Value
from mt.formats.documents.message import Message
from mt.formats.documents.splice import Edit
from mt.formats.documents.spliced import Filled, SplicedDocument
from mt.formats.documents.text_file import TextFile
from mt.formats.documents.unit import Content, Document, DocumentOptions, State, Unit
from mt.formats.documents.values import reason_against
from mt.formats.options import matching

VARIATIONS = "string with variations"
NOT_TRANSLATED = "shouldTranslate is false"
_FILLED = "translated"


def read_xcstrings(file: TextFile, values: Sequence[Value], options: DocumentOptions) -> Document:
    """Read a string catalogue; each string is a unit.

    Raises DataError where it is none, or where no target language is given.
    """
    if not options.target_language:
        raise DataError(f"{file.name}: no target language", hint="It holds those of all languages")
    root: object = json.loads(file.text)
    strings, source = _at(root, "strings"), _at(root, "sourceLanguage")
    if not isinstance(strings, dict) or not isinstance(source, str):
        raise DataError(f"{file.name}: no string catalogue: sourceLanguage or strings is missing")
    by_path = {value.path: value for value in values}
    writer = Strings(file.text)
    cells = []
    skipped: dict[str, int] = {}
    for key in strings:
        entry = _at(strings, key)
        localizations = _at(entry, "localizations")
        languages = list(localizations) if isinstance(localizations, dict) else []
        found = matching(options.target_language, languages)
        target = languages[found[0]] if found else options.target_language
        own = _at(localizations, source, "stringUnit", "value")
        text = own if isinstance(own, str) else key
        reason = reason_against(text)
        if _at(entry, "shouldTranslate") is False:
            reason = NOT_TRANSLATED
        elif any(_at(localizations, each, "variations") is not None for each in (source, target)):
            reason = VARIATIONS
        if reason:
            skipped[reason] = skipped.get(reason, 0) + 1
            continue
        held = _at(localizations, target, "stringUnit", "value")
        state = _at(localizations, target, "stringUnit", "state")
        cells.append(
            _String(
                file,
                writer,
                Message(text),
                Unit(
                    name=key,
                    source=Message(text).content,
                    target=Message(held).content if isinstance(held, str) and held else None,
                    state=_state(held, state),
                ),
                _Places(by_path, ("strings", key, "localizations", target, "stringUnit")),
            )
        )
    return SplicedDocument(file, cells, skipped)


def _state(held: object, state: object) -> State:
    if not isinstance(held, str) or not held.strip() or state == "new":
        return State.EMPTY
    return State.FILLED if state == _FILLED else State.DOUBTFUL


def _at(value: object, *keys: str) -> object:
    """What an object holds under keys, one inside the other; None where there is nothing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


class _Places:
    """Where a string unit is, or belongs."""

    def __init__(self, values: Mapping[Path, Value], path: Path) -> None:
        self.value, self.state = values.get((*path, "value")), values.get((*path, "state"))
        num = max(n for n in range(len(path) + 1) if (path[:n] in values) or n == 0)
        self.missing = [str(key) for key in path[num:]]
        """The keys of the objects that have to be made."""
        self.parent = values[path[:num]]
        self.depth = num + 1


class _String:
    """A string of the catalogue as a cell."""

    def __init__(
        self, file: TextFile, writer: Strings, message: Message, unit: Unit, places: _Places
    ) -> None:
        self.units = [unit]
        self._file = file
        self._writer = writer
        self._message = message
        self._places = places

    def check(self, index: int, target: Content) -> None:
        """Raise ValueError for codes that are not those of the source."""
        require_codes(self.units[index].source, target)

    def edits(self, filled: Mapping[int, Filled]) -> Iterable[Edit]:
        """The value and its state, with the objects around them where they are missing."""
        written = self._writer.written
        text = written(self._message.written({0: filled[0].target}))
        state = written("needs_review" if filled[0].marked else _FILLED)
        places = self._places
        if places.value and places.state:
            yield places.value.start, places.value.end, text
            yield places.state.start, places.state.end, state
            return
        depth, newline = places.depth, self._file.newline
        indents = [newline + "  " * (depth + i) for i in range(len(places.missing) + 1)]
        new = "".join(
            f"{indent}{written(key)} : {{"
            for indent, key in zip(indents, places.missing, strict=False)
        )
        new += f'{indents[-1]}"state" : {state},{indents[-1]}"value" : {text}'
        new += "".join(f"{indent}}}" for indent in indents[-2::-1])
        place = places.parent.end
        end = place
        while self._file.text[end].isspace():
            end += 1
        if self._file.text[end] == "}":
            yield place, end, new + newline + "  " * (depth - 1)
        else:
            yield place, place, f"{new},"
