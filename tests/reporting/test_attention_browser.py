"""The page of `mt inspect` in a real browser: drawn, walked through by keys, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mt.reporting.attention import AttendedPair, attend_to_pair
from mt.reporting.attention_page import attention_page
from tests.reporting.browser import CONTRASTS, LEAST_CONTRAST, Tab, browser_tab, find_browser
from tests.reporting.models import SOURCE, TARGET, small_model


@pytest.fixture(scope="module")
def pair() -> AttendedPair:
    return attend_to_pair(small_model(), SOURCE, TARGET)


@pytest.fixture(scope="module")
def page(pair: AttendedPair, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "attention.html"
    path.write_text(attention_page(pair, model="small"), "utf-8")
    return path


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with browser_tab(find_browser(), tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def shown(tab: Tab, page: Path) -> Iterator[Tab]:
    """The page, opened anew in a large light window; nothing may be complained of afterwards."""
    tab.show_as(width=1280, height=900)
    tab.requests.clear()
    tab.complaints.clear()
    tab.open(page, "#cross-2-3")
    yield tab
    assert tab.complaints == []
    assert set(tab.requests) == {page.as_uri()}


def texts(tab: Tab, selector: str) -> list[str]:
    found = tab.evaluate(
        f"[...document.querySelectorAll({selector!r})].map((node) => node.textContent)"
    )
    assert isinstance(found, list)
    return found


def label_in_focus(tab: Tab) -> str:
    return str(tab.evaluate("document.activeElement.getAttribute('aria-label')"))


def test_the_map_of_a_head_has_its_tokens_and_weights(shown: Tab, pair: AttendedPair) -> None:
    assert texts(shown, "#detail-title") == ["Cross-attention, layer 2, head 3"]
    assert texts(shown, "table.heat thead th") == list(pair.source_pieces)
    assert texts(shown, "table.heat tbody th") == list(pair.predicted_pieces)
    labels = shown.evaluate(
        "[...document.querySelectorAll('table.heat td[data-row]')]"
        ".map((cell) => cell.getAttribute('aria-label'))"
    )
    weights = pair.maps[0].weights[1, 2].double()
    found = [float(label.rpartition(": ")[2]) for label in labels]
    assert found == pytest.approx(weights.flatten().tolist(), abs=0.00056)
    assert labels[0].startswith(f"{pair.predicted_pieces[0]} to {pair.source_pieces[0]}: ")
    assert shown.evaluate("document.querySelectorAll('b').length") == 0


def test_every_kind_layer_and_head_can_be_chosen(shown: Tab, pair: AttendedPair) -> None:
    for maps in pair.maps:
        shown.evaluate(f"document.querySelector('input[value={maps.kind}]').click()")
        buttons = len(texts(shown, "#overview button"))
        assert buttons == maps.weights.size(0) * maps.weights.size(1)
        shown.evaluate("[...document.querySelectorAll('#overview button')].at(-1).click()")
        layers, heads = maps.weights.shape[:2]
        assert shown.evaluate("location.hash") == f"#{maps.kind}-{layers}-{heads}"
        assert texts(shown, "table.heat tbody th") == list(maps.queries)
    shown.evaluate("document.querySelector('a[href=\"#encoder-2-1\"]').click()")
    shown.wait_for(
        "document.getElementById('detail-title').textContent"
        " === 'Encoder self-attention, layer 2, head 1'"
    )


def test_rows_of_cross_attention_are_named_by_either_token(shown: Tab, pair: AttendedPair) -> None:
    shown.evaluate(
        "(() => { const names = document.getElementById('names'); names.value = 'fed';"
        " names.dispatchEvent(new Event('change')); })()"
    )
    assert texts(shown, "table.heat tbody th") == list(pair.fed_pieces)


def test_all_of_it_can_be_done_by_keys(shown: Tab, pair: AttendedPair) -> None:
    def tab_to(selector: str) -> None:
        for _ in range(6):
            shown.press("Tab", code=9)
            if shown.evaluate(f"document.activeElement.matches({selector!r})"):
                return
        pytest.fail(f"Tab does not lead to {selector}")

    tab_to("input[name=kind]")
    tab_to("#overview button")
    assert label_in_focus(shown).startswith("layer 2, head 3: entropy ")
    shown.press("ArrowRight", code=39)
    shown.press("ArrowDown", code=40)
    assert label_in_focus(shown).startswith("layer 3, head 4: entropy ")
    assert texts(shown, "#detail-title") == ["Cross-attention, layer 3, head 4"]
    tab_to("table.heat td")
    shown.press("Home", code=36, control=True)
    first, second = pair.predicted_pieces[:2]
    assert label_in_focus(shown).startswith(f"{first} to {pair.source_pieces[0]}: ")
    shown.press("ArrowDown", code=40)
    shown.press("End", code=35)
    assert label_in_focus(shown).startswith(f"{second} to </s>: ")
    weight = float(pair.maps[0].weights[2, 3, 1, -1])
    (said,) = texts(shown, "#cell strong")
    assert float(said) == pytest.approx(weight, abs=0.00056)
    assert texts(shown, "table.heat th.active") == ["</s>", second]


def test_pointing_at_a_cell_says_its_weight(shown: Tab, pair: AttendedPair) -> None:
    shown.evaluate("document.querySelector('table.heat').scrollIntoView()")
    x, y = shown.evaluate(
        '(() => { const box = document.querySelector(\'td[data-row="2"][data-column="1"]\')'
        ".getBoundingClientRect(); return [box.x + 5, box.y + 5]; })()"
    )
    shown.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    weight = float(pair.maps[0].weights[1, 2, 2, 1])
    (said,) = texts(shown, "#cell strong")
    assert float(said) == pytest.approx(weight, abs=0.00056)


@pytest.mark.parametrize("dark", [False, True])
def test_text_stands_out_from_its_ground(shown: Tab, dark: bool) -> None:
    shown.show_as(width=1280, height=900, dark=dark)
    is_dark = "getComputedStyle(document.body).backgroundColor === 'rgb(15, 19, 23)'"
    shown.wait_for(is_dark if dark else f"!({is_dark})")
    lowest = shown.evaluate(CONTRASTS)[0]
    assert lowest[0] >= LEAST_CONTRAST, lowest
    head = "document.querySelector('#overview canvas').getContext('2d')"
    shown.wait_for(
        f"(() => {{ const row = {head}.getImageData(0, 0, 1, 1).data;"
        " const cell = document.querySelector('table.heat td[data-row]');"
        " return row[3] === 255 && cell.style.backgroundColor !== ''; })()"
    )


def test_it_fits_on_a_phone(shown: Tab) -> None:
    shown.show_as(width=360, height=740, phone=True)
    shown.wait_for("innerWidth === 360")
    assert shown.evaluate("document.documentElement.scrollWidth") == 360
    sizes = shown.evaluate(
        "[...document.querySelectorAll('table.heat td[data-row], #overview button, .kinds label')]"
        ".map((node) => node.getBoundingClientRect()).map((box) => Math.min(box.width, box.height))"
    )
    assert min(sizes) >= 24, "a finger needs 24 pixels (WCAG 2.5.8)"
