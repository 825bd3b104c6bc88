"""Members of ensembles: models of random weights that share tokenizers."""

from __future__ import annotations

import dataclasses

import torch

from mt.config import Config, ModelConfig, SearchConfig
from mt.model.encoder_decoder import EncoderDecoder
from mt.model_folder.folder import LoadedModel
from mt.text.tokenizer import END
from mt.translation.scorer import Scorer
from tests.translation.random_models import lines, tokenizers

SMALL = ModelConfig(d_model=32, d_inner=64, encoder_layers=1, decoder_layers=1, heads=2)
DEEP = dataclasses.replace(
    SMALL, d_model=16, encoder_layers=2, decoder_layers=3, norm="post", heads=4
)


def member(
    seed: int, shape: ModelConfig = SMALL, *, longest_source: int = 0, **search: float | str
) -> LoadedModel:
    """A model with random weights: it speaks nonsense, but must speak it reliably."""
    settings = SearchConfig(**{"beam": 3, "max_length": 12, **search})  # type: ignore[arg-type]
    size = tokenizers().source.vocab_size
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = EncoderDecoder(shape, source_vocab=size, target_vocab=size)
    with torch.no_grad():
        network.output_weight[END] += 0.2  # so that some hypotheses end before the bound
    config = Config(model=shape, search=settings, longest_source=longest_source)
    return LoadedModel(config=config, tokenizers=tokenizers(), model=network)


def scorer_of(*members: LoadedModel) -> Scorer:
    first, *others = members
    examples = list(zip(lines(), lines(), strict=True))
    return Scorer(first.model, first.tokenizers, first.config, others=others, examples=examples)
