"""Settings that go well together, by the size of the model, and sizes that fit the corpus."""

from __future__ import annotations

from dataclasses import replace

from mt.config import Architecture, Config, ModelConfig, TrainingConfig
from mt.errors import ConfigError


def tiny_2017() -> Config:
    """`tiny` in the form of Vaswani et al. 2017 but for pre-norm, trained by AdamW."""
    return Config(preset="tiny-2017", model=ModelConfig(), training=TrainingConfig())


def small_2017() -> Config:
    """`small` in the form of Vaswani et al. 2017 but for pre-norm, trained by AdamW."""
    return Config(
        preset="small-2017",
        model=ModelConfig(
            d_model=256, d_inner=1024, encoder_layers=6, decoder_layers=6, heads=4, dropout=0.2
        ),
        training=TrainingConfig(batch_tokens=4096, peak_rate=2e-3, warmup_updates=2000),
    )


def base_2017() -> Config:
    """The base model of Vaswani et al. 2017, about 60M parameters."""
    return Config(
        preset="base-2017",
        model=ModelConfig(
            d_model=512, d_inner=2048, encoder_layers=6, decoder_layers=6, heads=8, dropout=0.1
        ),
        training=TrainingConfig(
            batch_tokens=8192, accumulate=3, peak_rate=7e-4, warmup_updates=4000
        ),
    )


def big_2017() -> Config:
    """The big model of Vaswani et al. 2017, about 210M parameters."""
    return Config(
        preset="big-2017",
        model=ModelConfig(
            d_model=1024, d_inner=4096, encoder_layers=6, decoder_layers=6, heads=16, dropout=0.3
        ),
        training=TrainingConfig(
            batch_tokens=8192, accumulate=4, peak_rate=5e-4, warmup_updates=4000
        ),
    )


def _renewed(config: Config, name: str, *, peak_rate: float) -> Config:
    """The sizes of a preset of 2017 in the form that learns most in its time (docs/log.md)."""
    return replace(
        config,
        preset=name,
        model=replace(config.model, positions="rotary", initialisation="depth"),
        training=replace(
            config.training,
            optimizer="muon",
            peak_rate=peak_rate,
            cooldown=0.4,
            dropout_epochs=20.0,
        ),
    )


def tiny() -> Config:
    """About 2.5M parameters: up to 50,000 pairs, and anything on a small CPU."""
    return _renewed(tiny_2017(), "tiny", peak_rate=2e-2)


def small() -> Config:
    """About 12M parameters: up to half a million pairs."""
    return _renewed(small_2017(), "small", peak_rate=1.4e-2)


def _fast(config: Config, name: str, *, encoder_layers: int = 12) -> Config:
    """The same with a deep encoder and one layer of a decoder: for translating fast.

    The encoder reads a sentence at once, the decoder works token by token (Kasai et al. 2021).
    """
    model = replace(config.model, encoder_layers=encoder_layers, decoder_layers=1)
    return replace(config, preset=name, model=model)


def fast_tiny() -> Config:
    """In the form of `fast`, a little smaller than `tiny`: more layers would cost its speed."""
    return _fast(tiny(), "fast-tiny", encoder_layers=6)


def fast() -> Config:
    """As large as `small`, with a deep encoder and one layer of a decoder: for translating fast."""
    return _fast(small(), "fast")


def fast_base() -> Config:
    """As large as `base`, in the form of `fast`."""
    return _fast(base(), "fast-base")


def fast_big() -> Config:
    """As large as `big`, in the form of `fast`."""
    return _fast(big(), "fast-big")


def base() -> Config:
    """About 60M parameters: from a million pairs."""
    return _renewed(base_2017(), "base", peak_rate=1e-2)


def big() -> Config:
    """About 210M parameters."""
    return _renewed(big_2017(), "big", peak_rate=7e-3)


def marian() -> Config:
    """`base-2017` in the form that Marian's models have, which mt export can write for them."""
    base = base_2017()
    return replace(
        base,
        preset="marian",
        model=replace(
            base.model,
            sinusoids="halves",
            norm="post",
            activation="swish",
            output_bias=True,
            zero_start=True,
        ),
    )


PRESETS = {
    "tiny": tiny,
    "small": small,
    "fast-tiny": fast_tiny,
    "fast": fast,
    "fast-base": fast_base,
    "fast-big": fast_big,
    "base": base,
    "big": big,
    "tiny-2017": tiny_2017,
    "small-2017": small_2017,
    "base-2017": base_2017,
    "big-2017": big_2017,
    "marian": marian,
}


def preset(name: str, architecture: Architecture = "encoder-decoder") -> Config:
    """Return the settings of a preset by its name.

    A decoder-only model has the layers of both stacks in its one, and about a fifth fewer weights
    in them, since none attends to another sequence.
    """
    if name not in PRESETS:
        raise ConfigError(f"unknown preset {name!r}", hint=f"Choose one of {', '.join(PRESETS)}")
    config = PRESETS[name]()
    if architecture == "encoder-decoder":
        return config
    model = replace(
        config.model,
        architecture=architecture,
        encoder_layers=0,
        decoder_layers=config.model.encoder_layers + config.model.decoder_layers,
    )
    return replace(config, model=model)


def preset_for(num_pairs: int) -> str:
    """The name of the preset that fits a corpus: larger models overfit smaller corpora."""
    if num_pairs < 100_000:
        return "tiny"
    return "small" if num_pairs < 1_000_000 else "base"


def fast_preset_for(d_model: int) -> str:
    """The name of the preset in the form of `fast` for a student of a teacher of this width.

    That of the widest which is no wider, or the narrowest of all.
    """
    names = ("fast-tiny", "fast", "fast-base", "fast-big")
    fitting = [name for name in names if PRESETS[name]().model.d_model <= d_model]
    return fitting[-1] if fitting else names[0]


def vocab_size_for(num_pairs: int) -> int:
    """The number of pieces that fits a corpus of `num_pairs`.

    Small vocabularies do better on small corpora (Sennrich and Zhang 2019), but for runs of few
    epochs on long sentences they can be too small (docs/log.md); above a million pairs 32,000 is
    the field's custom.
    """
    for limit, size in (
        (2_000, 1_000),
        (5_000, 2_000),
        (60_000, 4_000),
        (300_000, 8_000),
    ):
        if num_pairs < limit:
            return size
    return 16_000 if num_pairs < 1_000_000 else 32_000
