"""`mt export --into-model`, and `--engine` of `mt translate`: used, refused, or fallen back."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mt import TranslationOptions, Translator, load_translator
from mt.cli.commands.translate import command
from mt.exchange import kept as kept_conversions
from mt.exchange.conversion import convert
from mt.model_folder.folder import load_model, save_weights
from tests.cases.runs import Run, run_here
from tests.exchange.talkers import SHAPE, SOURCE_WORDS, lines, write_talker

pytest.importorskip("ctranslate2")
LINES = list(lines(tuple(SOURCE_WORDS)))
STDIN = "".join(f"{line}\n" for line in LINES).encode()
ENGINE = "mt: engine ctranslate2 "


def write_dev(folder: Path, references: list[str]) -> None:
    for name, side in (("dev.source", LINES), ("dev.target", references)):
        (folder / name).write_text("".join(f"{line}\n" for line in side), "utf-8")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    """A model folder that keeps a conversion, and what was said when it was made."""
    folder = write_talker(tmp_path_factory.mktemp("made") / "m", SHAPE, joint=True)
    write_dev(folder, LINES[::-1])
    return folder, run_here("export", "-m", folder, "--into-model").check()


@pytest.fixture
def folder(made: tuple[Path, Run], tmp_path: Path) -> Path:
    """A copy that a test may change."""
    shutil.copytree(made[0], tmp_path / "m")
    return tmp_path / "m"


def translate(folder: Path, *options: str | Path) -> Run:
    return run_here("translate", "-m", folder, "--device", "cpu", *options, stdin=STDIN)


def test_what_is_made_is_checked_told_and_taken(made: tuple[Path, Run]) -> None:
    folder, run = made
    assert "mt: its check: BLEU" in run.err
    assert f"the model for ctranslate2 is in {folder}/engine/ctranslate2-float32" in run.err
    record = json.loads((folder / "engine/ctranslate2-float32/engine.json").read_text("utf-8"))
    assert record["check"]["num_lines"] == len(LINES)
    assert record["check"]["failure"] is None
    greedy = translate(folder, "--beam", "1").check()
    assert ENGINE in greedy.err
    own = translate(folder, "--beam", "1", "--engine", "mt").check()
    assert ENGINE not in own.err
    assert greedy.out == own.out
    assert len(greedy.lines) == len(LINES)
    for options, name in ((("--engine", "mt"), "mt"), ((), "ctranslate2")):
        records = translate(folder, "--json", *options).check().lines
        assert {json.loads(line)["engine"] for line in records} == {name}


def test_one_line_needs_no_torch(made: tuple[Path, Run]) -> None:
    program = (
        "import sys; from mt.cli.main import main\n"
        "try: main(['translate', '-m', sys.argv[1], '--device', 'cpu', *sys.argv[2:]])\n"
        "finally: print('torch' in sys.modules, file=sys.stderr)"
    )
    for options in ((), ("--json",)):
        command = [sys.executable, "-c", program, str(made[0]), *options]  # not one of our forks
        run = subprocess.run(command, input=STDIN, capture_output=True, timeout=60, check=True)
        assert ENGINE in run.stderr.decode()
        assert run.stderr.endswith(b"False\n")


def test_what_the_engine_has_no_room_for_loads_the_model_once(
    made: tuple[Path, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[Path] = []
    load = Translator.load

    def counted(folder: Path, **given: Any) -> Translator:
        loaded.append(folder)
        return load(folder, **given)

    monkeypatch.setattr(Translator, "load", counted)
    monkeypatch.setattr("mt.tasks.engine.num_positions", lambda config: 1)
    options = TranslationOptions(device="cpu")
    translator = load_translator(made[0], engine="ctranslate2", options=options)
    found = [translator.translate([line])[0].text for line in LINES[:3]]
    assert loaded == [made[0]]
    assert found == [each.text for each in load(made[0], options=options).translate(LINES[:3])]


def test_pairs_are_made_by_the_engine_that_is_asked_for(
    made: tuple[Path, Run], tmp_path: Path
) -> None:
    mono = tmp_path / "mono.txt"
    mono.write_bytes(STDIN)

    def pairs(engine: str) -> Run:
        flags = ("--engine", engine, "--beam", "1", "--device", "cpu")
        keep = [word for name in ("copied_source", "repetition") for word in ("--keep", name)]
        out = tmp_path / f"{engine}.jsonl"
        return run_here("backtranslate", "-m", made[0], mono, "-o", out, *flags, *keep).check()

    told = ENGINE.removeprefix("mt: ")
    assert told in pairs("ctranslate2").err
    assert told not in pairs("mt").err
    written = [(tmp_path / f"{name}.jsonl").read_text("utf-8") for name in ("ctranslate2", "mt")]
    first, second = ([json.loads(line) for line in text.splitlines()] for text in written)
    assert len(first) > 1
    for one, other in zip(first, second, strict=True):
        assert one.pop("score") == pytest.approx(other.pop("score"), abs=1e-4)
        assert one == other


def test_the_first_use_makes_it_and_the_second_takes_it(folder: Path) -> None:
    shutil.rmtree(folder / "engine")
    assert ENGINE not in translate(folder).check().err
    first = translate(folder, "--engine", "ctranslate2").check()
    assert f"mt: converting {folder} for CTranslate2" in first.err
    second = translate(folder, "--engine", "ctranslate2").check()
    assert "converting" not in second.err
    assert first.out == second.out == translate(folder).check().out


USED = [
    ("--beam", "2"),
    ("--beam", "3", "--n-best", "2"),
    ("--length-penalty", "none"),
    ("--length-penalty", "gnmt", "--alpha", "0.6"),
    ("--max-length", "4"),
    ("--min-length-ratio", "0.5"),
    ("--no-repeat-ngram", "2"),
    ("--max-repeats", "0"),
    ("--no-split",),
    ("--json",),
    ("--precision", "float32"),
    ("--device", "cpu"),
    ("--devices", "1"),
    ("--threads", "2"),
    ("--workers", "2"),
    ("--batch-size", "3"),
    ("--keep-case",),
    ("--output", "OUT"),
    ("--format", "text"),
]
OWN: dict[str, list[tuple[str, ...]]] = {
    "--glossary or --placeholders": [("--glossary", "TERMS"), ("--placeholders", "default")],
    "--sample": [
        ("--sample", "2"),
        ("--sample", "2", "--temperature", "0.5"),
        ("--sample", "2", "--top-k", "3"),
        ("--sample", "2", "--top-p", "0.5"),
        ("--sample", "2", "--seed", "3"),
    ],
    "--mbr": [("--mbr", "chrf")],
    "--prefix": [("--prefix", "PREFIXES")],
    "--max-repeats": [("--max-repeats", "2")],
    "--precision bfloat16": [("--precision", "bfloat16")],
    "an ensemble": [("--model", "MODEL")],
}
ELSEWHERE = {
    *("--engine", "--alignment", "--precision", "--to"),
    *("--columns", "--overwrite", "--no-mark", "--paragraphs"),
}
"""Options that tests of their own are about, in part."""


@pytest.fixture(scope="module")
def files(made: tuple[Path, Run], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("files")
    (folder / "terms").write_text("haus\thouse\n", "utf-8")
    (folder / "prefixes").write_text("a\n" * len(LINES), "utf-8")
    shutil.copytree(made[0], folder / "other")
    return {
        "TERMS": str(folder / "terms"),
        "PREFIXES": str(folder / "prefixes"),
        "MODEL": str(folder / "other"),
        "OUT": str(folder / "out"),
    }


def test_the_table_has_every_option() -> None:
    own = [options for several in OWN.values() for options in several]
    named = {word for options in [*USED, *own] for word in options} | ELSEWHERE
    for parameter in command.params:
        if parameter.name != "files":
            assert named & set(parameter.opts), parameter.opts


@pytest.mark.parametrize("options", USED)
def test_options_that_the_engine_uses(
    made: tuple[Path, Run], files: dict[str, str], options: tuple[str, ...]
) -> None:
    given = [files.get(word, word) for word in options]
    for engine in ("auto", "ctranslate2"):
        run = translate(made[0], *given, "--engine", engine).check()
        assert ENGINE in run.err
        assert "engine mt" not in run.err


@pytest.mark.parametrize(
    ("name", "options"), [(name, each) for name, several in OWN.items() for each in several]
)
def test_options_that_need_the_search_of_mt(
    made: tuple[Path, Run], files: dict[str, str], name: str, options: tuple[str, ...]
) -> None:
    given = [files.get(word, word) for word in options]
    run = translate(made[0], *given).check()
    assert ENGINE not in run.err
    reason = f"mt: engine mt: {name} needs its search\n"
    assert run.err.count(reason) == 1
    assert translate(made[0], *given, "--engine", "mt").check().out == run.out
    message = translate(made[0], *given, "--engine", "ctranslate2").check_refusal(status=2)
    assert message.startswith(f"mt: error: --engine ctranslate2 has no form for {name}. Use")


def test_alignments_are_those_of_mt(made: tuple[Path, Run]) -> None:
    options = ("--json", "--alignment", "--beam", "1")
    auto = translate(made[0], *options).check()
    assert "mt: engine mt: --alignment needs its search\n" in auto.err
    asked = translate(made[0], *options, "--engine", "ctranslate2").check()
    assert ENGINE in asked.err
    for ours, theirs in zip(auto.lines, asked.lines, strict=True):
        one, other = json.loads(ours), json.loads(theirs)
        assert (one["engine"], other["engine"]) == ("mt", "ctranslate2")
        assert [each["alignment"] for each in one["hypotheses"]] == [
            each["alignment"] for each in other["hypotheses"]
        ]
        assert other["hypotheses"][0]["tokens"]


def test_scores_are_those_of_mt_unless_asked(made: tuple[Path, Run], tmp_path: Path) -> None:
    source = tmp_path / "source.de"
    source.write_bytes(STDIN)
    arguments = ("eval", "-m", made[0], source, source, "--device", "cpu", "--no-trivial")
    assert "engine" not in run_here(*arguments).check().err
    assert ENGINE in run_here(*arguments, "--engine", "ctranslate2").check().err


def change_weights(folder: Path) -> str:
    save_weights(folder, load_model(folder).model.double().float())
    model = load_model(folder).model
    model.output_weight.data[5] += 0.01
    save_weights(folder, model)
    return "was made of other weights"


def flip_a_byte(folder: Path) -> str:
    path = folder / "engine/ctranslate2-float32/model.bin"
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(content)
    return "is damaged: model.bin is not what was written (SHA-256 differs)"


def remove_a_file(folder: Path) -> str:
    (folder / "engine/ctranslate2-float32/config.json").unlink()
    return "is damaged: config.json cannot be read"


def cut_the_record(folder: Path) -> str:
    path = folder / "engine/ctranslate2-float32/engine.json"
    path.write_text(path.read_text("utf-8")[:100], "utf-8")
    return "engine.json is damaged: "


@pytest.mark.parametrize("spoil", [change_weights, flip_a_byte, remove_a_file, cut_the_record])
def test_what_is_stale_or_damaged_is_one_line_and_made_anew(folder: Path, spoil: object) -> None:
    assert callable(spoil)
    reason = spoil(folder)
    run = translate(folder).check()
    said = [line for line in run.err.splitlines() if "engine mt" in line]
    assert len(said) == 1
    assert reason in said[0]
    assert said[0].endswith("mt export --into-model makes it anew")
    assert run.out == translate(folder, "--engine", "mt").check().out
    anew = translate(folder, "--engine", "ctranslate2").check()
    (warning,) = [line for line in anew.err.splitlines() if "warning: the conv" in line]
    assert reason in warning
    assert warning.endswith("it is made anew")
    assert ENGINE in translate(folder).check().err


def test_another_version_of_the_library_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_conversions, "library_version", lambda: "99.1")
    run = translate(folder).check()
    assert ", and 99.1 is installed; mt export --into-model makes it anew" in run.err
    assert run.out == translate(folder, "--engine", "mt").check().out


def test_without_the_library_mt_translates_or_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    run = translate(folder).check()
    assert "mt: engine mt: the package ctranslate2 is not installed\n" in run.err
    message = translate(folder, "--engine", "ctranslate2").check_refusal(status=2)
    assert message.endswith("pip install 'mt-trainer[ctranslate2]'")


def test_int8_that_loses_too_much_is_refused_and_remembered(folder: Path) -> None:
    own = run_here("translate", "-m", folder, "--engine", "mt", "--beam", "5", stdin=STDIN)
    write_dev(folder, own.check().lines)  # against which mt's own search has 100 BLEU
    options = ("--precision", "int8", "--engine", "ctranslate2")
    message = translate(folder, *options).check_refusal()
    assert "CTranslate2 in int8 is refused: it loses " in message
    assert " BLEU, more than 0.3" in message
    assert [path.name for path in (folder / "engine/ctranslate2-int8").iterdir()] == ["engine.json"]
    again = translate(folder, *options)
    assert again.check_refusal() == message
    assert "converting" not in again.err
    run = translate(folder, "--precision", "int8").check()
    assert "mt: engine mt: the conversion failed its check: it loses " in run.err
    message = run_here(
        "export", "-m", folder, "--into-model", "--precision", "int8"
    ).check_refusal()
    assert "is refused: it loses " in message


def test_other_results_in_float32_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A conversion of other weights than those it is compared with."""

    def wrongly(model: Path, output: Path, *, stored: str) -> object:
        loaded = convert(model, output, stored=stored)  # type: ignore[arg-type]
        loaded.model.output_weight.data.mul_(-1.0)
        return loaded

    monkeypatch.setattr("mt.tasks.convert.convert", wrongly)
    message = run_here("export", "-m", folder, "--into-model").check_refusal()
    assert "is translated otherwise, greedily in float32" in message
    assert ENGINE not in translate(folder).check().err


