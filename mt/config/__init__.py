"""Every setting of `mt`, a frozen dataclass a component; a default stands there and nowhere else.

`presets.py` fills these for models of several sizes, `toml.py` reads and writes them.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

from mt.config.corpus import (
    DROPPABLE,
    CorpusConfig,
    Droppable,
    SubwordKind,
    TokenizerConfig,
    TokenizerKind,
    TrainedTokenizer,
)
from mt.config.model import (
    Activation,
    Architecture,
    ExportForm,
    Initialisation,
    ModelConfig,
    NormKind,
    NormOrder,
    PositionKind,
    Sinusoids,
    TiedEmbeddings,
)
from mt.config.search import LengthPenalty, SamplingConfig, SearchConfig, SearchPrecision
from mt.config.training import (
    MODEL_PARTS,
    MetricName,
    ModelPart,
    Optimizer,
    Precision,
    TrainingConfig,
)
from mt.directions import Direction
from mt.errors import ConfigError, require

__all__ = [
    "DROPPABLE",
    "MODEL_PARTS",
    "Activation",
    "Architecture",
    "Config",
    "CorpusConfig",
    "Droppable",
    "ExportForm",
    "Initialisation",
    "LengthPenalty",
    "MetricName",
    "ModelConfig",
    "ModelPart",
    "NormKind",
    "NormOrder",
    "Optimizer",
    "PositionKind",
    "Precision",
    "SamplingConfig",
    "SearchConfig",
    "SearchPrecision",
    "Sinusoids",
    "SubwordKind",
    "TiedEmbeddings",
    "TokenizerConfig",
    "TokenizerKind",
    "TrainedTokenizer",
    "TrainingConfig",
]


@dataclass(frozen=True, kw_only=True)
class Config:
    """All settings of a run; a model folder holds them as `config.toml`."""

    source_language: str = ""
    """Code of the source language as the user or the file names gave it; empty if unknown."""
    target_language: str = ""
    directions: tuple[str, ...] = ()
    """Those of a model of several languages, as de-en; source and target language are empty where
    they are several."""
    preset: str = ""
    """Name of the preset that the settings started from."""
    fine_tuned_from: str = ""
    """Name of the model folder whose weights training started from; empty for random ones."""
    num_new_pieces: int = 0
    """Pieces of a tokenizer of its own that `fine_tuned_from` had not."""
    distilled_from: str = ""
    """Name of the teacher whose translations it was trained on; empty for text as it was found."""
    longest_source: int = 0
    """Tokens of a source that hardly any in training was longer than; 0 if not known."""
    corpus: CorpusConfig = field(default_factory=CorpusConfig)
    tokenizer: TokenizerConfig = field(default_factory=TokenizerConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    search: SearchConfig = field(default_factory=SearchConfig)

    def __post_init__(self) -> None:
        for text in self.directions:
            _require_direction(text)
        require(
            self.tokenizer.joint or self.tokenizer.kind == "imported" or self.model.tied != "all",
            'model.tied = "all" needs one joint tokenizer: set tokenizer.joint = true or '
            'model.tied = "target"',
        )
        require(
            self.model.architecture == "encoder-decoder" or "encoder" not in self.training.freeze,
            "training.freeze names the encoder, which a decoder-only model has not",
        )
        require(
            self.model.architecture == "encoder-decoder"
            or set(self.training.freeze) != {"embeddings", "decoder"},
            "training.freeze leaves nothing to train: embeddings and decoder are all of a "
            "decoder-only model",
        )
        metric = self.training.metric
        require(
            self.tokenizer.takes_symbols or metric not in ("exact", "ser"),
            f'training.metric = "{metric}" needs tokenizer.kind = "symbols"',
        )

    def with_values(self, values: dict[str, dict[str, object]]) -> Config:
        """Return a copy with `values[section][key]` set; keys must exist (`mt.config.toml`)."""
        sections = {
            name: dataclasses.replace(getattr(self, name), **keys)
            for name, keys in values.items()
            if name
        }
        return dataclasses.replace(self, **sections, **values.get("", {}))  # type: ignore[arg-type]


def _require_direction(text: str) -> None:
    """Raise ConfigError for what is no direction."""
    try:
        Direction.parse(text)
    except ValueError as error:
        raise ConfigError(f"directions: {error}") from None
