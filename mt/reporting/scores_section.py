"""Scores with intervals, signatures and tests; what they stand beside; scores by length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mt.evaluation.comparison import LENGTHS, range_name, score_by_group
from mt.evaluation.results import Result
from mt.reporting.chart import Scale
from mt.reporting.contents import Scored
from mt.reporting.page import breakable, escape
from mt.reporting.systems import letter
from mt.reporting.tables import row, table

_WHOLE = 100.0
_SIGNIFICANT = 0.05


def scores_section(scored: Scored) -> str:
    """All scores of all systems, as HTML."""
    note = ""
    if scored.is_validation:
        note = (
            "<p class=note>This is the set by which the weights of the model were chosen, so that "
            "its scores flatter the model a little. Give a test set for scores to report.</p>"
        )
    return f"""\
<section class="card" aria-labelledby="scores">
<h2 id="scores">Scores</h2>
{_files(scored)}
{note}
<div class="tiles">
{"".join(_tile(scored, name) for name in _names(scored))}
</div>
{_trivial(scored)}
{_said(scored.said)}
</section>
"""


def _files(scored: Scored) -> str:
    """What was scored, and how it is known again."""
    words = "symbols, as they are" if scored.of_symbols else f"by the tokenizer {scored.tokenize}"
    rows = [("lines", f"{len(scored.references[0]):,}"), ("words of BLEU", escape(words))]
    rows += [(file.role, _file(file.name, file.digest)) for file in scored.files]
    is_single = len(scored.systems) == 1
    rows += [
        ("system" if is_single else letter(number), _file(system.name, system.digest))
        for number, system in enumerate(scored.systems)
    ]
    return f"<dl>{''.join(f'<dt>{escape(name)}</dt><dd>{text}</dd>' for name, text in rows)}</dl>"


def _file(name: str, digest: str) -> str:
    return (
        f'<code dir="auto">{breakable(name, "/")}</code> '
        f'<span class="quiet small">{escape(digest)}</span>'
    )


def _names(scored: Scored) -> list[str]:
    return [each.metric.name for each in scored.systems[0].measured]


def _tile(scored: Scored, name: str) -> str:
    """One metric of all systems."""
    results = [result for result in scored.results if result.score.name == name]
    (is_error,) = {
        each.metric.is_error for each in scored.systems[0].measured if each.metric.name == name
    }
    is_single = len(results) == 1
    ends = [_WHOLE] if is_single else []
    scale = Scale.around(
        0.0 if is_single else min(_reach(result)[0] for result in results),
        max([*ends, *(_reach(result)[1] for result in results)]),
        most=4,
    )
    rows = "".join(
        _row(result, "" if is_single else letter(number))
        + _strip(result, scale, number)
        + _chance(result)
        for number, result in enumerate(results)
    )
    less = ' <span class="quiet small">less is better</span>' if is_error else ""
    between = ""
    if not is_single:
        low, *_, high = scale.labels
        between = f'<p class="ends small quiet" aria-hidden="true">{low} <span>{high}</span></p>'
    return (
        f'<div class="tile"><h3>{escape(name)}{less}</h3>{rows}{between}'
        f'<p class="signature"><code>{breakable(results[0].score.signature)}</code></p></div>'
    )


def _reach(result: Result) -> tuple[float, float]:
    """The ends of the interval of a score, or the score twice."""
    if result.interval is None:
        return result.score.score, result.score.score
    mean, half = result.interval.mean, result.interval.half_width
    return max(mean - half, 0.0), mean + half


def _row(result: Result, name: str) -> str:
    who = f'<span class="who">{name}</span> ' if name else ""
    interval = ""
    if result.interval is not None:
        low, high = _reach(result)
        interval = f' <span class="quiet small">95 %: {low:.2f} to {high:.2f}</span>'
    return f'<p class="score">{who}<strong>{result.score.score:.2f}</strong>{interval}</p>'


def _chance(result: Result) -> str:
    """How likely mere chance makes such a difference."""
    if result.p_value is None:
        return ""
    found = ", no difference found" if result.p_value >= _SIGNIFICANT else ""
    return f'<p class="p quiet small">p = {result.p_value:.4f}{found}</p>'


def _strip(result: Result, scale: Scale, number: int) -> str:
    """The score and its interval on a scale; a bar where that begins at 0."""
    low, high, here = (100 * scale.share(each) for each in (*_reach(result), result.score.score))
    bar = ""
    if scale.ticks[0] == 0:
        bar = f'<rect class="bar system-{number % 4}" width="{here:.2f}%" y="4" height="4" rx="2"/>'
    return (
        '<svg class="strip" width="100%" height="12" aria-hidden="true">'
        f'<rect class="track" width="100%" y="4" height="4" rx="2"/>{bar}'
        f'<rect class="band system-{number % 4}" x="{low:.2f}%" width="{high - low:.2f}%" '
        f'y="2" height="8" rx="2"/><rect class="here" x="{here:.2f}%" width="2" height="12"/></svg>'
    )


def _trivial(scored: Scored) -> str:
    """What systems score that know nothing, below the first one."""
    if not scored.trivial:
        return ""
    names = [name for name in _names(scored) if name in scored.trivial[0].scores]
    own = {r.score.name: r.score.score for r in scored.results[: len(scored.systems[0].measured)]}
    systems = [
        (scored.systems[0].name, own),
        *((each.name, each.scores) for each in scored.trivial),
    ]
    rows = [
        row(escape(name), [f"{scores[each]:.2f}" for each in names]) for name, scores in systems
    ]
    inner = table("Trivial systems", ("system", *names), rows, texts=("system",))
    return f"<h3>Beside systems that know nothing</h3>\n{inner}"


def _said(said: Sequence[str]) -> str:
    """What was said on the way, warnings first."""
    texts = [text.removeprefix("mt: ") for text in said]
    texts = [text for text in texts if not text.startswith("beside it, ")]  # the table has it
    texts.sort(key=lambda text: not text.startswith("warning: "))
    if not texts:
        return ""
    items = "".join(
        f"<li{' class=warning' if text.startswith('warning: ') else ''}>{escape(text)}</li>"
        for text in texts
    )
    return f'<h3>What mt said</h3><ul class="said small">{items}</ul>'


def lengths_section(scored: Scored) -> str:
    """Scores of sentences by words of the (first) reference."""
    groups = [range_name(len(scored.split(line)), LENGTHS) for line in scored.references[0]]
    sizes = Counter(groups)
    order = sorted(sizes, key=lambda name: int(name.partition("–")[0].removesuffix("+")))
    is_single = len(scored.systems) == 1
    columns = [
        (each.metric.name if is_single else letter(number), score_by_group(each, groups))
        for number, system in enumerate(scored.systems)
        for index, each in enumerate(system.measured)
        if is_single or index == scored.main_metric
    ]
    charted = scored.ordering[0]
    name = charted.metric.name
    bars = [score_by_group(each, groups) for each in scored.ordering]
    end = max(_WHOLE, *(value for scores in bars for value in scores.values()))
    rows = [
        row(
            group,
            [f"{sizes[group]:,}", *(f"{scores[group]:.2f}" for _, scores in columns)],
            more=f"<td class=bars>{_bars([scores[group] for scores in bars], end)}</td>",
        )
        for group in order
    ]
    what = "symbols" if scored.of_symbols else "words"
    drawn = f"{name}, drawn"
    first = "first " if len(scored.references) > 1 else ""
    names = (what, drawn, "sentences", *(each for each, _ in columns))
    return f"""\
<section class="card" aria-labelledby="lengths">
<h2 id="lengths">Scores by length</h2>
<p class="small quiet">Sentences by {what} of the {first}reference\
{"" if is_single else f"; figures are {escape(name)}"}. A group of few sentences says little.</p>
{table("Scores by length", names, rows, texts=(what, drawn), kind="lengths")}
</section>
"""


def _bars(scores: Sequence[float], end: float) -> str:
    """A bar from 0 to `end` for each system."""
    return "".join(
        '<svg class="strip" width="100%" height="10" aria-hidden="true">'
        '<rect class="track" width="100%" y="1" height="8" rx="2"/>'
        f'<rect class="bar system-{number % 4}" width="{100 * score / end:.2f}%" y="1" '
        'height="8" rx="2"/></svg>'
        for number, score in enumerate(scores)
    )
