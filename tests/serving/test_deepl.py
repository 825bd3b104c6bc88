"""DeepL's API, by its own client, by hand, and as Weblate asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from mt import Glossary, TranslationOptions, Translator
from mt.serving.models import Models
from mt.serving.request import ServeRequest
from tests.serving.models import LINES, expected
from tests.serving.running import FORM, GENEROUS, Running, running

KEYS = ("first-key-of-all", "second-key-of-all")
TERMS = {"haus": "house", "katze": "cat"}


@pytest.fixture(scope="module")
def locked(models: Models) -> Iterator[Running]:
    """A server that asks for keys."""
    request = ServeRequest(models=(), workers=1, limits=GENEROUS)
    with running(models, request, keys=KEYS) as found:
        yield found


@pytest.fixture(scope="module")
def client(locked: Running) -> Iterator[Any]:
    """DeepL's own client, told of another server and nothing else."""
    deepl = pytest.importorskip("deepl")
    found = deepl.DeepLClient(KEYS[0], server_url=locked.url)
    yield found
    found.close()


def test_a_text_and_several(client: Any, translators: dict[str, Translator]) -> None:
    wanted = expected(translators["de-en"], *LINES)
    found = client.translate_text(LINES, source_lang="DE", target_lang="EN-US")
    assert [each.text for each in found] == wanted
    assert {each.detected_source_lang for each in found} == {"DE"}
    assert [each.billed_characters for each in found] == list(map(len, LINES))
    assert client.translate_text(LINES[1], target_lang="EN-GB", source_lang="de").text == wanted[1]


def test_the_language_is_told(client: Any, translators: dict[str, Translator]) -> None:
    german = "Die Katze läuft über die Straße und nicht in das grüne Haus."
    found = client.translate_text(german, target_lang="EN-US")
    assert found.detected_source_lang == "DE"
    assert found.text == expected(translators["de-en"], german)[0]


def test_line_breaks_mean_what_is_asked(client: Any, translators: dict[str, Translator]) -> None:
    text = f"{LINES[0]}\n{LINES[1]}"
    by_line = "\n".join(expected(translators["de-en"], *LINES[:2]))
    whole = expected(translators["de-en"], f"{LINES[0]} {LINES[1]}")[0]
    for way, wanted in (("1", by_line), ("nonewlines", whole), ("0", whole)):
        found = client.translate_text(
            text, source_lang="DE", target_lang="EN-US", split_sentences=way, context="any"
        )
        assert found.text == wanted


def test_languages_and_usage(client: Any) -> None:
    sources = {each.code: each.name for each in client.get_source_languages()}
    assert sources == {"DE": "German", "EN": "English"}
    targets = {each.code for each in client.get_target_languages()}
    assert targets == {"DE", "EN-GB", "EN-US", "FR"}
    before = client.get_usage().character.count
    client.translate_text("haus", source_lang="DE", target_lang="EN-US")
    after = client.get_usage()
    assert after.character.count == before + 4
    assert not after.any_limit_reached
    pairs = {(each.source_lang, each.target_lang) for each in client.get_glossary_languages()}
    assert pairs == {("de", "en"), ("en", "fr"), ("en", "de")}


def test_a_glossary(
    client: Any, translators: dict[str, Translator], folders: dict[str, str]
) -> None:
    made = client.create_glossary("mine", "DE", "EN", TERMS)
    assert (made.name, made.entry_count, made.ready) == ("mine", 2, True)
    assert [each.glossary_id for each in client.list_glossaries()] == [made.glossary_id]
    assert client.get_glossary_entries(made) == TERMS
    assert client.get_glossary(made.glossary_id).source_lang == "DE"
    found = client.translate_text(LINES, source_lang="DE", target_lang="EN-US", glossary=made)
    options = TranslationOptions(glossary=Glossary(TERMS.items()))
    own = Translator.load(folders["de-en"], options=options)
    wanted = expected(own, *LINES)
    assert [each.text for each in found] == wanted
    assert wanted != expected(translators["de-en"], *LINES), "the glossary must change something"
    assert "house" in wanted[0].lower()
    client.delete_glossary(made)
    assert client.list_glossaries() == []
    deepl = pytest.importorskip("deepl")
    with pytest.raises(deepl.exceptions.GlossaryNotFoundException):
        client.get_glossary(made.glossary_id)


def test_a_glossary_in_csv(client: Any) -> None:
    made = client.create_glossary_from_csv("csv", "DE", "EN", 'haus,"a, house"\nkatze,cat\n')
    assert client.get_glossary_entries(made) == {"haus": "a, house", "katze": "cat"}
    client.delete_glossary(made)


