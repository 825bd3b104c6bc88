"""The runs of benchmarks/decode.py, put together and printed."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click
from decode_systems import PEER, Case, Result, System

from mt.evaluation.scores import Score

Summary = dict[str, Any]
_Measure = Callable[[Result], float]


def summary_of(
    case: Case,
    results: Sequence[Result],
    missing: Sequence[tuple[System, str]],
    scores: Mapping[tuple[str, str], Sequence[Score]],
) -> Summary:
    """What the runs of a case come to: medians, spreads, and ratios within a turn."""
    systems = list(dict.fromkeys((each.system, each.precision) for each in results))
    rows: list[Summary] = []
    for name, precision in systems:
        own = _of(results, name, precision)
        peer = _of(results, PEER, precision)
        row: Summary = {"system": name, "precision": precision, "turns": len(own)}
        row["others_cpu"] = round(statistics.mean(each.others_cpu for each in own), 3)
        row["peak_mb"] = round(statistics.median(each.peak_mb for each in own))
        row["whole_seconds"] = round(statistics.median(each.whole_seconds for each in own), 2)
        if case.single:
            times = [each.milliseconds for each in own]
            row |= _spread("milliseconds", [statistics.median(of_run) for of_run in times], 2)
            row["p95"] = round(statistics.median(_percentile(of_run, 95) for of_run in times), 2)
            row["ratio"] = _ratio(peer, own, lambda each: 1 / statistics.median(each.milliseconds))
        else:
            speed = _speed(case.num_lines)
            row |= _spread("sentences_per_second", [speed(each) for each in own], 1)
            tokens = [each.tokens / each.seconds for each in own if each.tokens and each.seconds]
            row["tokens_per_second"] = round(statistics.median(tokens)) if tokens else None
            row["tokens"] = own[0].tokens
            row["ratio"] = _ratio(own, peer, speed if own[0].seconds else _whole_speed(case))
        for score in scores.get((name, precision), ()):
            row[score.name] = round(score.score, 2)
            row[f"{score.name}_signature"] = score.signature
        rows.append(row)
    return {
        "case": case.name,
        "one_by_one": bool(case.single),
        "lines": case.num_lines,
        "batch_sizes": case.batch_sizes,
        "threads": case.threads,
        "rows": rows,
        "fastest": {} if case.single else _fastest(case, results, rows),
        "missing": [
            {"system": system.name, "precision": system.precision, "reason": reason}
            for system, reason in missing
        ],
    }


def show_speed(summary: Summary) -> None:
    """Print a table of a case that is translated all together."""
    click.echo(f"\n{summary['case']}, {summary['lines']} lines, {summary['threads']} threads\n")
    _table(
        (
            *("system", "sentences/s", "least – most", "tokens/s", f"to {PEER}"),
            *("whole command, s", "peak MB", "BLEU", "chrF2", "CPU taken by others"),
        ),
        [
            (
                f"{row['system']} {row['precision']}",
                row["sentences_per_second"],
                f"{row['least']} – {row['most']}",
                row["tokens_per_second"],
                row["ratio"] and "{median} ({least} – {most})".format(**row["ratio"]),
                row["whole_seconds"],
                row["peak_mb"],
                row.get("BLEU"),
                row.get("chrF2"),
                f"{row['others_cpu']:.1%}",
            )
            for row in summary["rows"]
        ],
        summary["missing"],
    )
    for name, found in summary["fastest"].items():
        click.echo(
            f"\nfastest {name} ({found['precision']}) to the fastest {PEER} "
            f"({found['peer_precision']}): {found['median']} ({found['least']} – {found['most']})"
        )


def show_latency(summary: Summary) -> None:
    """Print a table of a case whose lines are translated one by one."""
    click.echo(f"\n{summary['case']}, {summary['lines']} lines, {summary['threads']} thread\n")
    _table(
        ("system", "median ms", "least – most", "95th percentile, ms", f"to {PEER}", "peak MB"),
        [
            (
                f"{row['system']} {row['precision']}",
                row["milliseconds"],
                f"{row['least']} – {row['most']}",
                row["p95"],
                row["ratio"] and "{median} ({least} – {most})".format(**row["ratio"]),
                row["peak_mb"],
            )
            for row in summary["rows"]
        ],
        summary["missing"],
    )


def _table(
    head: Sequence[str], rows: Sequence[Sequence[object]], missing: Sequence[Mapping[str, str]]
) -> None:
    click.echo("| " + " | ".join(head) + " |")
    click.echo("|---" * len(head) + "|")
    for row in rows:
        cells = ("–" if cell is None else str(cell) for cell in row)
        click.echo("| " + " | ".join(cells) + " |")
    for each in missing:
        name = f"{each['system']} {each['precision']}"
        rest = [""] * (len(head) - 2)
        click.echo("| " + " | ".join([name, f"missing: {each['reason']}", *rest]) + " |")


def _of(results: Sequence[Result], name: str, precision: str) -> list[Result]:
    found = (each for each in results if (each.system, each.precision) == (name, precision))
    return sorted(found, key=lambda each: each.turn)


def _whole_speed(case: Case) -> _Measure:
    return lambda result: case.num_lines / result.whole_seconds


def _speed(num_lines: int) -> _Measure:
    """Sentences a second; of a command with its start, since nothing else is seen."""
    return lambda result: num_lines / (result.seconds or result.whole_seconds)


def _spread(name: str, values: Sequence[float], digits: int) -> Summary:
    return {
        name: round(statistics.median(values), digits),
        "least": round(min(values), digits),
        "most": round(max(values), digits),
    }


def _ratio(these: Sequence[Result], those: Sequence[Result], measure: _Measure) -> Summary | None:
    """These over those, turn by turn; None where there are no others."""
    if not these or not those:
        return None
    pairs = zip(these, those, strict=True)
    return _spread("median", [measure(one) / measure(other) for one, other in pairs], 2)


def _percentile(values: Sequence[float], percent: int) -> float:
    return sorted(values)[min(len(values) * percent // 100, len(values) - 1)]


def _fastest(case: Case, results: Sequence[Result], rows: Sequence[Summary]) -> dict[str, Summary]:
    """The fastest precision of each system against that of CTranslate2, turn by turn."""
    best: dict[str, Summary] = {}
    for row in rows:
        name, speed = row["system"], row["sentences_per_second"]
        if name not in best or speed > best[name]["sentences_per_second"]:
            best[name] = row
    if PEER not in best:
        return {}
    peer = _of(results, PEER, best[PEER]["precision"])
    found = {}
    for name, row in best.items():
        own = _of(results, name, row["precision"])
        measure = _speed(case.num_lines) if own[0].seconds else _whole_speed(case)
        ratio = _ratio(own, peer, measure)
        if name != PEER and ratio:
            found[name] = {
                "precision": row["precision"],
                "peer_precision": best[PEER]["precision"],
                **ratio,
            }
    return found
