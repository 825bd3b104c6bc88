"""The HTTP API of DeepL, version 2, over plain text."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from mt.language_names import name_of
from mt.languages import base_code
from mt.serving.call import Answer, Call, Route, json_answer
from mt.serving.documents import Documents
from mt.serving.fields import Fields, invalid, quoted
from mt.serving.glossaries import Glossaries, StoredGlossary, entries_of
from mt.serving.libretranslate import require_short
from mt.serving.lines import CutText, cut, on_one_line
from mt.serving.refusal import RefusalError
from mt.serving.request import Limits
from mt.serving.service import Service, Terms, Wanted

_MOST_TEXTS = 50  # of one request, as DeepL has it
_UNLIMITED = 1_000_000_000_000  # DeepL's own number for it
_REGIONS = {"en": ("EN-GB", "EN-US"), "pt": ("PT-BR", "PT-PT")}
"""Languages whose targets clients of DeepL name with a region only."""


@dataclass(frozen=True, kw_only=True)
class DeepL:
    """The endpoints."""

    service: Service
    limits: Limits
    documents: Documents
    glossaries: Glossaries
    _used: Counter[str] = field(default_factory=Counter)
    """Characters by key, since the server began."""

    def routes(self) -> list[Route]:
        """Where it answers."""
        of_one = "/v2/glossaries/{number}"
        endpoints = [
            ("POST", "/v2/translate", self.translate),
            ("GET", "/v2/languages", self.languages),
            ("POST", "/v2/languages", self.languages),
            ("GET", "/v2/usage", self.usage),
            ("POST", "/v2/usage", self.usage),
            ("GET", "/v2/glossary-language-pairs", self.glossary_pairs),
            ("POST", "/v2/glossaries", self.create),
            ("GET", "/v2/glossaries", self.list_all),
            ("GET", of_one, self.show),
            ("DELETE", of_one, self.delete),
            ("GET", f"{of_one}/entries", self.entries),
        ]
        return [
            Route(method=method, path=path, endpoint=endpoint, api="deepl")
            for method, path, endpoint in endpoints
        ]

    async def translate(self, call: Call) -> Answer:
        """Translate one text or several."""
        fields = call.fields
        texts = fields.texts("text", most=min(_MOST_TEXTS, self.limits.texts))
        require_short(texts, self.limits)
        target = self._code(fields, "target_lang")
        self._require_offered(fields)
        cut_texts = _cut(texts, fields)
        sources = await self._sources(texts, target, fields)
        terms = self._terms(call, sources, target)
        found: dict[int, str] = {}
        for source in dict.fromkeys(sources):
            numbers = [number for number, each in enumerate(sources) if each == source]
            wanted = Wanted(
                texts=[cut_texts[number] for number in numbers],
                source=source,
                target=target,
                terms=terms,
            )
            candidates = await self.service.translate(wanted)
            found.update(zip(numbers, [each[0] for each in candidates], strict=True))
        self._used[call.key] += sum(map(len, texts))
        counts = fields.choice("show_billed_characters", "0", _FLAGS) in ("1", "true")
        return json_answer(
            {
                "translations": [
                    {
                        "detected_source_language": base_code(source).upper(),
                        "text": found[number],
                        **({"billed_characters": len(text)} if counts else {}),
                    }
                    for number, (source, text) in enumerate(zip(sources, texts, strict=True))
                ]
            }
        )

    async def _sources(self, texts: Sequence[str], target: str, fields: Fields) -> list[str]:
        """The language of each text: as it is given, or as it looks."""
        if fields.text("source_lang", ""):
            return [self._code(fields, "source_lang")] * len(texts)
        languages = self.service.models.languages
        among = [code for code in languages if target in languages[code]]
        detected = [await asyncio.to_thread(self.service.detect, text, among) for text in texts]
        return [found[0].code if found else target for found in detected]

    def _terms(self, call: Call, sources: Sequence[str], target: str) -> Terms | None:
        """The glossary that is asked for; raises RefusalError for one of other languages."""
        number = call.fields.text("glossary_id", "")
        if not number:
            return None
        if not call.fields.text("source_lang", ""):
            raise invalid("glossary_id needs source_lang")
        stored = self.glossaries.get(call.key, number)
        pair = base_code(sources[0] if sources else stored.source), base_code(target)
        if pair != (base_code(stored.source), base_code(stored.target)):
            raise invalid("the glossary is of other languages")
        return stored.terms

    def _require_offered(self, fields: Fields) -> None:
        """Raise RefusalError for what is asked for and not offered."""
        self.documents.require_text(fields.text("tag_handling", ""), "tag_handling")
        if fields.choice("formality", "default", _FORMALITY) in ("more", "less"):
            raise invalid("formality is not offered for this language")

    def _code(self, fields: Fields, name: str) -> str:
        wanted = fields.text(name)
        code = self.service.models.code(wanted)
        if code is None:
            raise RefusalError(400, f"Value for '{name}' not supported: {quoted(wanted)}")
        return code

    async def languages(self, call: Call) -> Answer:
        """The languages of sources, or of targets."""
        if call.fields.choice("type", "source", ("source", "target")) == "source":
            shown = [code.upper() for code in self.service.models.sources]
        else:
            shown = [
                each
                for code in self.service.models.targets
                for each in _REGIONS.get(code, (code.upper(),))
            ]
        return json_answer(
            [
                {"language": code, "name": name_of(code), "supports_formality": False}
                for code in shown
            ]
        )

    async def usage(self, call: Call) -> Answer:
        """The characters of a key since the server began, of as good as no limit."""
        return json_answer({"character_count": self._used[call.key], "character_limit": _UNLIMITED})

    async def glossary_pairs(self, call: Call) -> Answer:
        """The pairs for which glossaries can be used."""
        pairs = {
            (base_code(each.source), base_code(each.target)) for each in self.service.models.models
        }
        return json_answer(
            {
                "supported_languages": [
                    {"source_lang": source, "target_lang": target}
                    for source, target in sorted(pairs)
                ]
            }
        )

    async def create(self, call: Call) -> Answer:
        """Keep a glossary."""
        fields = call.fields
        source, target = self._code(fields, "source_lang"), self._code(fields, "target_lang")
        route = self.service.models.route(source, target)
        if route is None or len(route) != 1:
            raise invalid(f"no model translates {source} into {target} by itself")
        form = fields.choice("entries_format", "tsv", ("tsv", "csv"))
        entries = entries_of(fields.text("entries"), form)
        stored = self.glossaries.add(
            call.key, fields.text("name"), (base_code(source), base_code(target)), entries
        )
        return json_answer(stored.record(), status=201)

    async def list_all(self, call: Call) -> Answer:
        """The glossaries of a key."""
        records = [each.record() for each in self.glossaries.of(call.key)]
        return json_answer({"glossaries": records})

    async def show(self, call: Call) -> Answer:
        """One glossary without its entries."""
        return json_answer(self._glossary(call).record())

    async def entries(self, call: Call) -> Answer:
        """The entries of a glossary."""
        return Answer(
            body=self._glossary(call).as_tsv().encode("utf-8"),
            content_type="text/tab-separated-values; charset=utf-8",
        )

    async def delete(self, call: Call) -> Answer:
        """Forget a glossary."""
        self.glossaries.remove(call.key, call.arguments["number"])
        return Answer(body=b"", status=204)

    def _glossary(self, call: Call) -> StoredGlossary:
        return self.glossaries.get(call.key, call.arguments["number"])


_FLAGS = ("0", "1", "false", "true")
_FORMALITY = ("default", "more", "less", "prefer_more", "prefer_less")


def _cut(texts: Sequence[str], fields: Fields) -> list[CutText]:
    """Texts as lines; where line breaks are to mean nothing, as one."""
    way = fields.choice("split_sentences", "1", ("0", "1", "nonewlines"))
    return [cut(text) if way == "1" else on_one_line(text) for text in texts]
