"""Which pairs are left out of training, and why. A pair goes whole, and is counted and reported.

Reasons are the findings of `mt check`; `CorpusConfig.drop` says which of them count. Some show in a
pair itself, and such pairs are never stored; others show only when all of the corpus is known.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mt.config import CorpusConfig
from mt.corpus.checks.language import LanguageLabel
from mt.corpus.checks.outliers import LEAST_RATIO_LENGTH, Usual, UsualProportion
from mt.corpus.checks.sides import TEXT_CHECKS, has_serial_number, main_script
from mt.corpus.keys import KeyArray, KeyTable, keys_of
from mt.corpus.split import choose_held_out
from mt.errors import DataError
from mt.events import Listener, OriginRead, PairDropped
from mt.formats.pair import INVALID, Pair, Reader
from mt.numerals import numbers_differ

BLANK = "blank side"
TOO_LONG = "too long"
_WORDS = {"long": TOO_LONG, "ratio": "extreme ratio", "not_utf8": INVALID}
_KEPT = 0


def reason_of(finding: str) -> str:
    """The reason in words for a finding of `mt check`."""
    return _WORDS.get(finding, finding.replace("_", " "))


@dataclass(frozen=True, kw_only=True)
class TextRules:
    """What cleaning must know of text, given by the module that knows it."""

    normalise: Callable[[str], str]
    is_blank: Callable[[str], bool]


class Cleaner:
    """Reads a corpus once, and knows of each stored pair (by its row) whether it is kept."""

    def __init__(
        self,
        config: CorpusConfig,
        rules: TextRules,
        listener: Listener,
        *,
        groups: Sequence[int] = (),
        never_held_out: Sequence[int] = (),
    ) -> None:
        """`groups` are the numbers of the directions of corpora, one each; none: all are of one.

        What is usual, and what is held out, goes by direction. Nothing of the corpora
        `never_held_out` is held out.
        """
        self._never_held_out = never_held_out
        self.keys = KeyTable()
        self._config = config
        self.rules = rules
        self._listener = listener
        self._origins = array("H")
        self._reasons = array("B")
        self._names: list[str] = []
        self._codes: dict[str, int] = {"": _KEPT}
        self._num_read: Counter[int] = Counter()
        self._dropped: defaultdict[int, Counter[str]] = defaultdict(Counter)
        self._held_out: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        self._compares_loosely = any(
            name == "near_duplicate" or name.endswith("_loose") for name in config.drop
        )
        self._text_checks = [check for check in TEXT_CHECKS if check[0] in config.drop]
        self._groups = groups
        self._group = 0  # of the corpus that is being read
        self._proportions = [
            UsualProportion[int](factor=config.max_ratio, least_length=LEAST_RATIO_LENGTH)
            for _ in range(self._num_groups)
        ]
        labels: dict[str, Callable[[str], str]] = {
            "script": main_script,
            "language": LanguageLabel(one_in=1),
        }
        self._usual = [
            {
                f"{kind}_{side}": Usual[int](label)
                for kind, label in labels.items()
                for side in ("source", "target")
                if f"{kind}_{side}" in config.drop
            }
            for _ in range(self._num_groups)
        ]

    def pairs(self, readers: Iterable[Reader]) -> Iterator[Pair]:
        """Read all pairs and give those to be stored, row by row."""
        for origin, reader in enumerate(readers):
            self._names.append(reader.files[0])
            self._group = self._groups[origin] if self._groups else 0
            for pair in reader:
                self._num_read[origin] += 1
                reason = self._fault(pair)
                if reason:
                    self._dropped[origin][reason] += 1
                    self._report(pair, reason)
                    continue
                self._origins.append(origin)
                self._note(pair, row=len(self._reasons))
                yield pair
        for proportion, of_group in zip(self._proportions, self._usual, strict=True):
            for far in proportion.settle():
                self._drop_row(far[0], "ratio")
            for name, usual in of_group.items():
                for odd in usual.settle():
                    self._drop_row(odd[0], name)

    def drop_likenesses(self, unwanted: KeyTable) -> None:
        """Drop pairs that came before, and those that occur in `unwanted`, as settings say."""
        for name, keys in (
            ("duplicate", self.keys.pairs()),
            ("near_duplicate", self.keys.pairs(loose=True)),
        ):
            if name in self._config.drop:
                rows = np.flatnonzero(self.kept & (keys != 0))
                _, first = np.unique(keys[rows], return_index=True)
                self._drop_rows(np.delete(rows, first), name)
        for name in ("source", "target", "source_loose", "target_loose"):
            self._drop_overlap(name, unwanted.column(name), self.kept)
        if self._num_groups > 1:  # the same lines may be on the other side
            for mine, its in (("source", "target"), ("target", "source")):
                self._drop_overlap(mine, unwanted.column(its), self.kept)

    def hold_out(self, wanted: int) -> None:
        """Choose the held-out pairs, and drop those that overlap with them.

        Raises DataError when that would leave nothing to train on.
        """
        num_usable = int(self.kept.sum())
        candidates = self.kept
        if self._never_held_out:
            candidates &= ~np.isin(self.origins, self._never_held_out)
        if self._num_groups == 1:
            self._held_out = choose_held_out(self.keys, candidates, wanted)
            overlaps = [(name, name) for name in ("source_loose", "target", "target_loose")]
        else:
            groups = np.asarray(self._groups)[self.origins]
            self._held_out = np.zeros(len(self.keys), dtype=np.bool_)
            for group in range(self._num_groups):
                mine = candidates & (groups == group)
                self._held_out |= choose_held_out(
                    self.keys, mine, max(wanted // self._num_groups, 1)
                )
            names = ("source", "source_loose", "target", "target_loose")
            overlaps = [(name, name) for name in names]
            overlaps += [("source", "target"), ("target", "source")]
        for name, other in overlaps:
            keys = self.keys.column(other)
            self._drop_overlap(name, keys[self._held_out], self.kept & ~self._held_out)
        if num_usable and not self.for_training.any():
            raise DataError(
                f"a corpus of {num_usable} usable pairs leaves nothing to train on "
                "once a validation set is held out",
                hint="Give more pairs, or a validation set with --dev",
            )

    @property
    def _num_groups(self) -> int:
        return 1 + max(self._groups, default=0)

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Which rows are not dropped."""
        kept: NDArray[np.bool_] = np.asarray(self._reasons) == _KEPT
        return kept

    @property
    def held_out(self) -> NDArray[np.bool_]:
        """Which rows are held out for validation."""
        return self._held_out if len(self._held_out) else np.zeros(len(self.keys), np.bool_)

    @property
    def for_training(self) -> NDArray[np.bool_]:
        """Which rows are neither dropped nor held out."""
        return self.kept & ~self.held_out

    @property
    def origins(self) -> NDArray[np.uint16]:
        """The number of the corpus that each row comes from."""
        return np.asarray(self._origins)

    def report_row(self, pair: Pair, row: int) -> None:
        """Report the stored pair of a row that is dropped."""
        self._report(pair, list(self._codes)[self._reasons[row]])

    def drop_long(self, pair: Pair, row: int) -> None:
        """Drop the pair of a row for its length in tokens."""
        self._drop_row(row, "long")
        self.report_row(pair, row)

    def summary(self) -> tuple[OriginRead, ...]:
        """What was read, held out and dropped of each corpus."""
        num_held_out = Counter(self.origins[self.held_out].tolist())
        return tuple(
            OriginRead(
                name=name,
                num_read=self._num_read[origin],
                num_held_out=num_held_out[origin],
                dropped=dict(self._dropped[origin]),
            )
            for origin, name in enumerate(self._names)
        )

    def _fault(self, pair: Pair) -> str:
        """Why a pair is left out whatever the others hold; empty if it is not."""
        drop = self._config.drop
        if pair.fault:
            return pair.fault
        if self.rules.is_blank(pair.source) or self.rules.is_blank(pair.target):
            return BLANK
        if "copy" in drop and pair.source.strip() == pair.target.strip():
            return reason_of("copy")
        if "serial" in drop and any(map(has_serial_number, pair[:2])):
            return reason_of("serial")
        if "numbers_differ" in drop and numbers_differ(pair.source, pair.target):
            return reason_of("numbers_differ")
        for name, test in self._text_checks:
            if test(pair.source) or test(pair.target):
                return reason_of(name)
        return ""

    def _note(self, pair: Pair, row: int) -> None:
        """Gather of the pair of a new row what is compared with other pairs."""
        normalise, loose = self.rules.normalise, self._compares_loosely
        self.keys.append(keys_of(pair.source, pair.target, normalise, loose=loose))
        self._reasons.append(_KEPT)
        if "ratio" in self._config.drop:
            for far in self._proportions[self._group].add(row, pair.source, pair.target):
                self._drop_row(far[0], "ratio")
        for name, usual in self._usual[self._group].items():
            for odd in usual.add(row, pair.source if name.endswith("source") else pair.target):
                self._drop_row(odd[0], name)

    def _drop_overlap(self, name: str, keys: KeyArray, candidates: NDArray[np.bool_]) -> None:
        if f"overlap_{name}" in self._config.drop and len(keys):
            mine = self.keys.column(name)
            self._drop_rows(
                np.flatnonzero(candidates & (mine != 0) & np.isin(mine, keys)), f"overlap_{name}"
            )

    def _drop_rows(self, rows: NDArray[np.int64], finding: str) -> None:
        for row in rows.tolist():
            self._drop_row(row, finding)

    def _drop_row(self, row: int, finding: str) -> None:
        if self._reasons[row] == _KEPT:
            reason = reason_of(finding)
            self._reasons[row] = self._codes.setdefault(reason, len(self._codes))
            self._dropped[self._origins[row]][reason] += 1

    def _report(self, pair: Pair, reason: str) -> None:
        self._listener(
            PairDropped(
                origin=pair.origin,
                line=pair.line,
                reason=reason,
                source=pair.source,
                target=pair.target,
            )
        )
