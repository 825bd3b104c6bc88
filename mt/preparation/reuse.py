"""A corpus that is prepared: what became of it, and whether another run can take it over.

The key of a prepared corpus is a hash of all that it follows from: the bytes of its files, how they
are read, the settings of cleaning and tokenizer, the bytes of a tokenizer that was there before,
the versions of what computes them. Names, paths and times are no part of it. A folder beside the
new one whose key is the same is taken over: large files as hard links, which cost no space and
outlive the other folder.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mt import __version__
from mt.config import Config
from mt.errors import ModelFolderError
from mt.events import CorpusRead, OriginRead
from mt.files import replaced_file, write_text
from mt.files.digests import blake2b, blake2b_of_text, blocks_of_file, sha256
from mt.formats.pair import Reader
from mt.languages import base_code
from mt.preparation.marks import NO_MARKS, Marks
from mt.text.subwords import recipe
from mt.text.tokenizer_pair import TokenizerPair

_SUMMARY = "corpus.json"
_STORE_VERSION = 2  # another layout or another rule of cleaning is another number


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """What became of the corpus of a run."""

    key: str
    """Empty where it cannot be recognised."""
    corpus: CorpusRead
    dev: tuple[tuple[str, int], ...]
    """Name and number of pairs of each corpus of the validation set."""
    also: tuple[tuple[str, int], ...] = ()
    """The same of each further validation set."""
    tokenizers: dict[str, str] = field(default_factory=dict)
    """The SHA-256 of each tokenizer file by its name, whose ids the token store holds; empty where
    mt 0.1 wrote it."""
    files: dict[str, str] = field(default_factory=dict)
    """The SHA-256 of each file of tokens by its name; empty where mt 0.1 wrote it."""

    def save(self, training: Path) -> None:
        """Write it into the training folder, last of all: a folder without it is not prepared."""
        write_text(training / _SUMMARY, json.dumps(dataclasses.asdict(self), ensure_ascii=False))

    @classmethod
    def load(cls, training: Path) -> Prepared:
        """Read what `save` wrote; raises ModelFolderError when it is not there."""
        path = training / _SUMMARY
        try:
            values: dict[str, Any] = json.loads(path.read_text("utf-8"))
            origins = tuple(OriginRead(**origin) for origin in values["corpus"]["origins"])
            dev = tuple((name, count) for name, count in values["dev"])
            return cls(
                key=values["key"],
                corpus=CorpusRead(origins=origins),
                dev=dev,
                also=tuple((name, count) for name, count in values.get("also", [])),
                tokenizers=dict(values.get("tokenizers", {})),
                files=dict(values.get("files", {})),
            )
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ModelFolderError(f"{path} is missing or damaged") from error

    def with_files(self, training: Path, names: Sequence[str]) -> Prepared:
        """The same, knowing what these files of the training folder hold."""
        return dataclasses.replace(self, files={name: _sha256(training / name) for name in names})

    def require_files(self, training: Path) -> None:
        """Raise ModelFolderError, naming it, where a file of tokens is not what was written.

        A flipped bit is another token, or one that no model has.
        """
        for name, known in self.files.items():
            if _sha256(training / name) != known:
                raise ModelFolderError(
                    f"{training / name} is damaged: its content is not what was written "
                    "(SHA-256 differs)",
                    hint="Take another copy of it, or train anew",
                )

    def require_tokenizers(self, training: Path, tokenizers: TokenizerPair) -> None:
        """Raise ModelFolderError, naming both, where the token store is of other tokenizers."""
        for name, found in tokenizers.digests.items():
            known = self.tokenizers.get(name, found)
            if known != found:
                raise ModelFolderError(
                    f"{training.parent / name} (SHA-256 {found[:16]}…) is not the tokenizer of "
                    f"the tokens in {training} (SHA-256 {known[:16]}…)",
                    hint="Put the file of this model back",
                )

    def of_run(
        self,
        *,
        tokenizers: TokenizerPair,
        names: Sequence[str],
        dev_names: Sequence[str],
        digests: Sequence[str],
        weights: Sequence[float],
    ) -> Prepared:
        """The same with what the corpora are called here, how often they come, and its tokens."""
        weights = weights or (1.0,) * len(names)
        origins = tuple(
            dataclasses.replace(origin, name=name, digest=digest, weight=weight)
            for origin, name, digest, weight in zip(
                self.corpus.origins, names, digests, weights, strict=True
            )
        )
        counts = (count for _, count in self.dev)
        dev = tuple(zip(dev_names, counts, strict=True))
        return dataclasses.replace(
            self, corpus=CorpusRead(origins=origins), dev=dev, tokenizers=tokenizers.digests
        )


def _sha256(path: Path) -> str:
    try:
        return sha256(blocks_of_file(path))
    except OSError as error:
        raise ModelFolderError(f"{path} cannot be read: {error.strerror}") from error


def digest_of(reader: Reader) -> str:
    """A hash of the content of a corpus; empty where it can be read only once."""
    content = reader.content()
    return "" if content is None else blake2b(content)


def key_of_run(
    config: Config,
    *,
    corpus: Sequence[str],
    others: Iterable[Sequence[str]],
    tokenizers: TokenizerPair | None = None,
    marks: Marks = NO_MARKS,
) -> str:
    """The key of a prepared corpus, from the digests of its files; empty if one has none.

    `others` are the digests of the validation set and of the sets that the corpus must not hold;
    `tokenizers` are those of the model that is fine-tuned, else they follow from the corpus;
    `marks` are the tags of the corpora.
    """
    digests = [list(corpus), *map(list, others)]
    if not all(digest for group in digests for digest in group):
        return ""
    settings = dataclasses.asdict(config.corpus)
    del settings["weights"]  # they change which pairs come how often, and not the pairs
    parts = {
        "store": _STORE_VERSION,
        "mt": __version__,
        "recipe": recipe(),
        "digests": digests,
        "corpus": {**settings, "drop": sorted(settings["drop"])},
        "language": base_code(config.source_language),  # whose case the truecaser learns
        "tokenizer": dataclasses.asdict(config.tokenizer),
    }
    if marks != NO_MARKS:
        parts["marks"] = dataclasses.asdict(marks)
    if tokenizers is not None:
        models = (tokenizers.source.model, tokenizers.target.model)
        parts["tokenizer models"] = [blake2b([model], num_bytes=64) for model in models]
    return blake2b_of_text(json.dumps(parts, sort_keys=True))


def find_prepared(
    folder: Path, training: str, key: str, *, files: Sequence[Path] = ()
) -> Path | None:
    """A model folder beside `folder` whose corpus has this key, and that still has these files."""
    if not key:
        return None
    for summary in sorted(folder.absolute().parent.glob(f"*/{training}/{_SUMMARY}")):
        other = summary.parent.parent
        try:
            if Prepared.load(summary.parent).key == key and all(
                (other / file).is_file() for file in files
            ):
                return other
        except ModelFolderError:
            continue  # another run is writing it, or it is no folder of ours
    return None


def take_over(file: Path, to: Path) -> None:
    """Make `to` the same file as `file`, by a hard link where the file system has them."""
    to.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(file, to)
    except OSError:
        with replaced_file(to) as temporary:
            shutil.copyfile(file, temporary)
