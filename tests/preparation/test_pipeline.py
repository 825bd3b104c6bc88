"""From a corpus to what is trained on and what is held out: no pair is lost, none is in both."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt.config import Config, CorpusConfig, TokenizerConfig
from mt.corpus.store import read_pairs
from mt.events import ignore
from mt.preparation import pipeline
from mt.preparation.tokenizers import StoredPairs, train_tokenizers
from tests.corpus.list_reader import ListReader

CONFIG = Config(
    corpus=CorpusConfig(held_out=4), tokenizer=TokenizerConfig(kind="symbols", vocab_size=100)
)


@pytest.mark.parametrize("num_pairs", [50, 10_030])  # one block of the store, and two
def test_what_is_held_out_and_what_is_trained_on_are_the_corpus(
    tmp_path: Path, num_pairs: int
) -> None:
    pairs = [(f"eins zwei x{n}", f"one two y{n}") for n in range(num_pairs)]
    reader = ListReader(pairs)
    cleaner = pipeline.store_texts([reader], tmp_path, CONFIG, listener=ignore)
    pipeline.clean(cleaner, None, [], num_held_out=4)
    dev = pipeline.held_out_set(tmp_path, cleaner)
    held_out = list(zip(dev.sources, dev.targets, strict=True))
    stored = [
        (pair.source, pair.target)
        for block in read_pairs(tmp_path / pipeline.PAIRS)
        for pair in block
    ]
    assert stored == pairs
    trained = [pair for pair, wanted in zip(stored, cleaner.for_training, strict=True) if wanted]
    assert 0 < len(held_out) < num_pairs // 2
    assert dev.origins == (("c.de", len(held_out)),)
    assert sorted(held_out + trained) == sorted(pairs)


def test_the_tokenizer_knows_the_words_of_training_and_no_others(tmp_path: Path) -> None:
    words = [f"w{n}" for n in range(40)]
    cleaner = pipeline.store_texts(
        [ListReader([(word, f"{word}-t") for word in words])], tmp_path, CONFIG, listener=ignore
    )
    pipeline.clean(cleaner, None, [], num_held_out=4)
    dev = pipeline.held_out_set(tmp_path, cleaner)
    tokenizer = train_tokenizers(
        StoredPairs(tmp_path / pipeline.PAIRS), CONFIG, cleaner.for_training, listener=ignore
    ).source
    unknown = {word for word in words if tokenizer.unknown(word)}
    assert unknown == set(dev.sources)
