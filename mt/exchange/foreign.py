"""A model of Marian's form, read from another program's files, as a model of mt.

Tensors bear the names of Hugging Face's MarianMTModel, whichever program they come from. Rows of
embeddings change their places: mt's ids begin with padding, start, end and unknown. Where the other
program has no row for one of them, it is zeros with a bias that rules it out.

Shapes: D model width, F inner width, V vocabulary.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mt.config import Config, ModelConfig, SearchConfig, TiedEmbeddings, TokenizerConfig
from mt.errors import ModelFolderError
from mt.model.attention import MultiHeadAttention
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.feed_forward import FeedForward
from mt.model.layers import DecoderLayer, EncoderLayer, Residual
from mt.model_folder.folder import build_model
from mt.text.tokenizer import RESERVED
from mt.text.tokenizer_pair import TokenizerPair

NEVER = -100.0
"""The bias of an id that is no piece: its probability is below 1e-40."""

SHARED, SOURCE, TARGET, OUTPUT, BIAS = (
    "model.shared.weight",
    "model.encoder.embed_tokens.weight",
    "model.decoder.embed_tokens.weight",
    "lm_head.weight",
    "final_logits_bias",
)


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The pieces of one side, in the order of the other program's ids."""

    pieces: Sequence[str]
    start: int | None
    """The id that the target starts with, which is no piece; None where there is none."""
    end: int
    unknown: int

    @property
    def order(self) -> list[int | None]:
        """The other program's id of each id of mt; None where it has none."""
        reserved = (None, self.start, self.end, self.unknown)
        return [*reserved, *(i for i in range(len(self.pieces)) if i not in reserved)]

    @property
    def own(self) -> list[str]:
        """The pieces that mt's tokenizer has after the reserved ids."""
        return [self.pieces[i] for i in self.order[len(RESERVED) :] if i is not None]


@dataclass(frozen=True, kw_only=True)
class ForeignModel:
    """What the files of another program hold."""

    name: str
    """The file or folder that holds the weights."""
    program: str
    config: ModelConfig
    """Its `tied` and `zero_start` are settled by the weights (`to_model`)."""
    tensors: dict[str, Tensor]
    shares_embeddings: bool
    """Whether source and target have one matrix."""
    ties_output: bool
    """Whether the output has the matrix of the target."""
    source: Vocabulary
    target: Vocabulary
    tokenizers: TokenizerPair
    languages: tuple[str, str] = ("", "")
    beam: int | None = None
    """The width of the beam that its makers searched with."""

    @property
    def tied(self) -> TiedEmbeddings:
        """`model.tied` of mt; what is shared in another way has copies."""
        if not self.ties_output:
            return "none"
        return "all" if self.shares_embeddings else "target"


def to_model(foreign: ForeignModel) -> tuple[Config, EncoderDecoder]:
    """Settings and model of mt, in evaluation mode; its numbers are those of `foreign`.

    Raises ModelFolderError for a tensor that is missing, of another shape, left over or not finite.
    """
    weights = _Tensors(foreign)
    source, target, output = weights.embeddings()
    start = foreign.target.start
    config = Config(
        source_language=foreign.languages[0],
        target_language=foreign.languages[1],
        tokenizer=TokenizerConfig(
            kind="imported",
            vocab_size=foreign.tokenizers.target.vocab_size,
            joint=foreign.tokenizers.is_joint,
        ),
        model=dataclasses.replace(
            foreign.config,
            tied=foreign.tied,
            zero_start=start is None or not target[start].any(),
        ),
        search=SearchConfig() if foreign.beam is None else SearchConfig(beam=foreign.beam),
    )
    model = build_model(config, foreign.tokenizers)
    assert isinstance(model, EncoderDecoder)
    with torch.no_grad():
        model.source_embedding.weight.copy_(_rows(source, foreign.source.order))
        model.target_embedding.weight.copy_(_rows(target, foreign.target.order))
        model.output.weight.copy_(_rows(output, foreign.target.order))
        assert model.output_bias is not None
        bias = weights.take(BIAS, 1, len(foreign.target.pieces))[0]
        model.output_bias.copy_(_rows(bias, foreign.target.order, missing=NEVER))
        weights.fill_stacks(model)
    weights.refuse_left()
    return config, model.eval()


def _rows(tensor: Tensor, order: Sequence[int | None], *, missing: float = 0.0) -> Tensor:
    """The rows of `tensor` (V, …) in another order, `missing` where there is none."""
    index = torch.tensor([0 if i is None else i for i in order])
    is_missing = torch.tensor([i is None for i in order])
    rows = tensor[index]
    rows[is_missing] = missing
    return rows


