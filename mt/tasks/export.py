"""Exporting: a model folder in the form of another program."""

from __future__ import annotations

from pathlib import Path

from mt.errors import ConfigError, DataError
from mt.events import Listener, Notice, StageStarted, ignore
from mt.exchange.conversion import convert
from mt.exchange.huggingface_export import export_huggingface
from mt.exchange.kept import KeptConversion
from mt.files import new_folder
from mt.formats.text import read_text_lines
from mt.tasks.convert import make_conversion
from mt.tasks.engine import require_good
from mt.tasks.export_marian import export_marian
from mt.tasks.new_folder import refuse_existing
from mt.tasks.requests import ExportRequest


def export(request: ExportRequest, listener: Listener = ignore) -> Path:
    """Write the folder that another program reads, into the model folder or elsewhere; gives it.

    Of Hugging Face and Marian a notice tells what came of comparing the two models.

    Raises ConfigError for a request at fault, ModelFolderError for a bad folder and for a model
    that the program has no form for, or says otherwise.
    """
    if request.into_model:
        return _export_into_model(request, listener).folder
    if request.output is None:
        raise ConfigError("there is no folder to write", hint="Give -o FOLDER, or --into-model")
    if request.check is not None:
        raise ConfigError("--check has an effect with --into-model only")
    model, output = Path(request.model), Path(request.output)
    refuse_existing(output)
    if request.form != "ctranslate2":
        if request.precision != "float32":
            raise ConfigError(
                f"--precision {request.precision}: {request.form} is written in float32"
            )
        listener(StageStarted(name=f"writing for {request.form}"))
        write = export_huggingface if request.form == "huggingface" else export_marian
        write(model, output, listener)
        return output
    with new_folder(output.absolute()) as temporary:
        convert(model, temporary, stored=request.precision).tokenizers.save(temporary)
    return output


def _export_into_model(request: ExportRequest, listener: Listener) -> KeptConversion:
    """Convert and check the model in its own folder."""
    if request.output is not None:
        raise ConfigError("-o and --into-model do not go together")
    if request.precision not in ("float32", "int8"):
        raise ConfigError(
            f"--into-model keeps float32 and int8, not {request.precision}",
            hint="Leave --precision out, or write a folder by -o",
        )
    model = Path(request.model)
    pairs, text = None, "the validation set"
    if request.check is not None:
        source, reference = map(Path, request.check)
        sources, references = read_text_lines(source), read_text_lines(reference)
        if len(sources) != len(references):
            raise DataError(
                f"unequal lengths: {source} has {len(sources)} lines, {reference} has "
                f"{len(references)}"
            )
        pairs, text = list(zip(sources, references, strict=True)), source.name
    kept = make_conversion(model, request.precision, listener, pairs=pairs, text=text)
    require_good(kept, model)
    listener(Notice(text=f"its check: {kept.check}"))
    return kept
