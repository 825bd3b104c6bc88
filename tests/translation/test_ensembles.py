"""Several models translate and score as one, and several devices give what one gives."""

from __future__ import annotations

import dataclasses
import random
import threading
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from mt.config import Config, ModelConfig, SearchPrecision
from mt.errors import DataError, DeviceMemoryError
from mt.events import Event, LineSplit, Notice
from mt.model.encoder_decoder import EncoderDecoder
from mt.model.inference.kv_cache import DecoderState
from mt.model.inference.search_model import SearchModel
from mt.model_folder.folder import LoadedModel
from mt.text.subwords import train_subwords
from mt.text.tokenizer_pair import TokenizerPair
from mt.translation.options import TranslationOptions
from mt.translation.translation import Translation
from mt.translation.translator import Translator
from tests.translation.members import DEEP, SMALL, member, scorer_of
from tests.translation.random_models import WORDS, lines, tokenizers

CPU = torch.device("cpu")
LEARNED = dataclasses.replace(SMALL, positions="learned", max_positions=16, tied="none")


def translator_of(
    *members: LoadedModel,
    batch_size: int = 8,
    num_copies: int = 0,
    precision: SearchPrecision = "float32",
    workers: int | None = None,
    split: bool = True,
) -> tuple[Translator, list[Event]]:
    first, *others = members
    events: list[Event] = []
    translator = Translator(
        first.model,
        first.tokenizers,
        first.config,
        others=others,
        copies_on=[CPU] * num_copies,
        options=TranslationOptions(
            batch_size=batch_size, precision=precision, workers=workers, split=split
        ),
        listener=events.append,
    )
    return translator, events


def translated(*members: LoadedModel, batch_size: int = 8) -> list[Translation]:
    return list(translator_of(*members, batch_size=batch_size)[0].translate(lines()))


def tokens(found: Sequence[Translation]) -> list[list[tuple[int, ...]]]:
    return [[hypothesis.tokens for hypothesis in each.hypotheses] for each in found]


def scores(found: Sequence[Translation]) -> list[float]:
    return [hypothesis.score for each in found for hypothesis in each.hypotheses]


# Ensembles


@pytest.mark.parametrize("shape", [SMALL, DEEP])
def test_a_model_with_itself_is_that_model(shape: ModelConfig) -> None:
    one = member(1, shape, n_best=3)
    alone, twice = translated(one), translated(one, one)
    assert [each.text for each in twice] == [each.text for each in alone]
    assert tokens(twice) == tokens(alone)
    assert scores(twice) == pytest.approx(scores(alone), abs=1e-5)


@pytest.mark.parametrize("batch_size", [1, 64])
def test_the_rest_of_a_batch_changes_nothing(batch_size: int) -> None:
    """Models of other widths, depths and norms."""
    members = member(1, n_best=3), member(2, DEEP), member(3)
    expected = translated(*members)
    found = translated(*members, batch_size=batch_size)
    assert tokens(found) == tokens(expected)
    assert scores(found) == pytest.approx(scores(expected), abs=1e-5)
    backwards = list(translator_of(*members)[0].translate(lines()[::-1]))
    assert tokens(backwards[::-1]) == tokens(expected)


def test_the_order_of_members_changes_no_probability() -> None:
    one, other = member(1, n_best=3), member(2, DEEP, n_best=3)
    assert tokens(translated(one, other)) == tokens(translated(other, one))


def test_an_ensemble_is_none_of_its_members() -> None:
    one, other = member(1, n_best=3), member(2, n_best=3)
    both = tokens(translated(one, other))
    assert both != tokens(translated(one))
    assert both != tokens(translated(other))


@pytest.mark.parametrize(("penalty", "alpha"), [("none", 1.0), ("mean", 1.0), ("gnmt", 0.6)])
def test_the_score_of_search_is_that_of_the_scorer(penalty: str, alpha: float) -> None:
    members = member(1, n_best=3, length_penalty=penalty, alpha=alpha), member(2, DEEP), member(3)
    scorer = scorer_of(*members)
    num_other = 0
    for translation in translated(*members)[:20]:
        source = tokenizers().source.encode(translation.source)
        pairs = [(source, each.tokens) for each in translation.hypotheses]
        found = [each.score for each in scorer.score_tokens(pairs)]
        assert found == pytest.approx([each.score for each in translation.hypotheses], abs=1e-4)
        alone = [each.score for each in scorer_of(members[0]).score_tokens(pairs)]
        num_other += alone != pytest.approx(found, abs=1e-2)
    assert num_other, "the scores of the first member alone are others"


