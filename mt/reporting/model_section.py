"""What a model is, and what became of its training text."""

from __future__ import annotations

from collections.abc import Sequence

from mt.events import CorpusRead
from mt.reporting.contents import ModelRecord
from mt.reporting.page import escape
from mt.reporting.tables import row, table


def model_section(model: ModelRecord, *, heading: str, key: str) -> str:
    """What the model folder says of the model and its corpus, as HTML."""
    unknown = "".join(f"<li>{escape(text)}</li>" for text in model.unknown)
    notes = f'<ul class="said small">{unknown}</ul>' if unknown else ""
    corpus = "" if model.corpus is None else _corpus(model.corpus)
    return f"""\
<section class="card" aria-labelledby="model{key}">
<h2 id="model{key}">{escape(heading)}</h2>
{_facts(model.facts)}
{corpus}
{notes}
{_card(model.card)}
</section>
"""


def _facts(facts: Sequence[tuple[str, str]]) -> str:
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts)
    return f"<dl>{rows}</dl>" if rows else ""


def _card(card: str) -> str:
    if not card:
        return ""
    return (
        "<details><summary>The model card as it stands in the folder</summary>"
        f'<pre dir="auto">{escape(card)}</pre></details>'
    )


def _corpus(corpus: CorpusRead) -> str:
    """Where every pair went: used, held out, or left out for a reason."""
    reasons = corpus.dropped
    parts = [
        ("used", "used", corpus.num_used),
        ("held out for validation", "held", corpus.num_held_out),
        *((_words(reason), "left", count) for reason, count in reasons.items()),
    ]
    total = max(corpus.num_read, 1)
    rows = [
        row(escape(name), [f"{count:,}", f"{100 * count / total:.1f} %"])
        for name, _, count in parts
        if count or name == "used"
    ]
    what = "what became of them"
    return f"""\
<h3>Training text</h3>
<p>{corpus.num_read:,} pairs were read, {corpus.num_used:,} used.</p>
{_whole(parts, total)}
{table("What became of the pairs", (what, "pairs", "of all"), rows, texts=(what,))}
{_origins(corpus)}
"""


def _words(reason: str) -> str:
    return f"left out: {reason.replace('_', ' ')}"


def _whole(parts: list[tuple[str, str, int]], total: int) -> str:
    """All pairs as one strip."""
    drawn, start = [], 0.0
    for _, kind, count in parts:
        width = 100 * count / total
        drawn.append(
            f'<rect class="part {kind}" x="{start:.2f}%" width="{width:.2f}%" height="14"/>'
        )
        start += width
    return (
        '<svg class="strip whole" width="100%" height="14" aria-hidden="true">'
        f"{''.join(drawn)}</svg>"
    )


def _origins(corpus: CorpusRead) -> str:
    """Each corpus of the mixture by itself."""
    reasons = list(corpus.dropped)
    columns = ["corpus", "BLAKE2b", "read", "used", "held out", *map(_words, reasons)]
    rows = []
    for origin in corpus.origins:
        counts = [origin.num_read, origin.num_used, origin.num_held_out]
        counts += [origin.dropped.get(reason, 0) for reason in reasons]
        weight = "" if origin.weight == 1 else f" <span class=quiet>× {origin.weight:g}</span>"
        rows.append(
            row(
                f"{escape(origin.name)}{weight}",
                [f"{count:,}" for count in counts],
                more=f"<td><code>{escape(origin.digest)}</code></td>",
            )
        )
    inner = table("Pairs by corpus", columns, rows, texts=("corpus", "BLAKE2b"))
    return f"<details><summary>By corpus: {len(corpus.origins)}</summary>\n{inner}</details>\n"
