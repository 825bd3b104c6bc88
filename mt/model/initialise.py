"""First weights, from torch's default generator."""

from __future__ import annotations

from torch import nn

from mt.model.attention import MultiHeadAttention
from mt.model.positions import LearnedPositions


def initialise(model: nn.Module) -> None:
    """Xavier-uniform matrices, zero biases, embeddings of variance 1/D.

    The fused key-value matrix is drawn as two square ones (Glorot and Bengio 2010 scale a
    matrix by its own fan-in and fan-out).
    """
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
        elif isinstance(module, LearnedPositions):
            nn.init.normal_(module.table, std=0.02)
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            for half in module.key_value.weight.chunk(2):
                nn.init.xavier_uniform_(half)
