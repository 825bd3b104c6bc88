"""The page of `mt inspect`: all attention over one pair, to look at and walk through."""

from __future__ import annotations

import math
from string import Template

from mt.reporting.attention import AttendedPair, AttentionMaps
from mt.reporting.heads import (
    LEAST_GAIN,
    LEAST_QUERIES,
    LEAST_WEIGHT,
    PATTERNS,
    HeadProfile,
    Kind,
    Pattern,
)
from mt.reporting.page import asset, escape, page

KIND_NAMES: dict[Kind, str] = {
    "cross": "Cross-attention",
    "encoder": "Encoder self-attention",
    "decoder": "Decoder self-attention",
    "stream": "Self-attention of the stream",
}

_BUTTONS: dict[Kind, tuple[str, str]] = {
    "cross": ("Cross", "-attention"),
    "encoder": ("Encoder", " self-attention"),
    "decoder": ("Decoder", " self-attention"),
    "stream": ("Self-attention", " of source and target in one stream"),
}
"""The same on buttons: what is always shown, and what where there is room."""

SHORT: dict[Pattern, str] = {
    "previous-token": "prev",
    "next-token": "next",
    "diagonal": "diag",
    "end-of-sentence": "end",
    "start-of-sentence": "start",
}
"""Names of patterns where there is little room."""

_AXES: dict[Kind, tuple[str, str]] = {
    "cross": ("the steps of the decoder", "the source tokens"),
    "encoder": ("the source tokens that attend", "the source tokens attended to"),
    "decoder": ("the target tokens fed so far, that attend", "those attended to"),
    "stream": ("the tokens of source and target that attend", "those attended to"),
}

_DEFINITIONS: dict[Pattern, str] = {
    "previous-token": "the token before (self-attention)",
    "next-token": "the token after (the encoder’s self-attention)",
    "diagonal": "in self-attention the token itself; in cross-attention the token as far along the "
    "source as the token is along the target, or a neighbour of it",
    "end-of-sentence": "the end symbol of the source",
    "start-of-sentence": "the start symbol of the target (the decoder’s self-attention), or the "
    "first token of a stream",
}

_WHOLE = 10_000
"""Weights go into the page in ten-thousandths."""


def attention_page(pair: AttendedPair, *, model: str) -> str:
    """The page, as HTML, on what the model called `model` attends to over `pair`."""
    return page(
        title=f"Attention of {model}",
        body=_body(pair, model),
        data=_data(pair),
        styles=("heat.css", "attention.css"),
        scripts=("heat.js", "attention.js"),
    )


def _body(pair: AttendedPair, model: str) -> str:
    patterns = [
        f"<dt>{name} ({SHORT[name]})</dt><dd>{text}</dd>" for name, text in _DEFINITIONS.items()
    ]
    return Template(asset("attention.html")).substitute(
        model=escape(model),
        facts=_facts(pair),
        kinds="\n".join(_kind_button(maps.kind) for maps in pair.maps),
        tables="\n".join(_table(maps) for maps in pair.maps),
        least_weight=f"{LEAST_WEIGHT:g}",
        least_gain=f"{LEAST_GAIN:g}",
        least_queries=LEAST_QUERIES,
        patterns="\n".join(patterns),
    )


def _kind_button(kind: Kind) -> str:
    name, where_there_is_room = _BUTTONS[kind]
    return (
        f'<label><input type="radio" name="kind" value="{kind}">'
        f'<span>{name}<span class="wide">{where_there_is_room}</span></span></label>'
    )


def _facts(pair: AttendedPair) -> str:
    """What was read and predicted, and how likely it was."""
    total = sum(pair.log_probabilities)
    mean = total / len(pair.log_probabilities)
    whose = "translation by the model itself" if pair.is_own else "translation as given"
    rows = [
        ("Source", f"<span dir=auto>{escape(pair.source)}</span>"),
        (
            "Target",
            f"<span dir=auto>{escape(pair.target)}</span> <span class=quiet>({whose})</span>",
        ),
        (
            "Log-probability",
            f"{total:.3f} nats over {len(pair.log_probabilities)} tokens with the end; "
            f"{mean:.3f} a token",
        ),
    ]
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in rows) + "</dl>"


def _table(maps: AttentionMaps) -> str:
    """The heads of one kind with their numbers; it needs no script."""
    profiles = [profile for layer in maps.profiles for profile in layer]
    num_named = sum(bool(profile.names) for profile in profiles)
    patterns = PATTERNS[maps.kind]
    head = "".join(f'<th scope="col" class="number">{pattern}</th>' for pattern in patterns)
    rows = "\n".join(_row(maps.kind, profile) for profile in profiles)
    return f"""\
<details{" open" if maps.kind in ("cross", "stream") else ""}>
<summary>{KIND_NAMES[maps.kind]}: {len(profiles)} heads, {num_named} named</summary>
<div class="scroll"><table class="list">
<thead><tr><th scope="col">head</th><th scope="col">looks like</th>\
<th scope="col" class="number">entropy, nats</th>\
<th scope="col" class="number">of the most</th>{head}</tr></thead>
<tbody>
{rows}
</tbody></table></div>
</details>
"""


def _row(kind: Kind, profile: HeadProfile) -> str:
    layer, head = profile.layer + 1, profile.head + 1
    numbers = [f"{profile.entropy:.3f}", f"{profile.spread:.0%}".replace("%", " %")]
    numbers += [f"{weight:.3f}" for weight in profile.weights.values()]
    cells = "".join(f'<td class="number">{number}</td>' for number in numbers)
    return (
        f'<tr><th scope="row"><a href="#{kind}-{layer}-{head}">layer {layer}, head {head}</a></th>'
        f"<td>{', '.join(profile.names)}</td>{cells}</tr>"
    )


def _data(pair: AttendedPair) -> dict[str, object]:
    """What the script draws."""
    return {
        "short": SHORT,
        "fed": pair.fed_pieces,
        "probabilities": [round(math.exp(value), 6) for value in pair.log_probabilities],
        "starts": {maps.kind: _start(maps) for maps in pair.maps},
        "kinds": [_kind_data(maps) for maps in pair.maps],
    }


def _kind_data(maps: AttentionMaps) -> dict[str, object]:
    rows, columns = _AXES[maps.kind]
    whole = (maps.weights * _WHOLE).round().int().tolist()
    return {
        "id": maps.kind,
        "name": KIND_NAMES[maps.kind],
        "rows": rows,
        "columns": columns,
        "axes": f"Rows: {rows}. Columns: {columns}.",
        "queries": maps.queries,
        "keys": maps.keys,
        "layers": [
            [
                {
                    "entropy": round(profile.entropy, 4),
                    "spread": round(profile.spread, 4),
                    "names": profile.names,
                    "weights": whole[profile.layer][profile.head],
                }
                for profile in layer
            ]
            for layer in maps.profiles
        ],
    }


def _start(maps: AttentionMaps) -> str:
    """The head that is shown first: the one with most weight on a token that moves along."""
    moving: tuple[Pattern, ...] = ("diagonal", "previous-token", "next-token")
    profiles = [profile for layer in maps.profiles for profile in layer]
    best = max(
        profiles, key=lambda profile: max(profile.weights.get(pattern, 0.0) for pattern in moving)
    )
    return f"{maps.kind}-{best.layer + 1}-{best.head + 1}"
