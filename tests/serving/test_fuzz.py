"""Whatever is sent: never a 500, never a traceback, and JSON in the shape of the API."""

from __future__ import annotations

import json
from urllib.parse import urlencode

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.serving.running import FORM, Running

PATHS = (
    *("/translate", "/detect", "/suggest", "/translate_file", "/mt/alignment"),
    *("/v2/translate", "/v2/glossaries", "/v2/usage", "/v2/languages", "/v2/document"),
)
NAMES = (
    *("q", "source", "target", "format", "alternatives", "api_key", "translation"),
    *("text", "source_lang", "target_lang", "split_sentences", "formality", "tag_handling"),
    *("glossary_id", "name", "entries", "entries_format", "context", "show_billed_characters"),
)
WORDS = st.sampled_from(
    ["de", "en", "fr", "auto", "EN-GB", "haus katze", "haus\thouse", "html", "xml", "1", "", "\n\n"]
)
# Few letters, so that a line is short: what matters is their kind.
TEXTS = st.one_of(
    WORDS, st.text(max_size=12), st.text("a\ud800\0\u2028\u202e \r\n\t<&{", max_size=8)
)
VALUES = st.recursive(
    st.one_of(TEXTS, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=5,
)

GOOD = {"q": "haus", "text": "haus", "source": "de", "target": "en", "translation": "house"}
GOOD |= {"source_lang": "DE", "target_lang": "EN", "name": "n", "entries": "haus\thouse"}
OBJECTS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6)


def require_sane(path: str, status: int, body: bytes, written: str) -> None:
    assert status < 500, (path, status, body)
    assert "Traceback" not in written
    assert b"Traceback" not in body
    assert b"site-packages" not in body
    answer = json.loads(body)
    if status >= 400:
        assert list(answer) == ["message" if path.startswith("/v2/") else "error"]
        assert len(answer.popitem()[1]) < 200


@settings(max_examples=60)
@given(path=st.sampled_from(PATHS), fields=OBJECTS, is_whole=st.booleans())
def test_json(served: Running, path: str, fields: dict[str, object], is_whole: bool) -> None:
    answer = served.post(path, {**GOOD, **fields} if is_whole else fields)
    require_sane(path, answer.status, answer.body, served.written.getvalue())


@settings(max_examples=40)
@given(
    path=st.sampled_from(PATHS),
    fields=st.lists(st.tuples(st.sampled_from(NAMES), TEXTS), max_size=6),
)
def test_forms(served: Running, path: str, fields: list[tuple[str, str]]) -> None:
    body = urlencode([*GOOD.items(), *fields], errors="surrogatepass").encode()
    answer = served.ask("POST", path, body, FORM)
    require_sane(path, answer.status, answer.body, served.written.getvalue())


@settings(max_examples=60)
@given(
    path=st.sampled_from(PATHS),
    body=st.binary(max_size=60),
    kind=st.sampled_from(
        [
            *("application/json", "application/x-www-form-urlencoded", "text/plain", ""),
            *("multipart/form-data; boundary=b", "multipart/form-data", "application/json; \xff"),
        ]
    ),
    before=st.sampled_from(
        [b"", b"--b\r\n", b"--b\r\nContent-Disposition: form-data; name=q\r\n\r\n"]
    ),
)
def test_bytes(served: Running, path: str, body: bytes, kind: str, before: bytes) -> None:
    answer = served.ask("POST", path, before + body, {"Content-Type": kind})
    require_sane(path, answer.status, answer.body, served.written.getvalue())
