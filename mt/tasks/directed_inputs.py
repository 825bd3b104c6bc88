"""The corpora of a run of several directions, or with synthetic sources, and their tags."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from mt.directions import Direction, known_code, targets_of
from mt.errors import ConfigError
from mt.formats import open_corpora
from mt.formats.directions import Directed, open_directions
from mt.formats.options import ReadingOptions
from mt.formats.pair import Reader
from mt.preparation.marks import Marks
from mt.preparation.pipeline import CorpusInputs
from mt.tasks.fine_tune import Start
from mt.tasks.requests import TrainRequest
from mt.text.tags import SYNTHETIC, TaggedTokenizer, tag_of
from mt.text.tokenizer_pair import TokenizerPair


def directions_of_run(request: TrainRequest, start: Start | None) -> tuple[Direction, ...]:
    """The directions of a run whose sources have tags of languages; none of a plain run.

    Those that are asked for, else those of the model that it starts from.
    """
    asked = tuple(Direction(*each) for each in request.directions)
    if request.languages is not None and not asked:
        asked = (Direction(*request.languages),)
    parent = () if start is None or start.new_tokenizer else start.config.directions
    if parent:
        return asked or tuple(map(Direction.parse, parent))
    return asked if len(asked) > 1 else ()


def open_directed(
    request: TrainRequest,
    directions: Sequence[Direction],
    reading: ReadingOptions,
    given: TokenizerPair | None,
) -> CorpusInputs:
    """The readers of a run of several directions, in the order of these.

    Raises ConfigError for a direction that no corpus holds, and for a target language that a
    tokenizer which is `given` has no tag of.
    """
    _require_no_columns(request)
    strict = dataclasses.replace(reading, keep_invalid=False)
    real = open_directions(request.corpus, directions, reading)
    made = open_directions(request.synthetic, directions, reading, turns=False)
    train = sorted([*real, *made], key=lambda each: directions.index(each.direction))
    _require_all(real, directions, "CORPUS")
    dev = open_directions(request.dev, directions, strict)
    if dev:
        _require_all(dev, directions, "--dev")
    against = open_directions(request.against, directions, strict)
    if request.also_dev:
        raise ConfigError("--also-dev is for one direction", hint="Leave it out")
    names = {each: tag_of(_known_target(each, given)) for each in targets_of(directions)}
    tags = [*names.values(), *([SYNTHETIC] if made else [])]
    _require_tags(given, tags)
    return CorpusInputs(
        train=tuple(train),
        dev=dev,
        against=against,
        marks=Marks(
            tags=tuple(tags),
            of_train=tuple(
                (names[each.direction.target], *([SYNTHETIC] if each in made else []))
                for each in train
            ),
            of_dev=tuple((names[each.direction.target],) for each in dev),
            groups=tuple(directions.index(each.direction) for each in train),
        ),
    )


def with_synthetic(
    inputs: CorpusInputs,
    request: TrainRequest,
    reading: ReadingOptions,
    given: TokenizerPair | None,
) -> CorpusInputs:
    """`inputs` of one direction with the corpora of `--synthetic`, whose sources have a tag."""
    if not request.synthetic:
        return inputs
    made = open_corpora(request.synthetic, reading).readers
    _require_tags(given, [SYNTHETIC])
    plain: list[tuple[str, ...]] = [()] * len(inputs.train)
    return dataclasses.replace(
        inputs,
        train=(*inputs.train, *made),
        marks=Marks(
            tags=(SYNTHETIC,),
            of_train=(*plain, *[(SYNTHETIC,)] * len(made)),
            of_dev=((),) * len(inputs.dev),
        ),
    )


def name_of(reader: Reader) -> str:
    """What a corpus of training is called, with its direction where there are several."""
    name = reader.files[0]
    return f"{name} ({reader.direction})" if isinstance(reader, Directed) else name


def dev_name_of(reader: Reader) -> str:
    """What a corpus of the validation set is called: by its direction where there are several."""
    return str(reader.direction) if isinstance(reader, Directed) else reader.files[0]


def _known_target(language: str, given: TokenizerPair | None) -> str:
    """What a target language is called by the tokenizer that is there, or by the user."""
    known = () if given is None else given.source.targets
    return known_code(language, known) or language


def _require_all(found: Sequence[Directed], directions: Sequence[Direction], where: str) -> None:
    there = {each.direction for each in found}
    for direction in directions:
        if direction not in there:
            raise ConfigError(
                f"no {where} holds the direction {direction}",
                hint="Leave it out of --langs, or give text of it",
            )


def _require_no_columns(request: TrainRequest) -> None:
    if request.columns is not None:
        raise ConfigError(
            "--columns names two columns, but there are several directions",
            hint="Name columns by the codes of their languages",
        )


def _require_tags(given: TokenizerPair | None, tags: Sequence[str]) -> None:
    """Raise ConfigError where a tokenizer that is taken over lacks a tag."""
    if given is None:
        return
    source = given.source
    known = source.tags if isinstance(source, TaggedTokenizer) else ()
    for tag in tags:
        if tag not in known:
            raise ConfigError(
                f"the tokenizer that is taken over has no tag {tag}",
                hint="With --new-tokenizer the run has one of its own, with the tags that it needs",
            )
