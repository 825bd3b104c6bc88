"""Several models and several devices: `mt translate`, `mt eval` and `mt score`."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest
import torch

from mt.errors import ConfigError
from mt.model import device
from mt.model_folder import folder as model_folder
from mt.text.subwords import SubwordTokenizer, train_subwords
from mt.text.tokenizer_pair import TokenizerPair
from mt.translation.options import TranslationOptions
from mt.translation.scorer import Scorer
from mt.translation.translator import Translator
from tests.cases.runs import run_here
from tests.cases.toy import Toy, as_bytes, as_lines, target_of


@pytest.fixture(scope="module")
def relative(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy model with weights a little off, as another run would have left them."""
    folder = tmp_path_factory.mktemp("relative") / "model"
    shutil.copytree(model, folder)
    loaded = model_folder.load_model(folder)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for weight in loaded.model.parameters():
            noise = torch.randn(weight.shape, generator=generator)
            weight.add_(0.3 * weight.std(correction=0) * noise)
    model_folder.save_weights(folder, loaded.model)
    return folder


@pytest.fixture(scope="module")
def other_shape(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tokenizer of the toy model, another architecture, and first weights."""
    folder = tmp_path_factory.mktemp("other") / "model"
    shutil.copytree(model, folder)
    loaded = model_folder.load_model(folder)
    shape = dataclasses.replace(
        loaded.config.model, d_model=32, decoder_layers=1, positions="learned", max_positions=64
    )
    config = dataclasses.replace(loaded.config, model=shape)
    with torch.random.fork_rng():
        torch.manual_seed(5)
        fresh = model_folder.build_model(config, loaded.tokenizers)
    model_folder.write_config(folder, config)
    model_folder.save_weights(folder, fresh)
    return folder


def changed(folder: Path, target: Path, old: str, new: str) -> Path:
    """A copy of a model folder with a line of its settings changed."""
    shutil.copytree(folder, target)
    text = (target / "config.toml").read_text("utf-8")
    assert old in text
    (target / "config.toml").write_text(text.replace(old, new), "utf-8")
    return target


def write_stranger(folder: Path, like: model_folder.LoadedModel, pair: TokenizerPair) -> None:
    """A folder with these tokenizers, settings as in `like`, and first weights."""
    folder.mkdir()
    config = dataclasses.replace(
        like.config,
        model=dataclasses.replace(like.config.model, tied="none"),
        tokenizer=dataclasses.replace(like.config.tokenizer, joint=pair.is_joint),
    )
    pair.save(folder)
    model_folder.write_config(folder, config)
    model_folder.save_weights(folder, model_folder.build_model(config, pair))


def test_a_folder_named_twice_is_the_model_itself(model: Path, toy: Toy) -> None:
    stdin = toy.test.source.read_bytes()
    alone = run_here("translate", "-m", model, "--json", stdin=stdin).check()
    twice = run_here("translate", "-m", model, "-m", model, "--json", stdin=stdin).check()
    for one, other in zip(alone.lines, twice.lines, strict=True):
        ours, theirs = (json.loads(line)["hypotheses"] for line in (one, other))
        assert [each["text"] for each in theirs] == [each["text"] for each in ours]
        assert [each["score"] for each in theirs] == pytest.approx(
            [each["score"] for each in ours], abs=1e-5
        )


def test_several_models_translate_evaluate_and_score_as_one(
    model: Path, relative: Path, other_shape: Path, toy: Toy, tmp_path: Path
) -> None:
    """The score that translating reported is that of `mt score`, and that of the Python API."""
    together = ("-m", model, "-m", relative, "-m", other_shape)
    stdin = toy.test.source.read_bytes()
    options = ("--json", "--beam", "4", "--n-best", "4")
    run = run_here("translate", *together, *options, stdin=stdin).check()
    records = [json.loads(line) for line in run.lines]
    right = sum(r["hypotheses"][0]["text"] == target_of(r["source"]) for r in records)
    assert right >= 10, "two that know the language outvote one that does not"
    listed = [
        (record["source"], hypothesis["text"], hypothesis["score"])
        for record in records
        for hypothesis in record["hypotheses"]
        if hypothesis["same_tokens"]
    ]
    assert len(listed) > len(records)
    (tmp_path / "source").write_bytes(as_bytes([source for source, _, _ in listed]))
    (tmp_path / "target").write_bytes(as_bytes([text for _, text, _ in listed]))
    files = (tmp_path / "source", tmp_path / "target")
    scores = [float(line) for line in run_here("score", *together, *files).check().lines]
    assert scores == pytest.approx([score for _, _, score in listed], abs=1e-4)
    alone = [float(line) for line in run_here("score", "-m", model, *files).check().lines]
    assert alone != pytest.approx(scores, abs=1e-2)
    in_python = Scorer.load(model, relative, other_shape).score(
        (source, text) for source, text, _ in listed
    )
    assert [each.scored.score for each in in_python] == pytest.approx(scores, abs=1e-4)
    texts = [record["hypotheses"][0]["text"] for record in records]
    search = dataclasses.replace(model_folder.read_config(model).search, beam=4)
    as_asked = TranslationOptions(search=search, batch_size=3)
    translator = Translator.load(model, relative, other_shape, options=as_asked)
    assert [each.text for each in translator.translate(as_lines(stdin))] == texts
    (tmp_path / "hyp").write_bytes(as_bytes(texts))
    evaluated = run_here("eval", *together, "--beam", "4", *toy.test.arguments).check()
    assert evaluated.out == run_here("eval", "--hyp", tmp_path / "hyp", toy.test.target).out


def test_tokens_and_alignments_of_an_ensemble(model: Path, other_shape: Path, toy: Toy) -> None:
    """Prices are those of all, alignments those of the first, as `mt score` gives them."""
    together = ("-m", model, "-m", other_shape)
    stdin = as_bytes(as_lines(toy.test.source.read_bytes())[:8])
    run = run_here("translate", *together, "--json", "--alignment", stdin=stdin).check()
    for record in map(json.loads, run.lines):
        (best,) = record["hypotheses"]
        values = [token["log_probability"] for token in best["tokens"]]
        assert sum(values) / len(values) == pytest.approx(best["score"], abs=1e-4)
    ours = run_here("score", *together, *toy.test.arguments, "--alignment").check()
    assert ours.out == run_here("score", "-m", model, *toy.test.arguments, "--alignment").out


def test_settings_are_those_of_the_first_folder(
    model: Path, relative: Path, toy: Toy, tmp_path: Path
) -> None:
    greedy = changed(relative, tmp_path / "greedy", "beam = 5", "beam = 1")
    stdin = toy.test.source.read_bytes()

    def run(*arguments: str | Path) -> bytes:
        return run_here("translate", *arguments, "--json", stdin=stdin).check().out

    assert run("-m", model, "-m", greedy) == run("-m", model, "-m", relative)
    assert run("-m", greedy, "-m", model) == run("-m", relative, "-m", model, "--beam", "1")


def test_folders_with_other_tokenizers_are_refused(model: Path, toy: Toy, tmp_path: Path) -> None:
    """Which tokenizer differs, and in which folders, in one line."""
    loaded = model_folder.load_model(model)
    one = loaded.tokenizers.source
    other = train_subwords(as_lines(toy.train.target.read_bytes()), kind="bpe", vocab_size=300)
    for number, (pair, which) in enumerate(
        [
            (TokenizerPair(source=one, target=other), "target"),
            (TokenizerPair(source=other, target=one), "source"),
            (TokenizerPair(source=other, target=other), "source and target"),
        ]
    ):
        folder = tmp_path / f"other{number}"
        write_stranger(folder, loaded, pair)
        for command in ("translate", "score", "eval"):
            files = () if command == "translate" else toy.test.arguments
            run = run_here(command, "-m", model, "-m", folder, *files, stdin=b"zzz\n")
            message = run.check_refusal()
            assert f"{model} and {folder} cannot translate together" in message
            assert f"their {which} tokenizers differ" in message


def test_a_joint_tokenizer_is_as_good_as_the_same_on_both_sides(
    model: Path, toy: Toy, tmp_path: Path
) -> None:
    loaded = model_folder.load_model(model)
    one = loaded.tokenizers.source
    pair = TokenizerPair(source=one, target=SubwordTokenizer(one.model))
    write_stranger(tmp_path / "apart", loaded, pair)
    stdin = toy.test.source.read_bytes()
    run = run_here("translate", "-m", model, "-m", tmp_path / "apart", stdin=stdin).check()
    assert len(run.lines) == len(as_lines(stdin))


def test_models_of_other_languages_are_refused_and_regions_are_not(
    model: Path, tmp_path: Path
) -> None:
    old = 'target_language = "tgt"'
    first = changed(model, tmp_path / "first", old, 'target_language = "pt"')
    other = changed(model, tmp_path / "other", old, 'target_language = "de"')
    message = run_here("translate", "-m", first, "-m", other, stdin=b"zzz\n").check_refusal()
    assert "one translates into pt, the other into de" in message
    region = changed(model, tmp_path / "region", old, 'target_language = "por_Latn"')
    run_here("translate", "-m", first, "-m", region, stdin=b"zzz\n").check()
    unknown = changed(model, tmp_path / "unknown", old, 'target_language = ""')
    run_here("translate", "-m", first, "-m", unknown, stdin=b"zzz\n").check()


def test_a_later_folder_that_is_no_model_is_refused(model: Path, tmp_path: Path) -> None:
    run = run_here("translate", "-m", model, "-m", tmp_path / "nowhere", stdin=b"zzz\n")
    assert f"{tmp_path / 'nowhere'} is not a model folder" in run.check_refusal()


def test_no_model_at_all_is_a_fault_of_the_command_line() -> None:
    for command in ("translate", "score"):
        files = () if command == "translate" else ("a", "b")
        assert "Missing option '-m'" in run_here(command, *files).check(2).err


# Several devices


def test_devices_that_are_not_there_are_refused(
    model: Path, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    for count in ("2", "all"):
        for command in ("translate", "eval"):
            files = () if command == "translate" else toy.test.arguments
            options = ("-m", model, "--device", "cpu", "--devices", count)
            message = run_here(command, *options, *files).check_refusal(status=2)
            assert f"--devices {count}: several devices are for CUDA" in message
    monkeypatch.setattr(device, "choose_device", lambda name: torch.device("cuda", 0))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    message = run_here("translate", "-m", model, "--devices", "3").check_refusal(status=2)
    assert "--devices 3: there are 2 CUDA devices" in message
    assert [each.index for each in device.choose_devices("cuda", 2)] == [0, 1]
    assert [each.index for each in device.choose_devices("cuda", None)] == [0, 1]
    assert [each.index for each in device.choose_devices("cuda", 1)] == [0]
    with pytest.raises(ConfigError, match="there are 2 CUDA devices"):
        device.choose_devices("cuda", 5)


@pytest.mark.parametrize("count", ["0", "-1", "two", "1.5", ""])
def test_a_number_of_devices_is_one_or_more(count: str, model: Path) -> None:
    run = run_here("translate", "-m", model, f"--devices={count}").check(2)
    assert "neither a number from 1 on nor all" in run.err


def test_one_device_is_what_there_is_without_the_option(model: Path, toy: Toy) -> None:
    stdin = toy.test.source.read_bytes()
    one = run_here("translate", "-m", model, "--devices", "1", stdin=stdin).check()
    assert one.out == run_here("translate", "-m", model, stdin=stdin).check().out


@pytest.mark.gpu
def test_all_gpus_give_what_one_gives(model: Path, relative: Path, toy: Toy) -> None:
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two CUDA devices")
    stdin = toy.test.source.read_bytes()
    options = ("-m", model, "-m", relative, "--device", "cuda", "--batch-size", "4")
    one = run_here("translate", *options, stdin=stdin).check().lines
    all_of_them = run_here("translate", *options, "--devices", "all", stdin=stdin).check().lines
    assert len(all_of_them) == len(one)
    assert sum(a == b for a, b in zip(one, all_of_them, strict=True)) >= len(one) - 1
