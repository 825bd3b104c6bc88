"""Small models in every form they take, and what they are fed."""

from __future__ import annotations

import itertools
import random
from typing import Any

import torch
from torch import Tensor

from mt.config import ModelConfig
from mt.model.decoder_only import DecoderOnly
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.translation_model import TranslationModel

CHOICES: dict[str, tuple[Any, ...]] = {
    "architecture": ("encoder-decoder", "decoder-only", "prefix"),
    "positions": ("sinusoidal", "learned", "rotary", "relative"),
    "key_value_heads": (None, 2, 1),
    "biases": (True, False),
    "norm": ("pre", "post"),
    "norm_kind": ("layernorm", "rmsnorm"),
    "activation": ("relu", "gelu", "swish", "swiglu"),
    "tied": ("all", "target", "none"),
    "output_bias": (False, True),
    "scale_embeddings": (True, False),
    "zero_start": (False, True),
    "sinusoids": ("interleaved", "halves", "marian"),
}
"""What can be chosen of a model, most entangled ones first; "prefix" is a decoder-only model with
bidirectional attention over the source. What a form cannot have is left out of it."""
Form = dict[str, Any]
VOCABULARY = 11


def _covering(choices: dict[str, tuple[Any, ...]]) -> list[Form]:
    """Forms among which the first three settings meet in all ways, and any two others too."""
    names = list(choices)
    groups = [tuple(names[:3]), *itertools.combinations(names, 2)]
    missing = {
        (group, values)
        for group in groups
        for values in itertools.product(*(choices[name] for name in group))
    }
    draw = random.Random(0)
    forms: list[Form] = []

    def met(form: Form) -> set[tuple[tuple[str, ...], tuple[Any, ...]]]:
        return missing & {(group, tuple(form[name] for name in group)) for group in groups}

    for first in itertools.product(*(choices[name] for name in names[:3])):
        candidates = [
            dict(zip(names, (*first, *(draw.choice(choices[n]) for n in names[3:])), strict=True))
            for _ in range(200)
        ]
        forms.append(max(candidates, key=lambda form: len(met(form))))
        missing -= met(forms[-1])
    assert not missing
    return forms


FORMS = _covering(CHOICES)


def name_of(form: Form) -> str:
    """The values of a form, for the name of a test."""
    return "-".join(
        f"{name}={value}" if isinstance(value, bool | int | None) else value
        for name, value in form.items()
    )


def make_model(form: Form) -> TranslationModel:
    """A model in float64, in evaluation mode."""
    torch.manual_seed(0)
    is_one_stack = form["architecture"] != "encoder-decoder"
    chosen = {name: value for name, value in form.items() if name != "architecture"}
    if is_one_stack:
        del chosen["zero_start"]
    if form["positions"] != "sinusoidal":
        del chosen["sinusoids"]
    config = ModelConfig(
        architecture="decoder-only" if is_one_stack else "encoder-decoder",
        bidirectional_source=form["architecture"] == "prefix",
        d_model=16,
        d_inner=32,
        heads=4,
        encoder_layers=0 if is_one_stack else 2,
        decoder_layers=2,
        dropout=0.1,
        attention_dropout=0.1,
        activation_dropout=0.1,
        max_positions=64,
        **chosen,
    )
    source_vocab = VOCABULARY if config.tied == "all" else VOCABULARY + 2
    kind = DecoderOnly if is_one_stack else EncoderDecoder
    model = kind(config, source_vocab=source_vocab, target_vocab=VOCABULARY)
    with torch.no_grad():
        for parameter in model.parameters():  # biases too: zeros would hide mistakes
            if parameter.dim() == 1:
                parameter.add_(0.1 * torch.randn_like(parameter))
    return model.double().eval()


def source_of(*lengths: int) -> tuple[Tensor, Tensor]:
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    torch.manual_seed(1)
    ids = torch.randint(4, VOCABULARY, mask.shape).masked_fill(~mask, 0)
    return ids, mask


def logits_of(model: TranslationModel, source: Tensor, mask: Tensor, target: Tensor) -> Tensor:
    hidden: Tensor = model(source, mask, target)
    return model.project(hidden)


def assert_close(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-10)
