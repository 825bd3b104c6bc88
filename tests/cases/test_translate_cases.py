"""Translating lines: faults that users of other toolkits reported.

The letter and number of a case and the public threads it comes from stand in each docstring.
"""

from __future__ import annotations

import gzip
import random
import resource
import sys
from pathlib import Path

import pytest

from mt.translation.translator import Translator
from tests.cases.interactive import ask, interactive
from tests.cases.runs import UNTRAINED, Run, run_here, run_process
from tests.cases.toy import (
    NUM_TEST,
    WORDS,
    Toy,
    as_bytes,
    as_lines,
    sentence,
    target_of,
    toy_sources,
)
from tests.cases.trouble import NOT_UTF_8, SEPARATORS

_SETTINGS_OF_A_MACHINE = {
    "C locale": {"LC_ALL": "C"},
    "C locale without UTF-8 mode": {
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    },
    "latin 1": {"PYTHONIOENCODING": "latin-1"},
    "unknown locale": {"LC_ALL": "xx_YY"},
}
_ODD_TEXT = "café 我 🦊"


def translate(model: Path, lines: bytes | list[str], *options: str | Path) -> Run:
    """Translate standard input inside this process."""
    stdin = lines if isinstance(lines, bytes) else as_bytes(lines)
    return run_here("translate", "-m", model, *options, stdin=stdin).check()


# X01, X02, X03, X05: which line comes where


def test_model_has_learnt_the_language(model: Path, toy: Toy) -> None:
    """The ground of the other tests: most of the test set is translated without a fault."""
    sources = as_lines(toy.test.source.read_bytes())
    found = translate(model, sources).lines
    assert sum(text == target_of(s) for text, s in zip(found, sources, strict=True)) >= 15


@pytest.mark.parametrize(
    "blank",
    ["", " ", "\t ", "\u3000", "\x0c", "\0", "▁▁", "\u200b", "\xad", "\u2060\u200d"],
)
def test_blank_line_gives_an_empty_line(blank: str, model: Path) -> None:
    """X01 (OpenNMT-py#252, #1642; joeynmt#183; sockeye PR#11; marian-dev#357; silnlp#136)."""
    lines = [blank, sentence(0, 1), blank, blank, sentence(2, 3, 4), blank]
    alone = [translate(model, [line]).lines for line in (lines[1], lines[4])]
    assert translate(model, lines).lines == ["", *alone[0], "", "", *alone[1], ""]


def test_blank_lines_shift_nothing_in_any_window(model: Path) -> None:
    """X02 (awslabs/sockeye#477, PR#488, PR#492): 1,000 lines, read in windows of 64."""
    sources = toy_sources(1000, seed="windows")
    mixed = ["" if number % 4 == 0 else source for number, source in enumerate(sources)]
    options = ("--batch-size", "4", "--beam", "1")
    found = translate(model, mixed, *options).lines
    assert [not text for text in found] == [not source for source in mixed]
    alone = translate(model, [source for source in mixed if source], "--beam", "1").lines
    assert [text for text in found if text] == alone


def test_output_is_in_the_order_of_the_input(model: Path) -> None:
    """X03 (fairseq#2036, #2535, #4684, #591, #5351): 13 lines of very different lengths."""
    lengths = [8, 1, 30, 2, 7, 1, 20, 3, 5, 40, 4, 6, 10]
    order = random.Random(3)
    sources = [" ".join([*order.choices(WORDS, k=length), "."]) for length in lengths]
    forwards = translate(model, sources, "--batch-size", "8").lines
    backwards = translate(model, sources[::-1], "--batch-size", "8").lines
    assert len(forwards) == 13
    assert backwards[::-1] == forwards


def test_missing_last_line_end_changes_nothing(model: Path, toy: Toy) -> None:
    """D07, X05 (moses-smt/mosesdecoder PR#201): from standard input and from a file."""
    whole = toy.test.source.read_bytes()
    assert translate(model, whole.removesuffix(b"\n")).out == translate(model, whole).out


@pytest.mark.parametrize(("stdin", "num"), [(b"", 0), (b"\n", 1), (b"zzz", 1), (b"\r\n\r\n", 2)])
def test_as_many_lines_come_out_as_go_in(stdin: bytes, num: int, model: Path) -> None:
    """X05: nothing for nothing, and each line ends in LF."""
    found = translate(model, stdin)
    assert len(found.lines) == found.out.count(b"\n") == num


# X04, X11, D03: characters that are no line ends


def test_separator_inside_a_line_makes_no_line(model: Path) -> None:
    """X04 (COMET#139; datasets#3729; sacrebleu PR#24): each is a space, on the way in and out."""
    expected = translate(model, [sentence(0, 1), sentence(2)]).lines
    for separator in SEPARATORS:
        inner = f"{WORDS[0]}{separator}{WORDS[1]} ."
        found = translate(model, [inner, sentence(2)])
        assert found.lines == expected
        assert len(found.out.decode("utf-8").splitlines()) == 2


