"""Exporting: a model folder in the form of another program."""

from __future__ import annotations

from pathlib import Path

from mt.events import Listener, StageStarted, ignore
from mt.exchange.ctranslate2 import export_ctranslate2
from mt.tasks.new_folder import refuse_existing
from mt.tasks.requests import ExportRequest


def export(request: ExportRequest, listener: Listener = ignore) -> Path:
    """Write the folder that another program reads; gives where it is.

    Raises ConfigError for a form of model that the program does not have, ModelFolderError for a
    folder at fault.
    """
    output = Path(request.output)
    refuse_existing(output)
    listener(StageStarted(name=f"writing for {request.form}"))
    export_ctranslate2(Path(request.model), output, stored=request.precision)
    return output
