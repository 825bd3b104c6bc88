"""What a run was asked for, and the machine that it runs on, for the model card.

Nothing here names the machine or its user. What a system does not tell is left out, and no system
makes an error of it.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
from contextlib import suppress
from pathlib import Path

import torch

from mt import __version__
from mt.events import RunDescribed
from mt.processes import num_cores

_CPUINFO = Path("/proc/cpuinfo")
_GIB = 2**30


def describe_run(
    command: str, *, device: torch.device, threads: int | None, num_processes: int = 1
) -> RunDescribed:
    """The run of this process, which `command` began and which computes on `device`."""
    return RunDescribed(
        command=command,
        processor=_processor(),
        num_cores=num_cores(),
        memory=_memory(),
        gpus=_gpus(device),
        num_threads=threads or num_cores(),
        num_processes=num_processes,
        software=(
            f"mt {__version__}",
            f"torch {torch.__version__}",
            f"Python {platform.python_version()}",
            f"{platform.system() or 'unknown system'} {platform.machine()}".strip(),
        ),
    )


def _processor() -> str:
    """What the processor is called, as its maker calls it where the system knows."""
    with suppress(OSError, UnicodeDecodeError):
        match = re.search(r"^model name\s*:\s*(.+)$", _CPUINFO.read_text("utf-8"), re.MULTILINE)
        if match:
            return " ".join(match[1].split())
    if platform.system() == "Darwin":
        with suppress(OSError, subprocess.SubprocessError):
            asked = ["sysctl", "-n", "machdep.cpu.brand_string"]
            name = subprocess.run(asked, capture_output=True, text=True, timeout=5, check=True)
            if name.stdout.strip():
                return name.stdout.strip()
    return platform.processor() or platform.machine() or "unknown"


def _memory() -> int | None:
    with suppress(AttributeError, ValueError, OSError):  # not every system has sysconf or the names
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        return size if size > 0 else None
    return None


def _gpus(device: torch.device) -> tuple[str, ...]:
    if device.type != "cuda":
        return ()
    found = torch.cuda.get_device_properties(device)
    return (f"{found.name} ({found.total_memory / _GIB:.0f} GiB)",)
