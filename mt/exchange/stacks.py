"""The tensors of a model's layers under the names of Hugging Face's MarianMTModel.

`mt.exchange.foreign` reads them back.
"""

from __future__ import annotations

from torch import Tensor, nn

from mt.model.attention import MultiHeadAttention
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.feed_forward import FeedForward
from mt.model.layers import DecoderLayer, EncoderLayer, Residual


def put_stacks(tensors: dict[str, Tensor], model: EncoderDecoder) -> None:
    """Put the tensors of the layers of both stacks, and of the norms at their ends."""
    for number, layer in enumerate(model.encoder):
        assert isinstance(layer, EncoderLayer)
        place = f"model.encoder.layers.{number}"
        _put_attention(tensors, f"{place}.self_attn", layer.attention, layer.attention_residual)
        _put_feed_forward(tensors, place, layer)
    for number, layer in enumerate(model.decoder):
        assert isinstance(layer, DecoderLayer)
        place = f"model.decoder.layers.{number}"
        _put_attention(tensors, f"{place}.self_attn", layer.self_attention, layer.self_residual)
        _put_attention(
            tensors, f"{place}.encoder_attn", layer.cross_attention, layer.cross_residual
        )
        _put_feed_forward(tensors, place, layer)
    for name, norm in (("encoder", model.encoder_norm), ("decoder", model.decoder_norm)):
        _put(tensors, f"model.{name}.layer_norm", norm)


def _put_attention(
    tensors: dict[str, Tensor], name: str, attention: MultiHeadAttention, residual: Residual
) -> None:
    for part in ("weight", "bias"):
        key, value = getattr(attention.key_value, part).chunk(2)
        tensors[f"{name}.q_proj.{part}"] = getattr(attention.query, part)
        tensors[f"{name}.k_proj.{part}"], tensors[f"{name}.v_proj.{part}"] = key, value
        tensors[f"{name}.out_proj.{part}"] = getattr(attention.output, part)
    _put(tensors, f"{name}_layer_norm", residual.norm)


def _put_feed_forward(
    tensors: dict[str, Tensor], name: str, layer: EncoderLayer | DecoderLayer
) -> None:
    assert isinstance(layer.feed_forward, FeedForward)
    _put(tensors, f"{name}.fc1", layer.feed_forward.inner)
    _put(tensors, f"{name}.fc2", layer.feed_forward.outer)
    _put(tensors, f"{name}.final_layer_norm", layer.feed_forward_residual.norm)


def _put(tensors: dict[str, Tensor], name: str, module: nn.Module) -> None:
    """Weight and bias of a module."""
    tensors.update({f"{name}.{part}": tensor for part, tensor in module.named_parameters()})
