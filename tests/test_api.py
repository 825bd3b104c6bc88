"""The page on Python is true: its examples run as they stand, and `import mt` is light."""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path

import pytest

import mt
from tests.cases.runs import SMALL, run_here, variables

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "api.md").read_text("utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small model under the name that the page uses."""
    folder = tmp_path_factory.mktemp("api")
    corpus = []
    for language in ("de", "en"):
        lines = (ROOT / "data" / "starter" / f"train.{language}").read_text("utf-8").split("\n")
        path = folder / f"train.{language}"
        path.write_text("".join(f"{line}\n" for line in lines[:40]), "utf-8")
        corpus.append(path)
    options = (*SMALL, "--vocab-size", "400", "--updates", "1")
    for seed, name in ((1, "de-en"), (2, "de-en-2")):
        model = folder / "checkpoints" / name
        run_here("train", *corpus, "-o", model, *options, "--seed", str(seed)).check()
    return folder


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_the_examples_run(
    number: int, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    exec(compile(EXAMPLES[number], f"example {number}", "exec"), {"__name__": "example"})
    printed = capsys.readouterr().out.splitlines()
    if "TrainRequest(" in EXAMPLES[number]:
        assert printed == ["checkpoints/new ended: 2 updates are done"]
    elif "EvaluateRequest(" in EXAMPLES[number]:
        assert [line.split(" ")[0] for line in printed] == ["BLEU", "chrF2"]
        assert all("Interval(" in line for line in printed)
    elif "CheckRequest(" in EXAMPLES[number]:
        assert all(line.split(" ")[0] in ("fault", "doubt", "note") for line in printed)
    elif "MtError" in EXAMPLES[number]:
        assert printed
        assert f"`{printed[0]}`" in PAGE
    elif "ThreadPoolExecutor" in EXAMPLES[number]:
        assert len(printed) == 2
    elif "for translation in" in EXAMPLES[number]:
        assert len(printed) == 3
        assert printed[1] == ""
    elif "for hypothesis in" in EXAMPLES[number]:
        assert 1 <= len(printed) <= 3
        assert all(re.match(r"-\d+\.\d{3} ", line) for line in printed)
    elif "de-en-2" in EXAMPLES[number]:
        assert len(printed) == 1
    elif "for score in" in EXAMPLES[number]:
        assert [line.split(" ")[0] for line in printed] == ["BLEU", "chrF2"]


def test_threads_that_share_a_translator_change_nothing(place: Path) -> None:
    options = mt.TranslationOptions(device="cpu")
    translator = mt.Translator.load(place / "checkpoints" / "de-en", options=options)
    lines = (place / "train.de").read_text("utf-8").splitlines()
    alone = [each.text for each in translator.translate(lines)]
    with ThreadPoolExecutor(max_workers=4) as pool:
        runs = pool.map(lambda _: [each.text for each in translator.translate(lines)], range(8))
        assert all(texts == alone for texts in runs)


def test_the_page_names_what_there_is() -> None:
    names, *_ = PAGE.split("\n## ")
    rows = re.findall(r"^\| `(\w+)` \|", names, flags=re.MULTILINE)
    assert sorted(rows) == sorted(set(mt.__all__) - {"__version__"})
    assert set(mt.__all__) <= set(dir(mt))
    for name in mt.__all__:
        assert getattr(mt, name) is getattr(mt, name)


def test_the_page_names_all_options() -> None:
    (settings,) = re.findall(r"^## Settings\n(.*?)^## ", PAGE, flags=re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\| (`.*?`) \|", settings, flags=re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"\w+", row)]
    assert sorted(named) == sorted(field.name for field in fields(mt.TranslationOptions))


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'mt' has no attribute 'translator_of_dreams'"):
        mt.translator_of_dreams  # noqa: B018


def test_importing_mt_imports_no_torch() -> None:
    code = "import mt, sys; assert 'torch' not in sys.modules; mt.MtError; mt.SearchConfig;"
    code += "assert 'torch' not in sys.modules; mt.Translator; assert 'torch' in sys.modules"
    subprocess.run([sys.executable, "-c", code], env=variables(), check=True, timeout=120)
