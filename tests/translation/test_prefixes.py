"""Prefixes and constraints through the translator: what is asked for comes, at the same price."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator

import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from mt.errors import DataError
from mt.events import LineSplit, Notice
from mt.search.penalty import length_penalty
from mt.search.sentence import NO_DEMANDS
from mt.text.normalise import is_blank, normalise
from mt.text.subwords import SubwordTokenizer
from mt.text.tokenizer import END, PAD, START, UNKNOWN, Tokenizer
from mt.text.tokenizer_pair import TokenizerPair
from mt.translation.forced import force
from mt.translation.options import TranslationOptions
from mt.translation.prefixes import prefix_demands, with_prefixes
from mt.translation.translator import Translator
from tests.translation.random_models import (
    SHORT_TABLE,
    WORDS,
    lines,
    make,
    some_prefixes,
    tokenizers,
)


@pytest.mark.parametrize("beam", [1, 4])
def test_each_translation_begins_with_its_prefix_at_the_models_score(beam: int) -> None:
    translator, _ = make(beam=beam, n_best=beam, max_length=30)
    prefixes = some_prefixes(len(lines()))
    found = list(translator.translate(lines(), prefixes=prefixes))
    free = list(translator.translate(lines()))
    pairs = []
    for translation, prefix, without in zip(found, prefixes, free, strict=True):
        assert all(h.text.startswith(normalise(prefix)) for h in translation.hypotheses)
        if is_blank(prefix):
            for ours, theirs in zip(translation.hypotheses, without.hypotheses, strict=True):
                assert ours.tokens == theirs.tokens
                assert ours.score == pytest.approx(theirs.score, abs=1e-5)
        source = tokenizers().source.encode(translation.source)
        pairs += [(source, hypothesis.tokens) for hypothesis in translation.hypotheses]
    forced = iter(force(translator.model, pairs))
    for translation in found:
        for hypothesis in translation.hypotheses:
            divisor = length_penalty("mean", 1.0, len(hypothesis.tokens) + 1)
            expected = next(forced).log_probability / divisor
            assert hypothesis.score == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize(("size", "ratio"), [(0, 0.0), (2, 0.7)])
def test_batches_and_workers_change_nothing(beam: int, size: int, ratio: float) -> None:
    prefixes = some_prefixes(len(lines()))
    plain, _ = make(beam=beam, no_repeat_ngram=size, min_length_ratio=ratio, batch_size=1)
    expected = list(plain.translate(lines(), prefixes=prefixes))
    tokens = [[h.tokens for h in each.hypotheses] for each in expected]
    for batch_size, workers in ((3, 1), (7, 3), (64, 2)):
        options = TranslationOptions(batch_size=batch_size, workers=workers)
        translator = Translator(plain.model, tokenizers(), plain.config, options=options)
        found = list(translator.translate(lines(), prefixes=prefixes))
        assert [[h.tokens for h in each.hypotheses] for each in found] == tokens


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=12), st.text(max_size=12)), max_size=5))
def test_any_prefix_works_and_n_lines_stay_n_lines(pairs: list[tuple[str, str]]) -> None:
    """Byte fallback spells what the vocabulary lacks."""
    translator, _ = make(max_length=4)
    found = list(translator.translate([p[0] for p in pairs], prefixes=[p[1] for p in pairs]))
    assert [each.source for each in found] == [line for line, _ in pairs]
    for each, (line, prefix) in zip(found, pairs, strict=True):
        if is_blank(line):
            assert each.text == ""
        elif not is_blank(prefix):
            tokens = tuple(tokenizers().target.encode(prefix))
            assert each.hypotheses[0].tokens[: len(tokens)] == tokens


def test_a_prefix_longer_than_the_bound_is_all_there_is() -> None:
    translator, _ = make(max_length=3)
    (found,) = translator.translate(["haus"], prefixes=["Straße über Straße über Straße"])
    assert found.text == "Straße über Straße über Straße"
    assert all(hypothesis.hit_limit for hypothesis in found.hypotheses)


def test_a_prefix_may_end_inside_a_word() -> None:
    """The pieces are forced and no more: all spellings of a continuation are open."""
    translator, _ = make(beam=20, n_best=20)
    (found,) = translator.translate([lines()[0]], prefixes=["gr"])
    behind = {hypothesis.text.removeprefix("gr")[:1] for hypothesis in found.hypotheses}
    assert " " in behind
    assert behind - {" ", ""}


def test_a_prefix_of_a_blank_line_has_no_effect_and_is_warned_of() -> None:
    translator, events = make()
    found = list(translator.translate(["haus", " ", ""], prefixes=["", "Haus", ""]))
    assert [each.text for each in found][1:] == ["", ""]
    (notice,) = events
    assert isinstance(notice, Notice)
    assert notice.is_warning
    assert notice.text == "line 2 is blank, and its prefix has no effect"


def test_a_long_line_with_a_prefix_is_translated_whole_and_others_in_parts() -> None:
    paragraph = "Haus und Katze. Nicht grün! Straße über Straße läuft."
    limit = max(len(tokenizers().source.encode(each)) for each in paragraph.split(". "))
    translator, events = make(longest_source=limit)
    with_one, without = translator.translate([paragraph, paragraph], prefixes=["Grün", ""])
    whole, _ = make(longest_source=limit, split=False)
    (one_alone,) = whole.translate([paragraph], prefixes=["Grün"])
    (other_alone,) = translator.translate([paragraph])
    assert with_one.hypotheses[0].tokens == one_alone.hypotheses[0].tokens
    assert without.hypotheses[0].tokens == other_alone.hypotheses[0].tokens
    split, notice = sorted(events[:2], key=lambda event: isinstance(event, Notice))
    assert isinstance(split, LineSplit)
    assert split.line == 2
    assert isinstance(notice, Notice)
    assert notice.text.startswith("line 1: ")


@pytest.mark.parametrize(
    ("num_lines", "num_prefixes", "numbers"),
    [
        (3, 2, "3 lines, or more, are to be translated, but the prefixes are 2"),
        (2, 3, "2 lines are to be translated, but the prefixes are 3"),
        (0, 1, "0 lines are to be translated, but the prefixes are 1"),
        (1, 0, "1 lines, or more, are to be translated, but the prefixes are 0"),
    ],
)
def test_unequal_numbers_are_refused_with_both(
    num_lines: int, num_prefixes: int, numbers: str
) -> None:
    translator, _ = make()
    with pytest.raises(DataError, match=numbers):
        list(translator.translate(["haus"] * num_lines, prefixes=["x"] * num_prefixes))


def test_as_many_prefixes_are_read_as_there_are_lines() -> None:
    """So that both may be streams: nothing is asked of either before it is needed."""
    taken: list[int] = []

    def counted() -> Iterator[str]:
        for number in range(5):
            taken.append(number)
            yield str(number)

    pairs = with_prefixes(iter([["a", "b"], ["c"], ["d", "e"]]), counted())
    assert next(pairs) == (["a", "b"], ["0", "1"])
    assert taken == [0, 1]
    assert next(pairs) == (["c"], ["2"])
    assert taken == [0, 1, 2]
    assert list(pairs) == [(["d", "e"], ["3", "4"])]


def test_another_number_of_prefixes_than_of_lines_in_a_window_is_misuse() -> None:
    translator, _ = make()
    with pytest.raises(ValueError, match="zip"):
        translator.translate_window(["haus", "und"], prefixes=["x"])


def test_a_prefix_beyond_learned_positions_is_refused_with_its_line() -> None:
    translator, _ = make(model=SHORT_TABLE, max_length=500)
    fitting = tokenizers().target.decode(tokenizers().target.encode(" ".join(WORDS * 3))[:15])
    (found,) = translator.translate(["haus"], prefixes=[fitting])
    assert found.text.startswith(fitting)
    with pytest.raises(DataError, match=r"the prefix of line 2: \d+ tokens are more than the 15"):
        list(translator.translate(["haus", "und"], prefixes=["", " ".join(WORDS * 9)]))


def without_byte_fallback() -> Tokenizer:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(lines()),
        model_writer=model,
        model_type="bpe",
        vocab_size=60,
        normalization_rule_name="identity",
        pad_id=PAD,
        bos_id=START,
        eos_id=END,
        unk_id=UNKNOWN,
        minloglevel=3,
    )
    return SubwordTokenizer(model.getvalue())


def test_a_prefix_that_the_tokenizer_cannot_spell_is_refused() -> None:
    pair = TokenizerPair(source=tokenizers().source, target=without_byte_fallback())
    given_sources = [[5]] * 2

    def demands(prefixes: list[str]) -> list[object]:
        return list(
            prefix_demands(
                prefixes,
                given_sources,
                pair.target,
                first_line=7,
                longest=None,
                warn=lambda text: pytest.fail(text),
            )
        )

    assert demands(["haus", ""])[1] == NO_DEMANDS
    with pytest.raises(DataError, match="line 8: the prefix 'haus 🦊' has characters"):
        demands(["haus", "haus 🦊"])


@pytest.mark.parametrize("beam", [1, 3])
def test_settings_of_repetition_and_length_hold_for_whole_translations(beam: int) -> None:
    """No n-gram twice, no loop, and not shorter than asked for, in tokens."""
    free = list(make(beam=beam, max_length=40)[0].translate(lines()))
    translator, _ = make(beam=beam, max_length=40, no_repeat_ngram=2, min_length_ratio=0.8)
    guarded = list(make(beam=beam, max_length=40, max_repeats=1)[0].translate(lines()))

    def bigrams(tokens: tuple[int, ...]) -> list[tuple[int, int]]:
        return list(itertools.pairwise(tokens))

    num_repeating = 0
    for each, other in zip(free, translator.translate(lines()), strict=True):
        num_source = len(tokenizers().source.encode(each.source))
        for hypothesis in other.hypotheses:
            found = bigrams(hypothesis.tokens)
            assert len(set(found)) == len(found)
            assert len(hypothesis.tokens) >= min(int(0.8 * num_source), 40)
        found = bigrams(each.hypotheses[0].tokens)
        num_repeating += len(set(found)) < len(found)
    assert num_repeating
    assert all(a != b for each in guarded for a, b in bigrams(each.hypotheses[0].tokens))
