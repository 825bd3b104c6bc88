"""What holds for all tests: one thread a process, since tests run side by side.

Tests of several threads or workers ask for them.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when torch is imported, here and in children
