"""Work with a translator that needs no model: it writes each line in capitals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from mt.config import Config, SearchConfig
from mt.config.filters import FilterConfig
from mt.corpus.cleaning import TextRules
from mt.events import Event, ignore
from mt.synthetic.filters import Filters
from mt.synthetic.inputs import Inputs
from mt.synthetic.make import Translate, Work
from mt.text.normalise import is_blank, normalise
from mt.translation.translation import BLANK, TranslatedText, Translation

RULES = TextRules(normalise=normalise, is_blank=is_blank)


def candidate(text: str, *, score: float = -0.5, hit_limit: bool = False) -> TranslatedText:
    return TranslatedText(text=text, score=score, tokens=(7, 8, 9), hit_limit=hit_limit)


def shouted(line: str) -> Translation:
    return Translation(source=line, hypotheses=(candidate(line.upper()),))


@dataclass
class Shouting:
    """Translates by `rule`, and remembers what it was given."""

    rule: Callable[[str], Translation] = shouted
    seen: list[tuple[int, str]] = field(default_factory=list)
    fails_at: str = ""
    num_loaded: int = 0

    def load(self) -> Translate:
        self.num_loaded += 1
        return self.translate

    def translate(self, lines: Sequence[str], number: int) -> list[Translation]:
        if self.fails_at in lines:
            raise KeyboardInterrupt
        self.seen += enumerate(lines, start=number)
        return [self.rule(line) for line in lines]


def work(
    output: Path,
    *paths: Path,
    shouting: Shouting | None = None,
    filters: FilterConfig | None = None,
    key: str = "key",
    is_backwards: bool = True,
    rejected: Callable[[Event], None] = ignore,
) -> Work:
    settings = filters or FilterConfig(drop=())
    return Work(
        output=output,
        inputs=Inputs(readers=(), paths=paths),
        is_backwards=is_backwards,
        rules=RULES,
        search=SearchConfig(length_penalty="none"),
        key=key,
        filters=lambda: Filters(settings, Config(), []),
        filter_key=repr(settings),
        translator=(shouting or Shouting()).load,
        rejected=lambda: nullcontext(rejected),
        models=("model",),
        command="mt backtranslate",
    )


__all__ = ["BLANK", "RULES", "Shouting", "candidate", "shouted", "work"]