def test_alignments_are_those_of_the_first_member() -> None:
    first, other = member(1), member(2, DEEP)
    pairs = list(zip(lines()[:20], reversed(lines()[:20]), strict=True))
    alone = list(scorer_of(first).score(pairs, with_alignment=True))
    both = list(scorer_of(first, other).score(pairs, with_alignment=True))
    assert [each.scored.alignment for each in both] == [each.scored.alignment for each in alone]
    assert [each.scored.token_links for each in both] == [each.scored.token_links for each in alone]


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_each_member_has_narrow_products(precision: SearchPrecision) -> None:
    one = member(1, n_best=3)
    alone, _ = translator_of(one, precision=precision, batch_size=1)
    twice, _ = translator_of(one, one, precision=precision, batch_size=1)
    some = lines()[:15]
    expected, found = list(alone.translate(some)), list(twice.translate(some))
    assert tokens(found) == tokens(expected)
    assert scores(found) == pytest.approx(scores(expected), abs=1e-5)
    exact = list(translator_of(one, one, batch_size=1)[0].translate(some))
    assert scores(exact) != pytest.approx(scores(found), abs=1e-6)


def test_the_smallest_table_of_learned_positions_counts() -> None:
    members = member(1, max_length=500), member(2, LEARNED)
    long = " ".join(WORDS * 9)
    translator, events = translator_of(*members)
    list(translator.translate([long]))
    assert any(isinstance(event, LineSplit) and event.max_tokens == 15 for event in events)
    (short,) = translator_of(*members)[0].translate(["haus"])
    assert len(short.hypotheses[0].tokens) <= 15
    translator, _ = translator_of(*members, split=False)
    with pytest.raises(DataError, match=r"line 1: \d+ tokens are more than the 15"):
        list(translator.translate([long]))
    with pytest.raises(DataError, match=r"line 1: \d+ tokens are more than the 15"):
        list(scorer_of(*members).score([("haus", long)]))


def test_the_member_that_was_trained_on_the_shortest_sources_says_what_is_long() -> None:
    members = member(1, longest_source=40), member(2, longest_source=7)
    translator, events = translator_of(*members)
    list(translator.translate(["haus und katze, haus und katze; haus und katze"]))
    (event,) = events
    assert isinstance(event, LineSplit)
    assert event.max_tokens == 7
    translator, events = translator_of(*members, split=False)
    list(translator.translate(["haus und katze, haus und katze; haus und katze"]))
    (notice,) = events
    assert isinstance(notice, Notice)
    assert "what training went to (7)" in notice.text


def test_the_settings_are_those_of_the_first() -> None:
    greedy, wide = member(1, beam=1, n_best=1), member(2, beam=4, n_best=4)
    assert all(len(each.hypotheses) == 1 for each in translated(greedy, wide))
    assert any(len(each.hypotheses) > 1 for each in translated(wide, greedy))


def test_dropout_is_off_in_every_member() -> None:
    shape = dataclasses.replace(SMALL, dropout=0.5)
    members = member(1, shape), member(2, shape)
    expected = translated(*members)
    for each in members:
        each.model.train()
    assert tokens(translated(*members)) == tokens(expected)


def test_other_tokenizers_are_misuse() -> None:
    other = train_subwords(lines(), kind="bpe", vocab_size=290)
    pair = TokenizerPair(source=tokenizers().source, target=other)
    size = {"source_vocab": pair.source.vocab_size, "target_vocab": pair.target.vocab_size}
    shape = dataclasses.replace(SMALL, tied="none")
    stranger = LoadedModel(config=Config(), tokenizers=pair, model=EncoderDecoder(shape, **size))
    with pytest.raises(ValueError, match="their target tokenizers differ"):
        translator_of(member(1), stranger)
    with pytest.raises(ValueError, match="their target tokenizers differ"):
        scorer_of(member(1), stranger)


# Several devices


def seen_by_threads(monkeypatch: pytest.MonkeyPatch) -> dict[str, set[int]]:
    """The models that step in each thread, by their identity."""
    step = SearchModel.step
    seen: dict[str, set[int]] = {}

    def noted(
        model: SearchModel, given: Tensor, state: DecoderState
    ) -> tuple[Tensor, DecoderState]:
        seen.setdefault(threading.current_thread().name, set()).add(id(model))
        return step(model, given, state)

    monkeypatch.setattr(SearchModel, "step", noted)
    return seen


