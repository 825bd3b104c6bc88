"""The corpora that settings are compared on, and small cuts of them, as plain text in a folder."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from time_to_quality import find


@dataclass(frozen=True, kw_only=True)
class Text:
    """Where a corpus lies in the folder of all, and how much of it is trained on."""

    folder: str
    source: str
    target: str
    num_pairs: int | None = None
    """The first ones of the training text; None: all."""
    dev: str = "dev"
    test: str = "test"


TEXTS = {
    "multi30k": Text(
        folder="multi30k", source="en", target="de", dev="val", test="test_2016_flickr"
    ),
    "yor": Text(folder="lafand/en-yor", source="en", target="yor"),
    "lug": Text(folder="lafand/en-lug", source="en", target="lug"),
    "swa": Text(folder="lafand/en-swa", source="en", target="swa"),
    "swa-3k": Text(folder="lafand/en-swa", source="en", target="swa", num_pairs=3_000),
    "tatoeba": Text(folder="tatoeba/en-de", source="en", target="de"),
    **{
        f"multi30k-{count // 1000}k": Text(
            folder="multi30k",
            source="en",
            target="de",
            dev="val",
            test="test_2016_flickr",
            num_pairs=count,
        )
        for count in (1_000, 3_000, 10_000)
    },
}


def cut_text(corpora: Path, name: str, output: Path, *, dev_lines: int) -> Path:
    """Write `train`, `dev` and `test` of a corpus into a folder of `output`, unless they are there.

    Of the validation set there are at most `dev_lines` lines, every Nth. Returns the folder.
    """
    text = TEXTS[name]
    folder = output / name
    for side in (text.source, text.target):
        for part, stem in (("train", "train"), ("dev", text.dev), ("test", text.test)):
            path = folder / f"{part}.{side}"
            if path.exists():
                continue
            lines = _lines(Path(find(corpora / text.folder, stem, side)))
            if part == "train" and text.num_pairs is not None:
                lines = list(islice(lines, text.num_pairs))
            if part == "dev" and len(lines) > dev_lines:
                lines = [lines[number * len(lines) // dev_lines] for number in range(dev_lines)]
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(lines), "utf-8")
    return folder


def _lines(path: Path) -> list[str]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="\n") as file:
        return list(file)
