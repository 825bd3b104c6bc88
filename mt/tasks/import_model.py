"""Importing: another program's model as a model folder, compared with it on the spot."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from mt.config import Config
from mt.errors import ConfigError, ModelFolderError
from mt.events import Listener, Notice, StageStarted, ignore
from mt.exchange.foreign import ForeignModel, to_model
from mt.exchange.huggingface import is_huggingface, read_huggingface
from mt.exchange.marian import npz_of, read_marian
from mt.exchange.transformers_check import Comparison, compare_with_transformers
from mt.files import new_folder
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.translation_model import count_parameters
from mt.model_folder import folder as model_folder
from mt.model_folder.card_file import write_card
from mt.model_folder.facts import read_facts
from mt.model_folder.imported import Imported
from mt.tasks.new_folder import refuse_existing
from mt.tasks.requests import ImportRequest
from mt.text.imported import is_code


@dataclass(frozen=True, kw_only=True)
class ImportResult:
    """A model that was imported."""

    folder: Path
    origin: Imported
    """Where it comes from, and what came of comparing it."""


def import_model(request: ImportRequest, listener: Listener = ignore) -> ImportResult:
    """Write a model folder with another program's model, whole or not at all.

    Raises ConfigError for an output that is taken and for options that the source has no use for,
    ModelFolderError for a source that is damaged, not understood, or computes something else.
    """
    source, output = Path(request.source), Path(request.output)
    refuse_existing(output)
    foreign = _read(source, request)
    config, model = to_model(foreign)
    if request.languages is not None:
        config = dataclasses.replace(
            config, source_language=request.languages[0], target_language=request.languages[1]
        )
    compared = Comparison(program="")
    if is_huggingface(source):
        listener(StageStarted(name="comparing with transformers"))
        compared = compare_with_transformers(
            model, source, source=foreign.source, target=foreign.target
        )
    if not compared.is_same:
        raise ModelFolderError(
            f"{source}: {compared.program} computes something else: logits differ by up to "
            f"{compared.difference:.1e}, so that nothing was imported"
        )
    origin = Imported(
        source=source.resolve().name,
        program=foreign.program,
        num_parameters=count_parameters(model),
        command=request.command,
        compared_with=compared.program,
        difference=compared.difference,
    )
    _write(output, config, model, foreign, origin)
    listener(Notice(text=_told(compared, foreign)))
    for text in _hints(foreign, request):
        listener(Notice(text=text))
    return ImportResult(folder=output, origin=origin)


def _read(source: Path, request: ImportRequest) -> ForeignModel:
    vocabularies = [Path(each) for each in request.vocabularies]
    spm = [Path(each) for each in request.spm]
    if is_huggingface(source):
        if vocabularies or spm:
            raise ConfigError(f"{source} holds its vocabularies: leave out --vocab and --spm")
        return read_huggingface(source, prefix=request.prefix)
    npz = npz_of(source)
    if npz is None:
        found = "no such file or folder" if not source.exists() else "no config.json and no .npz"
        raise ModelFolderError(
            f"{source} is no model of another program: {found}",
            hint="Give a folder of Hugging Face's MarianMTModel, or the .npz file of Marian",
        )
    return read_marian(npz, vocabularies=vocabularies, spm=spm, prefix=request.prefix)


def _write(
    output: Path, config: Config, model: EncoderDecoder, foreign: ForeignModel, origin: Imported
) -> None:
    with new_folder(output.absolute()) as folder:
        model_folder.write_config(folder, config)
        foreign.tokenizers.save(folder)
        model_folder.save_weights(folder, model)
        origin.save(folder)
        write_card(folder, read_facts(folder, config))


def _told(compared: Comparison, foreign: ForeignModel) -> str:
    if foreign.program == "Marian":
        return "compared with nothing: mt knows no program that reads these files"
    return compared.sentence


def _hints(foreign: ForeignModel, request: ImportRequest) -> list[str]:
    """What the model needs to be told, and was not."""
    codes = sorted(filter(is_code, foreign.source.pieces))
    if not codes or request.prefix:
        return []
    shown = ", ".join(codes[:5]) + (", …" if len(codes) > 5 else "")
    return [
        f"{len(codes)} target languages: lines are to begin with one of them ({shown}), or import "
        f"again with --prefix '{codes[0]}'"
    ]
