"""What a validation translates, and what it says of it: looks, samples, whole sets, stops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from mt.config import Config
from mt.events import ignore
from mt.tasks.dev_lines import lines_scored
from mt.tasks.validate import make_validator
from mt.training.distributed import Ranks
from mt.training.validation import TranslationScores, ValidationTask, Validator
from mt.translation.translation import TranslatedText, Translation
from tests.cases.model_files import records
from tests.cases.runs import SMALL, run_here
from tests.cases.toy import toy_pairs, write_files


class Fake:
    """Translates by a function, and notes what it was asked."""

    window = 256

    def __init__(self, answer: Callable[[str], str]) -> None:
        self.answer = answer
        self.settings: list[Config] = []
        self.batches: list[list[str]] = []

    def __call__(self, settings: Config) -> Any:
        self.settings.append(settings)
        return self

    def translate(self, lines: Sequence[str]) -> Iterator[Translation]:
        self.batches.append(list(lines))
        for each in lines:
            text = TranslatedText(text=self.answer(each), score=0.0, tokens=(), hit_limit=False)
            yield Translation(source=each, hypotheses=(text,))


def line(number: int) -> str:
    return f"das ist Satz {number} von vielen Sätzen ."


def right(source: str) -> str:
    return source.replace("Satz", "sentence")


def wrong(source: str) -> str:
    return "x"


def validator(folder: Path, count: int, fake: Fake) -> Validator:
    for name, text in (("source", line), ("target", lambda i: right(line(i)))):
        content = "".join(f"{text(i)}\n" for i in range(count))
        (folder / f"dev.{name}").write_text(content, "utf-8")
    origins = [("dev", count)]
    return make_validator(folder, fake, origins, Ranks(), config=Config(), listener=ignore)


def validate(folder: Path, count: int, fake: Fake, task: ValidationTask) -> TranslationScores:
    scored = validator(folder, count, fake)(task)
    assert scored is not None
    return scored


def test_a_model_that_has_learnt_nothing_is_only_looked_at(tmp_path: Path) -> None:
    fake = Fake(wrong)
    scored = validate(tmp_path, 600, fake, ValidationTask(looks_first=True))
    assert (scored.extent, scored.num_pairs, scored.num_all_pairs) == ("look", 200, 600)
    assert sum(map(len, fake.batches)) == 200
    (settings,) = fake.settings
    assert settings.search.max_length_ratio == Config().search.max_length_ratio / 2
    assert settings.search.max_length_offset == Config().search.max_length_offset / 2
    assert scored.whole_seconds == pytest.approx(3 * scored.sample_seconds, rel=0.1)


@pytest.mark.parametrize("looks", [False, True])
def test_a_model_that_translates_is_scored_on_the_whole_set(looks: bool, tmp_path: Path) -> None:
    fake = Fake(right)
    scored = validate(tmp_path, 600, fake, ValidationTask(looks_first=looks))
    assert (scored.extent, scored.num_pairs) == ("whole", None)
    assert scored.scores["BLEU"] == pytest.approx(100)
    assert scored.of_sample is not None
    assert scored.of_sample["BLEU"] == pytest.approx(100)
    assert sum(map(len, fake.batches)) == 600 + 200 * looks
    assert fake.settings[-1] == Config()


@pytest.mark.parametrize(("count", "is_timed", "looks"), [(500, False, 0), (201, True, 1)])
def test_small_sets_are_looked_at_only_where_minutes_are_counted(
    count: int, is_timed: bool, looks: int, tmp_path: Path
) -> None:
    fake = Fake(wrong)
    task = ValidationTask(looks_first=True, is_timed=is_timed)
    scored = validate(tmp_path, count, fake, task)
    assert (scored.extent == "look") == bool(looks)


def test_without_time_for_the_rest_the_sample_has_to_do(tmp_path: Path) -> None:
    """Its scores are those that the whole set has of the same lines."""
    half = Fake(lambda source: right(source) if len(source) % 2 else wrong(source))

    def has_time(seconds: float) -> bool:
        return sum(map(len, half.batches)) < 200

    short = validate(tmp_path, 600, half, ValidationTask(has_time=has_time))
    assert (short.extent, short.num_pairs) == ("sample", 200)
    assert sum(map(len, half.batches)) == 200
    whole = validate(tmp_path, 600, half, ValidationTask())
    assert whole.of_sample == short.scores
    assert whole.scores != short.scores


@pytest.mark.parametrize("looks", [False, True])
def test_without_time_for_the_sample_it_is_cut_to_a_fair_share(looks: bool, tmp_path: Path) -> None:
    fake = Fake(right)
    task = ValidationTask(looks_first=looks, is_timed=True, has_time=lambda seconds: False)
    scored = validate(tmp_path, 600, fake, task)
    assert (scored.extent, scored.num_pairs, scored.num_all_pairs) == ("cut", 16, 600)
    (lines,) = fake.batches
    numbers = sorted(int(each.split()[3]) for each in lines)
    assert numbers[0] < 300 < numbers[-1]
    sources = [line(number) for number in range(600)]
    assert lines_scored(sources, 16) == numbers
    assert lines_scored(sources, 200) == list(range(0, 600, 3))
    assert lines_scored(sources, None) == list(range(600))


@pytest.mark.parametrize("stop", [0, 3, 14, 20])
def test_a_stop_ends_a_validation_within_a_few_lines(stop: int, tmp_path: Path) -> None:
    fake = Fake(right)
    task = ValidationTask(should_stop=lambda: len(fake.batches) >= stop)
    assert validator(tmp_path, 600, fake)(task) is None
    assert len(fake.batches) == stop
    assert all(len(batch) <= 16 for batch in fake.batches)


def test_the_lines_that_are_done_are_counted(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    task = ValidationTask(report=lambda done, total: told.append((done, total)))
    validate(tmp_path, 600, Fake(right), task)
    done = [count for count, _ in told]
    assert done == sorted(done)
    assert told[-1] == (600, 600)


def test_a_sample_is_marked_wherever_its_scores_are_told(tmp_path: Path) -> None:
    train = write_files(tmp_path, "train", toy_pairs(600, seed="train"))
    dev = write_files(tmp_path, "dev", toy_pairs(510, seed="dev"))
    folder = tmp_path / "m"
    plan = (*train.arguments, *dev.as_dev, "-o", folder, *SMALL, "--updates", "2")
    run = run_here("train", *plan, "--keep", "overlap_source").check()
    assert " · on 200 of 510 dev pairs" in run.err
    assert "on 200 dev pairs, of update 2" in run.err
    (validated,) = records(folder, "Validated")
    assert (validated["num_pairs"], validated["num_all_pairs"]) == (200, 510)
    card = (folder / "README.md").read_text("utf-8")
    assert "Of a sample of 200 of the 510 pairs of the validation set" in card
