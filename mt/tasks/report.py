"""Reports: all that is known of models and of what was scored, as a page."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mt.errors import ConfigError, MtError
from mt.evaluation.scores import word_splitter
from mt.events import Event, Listener, Notice, ignore, notice_text
from mt.files import require_writable, write_text
from mt.files.digests import blake2b, blocks_of_file
from mt.model_folder.card import fact_rows
from mt.model_folder.facts import read_facts
from mt.model_folder.folder import CARD, DEV, TRAINING, read_config, read_dev_pairs
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
from mt.tasks.evaluate import Evaluation, evaluate
from mt.tasks.requests import EvaluateRequest, ReportRequest, StrPath
from mt.translation.scorer import Scorer

NUM_EXAMPLES = 10
_ORDERING = ("chrf", "chrf++", "bleu", "exact", "ter", "ser")
"""Metrics by which sentences are ordered, of those that were counted the first."""


@dataclass(frozen=True, kw_only=True)
class _Page:
    """What a page is asked to show beside what was scored."""

    is_validation: bool = False
    """Whether the test set is the validation set of the model."""
    unscored: str = ""
    """Why nothing was scored."""
    num_examples: int = NUM_EXAMPLES
    command: str = ""


def report(request: ReportRequest, listener: Listener = ignore) -> Path:
    """Write a page with all that is known of a model; gives where it is.

    Raises ConfigError and DataError as `evaluate` does, ModelFolderError for a folder at fault.
    """
    model, output = Path(request.model), Path(request.output)
    if (request.source is None) != (not request.references):
        raise ConfigError("a score needs SOURCE and REFERENCE: give both")
    if request.source is not None and request.training_only:
        raise ConfigError("--training-only scores nothing: leave SOURCE and REFERENCE out")
    require_writable(output)
    read_config(model)  # what is no model folder is refused before all else
    source, references = request.source, request.references
    unscored = ""
    if request.training_only:
        unscored = "Nothing was scored: --training-only was given."
    elif source is None and read_config(model).directions:
        unscored = (
            "Nothing was scored: the model has several directions, of which the curves show the "
            "scores. Give SOURCE, REFERENCE and --to for more."
        )
    elif source is None:
        source, *references = (model / name for name in DEV)
        if not read_dev_pairs(model):
            unscored = (
                "Nothing was scored: no test set was given, and the model folder holds no "
                "validation set. Give SOURCE and REFERENCE."
            )
    asked = EvaluateRequest(
        model=model,
        source=source,
        references=references,
        scoring=request.scoring,
        resampling=request.resampling,
        confidence=True,
        trivial=request.trivial,
        decoding=request.decoding,
    )
    if unscored:
        listener(Notice(text=unscored))
    page = _Page(
        is_validation=request.source is None,
        unscored=unscored,
        num_examples=request.examples,
        command=request.command,
    )
    evaluation = None if unscored else evaluate(asked, listener)
    _write(output, asked, evaluation, page, listener)
    return output


def write_report(
    output: Path,
    request: EvaluateRequest,
    evaluation: Evaluation,
    listener: Listener = ignore,
    *,
    command: str = "",
) -> None:
    """Write the page of a report on an evaluation that came of `request`."""
    _write(output, request, evaluation, _Page(command=command), listener)


def _write(
    output: Path,
    request: EvaluateRequest,
    evaluation: Evaluation | None,
    page: _Page,
    listener: Listener,
) -> None:
    folders = [] if request.model is None else [Path(request.model), *map(Path, request.others)]
    models = [_model_record(folder) for folder in folders]
    scored = None
    if evaluation is not None:
        scored = _scored(evaluation, request, page, listener)
    html = report_page(
        Report(
            title=_title(models, scored),
            models=models,
            scored=scored,
            unscored=page.unscored,
            commands=_commands(models, request.model, page.command),
        )
    )
    # Names of files need not be UTF-8.
    write_text(output, html.encode("utf-8", "backslashreplace").decode("utf-8"))


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


def _scored(
    evaluation: Evaluation, request: EvaluateRequest, page: _Page, listener: Listener
) -> Scored:
    recipe = evaluation.recipe
    digests = [""] * (request.model is not None)
    digests += [_digest(Path(path)) for path in request.hypotheses]
    scored = Scored(
        files=_files(request),
        is_validation=page.is_validation,
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
        main_metric=min(
            range(len(recipe.metrics)), key=lambda i: _ORDERING.index(recipe.metrics[i])
        ),
        split=word_splitter(recipe.tokenize),
        tokenize=recipe.tokenize,
        of_symbols=recipe.of_symbols,
        lowercase=recipe.lowercase,
        trivial=[
            TrivialSystem(name=each.system, scores={s.name: s.score for s in each.scores})
            for each in evaluation.trivial or ()
        ],
        said=[*map(notice_text, evaluation.notices), *_unseen(evaluation)],
        num_examples=page.num_examples,
        attention={},
    )
    if request.model is None:
        return scored
    return dataclasses.replace(scored, attention=_attention(scored, request, listener))


def _unseen(evaluation: Evaluation) -> list[str]:
    """That no line of the test set was trained on, where that is known: it is said nowhere else."""
    seen = evaluation.overlap
    if seen is None or not seen.is_whole or seen.num_either:
        return []
    return [f"none of the {seen.num_lines:,} lines occurs in the training text"]


def _files(request: EvaluateRequest) -> list[ScoredFile]:
    """What was translated, and what the translations were scored against."""
    named = [] if request.source is None else [("source", Path(request.source))]
    named += [("reference", Path(path)) for path in request.references]
    return [ScoredFile(role=role, name=str(path), digest=_digest(path)) for role, path in named]


def _digest(path: Path) -> str:
    if not path.is_file():
        return ""
    return f"BLAKE2b {blake2b(blocks_of_file(path))}"


def _attention(
    scored: Scored, request: EvaluateRequest, listener: Listener
) -> dict[int, AttendedSentence]:
    """What the first model looks at in the sentences that are shown."""
    assert scored.sources is not None and request.model is not None
    indices = sorted({index for group in groups_of(scored) for index in group.indices})
    hypotheses = scored.systems[0].hypotheses

    def warnings_only(event: Event) -> None:
        if isinstance(event, Notice) and event.is_warning:
            listener(event)

    scorer = Scorer.load(
        Path(request.model),
        to=request.decoding.to,
        device=request.decoding.device,
        keep_case=request.decoding.keep_case,
        listener=warnings_only,
    )
    pairs = {index: (scored.sources[index], hypotheses[index]) for index in indices}
    return attend_to_sentences(scorer, pairs)


def _commands(
    models: Sequence[ModelRecord], model: StrPath | None, command: str
) -> list[tuple[str, str]]:
    """The command that made the page, and those that made its models."""
    commands = [("This page", command)] if command else []
    for each in models:
        commands += [(f"The model {each.name}", one) for one in each.commands]
    if model is not None:
        inspected = shlex.join(["mt", "inspect", str(model), "--source"])
        commands.append(("Every layer and head over one sentence", f"{inspected} TEXT"))
    return commands
