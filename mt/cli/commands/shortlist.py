"""`mt shortlist`: learn which target pieces the pieces of a source are likely to give."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mt.cli.options import parse_columns, parse_languages
from mt.errors import DataError, ModelFolderError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mt.config import Config
    from mt.model_folder.shortlist import Shortlist
    from mt.text.tokenizer_pair import TokenizerPair

    Pairs = tuple[list[NDArray[np.integer]], list[NDArray[np.integer]]]

_SEED = 1  # of the sample of a corpus


@click.command("shortlist")
@click.option("-m", "--model", required=True, type=click.Path(path_type=Path), help="Model folder.")
@click.argument("corpus", nargs=-1)
@click.option(
    "--per-piece",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="Target pieces of each source piece, the likeliest.",
)
@click.option(
    "--frequent",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="Target pieces of every sentence, the most frequent.",
)
@click.option(
    "--pairs",
    type=click.IntRange(min=1),
    default=100_000,
    show_default=True,
    help="Most pairs to learn from, a sample of the corpus.",
)
@click.option("--langs", metavar="S-T", help="Languages of CORPUS; else those of the model.")
@click.option("--columns", metavar="S,T", help="Columns or keys of the sides: names or numbers.")
def command(**flags: Any) -> None:
    """Learn which target pieces each source piece is likely to give, for mt export.

    It is learnt from CORPUS, which is what mt train takes, or without one from the tokens that
    training left in the folder.

    \b
    mt shortlist -m checkpoints/de-en
    mt shortlist -m checkpoints/de-en train.de train.en
    """
    import numpy as np

    from mt.model_folder.folder import load_tokenizers, read_config
    from mt.model_folder.shortlist import SHORTLIST, Shortlist
    from mt.text.tokenizer import UNKNOWN
    from mt.training.ibm_model1 import learn_lexicon

    def say(text: str) -> None:
        click.echo(text, err=True)

    folder: Path = flags["model"]
    config = read_config(folder)
    tokenizers = load_tokenizers(folder, config)
    if flags["corpus"]:
        sources, targets = _of_corpus(flags, config, tokenizers, say=say)
    else:
        if flags["langs"] or flags["columns"]:
            raise click.UsageError("--langs and --columns have an effect with CORPUS alone")
        sources, targets = _of_training(folder, most=flags["pairs"], say=say)
    # No translation holds the unknown symbol, though a rare one may stand for it in training.
    targets = [ids[ids != UNKNOWN] for ids in targets]
    lexicon = learn_lexicon(
        sources,
        targets,
        source_vocab=tokenizers.source.vocab_size,
        target_vocab=tokenizers.target.vocab_size,
    )
    counts = np.bincount(np.concatenate(targets), minlength=tokenizers.target.vocab_size)
    counts[:4] = 0  # no text holds the symbols
    frequent = np.argsort(-counts, kind="stable")[: flags["frequent"]]
    first, pieces = lexicon.likeliest(flags["per_piece"])
    shortlist = Shortlist.of(
        first=first,
        pieces=pieces,
        frequent=frequent[counts[frequent] > 0].astype(np.int32),
        tokenizers=tokenizers,
    )
    shortlist.save(folder, tokenizers)
    say(f"{folder / SHORTLIST}: {shortlist.num_known} source pieces known")
    _tell_coverage(folder, shortlist, tokenizers, say=say)


def _of_training(folder: Path, *, most: int, say: Callable[[str], None]) -> Pairs:
    """Pairs from the token store of a model folder, evenly over it."""
    import numpy as np

    from mt.corpus.store import TokenStore
    from mt.model_folder.folder import TRAINING
    from mt.preparation.pipeline import TOKENS

    path = folder / TRAINING / TOKENS
    if not path.exists():
        raise ModelFolderError(
            f"{folder} holds no tokens of its training: {path} is not there",
            hint=f"Give a corpus: mt shortlist -m {shlex.quote(str(folder))} CORPUS",
        )
    store = TokenStore(path)
    count = min(len(store), most)
    rows = np.linspace(0, len(store) - 1, count).round().astype(int).tolist()
    say(f"learning from {count} of {len(store)} pairs of {path}")
    return store.sources(rows), store.targets(rows)


def _of_corpus(
    flags: dict[str, Any], config: Config, tokenizers: TokenizerPair, *, say: Callable[[str], None]
) -> Pairs:
    """Pairs from corpora, a random sample of them."""
    import random

    import numpy as np

    from mt.formats import open_corpora
    from mt.formats.options import ReadingOptions

    known = config.source_language, config.target_language
    languages = parse_languages(flags["langs"]) or (known if all(known) else None)
    options = ReadingOptions(languages=languages, columns=parse_columns(flags["columns"]))
    draw = random.Random(_SEED)
    sample: list[tuple[str, str]] = []
    num_usable = num_faulty = 0
    for reader in open_corpora(flags["corpus"], options).readers:
        for pair in reader:
            if (
                pair.fault
                or tokenizers.source.is_blank(pair.source)
                or tokenizers.target.is_blank(pair.target)
            ):
                num_faulty += 1
                continue
            num_usable += 1
            place = num_usable - 1
            if place >= flags["pairs"]:
                place = draw.randrange(num_usable)  # reservoir sampling
            if place < len(sample):
                sample[place] = pair.source, pair.target
            elif place < flags["pairs"]:
                sample.append((pair.source, pair.target))
    if not sample:
        raise DataError(f"no pair to learn from: {num_faulty} read, all blank or faulty")
    sources = tokenizers.source.encode_batch([source for source, _ in sample])
    targets = tokenizers.target.encode_batch([target for _, target in sample])
    longest = config.corpus.max_length
    fits = [max(len(s), len(t)) <= longest for s, t in zip(sources, targets, strict=True)]
    say(
        f"learning from {sum(fits)} of {num_usable} pairs ({num_faulty} more are blank or faulty, "
        f"{len(fits) - sum(fits)} longer than {longest} tokens)"
    )
    if not any(fits):
        raise DataError(f"no pair to learn from: all are longer than {longest} tokens")
    return tuple(  # type: ignore[return-value]
        [np.array(x, dtype=np.int32) for x, fit in zip(side, fits, strict=True) if fit]
        for side in (sources, targets)
    )


def _tell_coverage(
    folder: Path, shortlist: Shortlist, tokenizers: TokenizerPair, *, say: Callable[[str], None]
) -> None:
    """Say how the shortlist does on the validation set, if there is one."""
    from mt.model_folder.folder import read_dev_pairs

    source_blank, target_blank = tokenizers.source.is_blank, tokenizers.target.is_blank
    pairs = [
        (source, target)
        for source, target in read_dev_pairs(folder)
        if not source_blank(source) and not target_blank(target)
    ]
    if not pairs:
        return
    sources = tokenizers.source.encode_batch([source for source, _ in pairs])
    targets = tokenizers.target.encode_batch([target for _, target in pairs])
    lists = [shortlist.candidates(source) for source in sources]
    num_held = [
        sum(1 for token in target if token in found)
        for target, found in zip(targets, map(_as_set, lists), strict=True)
    ]
    num_whole = sum(num == len(target) for num, target in zip(num_held, targets, strict=True))
    share = sum(num_held) / sum(map(len, targets))
    say(
        f"of {len(pairs)} validation pairs: lists of {sum(map(len, lists)) / len(lists):.0f} of "
        f"{shortlist.target_vocab} pieces, which hold {share:.1%} of the pieces of the references, "
        f"all of them {num_whole} times"
    )


def _as_set(ids: NDArray[np.int32]) -> set[int]:
    found: Sequence[int] = ids.tolist()
    return set(found)
