"""The page at `/` in a real browser: light and dark, wide and narrow, by mouse and by keys."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from mt import Translator
from tests.reporting.browser import CONTRASTS, LEAST_CONTRAST, Tab, browser_tab, find_browser
from tests.serving.models import LINES, expected
from tests.serving.running import Running

TEXT = f"{LINES[1]}\n\n{LINES[4]}"


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with browser_tab(find_browser(), tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def shown(tab: Tab, served: Running) -> Iterator[Tab]:
    """The page, opened anew; nothing may be complained of, and nobody else be asked."""
    tab.show_as(width=1280, height=800)
    tab.call("Page.navigate", url="about:blank")
    tab.wait_for("location.href === 'about:blank'")
    tab.requests.clear()
    tab.complaints.clear()
    tab.call("Page.navigate", url=f"{served.url}/")
    tab.wait_for("document.documentElement?.dataset.ready === 'yes'")
    yield tab
    assert tab.complaints == []
    assert all(url.startswith(served.url) for url in tab.requests)


def value(tab: Tab, element: str, name: str = "textContent") -> str:
    return str(tab.evaluate(f"document.getElementById({element!r}).{name}"))


def type_text(tab: Tab, text: str) -> None:
    tab.evaluate("document.getElementById('text').focus()")
    tab.call("Input.insertText", text=text)
    tab.wait_for("document.documentElement.dataset.aligned === 'yes'")


def marked(tab: Tab, element: str) -> list[str]:
    found = tab.evaluate(
        f"[...document.querySelectorAll('#{element} .marked')].map((node) => node.textContent)"
    )
    assert isinstance(found, list)
    return found


def test_what_is_typed_is_translated(shown: Tab, translators: dict[str, Translator]) -> None:
    type_text(shown, TEXT)
    first, second = expected(translators["de-en"], LINES[1], LINES[4])
    assert value(shown, "translation") == f"{first}\n\n{second}"
    assert value(shown, "count") == f"{len(TEXT)} / 10000"
    assert value(shown, "source", "value") == "de"
    assert value(shown, "error") == ""


def test_other_translations_can_be_taken(shown: Tab) -> None:
    type_text(shown, LINES[2])
    other = shown.evaluate("document.querySelector('#alternatives button').textContent")
    shown.evaluate("document.querySelector('#alternatives button').click()")
    assert value(shown, "translation") == other
    again = "[...document.querySelectorAll('#alternatives button')].map((each) => each.textContent)"
    assert other not in shown.evaluate(again)


def test_a_walk_by_keys(shown: Tab) -> None:
    """From field to field by Tab, through the words by arrows, a swap by Alt+S."""
    type_text(shown, TEXT)
    order = []
    for _ in range(4):
        order.append(shown.evaluate("document.activeElement.id"))
        shown.press("Tab", code=9)
    assert order == ["text", "clear", "translation", "copy"]
    shown.evaluate("document.getElementById('translation').focus()")
    words = value(shown, "translation").split()
    shown.press("ArrowRight", code=39)
    assert marked(shown, "translation") == words[:1]
    shown.press("End", code=35)
    assert marked(shown, "translation") == words[-1:]
    assert value(shown, "linked").startswith(f"{words[-1]}: ")
    shown.press("Escape", code=27)
    assert marked(shown, "translation") == []
    before = value(shown, "translation")
    shown.evaluate("document.getElementById('swap').click()")
    assert value(shown, "text", "value") == before
    assert [value(shown, each, "value") for each in ("source", "target")] == ["en", "de"]
    shown.wait_for("document.getElementById('state').textContent === ''")


def test_words_that_belong_together_are_marked_from_both_sides(shown: Tab) -> None:
    type_text(shown, TEXT)
    number = shown.evaluate("links.findIndex((some) => some.length)")
    if number < 0:
        pytest.skip("this model of random weights aligns nothing")
    point = (
        "(({left, top, width, height}) => [left + width / 2, top + height / 2])"
        "(document.querySelector('#{} [data-word=\"{}\"]').getBoundingClientRect())"
    )
    x, y = shown.evaluate(point.replace("#{}", "#translation").replace("{}", str(number)))
    shown.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    sources = marked(shown, "mirror")
    assert sources
    first = shown.evaluate(f"links[{number}][0]")
    x, y = shown.evaluate(point.replace("#{}", "#mirror").replace("{}", str(first)))
    shown.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    assert marked(shown, "mirror") == sources[:1]
    word = shown.evaluate(
        f"document.querySelector('#translation [data-word=\"{number}\"]').textContent"
    )
    assert word in marked(shown, "translation")


def test_an_error_is_shown(shown: Tab) -> None:
    shown.evaluate("document.getElementById('source').append(new Option('x', 'xx'))")
    shown.evaluate("document.getElementById('source').value = 'xx'")
    shown.evaluate("document.getElementById('text').value = 'haus'; translate()")
    shown.wait_for("!document.getElementById('error').hidden")
    assert value(shown, "error") == "xx is not supported"
    shown.complaints.clear()  # the browser tells of the status


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_how_it_looks(shown: Tab, width: int, dark: bool, tmp_path: Path) -> None:
    """Nothing runs out of the window, text stands out, what is tapped is large enough."""
    shown.show_as(width=width, height=900, dark=dark, phone=width < 500)
    type_text(shown, TEXT)
    shown.evaluate("mark(0)")
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    seen = CONTRASTS.replace("main *", "main *:not(#mirror, #mirror *)")  # that one is to be hidden
    contrasts = shown.evaluate(seen)
    assert contrasts[0][0] >= LEAST_CONTRAST, contrasts[:3]
    sizes = shown.evaluate(
        "[...document.querySelectorAll('button, select')].filter((each) => each.checkVisibility())"
        ".map((each) => each.getBoundingClientRect().height)"
    )
    assert min(sizes) >= 36
    folder = Path(os.environ.get("MT_SCREENSHOTS", tmp_path))
    shown.screenshot(folder / f"page-{width}-{'dark' if dark else 'light'}.png")


def test_the_page_may_load_nothing_else(served: Running) -> None:
    for path in ("/", "/page.js", "/page.css", "/icon.svg"):
        answer = served.get(path)
        assert answer.status == 200
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'")
        assert "unsafe" not in policy
        assert b"http://" not in answer.body.replace(b"http://www.w3.org/2000/svg", b"")
        assert b"https://" not in answer.body