class _Tensors:
    """Hands out tensors by name and shape, and knows which are left."""

    def __init__(self, foreign: ForeignModel) -> None:
        self._foreign = foreign
        self._left = dict(foreign.tensors)

    def take(self, name: str, *shape: int) -> Tensor:
        """A tensor in float32, which is not left then."""
        where = self._foreign.name
        if name not in self._left:
            raise ModelFolderError(f"{where} lacks the tensor {name}")
        tensor = self._left.pop(name)
        if tensor.shape != shape:
            raise ModelFolderError(
                f"{where}: tensor {name} has shape {tuple(tensor.shape)}, but its settings ask "
                f"for {shape}"
            )
        tensor = tensor.float()
        if not torch.isfinite(tensor).all():
            raise ModelFolderError(f"{where}: tensor {name} holds NaN or infinite values")
        return tensor

    def refuse_left(self) -> None:
        """Raise ModelFolderError where a tensor is left."""
        if self._left:
            raise ModelFolderError(
                f"{self._foreign.name} has a stray tensor {min(self._left)}: its settings name no "
                "place for it"
            )

    def embeddings(self) -> tuple[Tensor, Tensor, Tensor]:
        """Those of the source, of the target and of the output, each (V, D)."""
        foreign = self._foreign
        sizes = len(foreign.source.pieces), len(foreign.target.pieces)
        if not foreign.ties_output:  # transformers 5 ties nothing then, whatever is shared
            if foreign.shares_embeddings and SHARED in self._left:
                shared = self._left.pop(SHARED)
                self._left.setdefault(SOURCE, shared)
                self._left.setdefault(TARGET, shared)
            source, target = self._one(sizes[0], SOURCE), self._one(sizes[1], TARGET)
            return source, target, self._one(sizes[1], OUTPUT)
        if foreign.shares_embeddings:
            source = target = self._one(sizes[0], SHARED, SOURCE, TARGET, OUTPUT)
        else:
            source, target = self._one(sizes[0], SOURCE), self._one(sizes[1], TARGET, OUTPUT)
        return source, target, target

    def _one(self, size: int, *names: str) -> Tensor:
        """The tensor (V, D) that bears several names; the files may hold it more than once."""
        there = [name for name in names if name in self._left] or list(names[:1])
        tensors = [self.take(name, size, self._foreign.config.d_model) for name in there]
        for name, tensor in zip(there[1:], tensors[1:], strict=True):
            if not torch.equal(tensor, tensors[0]):
                raise ModelFolderError(
                    f"{self._foreign.name}: the tensors {there[0]} and {name} are one by its "
                    "settings, but they differ"
                )
        return tensors[0]

    def fill_stacks(self, model: EncoderDecoder) -> None:
        """Fill the layers of both stacks, and the norms at their ends."""
        for number, layer in enumerate(model.encoder):
            assert isinstance(layer, EncoderLayer)
            place = f"model.encoder.layers.{number}"
            self._attention(f"{place}.self_attn", layer.attention, layer.attention_residual)
            self._feed_forward(place, layer)
        for number, layer in enumerate(model.decoder):
            assert isinstance(layer, DecoderLayer)
            place = f"model.decoder.layers.{number}"
            self._attention(f"{place}.self_attn", layer.self_attention, layer.self_residual)
            self._attention(f"{place}.encoder_attn", layer.cross_attention, layer.cross_residual)
            self._feed_forward(place, layer)
        for name, norm in (("encoder", model.encoder_norm), ("decoder", model.decoder_norm)):
            if not isinstance(norm, nn.Identity):
                self._norm(f"model.{name}.layer_norm", norm)

    def _attention(self, name: str, attention: MultiHeadAttention, residual: Residual) -> None:
        width = self._foreign.config.d_model
        query, key, value, out = (
            (
                self.take(f"{name}.{part}_proj.weight", width, width),
                self.take(f"{name}.{part}_proj.bias", width),
            )
            for part in ("q", "k", "v", "out")
        )
        for linear, weight, bias in (
            (attention.query, *query),
            (attention.key_value, torch.cat((key[0], value[0])), torch.cat((key[1], value[1]))),
            (attention.output, *out),
        ):
            linear.weight.copy_(weight)
            linear.bias.copy_(bias)
        self._norm(f"{name}_layer_norm", residual.norm)

    def _feed_forward(self, name: str, layer: EncoderLayer | DecoderLayer) -> None:
        width, inner = self._foreign.config.d_model, self._foreign.config.d_inner
        maps = layer.feed_forward
        assert isinstance(maps, FeedForward)
        maps.inner.weight.copy_(self.take(f"{name}.fc1.weight", inner, width))
        maps.inner.bias.copy_(self.take(f"{name}.fc1.bias", inner))
        maps.outer.weight.copy_(self.take(f"{name}.fc2.weight", width, inner))
        maps.outer.bias.copy_(self.take(f"{name}.fc2.bias", width))
        self._norm(f"{name}.final_layer_norm", layer.feed_forward_residual.norm)

    def _norm(self, name: str, norm: nn.Module) -> None:
        assert isinstance(norm, nn.LayerNorm)
        width = self._foreign.config.d_model
        norm.weight.copy_(self.take(f"{name}.weight", width))
        norm.bias.copy_(self.take(f"{name}.bias", width))