@pytest.mark.parametrize("num_copies", [1, 2])
@pytest.mark.parametrize("num_members", [1, 2])
def test_several_devices_give_what_one_gives(
    num_copies: int, num_members: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = [member(seed, n_best=3) for seed in range(1, num_members + 1)]
    expected = translated(*members)
    seen = seen_by_threads(monkeypatch)
    translator, _ = translator_of(*members, num_copies=num_copies, batch_size=4)
    found = list(translator.translate(lines()))
    assert tokens(found) == tokens(expected)
    assert scores(found) == pytest.approx(scores(expected), abs=1e-5)
    drivers = {name: models for name, models in seen.items() if name.startswith("search")}
    assert len(set().union(*drivers.values())) == num_members * (num_copies + 1)


def test_shares_do_not_depend_on_who_is_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that is slow has its share all the same, and scores are equal to the last digit."""
    members = member(1, n_best=3), member(2)
    found = [
        list(translator_of(*members, num_copies=1, batch_size=4)[0].translate(lines()))
        for _ in range(2)
    ]
    step = SearchModel.step
    slow = threading.Event()

    def uneven(
        model: SearchModel, given: Tensor, state: DecoderState
    ) -> tuple[Tensor, DecoderState]:
        if model is translator._searcher.replicas[0].model:
            slow.wait(0.002)
        return step(model, given, state)

    monkeypatch.setattr(SearchModel, "step", uneven)
    translator, _ = translator_of(*members, num_copies=1, batch_size=4)
    found.append(list(translator.translate(lines())))
    assert tokens(found[0]) == tokens(found[1]) == tokens(found[2])
    assert scores(found[0]) == scores(found[1]) == scores(found[2])


def test_tied_weights_of_a_copy_stay_tied_and_apart_from_the_model() -> None:
    """A copy has the weights of when it was made, and no more of them than the model."""
    one = member(1)
    expected = translated(one)
    translator, _ = translator_of(one, num_copies=1, batch_size=4)
    _, replica = translator._searcher.replicas
    (copy,) = replica.members
    assert copy.output_weight.data_ptr() == copy._embedding.data_ptr()
    assert copy.output_weight.data_ptr() != one.model.output_weight.data_ptr()
    with torch.no_grad():
        for parameter in one.model.parameters():
            parameter.zero_()
    translator._searcher.replicas = (replica, replica)
    assert tokens(list(translator.translate(lines()))) == tokens(expected)


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_copies_have_narrow_products_too(precision: SearchPrecision) -> None:
    one = member(1)
    some = random.Random(1).sample(lines(), 12)
    alone, _ = translator_of(one, precision=precision, batch_size=1)
    both, _ = translator_of(one, precision=precision, batch_size=1, num_copies=1)
    expected, found = list(alone.translate(some)), list(both.translate(some))
    assert tokens(found) == tokens(expected)
    assert scores(found) == pytest.approx(scores(expected), abs=1e-6)


class SmallDevice:
    """Makes every step of more than `room` rows a want of memory, in whichever thread."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
        step = SearchModel.step
        self.refused: set[str] = set()

        def bounded(
            model: SearchModel, given: Tensor, state: DecoderState
        ) -> tuple[Tensor, DecoderState]:
            if len(given) > room:
                self.refused.add(threading.current_thread().name)
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
            return step(model, given, state)

        monkeypatch.setattr(SearchModel, "step", bounded)


def test_what_does_not_fit_on_several_devices_is_searched_in_halves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    members = member(1), member(2)
    expected = translated(*members)
    translator, events = translator_of(*members, num_copies=1, batch_size=16)
    device = SmallDevice(monkeypatch, room=13)
    assert tokens(list(translator.translate(lines()))) == tokens(expected)
    assert all(name.startswith("search") for name in device.refused)
    notices = [event.text for event in events if isinstance(event, Notice)]
    assert "from here on 8 sentences are searched together" in notices[0]
    assert "from here on 4 sentences are searched together" in notices[-1]


def test_a_sentence_that_does_not_fit_on_any_device_is_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    translator, _ = translator_of(member(1), num_copies=1)
    SmallDevice(monkeypatch, room=0)
    with pytest.raises(DeviceMemoryError, match=r"search for a sentence of \d+ tokens"):
        list(translator.translate(lines()))


def test_a_fault_on_one_device_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    translator, _ = translator_of(member(1), num_copies=1, batch_size=4)
    replica = translator._searcher.replicas[1]
    step = SearchModel.step

    def fail(model: SearchModel, given: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        if model is replica.model:
            raise DataError("a fault of the second device")
        return step(model, given, state)

    monkeypatch.setattr(SearchModel, "step", fail)
    threads = torch.get_num_threads()
    with pytest.raises(DataError, match="second device"):
        list(translator.translate(lines()))
    assert torch.get_num_threads() == threads


def test_a_window_has_work_for_all_devices() -> None:
    one = member(1)
    assert translator_of(one, num_copies=2)[0].window == 3 * translator_of(one)[0].window
