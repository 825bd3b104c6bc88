"""Pairs that a model makes of text: what `backtranslate` and `distil` share."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mt import __version__
from mt.config import SearchConfig
from mt.config.filters import FilterConfig, adjusted
from mt.events import Listener
from mt.files import require_writable
from mt.files.digests import blake2b, blocks_of_file
from mt.model_folder import folder as model_folder
from mt.preparation.pipeline import rules_of
from mt.synthetic.account import Summary
from mt.synthetic.filters import Filters
from mt.synthetic.inputs import Inputs
from mt.synthetic.make import Translate, Work, make_pairs
from mt.tasks.rejected_pairs import rejected_pairs
from mt.tasks.requests import Decoding, TranslateRequest
from mt.tasks.synthetic_requests import Filtering
from mt.tasks.translate import Translating, search_settings
from mt.text.tokenizer_pair import FILES as TOKENIZERS
from mt.text.truecase_table import FILE as TRUECASE
from mt.translation.aim import aimed


@dataclass(frozen=True, kw_only=True)
class MadePairs:
    """A file of pairs, and what became of every line on the way to it."""

    path: Path
    summary: Summary


@dataclass(frozen=True, kw_only=True)
class PairsRequest:
    """What is to be made."""

    output: Path
    inputs: Inputs
    is_backwards: bool
    """Whether the lines are the target of the pairs, and what is made of them the source."""
    models: Sequence[Path]
    decoding: Decoding
    filtering: Filtering
    command: str


def made_pairs(request: PairsRequest, listener: Listener) -> MadePairs:
    """Make the pairs, or go on with what an earlier run left of them (`mt.synthetic.make`)."""
    first, *others = request.models
    config, *_ = [model_folder.read_config(model) for model in request.models]
    tokenizers = model_folder.load_tokenizers(first, config)
    config, _ = aimed(config, tokenizers, request.decoding.to)
    for model in request.models:
        model_folder.weights_of(model)
    require_writable(request.output)
    filtering = request.filtering
    one_best = dataclasses.replace(request.decoding.search, n_best=1)
    decoding = dataclasses.replace(request.decoding, search=one_best)
    search = search_settings(first, decoding.search)
    filters = filter_settings(filtering)
    rejected = None if filtering.rejected is None else Path(filtering.rejected)
    if rejected is not None:
        require_writable(rejected)

    def load() -> Translate:
        asked = TranslateRequest(model=first, others=others, decoding=decoding)
        translating = Translating(asked, listener)
        return lambda lines, number: translating.translate(lines, first_line=number)

    work = Work(
        output=request.output,
        inputs=request.inputs,
        is_backwards=request.is_backwards,
        rules=rules_of(config),
        search=search,
        key=_key(request.models, search, decoding),
        filters=lambda: Filters(
            filters,
            config,
            model_folder.read_dev_pairs(first, target=config.target_language),
        ),
        filter_key=json.dumps([sorted(filters.drop), filters.min_score]),
        translator=load,
        rejected=lambda: rejected_pairs(rejected),
        models=tuple(map(str, request.models)),
        command=request.command,
    )
    return MadePairs(path=request.output, summary=make_pairs(work, listener))


def filter_settings(filtering: Filtering) -> FilterConfig:
    """The signs for which translations are left out, by --drop and --keep over the default."""
    dropped = adjusted(FilterConfig().drop, add=filtering.drop, remove=filtering.keep)
    return FilterConfig(drop=dropped, min_score=filtering.min_score)


def name_of(models: Iterable[Path]) -> str:
    """What a model, or an ensemble, is called."""
    return " + ".join(model.resolve().name for model in models)


def _key(models: Sequence[Path], search: SearchConfig, decoding: Decoding) -> str:
    """What a translation follows from beside its line; the machine is no part of it."""
    names = (model_folder.CONFIG, model_folder.WEIGHTS, TRUECASE, *TOKENIZERS)
    sampling = decoding.sampling
    parts = {
        "mt": __version__,
        "models": [
            {
                name: blake2b(blocks_of_file(model / name))
                for name in names
                if (model / name).is_file()
            }
            for model in models
        ],
        "to": decoding.to,
        "search": dataclasses.asdict(search),
        "engine": decoding.engine,
        "sampling": None if sampling is None else dataclasses.asdict(sampling),
        "keep_case": decoding.keep_case,
        "split": decoding.split,
        "precision": "float32" if decoding.precision == "auto" else decoding.precision,
    }
    return json.dumps(parts, sort_keys=True)
