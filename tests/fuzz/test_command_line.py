"""Whatever flags and files a command is given, it ends with a status and never with a traceback."""

from __future__ import annotations

import importlib
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.cli.main import cli
from tests.cases.runs import run_here
from tests.cases.toy import as_bytes, toy_pairs, toy_sources, write_files
from tests.fuzz.samples import CSV, JSON_LINES, PO, TMX

pytestmark = pytest.mark.slow

COMMANDS = (
    *("train", "translate", "eval", "compare", "score", "report", "inspect", "plot"),
    *("average", "export", "check"),
)
NEVER = {"--compile", "--help", "--device", "--threads", "--workers", "--devices", "--batch-size"}
"""Flags that are slow, or would change this process; the tests of their rooms try them."""

SMALL = (
    *("--device", "cpu", "--threads", "1", "--updates", "1"),
    *("--set", "model.d_model=8", "--set", "model.d_inner=8", "--set", "model.heads=2"),
    *("--set", "model.decoder_layers=1", "--set", "search.max_length=3"),
)
SETTINGS = (
    *("model.heads=3", "model.dropout=1", "model.positions=rotary", "model.norm=post", "model=1"),
    *("training.freeze=[1]", "training.metric=ser", "training.patience=-1", "nothing.here=1"),
    *("training.peak_rate=nan", "training.peak_rate=1e30", "training.beta2=0", "search.beam=0"),
    *("corpus.weights=[2,1]", "corpus.max_ratio=inf", "tokenizer.joint=false", "model.tied=none"),
    *("training.keep_weights=2", "training.accumulate=3", "training.validate_every=1", "=", "a=b"),
    *('model.architecture="decoder-only"', "model.encoder_layers=0", "model.encoder_layers=1"),
)
NUMBERS = ("0", "1", "2", "5", "-1", "0.5", "1e-9", "1e400", "nan", "inf", "x", "", "٣", "64")
TEXTS = ("", "x", "de-en", "1,2", "0,1", "²,1", "source,target", "[", "(?P<", "\udcff", "a\nb", "é")
_LONGEST = 120  # seconds


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    corpus = write_files(folder, "a", toy_pairs(40, seed="fuzz"))
    for name, content in (("a.tmx", TMX), ("a.po", PO), ("a.jsonl", JSON_LINES), ("a.csv", CSV)):
        (folder / name).write_bytes(content)
    (folder / "empty").write_bytes(b"")
    (folder / "latin").write_bytes(b"caf\xe9\n")
    (folder / "toml").write_text("[model]\nd_model = 8\n")
    model = ("-o", folder / "model", *SMALL, "--set", "model.encoder_layers=1")
    run_here("train", *corpus.arguments, *model, "--tokenizer", "symbols").check()
    return folder


PATHS = (
    *("a.src", "a.tgt", "a.tmx", "a.po", "a.jsonl", "a.csv", "empty", "latin", "toml", "model"),
    *("model/config.toml", "none", "none/none", "new", ".", "-", "hf:", "\udcff", "x" * 300),
)


def _value(draw: st.DrawFn, parameter: click.Parameter) -> str:
    kind = parameter.type
    if isinstance(kind, click.Choice):
        return draw(st.sampled_from([*map(str, kind.choices), "other"]))
    if isinstance(kind, click.Path):
        return draw(st.sampled_from(PATHS))
    if isinstance(kind, click.types.IntParamType | click.types.FloatParamType):
        return draw(st.sampled_from(NUMBERS))
    if "--set" in parameter.opts:
        return draw(st.sampled_from(SETTINGS))
    return draw(st.sampled_from([*TEXTS, *PATHS]))


def _parameters(name: str) -> list[click.Parameter]:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return command.params


@st.composite
def command_lines(draw: st.DrawFn, name: str) -> list[str]:
    words: list[str] = []
    parameters = _parameters(name)
    options = [p for p in parameters if isinstance(p, click.Option) and not NEVER & {*p.opts}]
    needed = [p for p in options if p.required and draw(st.integers(0, 9))]
    for option in [*needed, *draw(st.lists(st.sampled_from(options), max_size=4))]:
        words.append(draw(st.sampled_from(option.opts)))
        if not option.is_flag:
            words += [_value(draw, option) for _ in range(option.nargs)]
    for argument in (p for p in parameters if isinstance(p, click.Argument)):
        count = draw(st.integers(0, 3)) if argument.nargs < 0 else argument.nargs
        words += [_value(draw, argument) for _ in range(count)]
    if name in ("train",):
        words += SMALL
    return words


@contextmanager
def _bounded() -> Iterator[None]:
    """Within, what takes too long ends in a TimeoutError."""

    def too_long(*_: object) -> None:
        raise TimeoutError(f"no end after {_LONGEST} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(_LONGEST)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", COMMANDS)
@given(data=st.data())
def test_a_command_ends_with_a_status(
    name: str, data: st.DataObject, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    words = data.draw(command_lines(name))
    with _bounded():
        run = run_here(name, *words, stdin=as_bytes(toy_sources(2, seed="stdin")))
    assert run.status in (0, 1, 2), run.err
    assert "Traceback" not in run.err
    if run.status:
        findings = run.out.strip() if name == "check" else b""  # they are what was asked for
        assert findings or run.err.strip(), "nothing was said"


def test_every_command_is_tried() -> None:
    assert {*COMMANDS} == {*cli.list_commands(click.Context(cli))}
    importlib.import_module("mt.cli.commands.train")
