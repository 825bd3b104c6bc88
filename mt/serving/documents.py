"""Documents and markup, which this server does not translate: who asks is told so.

Everything that a document engine would serve goes through here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mt.serving.call import Answer, Call, Route
from mt.serving.refusal import RefusalError


@dataclass(frozen=True, kw_only=True)
class Documents:
    """What is offered beside plain text."""

    formats: Sequence[str] = ()
    """Endings of files that are translated, such as `.docx`."""

    @property
    def are_offered(self) -> bool:
        """Whether any file is translated."""
        return bool(self.formats)

    def require_text(self, markup: str, name: str) -> None:
        """Raise RefusalError for text with markup; `name` is the parameter that says so."""
        if markup not in ("", "text"):
            raise RefusalError(400, f"{name} {markup} is not offered here: only plain text is")

    async def refuse(self, call: Call) -> Answer:
        """Raise RefusalError for a file."""
        raise RefusalError(403, "Files are not translated here: only plain text is")

    def routes(self) -> list[Route]:
        """Where files are sent and fetched."""
        return [
            Route(method="POST", path="/translate_file", endpoint=self.refuse),
            Route(method="GET", path="/download_file/{name}", endpoint=self.refuse),
            Route(method="POST", path="/v2/document", endpoint=self.refuse, api="deepl"),
            Route(method="POST", path="/v2/document/{name}", endpoint=self.refuse, api="deepl"),
            Route(
                method="POST", path="/v2/document/{name}/result", endpoint=self.refuse, api="deepl"
            ),
        ]
