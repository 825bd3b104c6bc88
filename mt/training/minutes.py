"""How a budget in minutes is shared: updates, validations on the way, and the last validation.

All of it is wall-clock time from the first update on. What a validation takes is known from those
before it; so much is kept for the last one, on the whole set where that is a fair share of the
budget, else on its sample. Of a run without such a budget nothing here decides anything.
"""

from __future__ import annotations

from dataclasses import dataclass

from mt.training.progress import Progress

_MARGIN = 1.2  # what is kept for a validation, in predicted ones: other programs come and go
_UNKNOWN = 0.2  # share of the budget that is kept before any validation was made
_MOST_OF_ONE, _MOST_OF_ALL, _MOST_OF_LAST = 0.15, 0.25, 0.3
"""Shares of the budget that one validation on the way, all of these, and the last may take."""
_FIRST, _SECOND = 0.1, 0.6  # when validations are made for what they show of their cost
_OLD = 0.3  # when the last one is too long ago for that
_OVERRUN, _NEARLY = 1.04, 0.95


@dataclass(frozen=True, kw_only=True)
class MinutesPlan:
    """What fits in the rest of a budget, by the progress so far."""

    budget: float
    """Seconds."""
    progress: Progress

    def reserved(self, *, looks_first: bool) -> float:
        """Seconds that the last validation is to have."""
        if not self.progress.validated_update:
            return _UNKNOWN * self.budget
        whole, sample = self._whole(looks_first), self._sample(looks_first)
        most = _MOST_OF_LAST * self.budget  # a sample that takes more is cut
        return min(_MARGIN * (whole if whole <= most else sample), _MARGIN * most)

    def is_over(self, *, looks_first: bool) -> bool:
        """Whether it is time for the last validation, or that was made and little is left."""
        progress = self.progress
        is_validated = 0 < progress.update == progress.validated_update
        if is_validated and progress.seconds >= _NEARLY * self.budget:
            return True
        return progress.seconds + self.reserved(looks_first=looks_first) >= self.budget

    def allows(self, *, looks_first: bool) -> bool:
        """Whether a validation on the way leaves enough for updates and for the last one."""
        if not self.progress.validated_update:
            return True
        cost = self._on_the_way(looks_first)
        spent = self.progress.validation_seconds + cost
        end = self.progress.seconds + cost + self.reserved(looks_first=looks_first)
        return spent <= _MOST_OF_ALL * self.budget and end <= _NEARLY * self.budget

    def wants_to_know(self, *, looks_first: bool) -> bool:
        """Whether a validation is due for what it shows of the cost of the last one."""
        progress = self.progress
        if not progress.validated_update:
            return progress.seconds >= _FIRST * self.budget
        return (
            progress.validated_seconds < _OLD * self.budget
            and progress.seconds >= _SECOND * self.budget
            and self._on_the_way(looks_first) <= _MOST_OF_ONE * self.budget
            and self.allows(looks_first=looks_first)
        )

    def has_time(self, now: float, begun: float, seconds: float, *, is_last: bool) -> bool:
        """Whether a validation that began at `begun` may take so many seconds more.

        Both times are training seconds.
        """
        if is_last:
            return now + seconds <= _OVERRUN * self.budget
        return now - begun + seconds <= _MOST_OF_ONE * self.budget

    def _on_the_way(self, looks_first: bool) -> float:
        """What a validation is predicted to take that is cut to its sample where it is long."""
        most = max(self._sample(looks_first), _MOST_OF_ONE * self.budget)
        return min(self._whole(looks_first), most)

    def _sample(self, looks_first: bool) -> float:
        return self._before_search(looks_first) + self.progress.sample_seconds

    def _whole(self, looks_first: bool) -> float:
        return self._before_search(looks_first) + self.progress.whole_seconds

    def _before_search(self, looks_first: bool) -> float:
        look = self.progress.look_seconds if looks_first else 0.0
        return self.progress.loss_seconds + look
