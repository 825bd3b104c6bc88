"""What `mt eval` scores: systems, references, how BLEU is to cut them, and what is odd in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mt.errors import ConfigError, DataError
from mt.evaluation.metrics import SYMBOL_METRICS, TEXT_METRICS, Recipe
from mt.evaluation.scores import looks_tokenised, tokenizer_for
from mt.evaluation.sequences import BLEU_TOKENIZER
from mt.events import Listener, Notice
from mt.formats.text import language_suffix, read_text_lines
from mt.languages import base_code, writes_no_spaces
from mt.scripts import WITHOUT_SPACES
from mt.tasks.requests import Scoring, StrPath
from mt.text.normalise import is_blank

_UNSPACED = re.compile(f"[{WITHOUT_SPACES}\u1100-\u11ff\u3131-\u318e\uac00-\ud7ff]")  # and Hangul
_LINES_LOOKED_AT = 1000


@dataclass(frozen=True, kw_only=True)
class System:
    """The translations of one system."""

    name: str
    hypotheses: list[str]


def read_systems(paths: Sequence[StrPath], *, option: str = "--hyp") -> list[System]:
    """The systems of files, named by them; raises ConfigError where one is given twice."""
    for path, count in Counter(paths).items():
        if count > 1:
            raise ConfigError(
                f"{option} {path} is given {count} times",
                hint="Systems are named by their files: give each file once",
            )
    return [System(name=str(path), hypotheses=read_text_lines(Path(path))) for path in paths]


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


def read_for(path: StrPath | None, num_lines: int) -> list[str] | None:
    """The lines of a file beside the references, if one is given; raises DataError like those."""
    if path is None:
        return None
    lines = read_text_lines(Path(path))
    if len(lines) != num_lines:
        raise DataError(
            f"unequal lengths: {path} has {len(lines)} lines, the references have {num_lines}"
        )
    return lines


def choose_recipe(references: Sequence[Path], scoring: Scoring, listener: Listener) -> Recipe:
    """What is counted, with BLEU's tokenizer: the one given, else that of the language, else 13a.

    Where the language is not known, the name of a reference (test.zh) may give it. What the
    language decides is reported.
    """
    language = scoring.target_language or ""
    found = language_suffix(references[0])
    if not language and (writes_no_spaces(found) or base_code(found) == "ko"):
        language = found
    tokenize = scoring.tokenize
    if tokenize is None:
        as_it_is = scoring.tokenized or scoring.symbols
        tokenize = BLEU_TOKENIZER if as_it_is else _tokenizer_of(language, listener)
    return Recipe(
        metrics=scoring.metrics or (SYMBOL_METRICS if scoring.symbols else TEXT_METRICS),
        of_symbols=scoring.symbols,
        tokenize=tokenize,
        lowercase=scoring.lowercase,
        split_characters=not scoring.tokenized
        and (tokenize in ("zh", "ja-mecab") or writes_no_spaces(language)),
    )


def _tokenizer_of(language: str, listener: Listener) -> str:
    choice = tokenizer_for(language)
    if choice.name != "13a":
        text = f"BLEU tokenizer {choice.name}, by the target language {language}"
        listener(Notice(text=text))
    if choice.warning:
        listener(Notice(text=choice.warning, is_warning=True))
    return choice.name


def warn_of_hypotheses(
    system: System, *, is_tokenised: bool, is_only: bool, listener: Listener
) -> None:
    """Say how many hypotheses are empty, and whether they look tokenised."""
    where = "" if is_only else f" of {system.name}"
    num_lines = len(system.hypotheses)
    num_empty = sum(1 for text in system.hypotheses if not text.strip())
    if num_empty:
        _warn(listener, f"{num_empty} of {num_lines} hypotheses{where} are empty")
    if not is_tokenised and looks_tokenised(system.hypotheses):
        _warn(
            listener,
            f"most hypotheses{where} end in a tokenised period (' .'), but BLEU wants "
            "detokenised text; the score is that of the text as it stands (--tokenized: both "
            "sides are tokenised and are to stay so)",
        )


def warn_of_references(
    references: Sequence[Sequence[str]], paths: Sequence[Path], recipe: Recipe, listener: Listener
) -> None:
    """Say how many references are empty, and whether BLEU takes lines for words."""
    for path, lines in zip(paths, references, strict=True):
        num_empty = sum(1 for text in lines if is_blank(text))
        if num_empty:
            text = f"{num_empty} of {len(lines)} references of {path} are empty"
            if len(references) > 1:
                text += (
                    ": sacreBLEU takes each for a translation of no words, which changes BLEU and "
                    "TER; repeat another reference in such lines"
                )
            _warn(listener, text)
    by_space = (
        not recipe.of_symbols
        and "bleu" in recipe.metrics
        and recipe.tokenize in ("13a", "intl", "none")
    )
    if by_space and _is_unspaced(references[0]):
        _warn(
            listener,
            f"the references are mostly written without spaces between words, and "
            f"BLEU by {recipe.tokenize} takes whole clauses for words: give --target-language (zh, "
            "ja, ko), or --tokenize char",
        )


def _warn(listener: Listener, text: str) -> None:
    listener(Notice(text=text, is_warning=True))


def _is_unspaced(lines: Sequence[str]) -> bool:
    """Whether most letters are of scripts in which 13a finds no words, or too few."""
    step = max(len(lines) // _LINES_LOOKED_AT, 1)
    text = "".join(lines[::step])
    unspaced = "".join(_UNSPACED.findall(text))
    return 2 * sum(map(str.isalpha, unspaced)) > sum(map(str.isalpha, text))
