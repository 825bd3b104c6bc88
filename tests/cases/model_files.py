"""What stands in a model folder, read without `mt`'s own readers where that matters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from safetensors.torch import load_file


def pieces(folder: Path) -> list[tuple[str, float]]:
    """The pieces of the joint tokenizer with their scores, in order."""
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto((folder / "tokenizer.model").read_bytes())
    return [
        (processor.IdToPiece(number), processor.GetScore(number))
        for number in range(processor.GetPieceSize())
    ]


def learned_pieces(folder: Path) -> list[str]:
    """The pieces after the four symbols and the 256 bytes."""
    return [piece for piece, _ in pieces(folder)[260:]]


def records(folder: Path, event: str) -> list[dict[str, Any]]:
    """The records of one kind of event in `metrics.jsonl`, oldest first."""
    lines = (folder / "metrics.jsonl").read_text("utf-8").split("\n")
    found: list[dict[str, Any]] = [json.loads(line) for line in lines if line]
    return [record for record in found if record["event"] == event]


def same_tensors(folder: Path, other: Path) -> bool:
    """Whether the weights of two model folders are equal, bit for bit."""
    ours, theirs = (load_file(each / "model.safetensors") for each in (folder, other))
    return ours.keys() == theirs.keys() and all(torch.equal(ours[k], theirs[k]) for k in ours)
