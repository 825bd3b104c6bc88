"""Models of random weights over a few words, which translators and scorers share."""

from __future__ import annotations

import random
from functools import cache

import torch

from mt.config import Config, ModelConfig, SearchConfig
from mt.events import Event
from mt.model.encoder_decoder import EncoderDecoder
from mt.search.mbr import Utility
from mt.text.subwords import train_subwords
from mt.text.tokenizer import END
from mt.text.tokenizer_pair import TokenizerPair
from mt.translation.options import TranslationOptions
from mt.translation.scorer import Scorer
from mt.translation.translator import Translator

SHORT_TABLE = ModelConfig(
    d_model=32,
    d_inner=64,
    encoder_layers=1,
    decoder_layers=1,
    heads=2,
    positions="learned",
    max_positions=16,
)
"""A model that takes 16 positions and no more."""
WORDS = ["haus", "katze", "läuft", "grün", "und", "Straße", "nicht", "über"]


def lines() -> tuple[str, ...]:
    """What is translated."""
    return _training_text()[:36]


@cache
def _training_text() -> tuple[str, ...]:
    draw = random.Random(3)
    return tuple(" ".join(draw.choices(WORDS, k=draw.randint(1, 12))) for _ in range(60))


@cache
def tokenizers() -> TokenizerPair:
    one = train_subwords(_training_text(), kind="bpe", vocab_size=300)
    return TokenizerPair(source=one, target=one)


def make(
    *,
    batch_size: int = 8,
    model: ModelConfig | None = None,
    longest_source: int = 0,
    split: bool = True,
    utility: Utility | None = None,
    workers: int | None = None,
    forks: bool = False,
    **search: float | str,
) -> tuple[Translator, list[Event]]:
    """A translator with random weights: it speaks nonsense, but must speak it reliably."""
    shape = model or ModelConfig(
        d_model=32, d_inner=64, encoder_layers=1, decoder_layers=1, heads=2, dropout=0.3
    )
    settings = SearchConfig(**{"beam": 3, "max_length": 12, **search})  # type: ignore[arg-type]
    config = Config(model=shape, search=settings, longest_source=longest_source)
    torch.manual_seed(0)
    size = tokenizers().source.vocab_size
    network = EncoderDecoder(shape, source_vocab=size, target_vocab=size)
    with torch.no_grad():
        network.output_weight[END] += 0.2  # so that some hypotheses end before the bound
    events: list[Event] = []
    return (
        Translator(
            network,
            tokenizers(),
            config,
            options=TranslationOptions(
                batch_size=batch_size, split=split, utility=utility, workers=workers, forks=forks
            ),
            listener=events.append,
        ),
        events,
    )


def scorer_of(*, batch_size: int = 8, **search: float | str) -> tuple[Scorer, list[Event]]:
    translator, _ = make(**search)  # type: ignore[arg-type]
    events: list[Event] = []
    scorer = Scorer(
        translator.model,
        tokenizers(),
        translator.config,
        examples=list(zip(lines(), lines(), strict=True)),
        batch_size=batch_size,
        listener=events.append,
    )
    return scorer, events


PREFIXES = ("", "Haus", "katze läu", "Straße und 🦊 nicht", "x", "über über über über", " ")


def some_prefixes(num: int, *, seed: int = 1) -> list[str]:
    return random.Random(seed).choices(PREFIXES, k=num)
