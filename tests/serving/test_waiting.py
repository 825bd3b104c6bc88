"""What goes next, together, and when there is no more room."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import pytest

from mt.serving.cache import LineCache
from mt.serving.lines import cut, on_one_line
from mt.serving.metrics import Metrics
from mt.serving.waiting import Ticket, WaitingLines
from mt.serving.workers import QueueFullError, Workers
from mt.translation.translation import TranslatedText, Translation

SECONDS = 30.0


def translation(line: str) -> Translation:
    text = TranslatedText(text=line.upper(), score=0.0, tokens=(), hit_limit=False)
    return Translation(source=line, hypotheses=(text,))


@dataclass(eq=False)
class Upper:
    """A lane that waits at a gate, and remembers its batches."""

    most_lines: int = 4
    most_characters: int = 1000
    gate: threading.Event = field(default_factory=threading.Event)
    batches: list[list[str]] = field(default_factory=list)

    def translate(self, lines: Sequence[str]) -> list[Translation]:
        self.batches.append(list(lines))
        assert self.gate.wait(SECONDS)
        if "bad" in lines:
            raise SystemExit("secret")  # worse than an exception
        return [translation(line) for line in lines]


def ticket(num: int) -> Ticket:
    return Ticket(num, lambda results: None)


def batches_of(waiting: WaitingLines) -> list[list[str]]:
    found = []
    while batch := waiting.take():
        found.append([each.text for each in batch])
    return found


def test_lines_of_like_length_go_together_up_to_the_bounds() -> None:
    lane = Upper(most_lines=3)
    waiting = WaitingLines(most_characters=10_000)
    texts = ["a" * length for length in (50, 1, 49, 2, 3, 48, 400)]
    waiting.add(lane, texts, ticket(7), now=0.0)
    found = [sorted(map(len, batch)) for batch in batches_of(waiting)]
    assert found == [[48, 49, 50], [1, 2, 3], [400]]
    assert waiting.num_characters == 0


def test_a_batch_has_a_budget_of_padded_characters() -> None:
    lane = Upper(most_lines=100, most_characters=100)
    waiting = WaitingLines(most_characters=10_000)
    waiting.add(lane, ["a" * 20] * 7 + ["a" * 400], ticket(8), now=0.0)
    assert [len(batch) for batch in batches_of(waiting)] == [3, 3, 1, 1]


def test_the_line_that_is_due_first_is_always_taken() -> None:
    lane = Upper(most_lines=2)
    waiting = WaitingLines(most_characters=10_000)
    waiting.add(lane, ["a" * 90], ticket(1), now=0.0)
    waiting.add(lane, ["a", "b", "c"], ticket(3), now=1.0)
    assert batches_of(waiting)[0] == ["a" * 90]


def test_lanes_never_meet() -> None:
    waiting = WaitingLines(most_characters=10_000)
    lanes = Upper(), Upper()
    for number, text in enumerate("abcdef"):
        waiting.add(lanes[number % 2], [text], ticket(1), now=float(number))
    assert batches_of(waiting) == [["a", "c", "e"], ["b", "d", "f"]]


def test_a_word_overtakes_a_book_but_not_for_ever() -> None:
    lane = Upper(most_lines=2)
    waiting = WaitingLines(most_characters=100_000)
    waiting.add(lane, ["book" * 200] * 8, ticket(8), now=0.0)
    waiting.add(lane, ["word"], ticket(1), now=1.0)
    assert [each.text for each in waiting.take()] == ["word"]
    waiting.add(lane, ["late"], ticket(1), now=10.0)
    order = [batch[0][:4] for batch in batches_of(waiting)]
    assert order == ["book"] * 8 + ["late"]


def test_somebody_who_waits_is_not_kept_by_a_full_batch_of_a_long_request() -> None:
    lane = Upper(most_lines=100)
    waiting = WaitingLines(most_characters=100_000)
    waiting.add(lane, ["line"] * 100, ticket(100), now=0.0)
    waiting.add(lane, ["word"], ticket(1), now=0.1)
    batch = waiting.take()
    assert "word" in [each.text for each in batch]
    assert len(batch) == 8
    for _ in range(20):
        waiting.add(lane, ["word"], ticket(1), now=0.1)
    assert [each.text for each in waiting.take()] == ["word"] * 20


def test_what_is_dropped_is_not_translated() -> None:
    lane = Upper()
    waiting = WaitingLines(most_characters=10_000)
    left, stays = ticket(2), ticket(1)
    waiting.add(lane, ["a", "b"], left, now=0.0)
    waiting.add(lane, ["c"], stays, now=0.0)
    assert waiting.drop(left) == 2
    assert batches_of(waiting) == [["c"]]
    assert len(waiting) == waiting.num_characters == 0


def workers(most_waiting: int = 1000) -> tuple[Workers, list[BaseException]]:
    errors: list[BaseException] = []
    made = Workers(1, most_waiting=most_waiting, metrics=Metrics(), report=errors.append)
    return made, errors


def test_a_full_queue_says_when_to_come_again() -> None:
    made, _ = workers(most_waiting=100)
    lane, done = Upper(), threading.Event()
    made.submit(lane, ["a"], lambda results: None)
    until = time.monotonic() + SECONDS
    while not lane.batches:  # the worker has it, and waits at the gate
        assert time.monotonic() < until
        time.sleep(0.01)
    made.submit(lane, ["b" * 500], lambda results: done.set())  # nothing waits: it may
    with pytest.raises(QueueFullError) as caught:
        made.submit(lane, ["c"], lambda results: None)
    assert 1 <= caught.value.retry_after <= 60
    assert not made.has_room
    lane.gate.set()
    assert done.wait(SECONDS)
    made.submit(lane, ["c"], lambda results: None)
    assert made.close(SECONDS)
    assert lane.batches == [["a"], ["b" * 500], ["c"]]
    with pytest.raises(QueueFullError):
        made.submit(lane, ["d"], lambda results: None)


def put_texts(into: queue.Queue[list[str | None]], results: Sequence[Translation | None]) -> None:
    into.put([None if each is None else each.text for each in results])


def test_a_line_that_fails_spoils_no_other_and_ends_no_worker() -> None:
    made, errors = workers()
    lane = Upper()
    lane.gate.set()
    for _ in range(2):
        done: queue.Queue[list[str | None]] = queue.Queue()
        made.submit(lane, ["good", "bad", "fine"], partial(put_texts, done))
        assert done.get(timeout=SECONDS) == ["GOOD", None, "FINE"]
    assert made.close(SECONDS)
    assert [type(error) for error in errors] == [SystemExit, SystemExit]


def test_the_cache_keeps_what_was_asked_for_last_within_its_bound() -> None:
    cache = LineCache(most_characters=1000)
    for number in range(20):
        cache.put(("de-en", str(number)), ("x" * 40,))
        assert cache.num_characters <= 1000
        assert cache.get(("de-en", "0")) == ("x" * 40,)  # asked for again and again
    assert len(cache) == 4
    assert cache.get(("de-en", "19")) is not None
    assert cache.get(("de-en", "15")) is None
    assert cache.get(("en-de", "19")) is None
    cache.put(("de-en", "large"), ("x" * 2000,))
    assert cache.get(("de-en", "large")) is None


@pytest.mark.parametrize("text", ["", "a", "\n", "a\r\nb\n\nc", "\r", "a\rb\n", "\n\r\n"])
def test_a_text_is_its_lines_with_their_breaks(text: str) -> None:
    found = cut(text)
    assert found.joined(found.lines) == text
    assert len(found.lines) == text.count("\n") + 1
    assert not any("\n" in line for line in found.lines)
    assert "\n" not in on_one_line(text).lines[0]
