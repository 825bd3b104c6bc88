"""A model that keeps a checked conversion is served by CTranslate2, and what that lacks by mt."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mt import Glossary, TranslationOptions, Translator, load_translator
from mt.events import Event, Notice, ignore
from mt.serving.models import Models, ServedModel, load_models
from mt.serving.refusal import RefusalError
from mt.serving.request import ServeRequest
from tests.serving.models import LINES, expected
from tests.serving.running import GENEROUS, running

pytest.importorskip("ctranslate2")


@pytest.fixture(scope="module")
def folder(folders: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of a model with a conversion; both are equally bad at its validation set."""
    made = tmp_path_factory.mktemp("engine") / "model"
    shutil.copytree(folders["en-de"], made)
    for name, side in (("dev.source", LINES), ("dev.target", LINES[::-1])):
        (made / name).write_text("".join(f"{line}\n" for line in side), "utf-8")
    load_translator(made, engine="ctranslate2")
    return made


@pytest.fixture(scope="module")
def models(folder: Path) -> Models:
    heard: list[Event] = []
    found = load_models(ServeRequest(models=(folder,), workers=1, device="cpu"), heard.append)
    assert any(isinstance(each, Notice) and "engine ctranslate2" in each.text for each in heard)
    return found


def test_it_searches_and_a_glossary_goes_to_mt(models: Models, folder: Path) -> None:
    assert models.models[0].translator.engine == "ctranslate2"
    by_engine = expected(load_translator(folder), *LINES)
    asked = {"q": LINES, "source": "en", "target": "de"}
    entries = {"name": "n", "source_lang": "en", "target_lang": "de", "entries": "haus\thouse"}
    terms = Glossary([("haus", "house")])
    own = Translator.load(folder, options=TranslationOptions(glossary=terms))
    with running(models, ServeRequest(models=(), workers=1, limits=GENEROUS)) as server:
        assert server.post("/translate", asked).json["translatedText"] == by_engine
        several = server.post("/translate", {**asked, "alternatives": 2}).json
        assert several["translatedText"] == by_engine
        assert any(several["alternatives"])
        number = server.post("/v2/glossaries", entries).json["glossary_id"]
        wanted = {"text": LINES, "source_lang": "EN", "target_lang": "DE", "glossary_id": number}
        found = server.post("/v2/translate", wanted).json["translations"]
    assert [each["text"] for each in found] == expected(own, *LINES)


def test_other_weights_are_never_mixed_in(folder: Path, tmp_path: Path) -> None:
    copied = tmp_path / "model"
    shutil.copytree(folder, copied)
    loaded = load_models(ServeRequest(models=(copied,), workers=1, device="cpu"), ignore)
    model: ServedModel = loaded.models[0]
    weights = copied / "model.safetensors"
    other = tmp_path / "other"
    shutil.copy(weights, other)
    other.replace(weights)
    with pytest.raises(RefusalError) as refused:
        model.own()
    assert refused.value.status == 503
