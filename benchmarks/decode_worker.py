"""One process, one system, one setting: loads a model, translates text to text, tells how long.

Started by decode.py, with a job as JSON for its argument; prints one JSON line. Text is tokenised
and put together again by mt's tokenizers for both systems, within the time that is measured.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

_WARMUP = 8  # lines


@dataclass(frozen=True, kw_only=True)
class Job:
    """What a process is to do."""

    system: str
    """mt, engine (mt by CTranslate2) or ctranslate2."""
    folder: str
    """Of the model, in the form of the system."""
    precision: str
    beam: int
    max_length: int
    """Tokens of a hypothesis, its end symbol not counted."""
    forced_length: int | None = None
    """Tokens that each hypothesis has; only CTranslate2 can be told so."""
    batch_size: int
    threads: int
    """Of mt; for CTranslate2 translations that run at the same time, each in one thread."""
    source: str
    """File of lines."""
    output: str
    """File to write translations to."""
    single: int = 0
    """Translate so many lines one by one and time each, instead of all together."""

    def to_json(self) -> str:
        """As an argument."""
        return json.dumps(dataclasses.asdict(self))


Translate = Callable[[Sequence[str]], list[tuple[str, int]]]
"""Lines to their translations, each with its number of tokens, the end symbol not counted."""


def mt_translate(job: Job) -> Translate:
    """The Translator of mt."""
    # What `mt` sets for itself as it starts (mt/cli/main.py).
    for cache in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
        os.environ.setdefault(cache, "64")
    from mt.config import Precision
    from mt.model.device import set_threads
    from mt.model_folder.folder import read_config
    from mt.translation.options import TranslationOptions
    from mt.translation.translator import Translator

    set_threads(job.threads)
    folder = Path(job.folder)
    options = TranslationOptions(
        search=dataclasses.replace(
            read_config(folder).search, beam=job.beam, n_best=1, max_length=job.max_length
        ),
        device="cpu",
        precision=cast(Precision, job.precision),
        batch_size=job.batch_size,
        forks=True,
    )
    translator = Translator.load(folder, options=options)

    def translate(lines: Sequence[str]) -> list[tuple[str, int]]:
        return [(each.text, len(each.hypotheses[0].tokens)) for each in translator.translate(lines)]

    return translate


def engine_translate(job: Job) -> Translate:
    """Mt's translator by CTranslate2."""
    from mt.events import ignore
    from mt.model_folder.files import read_config
    from mt.tasks.engine import Demand, load_for
    from mt.translation.options import TranslationOptions

    folder = Path(job.folder)
    options = TranslationOptions(
        search=dataclasses.replace(
            read_config(folder).search, beam=job.beam, n_best=1, max_length=job.max_length
        ),
        device="cpu",
        precision=job.precision,  # type: ignore[arg-type]
        batch_size=job.batch_size,
    )
    demand = Demand(engine="ctranslate2", threads=job.threads)
    translator = load_for([folder], demand, options, ignore)

    def translate(lines: Sequence[str]) -> list[tuple[str, int]]:
        return [(each.text, len(each.hypotheses[0].tokens)) for each in translator.translate(lines)]

    return translate


def ctranslate2_translate(job: Job) -> Translate:
    """CTranslate2 between mt's tokenizers."""
    # ctranslate2 loads torch where it is there, only to convert models: memory that it does not
    # need to translate.
    sys.modules["torch"] = None  # type: ignore[assignment]
    import ctranslate2

    from mt.text.tokenizer_pair import TokenizerPair

    folder = Path(job.folder)
    tokenizers = TokenizerPair.load(folder, joint=(folder / "tokenizer.model").exists())
    pieces = tokenizers.source.pieces(range(tokenizers.source.vocab_size))
    of_target = tokenizers.target.pieces(range(tokenizers.target.vocab_size))
    numbers = {piece: number for number, piece in enumerate(of_target)}
    engine = ctranslate2.Translator(
        str(folder),
        device="cpu",
        compute_type=job.precision,
        inter_threads=job.threads,
        intra_threads=1,
    )
    options: dict[str, Any] = {
        "beam_size": job.beam,
        "max_decoding_length": job.forced_length or job.max_length,
    }
    if job.forced_length:
        options["min_decoding_length"] = job.forced_length

    def translate(lines: Sequence[str]) -> list[tuple[str, int]]:
        sources = [
            [pieces[number] for number in of_line]
            for of_line in tokenizers.source.encode_batch(lines)
        ]
        results = engine.translate_batch(sources, max_batch_size=job.batch_size, **options)
        found = [[numbers[piece] for piece in result.hypotheses[0]] for result in results]
        return [(tokenizers.target.decode(of_line), len(of_line)) for of_line in found]

    return translate


def main(job: Job) -> None:
    """Do the job."""
    begun = time.perf_counter()
    systems = {"mt": mt_translate, "engine": engine_translate, "ctranslate2": ctranslate2_translate}
    translate = systems[job.system](job)
    loaded = time.perf_counter()
    lines = Path(job.source).read_text("utf-8").split("\n")[:-1]
    translate(lines[:_WARMUP])
    record: dict[str, object] = {"load_seconds": round(loaded - begun, 3)}
    if job.single:
        milliseconds = []
        for line in lines[: job.single]:
            before = time.perf_counter()
            translate([line])
            milliseconds.append(round(1000 * (time.perf_counter() - before), 3))
        record["milliseconds"] = milliseconds
    else:
        before = time.perf_counter()
        found = translate(lines)
        record["seconds"] = round(time.perf_counter() - before, 4)
        record["tokens"] = sum(num_tokens for _, num_tokens in found)
        Path(job.output).write_text("".join(f"{text}\n" for text, _ in found), "utf-8")
    print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main(Job(**json.loads(sys.argv[1])))
