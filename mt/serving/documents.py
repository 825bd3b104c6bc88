"""Documents and markup, which this server does not translate: who asks is told so.

Everything that a document engine would serve goes through here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mt.serving.call import Answer, Api, Call, Route
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
        endpoints: tuple[tuple[str, str, Api], ...] = (
            ("POST", "/translate_file", "libretranslate"),
            ("GET", "/download_file/{name}", "libretranslate"),
            ("POST", "/v2/document", "deepl"),
            ("POST", "/v2/document/{name}", "deepl"),
            ("POST", "/v2/document/{name}/result", "deepl"),
        )
        return [
            Route(
                method=method,
                path=path,
                endpoint=self.refuse,
                api=api,
                is_open=True,
                reads_body=False,
            )
            for method, path, api in endpoints
        ]
