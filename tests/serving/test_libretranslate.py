"""LibreTranslate's API, by its own client, by hand, and as Weblate and OmegaT ask."""

from __future__ import annotations

import dataclasses
import json
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

import pytest

from mt import TranslationOptions, Translator
from mt.model_folder.files import read_config
from tests.exchange.talkers import SOURCE_WORDS
from tests.serving.models import LINES, expected
from tests.serving.running import FORM, Running


def test_a_text_and_an_array(served: Running, translators: dict[str, Translator]) -> None:
    wanted = expected(translators["de-en"], *LINES)
    assert len(set(wanted)) > 2, "the model must tell lines apart"
    asked = {"q": LINES, "source": "de", "target": "en", "format": "text", "api_key": ""}
    answer = served.post("/translate", asked)
    assert (answer.status, answer.json) == (200, {"translatedText": wanted})
    one = served.post("/translate", {**asked, "q": LINES[1]})
    assert one.json == {"translatedText": wanted[1]}


def test_lines_are_translated_by_themselves_and_blank_ones_stay(
    served: Running, translators: dict[str, Translator]
) -> None:
    first, second = expected(translators["de-en"], *LINES[:2])
    text = f"\n{LINES[0]}\r\n\r\n{LINES[1]}\n"
    answer = served.post("/translate", {"q": text, "source": "de", "target": "en"})
    assert answer.json["translatedText"] == f"\n{first}\r\n\r\n{second}\n"


def test_a_form_and_a_form_in_parts(served: Running, translators: dict[str, Translator]) -> None:
    (wanted,) = expected(translators["de-en"], LINES[1])
    body = urlencode({"q": LINES[1], "source": "de", "target": "en"}).encode()
    assert served.ask("POST", "/translate", body, FORM).json == {"translatedText": wanted}
    parts = "".join(
        f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in {"q": LINES[1], "source": "de", "target": "en"}.items()
    )
    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    answer = served.ask("POST", "/translate", f"{parts}--b--\r\n".encode(), kind)
    assert answer.json == {"translatedText": wanted}


def test_alternatives_are_the_other_hypotheses(served: Running, folders: dict[str, str]) -> None:
    search = dataclasses.replace(read_config(Path(folders["de-en"])).search, n_best=3)
    options = TranslationOptions(search=search)
    several = Translator.load(folders["de-en"], options=options).translate(LINES[1])
    asked = {"q": LINES[1], "source": "de", "target": "en", "alternatives": 2}
    answer = served.post("/translate", asked).json
    texts = [each.text for each in several.hypotheses]
    assert [answer["translatedText"], *answer["alternatives"]] == texts
    array = served.post("/translate", {**asked, "q": [LINES[1]]}).json
    assert array["alternatives"] == [answer["alternatives"]]


def test_a_pair_that_no_model_has_goes_by_the_pivot(
    served: Running, translators: dict[str, Translator]
) -> None:
    hop = expected(translators["de-en"], *LINES)
    wanted = expected(translators["en-fr"], *hop)
    answer = served.post("/translate", {"q": LINES, "source": "de", "target": "fr"})
    assert answer.json["translatedText"] == wanted


def test_auto_tells_the_language(served: Running, translators: dict[str, Translator]) -> None:
    german = "Die Katze läuft über die Straße und nicht in das grüne Haus."
    english = "The cat does not run into the house but above the street."
    asked = {"q": [german, english, "12 + 5"], "source": "auto", "target": "en"}
    answer = served.post("/translate", asked).json
    (wanted,) = expected(translators["de-en"], german)
    assert answer["translatedText"] == [wanted, english, "12 + 5"]
    assert [each["language"] for each in answer["detectedLanguage"]][:2] == ["de", "en"]
    assert answer["detectedLanguage"][0]["confidence"] > 90
    assert answer["detectedLanguage"][2]["confidence"] == 0
    one = served.post("/translate", {**asked, "q": german}).json
    assert one["detectedLanguage"] == answer["detectedLanguage"][0]


def test_a_language_may_have_a_region_and_other_codes(
    served: Running, translators: dict[str, Translator]
) -> None:
    (wanted,) = expected(translators["de-en"], LINES[0])
    for source, target in (("DE", "EN"), ("deu", "eng"), ("de-AT", "en_GB")):
        answer = served.post("/translate", {"q": LINES[0], "source": source, "target": target})
        assert answer.json == {"translatedText": wanted}


