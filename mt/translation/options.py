"""How a translator works: search, devices, precision, workers, and what is done with text."""

from __future__ import annotations

from dataclasses import dataclass

from mt.config import SamplingConfig, SearchConfig, SearchPrecision
from mt.search.mbr import Utility
from mt.text.glossary import Glossary


@dataclass(frozen=True, kw_only=True)
class TranslationOptions:
    """What a `Translator` is asked for beside its models.

    Raises ValueError for a batch size below 1, and for samples with a glossary.
    """

    to: str = ""
    """The target language, of a model of several."""
    source_language: str = ""
    """What the lines are in, where that is known of a model of several."""
    search: SearchConfig | None = None
    """The settings of search; None takes those of the first model."""
    device: str = "auto"
    """Where `Translator.load` puts the models: "auto", or a name of torch such as "cpu"."""
    devices: int | None = 1
    """CUDA devices among which `Translator.load` shares the lines; None takes all."""
    precision: SearchPrecision = "auto"
    """The type of products; "auto" is float32, in which no result depends on the batch."""
    batch_size: int | None = None
    """Sentences that each worker searches together; None takes what is fast for the beam."""
    workers: int | None = None
    """Workers on a CPU; None takes as many as torch has threads."""
    forks: bool = False
    """Whether workers are processes, on Linux: faster than threads, but a fork copies the locks
    that other threads of the program hold (`mt.translation.worker_processes`)."""
    split: bool = True
    """Whether a line longer than the models are good for is translated in parts."""
    utility: Utility | None = None
    """Orders the hypotheses of the beam, or the samples, by minimum Bayes risk."""
    glossary: Glossary | None = None
    """Terms and placeholders that are brought into translations; those say which are missing."""
    sampling: SamplingConfig | None = None
    """Translations are drawn from the model, by random numbers of each line's own."""
    keep_case: bool = False
    """Whether lines in capitals, or without any, are read as they are (`mt.text.truecase`)."""

    def __post_init__(self) -> None:
        if self.batch_size is not None and self.batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, but is {self.batch_size}")
        if self.sampling is not None and self.glossary is not None:
            raise ValueError("samples are drawn without a glossary")


DEFAULT_OPTIONS = TranslationOptions()


def fast_batch_size(hypotheses: int, *, on_cpu: bool = True) -> int:
    """How many sentences, of so many hypotheses each, are fast together (docs/log.md).

    On a CPU their numbers are to stay in its caches; a GPU is to be kept busy.
    """
    rows, most = (320, 128) if on_cpu else (2560, 1024)
    return min(max(rows // hypotheses, 8), most)
