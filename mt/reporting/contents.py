"""What a report is about: models, a test set that systems were scored on, commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mt.evaluation.comparison import Splitter
from mt.evaluation.metrics import Measured
from mt.evaluation.results import Result
from mt.events import CorpusRead
from mt.reporting.curves import Curves
from mt.reporting.sentence_attention import AttendedSentence


@dataclass(frozen=True, kw_only=True)
class ModelRecord:
    """What a model folder says of itself."""

    name: str
    facts: Sequence[tuple[str, str]]
    """What the model is and how it was trained: names of facts, and facts."""
    commands: Sequence[str]
    """By which it was made."""
    card: str
    """The model card, as Markdown; empty where there is none."""
    curves: Curves | None
    corpus: CorpusRead | None
    """What was read, used and dropped."""
    unknown: Sequence[str]
    """For what is None, why, in a sentence each."""


@dataclass(frozen=True, kw_only=True)
class SystemOutput:
    """The translations of one system, and what was counted in them."""

    name: str
    digest: str
    """A hash of its file, with its name; empty for a model."""
    hypotheses: Sequence[str]
    measured: Sequence[Measured]
    """Under each metric."""


@dataclass(frozen=True, kw_only=True)
class ScoredFile:
    """A file of a test set."""

    role: str
    """source, reference."""
    name: str
    digest: str
    """A hash of its bytes, with its name; empty where they could be read only once."""


@dataclass(frozen=True, kw_only=True)
class TrivialSystem:
    """A system that knows nothing, beside which a score stands."""

    name: str
    scores: Mapping[str, float]
    """By name of the metric."""


@dataclass(frozen=True, kw_only=True)
class Scored:
    """Systems that were scored on one test set; N lines."""

    files: Sequence[ScoredFile]
    is_validation: bool
    """Whether it is the set by which the weights of the model were chosen."""
    systems: Sequence[SystemOutput]
    results: Sequence[Result]
    """Of each system under each metric, in this order."""
    references: Sequence[Sequence[str]]
    """One or more lists of N texts."""
    sources: Sequence[str] | None
    main_metric: int
    """Index among `measured` of the metric that orders sentences and is shown by length."""
    split: Splitter
    """Words, as BLEU counts them."""
    tokenize: str
    """What BLEU finds words by."""
    of_symbols: bool
    lowercase: bool
    trivial: Sequence[TrivialSystem]
    said: Sequence[str]
    """What was said to a person while it was scored."""
    num_examples: int
    """Sentences shown at most of each group."""
    attention: Mapping[int, AttendedSentence]
    """Of the first system over lines, by their indices; empty where none is known."""

    @property
    def ordering(self) -> Sequence[Measured]:
        """Each system under the metric that orders sentences."""
        return [system.measured[self.main_metric] for system in self.systems]


@dataclass(frozen=True, kw_only=True)
class Report:
    """All that a report shows."""

    title: str
    models: Sequence[ModelRecord]
    scored: Scored | None
    unscored: str
    """Why nothing is scored, where that is so."""
    commands: Sequence[tuple[str, str]]
    """What is done, and the command that does it."""
