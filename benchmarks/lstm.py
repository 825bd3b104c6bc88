"""An LSTM encoder–decoder (Sutskever et al. 2014), to measure the Transformer of `mt` against.

It is no part of `mt`: it lives here for `reach.py` alone, and takes no padding in the source.

Shapes: B sentences, S source positions, T target positions, D width, V vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class LstmDecoder(nn.Module):
    """LSTM layers that begin with given states; with attention each output looks at the source.

    That is the "general" score of Luong et al. 2015.
    """

    def __init__(self, *, width: int, layers: int, attention: bool) -> None:
        super().__init__()
        self.lstm = nn.LSTM(width, width, layers, batch_first=True)
        self.score = nn.Linear(width, width, bias=False) if attention else None
        self.combine = nn.Linear(2 * width, width) if attention else None

    def forward(self, target: Tensor, memory: Tensor, state: tuple[Tensor, Tensor]) -> Tensor:
        """Embeddings (B, T, D) of the target, outputs (B, S, D) of the encoder -> (B, T, D)."""
        hidden: Tensor
        hidden, _ = self.lstm(target, state)
        if self.score is None or self.combine is None:
            return hidden
        weights = functional.softmax(self.score(hidden) @ memory.transpose(1, 2), dim=-1)
        return torch.tanh(self.combine(torch.cat((weights @ memory, hidden), dim=-1)))


class LstmEncoderDecoder(nn.Module):
    """LSTM layers (Hochreiter and Schmidhuber 1997) on both sides, and one embedding for all.

    Names of parts are those of `mt.model.encoder_decoder`, by which the trainer knows them.
    """

    def __init__(self, *, vocabulary: int, width: int, layers: int, attention: bool) -> None:
        super().__init__()
        self.target_embedding = nn.Embedding(vocabulary, width)
        self.encoder = nn.LSTM(width, width, layers, batch_first=True)
        self.decoder = LstmDecoder(width=width, layers=layers, attention=attention)
        nn.init.normal_(self.target_embedding.weight, std=width**-0.5)
        for lstm in (self.encoder, self.decoder.lstm):
            for name, parameter in lstm.named_parameters():
                if name.startswith("bias_ih"):
                    with torch.no_grad():  # gates that forget little at first (Gers et al. 2000)
                        parameter[width : 2 * width] = 1.0

    @property
    def output_weight(self) -> Tensor:
        """The matrix (V, D) that turns a hidden vector into logits."""
        return self.target_embedding.weight

    def forward(self, source: Tensor, source_mask: Tensor, target: Tensor) -> Tensor:
        """Hidden vectors (B, T, D) for source (B, S) and target (B, T), as `EncoderDecoder` gives.

        Raises ValueError where `source_mask` (B, S) tells of padding.
        """
        if not source_mask.all():
            raise ValueError("sources must have one length")
        scale = self.target_embedding.embedding_dim**0.5
        memory, state = self.encoder(self.target_embedding(source) * scale)
        out: Tensor = self.decoder(self.target_embedding(target) * scale, memory, state)
        return out


def width_for(num_parameters: int, *, vocabulary: int, layers: int, attention: bool) -> int:
    """The width, a multiple of 4, whose parameters come nearest to so many."""

    def distance(width: int) -> int:
        model = LstmEncoderDecoder(
            vocabulary=vocabulary, width=width, layers=layers, attention=attention
        )
        return abs(sum(parameter.numel() for parameter in model.parameters()) - num_parameters)

    return min(range(16, 257, 4), key=distance)
