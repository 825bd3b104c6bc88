"""One pass over a corpus, with every check."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable

from mt.corpus.checks.alignment import alignment_break
from mt.corpus.checks.finding import KINDS, CheckReport, Finding
from mt.corpus.checks.language import LanguageLabel, known_languages
from mt.corpus.checks.outliers import LEAST_RATIO_LENGTH, Usual, UsualProportion
from mt.corpus.checks.overlap import Overlap
from mt.corpus.checks.sides import (
    ANY_TEXT,
    ODD_CHARACTERS,
    has_serial_number,
    main_script,
)
from mt.corpus.keys import keys_of
from mt.errors import DataError
from mt.formats.pair import Pair, Reader
from mt.languages import base_code, is_same_language
from mt.numerals import numbers_differ

_LONG_WORDS = 200
_FAR_RATIO = 4.0  # of the usual proportion of the sides, in characters
_SERIAL_SHARE = 0.2  # of the lines of a side, from which serial numbers are no accident
_SERIAL_LEAST = 20


def examine(
    readers: Iterable[Reader],
    *,
    against: Iterable[Reader] = (),
    normalise: Callable[[str], str],
    is_blank: Callable[[str], bool],
    languages: tuple[str, str] = ("", ""),
) -> CheckReport:
    """Read a corpus once and report what is wrong with it.

    `languages` are the codes of source and target, where they are known. Memory holds some numbers
    for each pair, and the `against` corpora whole. A corpus that breaks off (unequal sides, a
    broken file) is reported up to there, with the break as a finding; trouble in reading `against`
    raises DataError.
    """
    doctor = _Doctor(Overlap(against, normalise), normalise, is_blank, languages)
    for reader in readers:
        doctor.read(reader)
    return doctor.report()


class _Doctor:
    """Gathers findings pair by pair."""

    def __init__(
        self,
        overlap: Overlap,
        normalise: Callable[[str], str],
        is_blank: Callable[[str], bool],
        languages: tuple[str, str],
    ) -> None:
        self._overlap = overlap
        self._normalise = normalise
        self._is_blank = is_blank
        self._findings: dict[str, Finding] = {}
        self._files: Counter[str] = Counter()
        self._exact: set[int] = set()
        self._loose: set[int] = set()
        self._serial = (Finding(id="serial"), Finding(id="serial"))
        self._languages = languages
        self._proportion = UsualProportion[str](factor=_FAR_RATIO, least_length=LEAST_RATIO_LENGTH)
        self._usual = {
            "script_source": Usual[str](main_script),
            "script_target": Usual[str](main_script),
            "language_source": Usual[str](LanguageLabel(one_in=10)),
            "language_target": Usual[str](LanguageLabel(one_in=10)),
        }

    def read(self, reader: Reader) -> None:
        """Examine the pairs of a reader."""
        source_lengths, target_lengths = array("l"), array("l")
        try:
            for pair in reader:
                self._files[pair.origin] += 1
                source_lengths.append(len(pair.source))
                target_lengths.append(len(pair.target))
                self._examine(pair)
        except DataError as error:
            # The location says which file it is; its name need not be said again.
            reason = str(error)
            for name in sorted({reader.name, *reader.files}, key=len, reverse=True):
                reason = reason.removeprefix(name).removeprefix(": ")
            self._findings.setdefault("unreadable", Finding(id="unreadable")).add(
                reader.name, reason.removeprefix(":"), is_whole=True
            )
        else:
            if not source_lengths:
                self._note("empty", reader.name, "no pair was read")
        line = alignment_break(source_lengths, target_lengths)
        if line is not None:
            self._note("misaligned", f"{reader.name}:{line}", "about here")

    def report(self) -> CheckReport:
        """What was found."""
        self._settle_usual()
        num_pairs = self._files.total()
        for finding in self._serial:
            if finding.count >= max(_SERIAL_SHARE * num_pairs, _SERIAL_LEAST):
                for example in finding.examples:
                    self._note("serial", example.place, example.text)
                self._findings["serial"].count += finding.count - len(finding.examples)
        findings = [*self._overlap.findings(), *self._findings.values()]
        order = list(KINDS)
        findings.sort(key=lambda finding: order.index(finding.id))
        return CheckReport(num_pairs=num_pairs, files=dict(self._files), findings=findings)

    def _examine(self, pair: Pair) -> None:
        location = f"{pair.origin}:{pair.line}"
        if pair.fault:
            self._note(pair.fault.lower().replace(" ", "_").replace("-", ""), location, pair.source)
            return
        if self._is_blank(pair.source) or self._is_blank(pair.target):
            self._note("blank", location, f"{pair.source} | {pair.target}")
            return
        for side, serial in zip(("source", "target"), self._serial, strict=True):
            text = pair.source if side == "source" else pair.target
            self._examine_side(text, f"{location} ({side})")
            if has_serial_number(text):
                serial.add(f"{location} ({side})", text)
        self._examine_lengths(pair, location)
        self._examine_likeness(pair, location)
        for name, usual in self._usual.items():
            text = pair.source if name.endswith("source") else pair.target
            for odd in usual.add(location, text):
                self._note(name, *odd)

    def _examine_side(self, text: str, location: str) -> None:
        is_plain = text.isascii() and text.isprintable()
        for name, test in ANY_TEXT if is_plain else (*ODD_CHARACTERS, *ANY_TEXT):
            if test(text):
                self._note(name, location, text)

    def _examine_lengths(self, pair: Pair, location: str) -> None:
        longer = max(len(pair.source), len(pair.target))
        if longer > _LONG_WORDS and max(map(_num_words, (pair.source, pair.target))) > _LONG_WORDS:
            self._note("long", location, pair.source)
        for far in self._proportion.add(location, pair.source, pair.target):
            self._note("ratio", *far)

    def _examine_likeness(self, pair: Pair, location: str) -> None:
        if pair.source.strip() == pair.target.strip():
            self._note("copy", location, pair.source)
        # A number that is stuck to one side is reported as such.
        if not any(map(has_serial_number, pair[:2])) and numbers_differ(pair.source, pair.target):
            self._note("numbers_differ", location, f"{pair.source} | {pair.target}")
        keys = keys_of(pair.source, pair.target, self._normalise)
        self._overlap.add(pair, keys)
        exact, loose = hash(keys[:2]), hash(keys[2:])
        if exact in self._exact:
            self._note("duplicate", location, pair.source)
        elif all(keys[2:]) and loose in self._loose:
            self._note("near_duplicate", location, pair.source)
        self._exact.add(exact)
        self._loose.add(loose)

    def _settle_usual(self) -> None:
        """Settle what was not settled yet, and compare the languages with those asked for."""
        for far in self._proportion.settle():
            self._note("ratio", *far)
        for name, usual in self._usual.items():
            for location, text in usual.settle():
                self._note(name, location, text)
        for name, code in zip(("language_source", "language_target"), self._languages, strict=True):
            found = self._usual[name].usual
            expected = base_code(code)
            is_known = any(is_same_language(expected, label) for label in known_languages())
            if found and is_known and not is_same_language(expected, found):
                side = name.removeprefix("language_")
                self._note("unexpected_language", side, f"most is {found}, not {expected}")

    def _note(self, name: str, location: str, text: str) -> None:
        self._findings.setdefault(name, Finding(id=name)).add(location, text)


def _num_words(text: str) -> int:
    return text.count(" ") + 1