def test_nul_on_standard_input_is_a_space(model: Path) -> None:
    """D03 (google/sentencepiece#156, #331, #1308): two lines in, two lines out."""
    found = translate(model, f"{WORDS[0]}\0{WORDS[1]} .\n\0{WORDS[2]} .\n".encode())
    assert found.lines == translate(model, [sentence(0, 1), sentence(2)]).lines


def test_carriage_return_goes_with_the_line_end(model: Path, toy: Toy) -> None:
    """X11 (hplt-project/OpusCleaner#81): CRLF in, LF out, same text."""
    plain = toy.test.source.read_bytes()
    assert translate(model, plain.replace(b"\n", b"\r\n")).out == translate(model, plain).out


# X06, X07: long lines


def test_line_longer_than_training_is_translated_whole_and_named_on_request(model: Path) -> None:
    """X06 (fairseq#4470; marian#389): 120 words, where training saw 9 tokens at most."""
    long = " ".join(random.Random(6).choices(WORDS, k=120))
    found = translate(model, [sentence(0, 1), long], "--no-split")
    assert "warning: line 2: 120 tokens, longer than what training went to (9)" in found.err
    assert len(found.lines) == 2


def test_one_huge_line_costs_no_other(model: Path) -> None:
    """X07 (OpenNMT/OpenNMT-py#743): 3,000 words among 500 lines."""
    sources = toy_sources(500, seed="huge")
    sources[249] = " ".join(random.Random(7).choices(WORDS, k=3000))
    options = ("--batch-size", "256", "--beam", "1", "--max-length", "10")
    found = translate(model, sources, *options).lines
    assert len(found) == 500
    assert all(found)
    del sources[249], found[249]
    assert found == translate(model, sources, *options).lines
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 < 3e9


# X08: bytes that are no text


@pytest.mark.parametrize("wrong", NOT_UTF_8.values(), ids=NOT_UTF_8)
def test_line_that_is_not_utf_8_is_named_and_shifts_nothing(wrong: bytes, model: Path) -> None:
    """X08 (bert-nmt#2; OpenNMT-py#784): on standard input it is read with a space there."""
    first, last = sentence(0, 1), sentence(2)
    stdin = as_bytes([first]) + b"n" + wrong + b"ora .\n" + as_bytes([last])
    found = translate(model, stdin)
    assert len(found.lines) == 3
    assert [found.lines[0], found.lines[2]] == translate(model, [first, last]).lines
    assert found.err.count("warning: line 2: byte 0x") == 1


def test_file_that_is_not_utf_8_gives_the_lines_before(model: Path, tmp_path: Path) -> None:
    """X08: go on with a warning, or stop with the line number after the earlier lines."""
    path = tmp_path / "bad.src"
    path.write_bytes(as_bytes([sentence(0, 1)]) + b"n\xffora .\n")
    run = run_here("translate", "-m", model, path)
    assert "Traceback" not in run.err
    assert run.lines[:1] == translate(model, [sentence(0, 1)]).lines


@pytest.mark.parametrize("command", ["eval", "train --dev"])
def test_hint_for_bytes_that_are_not_utf_8_can_be_followed(
    command: str, toy: Toy, tmp_path: Path
) -> None:
    """X08, D04: no command is told to use an option that it has not, or that changes nothing."""
    path = tmp_path / "bad.src"
    path.write_bytes(b"n\xffora .\n")
    arguments: dict[str, tuple[str | Path, ...]] = {
        "eval": ("eval", "--hyp", path, path),
        "train --dev": (
            *("train", *toy.dev.arguments, "--dev", path, "--dev", path),
            *("-o", tmp_path / "m", "--drop", "not_utf8"),
        ),
    }
    message = run_here(*arguments[command]).check_refusal()
    assert f"{path}:1: byte 0xff" in message
    assert "--set" not in message


# D05, X09, X10: the process


@pytest.mark.parametrize("environment", _SETTINGS_OF_A_MACHINE.values(), ids=_SETTINGS_OF_A_MACHINE)
def test_locale_changes_no_byte(environment: dict[str, str], model: Path, tmp_path: Path) -> None:
    """D05 (fairseq#1520; sacrebleu#12, #17; attention-is-all-you-need-pytorch#71).

    Translations and scores come from files and standard input in UTF-8 whatever is set.
    """
    lines = [f"{_ODD_TEXT} {WORDS[0]} .", "", f"{WORDS[1]}\u2028{WORDS[2]} .", sentence(3)]
    path = tmp_path / f"{_ODD_TEXT}.src"
    path.write_bytes(as_bytes(lines))
    stdin = as_bytes(lines)
    for arguments in (("translate", "-m", model), ("eval", "--hyp", path, path)):
        expected = run_here(*arguments, stdin=stdin).check()
        found = run_process(*arguments, stdin=stdin, environment=environment).check()
        assert found.out == expected.out
    files = [tmp_path / "h.zh", tmp_path / "r.zh"]
    for path, last in zip(files, ".!", strict=True):
        path.write_text(f"café 我 kilo {last}\n", "utf-8")
    expected = run_here("eval", "--hyp", *files).check()
    assert run_process("eval", "--hyp", *files, environment=environment).check().out == expected.out
    for command in ((), ("train",)):
        run = run_process(*command, "--help", environment=environment).check()
        assert b"Usage: mt" in run.out


