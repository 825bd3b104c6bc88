"""Which forms of model other programs have."""

from __future__ import annotations

import json

from mt.config import Config, ExportForm
from mt.errors import ConfigError, ModelFolderError
from mt.text.tags import TaggedTokenizer
from mt.text.tokenizer_pair import TokenizerPair

_KNOWN: dict[ExportForm, dict[str, tuple[object, ...]]] = {
    "ctranslate2": {
        "architecture": ("encoder-decoder",),
        "positions": ("sinusoidal", "learned", "rotary"),
    },
    "huggingface": {
        "architecture": ("encoder-decoder",),
        "positions": ("sinusoidal",),
        "sinusoids": ("halves",),
        "norm": ("post",),
        "norm_kind": ("layernorm",),
        "norm_epsilon": (1e-5,),
        "activation": ("relu", "gelu", "swish"),
        "biases": (True,),
    },
    "marian": {
        "architecture": ("encoder-decoder",),
        "positions": ("sinusoidal",),
        "sinusoids": ("marian",),
        "norm": ("post", "pre"),
        "norm_kind": ("layernorm",),
        "norm_epsilon": (1e-6,),
        "activation": ("relu", "gelu", "swish"),
        "biases": (True,),
        "zero_start": (True,),
        "scale_embeddings": (True,),
    },
}
_NAMES: dict[ExportForm, str] = {
    "ctranslate2": "CTranslate2",
    "huggingface": "Hugging Face's MarianMTModel",
    "marian": "Marian",
}
_HINTS: dict[ExportForm, str | None] = {
    "ctranslate2": None,
    "huggingface": "--preset marian has such a form",
    "marian": "--preset marian --set model.sinusoids=marian --set model.norm_epsilon=1e-6 has such "
    "a form",
}


def refuse_other_forms(config: Config, form: ExportForm, *, name: str) -> None:
    """Raise ModelFolderError, naming the setting, for a model that a program has no form for."""
    if found := _unfit(config, form):
        raise ModelFolderError(
            f"{name} has {found}",
            hint="Translate with mt translate, or train a model of another form",
        )


def require_form(config: Config, form: ExportForm) -> None:
    """Raise ConfigError, naming the setting, for settings that a program has no form for."""
    if found := _unfit(config, form):
        raise ConfigError(f"--for {form}: this run has {found}", hint=_HINTS[form])


def refuse_tags(tokenizers: TokenizerPair, form: ExportForm, *, name: str) -> None:
    """Raise ModelFolderError for a model with reserved tags, which a program has no form for."""
    if isinstance(tokenizers.source, TaggedTokenizer):
        raise ModelFolderError(
            f"{name} has reserved tags before its sources ({', '.join(tokenizers.source.tags)}), "
            f"which cannot be exported to {_NAMES[form]}",
            hint="Export it for CTranslate2, or train without --synthetic, in one direction",
        )


def _unfit(config: Config, form: ExportForm) -> str:
    """The setting that a program has no form for, and what it has; empty where there is none."""
    settings: list[tuple[str, object, tuple[object, ...]]] = [
        (f"model.{key}", getattr(config.model, key), known) for key, known in _KNOWN[form].items()
    ]
    if form != "ctranslate2":
        settings.append(("directions", config.directions, ((),)))
        heads = config.model.heads
        settings.append(("model.key_value_heads", config.model.key_value_heads or heads, (heads,)))
        settings.append(("tokenizer.kind", config.tokenizer.kind, ("unigram", "bpe", "imported")))
    for name, value, known in settings:
        if value not in known:
            return (
                f"{name} = {json.dumps(value)}, which cannot be exported to "
                f"{_NAMES[form]} (only {', '.join(map(json.dumps, known))})"
            )
    return ""
