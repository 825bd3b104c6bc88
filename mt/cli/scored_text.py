"""What `mt eval` scores: systems, references, how BLEU is to cut them, and what is odd in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mt.errors import ConfigError, DataError
from mt.evaluation.metrics import SYMBOL_METRICS, TEXT_METRICS, Recipe
from mt.evaluation.scores import looks_tokenised, tokenizer_for
from mt.evaluation.sequences import BLEU_TOKENIZER
from mt.formats.text import language_suffix, read_text_lines
from mt.languages import base_code, writes_no_spaces
from mt.scripts import WITHOUT_SPACES
from mt.text.normalise import is_blank

_UNSPACED = re.compile(f"[{WITHOUT_SPACES}\u1100-\u11ff\u3131-\u318e\uac00-\ud7ff]")  # and Hangul
_LINES_LOOKED_AT = 1000
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class System:
    """The translations of one system."""

    name: str
    hypotheses: list[str]


def read_systems(paths: Sequence[Path], *, option: str = "--hyp") -> list[System]:
    """The systems of files, named by them; raises ConfigError where one is given twice."""
    for path, count in Counter(paths).items():
        if count > 1:
            raise ConfigError(
                f"{option} {path} is given {count} times",
                hint="Systems are named by their files: give each file once",
            )
    return [System(name=str(path), hypotheses=read_text_lines(path)) for path in paths]


def read_references(paths: Sequence[Path], systems: Sequence[tuple[str, int]]) -> list[list[str]]:
    """The references; `systems` are names and numbers of lines of what they are for.

    Raises DataError, naming the files, where one is empty or numbers of lines differ.
    """
    for name, num_lines in systems:
        if num_lines == 0:
            raise DataError(f"{name} is empty")
    references = [read_text_lines(path) for path in paths]
    for name, num_lines in systems:
        for path, reference in zip(paths, references, strict=True):
            if len(reference) != num_lines:
                raise DataError(
                    f"unequal lengths: {name} has {num_lines} lines, reference {path} has "
                    f"{len(reference)}"
                )
    return references


def read_for(path: Path | None, num_lines: int) -> list[str] | None:
    """The lines of a file beside the references, if one is given; raises DataError like those."""
    if path is None:
        return None
    lines = read_text_lines(path)
    if len(lines) != num_lines:
        raise DataError(
            f"unequal lengths: {path} has {len(lines)} lines, the references have {num_lines}"
        )
    return lines


def choose_recipe(
    references: Sequence[Path],
    *,
    language: str,
    tokenize: str | None,
    is_tokenised: bool = False,
    of_symbols: bool = False,
    metrics: tuple[str, ...] | None = None,
    lowercase: bool,
    say: Say,
) -> Recipe:
    """What is counted, with BLEU's tokenizer: `tokenize`, else that of the language, else 13a.

    Where the language is not known, the name of a reference (test.zh) may tell it. What the
    language decides is said.
    """
    found = language_suffix(references[0])
    if not language and (writes_no_spaces(found) or base_code(found) == "ko"):
        language = found
    if tokenize is None:
        as_it_is = is_tokenised or of_symbols
        tokenize = BLEU_TOKENIZER if as_it_is else _tokenizer_of(language, say)
    return Recipe(
        metrics=metrics or (SYMBOL_METRICS if of_symbols else TEXT_METRICS),
        of_symbols=of_symbols,
        tokenize=tokenize,
        lowercase=lowercase,
        split_characters=not is_tokenised
        and (tokenize in ("zh", "ja-mecab") or writes_no_spaces(language)),
    )


def _tokenizer_of(language: str, say: Say) -> str:
    choice = tokenizer_for(language)
    if choice.name != "13a":
        say(f"mt: BLEU tokenizer {choice.name}, by the target language {language}")
    if choice.warning:
        say(f"mt: warning: {choice.warning}")
    return choice.name


def warn_of_hypotheses(system: System, *, is_tokenised: bool, is_alone: bool, say: Say) -> None:
    """Say how many hypotheses are empty, and whether they look tokenised."""
    where = "" if is_alone else f" of {system.name}"
    num_lines = len(system.hypotheses)
    num_empty = sum(1 for text in system.hypotheses if not text.strip())
    if num_empty:
        say(f"mt: warning: {num_empty} of {num_lines} hypotheses{where} are empty")
    if not is_tokenised and looks_tokenised(system.hypotheses):
        say(
            f"mt: warning: most hypotheses{where} end in a tokenised period (' .'), but BLEU wants "
            "detokenised text; the score is that of the text as it stands (--tokenized: both "
            "sides are tokenised and are to stay so)"
        )


def warn_of_references(
    references: Sequence[list[str]], paths: Sequence[Path], recipe: Recipe, *, say: Say
) -> None:
    """Say how many references are empty, and whether BLEU takes lines for words."""
    for path, lines in zip(paths, references, strict=True):
        num_empty = sum(1 for text in lines if is_blank(text))
        if num_empty:
            text = f"mt: warning: {num_empty} of {len(lines)} references of {path} are empty"
            if len(references) > 1:
                text += (
                    ": sacreBLEU takes each for a translation of no words, which changes BLEU and "
                    "TER; repeat another reference in such lines"
                )
            say(text)
    by_space = (
        not recipe.of_symbols
        and "bleu" in recipe.metrics
        and recipe.tokenize in ("13a", "intl", "none")
    )
    if by_space and _is_unspaced(references[0]):
        say(
            f"mt: warning: the references are mostly written without spaces between words, and "
            f"BLEU by {recipe.tokenize} takes whole clauses for words: give --target-language (zh, "
            "ja, ko), or --tokenize char"
        )


def _is_unspaced(lines: Sequence[str]) -> bool:
    """Whether most letters are of scripts in which 13a finds no words, or too few."""
    step = max(len(lines) // _LINES_LOOKED_AT, 1)
    text = "".join(lines[::step])
    unspaced = "".join(_UNSPACED.findall(text))
    return 2 * sum(map(str.isalpha, unspaced)) > sum(map(str.isalpha, text))
