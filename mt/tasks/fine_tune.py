"""`mt train --from`: a run that starts from the weights of a trained model.

Tokenizer and architecture are those of that model, and so are languages and search unless others
are given; optimizer, schedule and progress are new. With a new tokenizer, which is learnt from the
new corpus, its pieces take over what the model knows of them (Zoph et al. 2016; Kocmi and Bojar
2018), and languages are those of the corpus.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import torch

from mt.config import Config, TokenizerConfig
from mt.config.presets import PRESETS
from mt.config.toml import Values
from mt.errors import ConfigError
from mt.events import Listener, Notice
from mt.formats.aligned import AlignedText
from mt.formats.pair import Reader
from mt.languages import is_same_language
from mt.model.translation_model import TranslationModel
from mt.model_folder.folder import load_model
from mt.model_folder.seen_lines import FILE as SEEN
from mt.model_folder.seen_lines import SeenLines
from mt.tasks.inherited_weights import inherit_weights
from mt.text.inheritance import Inheritance, inherit
from mt.text.tokenizer_pair import TokenizerPair

_FLAGS = {
    "architecture": " (--architecture)",
    "kind": " (--tokenizer)",
    "vocab_size": " (--vocab-size)",
}
MAY_DIFFER = ("dropout", "attention_dropout", "activation_dropout")
"""Settings of [model] that change training alone, and not what the weights mean."""


@dataclass(frozen=True, kw_only=True)
class Start:
    """The trained model that a run starts from; its folder is only read."""

    name: str
    """What the folder is called."""
    config: Config
    tokenizers: TokenizerPair
    model: TranslationModel
    seen: SeenLines | None
    """What it was trained on; None where its folder does not say."""
    new_tokenizer: bool = False
    """Whether the run has a tokenizer of its own."""

    @property
    def languages(self) -> tuple[str, str] | None:
        """Source and target, where the model knows both, and the run is to translate them."""
        if self.new_tokenizer:
            return None
        known = self.config.source_language, self.config.target_language
        return known if all(known) else None

    @property
    def draft(self) -> Config:
        """The settings of a run from here, where the user gives no others.

        Dropout has its rates from the first epoch on: the model knows other text already.
        """
        of_preset = PRESETS.get(self.config.preset, Config)()
        return dataclasses.replace(
            of_preset,
            training=dataclasses.replace(of_preset.training, dropout_epochs=0.0),
            preset=self.config.preset,
            source_language="" if self.new_tokenizer else self.config.source_language,
            target_language="" if self.new_tokenizer else self.config.target_language,
            fine_tuned_from=self.name,
            tokenizer=self._tokenizer,
            model=self.config.model,
            search=self.config.search,
        )

    @property
    def _tokenizer(self) -> TokenizerConfig:
        """Settings of the tokenizer, where the user gives no others."""
        its = self.config.tokenizer
        if not self.new_tokenizer:
            return its
        kind = "unigram" if its.kind == "imported" else its.kind
        return TokenizerConfig(kind=kind, joint=its.joint or self.config.model.tied == "all")

    def inheritance(self, tokenizers: TokenizerPair) -> tuple[Inheritance, Inheritance]:
        """What the vocabularies of source and target take over from those of the model."""
        source, target = self.tokenizers.source, self.tokenizers.target
        if self.config.model.tied == "all":  # one vocabulary, which two tokenizers may cut for
            both = inherit(tokenizers.target, target, source)
            return both, both
        return inherit(tokenizers.source, source), inherit(tokenizers.target, target)

    @torch.no_grad()
    def give_weights(self, model: TranslationModel, tokenizers: TokenizerPair) -> None:
        """Put the weights of the trained model into `model`, which has its shape.

        `tokenizers` are those of `model`.
        """
        if self.new_tokenizer:
            source, target = self.inheritance(tokenizers)
            inherit_weights(model, self.model, source=source.ids, target=target.ids)
            return
        for mine, its in zip(model.parameters(), self.model.parameters(), strict=True):
            mine.copy_(its)


def load_start(
    model: Path,
    output: Path,
    *,
    preset_name: str | None,
    overrides: Values,
    new_tokenizer: bool = False,
) -> Start:
    """Read the model folder that a run into `output` starts from.

    Raises ConfigError for a setting that contradicts its architecture, or its tokenizer where the
    run has no `new_tokenizer`, for one where symbols are translated, and for an output inside the
    folder; ModelFolderError when it holds no whole model.
    """
    if output.resolve().is_relative_to(model.resolve()):
        raise ConfigError(
            f"-o {output} lies in the model folder {model}, which --from leaves as it is",
            hint="Choose another -o",
        )
    loaded = load_model(model)
    checked = {"model": overrides.get("model", {}), "": overrides.get("", {})}
    if new_tokenizer:
        _refuse_symbols(model, loaded.config, overrides)
    else:
        checked["tokenizer"] = overrides.get("tokenizer", {})
    _refuse_contradictions(model, loaded.config, preset_name, checked)
    return Start(
        name=model.resolve().name,
        config=loaded.config,
        tokenizers=loaded.tokenizers,
        model=loaded.model,
        seen=SeenLines.load(model / SEEN),
        new_tokenizer=new_tokenizer,
    )


def _refuse_symbols(model: Path, config: Config, overrides: Values) -> None:
    """Raise ConfigError where pieces are asked for of a model of symbols, or the other way."""
    asked = overrides.get("tokenizer", {}).get("kind", config.tokenizer.kind)
    if config.tokenizer.takes_symbols or asked == "symbols":
        whose = (
            f"{model} is a model of symbols"
            if config.tokenizer.takes_symbols
            else "--tokenizer symbols is"
        )
        raise ConfigError(
            f"--new-tokenizer is for models of text, but {whose}",
            hint="No symbol is spelt by others: train a new model",
        )


def _refuse_contradictions(
    model: Path, config: Config, preset_name: str | None, overrides: Values
) -> None:
    preset_name = preset_name or overrides.get("", {}).get("preset")
    contradictions = []
    if preset_name is not None and preset_name != config.preset:
        contradictions.append((f"--preset {preset_name}", config.preset or "none"))
    for section in ("tokenizer", "model"):
        for key, value in overrides.get(section, {}).items():
            own = getattr(getattr(config, section), key)
            if value != own and key not in MAY_DIFFER:
                flag = _FLAGS.get(key, "")
                contradictions.append((f"{section}.{key}{flag} = {value}", own))
    for given, own in contradictions:
        hint = "Leave it out: tokenizer and architecture are those of the model"
        if given.startswith("tokenizer"):
            hint += "; or add --new-tokenizer"
        raise ConfigError(f"{given} contradicts --from {model}, where it is {own}", hint=hint)


def announce_start(
    start: Start | None, config: Config, readers: tuple[Reader, ...], listener: Listener
) -> None:
    """Say where a run starts, and warn where its settings hardly fit that."""
    if start is None:
        if config.training.freeze:
            parts = ", ".join(config.training.freeze)
            text = f"training.freeze without --from: the weights of {parts} stay random"
            listener(Notice(text=text, is_warning=True))
        return
    if start.new_tokenizer:
        return  # which is told of when it is trained
    listener(Notice(text=f"fine-tuning {start.name}: its tokenizer, architecture and weights"))
    if start.languages is None:
        return
    chosen = config.source_language, config.target_language
    given = [("this run", chosen)]
    if chosen == start.languages:
        # Forms that hold both sides are turned round where they must be; names of files are not.
        aligned = [reader for reader in readers if isinstance(reader, AlignedText)]
        given = [(reader.name, reader.languages) for reader in aligned if reader.languages]
    for name, languages in given:
        if not all(map(is_same_language, languages, start.languages)):
            text = (
                f"{name} is {'-'.join(languages)}, but {start.name} translates "
                f"{'-'.join(start.languages)}"
            )
            listener(Notice(text=text, is_warning=True))


def settle_new_tokenizer(
    start: Start | None, config: Config, tokenizers: TokenizerPair, listener: Listener
) -> Config:
    """Say what a new tokenizer takes over from the start, if there is one; gives it to settings."""
    if start is None or not start.new_tokenizer:
        return config
    sides = start.inheritance(tokenizers)[: 1 if tokenizers.is_joint else 2]
    kept, new = sum(side.num_kept for side in sides), sum(side.num_new for side in sides)
    text = (
        f"starting from the weights of {start.name} with a new tokenizer: {kept} of its "
        f"{kept + new} pieces keep their embeddings, {new} start from the mean of their parts"
    )
    listener(Notice(text=text))
    prefix = getattr(start.tokenizers.source, "prefix", "")
    if prefix:
        text = f"the new tokenizer knows no {prefix}, which {start.name} puts before lines"
        listener(Notice(text=text, is_warning=True))
    return dataclasses.replace(config, num_new_pieces=new)


def warn_without_gain(name: str, best_update: int | None, listener: Listener) -> None:
    """Warn when nothing was gained over the model of this name, where training started."""
    if name and best_update == 0:
        text = f"no update made the weights better: the model is still that of {name}"
        listener(Notice(text=text, is_warning=True))
