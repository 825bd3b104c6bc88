"""The documents are true: settings are those of the code, the commands that they show run.

`python -m tests.test_docs` writes docs/settings.md and the findings of docs/data.md anew.
"""

from __future__ import annotations

import ast
import dataclasses
import itertools
import re
import shlex
import shutil
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

import mt.config
from mt.cli.main import cli, main
from mt.config import Config
from mt.config.filters import DOUBTS
from mt.config.presets import PRESETS, preset
from mt.corpus.checks.finding import KINDS, flag_of
from mt.formats import FORMATS

ROOT = Path(__file__).parents[1]
SETTINGS = ROOT / "docs" / "settings.md"
DATA = ROOT / "docs" / "data.md"
STARTER = ROOT / "data" / "starter"
COMMANDS = cli.list_commands(click.Context(cli))
OPTIONAL = {"export": "ctranslate2", "serve": "uvicorn"}
"""Packages that commands need and a reader may lack."""


def field_notes(name: str) -> dict[str, str]:
    """The sentence under each field of a dataclass."""
    files = Path(mt.config.__file__).parent.glob("*.py")
    trees = [ast.parse(file.read_text("utf-8")) for file in files]
    (node,) = (
        n for tree in trees for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name
    )
    notes: dict[str, str] = {}
    for item, below in itertools.pairwise(node.body):
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            assert isinstance(below, ast.Expr), f"{name}.{item.target.id} has no sentence"
            assert isinstance(below.value, ast.Constant)
            notes[item.target.id] = " ".join(str(below.value.value).split())
    return notes


def render_settings() -> str:
    lines = [
        "# Settings",
        "",
        "`--set section.key=value` sets one, `--config FILE.toml` many. Defaults are those of the",
        "preset `tiny-2017`, and of a folder whose `config.toml` does not name the key; the other",
        "presets differ where the last table says so, and without `--preset` one is chosen by the",
        "number of pairs. This page is written from `mt/config/` by `python -m tests.test_docs`,",
        "and a test keeps it true.",
    ]
    for section in dataclasses.fields(Config):
        value = getattr(Config(), section.name)
        if not dataclasses.is_dataclass(value):
            continue
        notes = field_notes(type(value).__name__)
        lines += ["", f"## [{section.name}]", "", "| key | default | |", "|---|---|---|"]
        for item in dataclasses.fields(value):
            default = getattr(value, item.name)
            shown = "" if default is None else f"`{default}`".lower()
            lines.append(f"| `{item.name}` | {shown} | {notes[item.name]} |")
    lines += [
        "",
        "## Presets",
        "",
        f"| key | {' | '.join(PRESETS)} |",
        "|---" * (1 + len(PRESETS)) + "|",
    ]
    for section in dataclasses.fields(Config):
        value = getattr(Config(), section.name)
        if dataclasses.is_dataclass(value):
            for item in dataclasses.fields(value):
                row = [getattr(getattr(preset(p), section.name), item.name) for p in PRESETS]
                if len(set(row)) > 1:
                    cells = " | ".join(str(cell) for cell in row)
                    lines.append(f"| `{section.name}.{item.name}` | {cells} |")
    return "\n".join(lines) + "\n"


def render_findings() -> str:
    lines = [
        "| id | level | what | what `mt train` does, or what to do | otherwise |",
        "|---" * 5 + "|",
    ]
    lines += [
        f"| `{name}` | {kind.level} | {kind.title} | {kind.treatment} | "
        f"{f'`{flag_of(name)}`' if flag_of(name) else ''} |"
        for name, kind in KINDS.items()
    ]
    return "\n".join(lines)


def with_findings(text: str) -> str:
    """The page on data with its table of findings written anew."""
    begin, end = "<!-- findings -->\n", "\n<!-- end of findings -->"
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}{render_findings()}{end}{after}"


def test_every_setting_has_its_sentence() -> None:
    assert SETTINGS.read_text("utf-8") == render_settings()


def test_every_finding_stands_in_the_page_on_data() -> None:
    text = DATA.read_text("utf-8")
    assert text == with_findings(text)


def test_the_page_on_data_shows_every_form() -> None:
    text = DATA.read_text("utf-8")
    assert all(f"`.{suffix}`" in text for suffix in FORMATS), FORMATS


