from __future__ import annotations

import dataclasses
import json
import re
from html.parser import HTMLParser

import pytest

from mt.evaluation.comparison import LENGTHS, range_name, score_by_group
from mt.reporting.contents import Report
from mt.reporting.report_page import report_page
from mt.reporting.sentences import groups_of
from tests.reporting.reports import (
    CARD,
    HYPOTHESES,
    OTHERS,
    REFERENCES,
    SOURCES,
    curves,
    record,
    report,
    scored,
)

VOID = {"meta", "link", "br", "input", "img", "wbr", "hr"}


class Reader(HTMLParser):
    """Texts by element, with the names of the elements around; elements must nest."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[tuple[tuple[str, ...], str]] = []
        self.identifiers: list[str] = []
        self.links: list[str] = []
        self.labels: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.identifiers += [found["id"] or ""] if "id" in found else []
        self.links += [found["href"] or ""] if "href" in found else []
        self.labels += [found["aria-labelledby"] or ""] if "aria-labelledby" in found else []
        assert "style" not in found, "the policy of the page lets no style attribute work"
        assert not any(name.startswith("on") for name in found)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((tuple(self.open), data))

    def of(self, *tags: str) -> list[str]:
        """The texts in elements of these names, one in another."""
        return [text for around, text in self.texts if all(tag in around for tag in tags)]

    @property
    def text(self) -> str:
        return "".join(text for around, text in self.texts if not {"script", "style"} & {*around})


def read(shown: Report) -> Reader:
    return Reader(report_page(shown))


def with_systems(num_systems: int) -> Report:
    return dataclasses.replace(report(), scored=scored(num_systems=num_systems))


def test_the_page_is_whole_and_runs_nothing_of_the_texts() -> None:
    html = report_page(report())
    page = Reader(html)
    assert not re.search(r'(?:src|href)="(?!#)', html)
    assert "url(" not in html
    assert "<img" not in html
    assert html.count("<script") == 2
    assert "<b>" not in html
    for text in (*SOURCES, *HYPOTHESES, *REFERENCES):
        assert re.sub(r"\s+", " ", text) in re.sub(r"\s+", " ", page.text)


def test_every_part_is_linked_and_named() -> None:
    for shown in (
        report(),
        report(with_scores=False),
        dataclasses.replace(report(), models=[record("a"), record("b")]),
    ):
        page = read(shown)
        assert len(set(page.identifiers)) == len(page.identifiers)
        targets = {link.removeprefix("#") for link in page.links}
        assert targets <= set(page.identifiers)
        assert set(page.labels) <= set(page.identifiers)
        assert {"main", "scores", "commands"} <= targets


def test_scores_stand_with_intervals_and_signatures() -> None:
    shown = report()
    assert shown.scored is not None
    page = read(shown)
    strong = page.of("strong")
    for result in shown.scored.results:
        assert f"{result.score.score:.2f}" in strong
        assert result.score.signature in page.text
        assert result.interval is not None
        low = max(result.interval.mean - result.interval.half_width, 0)
        high = result.interval.mean + result.interval.half_width
        assert f"95 %: {low:.2f} to {high:.2f}" in page.text
    assert "p = " not in page.text
    assert "test/<ref>.en" in page.text
    assert "BLAKE2b 00ff" in page.text


def test_several_systems_have_letters_and_tests() -> None:
    shown = with_systems(2)
    assert shown.scored is not None
    page = read(shown)
    assert {"A", "B"} <= set(page.of("dt"))
    assert "out/<first>.en BLAKE2b 12ab" in page.text
    assert "second.en BLAKE2b 12ab" in page.text
    for result in shown.scored.results[5:]:
        assert f"p = {result.p_value:.4f}" in page.text
    assert "Where B is better than A by most chrF2" in page.text
    assert "Translation B " in page.of("h4")


def test_scores_by_length_are_those_of_the_groups() -> None:
    shown = report()
    assert shown.scored is not None
    (section,) = re.findall(r'aria-labelledby="lengths".*?</section>', report_page(shown), re.S)
    found = {}
    for name, numbers in re.findall(r'dir="auto">([^<]*)</th>(.*?)</tr>', section):
        found[name] = re.findall(r'class="number">([^<]*)<', numbers)
    groups = [range_name(len(shown.scored.split(line)), LENGTHS) for line in REFERENCES]
    assert set(found) == set(groups)
    for index, measured in enumerate(shown.scored.systems[0].measured):
        for name, score in score_by_group(measured, groups).items():
            assert found[name][0] == str(groups.count(name))
            assert found[name][1 + index] == f"{score:.2f}"


def test_the_worst_and_the_best_sentences_are_shown_once() -> None:
    shown = scored(num_examples=2)
    worst, best = groups_of(shown)
    scores = shown.ordering[0].sentence_scores()
    order = sorted(range(5), key=lambda i: scores[i])
    assert list(worst.indices) == order[:2]
    assert list(best.indices) == order[:2:-1]
    assert (worst.is_open, best.is_open) == (True, False)
    few = groups_of(scored(num_examples=4))
    assert sorted(index for group in few for index in group.indices) == list(range(5))


def test_of_errors_the_most_are_the_worst() -> None:
    by_errors = dataclasses.replace(scored(num_examples=1), main_metric=3)
    scores = by_errors.ordering[0].sentence_scores()
    worst, best = groups_of(by_errors)
    assert worst.title == "Worst by TER"
    assert scores[worst.indices[0]] == max(scores)
    assert scores[best.indices[0]] == min(scores)


def test_where_systems_differ_most_is_shown() -> None:
    groups = groups_of(scored(num_systems=2))
    assert [group.title for group in groups] == [
        "Worst of A by chrF2",
        "Best of A by chrF2",
        "Where B is better than A by most chrF2",
        "Where B is worse than A by most chrF2",
    ]
    gained, lost = groups[2].indices, groups[3].indices
    assert all(OTHERS[index] == REFERENCES[index] for index in gained)
    assert {HYPOTHESES[index] for index in lost} <= {"yes", "日本の車は赤い"}


def test_without_examples_there_are_no_sentences() -> None:
    page = read(dataclasses.replace(report(), scored=scored(num_examples=0)))
    assert "sentences" not in page.identifiers
    assert "attention" not in page.identifiers


def test_differences_are_marked() -> None:
    page = read(report())
    assert "was" in page.of("article", "del")
    assert "is" in page.of("article", "ins")
    assert "家" in page.of("article", "ins")
    assert "שלום" in page.of("article", "mark")


def test_attention_is_that_of_the_sentences_shown() -> None:
    shown = report()
    assert shown.scored is not None
    html = report_page(shown)
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', html)
    sentences = json.loads(text)["sentences"]
    assert [each["index"] for each in sentences] == sorted(shown.scored.attention)
    assert {f'data-index="{index}"' for index in shown.scored.attention} == set(
        re.findall(r'data-index="\d+"', html)
    )
    for each in sentences:
        attended = shown.scored.attention[each["index"]]
        assert len(each["queries"]) == len(each["weights"]) == attended.weights.size(0)
        for row in each["weights"]:
            assert len(row) == len(each["keys"])
            assert sum(row) == pytest.approx(10_000, abs=len(row))


def test_the_numbers_of_the_curves_stand_in_tables() -> None:
    page = read(report(with_scores=False))
    cells = page.of("td")
    assert {"20.00", "31.50", "52.25", "2.25"} <= set(cells)
    assert "2,000 (best)" in page.of("th")
    assert "All 2 validations as a table" in page.of("summary")
    summary = (
        "6,000 updates, 60.0 epochs, 600.0 minutes; ended: patience <1>. The weights are those of "
        "update 2,000. Resumed after update 400."
    )
    assert summary in page.text
    html = report_page(report(with_scores=False))
    assert "training, label-smoothed, means of 2 records from " in html
    assert "learning rate × 1e3 from 1 at update 30 to 1 at 5,990" in html
    assert "in 10<sup>−3</sup>; by update" in html
    assert "BLEU from 20 at update 1,000 to 31.5 at 2,000; chrF2 from 40 at update 1,000" in html


def test_a_training_without_validations_has_a_loss_alone() -> None:
    series = {name: points for name, points in curves(3).series.items() if "dev" not in name}
    young = dataclasses.replace(curves(3), series=series, best_update=None, reason=None)
    model = dataclasses.replace(record(), curves=young)
    page = read(dataclasses.replace(report(with_scores=False), models=[model]))
    assert "validations as a table" not in page.text
    assert "It was not recorded why it ended" in page.text
    nothing = dataclasses.replace(record(), curves=dataclasses.replace(young, series={}))
    page = read(dataclasses.replace(report(with_scores=False), models=[nothing]))
    assert "Nothing was recorded." in page.text


def test_where_every_pair_went_is_told() -> None:
    page = read(report(with_scores=False))
    assert "150 pairs were read, 133 used." in page.text
    assert {"left out: repeated", "left out: too long", "a<b>.tsv"} <= set(page.of("th"))
    assert {"9", "3", "5", "88.7 %"} <= set(page.of("td"))
    assert "ab12" in page.of("code")


def test_the_card_is_shown_in_facts_and_as_it_is() -> None:
    page = read(report(with_scores=False))
    assert {"languages", "fine-tuned from"} <= set(page.of("dt"))
    assert {"<de> → en", "a|b"} <= set(page.of("dd"))
    assert CARD in page.of("pre")


def test_what_is_not_known_is_said() -> None:
    model = dataclasses.replace(
        record(), facts=(), card="", curves=None, corpus=None, unknown=["The corpus is <lost>"]
    )
    page = read(dataclasses.replace(report(with_scores=False), models=[model]))
    assert "The corpus is <lost>" in page.of("li")
    assert "Nothing was scored: <why>." in page.text
    assert "training" not in page.identifiers


def test_what_was_said_stands_with_warnings_first() -> None:
    said = [text for text in read(report()).of("ul", "li") if "well" in text or "warning" in text]
    assert said == ["warning: 2 of <5> lines", "all is well"]


def test_a_validation_set_is_called_one() -> None:
    flattering = "flatter the model"
    assert flattering not in read(report()).text
    chosen = dataclasses.replace(scored(), is_validation=True)
    assert flattering in read(dataclasses.replace(report(), scored=chosen)).text


def test_the_same_report_is_the_same_page() -> None:
    assert report_page(report()) == report_page(report())


def test_of_several_references_the_nearest_is_shown() -> None:
    several = dataclasses.replace(scored(), references=[OTHERS, HYPOTHESES])
    page = read(dataclasses.replace(report(), scored=several))
    assert set(page.of("article", "h4")) & {"Reference 1 of 2", "Reference 2 of 2"} == {
        "Reference 2 of 2"
    }
    assert page.of("article", "del") == page.of("article", "ins") == []
