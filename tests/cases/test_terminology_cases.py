"""Terms and placeholders on the command line: what is asked for is there, counted and named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mt import Glossary, TranslationOptions, Translator
from tests.cases.runs import Run, run_here
from tests.cases.toy import LEXICON, NUM_TEST, WORDS, Toy, as_bytes, as_lines, sentence

SOURCE, OTHER = WORDS[0], WORDS[1]
WANTED = "Zörg-7"
"""A translation that the model never saw."""


@pytest.fixture
def glossary(tmp_path: Path) -> Path:
    """Another word than usual for one source word, and the usual one for another."""
    path = tmp_path / "terms.tsv"
    terms = f"{SOURCE}\t{WANTED}\r\n{OTHER}\t{LEXICON[OTHER]}\r\n"
    path.write_text(f"\ufeff# terms\r\n{terms}", "utf-8")
    return path


def translate(model: Path, lines: list[str], *options: str | Path) -> Run:
    return run_here("translate", "-m", model, *options, stdin=as_bytes(lines)).check()


LINES = [sentence(0, 2, 3), "", sentence(4, 5), sentence(1, 0), sentence(6, 1, 7)]


def test_terms_are_honoured_counted_and_leave_other_lines_alone(
    model: Path, glossary: Path
) -> None:
    """X01, X03: as many lines as went in, and those that have what they need are as without."""
    plain = translate(model, LINES)
    found = translate(model, LINES, "--glossary", glossary)
    assert len(found.lines) == len(LINES)
    assert [WANTED in text for text in found.lines] == [True, False, False, True, False]
    assert [found.lines[i] for i in (1, 2, 4)] == [plain.lines[i] for i in (1, 2, 4)]
    assert found.err.splitlines()[-1] == "mt: terms: 4 of 4 honoured (100.0 %)"
    assert "terms" not in plain.err


@pytest.mark.parametrize("options", ["--batch-size 1", "--workers 1", "--batch-size 3"])
def test_the_rest_of_a_batch_changes_no_line_with_terms(
    options: str, model: Path, glossary: Path
) -> None:
    """G01: whatever the batch."""
    expected = translate(model, LINES, "--glossary", glossary).lines
    assert translate(model, LINES, "--glossary", glossary, *options.split()).lines == expected
    backwards = translate(model, LINES[::-1], "--glossary", glossary, *options.split()).lines
    assert backwards[::-1] == expected


def test_the_first_of_n_best_is_the_single_best(model: Path, glossary: Path) -> None:
    """G04, G05: with terms as without."""
    single = translate(model, LINES, "--glossary", glossary).lines
    many = translate(model, LINES, "--glossary", glossary, "--n-best", "3").lines
    assert many[::3] == single
    for start in range(0, len(many), 3):
        texts = [text for text in many[start : start + 3] if text]
        assert len(set(texts)) == len(texts)


def test_json_and_python_say_which_terms_are_honoured(model: Path, glossary: Path) -> None:
    """G11: standard input and the Python API agree."""
    run = translate(model, LINES, "--glossary", glossary, "--json")
    records = [json.loads(line) for line in run.lines]
    asked = [[each["source"] for each in record["terms"]] for record in records]
    assert asked == [[SOURCE], [], [], [OTHER, SOURCE], [OTHER]]
    assert records[0]["terms"] == [
        {"source": SOURCE, "targets": [WANTED], "times": 1, "placeholder": False}
    ]
    for record in records:
        for hypothesis in record["hypotheses"]:
            assert hypothesis["terms_honoured"] == len(record["terms"])
            assert hypothesis["terms_missed"] == []
    options = TranslationOptions(device="cpu", glossary=Glossary.read(glossary))
    translator = Translator.load(model, options=options)
    translations = list(translator.translate(LINES))
    assert [each.text for each in translations] == [r["hypotheses"][0]["text"] for r in records]
    assert [[term.source for term in each.terms or ()] for each in translations] == asked
    plain = json.loads(translate(model, LINES[:1], "--json").lines[0])
    assert "terms" not in plain
    assert "terms_missed" not in plain["hypotheses"][0]


def test_reported_scores_are_those_of_mt_score(model: Path, glossary: Path, tmp_path: Path) -> None:
    """G06: forced choices cost what the model says they cost."""
    run = translate(model, LINES, "--glossary", glossary, "--json")
    best = [json.loads(line)["hypotheses"][0] for line in run.lines]
    source, target = tmp_path / "a.src", tmp_path / "a.tgt"
    source.write_bytes(as_bytes(LINES))
    target.write_bytes(as_bytes([each["text"] for each in best]))
    scores = run_here("score", "-m", model, source, target).check().lines
    compared = 0
    for score, each in zip(scores, best, strict=True):
        if each["same_tokens"]:
            assert float(score) == pytest.approx(each["score"], abs=1e-4)
            compared += 1
    assert compared >= 3


def test_placeholders_come_out_as_they_are(model: Path) -> None:
    lines = [f"{{name}} {SOURCE} {OTHER} .", f"{SOURCE} %s {OTHER} %s .", sentence(2)]
    found = translate(model, lines, "--placeholders", "default")
    assert found.lines[0].count("{name}") == 1
    assert found.lines[1].count("%s") == 2
    assert found.err.splitlines()[-1] == "mt: terms: 2 of 2 honoured (100.0 %)"
    own = translate(model, ["#12 " + sentence(0)], "--placeholders", r"#\d+")
    assert own.lines[0].count("#12") == 1


def test_what_is_missed_is_named(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "terms.tsv"
    path.write_text(f"{SOURCE}\t{'x y ' * 40}\n", "utf-8")
    lines = [sentence(0, 1)] * 7 + [sentence(2)]
    found = translate(model, lines, "--glossary", path)
    assert found.lines == translate(model, lines).lines
    assert "warning: line 7: its terms take" in found.err
    named = ", ".join(f'line {line} "{SOURCE}"' for line in range(1, 6))
    assert f"mt: terms: 0 of 7 honoured (0.0 %), 7 not: {named} and 2 more\n" in found.err
    nothing = translate(model, [sentence(2)], "--glossary", path)
    assert nothing.err.splitlines()[-1] == "mt: terms: no line holds any"


def test_eval_translates_with_the_glossary(model: Path, toy: Toy, glossary: Path) -> None:
    run = run_here("eval", "-m", model, *toy.test.arguments, "--glossary", glossary).check()
    assert run.lines[0].startswith("BLEU")
    sources = as_lines(toy.test.source.read_bytes())
    asked = sum(word in line.split() for line in sources for word in (SOURCE, OTHER))
    assert len(sources) == NUM_TEST
    assert f"mt: terms: {asked} of {asked} honoured (100.0 %)\n" in run.err


@pytest.mark.parametrize(
    ("options", "content", "status", "message"),
    [
        (("--glossary", "FILE"), "a\tb\nc\t\te\n", 1, "FILE:2: the translation is empty"),
        (("--glossary", "FILE"), "# none\n", 1, "FILE holds no term"),
        (("--glossary", "nowhere.tsv"), "", 1, "nowhere.tsv cannot be read"),
        (("--placeholders", "("), "", 2, "placeholders '(' is not a regular expression"),
        (("--placeholders", "x*"), "", 2, "placeholders 'x*' matches the empty text"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(
    options: tuple[str, ...], content: str, status: int, message: str, model: Path, tmp_path: Path
) -> None:
    path = tmp_path / "terms.tsv"
    path.write_text(content, "utf-8")
    given = [option.replace("FILE", str(path)) for option in options]
    run = run_here("translate", "-m", model, *given, stdin=as_bytes(LINES))
    assert message.replace("FILE", str(path)) in run.check_refusal(status=status)


def test_eval_of_a_file_takes_no_glossary(glossary: Path) -> None:
    run = run_here("eval", "--hyp", glossary, glossary, "--glossary", glossary)
    assert run.check(2).out == b""
    assert "--glossary and --placeholders have an effect with -m MODEL only" in run.err