def test_what_is_installed_is_this_distribution() -> None:
    """The index has another `mt`: its name must not be given to pip."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    files = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "mt").rglob("*.py")]
    extras = [
        each
        for file in files
        for each in re.findall(r"([\w-]+)\[(\w+)\]['`]", file.read_text("utf-8"))
    ]
    asked = {name for name, extra in extras if extra in project["optional-dependencies"]}
    assert asked == {project["name"]}
    assert project["name"] != "mt"


def shown_commands() -> list[str]:
    """The commands of the README, and those of the page that goes on from it."""
    texts = [(ROOT / name).read_text("utf-8") for name in ("README.md", "docs/commands.md")]
    blocks = re.findall(r"```sh\n(.*?)```", "".join(texts), flags=re.DOTALL)
    return [line for block in blocks for line in block.split("\n") if line]


def test_the_readme_is_short_and_names_every_command() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.split()) <= 900
    missing = [name for name in COMMANDS if f"`mt {name}`" not in text]
    assert missing == []


def test_every_command_is_shown() -> None:
    shown = {shlex.split(command)[1] for command in shown_commands()}
    assert shown == {
        *("train", "translate", "eval", "average", "check", "export", "score", "inspect"),
        *("compare", "plot", "report", "distil", "backtranslate", "serve"),
    }


async def _ended(server: object, sockets: object = None) -> None:
    """In the place of a server: nobody asks, and it was told to end."""


def test_the_commands_shown_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each command runs as it stands, on a little text and with a budget of a few updates."""
    import gzip

    monkeypatch.chdir(tmp_path)
    lines = {
        (part, language): (STARTER / f"{part}.{language}").read_text("utf-8").split("\n")[:60]
        for part in ("train", "dev", "test")
        for language in ("de", "en")
    }
    for (part, language), text in lines.items():
        count = 60 if part == "train" else 3
        body = "".join(f"{line}\n" for line in text[:count]).encode()
        (tmp_path / f"{part}.{language}").write_bytes(body)
        (tmp_path / f"{part}.{language}.gz").write_bytes(gzip.compress(body))
        shutil.copy(tmp_path / f"{part}.{language}", tmp_path / f"more.{language}")
    both = zip(lines["train", "de"], lines["train", "en"], strict=True)
    (tmp_path / "corpus.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in both), "utf-8")
    variants = (f'<tuv xml:lang="{x}"><seg>Neu.</seg></tuv>' for x in ("de", "en"))
    memory = f'<tmx version="1.4"><header/><body><tu>{"".join(variants)}</tu></body></tmx>'
    (tmp_path / "memory.tmx").write_text(memory, "utf-8")
    small = ["--set", "model.d_model=16", "--set", "model.d_inner=16", "--set", "model.heads=2"]
    small += ["--set", "model.initialisation=xavier"]  # else a model of two updates says nothing
    for number, command in enumerate(shown_commands()):
        words, _, redirected = command.partition(" > ")
        words, _, given = words.partition(" < ")
        arguments = shlex.split(words)[1:]
        package = OPTIONAL.get(arguments[0])
        if package is not None and find_spec(package) is None:
            continue
        if arguments[0] in ("distil", "backtranslate"):  # such models make nothing but doubts
            arguments += [word for name in DOUBTS for word in ("--keep", name)]
        if arguments[0] in ("train", "distil"):
            budget = "2" if "--resume" not in arguments else "3"
            for flag in ("--minutes", "--epochs", "--updates"):
                if flag in arguments:
                    del arguments[arguments.index(flag) : arguments.index(flag) + 2]
            if "--vocab-size" in arguments:
                arguments[arguments.index("--vocab-size") + 1] = "400"
            arguments += ["--updates", budget]
            if "--resume" not in arguments:
                arguments += [*small, "--set", "search.max_length=3"]
        if arguments[0] == "serve":
            arguments += ["--port", "0"]
            monkeypatch.setattr("mt.serving.server.Server.serve", _ended)
        if given:
            file = (tmp_path / given).open("rb")
            monkeypatch.setattr(sys, "stdin", file)
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        # `mt check` says by its status that the text has faults, as this text has.
        assert caught.value.code in ((0, 1) if arguments[0] == "check" else (0,)), (number, command)
        if redirected:
            (tmp_path / redirected).write_text(capfd.readouterr().out, "utf-8")
        if given:
            file.close()


if __name__ == "__main__":
    SETTINGS.write_text(render_settings(), "utf-8")
    DATA.write_text(with_findings(DATA.read_text("utf-8")), "utf-8")
