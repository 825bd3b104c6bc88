"""What those who run the server ask: whether it lives, whether it takes requests, its numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mt.serving.call import Answer, Call, Route, json_answer
from mt.serving.metrics import CONTENT_TYPE, Metrics
from mt.serving.service import Service


@dataclass(frozen=True, kw_only=True)
class Operation:
    """The endpoints."""

    service: Service
    metrics: Metrics
    is_ending: Callable[[], bool]

    def routes(self) -> list[Route]:
        """Where it answers; the metrics need a key where there are keys."""
        return [
            Route(method="GET", path="/health", endpoint=self.health, is_open=True),
            Route(method="GET", path="/ready", endpoint=self.ready, is_open=True),
            Route(method="GET", path="/metrics", endpoint=self.counts),
        ]

    async def health(self, call: Call) -> Answer:
        """It lives."""
        return json_answer({"status": "ok"})

    async def ready(self, call: Call) -> Answer:
        """Whether a request would be taken now."""
        if self.is_ending():
            return json_answer({"status": "ending"}, status=503)
        if not self.service.has_room:
            return json_answer({"status": "full"}, status=503)
        return json_answer({"status": "ready"})

    async def counts(self, call: Call) -> Answer:
        """All metrics."""
        return Answer(body=self.metrics.text().encode("utf-8"), content_type=CONTENT_TYPE)
