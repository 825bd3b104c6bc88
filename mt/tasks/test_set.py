"""What is scored: sources and references of plain text, or of files that hold both sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mt.errors import DataError
from mt.events import Listener, Notice
from mt.formats import hold_pairs, open_corpora
from mt.formats.options import ReadingOptions
from mt.formats.text import read_text_lines
from mt.languages import is_same_language
from mt.model_folder.files import load_tokenizers, read_config
from mt.tasks.requests import EvaluateRequest, ScoreRequest
from mt.tasks.scored_text import System, read_references
from mt.translation.aim import aimed


@dataclass(frozen=True, kw_only=True)
class TestSet:
    """The text of a test set."""

    sources: list[str] | None
    references: list[list[str]]
    target_language: str = ""
    """Its code, where files that hold both sides say it."""


@dataclass(frozen=True, kw_only=True)
class PairedFiles:
    """The pairs of one or two files of a corpus format, in their order."""

    name: str
    sources: list[str]
    targets: list[str]
    target_language: str
    """Its code, "" where the files do not say."""
    left_out: str
    """How many units have no pair, by the reason; "" where all have."""


def paired_files(
    paths: Sequence[Path], languages: tuple[str, str], listener: Listener
) -> PairedFiles | None:
    """The pairs of `paths` in the direction `languages`; None where they are plain text.

    Of languages that are not known ("") the first in the files is the source, unless it is the
    target that is known.
    Units without a pair are left out, with a warning. Raises DataError where there is no pair, and
    for files that are broken.
    """
    if not hold_pairs(paths):
        return None
    names = [str(path) for path in paths]
    options = ReadingOptions(languages=languages if all(languages) else None)
    corpora = open_corpora(names, options)
    first, second = corpora.source_language, corpora.target_language
    if options.languages is None and first and second:
        wanted = languages[1]
        if wanted and is_same_language(first, wanted) and not is_same_language(second, wanted):
            first, second = second, first
            corpora = open_corpora(names, ReadingOptions(languages=(first, second)))
        turn = "" if wanted else " (--target-language turns it)"
        listener(Notice(text=f"{names[0]} is read as {first}-{second}{turn}"))
    (reader,) = corpora.readers
    sources: list[str] = []
    targets: list[str] = []
    faults: Counter[str] = Counter()
    for pair in reader:
        if pair.fault:
            faults[pair.fault] += 1
            continue
        sources.append(pair.source)
        targets.append(pair.target)
    left_out = ", ".join(f"{reason}: {count}" for reason, count in faults.most_common())
    if not sources:
        raise DataError(f"{reader.name} has no pair to score ({left_out or 'it is empty'})")
    if left_out:
        text = f"{reader.name}: units left out: {faults.total()} ({left_out})"
        listener(Notice(text=text, is_warning=True))
    return PairedFiles(
        name=reader.name,
        sources=sources,
        targets=targets,
        target_language=corpora.target_language,
        left_out=left_out,
    )


def read_test_set(
    request: EvaluateRequest,
    systems: Sequence[System],
    languages: tuple[str, str],
    listener: Listener,
) -> TestSet:
    """The lines that are translated, or were, and their references, as many as each system has.

    A file that holds both sides is source and reference. Raises DataError, naming the files, where
    one is empty or numbers of lines differ, and where a unit without a pair would put the
    lines of a system beside the wrong ones.
    """
    source = None if request.source is None else Path(request.source)
    paths = [Path(path) for path in request.references]
    lengths = [(system.name, len(system.hypotheses)) for system in systems]
    both = [source, *paths] if source is not None and [source] != paths else paths
    found = paired_files(both, languages, listener)
    if found is None:
        sources = None
        if source is not None:
            sources = read_text_lines(source)
            lengths.insert(0, (str(source), len(sources)))
        return TestSet(sources=sources, references=read_references(paths, lengths))
    for name, num_lines in lengths:
        if num_lines != len(found.targets):
            rest = f" and others without one ({found.left_out})" if found.left_out else ""
            raise DataError(
                f"unequal lengths: {name} has {num_lines} lines, {found.name} has "
                f"{len(found.targets)} pairs{rest}"
            )
    return TestSet(
        sources=found.sources,
        references=[found.targets],
        target_language=found.target_language,
    )


def pairs_to_score(request: ScoreRequest, listener: Listener) -> Iterator[tuple[str, str]] | None:
    """The pairs of the files of a request, where those are of a format of corpora; else None."""
    paths = [Path(path) for path in (request.source, request.target) if path is not None]
    if not hold_pairs(paths):
        return None
    model = Path(request.model)
    config = read_config(model)
    config, _ = aimed(config, load_tokenizers(model, config), request.to)
    found = paired_files(paths, (config.source_language, config.target_language), listener)
    return None if found is None else zip(found.sources, found.targets, strict=True)
