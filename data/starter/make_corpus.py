"""Write the synthetic German-English starter corpus: {train,dev,test}.{de,en}.

The corpus is a deterministic function of the seed and the tables beside this file, so the six
files can be checked against the program (--check) as well as made by it.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from pathlib import Path

import patterns
from clauses import ClauseSampler

SEED = 20240229
TRAIN_SIZE = 14_000
HELD_OUT_SIZE = 500
MINIMUM_COUNT = 3
DRAWS = 200_000
HERE = Path(__file__).resolve().parent

Pair = tuple[str, str]


def bare(sentence: str) -> str:
    """The sentence without case and punctuation, for telling whether two are really different."""
    return " ".join(re.findall(r"\w+", sentence.casefold()))


def words(pair: Pair) -> list[str]:
    """The word forms of both sides, marked with their language, in a fixed order."""
    return [
        f"{language}:{word}"
        for language, sentence in zip(("de", "en"), pair, strict=True)
        for word in re.findall(r"\w+", sentence)
    ]


def draw_pairs(sampler: ClauseSampler, size: int) -> list[tuple[str, Pair]]:
    """Draw `size` pairs, no two of which share a source or a target, with their pattern's name."""
    seen: set[str] = set()
    drawn: list[tuple[str, Pair]] = []
    names = list(patterns.PATTERNS)
    weights = [weight for _, weight in patterns.PATTERNS.values()]
    for _ in range(DRAWS):
        name = sampler.random.choices(names, weights)[0]
        german, english = patterns.PATTERNS[name][0](sampler)
        keys = {"de:" + bare(german), "en:" + bare(english)}
        if seen & keys:
            continue
        seen |= keys
        drawn.append((name, (german, english)))
        if len(drawn) == size:
            return drawn
    raise RuntimeError(f"only {len(drawn)} distinct pairs in {DRAWS} draws")


def split(pairs: list[Pair]) -> dict[str, list[Pair]]:
    """Hold out dev and test pairs whose word forms all stay frequent enough in train.

    A pair is held out only if every word form of both its sides still occurs MINIMUM_COUNT times in
    what is left for training: the test asks for new combinations, not for unknown words.
    """
    counts = Counter(word for pair in pairs for word in words(pair))
    held_out: list[Pair] = []
    train: list[Pair] = []
    for pair in pairs:
        used = Counter(words(pair))
        frequent = all(counts[word] - used[word] >= MINIMUM_COUNT for word in used)
        if frequent and len(held_out) < 2 * HELD_OUT_SIZE and len(used) > 4:
            counts -= used
            held_out.append(pair)
        else:
            train.append(pair)
    return {
        "train": train,
        "dev": held_out[:HELD_OUT_SIZE],
        "test": held_out[HELD_OUT_SIZE:],
    }


def make_files() -> dict[str, str]:
    """The contents of the six files by name."""
    drawn = draw_pairs(ClauseSampler(SEED), TRAIN_SIZE + 2 * HELD_OUT_SIZE)
    files: dict[str, str] = {}
    for name, pairs in split([pair for _, pair in drawn]).items():
        files[f"{name}.de"] = "".join(german + "\n" for german, _ in pairs)
        files[f"{name}.en"] = "".join(english + "\n" for _, english in pairs)
    return files


def check(files: dict[str, str], folder: Path) -> int:
    """Say which files differ from what the program would write; 1 if any does."""
    different = [
        name
        for name, text in files.items()
        if not (folder / name).is_file() or (folder / name).read_bytes() != text.encode()
    ]
    for name in different:
        print(f"{name}: differs from what this program writes", file=sys.stderr)
    return 1 if different else 0


def main(arguments: list[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--output", type=Path, default=HERE, metavar="DIR", help="where the six files are (to be)"
    )
    parser.add_argument(
        "--check", action="store_true", help="only verify the files; exit status 1 if any differs"
    )
    options = parser.parse_args(arguments)
    files = make_files()
    if options.check:
        return check(files, options.output)
    options.output.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (options.output / name).write_bytes(text.encode())
        print(f"{name}: {text.count(chr(10))} sentences")
    return 0


if __name__ == "__main__":
    sys.exit(main())
