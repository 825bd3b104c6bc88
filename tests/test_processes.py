"""Whether processes may be forked: on Linux, unless somebody says `spawn`."""

from __future__ import annotations

import multiprocessing
import sys

import pytest

from mt.errors import ConfigError
from mt.processes import START_METHOD, may_fork


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(START_METHOD, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")


def test_linux_forks_unless_it_is_told_to_spawn(monkeypatch: pytest.MonkeyPatch) -> None:
    assert may_fork()
    monkeypatch.setenv(START_METHOD, "spawn")
    assert not may_fork()


def test_the_start_method_of_multiprocessing_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiprocessing, "get_start_method", lambda *, allow_none: "spawn")
    assert not may_fork()
    monkeypatch.setenv(START_METHOD, "fork")
    assert may_fork(), "the variable goes first"


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_no_other_system_forks(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setenv(START_METHOD, "fork")
    assert not may_fork()


def test_another_word_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(START_METHOD, "forkserver")
    with pytest.raises(ConfigError, match="MT_START_METHOD must be fork or spawn, but is 'forks"):
        may_fork()
