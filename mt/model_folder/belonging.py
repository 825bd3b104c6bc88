"""What weights belong to: the tokenizers whose pieces they know, and the form of model they are of.

Files of other models fit as far as shapes go, and give garbage. So `model.safetensors` says in its
head what it was trained with: the SHA-256 of each tokenizer file, and all settings of [model] that
change what its numbers mean. Weights of mt 0.1 say nothing, and are taken as they are.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from mt.config import ModelConfig
from mt.errors import ModelFolderError
from mt.files.library_paths import library_path
from mt.files.seal import UNSEALED
from mt.text.tokenizer_pair import TokenizerPair, tokenizer_digests

KEY = "mt"
"""The key of the metadata of a safetensors file."""
_TRAINING_ONLY = ("dropout", "attention_dropout", "activation_dropout", "initialisation")


def metadata_of(folder: Path, config: ModelConfig) -> dict[str, str]:
    """What weights of this form are to say that are written beside the tokenizers of `folder`.

    There is room for a seal in it (`mt.files.seal`).
    """
    form = dataclasses.asdict(config)
    for name in _TRAINING_ONLY:
        del form[name]
    record = {"model": form, "sha256": UNSEALED, "tokenizers": tokenizer_digests(folder)}
    return {KEY: json.dumps(record, sort_keys=True)}


def require_own_tokenizers(weights: Path, tokenizers: TokenizerPair) -> None:
    """Raise ModelFolderError, naming both, for tokenizers that weights were not trained with."""
    known: dict[str, str] = _recorded(weights).get("tokenizers", {})
    for name, found in tokenizers.digests.items():
        if known and known.get(name) != found:
            trained = f"SHA-256 {known[name][:16]}…" if name in known else "no such file"
            raise ModelFolderError(
                f"{weights.parent / name} (SHA-256 {found[:16]}…) is not the tokenizer that "
                f"{weights.name} was trained with ({trained})",
                hint="Put the file of this model back: with another its pieces mean other text",
            )


def require_own_form(weights: Path, config: ModelConfig) -> None:
    """Raise ModelFolderError, naming the setting, where weights are of another form of model."""
    for name, trained in _recorded(weights).get("model", {}).items():
        here = getattr(config, name, trained)
        if here != trained:
            raise ModelFolderError(
                f"{weights} was trained with model.{name} = {json.dumps(trained)}, but "
                f"config.toml says {json.dumps(here)}",
                hint="Put the config.toml of this model back",
            )


def _recorded(weights: Path) -> dict[str, Any]:
    """What the head of a file says; nothing of weights that say nothing or are not there."""
    if not weights.exists():
        return {}
    try:
        # This reads only the head of the file.
        with safe_open(library_path(weights), framework="numpy") as file:
            record = json.loads((file.metadata() or {}).get(KEY, "{}"))
    except (OSError, ValueError, SafetensorError) as error:
        raise ModelFolderError(
            f"{weights} is not a safetensors file, or is damaged: {error}"
        ) from error
    return record if isinstance(record, dict) else {}
