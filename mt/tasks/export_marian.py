"""Exporting to Marian: what is written is read back, and has to say the same."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from operator import eq
from pathlib import Path

import torch
from torch import Tensor

from mt import __version__
from mt.errors import ModelFolderError
from mt.events import Listener, Notice, ignore
from mt.exchange.foreign import to_model
from mt.exchange.forms import refuse_other_forms, refuse_tags
from mt.exchange.huggingface_export import CHECK
from mt.exchange.marian import read_marian
from mt.exchange.marian_export import MODEL, write_marian
from mt.exchange.transformers_check import LARGEST, pair_logits, random_pairs
from mt.files import new_folder, write_text
from mt.model.translation_model import TranslationModel
from mt.model_folder.folder import LoadedModel, load_model, read_dev_pairs
from mt.tasks.dev_lines import fixed_sample
from mt.text.imported import warn_of_prefix
from mt.text.tokenizer import END
from mt.text.tokenizer_pair import TokenizerPair
from mt.translation.options import TranslationOptions
from mt.translation.translator import Translator

_TokenPair = tuple[list[int], list[int]]
_LONGEST = 200  # tokens of a side of pairs that are compared


@dataclass(frozen=True, kw_only=True)
class ReadBack:
    """What came of reading a model back and comparing it with that which was written."""

    num_pairs: int
    difference: float
    """The largest difference of the log-probabilities of a token, in nats."""
    num_lines: int
    """Lines that both have translated greedily; 0 without a validation set."""
    num_same: int

    @property
    def sentence(self) -> str:
        """In words."""
        lines = f"; {self.num_same} of {self.num_lines} lines are translated alike"
        return (
            f"read back by mt: log-probabilities of the tokens of {self.num_pairs} pairs differ by "
            f"{self.difference:.1e} at most{lines if self.num_lines else ''}"
        )


def export_marian(folder: Path, output: Path, listener: Listener = ignore) -> None:
    """Write the model of `folder` into the new folder `output`, whole or not at all.

    It is read back by mt and compared on the validation set, or on random tokens where there is
    none; a notice tells what came of it.

    Raises ModelFolderError for a bad folder, a model that Marian has no form for, and one that
    says something else when it is read back.
    """
    loaded = load_model(folder)
    refuse_other_forms(loaded.config, "marian", name=str(folder))
    refuse_tags(loaded.tokenizers, "marian", name=str(folder))
    pairs = read_dev_pairs(folder)
    pairs = [pairs[i] for i in fixed_sample(len(pairs))] if pairs else []
    with new_folder(output.absolute()) as temporary:
        write_marian(loaded, temporary)
        prefix = getattr(loaded.tokenizers.source, "prefix", "")
        foreign = read_marian(temporary / MODEL, prefix=prefix)
        config, model = to_model(foreign)
        config = replace(config, search=loaded.config.search)
        back = LoadedModel(config=config, tokenizers=foreign.tokenizers, model=model)
        compared = _compared(loaded, back, pairs)
        if not compared.difference <= LARGEST:
            raise ModelFolderError(f"{folder}: {compared.sentence}: nothing was exported")
        record = {"mt_version": __version__, "compared_with": f"mt {__version__}"}
        write_text(temporary / CHECK, f"{json.dumps({**record, **asdict(compared)}, indent=2)}\n")
    listener(Notice(text=compared.sentence))
    warn_of_prefix(loaded.tokenizers.source, listener)


def _compared(one: LoadedModel, two: LoadedModel, texts: Sequence[tuple[str, str]]) -> ReadBack:
    """Compare log-probabilities of pairs, and greedy translations of their sources."""
    pairs = _encoded(one.tokenizers, texts)
    if pairs != _encoded(two.tokenizers, texts):
        raise ModelFolderError("what was written for Marian cuts text otherwise than the model")
    if not pairs:
        pairs = random_pairs(one.tokenizers.source.vocab_size, one.tokenizers.target.vocab_size)
    difference = 0.0
    for pair in pairs:
        mine, its = (_log_probabilities(each.model, pair) for each in (one, two))
        difference = max(difference, float((mine - its).abs().max()))
    sources = [source for source, _ in texts]
    translated, others = (_greedy(each, sources) for each in (one, two))
    return ReadBack(
        num_pairs=len(pairs),
        difference=difference,
        num_lines=len(texts),
        num_same=sum(map(eq, translated, others)),
    )


def _encoded(tokenizers: TokenizerPair, texts: Sequence[tuple[str, str]]) -> list[_TokenPair]:
    return [
        (tokenizers.source.encode(source), tokenizers.target.encode(target))
        for source, target in texts
    ]


def _log_probabilities(model: TranslationModel, pair: _TokenPair) -> Tensor:
    """Of the tokens (T + 1) of a target, among all that may be written: never start or padding."""
    source, target = (side[:_LONGEST] for side in pair)
    (logits,) = pair_logits(model, [(source, target)])
    wanted = torch.tensor([*target, END])[:, None] - END
    return logits[:, END:].log_softmax(dim=1).gather(1, wanted)


def _greedy(loaded: LoadedModel, lines: list[str]) -> list[str]:
    search = replace(loaded.config.search, beam=1, n_best=1)
    options = TranslationOptions(search=search, split=False, keep_case=True, forks=True)
    translator = Translator(loaded.model, loaded.tokenizers, loaded.config, options=options)
    return [each.text for each in translator.translate(lines)]
