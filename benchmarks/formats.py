"""Read every file of a folder of translators' formats and compare with an independent count.

The folder holds `expected.json`: a list of records with `file` (below the folder's parent) and
`info`, in which `tu`, `units`, `entries`, `csv_rows` or `lines` is the number of units that other
parsers found. Usage: python benchmarks/formats.py FOLDER
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import click

from mt.errors import MtError
from mt.formats import open_corpora
from mt.formats.options import ReadingOptions

_COUNTS = ("tu", "units", "entries", "csv_rows", "lines")


def languages_of(info: dict[str, Any]) -> tuple[str, str] | None:
    """Two languages of a file: its source and the most frequent other one."""
    found = info.get("langs") or info.get("keys") or info.get("header") or []
    if isinstance(found, dict):
        merged = Counter({code.lower(): 0 for code in found})
        for code, count in found.items():
            merged[code.lower()] += count
        found = [code for code, _ in merged.most_common()]
    codes = [code for code in found if code]
    return (codes[0], codes[1]) if len(codes) > 1 else None


def read(path: Path, info: dict[str, Any]) -> dict[str, Any]:
    """Places with a unit, usable pairs, and units left out by reason."""
    options = ReadingOptions(languages=languages_of(info))
    try:
        (reader,) = open_corpora([str(path)], options).readers
        pairs = list(reader)
    except MtError as error:
        return {"error": str(error)}
    return {
        "units": len({pair.line for pair in pairs}),
        "pairs": sum(1 for pair in pairs if not pair.fault and pair.source and pair.target),
        "blank": sum(1 for p in pairs if not p.fault and not (p.source and p.target)),
        "left out": dict(Counter(pair.fault for pair in pairs if pair.fault)),
    }


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
def main(folder: Path) -> None:
    """Read the formats in FOLDER."""
    rows = []
    for record in json.loads((folder / "expected.json").read_text("utf-8")):
        path = folder.parent / record["file"]
        info = record["info"]
        expected = next((info[key] for key in _COUNTS if key in info), None)
        rows.append({"file": path.name, "expected": expected, **read(path, info)})
        click.echo(
            f"{path.name}: expected {expected}, "
            + ", ".join(f"{key} {value}" for key, value in list(rows[-1].items())[2:])
        )
    click.echo(json.dumps({"files": len(rows), "rows": rows}))


if __name__ == "__main__":
    main()
