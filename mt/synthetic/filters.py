"""Which translations are not given to a model to learn from, and why."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mt.config import Config
from mt.config.filters import FilterConfig
from mt.corpus.checks.language import LanguageLabel, known_languages
from mt.languages import base_code, is_same_language
from mt.synthetic.made import Made
from mt.text.normalise import is_blank
from mt.translation.flags import flags_of, usual_proportion

EMPTY, IMPOSSIBLE, LOW_SCORE, LANGUAGE = "empty", "impossible", "low_score", "language"


class Filters:
    """Says of each translation of a model which flags it has, and why it is left out."""

    def __init__(
        self, settings: FilterConfig, model: Config, examples: Sequence[tuple[str, str]]
    ) -> None:
        """`model` are the settings of the model, `examples` pairs by which lengths are judged."""
        self._settings = settings
        self._of_symbols = model.tokenizer.takes_symbols
        self._usual = usual_proportion(examples)
        looks = LANGUAGE in settings.drop and not self._of_symbols
        known = known_languages() if looks else frozenset()
        languages = model.source_language, model.target_language
        self._expected = [each if base_code(each) in known else "" for each in languages]
        self._label = LanguageLabel(one_in=1)

    def flags(self, source: str, made: Made) -> tuple[str, ...]:
        """What is conspicuous about a translation; of symbols only whether it was ended."""
        if self._of_symbols:
            return ("truncated",) if made.hit_limit else ()
        return flags_of(source, made.text, hit_limit=made.hit_limit, usual=self._usual)

    def reason(self, source: str, made: Made, flags: Sequence[str]) -> str:
        """Why the translation is left out; empty if it is not."""
        if is_blank(made.text):
            return EMPTY
        if made.score == -math.inf:
            return IMPOSSIBLE
        least = self._settings.min_score
        if least is not None and made.score < least:
            return LOW_SCORE
        for name in flags:
            if name in self._settings.drop:
                return name
        sides = zip((source, made.text), self._expected, strict=True)
        return LANGUAGE if any(self._is_other(text, wanted) for text, wanted in sides) else ""

    def _is_other(self, text: str, expected: str) -> bool:
        """Whether a text is surely not in the language that is expected, if one is."""
        found = self._label(text) if expected else ""
        return bool(found) and not is_same_language(found, expected)
