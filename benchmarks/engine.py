"""What mt by CTranslate2 says beside mt's own search, and how far the batch changes it.

    python benchmarks/engine.py MODEL --source test.en --source other.en

MODEL is a model folder, the files of --source hold one sentence a line. For each precision and
beam: lines of which the translation is another one in batches of 1, 7 and 64 and in another
order (mt's own search in float32 has none); and in float32 the lines that mt's own search
translates otherwise, by the reason: a tie, or a hypothesis that scores better or worse.
"""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from mt import TranslationOptions, load_translator
from mt.config import SearchPrecision
from mt.formats.text import read_text_lines
from mt.model_folder.files import read_config
from mt.tasks.requests import EngineName
from mt.translation.translation import TranslatedText

_TIE = 1e-4  # of the log-probability of a token


def best(
    model: Path,
    lines: Sequence[str],
    *,
    beam: int,
    engine: EngineName = "ctranslate2",
    precision: SearchPrecision = "float32",
    batch_size: int | None = None,
) -> list[TranslatedText]:
    """The best translation of each line."""
    search = dataclasses.replace(read_config(model).search, beam=beam, n_best=1)
    options = TranslationOptions(
        search=search, device="cpu", precision=precision, batch_size=batch_size, forks=True
    )
    translator = load_translator(model, engine=engine, options=options)
    return [each.hypotheses[0] for each in translator.translate(lines)]


def by_batch(
    model: Path, lines: Sequence[str], *, beam: int, precision: SearchPrecision
) -> dict[str, int]:
    """Of how many lines the translation is another one than in batches of 64."""
    order = list(range(len(lines)))
    random.Random(1).shuffle(order)

    def texts(given: Sequence[str], batch_size: int) -> list[str]:
        found = best(model, given, beam=beam, precision=precision, batch_size=batch_size)
        return [each.text for each in found]

    usual = texts(lines, 64)
    shuffled = texts([lines[i] for i in order], 64)
    others = {
        "batches of 1": texts(lines, 1),
        "batches of 7": texts(lines, 7),
        "shuffled": [text for _, text in sorted(zip(order, shuffled, strict=True))],
    }
    counts = {
        name: sum(a != b for a, b in zip(usual, found, strict=True))
        for name, found in others.items()
    }
    kinds = zip(usual, *others.values(), strict=True)
    return {**counts, "any of them": sum(len(set(each)) > 1 for each in kinds)}


def against_own(model: Path, lines: Sequence[str], *, beam: int) -> dict[str, int]:
    """How many lines mt's own search translates otherwise, by the reason."""
    reasons: Counter[str] = Counter()
    own = best(model, lines, beam=beam, engine="mt")
    for ours, theirs in zip(own, best(model, lines, beam=beam), strict=True):
        if ours.tokens == theirs.tokens:
            continue
        gain = theirs.score - ours.score
        is_tie = abs(gain) < _TIE
        reasons["tie" if is_tie else "better score" if gain > 0 else "worse score"] += 1
    return {"lines that differ": reasons.total(), **reasons}


@click.command()
@click.argument("model", type=click.Path(exists=True, path_type=Path))
@click.option("--source", "sources", multiple=True, required=True, type=click.Path(path_type=Path))
@click.option("--lines", "count", default=10_000, show_default=True, help="Most lines taken.")
@click.option("--precision", "precisions", multiple=True, default=("float32", "int8"))
@click.option("--beam", "beams", multiple=True, type=int, default=(5, 1))
def main(
    model: Path,
    sources: Sequence[Path],
    count: int,
    precisions: Sequence[SearchPrecision],
    beams: Sequence[int],
) -> None:
    """Measure, and print a line a finding."""
    lines = [line for path in sources for line in read_text_lines(path)][:count]
    click.echo(f"{len(lines)} lines of {', '.join(map(str, sources))}")
    for precision in precisions:
        for beam in beams:
            found = by_batch(model, lines, beam=beam, precision=precision)
            click.echo(f"{precision}, beam {beam}, otherwise than in batches of 64: {found}")
            if precision == "float32":
                found = against_own(model, lines, beam=beam)
                click.echo(f"{precision}, beam {beam}, otherwise than mt's own search: {found}")


if __name__ == "__main__":
    main()
