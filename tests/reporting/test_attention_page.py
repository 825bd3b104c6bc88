"""The page needs nothing beside it, and no text of a token is more than text on it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from html.parser import HTMLParser
from typing import Any

import pytest

from mt.reporting.attention import AttendedPair, attend_to_pair
from mt.reporting.attention_page import attention_page
from mt.reporting.page import page, script_json
from tests.reporting.models import SOURCE, TARGET, small_model

NAME = '<i>"model"</i>'


class Elements(HTMLParser):
    """The elements of a page and their texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = tag
        self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts[self._open][-1] += data


@cache
def pair() -> AttendedPair:
    return attend_to_pair(small_model(), SOURCE, TARGET)


@cache
def whole() -> tuple[str, Elements]:
    text = attention_page(pair(), model=NAME)
    return text, Elements(text)


def data_of(elements: Elements) -> Any:
    return json.loads(elements.texts["script"][0])


def test_text_of_tokens_and_names_stays_text() -> None:
    _, elements = whole()
    names = {tag for tag, _ in elements.tags}
    assert not names & {"b", "i", "img", "iframe", "link"}
    assert len([tag for tag, _ in elements.tags if tag == "script"]) == 2
    assert f"Attention of {NAME}" in elements.texts["h1"][0]
    assert SOURCE in elements.texts["span"]
    assert any(text.startswith(TARGET) for text in elements.texts["span"])
    (cross, encoder, decoder) = data_of(elements)["kinds"]
    assert tuple(cross["queries"]) == pair().predicted_pieces
    assert tuple(cross["keys"]) == tuple(encoder["keys"]) == pair().source_pieces
    assert tuple(decoder["keys"]) == pair().fed_pieces


def test_the_page_holds_the_weights_to_four_places() -> None:
    kinds = data_of(whole()[1])["kinds"]
    for maps, kind in zip(pair().maps, kinds, strict=True):
        found = [[head["weights"] for head in layer] for layer in kind["layers"]]
        for layer, head, query, key in ((0, 0, 0, 0), (1, 3, 2, 1), (1, 2, -1, -1)):
            expected = float(maps.weights[layer, head, query, key])
            assert found[layer][head][query][key] / 10_000 == pytest.approx(expected, abs=5.1e-5)


def test_the_page_asks_for_no_other_file() -> None:
    text, elements = whole()
    assert "http:" not in text.replace("http-equiv", "")
    assert "https:" not in text
    for _, attributes in elements.tags:
        assert "src" not in attributes
        assert "style" not in attributes, "the policy would not apply it"
        assert (attributes.get("href") or "#").startswith("#")
    assert not re.search(r"@import|url\(|fetch\(|import\(|XMLHttpRequest", text)


def test_the_policy_names_the_script_and_the_style_and_nothing_else() -> None:
    _, elements = whole()
    (policy,) = (a["content"] for _, a in elements.tags if a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for text in (elements.texts["style"][0], elements.texts["script"][1]):
        digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_every_head_stands_in_a_table_with_a_link_to_its_map() -> None:
    _, elements = whole()
    links = [attributes["href"] for tag, attributes in elements.tags if tag == "a"]
    expected = [
        f"#{maps.kind}-{profile.layer + 1}-{profile.head + 1}"
        for maps in pair().maps
        for layer in maps.profiles
        for profile in layer
    ]
    assert [link for link in links if link != "#main"] == expected
    starts = data_of(elements)["starts"]
    assert {f"#{start}" for start in starts.values()} <= set(expected)


def test_json_in_a_script_cannot_end_it() -> None:
    value = {"x": "</script><!-- \u2028 & ' \" שלום"}
    text = script_json(value)
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == value
    with pytest.raises(ValueError, match="JSON"):
        script_json(float("nan"))


def test_a_page_escapes_its_title() -> None:
    text = page(title="<b>&", body="", data=None, styles=(), scripts=())
    assert "<title>&lt;b&gt;&amp;</title>" in text
