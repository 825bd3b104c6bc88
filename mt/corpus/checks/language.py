"""In which language a text is: the only module that imports py3langid, which ships its model."""

from __future__ import annotations

from functools import cache
from typing import Any

_LEAST_LENGTH = 40  # characters below which a guess is worth little
_LEAST_CONFIDENCE = 0.95
_ALL_OF_FIRST = 10_000  # texts of a side that are all looked at; then one in `one_in`


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def known_languages() -> frozenset[str]:
    """Codes of the languages that can be identified."""
    return frozenset(_identifier().labels)


class LanguageLabel:
    """Labels the texts of a side; "" for short ones, unsure ones, and those not looked at."""

    def __init__(self, *, one_in: int) -> None:
        """After the first 10,000 texts that are long enough, one in so many is looked at."""
        self._one_in = one_in
        self._num_seen = 0

    def __call__(self, text: str) -> str:
        """The code of the language of `text`, or ""."""
        if len(text) < _LEAST_LENGTH:
            return ""
        self._num_seen += 1
        if self._num_seen > _ALL_OF_FIRST and self._num_seen % self._one_in:
            return ""
        code, confidence = _identifier().classify(text)
        return str(code) if confidence >= _LEAST_CONFIDENCE else ""


def ranked_languages(text: str) -> list[tuple[str, float]]:
    """All languages that can be identified, each with its probability, the most probable first.

    However short the text is: of a word that several languages have it is a guess.
    """
    return [(str(code), float(value)) for code, value in _identifier().rank(text)]
