"""Whether `mt eval` and the `sacrebleu` command give the same scores and signatures, and how fast.

    python benchmarks/scores.py CORPORA

CORPORA holds `multi30k` and `tatoeba`. The hypotheses are references with words (or characters)
dropped, doubled and exchanged by a seeded generator: it is the metrics that are looked at, and not
translations. Each row is one test set, and must say that all digits and signatures are equal.
Japanese is scored by ja-mecab where that is installed, else by characters.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mt.evaluation.scores import tokenizer_for

_DIGITS = 10  # after the point, of the scores that are compared
_SHARE = 0.05  # of the sentences of a system that another takes over


@dataclass(frozen=True, kw_only=True)
class TestSet:
    """A test set with one reference or more for each line."""

    name: str
    language: str
    references: list[list[str]]

    @property
    def writes_characters(self) -> bool:
        """Whether TER takes characters for words."""
        return self.language in ("zh", "ja")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", type=Path)
    corpora: Path = parser.parse_args().corpora
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"{'test set':34} {'lines':>6} {'refs':>4}  {'equal':5}  scores")
        for test in test_sets(corpora):
            row = compared(test, folder)
            rows.append(row)
            scores = ", ".join(f"{each} {value:.2f}" for each, value in row["scores"].items())
            equal = "yes" if row["equal"] else "NO"
            print(f"{row['name']:34} {row['lines']:6} {row['refs']:4}  {equal:5}  {scores}")
        timed = timings(corpora, folder)
    for name, found in timed.items():
        p_values = ", ".join(f"{metric} {p:.4f}" for metric, p in found["p_values"].items())
        print(f"{name}: {found['seconds']:.1f} s, p: {p_values}")
    print(json.dumps({"agreement": rows, "paired": timed}))
    if not all(row["equal"] for row in rows):
        sys.exit(1)


def test_sets(corpora: Path) -> Iterator[TestSet]:
    """The test sets of the folder."""
    for language in ("de", "fr"):
        for part in ("2016_flickr", "2017_flickr", "2017_mscoco"):
            lines = read(corpora / "multi30k" / f"test_{part}.{language}.gz")
            yield TestSet(name=f"multi30k {part}", language=language, references=[lines])
    for language in ("de", "ja", "zh"):
        folder = corpora / "tatoeba" / f"en-{language}"
        lines = read(folder / f"test.{language}.gz")
        yield TestSet(name="tatoeba", language=language, references=[lines])
        table = [line.split("\t")[1:] for line in read(folder / f"test.refs.{language}.tsv.gz")]
        most = max(map(len, table))
        for name, fill in (("repeated", True), ("blank", False)):
            filled = [row + [row[0] if fill else ""] * (most - len(row)) for row in table]
            columns = [list(column) for column in zip(*filled, strict=True)]
            yield TestSet(name=f"tatoeba, others {name}", language=language, references=columns)


def read(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode("utf-8").split("\n")[:-1]


def write(path: Path, lines: list[str]) -> Path:
    path.write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8"))
    return path


def damaged(lines: list[str], rate: float, *, seed: int, by_character: bool = False) -> list[str]:
    """The lines with words dropped, doubled and exchanged; `rate` of them each."""
    drawn = random.Random(seed)
    separator = "" if by_character else " "
    damaged_lines = []
    for line in lines:
        words = list(line) if by_character else line.split(" ")
        kept = [word for word in words if drawn.random() >= rate]
        doubled = [word for word in kept for _ in range(1 + (drawn.random() < rate))]
        for place in range(len(doubled) - 1):
            if drawn.random() < rate:
                doubled[place : place + 2] = doubled[place + 1], doubled[place]
        damaged_lines.append(separator.join(doubled))
    return damaged_lines


def compared(test: TestSet, folder: Path) -> dict[str, Any]:
    """Scores of `mt eval` beside those of sacreBLEU's command."""
    references = [
        write(folder / f"reference-{number}", lines) for number, lines in enumerate(test.references)
    ]
    by_character = test.writes_characters
    system = damaged(test.references[0], 0.06, seed=1, by_character=by_character)
    hypotheses = write(folder / "hypotheses", system)
    ours = json.loads(
        run("mt", "eval", "--hyp", hypotheses, *references, "--json", "--tgt-lang", test.language)
    )["scores"]
    tokenizer = tokenizer_for(test.language).name
    shared: list[str | Path] = [*references, "-i", hypotheses, "-w", str(_DIGITS), "-f", "json"]
    ter = ["--ter-normalized", "--ter-asian-support"] if by_character else []
    told = json.loads(
        run("sacrebleu", *shared, "-m", "bleu", "chrf", "ter", "--tokenize", tokenizer, *ter)
    )
    words = json.loads(run("sacrebleu", *shared, "-m", "chrf", "--chrf-word-order", "2"))
    theirs = {each["name"]: each for each in [*told, words]}
    mine = {each["name"]: each for each in ours if each["name"] != "exact"}
    equal = mine.keys() == theirs.keys() and all(
        round(each["score"], _DIGITS) == theirs[name]["score"]
        and each["signature"] == theirs[name]["signature"]
        for name, each in mine.items()
    )
    return {
        "name": f"{test.name} {test.language} ({tokenizer})",
        "lines": len(system),
        "refs": len(references),
        "equal": equal,
        "scores": {name: round(each["score"], 2) for name, each in mine.items()},
    }


def timings(corpora: Path, folder: Path) -> dict[str, dict[str, Any]]:
    """Both tests on 2,000 lines and two systems: equal, or one with 5 % of lines of a worse one."""
    reference = read(corpora / "tatoeba" / "en-de" / "test.de.gz")
    system = damaged(reference, 0.05, seed=1)
    worse = damaged(reference, 0.25, seed=2)
    chosen = set(random.Random(3).sample(range(len(system)), round(_SHARE * len(system))))
    mixed = [worse[n] if n in chosen else line for n, line in enumerate(system)]
    texts = {"reference": reference, "system": system, "equal": system, "mixed": mixed}
    paths = {name: write(folder / name, lines) for name, lines in texts.items()}
    found = {}
    for test in ("bs", "ar"):
        for other in ("equal", "mixed"):
            start = time.perf_counter()
            out = run(
                *("mt", "eval", "--hyp", paths["system"], "--hyp", paths[other]),
                *(paths["reference"], "--paired", test, "--json"),
            )
            scores = json.loads(out)["scores"]
            found[f"{test}, {other}"] = {
                "seconds": time.perf_counter() - start,
                "p_values": {each["name"]: each["p_value"] for each in scores if "p_value" in each},
            }
    return found


def run(module: str, *arguments: str | Path) -> str:
    """The output of `python -m MODULE ARGUMENTS`."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


if __name__ == "__main__":
    main()
