"""A model arranged for search says what the model itself says, in every form it takes."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from mt.model.inference import attention as search_attention
from mt.model.inference.search_model import SearchModel
from mt.model.translation_model import TranslationModel
from tests.model.forms import (
    FORMS,
    VOCABULARY,
    assert_close,
    logits_of,
    make_model,
    name_of,
    source_of,
)


@pytest.fixture(params=FORMS, ids=name_of)
def model(request: pytest.FixtureRequest) -> TranslationModel:
    return make_model(request.param)


@pytest.fixture
def search(model: TranslationModel) -> SearchModel:
    return SearchModel(model)


def test_cached_stepping_equals_the_full_pass_at_every_position(
    model: TranslationModel, search: SearchModel
) -> None:
    source, mask = source_of(7, 4)
    target = torch.randint(4, VOCABULARY, (2, 9))
    expected = logits_of(model, source, mask, target)
    state = search.start(source, mask)
    for t in range(9):
        logits, state = search.step(target[:, t], state)
        assert_close(logits, expected[:, t])


def test_the_fused_attention_of_gpus_steps_as_that_of_cpus(
    model: TranslationModel, search: SearchModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forced here, where torch has the same operator: padding, positions and shared heads count."""
    source, mask = source_of(7, 4)
    target = torch.randint(4, VOCABULARY, (2, 5))
    expected = logits_of(model, source, mask, target)
    calls: list[Tensor] = []

    def force(x: Tensor) -> bool:
        calls.append(x)
        return True

    monkeypatch.setattr(search_attention, "has_fused_kernels", force)
    state = search.start(source, mask)
    for t in range(5):
        logits, state = search.step(target[:, t], state)
        assert_close(logits, expected[:, t])
    assert calls


@pytest.mark.parametrize(
    "rows", [[0, 0, 1, 1], [1, 0], [1], [2, 0, 1], [0, 1, 1], [1, 1, 1, 0, 2, 2]]
)
def test_select_then_step_equals_step_then_select(search: SearchModel, rows: list[int]) -> None:
    source, mask = source_of(6, 4, 5)
    state = search.start(source, mask)
    for _ in range(2):
        _, state = search.step(torch.randint(4, VOCABULARY, (3,)), state)
    tokens = torch.randint(4, VOCABULARY, (3,))
    chosen = torch.tensor(rows)
    stepped, after = search.step(tokens, state)
    selected, selected_after = search.step(tokens[chosen], state.select(chosen))
    assert_close(selected, stepped[chosen])
    more = torch.randint(4, VOCABULARY, (3,))
    assert_close(
        search.step(more[chosen], selected_after)[0],
        search.step(more[chosen], after.select(chosen))[0],
    )


def test_selecting_twice_equals_selecting_once(search: SearchModel) -> None:
    source, mask = source_of(6, 4, 5)
    state = search.start(source, mask)
    _, state = search.step(torch.tensor([4, 5, 6]), state)
    first, second = torch.tensor([0, 0, 1, 1, 2, 2]), torch.tensor([3, 2, 5, 5])
    tokens = torch.tensor([7, 8, 9, 4])
    twice, _ = search.step(tokens, state.select(first).select(second))
    once, _ = search.step(tokens, state.select(first[second]))
    assert_close(twice, once)


@torch.no_grad()
def test_a_beam_that_moves_for_long_has_the_logits_of_its_prefixes(
    model: TranslationModel, search: SearchModel
) -> None:
    """Reordered, narrowed to some sentences, joined by others: each row is its own past."""
    draw = torch.Generator().manual_seed(4)
    source, mask = source_of(7, 4, 6)
    others, other_mask = source_of(9, 5)
    state = search.start(source, mask)
    prefixes = torch.zeros(3, 1, 0, dtype=torch.long)  # (B, K, T), what each row was fed
    sentences = [(source, mask, b) for b in range(3)]
    starts = [0, 0, 0]

    def fed(tokens: Tensor) -> None:
        nonlocal prefixes, state
        logits, state = search.step(tokens.flatten(), state)
        prefixes = torch.cat((prefixes, tokens[:, :, None]), dim=2)
        for b, (ids, its_mask, row) in enumerate(sentences):
            rows = [row] * tokens.size(1)
            target = prefixes[b, :, starts[b] :]
            expected = logits_of(model, ids[rows], its_mask[rows], target)[:, -1]
            assert_close(logits.view(*tokens.shape, -1)[b], expected)

    def moved(rows: Tensor, kept: list[int]) -> None:
        nonlocal prefixes, state, sentences, starts
        state = state.select(rows)
        prefixes = prefixes.flatten(0, 1)[rows]
        sentences, starts = [sentences[b] for b in kept], [starts[b] for b in kept]

    fed(torch.randint(4, VOCABULARY, (3, 1), generator=draw))
    moved(torch.arange(3)[:, None].expand(3, 4), [0, 1, 2])
    for step in range(24):
        size = len(sentences)
        fed(torch.randint(4, VOCABULARY, (size, 4), generator=draw))
        rows = torch.arange(size)[:, None] * 4 + torch.randint(0, 4, (size, 4), generator=draw)
        kept = list(range(size))
        if step == 9:
            kept = [0, 2]
        moved(rows[kept], kept)
        if step in (4, 15):
            late = search.start(others, other_mask)
            tokens = torch.randint(4, VOCABULARY, (2, 1), generator=draw)
            _, late = search.step(tokens[:, 0], late)
            late = late.select(torch.arange(2)[:, None].expand(2, 4))
            state = state.joined(late)
            length = prefixes.size(2)
            filler = torch.zeros(2, 4, length - 1, dtype=torch.long)
            newest = torch.cat((filler, tokens[:, :, None].expand(2, 4, 1)), dim=2)
            prefixes = torch.cat((prefixes, newest))
            sentences = sentences + [(others, other_mask, b) for b in range(2)]
            starts = starts + [length - 1] * 2
