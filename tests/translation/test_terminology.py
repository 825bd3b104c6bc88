"""A glossary in the translator: what is honoured, what stays as it was, and what is said."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from mt.events import Event, Notice
from mt.search.hypothesis import SearchResult
from mt.text.glossary import Glossary
from mt.text.placeholders import USUAL_PLACEHOLDERS
from mt.text.subwords import SubwordTokenizer
from mt.translation.options import TranslationOptions
from mt.translation.searching import Searcher
from mt.translation.source import Source
from mt.translation.translation import Translation
from mt.translation.translator import Translator
from tests.translation.random_models import lines, make

TERMS = [
    ("haus", "Straße nicht"),
    ("katze", "xylophon"),
    ("katze", "über und"),
    ("grün", "grün"),
]


def with_glossary(
    glossary: Glossary | None,
    *,
    max_length: int = 24,
    batch_size: int = 8,
    longest_source: int = 0,
) -> tuple[Translator, list[Event]]:
    plain, events = make(max_length=max_length, longest_source=longest_source)
    translator = Translator(
        plain.model,
        plain.tokenizers,
        plain.config,
        options=TranslationOptions(batch_size=batch_size, glossary=glossary),
        listener=events.append,
    )
    return translator, events


def shown(translations: Iterable[Translation]) -> list[str]:
    return [each.text for each in translations]


def test_terms_are_honoured_and_other_lines_stay_as_they_were() -> None:
    plain, _ = with_glossary(None)
    translator, _ = with_glossary(Glossary(TERMS))
    usual = list(plain.translate(lines()))
    found = list(translator.translate(lines()))
    num_changed = num_asked = num_missed = 0
    for before, after in zip(usual, found, strict=True):
        assert before.terms is None
        assert after.terms is not None
        words = before.source.split()
        assert [each.source for each in after.terms] == [
            word for word in dict.fromkeys(words) if word in ("haus", "katze", "grün")
        ]
        num_asked += len(after.terms)
        num_missed += len(after.hypotheses[0].terms_missed)
        if before.text != after.text:
            num_changed += 1
            lacking = Glossary(TERMS).missed(after.terms, before.text)
            assert len(after.hypotheses[0].terms_missed) < len(lacking)
        if not after.terms:
            assert before.hypotheses == after.hypotheses
    assert num_changed > 20
    assert num_missed <= num_asked // 20


@pytest.mark.parametrize("batch_size", [1, 3, 64])
def test_the_rest_of_a_batch_changes_no_line(batch_size: int) -> None:
    expected, _ = with_glossary(Glossary(TERMS))
    translator, _ = with_glossary(Glossary(TERMS), batch_size=batch_size)
    given = lines()[:24]
    assert shown(translator.translate(given[::-1])) == shown(expected.translate(given))[::-1]


def test_scores_are_those_of_the_model() -> None:
    """Forced to hold a term, a translation has the score that its tokens have by themselves."""
    from mt.translation.scorer import Scorer

    translator, _ = with_glossary(Glossary(TERMS))
    found = [each for each in translator.translate(lines()[:12]) if each.terms]
    scorer = Scorer(translator.model, translator.tokenizers, translator.config)
    sources = scorer.encode_sources([each.source for each in found])
    pairs = [(s, each.hypotheses[0].tokens) for s, each in zip(sources, found, strict=True)]
    for scored, each in zip(scorer.score_tokens(pairs), found, strict=True):
        assert scored.score == pytest.approx(each.hypotheses[0].score, abs=1e-4)


def test_placeholders_come_out_as_often_as_they_stand_there() -> None:
    glossary = Glossary(placeholders=USUAL_PLACEHOLDERS)
    translator, _ = with_glossary(glossary, max_length=60)
    given = [
        "haus {name} katze",
        "{a} {b} {a}",
        "läuft <b>grün</b> und",
        "siehe https://x.y/z?q=1 nicht",
        "({n}) %s %s",
    ]
    for line, translation in zip(given, translator.translate(given), strict=True):
        assert translation.hypotheses[0].terms_missed == ()
        for each in translation.terms or ():
            assert translation.text.count(each.source) == line.count(each.source)
            if not each.is_joined:
                inner = re.escape(each.source)
                assert not re.search(rf"\w{inner}|{inner}\w", translation.text)


def test_terms_that_do_not_fit_are_named_and_translated_without() -> None:
    plain, _ = with_glossary(None, max_length=6)
    glossary = Glossary([("haus", "Straße " * 8)])
    translator, events = with_glossary(glossary, max_length=6)
    given = ["und katze", "haus"]
    found = list(translator.translate(given))
    assert shown(found) == shown(plain.translate(given))
    assert [each.source for each in found[1].hypotheses[0].terms_missed] == ["haus"]
    (notice,) = [event for event in events if isinstance(event, Notice)]
    assert notice.is_warning
    assert notice.text.startswith("line 2: its terms take ")
    assert "more than the 6 that its translation may have" in notice.text


def test_terms_that_the_tokenizer_cannot_write_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    translator, events = with_glossary(Glossary([("haus", "q€")]))
    decode = SubwordTokenizer.decode

    def without(self: SubwordTokenizer, ids: Iterable[int]) -> str:
        return decode(self, ids).replace("€", "").replace("q", "")

    monkeypatch.setattr(SubwordTokenizer, "decode", without)
    (found,) = translator.translate(["haus"])
    assert [each.source for each in found.hypotheses[0].terms_missed] == ["haus"]
    texts = [event.text for event in events if isinstance(event, Notice)]
    assert 'line 1: the tokenizer of this model cannot write "q€"' in texts


def test_in_a_split_line_the_terms_of_all_parts_are_honoured() -> None:
    translator, _ = with_glossary(Glossary(TERMS), longest_source=6)
    line = "und läuft haus. katze über nicht. grün und läuft nicht."
    (found,) = translator.translate([line])
    assert [each.source for each in found.terms or ()] == ["haus", "katze", "grün"]
    assert found.hypotheses[0].terms_missed == ()
    assert "Straße nicht" in found.text


def test_sentences_without_terms_cost_no_second_search(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []
    search = Searcher.search

    def counting(self: Searcher, sources: list[Source]) -> list[SearchResult]:
        searched.append(len(sources))
        return search(self, sources)

    monkeypatch.setattr(Searcher, "search", counting)
    translator, _ = with_glossary(Glossary([("absent", "x")]))
    list(translator.translate(lines()[:10]))
    assert searched == [10]
    del searched[:]
    translator, _ = with_glossary(Glossary([("haus", "Straße nicht")]))
    given = ["haus", "und", "nicht"]
    list(translator.translate(given))
    assert searched == [3, 1]
