"""Scores and signatures are sacreBLEU's own; what its API lets through is refused."""

from __future__ import annotations

import pytest
import sacrebleu

from mt.errors import ConfigError, DataError
from mt.evaluation.scores import tokenizer_for
from tests.evaluation.corpus_scores import corpus_scores

HYPOTHESES = [
    "the red boat sails north",
    "we sold two small lamps today",
    "rain fell on the old bridge",
]
FIRST = [
    "the red boat sails north",
    "we sold two little lamps today",
    "rain fell over the old bridge",
]
SECOND = [
    "a red boat is sailing north",
    "today we sold two small lamps",
    "it rained on the old bridge",
]


@pytest.mark.parametrize("references", [[FIRST], [FIRST, SECOND]])
@pytest.mark.parametrize("lowercase", [False, True])
def test_scores_are_those_of_sacrebleu(references: list[list[str]], lowercase: bool) -> None:
    bleu, chrf = corpus_scores(HYPOTHESES, references, lowercase=lowercase)
    expected = sacrebleu.corpus_bleu(HYPOTHESES, references, lowercase=lowercase)
    assert bleu.score == expected.score
    expected_chrf = sacrebleu.CHRF(lowercase=lowercase).corpus_score(HYPOTHESES, references)
    assert chrf.score == expected_chrf.score
    case = "lc" if lowercase else "mixed"
    assert f"nrefs:{len(references)}|case:{case}|eff:no|tok:13a|smooth:exp" in bleu.signature
    assert "nc:6|nw:0" in chrf.signature
    assert "tok:" not in chrf.signature


def test_a_perfect_score_is_100_and_no_more() -> None:
    assert [score.score for score in corpus_scores(FIRST, [FIRST])] == [100.0, 100.0]


def test_an_empty_hypothesis_stays_and_costs() -> None:
    bleu, _ = corpus_scores([HYPOTHESES[0], "", HYPOTHESES[2]], [FIRST])
    kept, _ = corpus_scores([HYPOTHESES[0], HYPOTHESES[2]], [[FIRST[0], FIRST[2]]])
    assert bleu.score < kept.score
    assert corpus_scores(["", "", ""], [FIRST])[0].score == 0.0


@pytest.mark.parametrize(
    ("references", "message"),
    [
        ([FIRST[:2]], "3 hypotheses, but the references have 2"),
        ([FIRST, SECOND[:2]], "the references have 3 and 2 lines"),
        ([[*FIRST, "x"]], "3 hypotheses, but the references have 4"),
    ],
)
def test_unequal_lengths_are_refused_with_both_numbers(
    references: list[list[str]], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        corpus_scores(HYPOTHESES, references)


def test_nothing_is_refused() -> None:
    with pytest.raises(DataError, match="empty"):
        corpus_scores([], [[]])


def test_languages_without_spaces_have_their_own_tokenizer() -> None:
    names = [tokenizer_for(code).name for code in ("zh", "zh_CN", "cmn", "yue", "de", "")]
    assert names == [*["zh"] * 4, "13a", "13a"]
    bleu, _ = corpus_scores(["我今天买了三本书。"], [["我昨天买了三本书。"]], tokenize="zh")
    assert bleu.score == pytest.approx(75.06, abs=0.005)


@pytest.mark.parametrize("is_installed", [True, False])
@pytest.mark.parametrize(("code", "name"), [("ja", "ja-mecab"), ("ko-KR", "ko-mecab")])
def test_japanese_and_korean_count_characters_where_their_tokenizer_is_missing(
    code: str, name: str, is_installed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "mt.evaluation.scores.find_spec", lambda package: object() if is_installed else None
    )
    choice = tokenizer_for(code)
    assert choice.name == (name if is_installed else "char")
    assert bool(choice.warning) == (not is_installed)
    assert is_installed or f"pip install 'sacrebleu[{code[:2]}]'" in choice.warning


def test_a_tokenizer_that_is_not_installed_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "MeCab", None)
    monkeypatch.delitem(sys.modules, "sacrebleu.tokenizers.tokenizer_ja_mecab", raising=False)
    with pytest.raises(ConfigError, match=r"pip install 'sacrebleu\[ja\]'"):
        corpus_scores(HYPOTHESES, [FIRST], tokenize="ja-mecab")
