"""The best and the worst sentences of systems, side by side with the references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mt.evaluation.comparison import gains, most_different
from mt.reporting.contents import Scored
from mt.reporting.differences import Span, differences
from mt.reporting.page import escape
from mt.reporting.systems import letter

_TAGS = {"hypothesis": "del", "reference": "ins"}


@dataclass(frozen=True, kw_only=True)
class SentenceGroup:
    """Sentences that are shown under one heading."""

    title: str
    indices: Sequence[int]
    is_open: bool
    """Whether they are in view before anyone asks."""


def groups_of(scored: Scored) -> list[SentenceGroup]:
    """The worst and the best sentences of the first system, and where others gain and lose most.

    Of sentences with the same score the longer ones come first; blank ones are none.
    """
    first = scored.ordering[0]
    name = first.metric.name
    values = first.sentence_scores()
    sign = -1 if first.metric.is_error else 1
    hypotheses, reference = scored.systems[0].hypotheses, scored.references[0]
    ranked = sorted(
        (i for i, text in enumerate(reference) if text.strip() or hypotheses[i].strip()),
        key=lambda i: (sign * values[i], -len(reference[i]), i),
    )
    half = (len(ranked) + 1) // 2
    worst = ranked[: min(scored.num_examples, half)]
    rest = ranked[len(worst) :]
    best = sorted(rest, key=lambda i: (-sign * values[i], -len(reference[i]), i))
    of = "" if len(scored.systems) == 1 else " of A"
    found = [
        SentenceGroup(title=f"Worst{of} by {name}", indices=worst, is_open=True),
        SentenceGroup(
            title=f"Best{of} by {name}", indices=best[: scored.num_examples], is_open=False
        ),
    ]
    for number, other in enumerate(scored.ordering[1:], start=1):
        better, worse = most_different(gains(first, other), scored.num_examples)
        title = f"Where {letter(number)} is {{}} than A by most {name}"
        found += [
            SentenceGroup(title=title.format("better"), indices=better, is_open=False),
            SentenceGroup(title=title.format("worse"), indices=worse, is_open=False),
        ]
    return [group for group in found if group.indices]


def sentences_section(scored: Scored) -> str:
    """The section, as HTML; empty where there is no sentence to show."""
    groups = groups_of(scored)
    if not groups:
        return ""
    return f"""\
<section class="card" aria-labelledby="sentences">
<h2 id="sentences">Sentences</h2>
<p class="small quiet"><del>words of the translation</del> that the reference lacks,
<ins>words of the reference</ins> that the translation lacks, <mark>words of both</mark> that stand
elsewhere. A sentence score is noise; it finds what to read.</p>
{"".join(_group(scored, group) for group in groups)}
</section>
"""


def _group(scored: Scored, group: SentenceGroup) -> str:
    shown = "\n".join(_example(scored, index) for index in group.indices)
    return (
        f'<details class="group"{" open" if group.is_open else ""}>'
        f"<summary>{escape(group.title)}: {len(group.indices)}</summary>\n{shown}\n</details>\n"
    )


def _example(scored: Scored, index: int) -> str:
    """One sentence with all that is known of it."""
    number, spans = _nearest(scored, index, scored.systems[0].hypotheses[index])
    several = len(scored.references) > 1
    name = f"Reference {number + 1} of {len(scored.references)}" if several else "Reference"
    parts = []
    if scored.sources is not None:
        parts.append(_text("source", "Source", escape(scored.sources[index])))
    parts.append(_text("reference", name, _marked(spans[1], "reference")))
    for count, system in enumerate(scored.systems):
        own = spans[0] if count == 0 else _nearest(scored, index, system.hypotheses[index])[1][0]
        label = "Translation" if len(scored.systems) == 1 else f"Translation {letter(count)}"
        heading = f"{label} <span class=quiet>{_scores(scored, count, index)}</span>"
        parts.append(_text("hypothesis", heading, _marked(own, "hypothesis")))
    button = ""
    if index in scored.attention:
        button = (
            f'<button type="button" data-index="{index}" hidden>Attention'
            f'<span class="aside"> of line {index + 1}</span></button>'
        )
    return (
        f'<article class="example"><header><h3>Line {index + 1:,}</h3>{button}</header>'
        f"{''.join(parts)}</article>"
    )


def _scores(scored: Scored, system: int, index: int) -> str:
    return " · ".join(
        f"{each.metric.name} {each.metric.sentence_score(each.counts[index]):.1f}"
        for each in scored.systems[system].measured
        if each.metric.name != "exact"
    )


def _nearest(
    scored: Scored, index: int, hypothesis: str
) -> tuple[int, tuple[list[Span], list[Span]]]:
    """The number of the reference that is most like a hypothesis, and how the two differ."""
    compared = [
        differences(
            hypothesis, texts[index], of_symbols=scored.of_symbols, lowercase=scored.lowercase
        )
        for texts in scored.references
    ]
    shares = [_share(spans) for spans, _ in compared]
    number = shares.index(max(shares))
    return number, compared[number]


def _share(spans: Sequence[Span]) -> int:
    """How many characters of a text the other has in the same order."""
    return sum(len(span.text) for span in spans if span.kind == "same")


def _text(kind: str, label: str, marked: str) -> str:
    text = marked if marked.strip() else "<em class=quiet>nothing</em>"
    return f'<div class="{kind}"><h4>{label}</h4><p dir="auto">{text}</p></div>'


def _marked(spans: Sequence[Span], side: str) -> str:
    """A text with its differences marked."""
    tags = {"only": _TAGS[side], "moved": "mark"}
    parts = []
    for span in spans:
        text, tag = escape(span.text), tags.get(span.kind)
        parts.append(f"<{tag}>{text}</{tag}>" if tag else text)
    return "".join(parts)
