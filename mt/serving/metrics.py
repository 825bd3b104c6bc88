"""What the server counts, for Prometheus; the only module that imports its client library."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
disable_created_metrics()  # type: ignore[no-untyped-call]
_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60)
_LINES = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics:
    """Counts by endpoint, status and language; no text and no client is in them."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._requests = Counter(
            "mt_requests", "Requests answered", ["endpoint", "status"], registry=registry
        )
        self._seconds = Histogram(
            "mt_request_seconds",
            "From the first byte to the answer",
            ["endpoint"],
            buckets=_SECONDS,
            registry=registry,
        )
        self._characters = Counter(
            "mt_characters", "Characters translated", ["source", "target"], registry=registry
        )
        self._lines = Histogram(
            "mt_batch_lines", "Lines translated together", buckets=_LINES, registry=registry
        )
        self._batch_seconds = Counter(
            "mt_batch_seconds", "Seconds that workers translated", registry=registry
        )
        self._failed = Counter("mt_failed_lines", "Lines that failed", registry=registry)
        self._dropped = Counter(
            "mt_dropped_lines", "Lines whose client had left", registry=registry
        )
        self._cached = Counter(
            "mt_cached_lines", "Lines looked up in the cache", ["found"], registry=registry
        )
        self._waiting_lines = Gauge("mt_waiting_lines", "Lines that wait", registry=registry)
        self._waiting_characters = Gauge(
            "mt_waiting_characters", "Characters that wait", registry=registry
        )

    def watch_queue(self, lines: Callable[[], int], characters: Callable[[], int]) -> None:
        """Ask these when the metrics are asked for."""
        self._waiting_lines.set_function(lambda: float(lines()))
        self._waiting_characters.set_function(lambda: float(characters()))

    def answered(self, endpoint: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(endpoint, str(status)).inc()
        self._seconds.labels(endpoint).observe(seconds)

    def wanted(self, source: str, target: str, characters: int) -> None:
        """Count characters of a pair of languages that are served."""
        self._characters.labels(source, target).inc(characters)

    def translated(self, num_lines: int, seconds: float) -> None:
        """Count a batch."""
        self._lines.observe(num_lines)
        self._batch_seconds.inc(seconds)

    def looked_up(self, found: int, missing: int) -> None:
        """Count lines that the cache was asked for."""
        self._cached.labels("yes").inc(found)
        self._cached.labels("no").inc(missing)

    def failed(self) -> None:
        """Count a line that could not be translated."""
        self._failed.inc()

    def dropped(self, num_lines: int) -> None:
        """Count lines that nobody waited for any more."""
        self._dropped.inc(num_lines)

    def text(self) -> str:
        """All of it in the text format of Prometheus."""
        return generate_latest(self._registry).decode("utf-8")
