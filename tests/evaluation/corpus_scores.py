"""Scores of a whole corpus in one call, which the metrics are compared with."""

from __future__ import annotations

from collections.abc import Sequence

from mt import __version__
from mt.errors import DataError
from mt.evaluation.exact import exact_matches
from mt.evaluation.metrics import Recipe, measure, metrics_for
from mt.evaluation.scores import Score
from mt.evaluation.sequences import symbol_errors


def corpus_scores(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    tokenize: str = "13a",
    lowercase: bool = False,
) -> list[Score]:
    """BLEU and chrF2 of a whole corpus, as `mt eval` computes them."""
    recipe = Recipe(metrics=("bleu", "chrf"), tokenize=tokenize, lowercase=lowercase)
    return [each.score() for each in measure(hypotheses, metrics_for(references, recipe))]


def exact_match(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], *, lowercase: bool = False
) -> float:
    """The share of hypotheses that `exact_matches` finds, from 0 to 100; 0 where there are none."""
    found = exact_matches(hypotheses, references, lowercase=lowercase)
    return 100 * sum(found) / max(len(found), 1)


def sequence_scores(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], *, lowercase: bool = False
) -> list[Score]:
    """Exact match and symbol error rate (SER) of a whole corpus, in per cent.

    - Exact match is the share of the lines that have the symbols of a reference, in their order.
    - SER = 100 * (sum of d) / (sum of |r|), the sums of `symbol_errors` over all lines. Smaller is
      better; more than 100 is possible.

    Raises DataError when lengths differ, or where no reference holds a symbol.
    """
    counts = symbol_errors(hypotheses, references, lowercase=lowercase)
    num_errors, num_symbols = counts.sum(axis=0).tolist()
    if num_symbols == 0:
        raise DataError("nothing to score: the references hold no symbol")
    case = "lc" if lowercase else "mixed"
    recipe = f"nrefs:{len(references)}|case:{case}|unit:{{}}|version:mt-{__version__}"
    share = 100 * float((counts[:, 0] == 0).mean())
    return [
        Score(name="exact", score=share, signature=recipe.format("line")),
        Score(name="SER", score=100 * num_errors / num_symbols, signature=recipe.format("symbol")),
    ]
