"""What holds for all tests: one thread a process, since tests run side by side, and signals heard.

Tests of several threads or workers ask for them. Shells let what they start in the background
ignore Ctrl-C, and nohup SIGHUP, and so do the commands that a test starts from there.
"""

from __future__ import annotations

import os
import signal

from hypothesis import settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

settings.register_profile("unhurried", deadline=None)  # a busy machine is no fault
settings.load_profile("unhurried")

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when torch is imported, here and in children
