"""`mt score`: what a model says of translations that are given to it."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mt.cli.doubt_counts import DoubtCounts
from mt.cli.options import device_options, keep_case_option, model_option
from mt.cli.streams import standard_input
from mt.cli.translation_console import TranslationConsole
from mt.errors import DataError

if TYPE_CHECKING:
    from mt.translation.scorer import ScoredPair, Scorer

_BLOCK = 1 << 16  # bytes


@click.command("score")
@model_option(required=True, says="Model folder.")
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(path_type=Path))
@click.option(
    "--length-penalty",
    type=click.Choice(["none", "mean", "gnmt"]),
    help="What a log-probability is divided by; else as mt translate does.",
)
@click.option("--alpha", type=click.FloatRange(min=0), help="Strength of the gnmt penalty.")
@click.option(
    "--alignment",
    is_flag=True,
    help="Word alignments instead of scores, in the form of Pharaoh and fast_align: 0-0 1-2.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object for each pair, with all of it."
)
@click.option(
    "--batch-size",
    type=click.IntRange(min=1),
    default=64,
    show_default=True,
    help="Pairs scored at once; it changes speed and memory alone.",
)
@keep_case_option
@device_options
def command(**flags: Any) -> None:
    """Score each line of TARGET as a translation of that line of SOURCE.

    One score a line, in order: the natural-log probability of the translation over the length
    penalty. A translation by `mt translate` has the score that it was given there. One of the files
    may be - for standard input.
    """
    from mt.cli.console import stderr_console
    from mt.cli.line_progress import shown_progress
    from mt.cli.search_flags import search_config
    from mt.events import Notice
    from mt.model.device import set_threads
    from mt.translation.scorer import Scorer

    console = stderr_console()
    listener = TranslationConsole(console.print)
    if flags["alignment"] and flags["as_json"]:
        raise click.UsageError("--alignment prints no JSON; --json holds the alignments too")
    search = search_config({"beam": None, **flags})
    sides = _sides(flags["source"], flags["target"])
    set_threads(flags["threads"])
    scorer = Scorer.load(
        flags["model"],
        *flags["others"],
        search=search,
        device=flags["device"],
        precision=flags["precision"],
        batch_size=flags["batch_size"],
        keep_case=flags["keep_case"],
        listener=listener,
    )
    as_line = _line_writer(scorer, flags)
    doubts = DoubtCounts(of_symbols=scorer.config.tokenizer.takes_symbols, are_given=True)
    num_impossible = 0
    with shown_progress(console, done="pairs scored") as count:
        for scored in scorer.score(
            zip(*sides, strict=True), with_alignment=flags["alignment"] or flags["as_json"]
        ):
            doubts.add_pair(scored.source, scored.target)
            num_impossible += scored.scored.score == -math.inf
            sys.stdout.write(as_line(scored) + "\n")
            count(1)
    listener.tell_unknown()
    doubts.tell(console.print)
    if num_impossible:
        text = f"{num_impossible} blank lines have a target with text: their score is -inf"
        listener(Notice(text=text, is_warning=True))
    listener.refuse_too_long()


def _sides(source: Path, target: Path) -> tuple[Iterable[str], Iterable[str]]:
    """The lines of both files, which are of one number.

    Raises DataError where they are not, naming both numbers, or where a line is not UTF-8.
    """
    if str(source) == str(target) == "-":
        raise click.UsageError("SOURCE and TARGET cannot both be standard input")
    sides = _Lines.of(source), _Lines.of(target)
    left, right = (sum(1 for _ in side) for side in sides)
    if left != right:
        first, second = ("standard input" if str(p) == "-" else p for p in (source, target))
        raise DataError(f"unequal lengths: {first} has {left} lines, {second} has {right}")
    return sides


class _Lines:
    """Lines that can be read more than once: those of a file from the disk, others from memory."""

    def __init__(self, read: Callable[[], Iterator[str]]) -> None:
        self._read = read

    def __iter__(self) -> Iterator[str]:
        return self._read()

    @classmethod
    def of(cls, path: Path) -> Iterable[str]:
        """The lines of a path; of a pipe or standard input (-) they are held in memory."""
        from mt.formats.text import read_lines, read_text_lines

        if str(path) == "-":
            return list(_stdin_lines())
        if not path.is_file():
            return read_text_lines(path)
        return cls(lambda: (line for line in read_lines(path) if line is not None))


def _stdin_lines() -> Iterator[str]:
    from mt.formats.text import CONVERT
    from mt.lines import describe_invalid_utf8, split_lines

    descriptor = standard_input()
    blocks = iter(lambda: os.read(descriptor, _BLOCK), b"")
    for number, line in enumerate(split_lines(blocks), start=1):
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError:
            raise DataError(
                f"standard input:{number}: {describe_invalid_utf8(line)}", hint=CONVERT
            ) from None


def _line_writer(scorer: Scorer, flags: dict[str, Any]) -> Callable[[ScoredPair], str]:
    """How a pair is printed."""
    from mt.cli.json_records import alignment_record, flags_record, token_records
    from mt.translation.alignment import pharaoh
    from mt.translation.flags import usual_proportion

    if flags["alignment"]:
        return lambda pair: pharaoh(pair.scored.alignment or ())
    if not flags["as_json"]:
        return lambda pair: f"{pair.scored.score:.6f}"
    of_symbols = scorer.config.tokenizer.takes_symbols
    usual = None if of_symbols else usual_proportion(scorer.examples)
    tokenizers = scorer.tokenizers

    def as_json(pair: ScoredPair) -> str:
        score = pair.scored.score
        record: dict[str, Any] = {
            "source": pair.source,
            "target": pair.target,
            # JSON has no infinity, and no NaN.
            "score": score if math.isfinite(score) else None,
            "source_tokens": tokenizers.source.pieces(pair.source_tokens),
            "tokens": token_records(tokenizers.target, pair.tokens, pair.scored),
            "alignment": alignment_record(pair.scored),
            "flags": flags_record(pair.source, pair.target, usual=usual),
        }
        if pair.recased is not None:
            record["recased"] = pair.recased
        if of_symbols:
            record["unknown_symbols"] = {
                "source": tokenizers.source.unknown(pair.source),
                "target": tokenizers.target.unknown(pair.target),
            }
        return json.dumps(record, ensure_ascii=False)

    return as_json
