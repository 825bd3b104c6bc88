"""Weights of a parent for a model of the same shape with other vocabularies.

Shapes: V vocabulary, D model width.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from mt.model.translation_model import TranslationModel
from mt.text.tokenizer import RESERVED

Ids = Sequence[Sequence[int]]
"""For each id those of the parent that stand for it."""


@torch.no_grad()
def inherit_weights(
    model: TranslationModel, parent: TranslationModel, *, source: Ids, target: Ids
) -> None:
    """Put the weights of `parent` into `model`, those of vocabularies by `source` and `target`.

    Where the output is not tied, its rows and biases follow `target`, too.
    """
    of_vocabulary = {
        "source_embedding.weight": source,
        "target_embedding.weight": target,
        "output.weight": target,
        "output_bias": target,
    }
    of_parent = dict(parent.named_parameters())
    for name, mine in model.named_parameters():
        its = of_parent[name]
        mine.copy_(mean_rows(its, of_vocabulary[name]) if name in of_vocabulary else its)


def mean_rows(tensor: Tensor, ids: Ids) -> Tensor:
    """For each list of ids the mean of these rows of `tensor` (V, D) or (V).

    Where a list is empty, it is the mean of all rows but those of reserved symbols.
    """
    lengths = torch.tensor([len(each) for each in ids])
    index = torch.tensor([i for each in ids for i in each])
    rows = tensor if tensor.dim() == 2 else tensor[:, None]
    means = functional.embedding_bag(index, rows, lengths.cumsum(0) - lengths, mode="mean")
    means[lengths == 0] = rows[len(RESERVED) :].mean(dim=0)
    return means if tensor.dim() == 2 else means[:, 0]
