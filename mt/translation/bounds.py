"""Lengths that a model, or several together, can take, and those that they are good for."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from mt.config import Config, SearchConfig
from mt.events import Listener, Notice
from mt.model.reach import check_reach
from mt.translation.long_lines import longest_good, trained_length

MOST_TOKENS = 8192
"""Tokens of a side that are computed together at most.

Attention over n tokens holds n * n numbers a head: at 8,192 tokens and 8 heads 2 GiB, several times
over. A line of 400,000 characters would ask for 320 GB, and take with it the lines beside it.
"""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What bounds the lines that some models translate together."""

    longest: int | None
    """The longest sequence that all can take: the smallest table of learned positions."""
    longest_good: int
    """Most source tokens, the end symbol not counted, that all are good for."""
    trained_length: int
    """The source length, without the end symbol, to which the training of all went."""

    @staticmethod
    def of(configs: Sequence[Config]) -> Bounds:
        """Those of models with these settings."""
        tables = [_table(config) for config in configs]
        return Bounds(
            longest=min((table for table in tables if table is not None), default=None),
            longest_good=min(map(longest_good, configs, tables)),
            trained_length=min(map(trained_length, configs)),
        )

    def bounded(self, search: SearchConfig) -> SearchConfig:
        """`search` with hypotheses that a table of learned positions can hold, the start too."""
        if self.longest is None:
            return search
        bound = self.longest - 1
        if search.max_length is not None:
            bound = min(search.max_length, bound)
        return dataclasses.replace(search, max_length=max(bound, 1))

    def check_reach(self, num_tokens: int, line: int) -> None:
        """Raise DataError, naming the line, beyond a table of learned positions."""
        hint = "Split the line into sentences"
        check_reach(num_tokens, self.longest, what=f"line {line}", hint=hint)

    def check_length(self, num_tokens: int, line: int, listener: Listener) -> None:
        """Warn of a source that is longer than in training.

        Raises DataError, naming the line, for one that goes beyond a table of learned positions.
        """
        self.check_reach(num_tokens, line)
        if num_tokens > self.trained_length:
            text = (
                f"line {line}: {num_tokens} tokens, longer than what training went to "
                f"({self.trained_length}); it is translated whole, but perhaps badly"
            )
            listener(Notice(text=text, is_warning=True))


def _table(config: Config) -> int | None:
    """Rows of a table of learned positions, where a model has one."""
    return config.model.max_positions if config.model.positions == "learned" else None
