"""What a report tells, gathered from model folders and from what was scored."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from mt.cli.evaluation import Evaluation
from mt.cli.machine import typed_command
from mt.digests import blake2b, blocks_of_file
from mt.errors import MtError
from mt.evaluation.scores import word_splitter
from mt.events import Event, Notice
from mt.files import write_text
from mt.model_folder.card import fact_rows
from mt.model_folder.facts import read_facts
from mt.model_folder.folder import CARD, TRAINING, read_config
from mt.preparation.reuse import Prepared
from mt.reporting.contents import (
    ModelRecord,
    Report,
    Scored,
    ScoredFile,
    SystemOutput,
    TrivialSystem,
)
from mt.reporting.curves import read_curves
from mt.reporting.report_page import report_page
from mt.reporting.sentence_attention import AttendedSentence, attend_to_sentences
from mt.reporting.sentences import groups_of
from mt.translation.scorer import Scorer

NUM_EXAMPLES = 10
_ORDERING = ("chrf", "chrf++", "bleu", "exact", "ter", "ser")
"""Metrics by which sentences are ordered, of those that were counted the first."""


def write_report(
    page: Path,
    flags: dict[str, Any],
    evaluation: Evaluation | None,
    *,
    is_validation: bool = False,
    unscored: str = "",
) -> None:
    """Write the page on the models of `flags`, and on what came of an evaluation of them.

    Raises ModelFolderError where a folder is damaged.
    """
    folders = [] if flags["model"] is None else [flags["model"], *flags["others"]]
    models = [_model_record(folder) for folder in folders]
    scored = None
    if evaluation is not None:
        scored = _scored(evaluation, flags, is_validation=is_validation)
    html = report_page(
        Report(
            title=_title(models, scored),
            models=models,
            scored=scored,
            unscored=unscored,
            commands=_commands(models, flags),
        )
    )
    # Names of files need not be UTF-8.
    write_text(page, html.encode("utf-8", "backslashreplace").decode("utf-8"))
    click.echo(f"the report is in {page}", err=True)


def _title(models: Sequence[ModelRecord], scored: Scored | None) -> str:
    if models:
        return f"Report on {' + '.join(model.name for model in models)}"
    assert scored is not None
    if len(scored.systems) > 1:
        return f"Scores of {len(scored.systems)} systems"
    return f"Scores of {Path(scored.systems[0].name).name}"


def _model_record(folder: Path) -> ModelRecord:
    """What a folder tells; what it does not is named with the reason."""
    unknown = []
    try:
        curves = read_curves(folder)
    except MtError as error:
        curves = None
        unknown.append(f"The course of training is not known: {error}")
    try:
        corpus = Prepared.load(folder / TRAINING).corpus
    except MtError as error:
        corpus = None
        unknown.append(f"What became of the training text is not known: {error}")
    try:
        facts = read_facts(folder, read_config(folder))
        rows, commands = fact_rows(facts), facts.commands
        if not commands:
            unknown.append(
                "It is not recorded by which command the model was made; config.toml has every "
                "setting"
            )
    except MtError as error:
        rows, commands = [], []
        unknown.append(f"How the model was made is not known: {error}")
    try:
        card = (folder / CARD).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        card = ""
        unknown.append(f"The model card cannot be read: {error}")
    return ModelRecord(
        name=folder.resolve().name,
        facts=rows,
        commands=commands,
        card=card,
        curves=curves,
        corpus=corpus,
        unknown=unknown,
    )


def _scored(evaluation: Evaluation, flags: dict[str, Any], *, is_validation: bool) -> Scored:
    recipe = evaluation.recipe
    digests = [""] * (flags["model"] is not None) + [_digest(path) for path in flags["hyp"]]
    scored = Scored(
        files=_files(flags),
        is_validation=is_validation,
        systems=[
            SystemOutput(
                name=system.name, digest=digest, hypotheses=system.hypotheses, measured=measured
            )
            for system, digest, (_, measured) in zip(
                evaluation.systems, digests, evaluation.measured, strict=True
            )
        ],
        results=evaluation.results,
        references=evaluation.references,
        sources=evaluation.sources,
        place=min(range(len(recipe.metrics)), key=lambda i: _ORDERING.index(recipe.metrics[i])),
        split=word_splitter(recipe.tokenize),
        tokenize=recipe.tokenize,
        of_symbols=recipe.of_symbols,
        lowercase=recipe.lowercase,
        trivial=[
            TrivialSystem(
                name=row["system"],
                scores={score["name"]: score["score"] for score in row["scores"]},
            )
            for row in evaluation.record.get("trivial", ())
        ],
        said=[*evaluation.said, *_unseen(evaluation)],
        num_examples=flags.get("examples", NUM_EXAMPLES),
        attention={},
    )
    if flags["model"] is None:
        return scored
    return dataclasses.replace(scored, attention=_attention(scored, flags))


def _unseen(evaluation: Evaluation) -> list[str]:
    """That no line of the test set was trained on, where that is known: it is said nowhere else."""
    seen = evaluation.record.get("in_training")
    if seen is None or not seen["is_whole"] or seen["sources"] or seen["references"]:
        return []
    return [f"none of the {evaluation.record['lines']:,} lines occurs in the training text"]


def _files(flags: dict[str, Any]) -> list[ScoredFile]:
    """What was translated, and what the translations were scored against."""
    source, references = flags["source"], list(flags["files"])
    if flags["model"] is not None:
        source = references.pop(0)
    named = [("source", source)] if source is not None else []
    named += [("reference", path) for path in references]
    return [ScoredFile(role=role, name=str(path), digest=_digest(path)) for role, path in named]


def _digest(path: Path) -> str:
    if not path.is_file():
        return ""
    return f"BLAKE2b {blake2b(blocks_of_file(path))}"


def _attention(scored: Scored, flags: dict[str, Any]) -> dict[int, AttendedSentence]:
    """What the first model looks at in the sentences that are shown."""
    assert scored.sources is not None
    places = sorted({place for group in groups_of(scored) for place in group.places})
    hypotheses = scored.systems[0].hypotheses

    def listener(event: Event) -> None:
        if isinstance(event, Notice) and event.is_warning:
            click.echo(f"mt: warning: {event.text}", err=True)

    scorer = Scorer.load(
        flags["model"], device=flags["device"], keep_case=flags["keep_case"], listener=listener
    )
    pairs = {place: (scored.sources[place], hypotheses[place]) for place in places}
    return attend_to_sentences(scorer, pairs)


def _commands(models: Sequence[ModelRecord], flags: dict[str, Any]) -> list[tuple[str, str]]:
    """The command that made the page, and those that made its models."""
    commands = [("This page", typed_command())]
    for model in models:
        commands += [(f"The model {model.name}", command) for command in model.commands]
    if flags["model"] is not None:
        inspected = shlex.join(["mt", "inspect", str(flags["model"]), "--source"])
        commands.append(("Every layer and head over one sentence", f"{inspected} TEXT"))
    return commands
