"""What happens during long work, as values.

Whoever works long (the corpus reader, the trainer) reports by calling a listener with one of
these; a progress bar, a JSON-lines file and a test are listeners. Nothing below the command line
prints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Event:
    """The base of everything that is reported."""


@dataclass(frozen=True, kw_only=True)
class Notice(Event):
    """A decision or a finding that a person should read once."""

    text: str
    is_warning: bool = False


@dataclass(frozen=True, kw_only=True)
class LineSplit(Event):
    """A line is longer than the model is good for, and is translated in parts."""

    line: int
    num_tokens: int
    max_tokens: int
    """Most tokens of a part."""
    num_parts: int


@dataclass(frozen=True, kw_only=True)
class LineRecased(Event):
    """A line was not written in usual case, and is translated in it."""

    line: int
    recased: str
    """What is translated."""


@dataclass(frozen=True, kw_only=True)
class LineTooLong(Event):
    """A line was left out: one side has more tokens than are computed together."""

    line: int
    num_tokens: int
    max_tokens: int


@dataclass(frozen=True, kw_only=True)
class UnknownSymbols(Event):
    """A line has symbols that the model does not know."""

    line: int
    symbols: tuple[str, ...]
    """In order, each as often as it stands there."""


@dataclass(frozen=True, kw_only=True)
class LinesTranslated(Event):
    """So many lines of a text are translated and safe."""

    num_done: int
    num_before: int
    """Of them, by runs before this one."""
    num_lines: int
    seconds: float
    """Time in this run."""


@dataclass(frozen=True, kw_only=True)
class StageStarted(Event):
    """A part of the preparation begins, for example "reading the corpus"."""

    name: str


@dataclass(frozen=True, kw_only=True)
class PairDropped(Event):
    """A pair was left out of the corpus."""

    origin: str
    line: int
    reason: str
    source: str
    target: str


@dataclass(frozen=True, kw_only=True)
class OriginRead:
    """What became of one corpus of a mixture: read = used + held out + all of dropped."""

    name: str
    num_read: int
    num_held_out: int
    dropped: dict[str, int]
    """Pairs left out, by reason."""
    digest: str = ""
    """A hash of its content; empty where that could be read only once."""
    weight: float = 1.0
    """How often its pairs come in an epoch."""

    @property
    def num_used(self) -> int:
        """Pairs to train on."""
        return self.num_read - self.num_held_out - sum(self.dropped.values())


@dataclass(frozen=True, kw_only=True)
class CorpusRead(Event):
    """The corpora of a run were read and cleaned."""

    origins: tuple[OriginRead, ...]

    @property
    def num_read(self) -> int:
        """Pairs read."""
        return sum(origin.num_read for origin in self.origins)

    @property
    def num_held_out(self) -> int:
        """Pairs held out for validation."""
        return sum(origin.num_held_out for origin in self.origins)

    @property
    def num_used(self) -> int:
        """Pairs to train on."""
        return sum(origin.num_used for origin in self.origins)

    @property
    def dropped(self) -> dict[str, int]:
        """Pairs left out, by reason, most first."""
        total: Counter[str] = Counter()
        for origin in self.origins:
            total.update(origin.dropped)
        return dict(total.most_common())


@dataclass(frozen=True, kw_only=True)
class RunDescribed(Event):
    """What was asked for and on what machine it runs; once in each run, at its start."""

    command: str
    """As it was typed, quoted for a shell."""
    processor: str
    num_cores: int
    """Cores that the process may use."""
    memory: int | None
    """Bytes of the machine; None where it does not say."""
    gpus: tuple[str, ...]
    """Name and memory of the GPU that the first process uses; empty where none is used."""
    num_threads: int
    """Threads of a process that compute on the processor."""
    num_processes: int
    software: tuple[str, ...]
    """Names with versions, the system last."""


@dataclass(frozen=True, kw_only=True)
class TrainingStarted(Event):
    """Training is about to make its first update (or the first after a resume)."""

    num_parameters: int
    first_update: int
    updates_per_epoch: int
    max_updates: int | None
    max_seconds: float | None
    device: str
    precision: str
    max_epochs: float | None = None


@dataclass(frozen=True, kw_only=True)
class BatchDone(Event):
    """One update was made (or skipped, when its gradient was not finite)."""

    update: int
    epoch: float
    loss: float
    """Label-smoothed cross-entropy in nats per target token of this update."""
    rate: float
    gradient_norm: float
    num_target_tokens: int
    seconds: float
    """Training time since the start, earlier runs included, validation included."""
    skipped: bool = False


@dataclass(frozen=True, kw_only=True)
class ValidationStarted(Event):
    """A validation begins after `update`."""

    update: int


@dataclass(frozen=True, kw_only=True)
class LinesValidated(Event):
    """So many lines of the running validation are translated."""

    num_done: int
    num_lines: int
    seconds: float
    """Time since the start, as in `BatchDone`."""


@dataclass(frozen=True, kw_only=True)
class Validated(Event):
    """A validation ended. Scores are by name: "loss", "BLEU", "chrF2".

    The loss is that of the whole validation set, whatever was translated.
    """

    update: int
    epoch: float
    scores: dict[str, float]
    signatures: dict[str, str]
    is_best: bool
    seconds: float
    validation_seconds: float
    samples: tuple[tuple[str, str, str], ...] = ()
    """A few (source, hypothesis, reference) triples to look at."""
    by_origin: dict[str, dict[str, float]] = field(default_factory=dict)
    """Scores by name of each corpus of the validation set, where it has several."""
    also: dict[str, dict[str, float]] = field(default_factory=dict)
    """Scores by name of each further validation set, which decides nothing."""
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Mean and half width of 95 % of bootstrap samples of scores, by name."""
    num_pairs: int | None = None
    """Pairs of a fixed sample that alone was translated; None where all were."""
    num_all_pairs: int | None = None
    """Pairs of the validation set, where a sample was translated."""


