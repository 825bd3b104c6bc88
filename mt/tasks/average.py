"""Averaging: the mean of several sets of weights, as a whole model folder."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mt.config import Config, ModelConfig
from mt.errors import ConfigError, ModelFolderError
from mt.events import Listener, Notice, ignore
from mt.files import new_folder
from mt.model.translation_model import count_parameters
from mt.model_folder import folder as model_folder
from mt.model_folder.average import average_weights
from mt.model_folder.card_file import write_card
from mt.model_folder.facts import Averaged, read_facts
from mt.model_folder.seen_lines import FILE as SEEN
from mt.model_folder.seen_lines import SeenLines
from mt.tasks.fine_tune import MAY_DIFFER
from mt.tasks.new_folder import refuse_existing
from mt.tasks.requests import AverageRequest
from mt.text.tokenizer_pair import TokenizerPair
from mt.training.best import METRIC_NAMES
from mt.training.kept_weights import KeptWeights, best_of, last_of, list_kept


@dataclass(frozen=True, kw_only=True)
class _Weights:
    """One set of weights to average."""

    path: Path
    description: str
    """For the model card."""


def average(request: AverageRequest, listener: Listener = ignore) -> Path:
    """Write a model folder whose weights are a mean; gives where it is.

    Of the best weights of several models, or of the best or last validations of one run.

    Raises ConfigError for a request that cannot be, ModelFolderError for models that differ in
    architecture or tokenizer, and where a run kept fewer weights.
    """
    models, output = [Path(model) for model in request.models], Path(request.output)
    refuse_existing(output)
    if request.best is not None and request.last is not None:
        raise ConfigError("give either --best or --last")
    if request.best is None and request.last is None:
        config, pair, weights = _of_models(models)
    else:
        config, pair, weights = _of_states(models, request)
    _write(output, models, config, pair, weights, command=request.command)
    listener(Notice(text=f"averaged {_counted(weights, 'set')} of weights"))
    return output


def _of_models(models: Sequence[Path]) -> tuple[Config, TokenizerPair, list[_Weights]]:
    """The best weights of several model folders, with the settings of the first."""
    if len(models) < 2:
        raise ConfigError("give several MODELs, or --best K or --last K for the states of one run")
    if len({model.resolve() for model in models}) < len(models):
        raise ConfigError("one MODEL is given twice", hint="Give each model folder once")
    configs = [model_folder.read_config(model) for model in models]
    pairs = [
        model_folder.load_tokenizers(model, config)
        for model, config in zip(models, configs, strict=True)
    ]
    for model, config, pair in zip(models[1:], configs[1:], pairs[1:], strict=True):
        _refuse_other_shape(models[0], configs[0].model, model, config.model)
        if _bytes_of(pair) != _bytes_of(pairs[0]):
            raise ModelFolderError(
                f"{model} has another tokenizer than {models[0]}: their weights mean other pieces",
                hint="Average models that were fine-tuned from one model, or runs that shared its "
                "tokenizer",
            )
    weights = [
        _Weights(path=model_folder.weights_of(model), description=model.resolve().name)
        for model in models
    ]
    return configs[0], pairs[0], weights


def _of_states(
    models: Sequence[Path], request: AverageRequest
) -> tuple[Config, TokenizerPair, list[_Weights]]:
    """The best or the last weights that a run kept."""
    if len(models) != 1:
        raise ConfigError("--best and --last take the states of one run: give one MODEL")
    (model,) = models
    config = model_folder.read_config(model)
    pair = model_folder.load_tokenizers(model, config)
    kept = list_kept(model / model_folder.TRAINING)
    is_best = request.best is not None
    option, count = ("--best", request.best or 0) if is_best else ("--last", request.last or 0)
    limit = config.training.keep_weights
    if count > limit:
        raise ModelFolderError(
            f"{option} {count}: training.keep_weights was {limit} in the run of {model}",
            hint=f"Train with --set training.keep_weights={count}",
        )
    if count > len(kept):
        raise ModelFolderError(
            f"{option} {count}: {model} holds the weights of {_counted(kept, 'validation')}",
            hint=f"Go on with: mt train --resume {model}",
        )
    chosen = best_of(kept, count) if is_best else last_of(kept, count)
    weights = [_Weights(path=each.path, description=_describe(model, each)) for each in chosen]
    return config, pair, weights


def _describe(model: Path, kept: KeptWeights) -> str:
    return (
        f"{model.resolve().name}, update {kept.update}: "
        f"dev {METRIC_NAMES[kept.metric]} {kept.score:.2f}"
    )


def _counted(things: Sequence[object], name: str) -> str:
    return f"{len(things)} {name}" + ("" if len(things) == 1 else "s")


def _refuse_other_shape(first: Path, its: ModelConfig, other: Path, theirs: ModelConfig) -> None:
    """Refuse two architectures; settings that matter in training alone may differ."""
    for field in dataclasses.fields(ModelConfig):
        one, two = getattr(its, field.name), getattr(theirs, field.name)
        if one != two and field.name not in MAY_DIFFER:
            raise ModelFolderError(
                f"{first} and {other} differ in model.{field.name}: {one} and {two}",
                hint="Weights can be averaged where the architecture is the same",
            )


def _bytes_of(pair: TokenizerPair) -> tuple[bytes, bytes]:
    return pair.source.model, pair.target.model


def _write(
    output: Path,
    models: Sequence[Path],
    config: Config,
    pair: TokenizerPair,
    weights: Sequence[_Weights],
    *,
    command: str,
) -> None:
    """Make the model folder, whole or not at all; settings are those of the first model."""
    origins = {model_folder.read_config(model).fine_tuned_from for model in models}
    origin = origins.pop() if len(origins) == 1 else ""
    config = dataclasses.replace(config, fine_tuned_from=origin)
    mean = model_folder.build_model(config, pair)
    average_weights([each.path for each in weights], mean)
    averaged = Averaged(
        sources=tuple(each.description for each in weights),
        num_parameters=count_parameters(mean),
        command=command,
    )
    with new_folder(output.absolute()) as folder:
        model_folder.write_config(folder, config)
        pair.save(folder)
        model_folder.save_weights(folder, mean)
        averaged.save(folder)
        write_card(folder, read_facts(folder, config))
        for name, content in _shared_dev_set(models).items():
            (folder / name).write_bytes(content)
        seen = [SeenLines.load(model / SEEN) for model in models]
        if any(seen):
            SeenLines.union(seen).save(folder / SEEN)


def _shared_dev_set(models: Sequence[Path]) -> dict[str, bytes]:
    """The files of the validation set, where all models have the same."""
    try:
        sets = [
            {
                name: (model / name).read_bytes()
                for name in (*model_folder.DEV, model_folder.DEV_DIRECTIONS)
                if name in model_folder.DEV or (model / name).exists()
            }
            for model in models
        ]
    except OSError:
        return {}
    return sets[0] if all(each == sets[0] for each in sets) else {}
