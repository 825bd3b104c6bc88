"""The cores of this process, and how further processes may begin."""

from __future__ import annotations

import multiprocessing
import os
import sys

from mt.errors import ConfigError

START_METHOD = "MT_START_METHOD"
"""A variable of the environment: `spawn` forbids forks, as on systems that have none."""


def num_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def may_fork() -> bool:
    """Whether processes may be forked from this one; if not, threads do their work.

    They may on Linux, where neither `MT_START_METHOD` nor `multiprocessing.set_start_method` says
    `spawn`: Windows has no forks, and libraries of macOS do not survive them. Raises ConfigError
    for another word.
    """
    word = os.environ.get(START_METHOD, "")
    if word not in ("", "fork", "spawn"):
        raise ConfigError(f"{START_METHOD} must be fork or spawn, but is {word!r}")
    method = word or multiprocessing.get_start_method(allow_none=True)
    return sys.platform == "linux" and method != "spawn"