def test_each_line_is_answered_before_the_next(model: Path) -> None:
    """X09 (awslabs/sockeye#175): without a flag, and with standard input still open."""
    expected = [translate(model, [line]).out for line in (sentence(0, 1), "", sentence(2))]
    with interactive(model) as process:
        assert ask(process, sentence(0, 1), seconds=60) == expected[0]
        assert ask(process, "", seconds=20) == expected[1]
        assert ask(process, sentence(2), seconds=20) == expected[2]
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=20) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no closed pipes")
def test_reader_that_has_had_enough_ends_it_quietly(model: Path) -> None:
    """X10 (fairseq#395, #591): `mt translate | head -1` shows no traceback."""
    with interactive(model) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        assert ask(process, sentence(0, 1), seconds=60)
        process.stdout.close()
        process.stdin.write(as_bytes([sentence(2)] * 100))
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=20) == 0


def test_standard_output_holds_translations_alone(model: Path, toy: Toy) -> None:
    """X10: the talk of mt and of its libraries is elsewhere, and without progress bars."""
    long = " ".join(WORDS * 4)
    stdin = toy.test.source.read_bytes() + as_bytes([long])
    found = run_process("translate", "-m", model, "--max-length", "12", stdin=stdin).check()
    assert len(found.lines) == NUM_TEST + 1
    assert found.lines == translate(model, stdin, "--max-length", "12").lines
    assert "\r" not in found.err
    assert "\x1b" not in found.err
    messages = found.err.rstrip("\n").split("\n")
    assert all(message.startswith("mt: warning: ") for message in messages)


def test_training_talks_on_standard_error_alone(toy: Toy, tmp_path: Path) -> None:
    """X10: without carriage returns where there is no terminal."""
    found = run_here(
        "train", *toy.test.arguments, *toy.dev.as_dev, "-o", tmp_path / "m", *UNTRAINED
    )
    found.check()
    assert found.out == b""
    assert found.err
    assert "\r" not in found.err
    assert "\x1b" not in found.err


def test_talk_of_training_has_no_empty_line(toy: Toy, tmp_path: Path) -> None:
    """X10: nor does a refusal, which is one line (C05)."""
    found = run_here(
        "train", *toy.test.arguments, *toy.dev.as_dev, "-o", tmp_path / "m", *UNTRAINED
    )
    assert "" not in found.check().err.removesuffix("\n").split("\n")


# X12, T03, T04: clean text


def test_translations_are_detokenised(model: Path, toy: Toy) -> None:
    """X12 (Opus-MT#76; OPUS-CAT#100), T04: no edge spaces, no marks of subwords."""
    for text in translate(model, toy.test.source.read_bytes(), "--n-best", "5").lines:
        assert text == " ".join(text.split())
        assert "▁" not in text
        assert "@@" not in text


@pytest.mark.parametrize("unknown", ["🦊", "龘", "ß", "e\u0301"])
def test_unknown_character_does_not_end_the_translation(unknown: str, model: Path) -> None:
    """T03 (LibreTranslate#439, #33, #733; sentencepiece#134, #280; joeynmt#58)."""
    source = f"{WORDS[0]} {WORDS[1]} {unknown} {WORDS[2]} {WORDS[3]} ."
    (found,) = translate(model, [source]).lines
    assert set(target_of(sentence(0, 1, 2, 3)).split()) <= set(found.split())
    assert not any(mark in found for mark in ("⁇", "<unk>", "\ufffd", "\u2047", "▁"))


def test_meta_symbol_on_standard_input_is_a_space(model: Path) -> None:
    """T04 (google/sentencepiece#863, #514)."""
    marked = [f"{WORDS[0]}▁{WORDS[1]} .", "▁▁▁", f"▁{WORDS[0]}"]
    plain = [sentence(0, 1), "", WORDS[0]]
    assert translate(model, marked).out == translate(model, plain).out
    assert "▁" not in translate(model, marked).out.decode("utf-8")


# G11: the ways in


def test_file_pipe_and_python_give_the_same(model: Path, toy: Toy, tmp_path: Path) -> None:
    """G11 (fairseq#568, #2712): twice from standard input, from files, plain and packed, to -o."""
    data = toy.test.source.read_bytes()
    first = translate(model, data).out
    packed = tmp_path / "packed.src.gz"
    packed.write_bytes(gzip.compress(data))
    out = tmp_path / "out.tgt"
    assert translate(model, data).out == first
    assert translate(model, b"", toy.test.source).out == first
    assert translate(model, b"", packed).out == first
    assert translate(model, data, "-o", out).out == b""
    assert out.read_bytes() == first
    api = Translator.load(model).translate(as_lines(data))
    assert as_bytes([translation.text for translation in api]) == first
