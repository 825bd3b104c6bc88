"""Scoring: what a model says of translations that are given to it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path

from mt.events import Listener, Notice
from mt.model.device import set_threads
from mt.tasks.line_summary import DoubtCounts, LineSummary
from mt.tasks.requests import ScoreRequest, SearchOverrides
from mt.tasks.translate import search_settings
from mt.translation.scorer import ScoredPair, Scorer


class Scoring:
    """A loaded model that scores pairs as they come, and sums up what is worth knowing."""

    def __init__(self, request: ScoreRequest, listener: Listener) -> None:
        """Load the model; raises MtError for a request, a folder or a device at fault."""
        overrides = SearchOverrides(length_penalty=request.length_penalty, alpha=request.alpha)
        search = search_settings(Path(request.model), overrides)
        set_threads(request.threads)
        self._listener = listener
        self._summary = LineSummary(listener)
        self.scorer = Scorer.load(
            Path(request.model),
            *map(Path, request.others),
            to=request.to,
            search=search,
            device=request.device,
            precision=request.precision,
            batch_size=request.batch_size,
            keep_case=request.keep_case,
            listener=self._summary,
        )
        of_symbols = self.scorer.config.tokenizer.takes_symbols
        self._doubts = DoubtCounts(of_symbols=of_symbols, are_given=True)
        self._num_impossible = 0

    def score(
        self, pairs: Iterable[tuple[str, str]], *, with_alignment: bool = False
    ) -> Iterator[ScoredPair]:
        """Score pairs one for one, in order."""
        for scored in self.scorer.score(pairs, with_alignment=with_alignment):
            self._doubts.add_pair(scored.source, scored.target)
            self._num_impossible += scored.scored.score == -math.inf
            yield scored

    def report(self) -> None:
        """Report what was conspicuous about all pairs.

        Raises DataError for pairs that could not be scored.
        """
        self._summary.report()
        self._doubts.report(self._listener)
        if self._num_impossible:
            text = (
                f"{self._num_impossible} blank lines have a target with text: their score is -inf"
            )
            self._listener(Notice(text=text, is_warning=True))
        self._summary.require_all_done()
