"""How much a model loses on text in capitals, and on text without any.

    python benchmarks/casing.py MODEL SOURCE REFERENCE

The source is translated as it is written, in capitals and in small letters, by the search of the
model folder: with `--keep-case`, and without. Scores are of lower-cased BLEU, because capitals do
not come back. A row says how many lines were read in another case than they were written in, and
how many were split.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from mt.config import SearchConfig
from mt.evaluation.metrics import Recipe, measure, metrics_for
from mt.events import Event
from mt.formats.text import read_text_lines
from mt.model.device import set_threads
from mt.model_folder.folder import read_config
from mt.translation.options import TranslationOptions
from mt.translation.translator import Translator

_FORMS: dict[str, Callable[[str], str]] = {
    "as written": str,
    "capitals": str.upper,
    "small letters": str.lower,
}


def translate(
    model: Path, lines: Sequence[str], *, keep_case: bool, search: SearchConfig
) -> tuple[list[str], Counter[str]]:
    """Translations of the lines, and how many events of each kind there were."""
    counts: Counter[str] = Counter()

    def listener(event: Event) -> None:
        counts[type(event).__name__] += 1

    options = TranslationOptions(search=search, forks=True, keep_case=keep_case)
    translator = Translator.load(model, options=options, listener=listener)
    return [each.text for each in translator.translate(lines)], counts


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("reference", type=click.Path(path_type=Path))
@click.option("--lines", type=click.IntRange(min=1), help="The first so many alone.")
@click.option("--beam", type=click.IntRange(min=1), help="Else that of the model folder.")
@click.option("--threads", type=click.IntRange(min=1))
def main(
    model: Path,
    source: Path,
    reference: Path,
    lines: int | None,
    beam: int | None,
    threads: int | None,
) -> None:
    """Translate SOURCE in three forms with MODEL, and score against REFERENCE."""
    set_threads(threads)
    config = read_config(model)
    search = config.with_values({"search": {} if beam is None else {"beam": beam}}).search
    sources = read_text_lines(source)[:lines]
    references = [read_text_lines(reference)[:lines]]
    bleu = metrics_for(references, Recipe(metrics=("bleu",), lowercase=True))
    rows = []
    signature, as_written = "", 0.0
    print(f"{'form':14} {'case':9} {'BLEU':>6} {'share':>8} {'recased':>8} {'split':>6}")
    for form, change in _FORMS.items():
        changed = [change(line) for line in sources]
        for keep_case in (True, False):
            texts, counts = translate(model, changed, keep_case=keep_case, search=search)
            (measured,) = measure(texts, bleu)
            score = measured.score()
            signature = score.signature
            as_written = as_written or score.score
            row = {
                "form": form,
                "keep_case": keep_case,
                "bleu": round(score.score, 2),
                "recased": counts["LineRecased"],
                "split": counts["LineSplit"],
            }
            rows.append(row)
            print(
                f"{form:14} {'as it is' if keep_case else 'usual':9} {score.score:6.2f} "
                f"{score.score / (as_written or 1.0):8.2f} {row['recased']:8} {row['split']:6}"
            )
    record = {"model": str(model), "lines": len(sources), "signature": signature, "rows": rows}
    print(json.dumps(record))


if __name__ == "__main__":
    main()
