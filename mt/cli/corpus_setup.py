"""The first half of `mt train`: a model folder with all but weights."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

from mt.config import Config
from mt.config_file import Values
from mt.corpus.pair import Reader
from mt.events import CorpusRead, Event, Listener, Notice
from mt.presets import preset, preset_for, vocab_size_for
from mt.text.tokenizer_pair import TokenizerPair
from mt.train import preparation
from mt.translate import model_folder


def fill_folder(
    folder: Path,
    *,
    readers: Sequence[Reader],
    dev_pairs: tuple[list[str], list[str]] | None,
    preset_name: str | None,
    overrides: Values,
    listener: Listener,
) -> tuple[Config, TokenizerPair]:
    """Fill the model folder with all but weights: settings, tokenizers, corpus."""
    training = folder / model_folder.TRAINING
    tally = preparation.store_texts(readers, training, listener=listener)
    config = settle_sizes(preset_name, overrides, num_pairs=tally.num_used, listener=listener)
    held_out = preparation.HeldOut(threshold=0.0)
    if dev_pairs is None:
        held_out, *dev = preparation.hold_out(
            training, num_pairs=tally.num_used, wanted=config.corpus.held_out
        )
        dev_pairs = dev[0], dev[1]
        listener(Notice(text=f"{len(dev_pairs[0])} pairs are held out for validation"))
    else:
        preparation.warn_of_overlap(training, dev_pairs[0], listener=listener)
    tokenizers = preparation.train_tokenizers(
        training, config, held_out, num_pairs=tally.num_used, listener=listener
    )
    config = config.with_values({"tokenizer": {"vocab_size": tokenizers.target.vocab_size}})
    corpus: list[CorpusRead] = []

    def note(event: Event) -> None:
        if isinstance(event, CorpusRead):
            corpus.append(event)
        listener(event)

    preparation.store_tokens(
        training, tokenizers, held_out, tally, max_length=config.corpus.max_length, listener=note
    )
    preparation.store_dev_tokens(training, tokenizers, *dev_pairs)
    (training / preparation.PAIRS).unlink()
    for name, lines in zip(("dev.source", "dev.target"), dev_pairs, strict=True):
        (folder / name).write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8"))
    (training / "corpus.json").write_text(json.dumps(dataclasses.asdict(corpus[0])), "utf-8")
    tokenizers.save(folder)
    model_folder.write_config(folder, config)
    return config, tokenizers


def settle_sizes(
    preset_name: str | None, overrides: Values, *, num_pairs: int, listener: Listener
) -> Config:
    """The settings of a run, with preset and vocabulary size by the corpus where not given."""
    name = preset_name or preset_for(num_pairs)
    config = preset(name).with_values(overrides)
    chosen = [] if preset_name else [f"preset {name}"]
    if config.tokenizer.vocab_size is None:
        size = vocab_size_for(num_pairs)
        config = config.with_values({"tokenizer": {"vocab_size": size}})
        chosen.append(f"a vocabulary of {size} pieces")
    if chosen:
        listener(Notice(text=f"{' and '.join(chosen)}: what fits {num_pairs} pairs"))
    return config


def merge_languages(values: Values, source: str, target: str) -> Values:
    """Settings with the languages that the corpus has, unless they are set already."""
    top = {"source_language": source, "target_language": target, **values.get("", {})}
    return {**values, "": top}
