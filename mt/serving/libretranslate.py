"""The HTTP API of LibreTranslate, field by field, over plain text."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from mt.language_names import name_of
from mt.serving.call import Answer, Call, Route, json_answer
from mt.serving.documents import Documents
from mt.serving.fields import Fields, invalid, quoted
from mt.serving.lines import cut
from mt.serving.refusal import RefusalError
from mt.serving.request import Limits
from mt.serving.service import Candidates, Detected, Service, Wanted


@dataclass(frozen=True, kw_only=True)
class LibreTranslate:
    """The endpoints."""

    service: Service
    limits: Limits
    documents: Documents
    needs_key: bool

    def routes(self) -> list[Route]:
        """Where it answers."""
        return [
            Route(method="POST", path="/translate", endpoint=self.translate),
            Route(method="POST", path="/detect", endpoint=self.detect),
            Route(method="GET", path="/languages", endpoint=self.languages, is_open=True),
            Route(method="GET", path="/frontend/settings", endpoint=self.settings, is_open=True),
            Route(method="GET", path="/spec", endpoint=self.spec, is_open=True),
            Route(method="POST", path="/suggest", endpoint=self.suggest),
        ]

    async def translate(self, call: Call) -> Answer:
        """Translate one text or several."""
        fields = call.fields
        texts = self._texts(fields)
        source, target = fields.text("source"), self._code(fields.text("target"))
        self.documents.require_text(fields.text("format", "text"), "format")
        num_alternatives = fields.number("alternatives", 0, most=self.limits.alternatives)
        if source == "auto":
            detected = [self._detected(text, target) for text in texts]
            sources = [each.code if each.confidence else target for each in detected]
        else:
            detected = []
            sources = [self._code(source)] * len(texts)
        found = await self._translated(texts, sources, target, num_alternatives)
        answer: dict[str, object] = {"translatedText": [each[0] for each in found]}
        if detected:
            answer["detectedLanguage"] = [_record(each) for each in detected]
        if num_alternatives:
            answer["alternatives"] = [list(each[1:]) for each in found]
        if fields.is_several("q"):
            return json_answer(answer)
        return json_answer({name: each[0] for name, each in answer.items()})  # type: ignore[index]

    async def _translated(
        self, texts: Sequence[str], sources: Sequence[str], target: str, num_alternatives: int
    ) -> list[Candidates]:
        """The translations of texts in several languages, in order."""
        found: dict[int, Candidates] = {}
        for source in dict.fromkeys(sources):
            numbers = [number for number, each in enumerate(sources) if each == source]
            wanted = Wanted(
                texts=[cut(texts[number]) for number in numbers],
                source=source,
                target=target,
                num_alternatives=num_alternatives,
            )
            found.update(zip(numbers, await self.service.translate(wanted), strict=True))
        return [found[number] for number in range(len(texts))]

    def _detected(self, text: str, target: str) -> Detected:
        """The language of a text, of those that can be translated, or the target itself."""
        languages = self.service.models.languages
        among = [code for code in languages if target in languages[code]]
        found = self.service.detect(text, among)
        return found[0] if found else Detected(code=among[0], confidence=0.0)

    def _texts(self, fields: Fields) -> list[str]:
        texts = fields.texts("q", most=self.limits.texts)
        require_short(texts, self.limits)
        return texts

    def _code(self, wanted: str) -> str:
        code = self.service.models.code(wanted)
        if code is None:
            raise RefusalError(400, f"{quoted(wanted)} is not supported")
        return code

    async def detect(self, call: Call) -> Answer:
        """Tell in which language a text is."""
        (text, *others) = self._texts(call.fields) or [""]
        if others:
            raise invalid("the language of one text is told at a time")
        found = await asyncio.to_thread(self.service.detect, text, self.service.models.sources)
        return json_answer([_record(each) for each in found])

    async def languages(self, call: Call) -> Answer:
        """The languages, and into which each is translated."""
        return json_answer(
            [
                {"code": code, "name": name_of(code), "targets": list(targets)}
                for code, targets in self.service.models.languages.items()
            ]
        )

    async def settings(self, call: Call) -> Answer:
        """What a page of LibreTranslate's form asks for."""
        first = self.service.models.models[0]
        return json_answer(
            {
                "charLimit": self.limits.text_characters,
                "frontendTimeout": 500,
                "apiKeys": self.needs_key,
                "keyRequired": self.needs_key,
                "suggestions": False,
                "filesTranslation": self.documents.are_offered,
                "supportedFilesFormat": list(self.documents.formats),
                "language": {
                    "source": {"code": first.source, "name": name_of(first.source)},
                    "target": {"code": first.target, "name": name_of(first.target)},
                },
            }
        )

    async def spec(self, call: Call) -> Answer:
        """The API in the form of Swagger."""
        spec = resources.files("mt.serving") / "assets" / "spec.json"
        return Answer(body=spec.read_bytes())

    async def suggest(self, call: Call) -> Answer:
        """Raise RefusalError: nothing of what clients send is kept."""
        raise RefusalError(403, "Suggestions are disabled on this server")


def require_short(texts: Sequence[str], limits: Limits) -> None:
    """Raise RefusalError for a text with more characters than one may have."""
    longest = max(map(len, texts), default=0)
    if longest > limits.text_characters:
        raise invalid(f"request ({longest}) exceeds text limit ({limits.text_characters})")


def _record(detected: Detected) -> dict[str, object]:
    return {"confidence": detected.confidence, "language": detected.code}
