"""Sequence-level distillation: a small fast model learns what a large one translates.

The teacher translates the sources of the corpus by beam search, and the student is trained on that
as on any other corpus (Kim and Rush 2016). Then both translate the validation set, whose
references are those of people.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mt.config import Config
from mt.config.presets import fast_preset_for
from mt.config.toml import Values, merged
from mt.errors import ConfigError
from mt.events import Listener, Notice, StageStarted, ignore
from mt.formats import open_corpora
from mt.formats.options import ReadingOptions
from mt.languages import is_same_language
from mt.model_folder import folder as model_folder
from mt.synthetic.account import Account
from mt.synthetic.inputs import Inputs
from mt.tasks.compare_speed import Contender, Measurement, measured_in_turns
from mt.tasks.dev_scores import scoring_for
from mt.tasks.new_folder import refuse_taken
from mt.tasks.requests import Decoding, SearchOverrides, TrainRequest, TranslateRequest
from mt.tasks.synthetic_requests import DistilRequest
from mt.tasks.synthetic_text import MadePairs, PairsRequest, made_pairs, name_of
from mt.tasks.train import train
from mt.tasks.training_run import Stop, TrainResult, resume_command
from mt.tasks.translate import Translating
from mt.training.checkpoint import list_checkpoints
from mt.training.distributed import Ranks

_MOST_LINES = 1000  # of the validation set, by which teacher and student are measured
_BEAMS = (5, 1)


@dataclass(frozen=True, kw_only=True)
class Distillation:
    """What came of a distillation."""

    text: Path
    """The file of what the teacher translated."""
    account: Account
    """What became of every line of the corpus and of the text."""
    training: TrainResult
    measured: Sequence[Measurement] = ()
    """Teacher and student, with a beam of 5 and greedily; none where the run was interrupted."""

    @property
    def record(self) -> dict[str, object]:
        """The distillation as JSON."""
        return {
            "student": str(self.training.folder),
            "text": str(self.text),
            "lines": self.account.record,
            "ended": self.training.reason,
            "best_update": self.training.best_update,
            "measured": [each.record for each in self.measured],
        }


def distil(
    request: DistilRequest, listener: Listener = ignore, *, stop: Stop | None = None
) -> Distillation:
    """Let the teacher translate, train the student, and measure both.

    A request that was interrupted goes on where it was, in each of these stages.

    Raises ConfigError for a request that cannot be, and for an output of another one; DataError
    for text and ModelFolderError for folders at fault.
    """
    if not request.corpus and not request.mono:
        raise ConfigError("there is nothing to translate", hint="Give CORPUS, or --mono")
    if Ranks.of_environment().size > 1:
        raise ConfigError(
            "mt distil works in one process",
            hint="Let it translate first, then train on its text by torchrun … -m mt train",
        )
    teachers = [Path(request.teacher), *map(Path, request.others)]
    config = model_folder.read_config(teachers[0])
    _refuse_other_languages(request, config)
    folder = Path(request.output)
    asked = _training(request, teachers, config)
    is_begun = bool(list_checkpoints(folder / model_folder.TRAINING))
    if is_begun:
        _require_own(folder, asked)
    else:
        refuse_taken(folder)
    pairs = _translated(request, teachers, config, listener)
    for line in pairs.summary.account.lines():
        listener(Notice(text=line))
    if is_begun:
        asked = TrainRequest(
            resume=folder, budget=request.budget, machine=request.machine, command=request.command
        )
    result = train(asked, listener, stop=stop)
    done = Distillation(text=pairs.path, account=pairs.summary.account, training=result)
    if result.exit_status or result.best_update is None:
        return done
    listener(StageStarted(name="measuring teacher and student"))
    return dataclasses.replace(done, measured=_measured(request, teachers, folder, listener))


def _text_of(request: DistilRequest) -> Path:
    """Where the translations of the teacher go."""
    if request.text is not None:
        return Path(request.text)
    folder = Path(request.output)
    if not folder.name:
        raise ConfigError(f"-o {folder} gives the student no name", hint="Name a folder to make")
    return folder.with_name(f"{folder.name}.distilled.jsonl")


def _translated(
    request: DistilRequest, teachers: Sequence[Path], config: Config, listener: Listener
) -> MadePairs:
    """The sources of the corpus and the lines of the text with their translations."""
    known = _languages(config)
    reading = ReadingOptions(languages=request.languages or known, columns=request.columns)
    opened = open_corpora(request.corpus, dataclasses.replace(reading, keep_invalid=True))
    text = _text_of(request)
    text.parent.mkdir(parents=True, exist_ok=True)
    machine = request.machine
    asked = PairsRequest(
        output=text,
        inputs=Inputs(readers=opened.readers, paths=tuple(map(Path, request.mono))),
        is_backwards=False,
        models=teachers,
        decoding=Decoding(
            search=request.search,
            engine=request.engine,
            device=machine.device,
            precision=request.teacher_precision,
            threads=machine.threads,
        ),
        filtering=request.filtering,
        command=request.command,
    )
    return made_pairs(asked, listener)


def _training(request: DistilRequest, teachers: Sequence[Path], config: Config) -> TrainRequest:
    """The request by which a new student is trained."""
    of_teacher: Values = {
        "": {"distilled_from": name_of(teachers)},
        "search": dataclasses.asdict(config.search),
    }
    trains_tokenizer = (
        request.tokenizer is not None
        or request.vocab_size is not None
        or bool(request.settings.get("tokenizer"))
    )
    return TrainRequest(
        corpus=[str(_text_of(request))],
        against=request.against,
        languages=request.languages or _languages(config),
        output=request.output,
        dev=request.dev or _dev_of(teachers[0]),
        preset=request.preset or fast_preset_for(config.model.d_model),
        architecture=request.architecture,
        tokenizer=request.tokenizer,
        vocab_size=request.vocab_size,
        tokenizer_of=None if trains_tokenizer else teachers[0],
        batch_tokens=request.batch_tokens,
        seed=request.seed,
        settings=merged(of_teacher, request.settings),
        budget=request.budget,
        machine=request.machine,
        command=request.command,
    )


def _languages(config: Config) -> tuple[str, str] | None:
    """Source and target of a model, where it knows both."""
    known = config.source_language, config.target_language
    return known if all(known) else None


def _refuse_other_languages(request: DistilRequest, config: Config) -> None:
    """Raise ConfigError for a direction that is not the teacher's, and where it has several."""
    if config.directions:
        raise ConfigError(
            f"{request.teacher} translates in several directions, and a student has one",
            hint="Translate its text by mt translate --to, and train on that",
        )
    known, asked = _languages(config), request.languages
    if known and asked and not all(map(is_same_language, known, asked)):
        raise ConfigError(
            f"--langs {'-'.join(asked)}: {request.teacher} translates {'-'.join(known)}",
            hint="Leave it out: the languages are those of the teacher",
        )