def test_what_the_server_offers(served: Running) -> None:
    languages = served.get("/languages").json
    assert languages[0] == {"code": "de", "name": "German", "targets": ["de", "en", "fr"]}
    assert [each["code"] for each in languages] == ["de", "en", "fr"]
    settings = served.get("/frontend/settings").json
    assert settings["charLimit"] == 10_000
    assert not settings["filesTranslation"]
    assert not settings["keyRequired"]
    assert settings["language"]["source"] == {"code": "de", "name": "German"}
    assert served.get("/health").json == {"status": "ok"}
    spec = served.get("/spec").json
    assert spec["swagger"] == "2.0"
    paths = {"/translate", "/detect", "/languages", "/frontend/settings", "/health"}
    assert paths <= spec["paths"].keys()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": None}, "Invalid request: missing q parameter"),
        ({"source": None}, "Invalid request: missing source parameter"),
        ({"target": None}, "Invalid request: missing target parameter"),
        ({"source": "xx"}, "xx is not supported"),
        (
            {"target": "zh-Hant\n" * 20},
            "zh-Hant?zh-Hant?zh-Hant?zh-Hant?zh-Hant?… is not supported",
        ),
        ({"source": "fr"}, "fr is not translated into en"),
        ({"q": 5}, "Invalid request: q must be text"),
        ({"q": [["a"]]}, "Invalid request: q must be text"),
        ({"q": "a" * 10_001}, "Invalid request: request (10001) exceeds text limit (10000)"),
        (
            {"q": ["a"] * 101},
            "Invalid request: 101 texts, but at most 100 are translated together",
        ),
        ({"alternatives": 10_000}, "Invalid request: alternatives must be a number from 0 to 4"),
        ({"alternatives": True}, "Invalid request: alternatives must be a number from 0 to 4"),
        ({"format": "html"}, "format html is not offered here: only plain text is"),
        ({"q": "\ud800"}, "Invalid request: q has a lone surrogate, which is no character"),
    ],
)
def test_what_is_wrong_is_said(served: Running, change: dict[str, object], message: str) -> None:
    asked = {"q": "haus", "source": "de", "target": "en", **change}
    kept = {name: value for name, value in asked.items() if value is not None}
    answer = served.post("/translate", kept)
    assert (answer.status, answer.json) == (400, {"error": message})


def test_files_and_suggestions_are_refused(served: Running) -> None:
    for path in ("/translate_file", "/suggest"):
        answer = served.post(path, {"q": "haus", "s": "house", "source": "de", "target": "en"})
        assert answer.status == 403
        assert list(answer.json) == ["error"]


def test_its_own_client(served: Running, translators: dict[str, Translator]) -> None:
    client = pytest.importorskip("libretranslatepy").LibreTranslateAPI(served.url)
    (wanted,) = expected(translators["de-en"], LINES[1])
    assert client.translate(LINES[1], "de", "en") == wanted
    assert client.languages() == served.get("/languages").json
    detected = client.detect("Die Katze läuft über die Straße und nicht in das grüne Haus.")
    assert detected[0]["language"] == "de"


def test_as_weblate_asks(served: Running, translators: dict[str, Translator]) -> None:
    """Languages first, then arrays of twenty."""
    assert {"de", "en"} <= {each["code"] for each in served.get("/languages").json}
    draw = random.Random(1)
    lines = [" ".join(draw.choices(SOURCE_WORDS, k=draw.randint(1, 8))) for _ in range(20)]
    asked = {"api_key": "", "q": lines, "source": "de", "target": "en"}
    answer = served.post("/translate", asked, Accept="application/json; charset=utf-8")
    assert answer.json["translatedText"] == expected(translators["de-en"], *lines)


def test_as_omegat_asks(served: Running, translators: dict[str, Translator]) -> None:
    """A segment at a time, as compact JSON."""
    body = json.dumps(
        {"q": LINES[0], "source": "de", "target": "en", "format": "text"}, separators=(",", ":")
    )
    kind = {"Content-Type": "application/json; charset=UTF-8", "User-Agent": "OmegaT"}
    answer = served.ask("POST", "/translate", body.encode(), kind)
    assert answer.json["translatedText"] == expected(translators["de-en"], LINES[0])[0]


def test_many_clients_get_what_mt_translate_gives(
    served: Running, translators: dict[str, Translator]
) -> None:
    """Mixed lengths side by side: each gets the translations of its own lines."""
    draw = random.Random(2)
    asked = [
        [" ".join(draw.choices(SOURCE_WORDS, k=draw.randint(1, 15))) for _ in range(num)]
        for num in (1, 1, 7, 1, 12, 2, 1, 1, 5)
    ]

    def ask(lines: list[str]) -> list[str]:
        answer = served.post("/translate", {"q": lines, "source": "en", "target": "de"})
        found: list[str] = answer.json["translatedText"]
        return found

    with ThreadPoolExecutor(8) as clients:
        found = list(clients.map(ask, asked))
    assert found == [expected(translators["en-de"], *lines) for lines in asked]
