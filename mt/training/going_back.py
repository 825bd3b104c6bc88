"""Back to before the cooldown: where a run goes on that is given a longer budget.

Weights whose rate has fallen are not those that a longer run has there. When that is so is known to
`mt.training.timetable`.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from mt.training.checkpoint import Parts, load_state, state_before_cooldown


def go_back(folder: Path, parts: Parts, *, rank: int) -> str | None:
    """Put the state before the cooldown into `parts`, which hold the newest one in `folder`.

    The weights in the model folder stay there until they are beaten. Returns what people are told;
    None, and all stays as it is, where that state is not there.

    Raises ModelFolderError when it is damaged, and DeviceMemoryError as `load_checkpoint` does.
    """
    tracker, newest = parts.tracker, dataclasses.replace(parts.tracker)
    path = state_before_cooldown(folder, parts.progress)
    if path is not None:
        load_state(path, parts, rank=rank)
    parts.progress.cooldown = None
    if path is None:
        return None
    update = parts.progress.update
    tracker.held = newest.left_behind(update)
    text = f"the budget is longer: going on from update {update:,}, before the rate fell"
    if tracker.held is None:
        return text
    return f"{text}; the model stays that of update {tracker.held.update:,} until one is better"
