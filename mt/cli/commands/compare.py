"""`mt compare`: where one system is better than another."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from mt.cli.comparison_report import Comparison

_METRICS = ["bleu", "chrf", "chrf++", "ter", "exact"]


@click.command("compare")
@click.argument(
    "references", nargs=-1, required=True, metavar="REF...", type=click.Path(path_type=Path)
)
@click.option(
    "--sys",
    "systems",
    multiple=True,
    required=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Translations of a system; two or more, each compared with the first.",
)
@click.option(
    "--metric",
    type=click.Choice(_METRICS),
    default="chrf",
    show_default=True,
    help="What parts sentences and groups.",
)
@click.option(
    "--test",
    type=click.Choice(["bs", "ar"]),
    default="ar",
    show_default=True,
    help="Approximate randomisation or bootstrap resampling.",
)
@click.option("--resamples", type=click.IntRange(min=100), help="As in mt eval.")
@click.option("--seed", type=click.IntRange(min=0), default=12345, show_default=True)
@click.option(
    "--source", type=click.Path(path_type=Path), help="Shown with the sentences that differ most."
)
@click.option(
    "--train",
    type=click.Path(path_type=Path),
    help="Training text of the target language, for scores by frequency of words.",
)
@click.option(
    "--origins",
    type=click.Path(path_type=Path),
    help="A file with a name for each line, for scores by origin.",
)
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="Sentences shown of the largest gains, and of the largest losses.",
)
@click.option("--tokenize", help="As in mt eval; else by the target language, or 13a.")
@click.option("--target-language", "--tgt-lang", metavar="CODE", help="As in mt eval.")
@click.option("--lowercase", is_flag=True, help="Compare without case.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(**flags: Any) -> None:
    """Compare systems: tests, wins by sentence, the sentences that differ most, scores by group.

    \b
    mt compare test.en --sys old.en --sys new.en --source test.de --train train.en
    """
    if len(flags["systems"]) < 2:
        raise click.UsageError("give two --sys at least")
    from mt.cli.comparison_report import describe

    comparisons = _compare(flags)
    if flags["as_json"]:
        click.echo(json.dumps([each.record for each in comparisons], ensure_ascii=False))
        return
    for number, comparison in enumerate(comparisons):
        for line in ["", *describe(comparison)] if number else describe(comparison):
            click.echo(line)


def _compare(flags: dict[str, Any]) -> list[Comparison]:
    """Each system beside the first."""
    from mt.cli.comparison_report import Comparison
    from mt.cli.console import stderr_console
    from mt.cli.scored_text import (
        choose_recipe,
        read_for,
        read_references,
        read_systems,
        warn_of_hypotheses,
        warn_of_references,
    )
    from mt.evaluation.comparison import LENGTHS, count_words, range_name
    from mt.evaluation.metrics import measure, metrics_for, too_long_for_ter
    from mt.evaluation.results import Sampling, results_of
    from mt.evaluation.scores import word_splitter
    from mt.formats.text import read_text_lines

    say = stderr_console().print
    paths = list(flags["references"])
    systems = read_systems(flags["systems"], option="--sys")
    references = read_references(paths, [(each.name, len(each.hypotheses)) for each in systems])
    num_lines = len(references[0])
    sources = read_for(flags["source"], num_lines)
    origins = read_for(flags["origins"], num_lines)
    recipe = choose_recipe(
        paths,
        language=flags["target_language"] or "",
        tokenize=flags["tokenize"],
        lowercase=flags["lowercase"],
        say=say,
    )
    words = too_long_for_ter([*references, *(system.hypotheses for system in systems)])
    if words is not None and flags["metric"] != "ter":
        names = tuple(name for name in recipe.metrics if name != "ter")
        recipe = dataclasses.replace(recipe, metrics=names)
        say(f"mt: TER is left out: a segment has {words:,} words (--metric ter counts it)")
    metrics = metrics_for(references, recipe)
    for system in systems:
        warn_of_hypotheses(system, is_tokenised=False, is_alone=False, say=say)
    warn_of_references(references, paths, recipe, say=say)
    split = word_splitter(recipe.tokenize)
    frequencies = None
    if flags["train"] is not None:
        frequencies = count_words(read_text_lines(flags["train"]), split)
    measured = [(each.name, measure(each.hypotheses, metrics)) for each in systems]
    sampling = Sampling(
        confidence=False, paired=flags["test"], resamples=flags["resamples"], seed=flags["seed"]
    )
    results = results_of(measured, sampling)
    place = recipe.metrics.index(flags["metric"])
    return [
        Comparison(
            systems=(systems[0], systems[number]),
            results=(
                results[: len(metrics)],
                results[number * len(metrics) : (number + 1) * len(metrics)],
            ),
            measured=(measured[0][1][place], measured[number][1][place]),
            references=references,
            sources=sources,
            groups={
                "words of the reference": [
                    range_name(len(split(line)), LENGTHS) for line in references[0]
                ],
                **({} if origins is None else {"origin": origins}),
            },
            frequencies=frequencies,
            split=split,
            num_examples=flags["examples"],
        )
        for number in range(1, len(systems))
    ]
