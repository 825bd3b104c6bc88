"""What each task can be asked for. Nothing here imports torch: `mt --help` is to be quick.

A setting that is None is taken from the model folder, or chosen as the documentation says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Literal

from mt.config import (
    Architecture,
    Droppable,
    ExportForm,
    LengthPenalty,
    Precision,
    SamplingConfig,
    SearchPrecision,
    TrainedTokenizer,
)

StrPath = str | PathLike[str]
Settings = Mapping[str, Mapping[str, object]]
"""Settings by section and key, as in config.toml; the top level is the section ""."""
MetricName = Literal["bleu", "chrf", "chrf++", "ter", "exact", "ser"]
EngineName = Literal["auto", "mt", "ctranslate2"]
"""What searches; "auto" is CTranslate2 where a checked conversion is in the model folder."""
PairedTest = Literal["bs", "ar"]
"""Bootstrap resampling, or approximate randomisation."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """When training ends; whichever is reached first."""

    minutes: float | None = None
    epochs: float | None = None
    updates: int | None = None
    patience: int | None = None
    """Validations in a row without a better score; 0 is endless."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Where training computes; it is no part of the model."""

    device: str = "auto"
    precision: Precision = "auto"
    threads: int | None = None
    compiled: bool = False
    """Compile the layers: a minute at the start, for GPUs."""
    shard: bool = False
    """Shard the weights over the processes of torchrun."""


@dataclass(frozen=True, kw_only=True)
class CorpusRequest:
    """Corpora, and how they are read."""

    corpus: Sequence[str] = ()
    """Files or datasets: aligned text files in pairs, source first, or files of both sides."""
    against: Sequence[str] = ()
    """Test sets whose lines the corpus must not hold."""
    languages: tuple[str, str] | None = None
    """Source and target."""
    columns: tuple[str, str] | None = None
    """Names, or numbers from 1, of the columns of source and target."""


@dataclass(frozen=True, kw_only=True)
class CheckRequest(CorpusRequest):
    """A corpus to be examined, and its clean pairs to be written."""

    outputs: Sequence[StrPath] = ()
    """One file of both sides, or two of plain text, source first; none: nothing is written."""
    drop: Sequence[Droppable] = ()
    """Findings for which a pair is left out of them, beside those of `CorpusConfig`."""
    keep: Sequence[Droppable] = ()
    """Those for which it is not."""


@dataclass(frozen=True, kw_only=True)
class TrainRequest(CorpusRequest):
    """A model to be trained: a new one in `output`, or the run in `resume` to be continued."""

    output: StrPath | None = None
    resume: StrPath | None = None
    directions: Sequence[tuple[str, str]] = ()
    """Directions of a model of several languages; each file is read in those that it holds."""
    balance: float | None = None
    """T: a direction with n pairs comes in proportion to n^(1/T)."""
    synthetic: Sequence[str] = ()
    """Further corpora, whose sources a model made: a tag says so."""
    start: StrPath | None = None
    """Model folder whose weights, tokenizer and architecture the run starts from."""
    new_tokenizer: bool = False
    """Train a tokenizer for the corpus all the same; its pieces start from those of `start`."""
    tokenizer_of: StrPath | None = None
    """Model folder whose tokenizer, without anything else, is taken over; else it is trained."""
    dev: Sequence[str] = ()
    """Validation set; without one it is held out."""
    also_dev: Sequence[str] = ()
    """Further validation sets of a run with `start`, which are scored and decide nothing."""
    weights: Sequence[tuple[str, float]] = ()
    """Files of corpora, and how often their pairs come in an epoch."""
    drop: Sequence[Droppable] = ()
    keep: Sequence[Droppable] = ()
    """Findings of `mt check` for which pairs are left out, or not, beside the default ones."""
    preset: str | None = None
    architecture: Architecture | None = None
    tokenizer: TrainedTokenizer | None = None
    vocab_size: int | None = None
    batch_tokens: int | None = None
    seed: int | None = None
    export_form: ExportForm | None = None
    """A program that the model is for: a form that it does not have is refused."""
    settings: Settings = field(default_factory=dict)
    """Further settings; those with fields of their own here win."""
    budget: Budget = Budget()
    machine: Machine = Machine()
    rejected: StrPath | None = None
    """Where to write the pairs left out: reason, location, source, target, tab-separated."""
    tensorboard: bool = False
    command: str = ""
    """What the model card gives as the command that made the model."""


