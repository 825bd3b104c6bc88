"""Codes of languages, routes, keys and rates."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt.language_names import name_of
from mt.languages import base_code
from mt.serving.access import Keys, Rate, key_of_header
from mt.serving.models import Models, ServedModel
from mt.serving.refusal import RefusalError


def stand_in(source: str, target: str) -> ServedModel:
    made = ServedModel.__new__(ServedModel)
    made.source, made.target = source, target
    return made


def models(*pairs: str, pivot: str | None = None) -> Models:
    return Models(models=[stand_in(*pair.split(">")) for pair in pairs], pivot=pivot)


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ("de", "de"),
        ("DE", "de"),
        ("ger", "de"),
        ("de-AT", "de"),
        ("EN-GB", "en"),
        ("zh-Hans", "zh-hans"),
        ("zh", "zh-hans"),
        ("zh-Hant", None),
        ("pt-PT", None),
        ("pt_BR", "pt-br"),
        ("fr", None),
        ("", None),
        ("x" * 300, None),
    ],
)
def test_a_code_of_a_client_is_one_of_the_models(wanted: str, code: str | None) -> None:
    assert models("de>en", "en>zh-hans", "en>pt-br").code(wanted) == code


def test_routes_go_directly_or_by_the_pivot() -> None:
    served = models("de>en", "en>fr", "fr>en", "de>fr", pivot="en")

    def route(source: str, target: str) -> list[str] | None:
        found = served.route(source, target)
        return None if found is None else [each.name for each in found]

    assert route("de", "fr") == ["de-fr"]
    assert route("fr", "fr") == []
    assert route("en", "de") is None
    assert models("de>en", "en>fr").route("de", "fr") is None
    by_pivot = models("de>en", "en>fr", pivot="en").route("de", "fr")
    assert by_pivot is not None
    assert [each.name for each in by_pivot] == ["de-en", "en-fr"]
    assert served.languages["de"] == ("de", "en", "fr")


def test_requests_are_counted_by_client_and_come_back_evenly() -> None:
    rate = Rate(60)
    for _ in range(60):
        rate.require("a", now=0.0)
    with pytest.raises(RefusalError) as refused:
        rate.require("a", now=0.5)
    assert (refused.value.status, refused.value.retry_after) == (429, 1)
    rate.require("b", now=0.5)
    rate.require("a", now=1.01)
    with pytest.raises(RefusalError):
        rate.require("a", now=1.5)
    for client in range(20_000):
        rate.require(str(client), now=2.0)
    assert len(rate._left) == 10_000


def test_keys_and_where_they_stand() -> None:
    keys = Keys(keys=("first-key", "second-key"))
    assert keys.require("second-key") == "second-key"
    for wrong in ("", "first-ke", "first-keys", "FIRST-KEY", "schlüssel"):
        with pytest.raises(RefusalError):
            keys.require(wrong)
    assert Keys().require("whatever") == ""
    assert key_of_header("DeepL-Auth-Key first-key") == "first-key"
    assert key_of_header("bearer  first-key ") == "first-key"
    assert key_of_header("Basic Zmlyc3Q=") == ""


def test_every_language_of_two_letters_has_a_name() -> None:
    rows = (Path(__file__).parents[1] / "iso-639.tsv").read_text("utf-8").splitlines()[1:]
    codes = {base_code(row.split("\t")[0]) for row in rows}
    assert len(codes) > 180
    assert [code for code in codes if name_of(code) == code] == []
    assert name_of("deu_Latn") == "German (latn)"
    assert name_of("pt-BR") == "Portuguese (br)"
    assert name_of("tlh") == "tlh"
