"""Checking: what is wrong with a corpus, and what is left of it without that."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from mt.config import Config, CorpusConfig
from mt.config.filters import adjusted
from mt.corpus.checks.doctor import examine
from mt.corpus.checks.finding import CheckReport
from mt.errors import ConfigError
from mt.events import CorpusRead, Listener, StageStarted, ignore
from mt.files import require_writable
from mt.formats import open_corpora
from mt.formats.options import ReadingOptions
from mt.formats.pair_writer import require_forms, write_corpus
from mt.preparation.cleaned import cleaned
from mt.tasks.requests import CheckRequest
from mt.text.normalise import is_blank, normalise


def check(request: CheckRequest, listener: Listener = ignore) -> CheckReport:
    """Read a corpus once, and give what is wrong with it.

    Raises ConfigError for paths that are no corpus, DataError for corpora to check against that
    cannot be read.
    """
    if not request.corpus:
        raise ConfigError("there is no corpus to check", hint="Give CORPUS")
    if request.outputs:
        _require_outputs(request)
    listener(StageStarted(name="checking the corpus"))
    options = ReadingOptions(languages=request.languages, columns=request.columns)
    corpora = open_corpora(request.corpus, dataclasses.replace(options, keep_invalid=True))
    known = corpora.source_language, corpora.target_language
    options = dataclasses.replace(options, languages=known if all(known) else None)
    return examine(
        corpora.readers,
        against=open_corpora(request.against, options).readers,
        normalise=normalise,
        is_blank=is_blank,
        languages=known,
    )


def write_clean(request: CheckRequest, listener: Listener = ignore) -> CorpusRead:
    """Write the pairs of a corpus that training would take into the outputs of a request.

    They are those of `mt train` with the same flags, before a validation set is held out and before
    any is left out for its length in tokens. Raises ConfigError and DataError as `check` does, and
    for a corpus of which nothing is left; OSError for a file that cannot be written.
    """
    options = ReadingOptions(languages=request.languages, columns=request.columns)
    dropped = adjusted(CorpusConfig().drop, add=request.drop, remove=request.keep)
    drops_invalid = "not_utf8" in dropped
    corpora = open_corpora(request.corpus, dataclasses.replace(options, keep_invalid=drops_invalid))
    known = corpora.source_language, corpora.target_language
    options = dataclasses.replace(options, languages=known if all(known) else None)
    against = open_corpora(request.against, options).readers
    config = Config(corpus=CorpusConfig(drop=dropped))
    with cleaned(corpora.readers, against, config, listener=listener) as found:
        write_corpus([Path(path) for path in request.outputs], found.pairs, languages=known)
    return found.corpus


def _require_outputs(request: CheckRequest) -> None:
    """Raise ConfigError and DataError for outputs of no form, that are inputs or not writable."""
    outputs = [Path(path) for path in request.outputs]
    require_forms(outputs)
    inputs = {Path(name).resolve() for name in (*request.corpus, *request.against)}
    for path in outputs:
        if path.resolve() in inputs:
            raise ConfigError(
                f"--write {path} is what is checked", hint="Choose another file: it stays as it is"
            )
        require_writable(path)
