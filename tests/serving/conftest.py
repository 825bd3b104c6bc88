"""One set of small models, and one server of them, for all tests here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("python_multipart")
pytest.importorskip("prometheus_client")

from mt.events import ignore
from mt.serving.assembly import warm
from mt.serving.models import Models, load_models
from mt.serving.request import ServeRequest
from mt.translation.translator import Translator
from tests.serving.models import write_pair
from tests.serving.running import GENEROUS, Running, running


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Model folders by pair."""
    root = tmp_path_factory.mktemp("served")
    pairs = ("de-en", "en-fr", "en-de")
    return {
        pair: str(write_pair(root / pair, *pair.split("-"), seed=seed))
        for seed, pair in enumerate(pairs, start=1)
    }


@pytest.fixture(scope="session")
def models(folders: dict[str, str]) -> Models:
    request = ServeRequest(models=tuple(folders.values()), pivot="en", workers=2)
    loaded = load_models(request, ignore)
    warm(loaded)
    return loaded


@pytest.fixture(scope="session")
def translators(folders: dict[str, str]) -> dict[str, Translator]:
    """What `mt translate` translates by, loaded apart from the server."""
    return {pair: Translator.load(folder) for pair, folder in folders.items()}


@pytest.fixture(scope="session")
def served(models: Models) -> Iterator[Running]:
    """A server without keys, with as many requests as one likes."""
    with running(models, ServeRequest(models=(), workers=2, limits=GENEROUS)) as found:
        yield found
