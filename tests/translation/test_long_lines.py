"""Lines beyond what a model is good for: which are split, and how their candidates are joined."""

from __future__ import annotations

import pytest

from mt.config import Config, CorpusConfig, SearchConfig
from mt.text.segments import Segment
from mt.translation.long_lines import join_hypotheses, longest_good, split_lines
from mt.translation.translation import TranslatedText


def candidate(
    text: str, *, score: float, num_tokens: int, hit_limit: bool = False
) -> TranslatedText:
    return TranslatedText(text=text, score=score, tokens=(7,) * num_tokens, hit_limit=hit_limit)


@pytest.mark.parametrize(
    ("recorded", "table", "expected"),
    [(0, None, 50), (30, None, 30), (30, 16, 15), (0, 100, 50), (90, None, 90), (30, 1, 1)],
)
def test_the_limit_is_what_training_knew_and_a_table_holds(
    recorded: int, table: int | None, expected: int
) -> None:
    config = Config(longest_source=recorded, corpus=CorpusConfig(max_length=50))
    assert longest_good(config, table) == expected


def test_only_long_lines_are_split_and_results_come_back_by_line() -> None:
    lines = ["ab", "", "Eins. Zwei.", "  cd "]
    split = split_lines(
        lines, [[1] * len(line) for line in lines], count_tokens=len, max_tokens=6, language="de"
    )
    assert split.texts == ["ab", "", "Eins.", "Zwei.", "  cd "]
    assert split.by_line([1, 2, 3, 4, 5]) == [[1], [2], [3, 4], [5]]
    with pytest.raises(ValueError, match="4 results for 5 segments"):
        split.by_line([1, 2, 3, 4])


SEGMENTS = (Segment(text="Eins.", after=" "), Segment(text="Zwei."))


def test_candidates_are_joined_rank_by_rank_with_the_score_of_all_their_tokens() -> None:
    """By the mean, scores are per token: log-probabilities -4 and -3, then -8 and -3."""
    first = [candidate("A.", score=-1.0, num_tokens=3), candidate("B.", score=-2.0, num_tokens=3)]
    second = [candidate("C.", score=-0.5, num_tokens=5, hit_limit=True)]
    best, other = join_hypotheses(
        [first, second], SEGMENTS, search=SearchConfig(length_penalty="mean"), target_language="en"
    )
    assert (best.text, other.text) == ("A. C.", "B. C.")
    assert best.score == pytest.approx(-7 / 10)
    assert other.score == pytest.approx(-11 / 10)
    assert len(best.tokens) == 8
    assert best.hit_limit


def test_without_a_penalty_scores_add_up() -> None:
    parts = [[candidate("A", score=-1.0, num_tokens=2)], [candidate("B", score=-2.5, num_tokens=9)]]
    search = SearchConfig(length_penalty="none")
    (found,) = join_hypotheses(parts, SEGMENTS, search=search, target_language="zh")
    assert found.text == "AB"
    assert found.score == pytest.approx(-3.5)


def test_joined_texts_stand_once_and_best_first() -> None:
    """Equal texts come where segments and empty ones are swapped; the better score stays."""
    first = [candidate("A", score=-1.0, num_tokens=1), candidate("", score=-1.1, num_tokens=1)]
    second = [candidate("", score=-1.0, num_tokens=1), candidate("A", score=-1.2, num_tokens=1)]
    found = join_hypotheses([first, second], SEGMENTS, search=SearchConfig(), target_language="en")
    assert [each.text for each in found] == ["A"]
    assert found[0].score == pytest.approx(-1.0)
    scores = [-3.0, -1.0, -2.0]
    unsorted = [[candidate(str(s), score=s, num_tokens=1) for s in scores]] * 2
    ranked = join_hypotheses(unsorted, SEGMENTS, search=SearchConfig(), target_language="en")
    assert [each.score for each in ranked] == sorted(scores, reverse=True)


def test_a_line_of_one_segment_keeps_its_candidates() -> None:
    only = [candidate("A", score=-1.0, num_tokens=2)]
    assert join_hypotheses(
        [only], [Segment(text="x")], search=SearchConfig(), target_language=""
    ) == tuple(only)
