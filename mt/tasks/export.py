"""Exporting: a model folder in the form of another program."""

from __future__ import annotations

from pathlib import Path

from mt.errors import ConfigError
from mt.events import Listener, StageStarted, ignore
from mt.exchange.ctranslate2 import export_ctranslate2
from mt.exchange.huggingface_export import export_huggingface
from mt.tasks.new_folder import refuse_existing
from mt.tasks.requests import ExportRequest


def export(request: ExportRequest, listener: Listener = ignore) -> Path:
    """Write the folder that another program reads; gives where it is.

    Of Hugging Face a notice tells what came of comparing the two models.

    Raises ConfigError for a precision that the program does not store, ModelFolderError for a
    folder at fault and a form of model that the program does not have.
    """
    model, output = Path(request.model), Path(request.output)
    refuse_existing(output)
    if request.form == "huggingface" and request.precision != "float32":
        raise ConfigError(f"--precision {request.precision}: {request.form} is written in float32")
    listener(StageStarted(name=f"writing for {request.form}"))
    if request.form == "huggingface":
        export_huggingface(model, output, listener)
    else:
        export_ctranslate2(model, output, stored=request.precision)
    return output