@dataclass(frozen=True, kw_only=True)
class TrainingEnded(Event):
    """Training ended, and why, in words."""

    update: int
    reason: str
    seconds: float
    """Training time of all runs, validation included."""
    tokens_per_second: float
    """Target tokens over the time in training without validation."""
    validation_seconds: float
    metric: str
    """Name of the score that decides which weights are best."""
    best: float | None
    """The best score so far; None before the first that was a number."""
    best_update: int | None
    """The update whose weights have it, and are the model."""
    best_pairs: int | None = None
    """Pairs of the sample that the score is of; None where it is of the whole validation set."""
    is_of_shorter_run: bool = False
    """Whether these weights are of the run with a shorter budget, which this one has not beaten."""
    num_skipped: int
    """Updates skipped since their gradient was not finite."""
    num_skipped_pairs: int
    """Times a pair was skipped since even alone it did not fit in memory."""


@dataclass(frozen=True, kw_only=True)
class TrivialCompared(Event):
    """The best scores stand beside those of systems that know nothing; at the end of training."""

    update: int
    """The last one."""
    best_update: int
    num_pairs: int
    """Pairs of the validation set that all scores are of."""
    scores: dict[str, float]
    """Of the best weights, by name."""
    systems: dict[str, dict[str, float]]
    """Scores by name of each system."""
    beaten_by: tuple[str, ...]
    """Systems that the weights do not beat."""


Listener = Callable[[Event], None]


def notice_text(notice: Notice) -> str:
    """A notice as a person reads it."""
    return f"warning: {notice.text}" if notice.is_warning else notice.text


def to_all(listeners: Sequence[Listener]) -> Listener:
    """A listener that hands each event to all of `listeners`, later additions included."""

    def listen(event: Event) -> None:
        for each in listeners:
            each(event)

    return listen


def ignore(event: Event) -> None:
    """A listener that listens to nothing."""
