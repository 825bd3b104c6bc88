"""The scorer says of a translation what search said of it."""

from __future__ import annotations

import math

import pytest

from mt.errors import DataError
from mt.events import Event, Notice
from mt.translation.scorer import ScoredPair, Scorer
from tests.translation.random_models import SHORT_TABLE, WORDS, lines, make, scorer_of, tokenizers

PENALTIES = [("none", 1.0), ("mean", 1.0), ("gnmt", 0.0), ("gnmt", 0.6), ("gnmt", 1.0)]


def pairs() -> list[tuple[str, str]]:
    return list(zip(lines(), reversed(lines()), strict=True))


@pytest.mark.parametrize(("penalty", "alpha"), PENALTIES)
def test_the_score_of_search_is_that_of_the_scorer(penalty: str, alpha: float) -> None:
    translator, _ = make(n_best=3, length_penalty=penalty, alpha=alpha)
    scorer, _ = scorer_of(n_best=3, length_penalty=penalty, alpha=alpha)
    encode = tokenizers().source.encode
    for translation in translator.translate(lines()[:20]):
        source = encode(translation.source)
        scored = scorer.score_tokens([(source, each.tokens) for each in translation.hypotheses])
        found = [each.score for each in scored]
        assert found == pytest.approx([each.score for each in translation.hypotheses], abs=1e-4)


def test_a_score_is_the_sum_of_its_tokens_over_the_penalty() -> None:
    for scored in scorer_of(length_penalty="gnmt", alpha=0.6)[0].score(pairs()[:9]):
        values = scored.scored.log_probabilities
        assert len(values) == len(scored.tokens) + 1
        assert max(values) < 0
        assert scored.scored.score == pytest.approx(sum(values) / ((5 + len(values)) / 6) ** 0.6)


def test_text_is_normalised_as_in_training() -> None:
    scorer, _ = scorer_of()
    plain, odd = scorer.score([("haus über", "Straße"), ("  haus \u2028u\u0308ber ", "\tStraße\r")])
    assert odd.tokens == plain.tokens
    assert odd.source_tokens == plain.source_tokens
    assert odd.scored.score == pytest.approx(plain.scored.score, abs=1e-5)
    assert odd.source == "  haus \u2028u\u0308ber ", "what was given is given back"


@pytest.mark.parametrize("batch_size", [1, 64])
def test_every_pair_has_its_score_in_order_whatever_the_batch(batch_size: int) -> None:
    def listed(found: list[ScoredPair]) -> list[float]:
        return [each.scored.score for each in found]

    expected = listed([next(scorer_of()[0].score([pair])) for pair in pairs()])
    found = list(scorer_of(batch_size=batch_size)[0].score(pairs()))
    assert [(each.source, each.target) for each in found] == pairs()
    assert listed(found) == pytest.approx(expected, abs=1e-5)


def test_a_blank_source_has_the_empty_translation_alone() -> None:
    scorer, _ = scorer_of()
    given = [("", ""), (" \u200b", "\t"), ("", "haus"), ("haus", ""), ("haus", "haus")]
    found = list(scorer.score(given, with_alignment=True))
    assert [each.scored.score for each in found[:3]] == [0.0, 0.0, -math.inf]
    assert [len(each.scored.log_probabilities) for each in found[:4]] == [0, 0, 0, 1]
    assert all(each.scored.alignment == () for each in found[:4])
    assert -math.inf < found[3].scored.score < 0
    alone = next(scorer_of()[0].score(given[-1:]))
    assert found[4].scored.score == pytest.approx(alone.scored.score, abs=1e-5)


def test_alignments_are_made_only_when_asked_for() -> None:
    scorer, events = scorer_of()
    (without,) = scorer.score(pairs()[:1])
    assert without.scored.alignment is None
    assert without.scored.token_links is None
    for scored in scorer.score(pairs()[:20], with_alignment=True):
        links, alignment = scored.scored.token_links, scored.scored.alignment
        assert links is not None
        assert alignment is not None
        assert len(links) == len(scored.tokens)
        num_source, num_target = len(scored.source.split()), len(scored.target.split())
        assert all(s < num_source and t < num_target for s, t in alignment)
        assert len(set(alignment)) == len(alignment)
    assert events == []


def test_without_examples_the_last_layer_aligns_and_a_warning_says_so() -> None:
    translator, _ = make()
    events: list[Event] = []
    scorer = Scorer(translator.model, tokenizers(), translator.config, listener=events.append)
    assert scorer.view.layer == 0  # of one
    assert scorer.view.is_fed is False
    (notice,) = events
    assert isinstance(notice, Notice)
    assert notice.is_warning
    assert "no validation pairs" in notice.text


@pytest.mark.parametrize("side", [0, 1])
def test_a_side_beyond_learned_positions_is_refused_with_its_number(side: int) -> None:
    translator, _ = make(model=SHORT_TABLE)
    scorer = Scorer(translator.model, tokenizers(), translator.config)
    long = ["haus", "haus"]
    long[side] = " ".join(WORDS * 9)
    with pytest.raises(DataError, match=r"line 3: \d+ tokens are more than the 15"):
        list(scorer.score([("haus", "haus")] * 2 + [(long[0], long[1])]))
    examples = [(" ".join(WORDS * 9), "haus"), ("haus", "haus")]
    assert (
        Scorer(translator.model, tokenizers(), translator.config, examples=examples).view.layer == 0
    ), "examples that are too long are passed over"


def test_a_batch_needs_a_pair() -> None:
    translator, _ = make()
    with pytest.raises(ValueError, match="at least 1, but is 0"):
        Scorer(translator.model, tokenizers(), translator.config, batch_size=0)
