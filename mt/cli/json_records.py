"""Translations and scores as JSON: their tokens, alignments and flags."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mt.model_folder.files import read_dev_pairs
from mt.text.tokenizer import Tokenizer
from mt.text.tokenizer_pair import TokenizerPair
from mt.translation.flags import flags_of, usual_proportion
from mt.translation.line_translator import LineTranslator
from mt.translation.translation import TranslatedPart, TranslatedText, Translation

if TYPE_CHECKING:
    from mt.translation.scorer import ScoredPair, ScoredTokens, Scorer

_END_PIECE = "</s>"


def token_records(
    tokenizer: Tokenizer, tokens: Sequence[int], scored: ScoredTokens | None
) -> list[dict[str, Any]]:
    """One object a token, the end symbol last: `piece`, `log_probability`, and `source_token`.

    The last is the index of the source token that it is aligned to, from 0, or null; it is left out
    where alignments were not asked for. A target of a blank source, which the model never saw, has
    none of them.
    """
    if scored is None or not scored.log_probabilities:
        return []
    records: list[dict[str, Any]] = [
        {"piece": piece, "log_probability": value}
        for piece, value in zip(
            [*tokenizer.pieces(tokens), _END_PIECE], scored.log_probabilities, strict=True
        )
    ]
    if scored.token_links is not None:
        for record, index in zip(records, (*scored.token_links, None), strict=True):
            record["source_token"] = index
    return records


def alignment_record(scored: ScoredTokens | None) -> list[list[int]]:
    """Aligned words as pairs of indices from 0, source first."""
    return [] if scored is None else [list(link) for link in scored.alignment or ()]


def score_record(score: float) -> float | None:
    """A score as JSON has it, which knows no infinity: null is what is impossible."""
    return None if score == -math.inf else score


def has_same_tokens(found: TranslatedText | TranslatedPart, tokenizer: Tokenizer) -> bool:
    """Whether a text is cut into the tokens again that search found."""
    return tuple(tokenizer.encode(found.text)) == found.tokens


def _part_record(part: TranslatedPart, tokenizer: Tokenizer) -> dict[str, Any]:
    """A part of a line that was split, as a line of its own."""
    return {
        "source": part.source,
        "text": part.text,
        "score": score_record(part.score),
        "tokens": tokenizer.pieces(part.tokens),
        "same_tokens": has_same_tokens(part, tokenizer),
    }


def flags_record(
    source: str, text: str, *, hit_limit: bool = False, usual: float | None
) -> list[str]:
    """What is conspicuous about a translation, as in `mt.translation.flags`.

    Of symbols (`usual` is None) only whether it was ended: the other signs are those of text.
    """
    if usual is None:
        return ["truncated"] if hit_limit else []
    return list(flags_of(source, text, hit_limit=hit_limit, usual=usual))


def translation_records(
    translations: Sequence[Translation],
    tokenizers: TokenizerPair,
    *,
    usual: float | None,
    scorer: Scorer | None = None,
) -> list[dict[str, Any]]:
    """One object a line: `source` and `hypotheses`, each with `text`, `score` and more.

    `recased` is what was translated where the source was not written in usual case. `flags` as in
    `mt.translation.flags`, measured against `usual`; `same_tokens`: whether the text is cut into
    the tokens again that search found, so that `mt score` gives it the same score. A line that was
    translated in parts is `split`, and a hypothesis has its `parts`, each with `source`, `text`,
    `score`, `tokens` and `same_tokens`: `mt score` knows the scores of these. Of a
    translator with a glossary the line has its `terms`, and a hypothesis `terms_honoured` and
    `terms_missed`. With a `scorer`, which is to hold the translator's own model, tokens are decoded
    once more by force: then the line has `source_tokens`, and a hypothesis `tokens` and
    `alignment`. Those of a blank line are empty. Of symbols, where `usual` is None, the line has
    its `unknown_symbols`.
    """
    records = [_translation_record(each, tokenizers.target, usual) for each in translations]
    if usual is None:
        for record, each in zip(records, translations, strict=True):
            record["unknown_symbols"] = tokenizers.source.unknown(each.source)
    if scorer is None:
        return records
    sources = scorer.encode_sources([each.as_read for each in translations])
    pairs = [
        (source, hypothesis.tokens)
        for source, translation in zip(sources, translations, strict=True)
        for hypothesis in translation.hypotheses
        if source
    ]
    scored = iter(scorer.score_tokens(pairs, with_alignment=True))
    for record, source, translation in zip(records, sources, translations, strict=True):
        record["source_tokens"] = tokenizers.source.pieces(source)
        for inner, hypothesis in zip(record["hypotheses"], translation.hypotheses, strict=True):
            found = next(scored) if source else None
            inner["tokens"] = token_records(tokenizers.target, hypothesis.tokens, found)
            inner["alignment"] = alignment_record(found)
    return records


def _translation_record(
    translation: Translation, tokenizer: Tokenizer, usual: float | None
) -> dict[str, Any]:
    """What is known of a line without its tokens."""
    hypotheses = []
    for each in translation.hypotheses:
        record: dict[str, Any] = {"text": each.text, "score": score_record(each.score)}
        if each.expected_utility is not None:
            record["expected_utility"] = each.expected_utility
        record["same_tokens"] = not each.parts and has_same_tokens(each, tokenizer)
        if each.parts:
            record["parts"] = [_part_record(part, tokenizer) for part in each.parts]
        record["flags"] = flags_record(
            translation.source, each.text, hit_limit=each.hit_limit, usual=usual
        )
        if translation.terms is not None:
            record["terms_honoured"] = len(translation.terms) - len(each.terms_missed)
            record["terms_missed"] = [term.source for term in each.terms_missed]
        hypotheses.append(record)
    of_line: dict[str, Any] = {"source": translation.source, "hypotheses": hypotheses}
    if translation.error is not None:
        of_line["error"] = translation.error
    if translation.recased is not None:
        of_line["recased"] = translation.recased
    if translation.was_split:
        of_line["split"] = True
    if translation.terms is not None:
        of_line["terms"] = [
            {
                "source": each.source,
                "targets": list(each.targets),
                "times": each.times,
                "placeholder": each.is_placeholder,
            }
            for each in translation.terms
        ]
    return of_line


def json_writer(
    translator: LineTranslator, model: Path, *, scorer: Scorer | None
) -> Callable[[Sequence[Translation]], str]:
    """What writes translations as JSON, one object a line; `model` is the folder of the first."""
    pairs = read_dev_pairs(model, target=translator.config.target_language)
    usual = None if translator.config.tokenizer.takes_symbols else usual_proportion(pairs)

    def text_of(translations: Sequence[Translation]) -> str:
        records = translation_records(
            translations, translator.tokenizers, usual=usual, scorer=scorer
        )
        for record in records:
            record["engine"] = translator.engine
        return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)

    return text_of


def scored_pair_writer(scorer: Scorer) -> Callable[[ScoredPair], str]:
    """What writes a scored pair as a JSON object."""
    of_symbols = scorer.config.tokenizer.takes_symbols
    usual = None if of_symbols else usual_proportion(scorer.examples)
    tokenizers = scorer.tokenizers

    def text_of(pair: ScoredPair) -> str:
        score = pair.scored.score
        record: dict[str, Any] = {
            "source": pair.source,
            "target": pair.target,
            # JSON has no infinity, and no NaN.
            "score": score if math.isfinite(score) else None,
            "source_tokens": tokenizers.source.pieces(pair.source_tokens),
            "tokens": token_records(tokenizers.target, pair.tokens, pair.scored),
            "alignment": alignment_record(pair.scored),
            "flags": flags_record(pair.source, pair.target, usual=usual),
        }
        if pair.recased is not None:
            record["recased"] = pair.recased
        if of_symbols:
            record["unknown_symbols"] = {
                "source": tokenizers.source.unknown(pair.source),
                "target": tokenizers.target.unknown(pair.target),
            }
        return json.dumps(record, ensure_ascii=False)

    return text_of
