"""`mt average`: whole model folders from the mean of weights, and refusals that say why."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from mt.model_folder.folder import read_config
from tests.cases.model_files import same_tensors
from tests.cases.runs import SMALL, run_here
from tests.cli.starter import BRIEF, MACHINE, content, write_corpus

TRAINED = (*SMALL, "--vocab-size", "400", "--threads", "1")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs that tests do not change: `base`, two fine-tuned from it, and unlike ones."""
    folder = tmp_path_factory.mktemp("average")
    first = write_corpus(folder, "first", 0)
    more = write_corpus(folder, "more", 100)
    kept = ("--set", "training.keep_weights=2", "--set", "training.validate_every=1")
    dev = ("--dev", *write_corpus(folder, "dev", 300)[:1], "--dev", str(folder / "dev.en"))
    dev = (*dev, "--set", "training.metric=loss")
    run_here(
        "train", *first, *dev, "-o", folder / "base", *TRAINED, *kept, "--updates", "6"
    ).check()
    for name, seed in (("one", "1"), ("two", "2")):
        options = ("--from", folder / "base", "--seed", seed, "--set", "model.dropout=0.1", *BRIEF)
        run_here("train", *more, *dev, "-o", folder / name, *options).check()
    other = write_corpus(folder, "other", 200)
    run_here("train", *other, "-o", folder / "other", *TRAINED, "--updates", "1").check()
    wide = ("--set", "model.d_inner=16")
    run_here("train", *first, "-o", folder / "wide", *TRAINED, *wide, "--updates", "1").check()
    return folder


def weights(path: Path) -> dict[str, torch.Tensor]:
    return load_file(path)


def is_mean(folder: Path, paths: list[Path]) -> bool:
    sets = [weights(path) for path in paths]
    mean = weights(folder / "model.safetensors")
    return all(
        torch.equal(mean[name], torch.stack([s[name].double() for s in sets]).mean(0).float())
        for name in sets[0]
    )


def test_models_of_one_shape_and_tokenizer_give_a_whole_model(place: Path, tmp_path: Path) -> None:
    names = ("one", "base", "two")
    before = {name: content(place / name) for name in names}
    out = tmp_path / "deep" / "mean"
    run_here("average", *(place / name for name in names), "-o", out).check()
    assert {name: content(place / name) for name in names} == before
    assert is_mean(out, [place / name / "model.safetensors" for name in names])
    card = (out / "README.md").read_text("utf-8")
    assert [line for line in card.split("\n") if line.startswith("| average of")] == [
        f"| average of | {name} |" for name in names
    ]
    assert "fine-tuned from" not in card
    (made,) = [line for line in card.split("\n") if line.startswith("mt average ")]
    assert made.endswith(f"-o {out}")
    assert "| parameters | " in card
    assert read_config(out).model == read_config(place / "one").model
    score = run_here("eval", "-m", out, out / "dev.source", out / "dev.target", "--device", "cpu")
    assert score.check().lines[0].startswith("BLEU ")
    assert len(run_here("translate", "-m", out, stdin=b"Ja.\n\n").check().lines) == 2


def test_what_came_from_one_model_still_says_so(place: Path, tmp_path: Path) -> None:
    out = tmp_path / "mean"
    run_here("average", place / "one", place / "two", "-o", out).check()
    assert "| fine-tuned from | base |" in (out / "README.md").read_text("utf-8")


@pytest.mark.parametrize("option", ["--best", "--last"])
def test_states_of_one_run_are_averaged(option: str, place: Path, tmp_path: Path) -> None:
    """With a falling loss, the best validations are the last ones; the card tells their order."""
    out = tmp_path / "mean"
    run_here("average", place / "base", option, "2", "-o", out).check()
    kept = sorted((place / "base" / "training").glob("weights-*.safetensors"))
    assert 2 <= len(kept) <= 4
    card = (out / "README.md").read_text("utf-8")
    rows = [line for line in card.split("\n") if line.startswith("| average of | base, update ")]
    assert len(rows) == 2
    assert all("dev loss" in row for row in rows)
    updates = [row.split("update ")[1].split(":")[0] for row in rows]
    names = [f"weights-{update}.safetensors" for update in updates]
    assert is_mean(out, [place / "base" / "training" / name for name in names])
    if option == "--last":
        assert updates == ["5", "6"]


def test_the_best_one_is_the_model_itself(place: Path, tmp_path: Path) -> None:
    run_here("average", place / "base", "--best", "1", "-o", tmp_path / "best").check()
    assert same_tensors(tmp_path / "best", place / "base")


def test_a_model_made_by_averaging_can_be_fine_tuned(place: Path, tmp_path: Path) -> None:
    run_here("average", place / "one", place / "two", "-o", tmp_path / "mean").check()
    more = write_corpus(tmp_path, "more", 400)
    run_here("train", *more, "--from", tmp_path / "mean", "-o", tmp_path / "new", *BRIEF).check()
    run = run_here("train", "--resume", tmp_path / "mean", *MACHINE)
    assert "holds no checkpoint" in run.check_refusal()


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ((), 2, "Missing argument 'MODEL...'"),
        (("{place}/base",), 2, "give several MODELs, or --best K or --last K"),
        (("{place}/base", "--best", "1", "--last", "1"), 2, "give either --best or --last"),
        (("{place}/base", "{place}/one", "--best", "1"), 2, "give one MODEL"),
        (("{place}/base", "{place}/base/../base"), 2, "one MODEL is given twice"),
        (("{place}/base", "{place}/none"), 1, "is not a model folder"),
        (("{place}/base", "{place}/wide"), 1, "differ in model.d_inner: 8 and 16"),
        (("{place}/base", "{place}/other"), 1, "other has another tokenizer than"),
        (("{place}/base", "--best", "3"), 1, "training.keep_weights was 2 in the run of"),
        (("{place}/one", "--last", "1"), 1, "training.keep_weights was 0 in the run of"),
        (("{place}/base", "{place}/one", "-o", "{place}"), 2, "exists already and is not empty"),
        (("{place}/base", "{place}/one", "-o", "{place}/dev.de"), 2, "exists already"),
    ],
)
def test_what_cannot_be_averaged_is_refused(
    arguments: tuple[str, ...], status: int, message: str, place: Path, tmp_path: Path
) -> None:
    given = [argument.replace("{place}", str(place)) for argument in arguments]
    run = run_here("average", "-o", tmp_path / "mean", *given).check(status)
    assert message in run.err
    assert run.out == b""
    assert not (tmp_path / "mean").exists()


def test_fewer_validations_than_asked_for_are_refused(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "base", tmp_path / "own")
    for path in (tmp_path / "own" / "training").glob("weights-*"):
        if path.name != "weights-6.safetensors":
            path.unlink()
    run = run_here("average", tmp_path / "own", "--last", "2", "-o", tmp_path / "mean")
    assert "holds the weights of 1 validation." in run.check_refusal()


@pytest.mark.parametrize("name", ["model.safetensors", "training/weights-6.safetensors"])
def test_damaged_weights_are_named_and_leave_nothing(
    name: str, place: Path, tmp_path: Path
) -> None:
    shutil.copytree(place / "base", tmp_path / "own")
    (tmp_path / "own" / name).write_bytes(b"\x80\x04K\x01.")
    given: tuple[Path | str, ...] = (tmp_path / "own", "--last", "1")
    if name == "model.safetensors":
        given = (place / "one", tmp_path / "own")
    run = run_here("average", *given, "-o", tmp_path / "mean")
    assert name.rpartition("/")[2] in run.check_refusal()
    assert not (tmp_path / "mean").exists()
