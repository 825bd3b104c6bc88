"""Inspecting: what each head of a model attends to, as a page."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from mt.errors import DataError
from mt.events import Listener, ignore
from mt.files import require_writable, write_text
from mt.model_folder.folder import LoadedModel, load_onto
from mt.reporting.attention import AttendedPair, attend_to_pair
from mt.reporting.attention_image import require_matplotlib, write_images
from mt.reporting.attention_page import attention_page
from mt.tasks.requests import InspectRequest
from mt.translation.aim import aimed
from mt.translation.options import TranslationOptions
from mt.translation.translator import Translator


def inspect(request: InspectRequest, listener: Listener = ignore) -> list[Path]:
    """Write a page of attention, and images where they are asked for; gives where they are.

    Raises DataError for text that is not UTF-8, ConfigError where matplotlib is not installed, and
    ModelFolderError for a folder at fault.
    """
    for text in (request.source, request.target or ""):
        _require_utf8(text)
    if request.png:
        require_matplotlib()
    output, model = Path(request.output), Path(request.model)
    require_writable(output)
    loaded = load_onto(model, device=request.device, search=None)
    config, tokenizers = aimed(loaded.config, loaded.tokenizers, request.to)
    loaded = dataclasses.replace(loaded, config=config, tokenizers=tokenizers)
    if request.target is not None:
        attended = attend_to_pair(loaded, request.source, request.target, listener=listener)
    else:
        attended = _own_translation(loaded, request.source, listener)
    name = model.resolve().name
    write_text(output, attention_page(attended, model=name))
    if not request.png:
        return [output]
    return [output, *write_images(attended, output, model=name, listener=listener)]


def _own_translation(loaded: LoadedModel, source: str, listener: Listener) -> AttendedPair:
    translator = Translator(
        loaded.model,
        loaded.tokenizers,
        loaded.config,
        options=TranslationOptions(batch_size=1, workers=1, split=False),
        listener=listener,
    )
    (translation,) = translator.translate_window([source])
    best = translation.hypotheses[0]
    return attend_to_pair(loaded, source, best.text, target_tokens=best.tokens, listener=listener)


def _require_utf8(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise DataError(
            "a text on the command line is not UTF-8", hint="Give it in UTF-8"
        ) from None
