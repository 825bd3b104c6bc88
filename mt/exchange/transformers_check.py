"""Whether a model computes what Hugging Face's MarianMTModel does.

Nothing else imports transformers.

Logits of token sequences that are drawn at random are compared: a difference anywhere in the model
shows in them, and no text of its languages is needed.

Shapes: B pairs, S source tokens, T target tokens, V vocabulary.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from mt.exchange.foreign import Vocabulary
from mt.files.library_paths import library_path
from mt.model.translation_model import TranslationModel
from mt.text.padding import pad_with_end
from mt.text.tokenizer import END, RESERVED, START, UNKNOWN

LARGEST, ROUNDING = 1e-4, 1e-5
"""Logits that differ by more, and by more than this share of the largest, are of two models."""
_LENGTHS = (1, 2, 3, 5, 8, 13, 21, 34)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What came of holding a model against another program's."""

    program: str
    """The other program with its version; empty where it is not installed."""
    num_pairs: int = 0
    difference: float = 0.0
    """The largest difference of two logits."""
    largest: float = 0.0
    """The largest logit, without its sign."""

    @property
    def is_same(self) -> bool:
        """Whether the two compute the same, or nothing was compared."""
        return self.difference <= max(LARGEST, ROUNDING * self.largest)

    @property
    def sentence(self) -> str:
        """What came of it, in words."""
        if not self.program:
            return "compared with nothing: transformers is not installed (pip install transformers)"
        return (
            f"compared with {self.program}: logits of {self.num_pairs} pairs differ by "
            f"{self.difference:.1e} at most"
        )


def compare_with_transformers(
    model: TranslationModel,
    folder: Path,
    *,
    source: Vocabulary,
    target: Vocabulary,
    with_start: bool = True,
) -> Comparison:
    """Compare logits with those of the MarianMTModel in `folder`, where transformers is installed.

    `source` and `target` are its vocabularies. Without `with_start` the logit of the symbol that
    the target starts with, which is no translation, is left out.
    """
    try:
        import transformers
    except ImportError:
        return Comparison(program="")
    transformers.utils.logging.disable_progress_bar()
    other = transformers.MarianMTModel.from_pretrained(library_path(folder), dtype=torch.float32)
    other.eval()
    pairs = random_pairs(len(source.order), len(target.order))
    ours = pair_logits(model, pairs)
    theirs = _their_logits(other, pairs, source.order, target.order)
    first = START if with_start else END
    shared = {i: its for i, its in enumerate(target.order) if its is not None and i >= first}
    difference = max(
        float((mine[:, list(shared)] - its[:, list(shared.values())]).abs().max())
        for mine, its in zip(ours, theirs, strict=True)
    )
    return Comparison(
        program=f"transformers {transformers.__version__}",
        num_pairs=len(pairs),
        difference=difference,
        largest=max(float(its[:, list(shared.values())].abs().max()) for its in theirs),
    )


def random_pairs(source_vocab: int, target_vocab: int) -> list[tuple[list[int], list[int]]]:
    """Pairs of token ids of mt, of several lengths."""
    draw = random.Random(1)

    def side(vocabulary: int, length: int) -> list[int]:
        first = UNKNOWN if vocabulary > UNKNOWN else len(RESERVED)
        return [draw.randrange(first, vocabulary) for _ in range(length)]

    return [
        (side(source_vocab, length), side(target_vocab, target_length))
        for length, target_length in zip(_LENGTHS, reversed(_LENGTHS), strict=True)
    ]


@torch.inference_mode()
def pair_logits(
    model: TranslationModel, pairs: Sequence[tuple[list[int], list[int]]]
) -> list[Tensor]:
    """The logits (T + 1, V) of each pair."""
    source, mask = pad_with_end([source for source, _ in pairs])
    wanted, real = pad_with_end([target for _, target in pairs])
    fed = functional.pad(wanted[:, :-1], (1, 0), value=START)
    hidden = model(source, mask, fed)
    return [model.project(rows[is_real]) for rows, is_real in zip(hidden, real, strict=True)]


@torch.inference_mode()
def _their_logits(
    other: Any,
    pairs: Sequence[tuple[list[int], list[int]]],
    of_source: Sequence[int | None],
    of_target: Sequence[int | None],
) -> list[Tensor]:
    """The same by MarianMTModel, one pair at a time."""
    logits = []
    for source, target in pairs:
        ids = [[of_source[i] or 0 for i in source] + [other.config.eos_token_id]]
        fed = [[other.config.decoder_start_token_id] + [of_target[i] or 0 for i in target]]
        logits.append(
            other(input_ids=torch.tensor(ids), decoder_input_ids=torch.tensor(fed)).logits[0]
        )
    return logits
