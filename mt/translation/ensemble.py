"""Models that predict together: what must be equal in them, and what bounds all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from mt.config import SearchConfig
from mt.errors import ModelFolderError
from mt.events import Listener, Notice
from mt.languages import is_same_language
from mt.model.positions import check_reach
from mt.model.translation_model import TranslationModel
from mt.model_folder.folder import LoadedModel, load_onto
from mt.text.tokenizer_pair import TokenizerPair
from mt.translation.long_lines import longest_good, trained_length

MOST_TOKENS = 8192
"""Tokens of a side that are computed together at most.

Attention over n tokens holds n * n numbers a head: at 8,192 tokens and 8 heads 2 GiB, several times
over. A line of 400,000 characters would ask for 320 GB, and take with it the lines beside it.
"""


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
    def longest(self) -> int | None:
        """The longest sequence that all can take: the smallest table of learned positions."""
        tables = [each.model.longest for each in self._all]
        return min((table for table in tables if table is not None), default=None)

    @property
    def longest_good(self) -> int:
        """Most source tokens, the end symbol not counted, that all are good for."""
        return min(longest_good(each.config, each.model.longest) for each in self._all)

    @property
    def trained_length(self) -> int:
        """The source length, without the end symbol, to which the training of all went."""
        return min(trained_length(each.config) for each in self._all)

    def bounded(self, search: SearchConfig) -> SearchConfig:
        """`search` with hypotheses that a table of learned positions can hold, the start too."""
        if self.longest is None:
            return search
        bound = self.longest - 1
        if search.max_length is not None:
            bound = min(search.max_length, bound)
        return dataclasses.replace(search, max_length=max(bound, 1))

    def check_reach(self, num_tokens: int, line: int) -> None:
        """Raise DataError, naming the line, beyond a table of learned positions."""
        hint = "Split the line into sentences"
        check_reach(num_tokens, self.longest, what=f"line {line}", hint=hint)

    def check_length(self, num_tokens: int, line: int, listener: Listener) -> None:
        """Warn of a source that is longer than in training.

        Raises DataError, naming the line, for one that goes beyond a table of learned positions.
        """
        self.check_reach(num_tokens, line)
        trained = self.trained_length
        if num_tokens > trained:
            text = (
                f"line {line}: {num_tokens} tokens, longer than what training went to "
                f"({trained}); it is translated whole, but perhaps badly"
            )
            listener(Notice(text=text, is_warning=True))


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
