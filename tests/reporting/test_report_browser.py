"""The page of `mt report` in a real browser: whole, by keys, on a phone, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mt.reporting.contents import Report
from mt.reporting.report_page import report_page
from tests.reporting.browser import CONTRASTS, LEAST_CONTRAST, Tab, browser_tab, find_browser
from tests.reporting.reports import report


@pytest.fixture(scope="module")
def told() -> Report:
    return report()


@pytest.fixture(scope="module")
def page(told: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(report_page(told), "utf-8")
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
    tab.open(page)
    yield tab
    assert tab.complaints == []
    assert set(tab.requests) == {page.as_uri()}


def texts(tab: Tab, selector: str) -> list[str]:
    found = tab.evaluate(
        f"[...document.querySelectorAll({selector!r})].map((node) => node.textContent)"
    )
    assert isinstance(found, list)
    return found


def open_all(tab: Tab) -> None:
    tab.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")


def tab_to(tab: Tab, selector: str) -> None:
    for _ in range(40):
        tab.press("Tab", code=9)
        if tab.evaluate(f"document.activeElement.matches({selector!r})"):
            return
    pytest.fail(f"Tab does not lead to {selector}")


def test_each_sentence_shows_what_is_attended_to(shown: Tab, told: Report) -> None:
    assert told.scored is not None
    attention = told.scored.attention
    assert attention
    for index, attended in attention.items():
        open_all(shown)
        shown.evaluate(f"document.querySelector('button[data-index=\"{index}\"]').click()")
        assert shown.evaluate("document.getElementById('sentence').value") == str(index)
        assert texts(shown, "table.heat tbody th") == list(attended.target_pieces)
        assert texts(shown, "table.heat thead th") == list(attended.source_pieces)
        labels = shown.evaluate(
            "[...document.querySelectorAll('table.heat td[data-row]')]"
            ".map((cell) => cell.getAttribute('aria-label'))"
        )
        found = [float(label.rpartition(": ")[2]) for label in labels]
        weights = attended.weights.double().flatten().tolist()
        assert found == pytest.approx(weights, abs=0.00056)
    assert texts(shown, "#sentence option")[0].startswith("Line 1: the <b>house</b>")


def test_all_of_it_can_be_done_by_keys(shown: Tab, told: Report) -> None:
    assert told.scored is not None
    tab_to(shown, "nav a[href='#sentences']")
    tab_to(shown, "details.group summary")
    tab_to(shown, "button[data-index]")
    index = int(shown.evaluate("document.activeElement.dataset.index"))
    shown.press("Enter", code=13)
    shown.wait_for("document.activeElement.id === 'sentence'")
    assert shown.evaluate("document.activeElement.value") == str(index)
    tab_to(shown, "table.heat td")
    shown.press("End", code=35, control=True)
    attended = told.scored.attention[index]
    label = shown.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label.startswith(f"{attended.target_pieces[-1]} to </s>: ")
    (said,) = texts(shown, "#cell strong")
    assert float(said) == pytest.approx(float(attended.weights[-1, -1]), abs=0.00056)


def test_a_part_opens_by_keys(shown: Tab) -> None:
    tab_to(shown, "details:not([open]) summary")
    is_open = "document.activeElement.parentElement.open"
    shown.press("Enter", code=13)
    assert shown.evaluate(is_open) is True
    shown.press(" ", code=32)
    assert shown.evaluate(is_open) is False


def test_curves_are_drawn_in_the_frame(shown: Tab) -> None:
    boxes = shown.evaluate(
        "[...document.querySelectorAll('svg.chart')].map((chart) => {"
        " const inner = [...chart.querySelectorAll('polyline, circle')]"
        "   .map((part) => part.getBoundingClientRect());"
        " const box = chart.getBoundingClientRect();"
        " return [inner.length, Math.min(...inner.map((b) => b.left)) - box.left,"
        "   box.right - Math.max(...inner.map((b) => b.right)),"
        "   Math.min(...inner.map((b) => b.top)) - box.top,"
        "   box.bottom - Math.max(...inner.map((b) => b.bottom)),"
        "   Math.max(...inner.map((b) => b.width))]; })"
    )
    assert len(boxes) == 3
    for number, *spaces, widest in boxes:
        assert number >= 1
        assert min(spaces) >= 0, spaces
        assert widest > 100
    dashes = shown.evaluate(
        "[...document.querySelectorAll('.chart .line-1')]"
        ".map((line) => getComputedStyle(line).strokeDasharray)"
    )
    assert "none" not in dashes, "lines differ by more than their colour"


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 360])
def test_text_stands_out_from_its_ground(shown: Tab, dark: bool, width: int) -> None:
    shown.show_as(width=width, height=900, dark=dark)
    is_dark = "getComputedStyle(document.body).backgroundColor === 'rgb(15, 19, 23)'"
    shown.wait_for(is_dark if dark else f"!({is_dark})")
    open_all(shown)
    lowest = shown.evaluate(CONTRASTS)[0]
    assert lowest[0] >= LEAST_CONTRAST, lowest


@pytest.mark.parametrize("width", [320, 360, 414])
def test_it_fits_on_a_phone(shown: Tab, width: int) -> None:
    shown.show_as(width=width, height=740, phone=True)
    shown.wait_for(f"innerWidth === {width}")
    open_all(shown)
    assert shown.evaluate("document.documentElement.scrollWidth") == width
    assert shown.evaluate("innerWidth") == width, "nothing makes the page wider than the screen"
    sizes = shown.evaluate(
        "[...document.querySelectorAll('table.heat td[data-row], button, select, summary, nav a')]"
        ".filter((node) => node.checkVisibility())"
        ".map((node) => node.getBoundingClientRect()).map((box) => Math.min(box.width, box.height))"
    )
    assert min(sizes) >= 24, "a finger needs 24 pixels (WCAG 2.5.8)"


def test_text_runs_in_its_own_direction(shown: Tab) -> None:
    directions = shown.evaluate(
        "[...document.querySelectorAll('.reference p')]"
        ".map((node) => [node.textContent, getComputedStyle(node).direction])"
    )
    found = dict(directions)
    assert found["שלום עולם טוב"] == "rtl"
    assert found["日本の家は赤い"] == "ltr"


def test_nothing_moves_for_those_who_asked_for_it(shown: Tab) -> None:
    behavior = "getComputedStyle(document.documentElement).scrollBehavior"
    assert shown.evaluate(behavior) == "smooth"
    calm = [{"name": "prefers-reduced-motion", "value": "reduce"}]
    shown.call("Emulation.setEmulatedMedia", features=calm)
    assert shown.evaluate(behavior) == "auto"


def test_on_paper_all_is_open_and_nothing_is_a_button(shown: Tab) -> None:
    shown.call("Emulation.setEmulatedMedia", media="print")
    closed = shown.evaluate("document.querySelectorAll('details:not([open])').length")
    assert closed > 0
    shown.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert shown.evaluate("document.querySelectorAll('details:not([open])').length") == 0
    hidden = (
        "[...document.querySelectorAll('nav, .example button')].every((n) => !n.checkVisibility())"
    )
    assert shown.evaluate(hidden)
    shown.evaluate("dispatchEvent(new Event('afterprint'))")
    assert shown.evaluate("document.querySelectorAll('details:not([open])').length") == closed
    shown.call("Emulation.setEmulatedMedia", media="")


def test_without_scripts_all_but_the_map_is_there(shown: Tab, page: Path) -> None:
    shown.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        shown.call("Page.navigate", url=page.as_uri())
        shown.wait_for("document.readyState === 'complete'")
        assert shown.evaluate("document.querySelector('#attended').checkVisibility()") is False
        assert "drawn by the script" in shown.evaluate("document.body.innerText")
        assert shown.evaluate("document.querySelectorAll('svg.chart').length") == 3
    finally:
        shown.call("Emulation.setScriptExecutionDisabled", value=False)