@dataclass(frozen=True, kw_only=True)
class SearchOverrides:
    """Settings of search over those of the model folder (`mt.SearchConfig` explains them)."""

    beam: int | None = None
    n_best: int | None = None
    length_penalty: LengthPenalty | None = None
    alpha: float | None = None
    max_length: int | None = None
    min_length_ratio: float | None = None
    no_repeat_ngram: int | None = None
    max_repeats: int | None = None


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """How a model translates: search settings, terms, and where to compute."""

    to: str = ""
    """The target language, of a model of several."""
    source_language: str = ""
    """What the lines are in, where that is known."""
    search: SearchOverrides = SearchOverrides()
    engine: EngineName = "mt"
    """Scores are those of mt's own search, unless another engine is asked for."""
    device: str = "auto"
    devices: int | None = 1
    """CUDA devices that share the work; None is all."""
    precision: SearchPrecision = "auto"
    threads: int | None = None
    batch_size: int | None = None
    workers: int | None = None
    glossary: StrPath | None = None
    placeholders: Sequence[str] = ()
    """Regular expressions of text that comes out unchanged."""
    keep_case: bool = False
    split: bool = True
    """Translate long lines in parts."""
    mbr: Literal["chrf", "bleu"] | None = None
    sampling: SamplingConfig | None = None


@dataclass(frozen=True, kw_only=True)
class TranslateRequest:
    """A model, or an ensemble, and how it is to translate."""

    model: StrPath
    others: Sequence[StrPath] = ()
    """Further models of an ensemble."""
    decoding: Decoding = Decoding()
    has_prefixes: bool = False
    """Translations are to begin with given text."""
    has_alignment: bool = False
    """Tokens are to have probabilities, and words alignments."""
    protects: bool = False
    """Single lines are to protect texts of their own."""


PARAGRAPHS = "paragraphs"
"""The form of documents that are plain text with hard line ends."""


@dataclass(frozen=True, kw_only=True)
class DocumentsRequest:
    """Documents to be translated, each into a file of its kind."""

    files: Sequence[StrPath]
    output: StrPath
    """A file, or the folder of the translations; of several files a folder."""
    model: StrPath
    others: Sequence[StrPath] = ()
    """Further models of an ensemble."""
    decoding: Decoding = Decoding()
    form: str | None = None
    """What the files are, by a suffix (`po`) or `PARAGRAPHS`; None: as names and bytes say."""
    columns: tuple[str, str] | None = None
    """Of a table: names, or numbers from 1, of the columns of source and target."""
    overwrite: bool = False
    """Also fill units that have a target, doubtful or not."""
    mark: bool = True
    """Mark all that is translated; else only what a person has to look at."""


@dataclass(frozen=True, kw_only=True)
class ScoreRequest:
    """A model that is to score the translations of `target`, line by line those of `source`."""

    model: StrPath
    others: Sequence[StrPath] = ()
    source: StrPath
    """Without `target`, a file that holds both sides."""
    target: StrPath | None = None
    """One of the two files may be "-", standard input."""
    to: str = ""
    """The target language, of a model of several."""
    length_penalty: LengthPenalty | None = None
    alpha: float | None = None
    with_alignment: bool = False
    batch_size: int = 64
    keep_case: bool = False
    device: str = "auto"
    precision: Precision = "auto"
    threads: int | None = None


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """What is counted, and how text is cut for it."""

    metrics: tuple[MetricName, ...] | None = None
    tokenize: str | None = None
    """sacreBLEU tokenizer; without one it follows from the target language."""
    target_language: str | None = None
    tokenized: bool = False
    """Both sides are tokenised already."""
    lowercase: bool = False
    symbols: bool = False
    """Score symbols, which a model of symbols does anyway."""


@dataclass(frozen=True, kw_only=True)
class Resampling:
    """How many samples intervals and tests draw, and from which seed."""

    resamples: int | None = None
    seed: int = 12345


