"""The work of benchmarks/train.py as files: what every system is given, tokenised once.

The working folder holds

    data/train.en …       the text, uncompressed
    data/joint.model      one joint byte-pair encoding of sentencepiece, and its joint.vocab
    data/train.sp.en …    the same text in its pieces, for systems that take pieces
    data/vocab.plain      its pieces without those for the end and the unknown
    counts.json           pairs, and target tokens of an epoch, end symbols counted
    peers/                one description a peer (see benchmarks/systems.py)
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import click
import sentencepiece
from time_to_quality import find

from mt.formats.text import read_text_lines

PIECES = 10_000
_SETS = ("train", "val")
_OURS = Path(__file__).parent / "peers"


def prepare(corpus: Path, work: Path, *, source: str, target: str) -> dict[str, int]:
    """Fill the working folder from a folder with `train` and `val` as aligned text.

    Descriptions of peers that are there already stay as they are.
    """
    data = work / "data"
    data.mkdir(parents=True, exist_ok=True)
    for name in _SETS:
        sides = [read_text_lines(Path(find(corpus, name, side))) for side in (source, target)]
        if len(sides[0]) != len(sides[1]):
            raise click.ClickException(f"{corpus}: the sides of {name} differ in lines")
        for side, lines in zip((source, target), sides, strict=True):
            text = "".join(f"{line.strip()}\n" for line in lines)
            (data / f"{name}.{side}").write_text(text, "utf-8")
    pieces = _train_pieces(data, [data / f"train.{side}" for side in (source, target)])
    counts = {"pairs": 0, "target_tokens": 0}
    for name in _SETS:
        for side in (source, target):
            lines = (data / f"{name}.{side}").read_text("utf-8").split("\n")[:-1]
            encoded: list[list[str]] = pieces.encode(lines, out_type=str)
            text = "".join(" ".join(line) + "\n" for line in encoded)
            (data / f"{name}.sp.{side}").write_text(text, "utf-8")
            if (name, side) == ("train", target):
                counts = {
                    "pairs": len(lines),
                    "target_tokens": sum(map(len, encoded)) + len(lines),
                }
    (work / "counts.json").write_text(json.dumps(counts) + "\n", "utf-8")
    (work / "peers").mkdir(exist_ok=True)
    for description in sorted(_OURS.glob("*.toml")):
        if not (work / "peers" / description.name).exists():
            shutil.copy(description, work / "peers")
    return counts


def read_counts(work: Path) -> dict[str, int]:
    """What `prepare` counted."""
    path = work / "counts.json"
    if not path.exists():
        raise click.ClickException(f"{work} is not prepared: use --prepare FOLDER")
    counts: dict[str, int] = json.loads(path.read_text("utf-8"))
    return counts


def _train_pieces(data: Path, texts: list[Path]) -> sentencepiece.SentencePieceProcessor:
    sentencepiece.SentencePieceTrainer.Train(
        input=",".join(map(str, texts)),
        model_prefix=str(data / "joint"),
        vocab_size=PIECES,
        model_type="bpe",
        character_coverage=1.0,
        bos_id=-1,
        eos_id=0,
        unk_id=1,
        pad_id=-1,
        num_threads=2,
        minloglevel=2,
    )
    vocabulary = (data / "joint.vocab").read_text("utf-8").split("\n")
    names = [line.split("\t")[0] for line in vocabulary if line]
    plain = "".join(f"{name}\n" for name in names if name not in ("</s>", "<unk>"))
    (data / "vocab.plain").write_text(plain, "utf-8")
    return sentencepiece.SentencePieceProcessor(model_file=str(data / "joint.model"))
