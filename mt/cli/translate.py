"""`mt translate`: standard input or files to standard output or a file, line by line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from mt.cli.options import from_flags, search_options
from mt.errors import DataError

if TYPE_CHECKING:
    from mt.config import SearchConfig
    from mt.events import Event
    from mt.translate.translator import Translation, Translator


@click.command("translate")
@click.option("-m", "--model", required=True, type=click.Path(path_type=Path), help="Model folder.")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Else standard output.")
@click.option("--beam", type=click.IntRange(min=1), help="Hypotheses searched; 1 is greedy.")
@click.option("--n-best", type=click.IntRange(min=1), help="Lines given for each line read.")
@click.option(
    "--length-penalty", type=click.Choice(["none", "mean", "gnmt"]), help="What ranks hypotheses."
)
@click.option("--alpha", type=click.FloatRange(min=0), help="Strength of the gnmt penalty.")
@click.option("--max-length", type=click.IntRange(min=1), help="Most tokens of a translation.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each line read.")
@click.option(
    "--alignment", is_flag=True, help="With --json: tokens, their probabilities, aligned words."
)
@search_options
def command(**flags: Any) -> None:
    """Translate standard input, or FILES, one line for each line read, in order.

    An empty line stays empty. Only LF ends a line. Translations alone go to standard output;
    with --n-best N each line read gives N lines, best first (empty ones when there are fewer).
    """
    from mt.cli.console import counted_lines, stderr_console
    from mt.events import Notice
    from mt.model.device import set_threads
    from mt.translate.translator import Translator

    console = stderr_console()

    def listener(event: Event) -> None:
        if isinstance(event, Notice):
            console.print(f"mt: warning: {event.text}" if event.is_warning else event.text)

    if flags["alignment"] and not flags["as_json"]:
        raise click.UsageError("--alignment belongs to --json; mt score --alignment gives lines")
    set_threads(flags["threads"])
    translator = Translator.load(
        flags["model"],
        search=search_config(flags),
        device=flags["device"],
        precision=flags["precision"],
        batch_size=flags["batch_size"],
        workers=flags["workers"],
        listener=listener,
    )
    records = _json_lines(translator, flags) if flags["as_json"] else None
    num_lines = num_at_limit = 0
    with _output(flags["output"]) as out, counted_lines(console) as count:
        for group in _line_groups(flags["files"], translator, listener):
            translations = translator.translate_window(group, first_line=num_lines + 1)
            num_lines += len(group)
            num_at_limit += sum(each.hypotheses[0].hit_limit for each in translations)
            if records is None:
                text = "".join(_as_lines(each, flags["n_best"] or 1) for each in translations)
            else:
                text = records(translations)
            out.write(text.encode("utf-8"))
            out.flush()
            count(len(group))
    if num_at_limit:
        listener(
            Notice(
                text=f"{num_at_limit} translations were ended at the length bound",
                is_warning=True,
            )
        )


def search_config(flags: dict[str, Any]) -> SearchConfig:
    """The search settings of the model folder with those of the flags over them."""
    from mt.translate.model_folder import read_config

    given = from_flags(
        "search",
        beam=flags["beam"],
        n_best=flags.get("n_best"),
        length_penalty=flags.get("length_penalty"),
        alpha=flags.get("alpha"),
        max_length=flags.get("max_length"),
    )
    if given["search"].get("alpha") is not None and flags["length_penalty"] != "gnmt":
        raise click.UsageError("--alpha has an effect with --length-penalty gnmt alone")
    return read_config(flags["model"]).with_values(given).search


def _line_groups(
    files: Iterable[Path], translator: Translator, listener: Any
) -> Iterator[list[str]]:
    """Lines to translate, in groups that are ready to be translated together."""
    from itertools import islice

    from mt.cli.standard_input import line_groups
    from mt.corpus.formats.compressed import read_blocks
    from mt.lines import split_lines

    paths = list(files)
    groups: Iterable[list[bytes]]
    if paths:
        lines = (line for path in paths for line in split_lines(read_blocks(path)))
        groups = iter(lambda: list(islice(lines, translator.window)), [])
    else:
        groups = line_groups(sys.stdin.fileno(), max_lines=translator.window)
    number = 0
    for group in groups:
        yield [_decode(line, number + i, listener) for i, line in enumerate(group, start=1)]
        number += len(group)


def _decode(line: bytes, number: int, listener: Any) -> str:
    """Text of a line; bytes that are not UTF-8 become spaces, with a warning."""
    from mt.events import Notice
    from mt.lines import describe_invalid_utf8

    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        text = f"line {number}: {describe_invalid_utf8(line)}; such bytes are read as spaces"
        listener(Notice(text=text, is_warning=True))
        return line.decode("utf-8", errors="replace")


def _as_lines(translation: Translation, num: int) -> str:
    texts = [hypothesis.text for hypothesis in translation.hypotheses]
    texts += [""] * (num - len(texts))
    return "".join(f"{text}\n" for text in texts)


def _json_lines(
    translator: Translator, flags: dict[str, Any]
) -> Callable[[Sequence[Translation]], str]:
    """What writes translations as JSON, one object a line."""
    import json

    from mt.cli.json_records import translation_records
    from mt.translate.flags import usual_proportion
    from mt.translate.model_folder import read_dev_pairs
    from mt.translate.scorer import Scorer

    pairs = read_dev_pairs(flags["model"])
    usual = usual_proportion(pairs)
    scorer = None
    if flags["alignment"]:
        scorer = Scorer(
            translator.model,
            translator.tokenizers,
            translator.config,
            examples=pairs,
            batch_size=flags["batch_size"],
        )

    def text_of(translations: Sequence[Translation]) -> str:
        records = translation_records(
            translations, translator.tokenizers, usual=usual, scorer=scorer
        )
        return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)

    return text_of


@contextmanager
def _output(path: Path | None) -> Iterator[BinaryIO]:
    """Standard output, or a file that appears under its name when it is complete."""
    if path is None:
        yield sys.stdout.buffer
        return
    from mt.atomic import replaced_file

    try:
        with replaced_file(path) as temporary, temporary.open("wb") as file:
            yield file
    except (FileNotFoundError, PermissionError) as error:
        raise DataError(f"{path} cannot be written: {error.strerror}") from error