def _dev_of(teacher: Path) -> list[str]:
    """The validation set of the teacher; raises ConfigError where its folder has none."""
    if not model_folder.read_dev_pairs(teacher):
        raise ConfigError(f"{teacher} holds no validation set", hint="Give one by --dev")
    return [str(teacher / name) for name in model_folder.DEV]


def _require_own(folder: Path, asked: TrainRequest) -> None:
    """Raise ConfigError where the run in `folder` is not the one that is asked for."""
    config = model_folder.read_config(folder)
    readers = open_corpora(asked.dev, ReadingOptions(languages=asked.languages)).readers
    dev = [(pair.source, pair.target) for reader in readers for pair in reader if not pair.fault]
    if dev != model_folder.read_dev_pairs(folder):
        raise ConfigError(
            f"{folder} holds a run with another validation set",
            hint=f"Choose another -o, or go on with that one: {resume_command(folder)}",
        )
    wanted = merged(asked.settings)
    wanted[""] = {**wanted.get("", {}), "preset": asked.preset}
    for section, key, value in (
        ("training", "batch_tokens", asked.batch_tokens),
        ("training", "seed", asked.seed),
        ("tokenizer", "kind", asked.tokenizer),
        ("tokenizer", "vocab_size", asked.vocab_size),
        ("model", "architecture", asked.architecture),
    ):
        if value is not None:
            wanted.setdefault(section, {})[key] = value
    for section, values in wanted.items():
        of_section = getattr(config, section) if section else config
        for key, value in values.items():
            if getattr(of_section, key) != value:
                name = f"{section}.{key}".strip(".")
                raise ConfigError(
                    f"{folder} holds a run with {name} = {getattr(of_section, key)}, and not "
                    f"{value}",
                    hint=f"Choose another -o, or go on with that one: {resume_command(folder)}",
                )


def _measured(
    request: DistilRequest, teachers: Sequence[Path], student: Path, listener: Listener
) -> list[Measurement]:
    """Quality and speed of teacher and student on the validation set of the student."""
    pairs = [pair for pair in model_folder.read_dev_pairs(student) if all(map(str.strip, pair))]
    count = min(len(pairs), _MOST_LINES)
    chosen = [pairs[number * len(pairs) // count] for number in range(count)]
    references = [reference for _, reference in chosen]
    scores_of = scoring_for(model_folder.read_config(student), listener)
    contenders = [
        Contender(
            name=name,
            beam=beam,
            translate=_translating(request, models, beam, listener).translate_all,
        )
        for beam in _BEAMS
        for name, models in (("teacher", teachers), ("student", [student]))
    ]
    return measured_in_turns(
        contenders,
        [source for source, _ in chosen],
        lambda texts: [each.score() for each in scores_of(texts, references)],
    )


def _translating(
    request: DistilRequest, models: Sequence[Path], beam: int, listener: Listener
) -> Translating:
    machine = request.machine
    decoding = Decoding(
        search=SearchOverrides(beam=beam, n_best=1), device=machine.device, threads=machine.threads
    )
    asked = TranslateRequest(model=models[0], others=models[1:], decoding=decoding)
    return Translating(asked, listener)