def test_without_a_validation_set_files_are_asked_for(folder: Path, tmp_path: Path) -> None:
    shutil.rmtree(folder / "engine")
    for name in ("dev.source", "dev.target"):
        (folder / name).unlink()
    message = translate(folder, "--engine", "ctranslate2").check_refusal()
    assert "has no validation set to check CTranslate2 on" in message
    assert message.endswith("--into-model --check SOURCE REFERENCE")
    source, short = tmp_path / "source", tmp_path / "short"
    source.write_bytes(STDIN)
    short.write_text("one\n", "utf-8")
    check = ("export", "-m", folder, "--into-model", "--check", source)
    assert "unequal lengths" in run_here(*check, short).check_refusal()
    assert "40 lines of source" in run_here(*check, source).check().err
    assert ENGINE in translate(folder).check().err


def test_requests_that_contradict_themselves_are_refused(folder: Path, tmp_path: Path) -> None:
    export = ("export", "-m", folder)
    for options, said in (
        ((), "there is no folder to write"),
        (("-o", tmp_path / "x", "--into-model"), "do not go together"),
        (("--into-model", "--precision", "bfloat16"), "keeps float32 and int8, not bfloat16"),
        (("-o", tmp_path / "x", "--check", "a", "b"), "--into-model only"),
    ):
        assert said in run_here(*export, *options).check_refusal(status=2)


def test_a_form_that_the_engine_lacks_is_refused(tmp_path: Path) -> None:
    shape = dataclasses.replace(SHAPE, positions="relative")
    folder = write_talker(tmp_path / "m", shape, joint=True)
    write_dev(folder, LINES)
    message = translate(folder, "--engine", "ctranslate2").check_refusal()
    assert 'model.positions = "relative"' in message
    assert ENGINE not in translate(folder).check().err
    assert not (folder / "engine" / "ctranslate2-float32").exists()
