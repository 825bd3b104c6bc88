"""What is kept of a pass over a pair: the weights of every head, and whose they are."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
import torch

from mt.config import Config, TokenizerConfig
from mt.errors import DataError
from mt.events import Event, Notice
from mt.model_folder.folder import LoadedModel, build_model
from mt.reporting.attention import attend_to_pair
from mt.reporting.heads import PATTERNS
from mt.text.symbols import learn_symbols
from mt.text.tokenizer_pair import TokenizerPair
from mt.translation.forced import force
from tests.reporting.models import SHAPE, SOURCE, TARGET, small_model, write_model


def test_every_head_of_every_layer_is_there_and_its_rows_sum_to_one() -> None:
    pair = attend_to_pair(small_model(), SOURCE, TARGET)
    num_source, num_target = len(pair.source_pieces), len(pair.predicted_pieces)
    shapes = {maps.kind: tuple(maps.weights.shape) for maps in pair.maps}
    assert shapes == {
        "cross": (3, 4, num_target, num_source),
        "encoder": (2, 4, num_source, num_source),
        "decoder": (3, 4, num_target, num_target),
    }
    for maps in pair.maps:
        assert (len(maps.queries), len(maps.keys)) == shapes[maps.kind][2:]
        sums = maps.weights.sum(dim=-1)
        torch.testing.assert_close(sums, torch.ones_like(sums))
        assert [len(layer) for layer in maps.profiles] == [4] * shapes[maps.kind][0]
        assert all(
            tuple(profile.weights) == PATTERNS[maps.kind]
            for layer in maps.profiles
            for profile in layer
        )
    assert not pair.maps[2].weights.triu(1).any(), "the decoder sees no later token"


def test_the_weights_are_those_of_forced_decoding() -> None:
    """Cross-attention against the mean over heads that alignments are made of."""
    loaded = small_model()
    pair = attend_to_pair(loaded, SOURCE, TARGET)
    encode = loaded.tokenizers.source.encode
    (forced,) = force(loaded.model, [(encode(SOURCE), encode(TARGET))], attention_of=range(3))
    assert pair.log_probabilities == forced.log_probabilities
    for layer, mean in forced.attention.items():
        torch.testing.assert_close(pair.maps[0].weights[layer].mean(dim=0), mean)


def test_tokens_stand_where_they_are_read_and_predicted() -> None:
    loaded = small_model()
    pair = attend_to_pair(loaded, f"  {SOURCE} ", TARGET)
    assert (pair.source, pair.target, pair.is_own) == (SOURCE, TARGET, False)
    assert pair.source_pieces[-1] == pair.predicted_pieces[-1] == "</s>"
    assert pair.fed_pieces == ("<s>", *pair.predicted_pieces[:-1])
    assert "".join(pair.source_pieces[:-1]).replace("▁", " ").strip() == SOURCE
    assert [(maps.queries, maps.keys) for maps in pair.maps] == [
        (pair.predicted_pieces, pair.source_pieces),
        (pair.source_pieces, pair.source_pieces),
        (pair.fed_pieces, pair.fed_pieces),
    ]


def test_tokens_of_a_search_are_taken_as_they_are() -> None:
    loaded = small_model()
    tokens = [ord("h") % 200 + 10, 300, 301]
    pair = attend_to_pair(loaded, SOURCE, "haus", target_tokens=tokens)
    assert pair.is_own
    assert list(pair.predicted_pieces[:-1]) == loaded.tokenizers.target.pieces(tokens)


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (" \u200b", "haus", "the source is blank"),
        ("haus", "\t", "the target is blank"),
        ("haus " * 9, "haus", "the source: .* tokens are more than the 7"),
        ("haus", "haus " * 9, "the target: .* tokens are more than the 7"),
    ],
)
def test_what_cannot_be_attended_to_is_refused(source: str, target: str, message: str) -> None:
    learned = dataclasses.replace(SHAPE, positions="learned", max_positions=8)
    with pytest.raises(DataError, match=message):
        attend_to_pair(small_model(learned), source, target)


def test_symbols_are_tokens_and_unknown_ones_are_told() -> None:
    symbols = learn_symbols(["view cart", "buy view"], vocab_size=10)
    tokenizers = TokenizerPair(source=symbols, target=symbols)
    config = Config(model=SHAPE, tokenizer=TokenizerConfig(kind="symbols"))
    model = build_model(config, tokenizers).eval()
    loaded = LoadedModel(config=config, tokenizers=tokenizers, model=model)
    events: list[Event] = []
    pair = attend_to_pair(loaded, "view new cart new", "buy", listener=events.append)
    assert pair.source_pieces == ("view", "<unk>", "cart", "<unk>", "</s>")
    text = "the source has symbols that the model does not know, read as <unk>: new"
    assert events == [Notice(text=text, is_warning=True)]


def test_the_example_of_the_page_on_inspecting_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "checkpoints").mkdir()
    write_model(tmp_path / "checkpoints" / "de-en")
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "inspecting.md").read_text("utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    exec(compile(example, "example", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 3 + 4 * (3 + 2 + 3)
    assert printed[0].startswith("cross (3, 4, ")
