"""Settings: TOML in and out, and messages that name what was meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.config import (
    Config,
    CorpusConfig,
    ModelConfig,
    SamplingConfig,
    SearchConfig,
    TokenizerConfig,
    TrainingConfig,
)
from mt.config.presets import PRESETS, preset, preset_for, vocab_size_for
from mt.config.toml import from_toml, parse_assignment, read_config_file, to_toml
from mt.errors import ConfigError

CONFIGS = st.builds(
    Config,
    source_language=st.text(st.characters(exclude_categories=["Cs"])),
    corpus=st.builds(CorpusConfig, max_length=st.integers(1, 10**6)),
    tokenizer=st.builds(
        TokenizerConfig,
        kind=st.sampled_from(["unigram", "bpe"]),
        vocab_size=st.none() | st.integers(1, 10**6),
    ),
    model=st.builds(ModelConfig, dropout=st.floats(0, 0.99)),
    training=st.builds(TrainingConfig, peak_rate=st.floats(1e-9, 1.0), max_minutes=st.none()),
    search=st.builds(SearchConfig, alpha=st.floats(0, 10)),
)


@given(CONFIGS)
def test_settings_survive_toml(config: Config) -> None:
    values, others = from_toml(to_toml(config, extra={"format_version": 1}), name="x")
    assert Config().with_values(values) == config
    assert others == {"format_version": 1}


@pytest.mark.parametrize("name", PRESETS)
def test_presets_survive_toml(name: str) -> None:
    values, _ = from_toml(to_toml(preset(name)), name="x")
    assert Config().with_values(values) == preset(name)


def test_tiny_is_the_model_of_the_small_corpora_papers() -> None:
    model = preset("tiny").model
    assert (model.d_model, model.d_inner, model.encoder_layers, model.decoder_layers) == (
        128,
        256,
        4,
        4,
    )
    assert (model.heads, model.dropout) == (4, 0.3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model.dropuot=0.1", "no setting 'model.dropuot'. Did you mean 'model.dropout'?"),
        ("modle.dropout=0.1", "no setting 'modle'. Did you mean 'model'?"),
        ("dropout=0.1", "no setting 'dropout'. Did you mean 'model.dropout'?"),
        ("model.heads=two", "model.heads must be of type int, but is 'two'"),
        ("model.heads=2.5", "model.heads must be of type int, but is 2.5"),
        ("model.norm=sandwich", "model.norm must be one of pre, post, but is 'sandwich'"),
        ("model.dropout", "not of the form section.key=value"),
        ("tokenizer.joint=1", "tokenizer.joint must be of type bool, but is 1"),
    ],
)
def test_a_wrong_setting_is_named_with_what_was_meant(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_assignment(text)
    assert message in str(caught.value)


def test_assignments_take_toml_values_and_bare_words() -> None:
    assert parse_assignment("model.norm=post") == {"model": {"norm": "post"}}
    assert parse_assignment("model.dropout=0") == {"model": {"dropout": 0.0}}
    assert parse_assignment("tokenizer.joint=false") == {"tokenizer": {"joint": False}}
    assert parse_assignment('source_language="de"') == {"": {"source_language": "de"}}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"model": {"heads": 3}}, "must be a multiple of model.heads"),
        ({"model": {"dropout": 1.0}}, "must lie in"),
        ({"model": {"key_value_heads": 3}}, r"\(4\) must be a multiple of .*key_value_heads \(3\)"),
        ({"model": {"key_value_heads": 0}}, "must be a multiple of model.key_value_heads"),
        (
            {"model": {"positions": "rotary", "d_model": 12}},
            "heads of even width, but model.d_model / model.heads is 3",
        ),
        ({"search": {"n_best": 6}}, "must lie between 1 and the beam"),
        ({"tokenizer": {"joint": False}}, "needs one joint tokenizer"),
        ({"training": {"batch_tokens": 0}}, "must be at least 1"),
    ],
)
def test_settings_that_cannot_be_are_refused(
    values: dict[str, dict[str, object]], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        Config().with_values(values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"samples": 0}, "sampling.samples must be at least 1: 0"),
        ({"temperature": 0.0}, "sampling.temperature must be at least 0.001 and finite: 0.0"),
        ({"temperature": float("inf")}, "sampling.temperature must be at least 0.001 and finite"),
        ({"temperature": float("nan")}, "sampling.temperature must be at least 0.001 and finite"),
        ({"top_k": 0}, "sampling.top_k must be at least 1: 0"),
        ({"top_p": 0.0}, r"sampling.top_p must lie in \(0, 1\]: 0.0"),
        ({"top_p": float("nan")}, r"sampling.top_p must lie in \(0, 1\]: nan"),
        ({"seed": -1}, "sampling.seed must not be negative: -1"),
    ],
)
def test_samples_that_cannot_be_drawn_are_refused(values: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        SamplingConfig(**values)  # type: ignore[arg-type]


def test_a_config_file_is_read_and_its_faults_are_named(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text("[model]\nheads = 2\n")
    assert read_config_file(path)["model"] == {"heads": 2}
    for text in ("[model]\nhead = 2\n", "[model\n", "format_version = 1\n"):
        path.write_text(text)
        with pytest.raises(ConfigError, match=r"c\.toml"):
            read_config_file(path)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_config_file(tmp_path / "none.toml")


def test_sizes_never_fall_as_the_corpus_grows() -> None:
    counts = [10**k for k in range(1, 9)]
    sizes = [vocab_size_for(n) for n in counts]
    assert sizes == sorted(sizes)
    order = list(PRESETS)  # those of 2017 come last and are never chosen
    presets = [order.index(preset_for(n)) for n in counts]
    assert presets == sorted(presets)