def test_a_glossary_is_seen_by_its_own_key_only(locked: Running) -> None:
    first, second = ({"Authorization": f"DeepL-Auth-Key {key}"} for key in KEYS)
    asked = {"name": "secret", "source_lang": "de", "target_lang": "en", "entries": "haus\thut"}
    made = locked.post("/v2/glossaries", {**asked, "entries_format": "tsv"}, **first)
    assert made.status == 201
    number = made.json["glossary_id"]
    path = f"/v2/glossaries/{number}"
    assert locked.get(path, **second).status == 404
    assert locked.get(f"{path}/entries", **second).status == 404
    assert locked.ask("DELETE", path, headers=second).status == 404
    assert locked.get("/v2/glossaries", **second).json == {"glossaries": []}
    wanted = {"text": ["haus"], "source_lang": "DE", "target_lang": "EN", "glossary_id": number}
    assert locked.post("/v2/translate", wanted, **second).status == 404
    assert locked.post("/v2/translate", wanted, **first).status == 200
    assert locked.ask("DELETE", path, headers=first).status == 204


def test_a_form(served: Running, translators: dict[str, Translator]) -> None:
    fields = [("text", LINES[0]), ("text", LINES[1]), ("source_lang", "DE"), ("target_lang", "EN")]
    answer = served.ask("POST", "/v2/translate", urlencode(fields).encode(), FORM)
    texts = [each["text"] for each in answer.json["translations"]]
    assert texts == expected(translators["de-en"], *LINES[:2])


def test_as_weblate_asks_for_languages(served: Running) -> None:
    """By the query, before it sends any text."""
    sources = {each["language"] for each in served.get("/v2/languages?type=source").json}
    targets = {each["language"] for each in served.get("/v2/languages?type=target").json}
    assert sources == {"DE", "EN"}
    assert targets == {"DE", "EN-GB", "EN-US", "FR"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": None}, "Invalid request: missing text parameter"),
        ({"target_lang": None}, "Invalid request: missing target_lang parameter"),
        ({"target_lang": "XX"}, "Value for 'target_lang' not supported: XX"),
        ({"source_lang": "FR"}, "fr is not translated into en"),
        ({"text": ["a"] * 51}, "Invalid request: 51 texts, but at most 50 are translated together"),
        ({"formality": "more"}, "Invalid request: formality is not offered for this language"),
        ({"formality": "odd"}, None),
        ({"tag_handling": "xml"}, "tag_handling xml is not offered here: only plain text is"),
        ({"split_sentences": "2"}, None),
        (
            {"glossary_id": "x", "source_lang": None},
            "Invalid request: glossary_id needs source_lang",
        ),
    ],
)
def test_what_is_wrong_is_said(
    served: Running, change: dict[str, object], message: str | None
) -> None:
    asked = {"text": ["haus"], "source_lang": "DE", "target_lang": "EN-US", **change}
    kept = {name: value for name, value in asked.items() if value is not None}
    answer = served.post("/v2/translate", kept)
    assert answer.status == 400
    assert list(answer.json) == ["message"]
    assert message is None or answer.json["message"] == message


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ("haus", "entry 1 of the glossary is not a term and a translation"),
        ("haus\thouse\n\nkatze\t ", "entry 3 of the glossary is not a term and a translation"),
        ("\n", "the glossary has no entries"),
        ("haus\ta\nhaus\tb", "the glossary has a source term twice"),
    ],
)
def test_what_is_wrong_with_a_glossary_is_said(served: Running, entries: str, message: str) -> None:
    asked = {"name": "n", "source_lang": "de", "target_lang": "en", "entries": entries}
    answer = served.post("/v2/glossaries", {**asked, "entries_format": "tsv"})
    assert (answer.status, answer.json) == (400, {"message": f"Invalid request: {message}"})


def test_a_glossary_of_other_languages_or_by_a_pivot_is_refused(served: Running) -> None:
    asked = {"name": "n", "source_lang": "de", "target_lang": "fr", "entries": "haus\tmaison"}
    assert served.post("/v2/glossaries", asked).status == 400
    made = served.post("/v2/glossaries", {**asked, "target_lang": "en"}).json["glossary_id"]
    wanted = {"text": "haus", "source_lang": "EN", "target_lang": "FR", "glossary_id": made}
    answer = served.post("/v2/translate", wanted)
    assert answer.json == {"message": "Invalid request: the glossary is of other languages"}


def test_documents_are_refused(client: Any, tmp_path: Any) -> None:
    deepl = pytest.importorskip("deepl")
    file = tmp_path / "in.txt"
    file.write_text("haus", "utf-8")
    with pytest.raises(deepl.exceptions.DeepLException, match="Files are not translated"):
        client.translate_document_from_filepath(
            file, tmp_path / "out.txt", source_lang="DE", target_lang="EN-US"
        )


def test_a_wrong_key_and_none(locked: Running) -> None:
    for headers in (
        {},
        {"Authorization": "DeepL-Auth-Key first-key-of-al"},
        {"Authorization": "x"},
    ):
        answer = locked.get("/v2/usage", **headers)
        assert answer.status == 403
        assert list(answer.json) == ["message"]
    deepl = pytest.importorskip("deepl")
    client = deepl.DeepLClient("wrong-key", server_url=locked.url)
    with pytest.raises(deepl.exceptions.AuthorizationException):
        client.get_usage()
    client.close()
