"""`mt train --from`: a run that starts from the weights of a trained model.

Tokenizer and architecture are those of that model, and so are languages and search unless others
are given; optimizer, schedule and progress are new.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import torch

from mt.config import Config
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

    @property
    def languages(self) -> tuple[str, str] | None:
        """Source and target, where the model knows both."""
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
            source_language=self.config.source_language,
            target_language=self.config.target_language,
            fine_tuned_from=self.name,
            tokenizer=self.config.tokenizer,
            model=self.config.model,
            search=self.config.search,
        )

    @torch.no_grad()
    def give_weights(self, model: TranslationModel) -> None:
        """Put the weights of the trained model into `model`, which has its shape."""
        for mine, its in zip(model.parameters(), self.model.parameters(), strict=True):
            mine.copy_(its)


def load_start(model: Path, output: Path, *, preset_name: str | None, overrides: Values) -> Start:
    """Read the model folder that a run into `output` starts from.

    Raises ConfigError for a setting that contradicts its tokenizer or architecture, and for an
    output inside it; ModelFolderError when it holds no whole model.
    """
    if output.resolve().is_relative_to(model.resolve()):
        raise ConfigError(
            f"-o {output} lies in the model folder {model}, which --from leaves as it is",
            hint="Choose another -o",
        )
    loaded = load_model(model)
    _refuse_contradictions(model, loaded.config, preset_name, overrides)
    return Start(
        name=model.resolve().name,
        config=loaded.config,
        tokenizers=loaded.tokenizers,
        model=loaded.model,
        seen=SeenLines.load(model / SEEN),
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
        raise ConfigError(
            f"{given} contradicts --from {model}, where it is {own}",
            hint="Leave it out: tokenizer and architecture are those of the model",
        )


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


def warn_without_gain(name: str, best_update: int | None, listener: Listener) -> None:
    """Warn when nothing was gained over the model of this name, where training started."""
    if name and best_update == 0:
        text = f"no update made the weights better: the model is still that of {name}"
        listener(Notice(text=text, is_warning=True))
