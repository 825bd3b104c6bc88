"""`mt translate`: standard input or files to standard output or a file, line by line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mt.cli.doubt_counts import DoubtCounts
from mt.cli.options import model_option, search_options
from mt.cli.sampling_flags import sampling_config, sampling_options
from mt.cli.search_flags import hypothesis_options, search_config
from mt.cli.source_lines import SourceLines, groups_with_prefixes
from mt.cli.term_flags import TermCounts, glossary_of, term_options
from mt.cli.translation_console import TranslationConsole

if TYPE_CHECKING:
    from mt.config import SamplingConfig, SearchConfig
    from mt.search.mbr import Utility
    from mt.translation.translation import Translation
    from mt.translation.translator import Translator


@click.command("translate")
@model_option(required=True, says="Model folder.")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Else standard output.")
@hypothesis_options
@sampling_options
@click.option(
    "--prefix",
    type=click.Path(path_type=Path),
    help="Text that each translation begins with, one line for each line read; empty: any.",
)
@click.option(
    "--mbr",
    type=click.Choice(["chrf", "bleu"]),
    help="Of the beam, or of the samples, take what is most like all of them by this score.",
)
@term_options
@click.option("--no-split", is_flag=True, help="Translate lines whole, however long.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each line read.")
@click.option(
    "--alignment",
    is_flag=True,
    help="With --json: tokens, their probabilities, aligned words; long lines stay whole.",
)
@search_options
def command(**flags: Any) -> None:
    """Translate standard input, or FILES, one line for each line read, in order.

    An empty line stays empty; where all other translations are empty too, the exit status is 1.
    Only LF ends a line. Translations alone go to standard output;
    with --n-best N each line read gives N lines, best first (empty ones when there are fewer), with
    --sample N as many, in the order in which they were drawn.
    """
    from mt.cli.console import stderr_console
    from mt.cli.line_progress import shown_progress
    from mt.cli.translation_output import translation_output
    from mt.events import Notice
    from mt.files import require_writable
    from mt.model.device import set_threads
    from mt.translation.options import TranslationOptions
    from mt.translation.translator import Translator

    console = stderr_console()
    listener = TranslationConsole(console.print)
    if flags["alignment"] and not flags["as_json"]:
        raise click.UsageError("--alignment belongs to --json; mt score --alignment gives lines")
    sampling = sampling_config(flags)
    set_threads(flags["threads"] or flags["workers"])
    if flags["output"] is not None:
        require_writable(flags["output"])
    search = search_config(flags)
    glossary = glossary_of(flags)
    translator = Translator.load(
        flags["model"],
        *flags["others"],
        options=TranslationOptions(
            search=search,
            device=flags["device"],
            devices=flags["devices"],
            precision=flags["precision"],
            batch_size=flags["batch_size"],
            workers=flags["workers"],
            forks=True,
            split=not flags["no_split"] and not flags["alignment"],
            utility=_utility(flags, search, sampling),
            glossary=glossary,
            sampling=sampling,
            keep_case=flags["keep_case"],
        ),
        listener=listener,
    )
    records = _json_lines(translator, flags) if flags["as_json"] else None
    num_samples = sampling.samples if sampling is not None and flags["mbr"] is None else 1
    num_given = max(flags["n_best"] or 1, num_samples)
    num_at_limit = 0
    terms = TermCounts()
    doubts = DoubtCounts(of_symbols=translator.config.tokenizer.takes_symbols)
    lines = SourceLines(flags["files"])
    groups = lines.groups(max_lines=translator.window, listener=listener)
    with (
        shown_progress(
            console,
            done="lines translated",
            share=lines.share,
            to_file=flags["output"] is not None,
        ) as progress,
        translation_output(flags["output"], progress, say=console.print) as out,
    ):
        for group, prefixes in groups_with_prefixes(groups, flags["files"], flags["prefix"]):
            translations = translator.translate_window(
                group, first_line=progress.num_lines + 1, prefixes=prefixes
            )
            terms.add(translations)
            doubts.add(translations)
            num_at_limit += sum(
                hypothesis.hit_limit
                for each in translations
                for hypothesis in each.hypotheses[:num_samples]
            )
            if records is None:
                text = "".join(_as_lines(each, num_given) for each in translations)
            else:
                text = records(translations)
            out.write(text.encode("utf-8"))
            out.flush()
            progress(len(group))
    listener.tell_splits()
    listener.tell_recased()
    listener.tell_unknown()
    doubts.tell(console.print)
    if glossary is not None:
        console.print(str(terms))
    if num_at_limit:
        listener(
            Notice(
                text=f"{num_at_limit} translations were ended at the length bound",
                is_warning=True,
            )
        )
    listener.refuse_too_long()
    doubts.require_any_text(flags["model"])


def _utility(
    flags: dict[str, Any], search: SearchConfig, sampling: SamplingConfig | None
) -> Utility | None:
    """What --mbr chooses by; BLEU's tokenizer is that of `mt eval`."""
    if flags["mbr"] is None:
        return None
    if search.beam == 1 and sampling is None:
        raise click.UsageError("--mbr has an effect with --beam 2 or more alone")
    from mt.evaluation.scores import tokenizer_for
    from mt.evaluation.utility import bleu_utility, chrf_utility
    from mt.model_folder.folder import read_config

    if flags["mbr"] == "chrf":
        return chrf_utility
    return bleu_utility(tokenizer_for(read_config(flags["model"]).target_language).name)


def _as_lines(translation: Translation, num: int) -> str:
    texts = [hypothesis.text for hypothesis in translation.hypotheses[:num]]
    texts += [""] * (num - len(texts))
    return "".join(f"{text}\n" for text in texts)


def _json_lines(
    translator: Translator, flags: dict[str, Any]
) -> Callable[[Sequence[Translation]], str]:
    """What writes translations as JSON, one object a line."""
    import json

    from mt.cli.json_records import translation_records
    from mt.model_folder.folder import read_dev_pairs
    from mt.translation.flags import usual_proportion
    from mt.translation.scorer import Scorer

    pairs = read_dev_pairs(flags["model"])
    usual = None if translator.config.tokenizer.takes_symbols else usual_proportion(pairs)
    scorer = None
    if flags["alignment"]:
        scorer = Scorer(
            translator.model,
            translator.tokenizers,
            translator.config,
            others=translator.others,
            examples=pairs,
        )

    def text_of(translations: Sequence[Translation]) -> str:
        records = translation_records(
            translations, translator.tokenizers, usual=usual, scorer=scorer
        )
        return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)

    return text_of
