"""The page of `mt report` and `mt eval --html`: all that is known of models and their scores."""

from __future__ import annotations

from collections.abc import Sequence

from mt import __version__
from mt.reporting.contents import Report, Scored
from mt.reporting.model_section import model_section
from mt.reporting.page import asset, escape, page
from mt.reporting.scores_section import lengths_section, scores_section
from mt.reporting.sentence_attention import AttendedSentence
from mt.reporting.sentences import sentences_section
from mt.reporting.training_section import training_section

_WHOLE = 10_000
"""Weights go into the page in ten-thousandths, as heat.js wants them."""
_SHORT = 60  # characters


def report_page(report: Report) -> str:
    """The page, as HTML."""
    sections = _sections(report)
    links = "".join(f'<li><a href="#{key}">{escape(name)}</a></li>' for key, name, _ in sections)
    return page(
        title=report.title,
        body=f"""\
<h1>{escape(report.title)}</h1>
<nav aria-label="Parts"><ul>{links}</ul></nav>
{"".join(html for _, _, html in sections)}""",
        data=_data(report.scored),
        styles=("heat.css", "chart.css", "report.css"),
        scripts=("heat.js", "report.js"),
    )


def _sections(report: Report) -> list[tuple[str, str, str]]:
    """The parts of the page: identifier, name, HTML."""
    found = []
    scored = report.scored
    if scored is not None:
        found.append(("scores", "Scores", scores_section(scored)))
        found.append(("lengths", "By length", lengths_section(scored)))
        found.append(("sentences", "Sentences", sentences_section(scored)))
        if scored.attention:
            found.append(("attention", "Attention", asset("report_attention.html")))
    else:
        found.append(("scores", "Scores", _unscored(report.unscored)))
    several = len(report.models) > 1
    for number, model in enumerate(report.models, start=1):
        key, of = (f"-{number}", f" of {model.name}") if several else ("", "")
        if model.curves is not None:
            heading = f"Training{of}"
            html = training_section(model.curves, heading=heading, key=key)
            found.append((f"training{key}", heading, html))
        heading = f"Model and corpus{of}"
        found.append((f"model{key}", heading, model_section(model, heading=heading, key=key)))
    found.append(("commands", "Commands", _commands(report.commands)))
    return [part for part in found if part[2]]


def _unscored(reason: str) -> str:
    return (
        '<section class="card" aria-labelledby="scores"><h2 id="scores">Scores</h2>'
        f"<p>{escape(reason)}</p></section>\n"
    )


def _commands(commands: Sequence[tuple[str, str]]) -> str:
    rows = "".join(
        f'<h3>{escape(name)}</h3><pre class="command"><code>{escape(command)}</code></pre>'
        for name, command in commands
    )
    return f"""\
<section class="card" aria-labelledby="commands">
<h2 id="commands">How to get this again</h2>
<p>mt {escape(__version__)}; versions of what counts stand in the signatures.</p>
{rows}
</section>
"""


def _data(scored: Scored | None) -> dict[str, object]:
    """What the script draws."""
    if scored is None:
        return {"sentences": []}
    return {
        "sentences": [
            _attended(scored, index, each) for index, each in sorted(scored.attention.items())
        ]
    }


def _attended(scored: Scored, index: int, attended: AttendedSentence) -> dict[str, object]:
    return {
        "index": index,
        "text": _short(scored.systems[0].hypotheses[index]),
        "queries": attended.target_pieces,
        "keys": attended.source_pieces,
        "weights": (attended.weights * _WHOLE).round().int().tolist(),
    }


def _short(text: str) -> str:
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 1].rstrip()}…"
