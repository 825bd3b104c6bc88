"""Making a conversion for CTranslate2 in a model folder, and checking that it says the same."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

from mt.directions import targets_of
from mt.errors import ConfigError, ModelFolderError
from mt.events import Listener, Notice, ignore
from mt.exchange.conversion import convert
from mt.exchange.ctranslate2 import library_version
from mt.exchange.kept import (
    Check,
    EnginePrecision,
    KeptConversion,
    digests_of,
    folder_of,
    name_of_weights,
)
from mt.files import new_folder
from mt.model_folder.folder import LoadedModel, read_config, read_dev_pairs
from mt.tasks.dev_scores import scoring_for
from mt.tasks.engine import engine_translator, num_cores
from mt.translation.aim import aimed, directions_of
from mt.translation.finder import Finder
from mt.translation.line_translator import LineTranslator
from mt.translation.options import TranslationOptions
from mt.translation.scorer import Scorer
from mt.translation.translation import Translation
from mt.translation.translator import Translator

BEAM = 5
MOST_LOST = {"float32": 0.1, "int8": 0.3}
"""BLEU that the engine may lose against mt's own search in float32, both with a beam of 5."""
TIE = 1e-4
"""Log-probabilities of a token that differ by less are a tie, which rounding decides."""
_MOST_LINES = 1000
_Pairs = Sequence[tuple[str, str]]
_Part = tuple[str, tuple[int, ...]]


def make_conversion(
    model: Path,
    precision: EnginePrecision,
    listener: Listener = ignore,
    *,
    pairs: _Pairs | None = None,
    text: str = "the validation set",
) -> KeptConversion:
    """Convert a model into its own folder, checked on `pairs` of `text`, else its validation set.

    What fails its check leaves only the record of that. Raises ModelFolderError for a model that
    CTranslate2 has no form for, and where there is nothing to check on, ConfigError where it is not
    installed.
    """
    library = library_version()
    targets = targets_of(directions_of(read_config(model)))
    if pairs is not None and len(targets) > 1:
        raise ConfigError(
            f"--check is for one target language, and {model} has {', '.join(targets)}",
            hint="Leave it out: its validation set has all of them",
        )
    parts = {
        target: _some_of(read_dev_pairs(model, target=target) if pairs is None else pairs)
        for target in targets or ("",)
    }
    pairs = [pair for part in parts.values() for pair in part]
    if not any(source for source, _ in pairs):
        raise ModelFolderError(
            f"{model} has no validation set to check CTranslate2 on",
            hint=f"Give one: mt export -m {shlex.quote(str(model))} --into-model --check SOURCE "
            "REFERENCE",
        )
    notice = f"converting {model} for CTranslate2 {library} in {precision}, once"
    listener(Notice(text=f"{notice}; it is checked on {len(pairs)} lines of {text}"))
    weights = name_of_weights(model)
    with new_folder(folder_of(model, precision)) as temporary:
        loaded = convert(model, temporary, stored=precision)
        files = digests_of(temporary)
        check = _checked_each(loaded, temporary, precision, parts, text)
        kept = KeptConversion(
            folder=temporary,
            weights=weights,
            precision=precision,
            library=library,
            files=files if check.failure is None else {},
            check=check,
        )
        if not kept.is_good:
            for name in files:
                (temporary / name).unlink()
        kept.save()
    return dataclasses.replace(kept, folder=folder_of(model, precision))


