"""Training: a new model from a corpus or from another model, or a run that is resumed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mt.config import CorpusConfig
from mt.config.filters import adjusted
from mt.config.toml import Values, merged
from mt.errors import ConfigError, DataError, ModelFolderError
from mt.events import Listener, Notice, ignore, to_all
from mt.exchange.forms import require_form
from mt.files import clean
from mt.files.folder_lock import folder_lock
from mt.model_folder import folder as model_folder
from mt.processes import num_cores
from mt.tasks.fill_folder import RunPlan, fill_folder, open_inputs
from mt.tasks.fine_tune import Start, announce_start, load_start
from mt.tasks.new_folder import new_model_folder, refuse_half_prepared
from mt.tasks.requests import TrainRequest
from mt.tasks.tensorboard import tensorboard_files
from mt.tasks.training_run import Run, Stop, TrainResult, Unstoppable, resume_command, run_training
from mt.training.checkpoint import list_checkpoints
from mt.training.distributed import Ranks, joined_ranks

_ON_RESUME = {"output", "resume", "budget", "machine", "tensorboard", "command"}
"""What a resumed run may be asked for."""
_FLAGS = {
    "corpus": "CORPUS",
    "languages": "--langs",
    "directions": "--langs",
    "weights": "--weight",
    "settings": "--set",
    "start": "--from",
    "output": "-o",
    "export_form": "--for",
}


def train(
    request: TrainRequest, listener: Listener = ignore, *, stop: Stop | None = None
) -> TrainResult:
    """Train the model that is asked for; what happens is reported to `listener`.

    `stop` can ask a run to save and to end. Of several ranks (torchrun) the first prepares the
    folder and reports; the others read it.

    Raises ConfigError for a request that cannot be, DataError for corpora and ModelFolderError for
    folders at fault, TrainingError where training cannot continue.
    """
    _refuse_contradictions(request)
    ranks = Ranks.of_environment()
    if request.machine.shard and ranks.size == 1:
        raise ConfigError(
            "--shard spreads the weights over several processes, but there is only this one",
            hint="Start with torchrun --nproc-per-node N -m mt train … --shard",
        )
    run = Run(
        folder=Path(request.resume or request.output or ""),
        machine=request.machine,
        ranks=ranks,
        listener=listener if ranks.is_first else ignore,
        stop=stop or Unstoppable(),
        command=request.command,
    )
    budget = _budget(request)
    start = None if request.resume is not None else _start_of(request)
    with joined_ranks(ranks):
        if not ranks.is_first:
            if not ranks.of_first(False):
                return TrainResult(folder=run.folder, reason="the first rank ended", exit_status=1)
            if request.resume is not None:
                return run_training(run, budget=budget)
            return run_training(run, start=start)
        board = run.folder if request.tensorboard else None
        with _others_waiting(ranks) as let_begin, tensorboard_files(board) as also:
            run = dataclasses.replace(run, listener=to_all([listener, also]))
            if request.resume is not None:
                return _resume(run, budget, let_begin)
            return _begin(run, request, start, let_begin)


def _begin(
    run: Run, request: TrainRequest, start: Start | None, let_begin: Callable[[], None]
) -> TrainResult:
    """Prepare a new folder, and train."""
    plan = _plan(request, start)
    draft = plan.draft(plan.overrides)  # what contradicts is refused before a folder is made
    if request.export_form is not None:
        require_form(draft, request.export_form)
    with new_model_folder(run.folder), _resumable(run):
        _ = run.device  # and so is a device that is not there
        inputs, values = open_inputs(plan)
        announce_start(start, plan.draft(values), inputs.train, run.listener)
        fill_folder(
            run.folder,
            inputs,
            plan,
            values,
            num_processes=run.machine.threads or num_cores(),
            listener=run.listener,
        )
        let_begin()
        return run_training(run, start=start)


def _plan(request: TrainRequest, start: Start | None) -> RunPlan:
    """What follows from a request before a corpus is read.

    Raises ConfigError where a tokenizer is asked for beside one that is taken over.
    """
    overrides = _overrides(request)
    if request.tokenizer_of is None:
        tokenizers = None
        if start is not None and not start.new_tokenizer:
            tokenizers = start.tokenizers
        return RunPlan(request=request, overrides=overrides, start=start, tokenizers=tokenizers)
    if start is not None or overrides.get("tokenizer"):
        raise ConfigError(
            f"the tokenizer of {request.tokenizer_of} is taken over, so none can be asked for",
            hint="Leave out --tokenizer, --vocab-size, --from and settings of [tokenizer]",
        )
    folder = Path(request.tokenizer_of)
    config = model_folder.read_config(folder)
    return RunPlan(
        request=request,
        overrides=merged(overrides, {"tokenizer": dataclasses.asdict(config.tokenizer)}),
        start=None,
        tokenizers=model_folder.load_tokenizers(folder, config),
    )


def _resume(run: Run, budget: Values, let_begin: Callable[[], None]) -> TrainResult:
    """Continue the run in the folder."""
    folder = run.folder
    refuse_half_prepared(folder)
    model_folder.read_config(folder).with_values(budget)
    with folder_lock(folder), _resumable(run):
        clean(folder)
        clean(folder / model_folder.TRAINING)
        if not list_checkpoints(folder / model_folder.TRAINING):
            raise ModelFolderError(f"{folder} holds no checkpoint to resume from")
        let_begin()
        return run_training(run, budget=budget)


@contextmanager
def _others_waiting(ranks: Ranks) -> Iterator[Callable[[], None]]:
    """Gives the first rank what lets the others begin; what ends before that ends them, too."""
    begun = []
    try:
        yield lambda: begun.append(ranks.of_first(True))
    finally:
        if not begun:
            ranks.of_first(False)


@contextmanager
def _resumable(run: Run) -> Iterator[None]:
    """Say how to continue a run that breaks off, unless what it saved is at fault."""
    try:
        yield
    except BaseException as error:
        is_of_folder = isinstance(error, DataError | ModelFolderError)
        if list_checkpoints(run.folder / model_folder.TRAINING) and not is_of_folder:
            text = f"what was saved stays; go on with: {resume_command(run.folder)}"
            run.listener(Notice(text=text))
        raise


def _refuse_contradictions(request: TrainRequest) -> None:
    """Raise ConfigError for what is missing, and for what a resumed run cannot change."""
    if request.resume is None:
        if not request.corpus:
            raise ConfigError("there is no corpus to train on", hint="Give CORPUS, or --resume")
        if request.output is None:
            raise ConfigError("there is no folder for the model", hint="Give -o")
        return
    usual = TrainRequest()
    for each in dataclasses.fields(request):
        given = getattr(request, each.name)
        if given == getattr(usual, each.name) or (each.name in _ON_RESUME - {"output"}):
            continue
        flag = _FLAGS.get(each.name, "--" + each.name.replace("_", "-"))
        raise ConfigError(
            f"{flag} cannot change when a run is resumed",
            hint="--resume takes the budget (--minutes, --epochs, --updates, --patience) and the "
            "machine only",
        )


def _budget(request: TrainRequest) -> Values:
    """The settings that have fields of their own and may change on a resume."""
    budget = request.budget
    given = {
        "max_minutes": budget.minutes,
        "max_epochs": budget.epochs,
        "max_updates": budget.updates,
        "patience": budget.patience,
    }
    return {"training": {key: value for key, value in given.items() if value is not None}}


def _overrides(request: TrainRequest) -> Values:
    """All settings that are asked for; fields of the request win over its `settings`."""
    fields: dict[str, dict[str, object]] = {
        "model": {"architecture": request.architecture},
        "tokenizer": {"kind": request.tokenizer, "vocab_size": request.vocab_size},
        "corpus": {"balance": request.balance},
        "training": {"batch_tokens": request.batch_tokens, "seed": request.seed},
    }
    given = {
        section: {key: value for key, value in keys.items() if value is not None}
        for section, keys in fields.items()
    }
    overrides = merged(request.settings, given, _budget(request))
    if request.drop or request.keep:
        before = overrides.get("corpus", {}).get("drop", CorpusConfig().drop)
        left = adjusted(before, add=request.drop, remove=request.keep)
        overrides = merged(overrides, {"corpus": {"drop": left}})
    return overrides


def _start_of(request: TrainRequest) -> Start | None:
    """The model that a new run starts from, if there is one."""
    if request.start is None:
        if request.also_dev:
            raise ConfigError(
                "--also-dev shows what a run with --from forgets, and there is no --from",
                hint="Leave it out, or score by mt eval",
            )
        if request.new_tokenizer:
            raise ConfigError(
                "--new-tokenizer has an effect with --from only",
                hint="Without it every run trains a tokenizer, or give --from PARENT",
            )
        return None
    assert request.output is not None
    return load_start(
        Path(request.start),
        Path(request.output),
        preset_name=request.preset,
        overrides=_overrides(request),
        new_tokenizer=request.new_tokenizer,
    )
