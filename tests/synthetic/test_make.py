"""Every line is accounted for, once, in order, however often the work is interrupted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mt.config.filters import FilterConfig
from mt.errors import ConfigError, DataError
from mt.events import Event, LinesTranslated, Notice, PairDropped, ignore
from mt.synthetic import make
from mt.synthetic.account import Summary
from mt.synthetic.make import make_pairs
from mt.translation.translation import Translation
from tests.synthetic.shouting import Shouting, candidate, shouted, work


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make, "_BLOCK", 3)


def mono(folder: Path, *lines: str, name: str = "mono.txt") -> Path:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def pairs_of(path: Path) -> list[tuple[str, str]]:
    records = [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]
    return [(record["source"], record["target"]) for record in records]


LINES = [f"line {number}" for number in range(10)]
SHOUTED = [(line.upper(), line) for line in LINES]


def test_lines_become_targets_and_what_is_made_of_them_sources(tmp_path: Path) -> None:
    shouting = Shouting()
    out = tmp_path / "out.jsonl"
    summary = make_pairs(work(out, mono(tmp_path, *LINES), shouting=shouting), ignore)
    assert pairs_of(out) == SHOUTED
    assert shouting.seen == list(enumerate(LINES, start=1))
    assert summary == Summary.load(out)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "mono.txt",
        "out.jsonl",
        "out.jsonl.summary.json",
    ]


def test_forwards_the_lines_stay_sources(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    make_pairs(work(out, mono(tmp_path, *LINES), is_backwards=False), ignore)
    assert pairs_of(out) == [(line, line.upper()) for line in LINES]


def test_a_score_is_by_token_whatever_the_penalty_was(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"  # three tokens and the end, penalty "none"
    make_pairs(work(out, mono(tmp_path, "a")), ignore)
    assert json.loads(out.read_text("utf-8"))["score"] == -0.125


def test_an_interrupted_work_goes_on_and_ends_as_if_undisturbed(tmp_path: Path) -> None:
    source = mono(tmp_path, *LINES)
    make_pairs(work(tmp_path / "whole.jsonl", source), ignore)
    out = tmp_path / "out.jsonl"
    seen = []
    for place in (4, 7, 9):
        shouting = Shouting(fails_at=LINES[place])
        with pytest.raises(KeyboardInterrupt, match="of 10 lines; the same command goes on"):
            make_pairs(work(out, source, shouting=shouting), ignore)
        seen += shouting.seen
        assert not out.exists()
    last = Shouting()
    make_pairs(work(out, source, shouting=last), ignore)
    assert seen + last.seen == list(enumerate(LINES, start=1))
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_what_is_finished_is_not_made_again(tmp_path: Path) -> None:
    source, out = mono(tmp_path, *LINES), tmp_path / "out.jsonl"
    first = make_pairs(work(out, source), ignore)
    dropped: list[Event] = []
    again = Shouting()
    asked = work(out, source, shouting=again, rejected=dropped.append)
    assert make_pairs(asked, ignore) == first
    assert again.num_loaded == 0


@pytest.mark.parametrize("left", ["no summary", "journal too"])
def test_a_kill_between_the_last_steps_leaves_what_goes_on(tmp_path: Path, left: str) -> None:
    source, out = mono(tmp_path, *LINES), tmp_path / "out.jsonl"
    with pytest.raises(KeyboardInterrupt):
        make_pairs(work(out, source, shouting=Shouting(fails_at=LINES[9])), ignore)
    journal = tmp_path / "out.jsonl.work" / "journal"
    kept = journal.read_bytes()
    first = make_pairs(work(out, source), ignore)
    journal.parent.mkdir()
    journal.write_bytes(kept)
    if left == "no summary":
        (tmp_path / "out.jsonl.summary.json").unlink()
    assert make_pairs(work(out, source), ignore) == first
    assert pairs_of(out) == SHOUTED
    assert not journal.parent.exists()


def test_blank_and_repeated_lines_are_not_translated_but_counted(tmp_path: Path) -> None:
    first = mono(tmp_path, "a", "", "b", " \u00a0", "a", name="1.txt")
    second = mono(tmp_path, "b", "c", "a  ", name="2.txt")
    dropped: list[Event] = []
    out, shouting = tmp_path / "out.jsonl", Shouting()
    asked = work(out, first, second, shouting=shouting, rejected=dropped.append)
    account = make_pairs(asked, ignore).account
    assert [line for _, line in shouting.seen] == ["a", "b", "c"]
    assert account.record == {
        "read": 8,
        "skipped": {"blank side": 2, "repeated": 3},
        "translated": 3,
        "made": 3,
        "dropped": {},
        "written": 3,
        "split": 0,
        "recased": 0,
        "too_long": 0,
    }
    found = [(e.origin, e.line, e.reason) for e in dropped if isinstance(e, PairDropped)]
    assert found == [
        (str(first), 2, "blank side"),
        (str(first), 4, "blank side"),
        (str(first), 5, "repeated"),
        (str(second), 1, "repeated"),
        (str(second), 3, "repeated"),
    ]


def test_each_translation_that_is_left_out_is_counted_by_its_reason(tmp_path: Path) -> None:
    long = "a sentence of some seven or eight words"
    made: dict[str, tuple[object, ...]] = {
        "good": (candidate("GUT"),),
        "empty": (candidate(" "),),
        "impossible": (candidate("X", score=-float("inf")),),
        "improbable": (candidate("X", score=-20.0),),
        "ended": (candidate("X", hit_limit=True),),
        "loop": (candidate("la la la la la"),),
        "too long": (),
        "drawn": (candidate("DRAWN"), candidate("DRAWN"), candidate("OTHER")),
        "in 7 days": (candidate("IN 8 TAGEN"),),
        long: (candidate(long),),
        "Kurz und gut.": (
            candidate("The quick brown fox jumps over a lazy dog beside my red house."),
        ),
    }

    def rule(line: str) -> Translation:
        error = "too long" if line == "too long" else None
        return Translation(source=line, hypotheses=made[line], error=error)  # type: ignore[arg-type]

    settings = FilterConfig(min_score=-1.0)
    out = tmp_path / "out.jsonl"
    asked = work(out, mono(tmp_path, *made), shouting=Shouting(rule), filters=settings)
    account = make_pairs(asked, ignore).account
    assert account.dropped == {
        "empty": 1,
        "impossible": 1,
        "low_score": 1,
        "truncated": 1,
        "repetition": 1,
        "too_long": 1,
        "repeated": 1,
        "copied_source": 1,
        "unusual_length": 1,
    }
    assert [source for source, _ in pairs_of(out)] == ["GUT", "DRAWN", "OTHER", "IN 8 TAGEN"]
    assert account.num_made == sum(account.dropped.values()) + account.num_written
    flags = [json.loads(line)["flags"] for line in out.read_text("utf-8").split("\n")[:-1]]
    assert flags == [[], [], [], ["numbers_differ"]]


def test_another_request_is_refused_and_what_is_there_stays(tmp_path: Path) -> None:
    source, out = mono(tmp_path, *LINES), tmp_path / "out.jsonl"
    with pytest.raises(KeyboardInterrupt):
        make_pairs(work(out, source, shouting=Shouting(fails_at=LINES[9])), ignore)
    with pytest.raises(ConfigError, match="journal is of another request"):
        make_pairs(work(out, source, key="other"), ignore)
    # The filters come last: others change nothing of what is translated.
    make_pairs(work(out, source, filters=FilterConfig(min_score=-9.0)), ignore)
    before = out.read_bytes()
    with pytest.raises(ConfigError, match="exists already, of another request"):
        make_pairs(work(out, source), ignore)
    more = mono(tmp_path, *LINES, "more")
    with pytest.raises(ConfigError, match="exists already, of another request"):
        make_pairs(work(out, more, filters=FilterConfig(min_score=-9.0)), ignore)
    assert out.read_bytes() == before


def test_a_file_that_mt_did_not_make_is_refused(tmp_path: Path) -> None:
    out = mono(tmp_path, "precious", name="out.jsonl")
    with pytest.raises(ConfigError, match="exists already"):
        make_pairs(work(out, mono(tmp_path, *LINES)), ignore)
    assert out.read_text("utf-8") == "precious\n"
    assert not (tmp_path / "out.jsonl.work").exists()


def test_pairs_that_were_changed_since_are_refused(tmp_path: Path) -> None:
    source, out = mono(tmp_path, *LINES), tmp_path / "out.jsonl"
    make_pairs(work(out, source), ignore)
    out.write_text("{}\n", "utf-8")
    with pytest.raises(DataError, match="is not the file that"):
        make_pairs(work(out, source), ignore)


@pytest.mark.parametrize("after", [["line 0", "line X", "line 2"], LINES[:2], [*LINES[:3], "more"]])
def test_text_that_changes_meanwhile_is_refused(tmp_path: Path, after: list[str]) -> None:
    source, out = mono(tmp_path, *LINES[:3]), tmp_path / "out.jsonl"

    def change(line: str) -> Translation:
        mono(tmp_path, *after)
        return shouted(line)

    with pytest.raises(DataError, match="changed while it was translated"):
        make_pairs(work(out, source, shouting=Shouting(change)), ignore)
    assert not out.exists()


def test_nothing_left_is_an_error_with_the_counts_and_loses_no_translation(tmp_path: Path) -> None:
    source, out = mono(tmp_path, *LINES), tmp_path / "out.jsonl"
    with pytest.raises(DataError, match=r"no pair is left: .*low_score: 10"):
        make_pairs(work(out, source, filters=FilterConfig(min_score=-0.1)), ignore)
    assert not out.exists()
    again = Shouting()
    make_pairs(work(out, source, shouting=again), ignore)
    assert again.num_loaded == 0
    assert pairs_of(out) == SHOUTED


def test_a_damaged_end_is_translated_again_with_a_warning(tmp_path: Path) -> None:
    source, out = mono(tmp_path, *LINES), tmp_path / "out.jsonl"
    with pytest.raises(KeyboardInterrupt):
        make_pairs(work(out, source, shouting=Shouting(fails_at=LINES[9])), ignore)
    journal = tmp_path / "out.jsonl.work" / "journal"
    journal.write_bytes(journal.read_bytes()[:-1])
    heard: list[Event] = []
    shouting = Shouting()
    make_pairs(work(out, source, shouting=shouting), heard.append)
    assert [number for number, _ in shouting.seen] == [7, 8, 9, 10]
    warnings = [each.text for each in heard if isinstance(each, Notice) and each.is_warning]
    assert len(warnings) == 1 and "no whole block" in warnings[0]
    assert pairs_of(out) == SHOUTED


def test_progress_counts_what_earlier_runs_did(tmp_path: Path) -> None:
    source, out = mono(tmp_path, *LINES), tmp_path / "out.jsonl"
    with pytest.raises(KeyboardInterrupt):
        make_pairs(work(out, source, shouting=Shouting(fails_at=LINES[4])), ignore)
    heard: list[Event] = []
    make_pairs(work(out, source), heard.append)
    told = [e for e in heard if isinstance(e, LinesTranslated)]
    assert [(e.num_done, e.num_before, e.num_lines) for e in told] == [
        (6, 3, 10),
        (9, 3, 10),
        (10, 3, 10),
    ]


@pytest.mark.parametrize("name", ["out", "out.txt", "out.jsonl.gz"])
def test_a_name_that_says_no_form_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=r"Name it \.jsonl or \.tsv"):
        make_pairs(work(tmp_path / name, mono(tmp_path, *LINES)), ignore)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "out.jsonl"
    link.symlink_to("/dev/stdout")
    with pytest.raises(ConfigError, match="is no file"):
        make_pairs(work(link, mono(tmp_path, *LINES)), ignore)