def _some_of(pairs: _Pairs) -> _Pairs:
    """All pairs, or so many evenly over them."""
    count = min(len(pairs), _MOST_LINES)
    return [pairs[number * len(pairs) // count] for number in range(count)]


def _checked_each(
    loaded: LoadedModel,
    folder: Path,
    precision: EnginePrecision,
    parts: Mapping[str, _Pairs],
    text: str,
) -> Check:
    """Compare for each target language: the first failure, or the means of all."""
    checks = []
    for target, pairs in parts.items():
        config, tokenizers = aimed(loaded.config, loaded.tokenizers, target)
        part = dataclasses.replace(loaded, config=config, tokenizers=tokenizers)
        name = f"{len(pairs)} lines of {text}" + (f" into {target}" if target else "")
        checks.append(_checked(part, folder, precision, pairs, name))
        if len(parts) == 1 or checks[-1].failure is not None:
            return checks[-1]
    num_lines = sum(each.num_lines for each in checks)
    return Check(
        text=f"{num_lines} lines of {text}, into {len(checks)} languages",
        num_lines=num_lines,
        num_tied=sum(each.num_tied for each in checks),
        own_bleu=fmean(each.own_bleu for each in checks),
        engine_bleu=fmean(each.engine_bleu for each in checks),
        signature=" / ".join(dict.fromkeys(each.signature for each in checks)),
    )


def _checked(
    loaded: LoadedModel, folder: Path, precision: EnginePrecision, pairs: _Pairs, text: str
) -> Check:
    """Compare the engine with mt's own search: greedily in float32, and by BLEU."""
    sources = [source for source, _ in pairs]
    references = [reference for _, reference in pairs]
    failure, num_tied = None, 0
    if precision == "float32":
        own, engine = _both(loaded, folder, precision, beam=1)
        failure, num_tied = _compared(
            own, engine, sources, Scorer(loaded.model, loaded.tokenizers, loaded.config)
        )
    own, engine = _both(loaded, folder, precision, beam=BEAM)
    scores_of = scoring_for(loaded.config, ignore)
    scores = []
    for translator in (own, engine):
        texts = [each.text for each in translator.translate(sources)]
        measured = (each.score() for each in scores_of(texts, references))
        scores.append(next(score for score in measured if score.name == "BLEU"))
    lost = scores[0].score - scores[1].score
    if failure is None and lost > MOST_LOST[precision]:
        failure = (
            f"it loses {lost:.2f} BLEU, more than {MOST_LOST[precision]} "
            f"({scores[1].score:.2f}, mt's own search {scores[0].score:.2f})"
        )
    return Check(
        text=text,
        num_lines=len(pairs),
        num_tied=num_tied,
        own_bleu=scores[0].score,
        engine_bleu=scores[1].score,
        signature=scores[0].signature,
        failure=failure,
    )


def _both(
    loaded: LoadedModel, folder: Path, precision: EnginePrecision, *, beam: int
) -> tuple[Translator, LineTranslator]:
    """Mt's own search in float32, and the engine."""
    search = dataclasses.replace(loaded.config.search, beam=beam, n_best=1)
    own = Translator(
        loaded.model,
        loaded.tokenizers,
        loaded.config,
        options=TranslationOptions(search=search, forks=True),
    )

    def own_finder() -> Finder:
        return own.finder

    engine = engine_translator(
        folder,
        loaded.config,
        loaded.tokenizers,
        own_finder,
        threads=num_cores(),
        options=TranslationOptions(search=search, precision=precision),
        listener=ignore,
    )
    return own, engine


def _compared(
    own: LineTranslator, engine: LineTranslator, sources: Sequence[str], scorer: Scorer
) -> tuple[str | None, int]:
    """How greedy translations differ, as a clause; and how many only by a tie."""
    num_tied = 0
    found = zip(own.translate(sources), engine.translate(sources), strict=True)
    for number, (ours, theirs) in enumerate(found, start=1):
        differing = [
            (one, other)
            for one, other in zip(_parts(ours), _parts(theirs), strict=True)
            if one != other
        ]
        for (source, tokens), (_, others) in differing:
            if _first_difference(scorer, source, tokens, others) >= TIE:
                return f"line {number} is translated otherwise, greedily in float32", num_tied
        num_tied += bool(differing)
    return None, num_tied


def _parts(translation: Translation) -> list[_Part]:
    """What was translated by itself, and its tokens."""
    best = translation.hypotheses[0]
    if best.parts:
        return [(part.source, part.tokens) for part in best.parts]
    return [(translation.as_read, best.tokens)]


def _first_difference(
    scorer: Scorer, source: str, tokens: tuple[int, ...], others: tuple[int, ...]
) -> float:
    """By how much the log-probabilities of the first tokens differ that are not the same."""
    (encoded,) = scorer.encode_sources([source])
    scored = scorer.score_tokens([(encoded, tokens), (encoded, others)])
    same = 0
    while same < min(len(tokens), len(others)) and tokens[same] == others[same]:
        same += 1
    one, other = (each.log_probabilities[same] for each in scored)
    return abs(one - other)
