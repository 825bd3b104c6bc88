"""From lines to a file of pairs, translated block by block; a kill costs the block in hand at most.

    FILE.work/journal    translations so far, sealed block by block; gone when the file is there
    FILE                 the pairs, there when all lines are done
    FILE.summary.json    what they came from, and what became of every line

Blocks have the same lines in every run, so that the file is the same whatever ended the work in
between. How text is translated is not known here.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from mt.config import SearchConfig
from mt.corpus.cleaning import TextRules
from mt.corpus.keys import key_of
from mt.errors import ConfigError, DataError
from mt.events import LinesTranslated, Listener, Notice, PairDropped, StageStarted
from mt.files import clean, written_file
from mt.files.digests import blake2b, blake2b_of_text, blocks_of_file
from mt.files.folder_lock import folder_lock
from mt.files.journal import Journal
from mt.files.target import FileTarget
from mt.synthetic.account import Account, Summary, summary_file
from mt.synthetic.filters import Filters
from mt.synthetic.inputs import REPEATED, InputLine, Inputs, Survey, changed, survey
from mt.synthetic.made import (
    NOTHING,
    TOO_LONG,
    Made,
    MadeLine,
    from_block,
    made_line,
    to_block,
)
from mt.synthetic.pair_file import MadePair, form_of
from mt.translation.translation import Translation

_JOURNAL = "journal"
_BLOCK = 1000  # lines; another number is another file where the batch can change a translation

Translate = Callable[[Sequence[str], int], Sequence[Translation]]
"""Translates lines, of which the first has this number."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """What is to be made."""

    output: Path
    inputs: Inputs
    is_backwards: bool
    """Whether the lines are the target of the pairs, and what is made of them the source."""
    rules: TextRules
    search: SearchConfig
    key: str
    """All that a translation follows from beside the lines."""
    filters: Callable[[], Filters]
    filter_key: str
    """All that it follows from whether a translation is left out."""
    translator: Callable[[], Translate]
    """Loads the model; called where there is something left to translate."""
    rejected: Callable[[], AbstractContextManager[Listener]]
    """Opens what hears of each line that is not translated and each pair that is left out, once,
    in order (`PairDropped`)."""
    models: tuple[str, ...]
    command: str

    @property
    def folder(self) -> Path:
        """Where the work is kept until it is done."""
        return self.output.with_name(f"{self.output.name}.work")

    def pair(self, given: str, made: Made = NOTHING, flags: tuple[str, ...] = ()) -> MadePair:
        """The pair of a line and what was made of it, if anything was."""
        sides = (made.text, given) if self.is_backwards else (given, made.text)
        return MadePair(*sides, made.score, flags)


def make_pairs(work: Work, listener: Listener) -> Summary:
    """Translate all lines and write the pairs; what was done already is not done again.

    Raises ConfigError for an output that is there already, of another request; DataError for text
    at fault, for files that are damaged, and where no pair is left.
    """
    form_of(work.output)
    if not FileTarget.of(work.output).is_replaced:
        raise ConfigError(
            f"-o {work.output} is no file, beside which the work could be kept",
            hint="Name a file",
        )
    listener(StageStarted(name="reading the text"))
    known = survey(work.inputs, work.rules)
    request = blake2b_of_text(f"{work.key} {known.digest} {work.is_backwards} {_BLOCK}")
    of_pairs = blake2b_of_text(f"{request} {work.filter_key} {work.output.suffix.lower()}")
    with folder_lock(work.folder, make=True):
        clean(work.folder)
        done = _finished(work, of_pairs)
        if done is not None:
            listener(Notice(text=f"{work.output} is finished already: same text, same request"))
            (work.folder / _JOURNAL).unlink(missing_ok=True)
        else:
            journal = Journal(work.folder / _JOURNAL, request=request)
            with _telling_how_far(work, known, journal, listener):
                _translate(work, known, journal, listener)
            listener(StageStarted(name="writing the pairs"))
            with work.rejected() as note_rejected:
                account = _write(work, known, journal, note_rejected)
            done = Summary(
                request=of_pairs,
                pairs=blake2b(blocks_of_file(work.output)),
                models=work.models,
                command=work.command,
                account=account,
            )
            done.save(work.output)
            journal.path.unlink()
    with suppress(FileNotFoundError):
        work.folder.rmdir()
    return done


def _finished(work: Work, request: str) -> Summary | None:
    """The summary of pairs that are there already; None where there are none yet.

    Raises ConfigError for a file of another request, or of something else.
    """
    summary = Summary.load(work.output)
    if summary is not None and summary.request == request:
        return summary
    if summary is None and (not work.output.exists() or (work.folder / _JOURNAL).exists()):
        return None  # a kill may come between the file and its summary
    raise ConfigError(
        f"{work.output} exists already"
        + (", of another request: other text, models, versions or settings" if summary else ""),
        hint=f"Choose another -o, or remove it and {summary_file(work.output).name}",
    )


@contextmanager
def _telling_how_far(
    work: Work, known: Survey, journal: Journal, listener: Listener
) -> Iterator[None]:
    """Say, where something ends the work, how far it got and what goes on with it."""

    def how_far() -> str:
        num_done = min(len(journal) * _BLOCK, known.num_wanted)
        return f"after {num_done:,} of {known.num_wanted:,} lines; the same command goes on"

    try:
        yield
    except BaseException as error:
        if not len(journal):
            journal.path.unlink()  # there is nothing to go on with
        elif isinstance(error, KeyboardInterrupt):
            error.args = (f" {how_far()}",)
        else:
            listener(Notice(text=f"ended {how_far()}"))
        raise


def _translate(work: Work, known: Survey, journal: Journal, listener: Listener) -> None:
    """Translate what the journal does not hold yet."""
    num_before = min(len(journal) * _BLOCK, known.num_wanted)
    if journal.num_bytes_cut:
        text = f"{journal.path} ended in {journal.num_bytes_cut:,} bytes that are no whole block"
        listener(Notice(text=f"{text}: what they were is translated again", is_warning=True))
    if num_before == known.num_wanted:
        return
    if num_before:
        text = f"{num_before:,} of {known.num_wanted:,} lines are translated already"
        listener(Notice(text=text))
    translate = work.translator()
    begun = time.monotonic()
    lines = islice(known.wanted(work.inputs), num_before, None)
    num_done = num_before
    while block := [line.text for line in islice(lines, _BLOCK)]:
        translations = translate(block, num_done + 1)
        journal.append(to_block(made_line(each, work.search) for each in translations))
        num_done += len(block)
        listener(
            LinesTranslated(
                num_done=num_done,
                num_before=num_before,
                num_lines=known.num_wanted,
                seconds=time.monotonic() - begun,
            )
        )


def _write(work: Work, known: Survey, journal: Journal, note_rejected: Listener) -> Account:
    """Write the pairs that are left; gives what became of all lines."""
    head, as_line = form_of(work.output)
    filters = work.filters()
    made = (line for block in journal for line in from_block(block))
    facts, dropped = Counter[str](), Counter[str]()
    num_made = 0
    with written_file(work.output) as out:
        out.write(head.encode())
        for line, reason in known.judged(work.inputs):
            if reason:
                note_rejected(_dropped(line, reason, work.pair(line.text)))
                continue
            of_line = next(made)
            if of_line.key != key_of(line.text):
                raise changed(f"{line.origin}:{line.number}")
            facts.update(of_line.facts)
            for pair, reason in _judged(line.text, of_line, filters, work):
                num_made += 1
                if reason:
                    dropped[reason] += 1
                    note_rejected(_dropped(line, reason, pair))
                else:
                    out.write(f"{as_line(pair)}\n".encode())
        account = Account(
            num_read=known.num_lines,
            skipped=known.skipped,
            num_made=num_made,
            dropped=dict(dropped),
            facts=dict(facts),
        )
        if not account.num_written:
            raise DataError(
                f"no pair is left: {'; '.join(account.lines())}",
                hint="--keep turns a filter off; what was translated stays",
            )
    return account


def _judged(
    given: str, of_line: MadeLine, filters: Filters, work: Work
) -> Iterator[tuple[MadePair, str]]:
    """The pairs of a line, each with the reason why it is left out, or "".

    A line that is too long has one without a translation; samples that are equal count once.
    """
    if not of_line.made:
        yield work.pair(given), TOO_LONG
    seen = set()
    for made in of_line.made:
        flags = filters.flags(given, made)
        reason = REPEATED if made.text in seen else filters.reason(given, made, flags)
        seen.add(made.text)
        yield work.pair(given, made, flags), reason


def _dropped(line: InputLine, reason: str, pair: MadePair) -> PairDropped:
    return PairDropped(
        origin=line.origin,
        line=line.number,
        reason=reason,
        source=pair.source,
        target=pair.target,
    )
