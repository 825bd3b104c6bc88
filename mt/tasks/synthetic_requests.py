"""What `backtranslate` and `distil` can be asked for; nothing here imports torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mt.config import Architecture, SearchPrecision, TrainedTokenizer
from mt.config.filters import Doubt
from mt.tasks.requests import (
    Budget,
    CorpusRequest,
    Decoding,
    EngineName,
    Machine,
    SearchOverrides,
    Settings,
    StrPath,
)


@dataclass(frozen=True, kw_only=True)
class Filtering:
    """Which translations are left out."""

    drop: Sequence[Doubt] = ()
    keep: Sequence[Doubt] = ()
    """Signs for which a pair is left out, or not, beside the default ones."""
    min_score: float | None = None
    """Least natural-log probability per token; without it any."""
    rejected: StrPath | None = None
    """Where to write what is left out: reason, location, source, target, tab-separated."""


@dataclass(frozen=True, kw_only=True)
class BacktranslateRequest:
    """Text that a model, or an ensemble, is to translate into the sources of pairs."""

    model: StrPath
    others: Sequence[StrPath] = ()
    """Further models of an ensemble."""
    mono: Sequence[StrPath]
    """Files of text in the source language of the model, which becomes the target."""
    output: StrPath
    """The file of pairs, .jsonl or .tsv."""
    decoding: Decoding = field(default_factory=Decoding)
    filtering: Filtering = Filtering()
    command: str = ""


@dataclass(frozen=True, kw_only=True)
class DistilRequest(CorpusRequest):
    """A student that is to learn from the translations of a teacher, in the folder `output`."""

    teacher: StrPath
    others: Sequence[StrPath] = ()
    """Further teachers: all of them work as an ensemble."""
    output: StrPath
    text: StrPath | None = None
    """The file of what the teacher translated, .jsonl or .tsv; else OUTPUT.distilled.jsonl."""
    mono: Sequence[StrPath] = ()
    """Files of text in the source language, which the teacher translates, too."""
    dev: Sequence[str] = ()
    """Validation set, with references by people; else that of the teacher."""
    search: SearchOverrides = field(default_factory=SearchOverrides)
    """How the teacher searches."""
    engine: EngineName = "mt"
    """What searches for the teacher."""
    teacher_precision: SearchPrecision = "auto"
    filtering: Filtering = Filtering()
    preset: str | None = None
    """Size of the student; else one in the form of `fast`, by the teacher's."""
    architecture: Architecture | None = None
    tokenizer: TrainedTokenizer | None = None
    vocab_size: int | None = None
    """With either, a tokenizer is trained; else it is that of the teacher."""
    batch_tokens: int | None = None
    seed: int | None = None
    settings: Settings = field(default_factory=dict)
    """Further settings of the student."""
    budget: Budget = field(default_factory=Budget)
    machine: Machine = field(default_factory=Machine)
    command: str = ""
