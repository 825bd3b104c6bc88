"""What a run leaves behind."""

from __future__ import annotations

import json
import math
from pathlib import Path

from mt.events import Notice
from mt.tasks.metrics_file import MetricsFile
from tests.cli.events import batch


def test_a_resumed_run_drops_what_will_come_again_and_what_a_kill_cut(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    write = MetricsFile(path)
    for update in (20, 21, 40, 60):
        write(batch(update))
    write(Notice(text="not a record"))
    with path.open("a") as file:
        file.write('{"event": "Batch')
    MetricsFile(path, resumed_update=40)(batch(60, loss=math.nan))
    records = [json.loads(line) for line in path.read_text().split("\n") if line]
    assert [record["update"] for record in records] == [20, 40, 60]
    assert records[-1]["loss"] is None
