"""Lines in capitals, or without any, are translated and scored as the same lines in usual case."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
import torch

from mt.cli.json_records import translation_records
from mt.config import Config, ModelConfig, SearchConfig
from mt.events import Event, LineRecased, LineSplit
from mt.model.encoder_decoder import EncoderDecoder
from mt.model_folder.folder import LoadedModel, load_model, save_weights, write_config
from mt.reporting.attention import attend_to_pair
from mt.text.glossary import Glossary
from mt.text.placeholders import USUAL_PLACEHOLDERS
from mt.text.subwords import train_subwords
from mt.text.tokenizer import END
from mt.text.tokenizer_pair import TokenizerPair
from mt.text.truecase_table import FILE, learn_truecaser
from mt.translation.options import TranslationOptions
from mt.translation.scorer import Scorer
from mt.translation.translator import Translator

LINES = (
    "Die Frau wohnt in der alten Straße.",
    "Heute kauft der Mann ein Haus, und die Katze schläft.",
    "Das Kind wohnt in dem Haus, und die Frau kauft Brot.",
)
CAPITALS = tuple(line.upper() for line in LINES)
SMALL = tuple(line.lower() for line in LINES)
_BRACKETS = (re.compile(r"\[\[[^\]]*\]\]"),)


@cache
def loaded() -> LoadedModel:
    tokenizer = train_subwords(LINES, kind="bpe", vocab_size=330)
    truecaser = learn_truecaser(LINES * 2, language="de")
    shape = ModelConfig(d_model=32, d_inner=64, encoder_layers=1, decoder_layers=1, heads=2)
    torch.manual_seed(0)
    size = tokenizer.vocab_size
    model = EncoderDecoder(shape, source_vocab=size, target_vocab=size)
    with torch.no_grad():
        model.output_weight[END] += 0.2
    model.eval()
    longest = max(len(tokenizer.encode(line)) for line in LINES)
    return LoadedModel(
        config=Config(
            source_language="de",
            model=shape,
            search=SearchConfig(beam=2, max_length=12),
            longest_source=longest,
        ),
        tokenizers=TokenizerPair(source=tokenizer, target=tokenizer, truecaser=truecaser),
        model=model,
    )


def make(
    *, keep_case: bool = False, glossary: Glossary | None = None
) -> tuple[Translator, list[Event]]:
    one = loaded()
    events: list[Event] = []
    translator = Translator(
        one.model,
        one.tokenizers,
        one.config,
        options=TranslationOptions(batch_size=4, workers=1, glossary=glossary, keep_case=keep_case),
        listener=events.append,
    )
    return translator, events


@pytest.mark.parametrize("lines", [CAPITALS, SMALL])
def test_capitals_and_small_letters_give_the_translations_of_usual_case(
    lines: tuple[str, ...],
) -> None:
    usual = list(make()[0].translate(LINES))
    translator, events = make()
    found = list(translator.translate(lines))
    assert [each.hypotheses for each in found] == [each.hypotheses for each in usual]
    assert [each.source for each in found] == list(lines)
    assert [each.recased for each in found] == list(LINES)
    assert [each.as_read for each in found] == list(LINES)
    assert events == [LineRecased(line=i, recased=line) for i, line in enumerate(LINES, start=1)]


def test_lines_in_usual_case_are_read_as_they_are() -> None:
    translator, events = make()
    kept, _ = make(keep_case=True)
    found = list(translator.translate(LINES))
    assert found == list(kept.translate(LINES))
    assert all(each.recased is None and each.as_read == each.source for each in found)
    assert not events


def test_case_is_restored_before_lengths_are_measured() -> None:
    translator, events = make()
    list(translator.translate(CAPITALS))
    assert not any(isinstance(event, LineSplit) for event in events)
    kept, events = make(keep_case=True)
    list(kept.translate(CAPITALS))
    assert sum(isinstance(event, LineSplit) for event in events) == len(CAPITALS)


def test_a_long_line_in_capitals_is_split_like_the_line_in_usual_case() -> None:
    usual, capitals = (
        next(iter(make()[0].translate([" ".join(lines)]))) for lines in (LINES, CAPITALS)
    )
    assert capitals.hypotheses == usual.hypotheses


def test_a_score_is_that_of_the_scorer() -> None:
    one = loaded()
    found = list(make()[0].translate(CAPITALS))
    scorer = Scorer(one.model, one.tokenizers, one.config)
    scored = list(scorer.score([(each.source, each.text) for each in found]))
    for translation, pair in zip(found, scored, strict=True):
        assert (pair.source, pair.recased) == (translation.source, translation.recased)
        for each in translation.hypotheses:
            (forced,) = scorer.score_tokens([(pair.source_tokens, each.tokens)])
            assert forced.score == pytest.approx(each.score, abs=1e-5)
    as_usual = scorer.score(zip(LINES, [each.text for each in found], strict=True))
    assert [each.scored for each in scored] == [each.scored for each in as_usual]


def test_json_gives_the_line_as_written_and_as_read() -> None:
    one = loaded()
    lines = [CAPITALS[0], LINES[0]]
    scorer = Scorer(one.model, one.tokenizers, one.config)
    records = translation_records(
        list(make()[0].translate(lines)), one.tokenizers, usual=0.0, scorer=scorer
    )
    assert [record["source"] for record in records] == lines
    assert [record.get("recased") for record in records] == [LINES[0], None]
    assert records[0]["source_tokens"] == records[1]["source_tokens"]
    assert records[0]["hypotheses"] == records[1]["hypotheses"]


def test_terms_and_placeholders_of_a_line_in_capitals_are_asked_for() -> None:
    glossary = Glossary(
        [("Haus", "house"), ("DER", "DER")], placeholders=[*USUAL_PLACEHOLDERS, *_BRACKETS]
    )
    line = "HEUTE KAUFT DER MANN EIN HAUS %s [[ICH UND DU]] {NAME}"
    (found,) = make(glossary=glossary)[0].translate([line])
    assert found.recased == "Heute kauft DER Mann ein Haus %s [[ICH UND DU]] {NAME}"
    assert found.terms is not None
    asked = [each.source for each in found.terms]
    assert asked == ["DER", "Haus", "%s", "[[ICH UND DU]]", "{NAME}"]


def test_attention_is_that_over_the_line_in_usual_case() -> None:
    (capitals, usual) = (attend_to_pair(loaded(), line, "Brot") for line in (CAPITALS[0], LINES[0]))
    assert capitals.source == usual.source == LINES[0]
    assert capitals.source_pieces == usual.source_pieces


def test_a_folder_keeps_its_table_and_both_readers_can_do_without(tmp_path: Path) -> None:
    one = loaded()
    write_config(tmp_path, one.config)
    one.tokenizers.save(tmp_path)
    save_weights(tmp_path, one.model)
    assert load_model(tmp_path).tokenizers.truecaser == one.tokenizers.truecaser
    assert next(iter(Translator.load(tmp_path).translate(CAPITALS))).recased == LINES[0]
    keeping = Translator.load(tmp_path, options=TranslationOptions(keep_case=True))
    assert next(iter(keeping.translate(CAPITALS))).recased is None
    pair = (CAPITALS[0], "Brot")
    assert next(iter(Scorer.load(tmp_path).score([pair]))).recased == LINES[0]
    assert next(iter(Scorer.load(tmp_path, keep_case=True).score([pair]))).recased is None
    (tmp_path / FILE).unlink()  # as in a folder of mt 0.1
    assert next(iter(Translator.load(tmp_path).translate(CAPITALS))).recased is None