@dataclass(frozen=True, kw_only=True)
class EvaluateRequest:
    """Systems to be scored: the translations of a model, of files, or both."""

    references: Sequence[StrPath]
    source: StrPath | None = None
    """What is translated, or, without a model, was."""
    model: StrPath | None = None
    others: Sequence[StrPath] = ()
    hypotheses: Sequence[StrPath] = ()
    """Files of translations."""
    scoring: Scoring = Scoring()
    confidence: bool = False
    """Give 95 % intervals."""
    paired: PairedTest | None = None
    """Test each system against the first."""
    resampling: Resampling = Resampling()
    trivial: bool = True
    """Also score the copied source and the nearest training pair, and count trained-on lines."""
    decoding: Decoding = Decoding()


@dataclass(frozen=True, kw_only=True)
class CompareRequest:
    """Files of translations, each to be compared with the first."""

    references: Sequence[StrPath]
    systems: Sequence[StrPath]
    metric: MetricName = "chrf"
    """What sentences and groups are compared by."""
    test: PairedTest = "ar"
    resampling: Resampling = Resampling()
    scoring: Scoring = Scoring()
    source: StrPath | None = None
    train: StrPath | None = None
    """Training text of the target language, for scores by frequency of words."""
    origins: StrPath | None = None
    """A name for each line, for scores by origin."""
    examples: int = 5


@dataclass(frozen=True, kw_only=True)
class ReportRequest:
    """A page about a model, and how it scores."""

    model: StrPath
    source: StrPath | None = None
    references: Sequence[StrPath] = ()
    """A test set; without one the validation set in the model folder."""
    output: StrPath = "report.html"
    training_only: bool = False
    examples: int = 10
    scoring: Scoring = Scoring()
    resampling: Resampling = Resampling()
    trivial: bool = True
    decoding: Decoding = Decoding()
    command: str = ""


@dataclass(frozen=True, kw_only=True)
class AverageRequest:
    """Several models, or with `best` or `last` so many validations of one, to be averaged."""

    models: Sequence[StrPath]
    output: StrPath
    best: int | None = None
    last: int | None = None
    command: str = ""


@dataclass(frozen=True, kw_only=True)
class InspectRequest:
    """What a model attends to over a pair of texts, or over a text and its own translation."""

    model: StrPath
    source: str
    target: str | None = None
    to: str = ""
    """The target language, of a model of several."""
    output: StrPath = "attention.html"
    png: bool = False
    device: str = "auto"


@dataclass(frozen=True, kw_only=True)
class ExportRequest:
    """A model folder to be written for another program."""

    model: StrPath
    output: StrPath | None = None
    """Folder to make."""
    into_model: bool = False
    """Keep it in the model folder, checked, for `mt translate --engine`."""
    check: tuple[StrPath, StrPath] | None = None
    """Source and reference that it is checked on instead of the validation set."""
    form: ExportForm = "ctranslate2"
    precision: Literal["float32", "float16", "bfloat16", "int8"] = "float32"
    """Type in which matrices are stored."""


@dataclass(frozen=True, kw_only=True)
class ImportRequest:
    """Another program's model to be made a model folder."""

    source: StrPath
    """A folder of Hugging Face's MarianMTModel, or the .npz file of Marian."""
    output: StrPath
    vocabularies: Sequence[StrPath] = ()
    """Of Marian: the file of both sides, or that of the source and that of the target."""
    spm: Sequence[StrPath] = ()
    """The sentencepiece models where vocabularies are tables."""
    prefix: str = ""
    """The target language, as `>>deu<<`, of lines that name none."""
    languages: tuple[str, str] | None = None
    command: str = ""
    """What was typed, for the model card."""


@dataclass(frozen=True, kw_only=True)
class PlotRequest:
    """Training curves to be drawn over one another."""

    models: Sequence[StrPath]
    output: StrPath = "curves.svg"
    by: Literal["updates", "epochs", "minutes"] = "updates"
    """What runs from left to right."""
    is_full: bool = False
    """Draw the learning rate and the norm of the gradient, too."""
