"""Every new form of model raises the format version of the folder, and a newer one is refused."""

from __future__ import annotations

import dataclasses
import json
import shutil
import typing
from pathlib import Path

import pytest

from mt.config import ModelConfig, TokenizerConfig
from mt.model_folder.folder import FORMAT_VERSION
from tests.cases.runs import run_here

FORMS = Path(__file__).parent / "forms.json"
RELEASE = Path(__file__).parent / "release-0.1"

ADVICE = (
    f"The settings that shape a model are not those of format version {FORMAT_VERSION}. An mt that "
    "knows only that version cannot build such a model: raise FORMAT_VERSION in "
    f"mt/model_folder/folder.py and add the new list to {FORMS.name} (python -m "
    "tests.versions.test_format_version prints it). Lists of released versions never change."
)


def settings_that_shape_a_model() -> list[str]:
    """Each setting with its type, which names the values that it may take."""
    return [
        f"{section}.{field.name}: {_spelled(typing.get_type_hints(kind)[field.name])}"
        for section, kind in (("tokenizer", TokenizerConfig), ("model", ModelConfig))
        for field in dataclasses.fields(kind)
    ]


def _spelled(hint: object) -> str:
    if typing.get_origin(hint) is typing.Literal:
        return " | ".join(repr(value) for value in typing.get_args(hint))
    return hint.__name__ if isinstance(hint, type) else str(hint)


def test_a_new_form_of_model_raises_the_format_version() -> None:
    recorded = json.loads(FORMS.read_text("utf-8"))
    assert recorded.get(str(FORMAT_VERSION)) == settings_that_shape_a_model(), ADVICE


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the next format version, in a form that this mt cannot read."""
    folder = tmp_path_factory.mktemp("newer") / "model"
    shutil.copytree(RELEASE / "subwords", folder)
    config = folder / "config.toml"
    version = f"format_version = {FORMAT_VERSION + 1}\n"
    text = config.read_text("utf-8").replace("format_version = 1\n", version)
    config.write_text(text.replace('kind = "bpe"', 'kind = "of tomorrow"\nfancy = [[1]]'), "utf-8")
    return folder


@pytest.mark.parametrize(
    "command",
    [
        "translate -m NEWER",
        "translate -m OLD -m NEWER",
        "eval -m NEWER SRC TGT",
        "eval -m NEWER --card SRC TGT",
        "score -m NEWER SRC TGT",
        "report NEWER SRC TGT",
        "inspect NEWER --source text -o OUT",
        "average NEWER OLD -o OUT",
        "average OLD NEWER -o OUT",
        "export -m NEWER -o OUT",
        "train --resume NEWER",
        "train --from NEWER SRC TGT -o OUT",
    ],
)
def test_a_newer_format_is_refused_by_every_command(
    newer: Path, command: str, tmp_path: Path
) -> None:
    names = {
        "NEWER": newer,
        "OLD": RELEASE / "subwords",
        "OUT": tmp_path / "out",
        "SRC": RELEASE / "test.src",
        "TGT": RELEASE / "test.tgt",
    }
    before = sorted(newer.rglob("*"))
    message = run_here(*(names.get(word, word) for word in command.split())).check_refusal()
    assert f"{newer} has format version {FORMAT_VERSION + 1}, this mt" in message
    assert f"knows up to {FORMAT_VERSION}" in message
    assert "Install a newer mt" in message
    assert not (tmp_path / "out").exists()
    assert sorted(newer.rglob("*")) == before


if __name__ == "__main__":
    print(json.dumps(settings_that_shape_a_model(), indent=2))
