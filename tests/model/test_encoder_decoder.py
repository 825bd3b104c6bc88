"""Invariants of the whole model, in every form it takes."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor

from mt.config import ModelConfig
from mt.model.encoder_decoder import EncoderDecoder, count_parameters

FORMS = list(
    itertools.product(
        ["sinusoidal", "learned"], ["pre", "post"], ["relu", "gelu"], ["all", "target", "none"]
    )
)
VOCABULARY = 11


@pytest.fixture(params=FORMS, ids=lambda form: "-".join(form))
def model(request: pytest.FixtureRequest) -> EncoderDecoder:
    positions, norm, activation, tied = request.param
    torch.manual_seed(0)
    config = ModelConfig(
        d_model=16,
        d_inner=32,
        heads=4,
        encoder_layers=2,
        decoder_layers=2,
        dropout=0.1,
        attention_dropout=0.1,
        activation_dropout=0.1,
        positions=positions,
        max_positions=64,
        norm=norm,
        activation=activation,
        tied=tied,
    )
    source_vocab = VOCABULARY if tied == "all" else VOCABULARY + 2
    model = EncoderDecoder(config, source_vocab=source_vocab, target_vocab=VOCABULARY)
    with torch.no_grad():
        for parameter in model.parameters():  # biases too: zeros would hide mistakes
            if parameter.dim() == 1:
                parameter.add_(0.1 * torch.randn_like(parameter))
    return model.double().eval()


def source_of(*lengths: int) -> tuple[Tensor, Tensor]:
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    torch.manual_seed(1)
    ids = torch.randint(4, VOCABULARY, mask.shape).masked_fill(~mask, 0)
    return ids, mask


def logits_of(model: EncoderDecoder, source: Tensor, mask: Tensor, target: Tensor) -> Tensor:
    hidden: Tensor = model(source, mask, target)
    return hidden @ model.output_weight.T


def assert_close(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-10)


def test_cached_stepping_equals_the_full_pass_at_every_position(model: EncoderDecoder) -> None:
    source, mask = source_of(7, 4)
    target = torch.randint(4, VOCABULARY, (2, 9))
    expected = logits_of(model, source, mask, target)
    state = model.start(source, mask)
    for t in range(9):
        logits, state = model.step(target[:, t], state)
        assert_close(logits, expected[:, t])


def test_asking_for_attention_changes_no_hidden_vector(model: EncoderDecoder) -> None:
    source, mask = source_of(7, 4)
    target = torch.randint(4, VOCABULARY, (2, 5))
    hidden, weights = model.forward_with_attention(source, mask, target, layers=[0, 1])
    assert_close(hidden, model(source, mask, target))
    assert list(weights) == [0, 1]
    for each in weights.values():
        assert each.shape == (2, 5, 7)
        assert_close(each.sum(dim=2), torch.ones(2, 5, dtype=torch.float64))
        assert bool((each[1, :, 4:] == 0).all()), "padding is not attended to"
    assert not torch.allclose(weights[0], weights[1])
    with pytest.raises(ValueError, match="2 layers, none is 2"):
        model.forward_with_attention(source, mask, target, layers=[2])


def test_a_later_target_token_changes_nothing_earlier(model: EncoderDecoder) -> None:
    source, mask = source_of(5, 5)
    target = torch.randint(4, VOCABULARY, (2, 6))
    other = target.clone()
    other[:, 4:] = (other[:, 4:] + 1) % VOCABULARY
    before, after = (logits_of(model, source, mask, t) for t in (target, other))
    assert_close(before[:, :4], after[:, :4])
    assert not torch.allclose(before[:, 4:], after[:, 4:])


def test_padding_and_company_change_no_logit(model: EncoderDecoder) -> None:
    source, mask = source_of(8, 3)
    target = torch.randint(4, VOCABULARY, (2, 5))
    together = logits_of(model, source, mask, target)
    alone = logits_of(model, source[1:, :3], mask[1:, :3], target[1:])
    assert_close(together[1:], alone)
    wider = torch.cat((source, torch.zeros(2, 6, dtype=torch.long)), dim=1)
    wider_mask = torch.cat((mask, torch.zeros(2, 6, dtype=torch.bool)), dim=1)
    assert_close(logits_of(model, wider, wider_mask, target), together)


@pytest.mark.parametrize(
    "rows", [[0, 0, 1, 1], [1, 0], [1], [2, 0, 1], [0, 1, 1], [1, 1, 1, 0, 2, 2]]
)
def test_select_then_step_equals_step_then_select(model: EncoderDecoder, rows: list[int]) -> None:
    source, mask = source_of(6, 4, 5)
    state = model.start(source, mask)
    for _ in range(2):
        _, state = model.step(torch.randint(4, VOCABULARY, (3,)), state)
    tokens = torch.randint(4, VOCABULARY, (3,))
    chosen = torch.tensor(rows)
    stepped, after = model.step(tokens, state)
    selected, selected_after = model.step(tokens[chosen], state.select(chosen))
    assert_close(selected, stepped[chosen])
    more = torch.randint(4, VOCABULARY, (3,))
    assert_close(
        model.step(more[chosen], selected_after)[0],
        model.step(more[chosen], after.select(chosen))[0],
    )


def test_selecting_twice_equals_selecting_once(model: EncoderDecoder) -> None:
    source, mask = source_of(6, 4, 5)
    state = model.start(source, mask)
    _, state = model.step(torch.tensor([4, 5, 6]), state)
    first, second = torch.tensor([0, 0, 1, 1, 2, 2]), torch.tensor([3, 2, 5, 5])
    tokens = torch.tensor([7, 8, 9, 4])
    twice, _ = model.step(tokens, state.select(first).select(second))
    once, _ = model.step(tokens, state.select(first[second]))
    assert_close(twice, once)


@torch.no_grad()
def test_a_beam_that_moves_for_long_has_the_logits_of_its_prefixes(model: EncoderDecoder) -> None:
    """Reordered, narrowed to some sentences, joined by others: each row is its own past."""
    draw = torch.Generator().manual_seed(4)
    source, mask = source_of(7, 4, 6)
    others, other_mask = source_of(9, 5)
    state = model.start(source, mask)
    prefixes = torch.zeros(3, 1, 0, dtype=torch.long)  # (B, K, T), what each row was fed
    places = [(source, mask, b) for b in range(3)]
    starts = [0, 0, 0]

    def fed(tokens: Tensor) -> None:
        nonlocal prefixes, state
        logits, state = model.step(tokens.flatten(), state)
        prefixes = torch.cat((prefixes, tokens[:, :, None]), dim=2)
        for b, (ids, its_mask, place) in enumerate(places):
            for k in range(tokens.size(1)):
                target = prefixes[b, k, starts[b] :][None]
                expected = logits_of(model, ids[[place]], its_mask[[place]], target)[0, -1]
                assert_close(logits.view(*tokens.shape, -1)[b, k], expected)

    def moved(rows: Tensor, kept: list[int]) -> None:
        nonlocal prefixes, state, places, starts
        state = state.select(rows)
        prefixes = prefixes.flatten(0, 1)[rows]
        places, starts = [places[b] for b in kept], [starts[b] for b in kept]

    fed(torch.randint(4, VOCABULARY, (3, 1), generator=draw))
    moved(torch.arange(3)[:, None].expand(3, 4), [0, 1, 2])
    for step in range(24):
        size = len(places)
        fed(torch.randint(4, VOCABULARY, (size, 4), generator=draw))
        rows = torch.arange(size)[:, None] * 4 + torch.randint(0, 4, (size, 4), generator=draw)
        kept = list(range(size))
        if step == 9:
            kept = [0, 2]
        moved(rows[kept], kept)
        if step in (4, 15):
            late = model.start(others, other_mask)
            tokens = torch.randint(4, VOCABULARY, (2, 1), generator=draw)
            _, late = model.step(tokens[:, 0], late)
            late = late.select(torch.arange(2)[:, None].expand(2, 4))
            state = state.joined(late)
            length = prefixes.size(2)
            filler = torch.zeros(2, 4, length - 1, dtype=torch.long)
            newest = torch.cat((filler, tokens[:, :, None].expand(2, 4, 1)), dim=2)
            prefixes = torch.cat((prefixes, newest))
            places = places + [(others, other_mask, b) for b in range(2)]
            starts = starts + [length - 1] * 2


def test_dropout_acts_in_training_and_not_in_evaluation(model: EncoderDecoder) -> None:
    source, mask = source_of(5)
    target = torch.randint(4, VOCABULARY, (1, 4))
    assert_close(model(source, mask, target), model(source, mask, target))
    model.train()
    assert not torch.allclose(model(source, mask, target), model(source, mask, target))


def test_tied_matrices_are_one(model: EncoderDecoder) -> None:
    tied = model.config.tied
    assert (model.source_embedding is model.target_embedding) == (tied == "all")
    assert (model.output_weight is model.target_embedding.weight) == (tied != "none")
    names = [name for name, _ in model.named_parameters()]
    matrices = [name for name in names if "embedding" in name or name.startswith("output.")]
    assert len(matrices) == {"all": 1, "target": 2, "none": 3}[tied]


def test_every_parameter_gets_a_gradient(model: EncoderDecoder) -> None:
    source, mask = source_of(5, 5)
    logits_of(model, source, mask, torch.randint(0, VOCABULARY, (2, 6))).logsumexp(
        -1
    ).sum().backward()  # type: ignore[no-untyped-call]
    assert all(p.grad is not None and bool(p.grad.ne(0).any()) for p in model.parameters())


def test_tying_needs_equal_vocabularies() -> None:
    with pytest.raises(ValueError, match="equal vocabularies"):
        EncoderDecoder(ModelConfig(tied="all"), source_vocab=5, target_vocab=6)


def test_the_tiny_preset_has_the_parameters_its_shape_implies() -> None:
    width, inner, vocabulary = 128, 256, 1000
    attention = 4 * (width * width + width)
    feed_forward = 2 * width * inner + inner + width
    norm = 2 * width
    encoder = 4 * (attention + feed_forward + 2 * norm) + norm
    decoder = 4 * (2 * attention + feed_forward + 3 * norm) + norm
    model = EncoderDecoder(ModelConfig(), source_vocab=vocabulary, target_vocab=vocabulary)
    assert count_parameters(model) == vocabulary * width + encoder + decoder
