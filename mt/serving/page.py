"""The page at `/` and what it asks for: three files, and words that belong together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import resources
from typing import TYPE_CHECKING

from mt.model_folder.files import read_dev_pairs
from mt.serving.call import Answer, Call, Route, json_answer
from mt.serving.fields import invalid
from mt.serving.libretranslate import require_short
from mt.serving.lines import cut
from mt.serving.models import ServedModel
from mt.serving.request import Limits
from mt.serving.service import Service
from mt.tasks.engine import scorer_for
from mt.text.normalise import normalise
from mt.translation.flags import flags_of, usual_proportion

if TYPE_CHECKING:
    from mt.translation.scorer import Scorer

_LONGEST_ALIGNED = 1000  # characters of a line
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_FILES = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}


@dataclass(frozen=True, kw_only=True)
class Page:
    """The endpoints."""

    service: Service
    limits: Limits
    _aligners: dict[str, Aligner] = field(default_factory=dict)
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    def routes(self) -> list[Route]:
        """Where it answers."""
        files = [
            Route(
                method="GET", path=path, endpoint=partial(_file, name, content_type), is_open=True
            )
            for path, (name, content_type) in _FILES.items()
        ]
        return [*files, Route(method="POST", path="/mt/alignment", endpoint=self.align)]

    async def align(self, call: Call) -> Answer:
        """Which words of a text and of its translation belong together, line by line.

        Each line has its `source` and `target` words, `links` between them as pairs of numbers from
        0, and `flags`, signs that the translation may be wrong.
        """
        texts = [call.fields.text(name) for name in ("q", "translation")]
        require_short(texts, self.limits)
        sources, targets = (cut(text).lines for text in texts)
        if len(sources) != len(targets):
            raise invalid("the translation has other lines than the text")
        models = self.service.models
        codes = [models.code(call.fields.text(name)) for name in ("source", "target")]
        route = None if None in codes else models.route(str(codes[0]), str(codes[1]))
        if route is None or len(route) != 1:
            raise invalid("no model translates this pair by itself")
        pairs = list(zip(sources, targets, strict=True))
        async with self._one_at_a_time:
            lines = await asyncio.to_thread(self._aligner(route[0]).align, pairs)
        return json_answer({"lines": lines})

    def _aligner(self, model: ServedModel) -> Aligner:
        return self._aligners.setdefault(model.name, Aligner(model))


async def _file(name: str, content_type: str, call: Call) -> Answer:
    body = (resources.files("mt.serving") / "assets" / name).read_bytes()
    return Answer(body=body, content_type=content_type, headers=_HEADERS)


class Aligner:
    """Aligns words by the model that translates; its scorer is made when first asked for."""

    def __init__(self, model: ServedModel) -> None:
        self._model = model

    def align(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, object]]:
        """Words, links and flags of lines and their translations; of a long line no links."""
        short = [pair for pair in pairs if all(pair) and max(map(len, pair)) <= _LONGEST_ALIGNED]
        scored = self._scorer.score(short, with_alignment=True)
        links = {pair: each.scored.alignment for pair, each in zip(short, scored, strict=True)}
        return [
            {
                "source": normalise(source).split(" "),
                "target": normalise(target).split(" "),
                "links": [list(link) for link in links.get((source, target)) or ()],
                "flags": list(flags_of(source, target, usual=self._usual)),
            }
            for source, target in pairs
        ]

    @cached_property
    def _scorer(self) -> Scorer:
        return scorer_for(self._model.own(), self._model.folder)

    @cached_property
    def _usual(self) -> float:
        return usual_proportion(read_dev_pairs(self._model.folder))
