"""Models that predict together, and what must be equal in them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from mt.config import SearchConfig
from mt.errors import ModelFolderError
from mt.languages import is_same_language
from mt.model.translation_model import TranslationModel
from mt.model_folder.folder import LoadedModel, load_onto
from mt.text.tokenizer_pair import TokenizerPair
from mt.translation.bounds import Bounds


class Members:
    """One model, or several that read the same source tokens and predict the same target tokens.

    They may differ in everything else. The first gives the search settings and the languages.
    """

    def __init__(self, first: LoadedModel, others: Sequence[LoadedModel] = ()) -> None:
        """Raises ValueError where tokenizers differ."""
        for other in others:
            differing = differing_tokenizers(first.tokenizers, other.tokenizers)
            if differing:
                raise ValueError(f"models of an ensemble need one tokenizer, but {differing}")
        self._all = (first, *others)

    @property
    def models(self) -> tuple[TranslationModel, ...]:
        """The models, in order."""
        return tuple(each.model for each in self._all)

    @property
    def bounds(self) -> Bounds:
        """The lengths that all are good for."""
        return Bounds.of([each.config for each in self._all])


def load_members(
    folders: Sequence[Path],
    *,
    device: str,
    search: SearchConfig | None = None,
    keep_case: bool = False,
) -> list[LoadedModel]:
    """Read model folders that are to predict together, with `search` instead of their settings.

    With `keep_case` they read all text in the case in which it is written.

    Raises ModelFolderError, naming both folders, where tokenizers or languages differ, and what
    `load_onto` raises.
    """
    loaded: list[LoadedModel] = []
    for folder in folders:
        model = load_onto(folder, device=device, search=search)
        if keep_case:
            tokenizers = dataclasses.replace(model.tokenizers, truecaser=None)
            model = dataclasses.replace(model, tokenizers=tokenizers)
        loaded.append(model)
        first, last = loaded[0], loaded[-1]
        differing = differing_tokenizers(first.tokenizers, last.tokenizers)
        differing = differing or _differing_languages(first, last)
        if differing:
            raise ModelFolderError(
                f"{folders[0]} and {folder} cannot translate together: {differing}",
                hint="Take models of one pair of languages that were trained with one tokenizer, "
                "by the same corpus and tokenizer settings or by mt train --from",
            )
    return loaded


def differing_tokenizers(one: TokenizerPair, other: TokenizerPair) -> str:
    """Which tokenizers are not the same, byte for byte, as a clause; empty where all are."""
    sides = [
        name
        for name, ours, theirs in (
            ("source", one.source, other.source),
            ("target", one.target, other.target),
        )
        if ours.model != theirs.model
    ]
    return f"their {' and '.join(sides)} tokenizers differ" if sides else ""


def _differing_languages(one: LoadedModel, other: LoadedModel) -> str:
    """Where both name their languages and these differ, regions and scripts aside, a clause."""
    sides = (
        ("from", one.config.source_language, other.config.source_language),
        ("into", one.config.target_language, other.config.target_language),
    )
    for word, ours, theirs in sides:
        if ours and theirs and not is_same_language(ours, theirs):
            return f"one translates {word} {ours}, the other {word} {theirs}"
    return ""
