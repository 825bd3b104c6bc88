"""Checking: what is wrong with a corpus."""

from __future__ import annotations

import dataclasses

from mt.corpus.checks.doctor import examine
from mt.corpus.checks.finding import CheckReport
from mt.errors import ConfigError
from mt.events import Listener, StageStarted, ignore
from mt.formats import open_corpora
from mt.formats.options import ReadingOptions
from mt.tasks.requests import CheckRequest
from mt.text.normalise import is_blank, normalise


def check(request: CheckRequest, listener: Listener = ignore) -> CheckReport:
    """Read a corpus once, and give what is wrong with it.

    Raises ConfigError for paths that are no corpus, DataError for corpora to check against that
    cannot be read.
    """
    if not request.corpus:
        raise ConfigError("there is no corpus to check", hint="Give CORPUS")
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
