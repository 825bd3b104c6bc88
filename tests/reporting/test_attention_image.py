"""Images of attention: whole PNG files, one a kind, with every token on them."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

from mt.errors import ConfigError
from mt.events import Event, Notice
from mt.reporting.attention import attend_to_pair
from mt.reporting.attention_image import write_images
from tests.reporting.models import SOURCE, TARGET, small_model


def test_there_is_an_image_of_each_kind(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    events: list[Event] = []
    pair = attend_to_pair(small_model(), SOURCE, TARGET)
    paths = write_images(pair, tmp_path / "a.html", model="m$x$", listener=events.append)
    names = ["a.cross.png", "a.encoder.png", "a.decoder.png"]
    assert [path.name for path in paths] == names
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    for path in paths:
        head = path.read_bytes()[:24]
        assert head[:8] == b"\x89PNG\r\n\x1a\n"
        width, height = struct.unpack(">II", head[16:24])
        assert width > 500
        assert height > 300
    # The font that matplotlib brings has no letters of Chinese.
    assert [type(event) for event in events] == [Notice]
    assert "lacks" in str(events[0])


def test_without_matplotlib_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    pair = attend_to_pair(small_model(), SOURCE, TARGET)
    with pytest.raises(ConfigError, match="pip install matplotlib"):
        write_images(pair, tmp_path / "a.html", model="m")
    assert list(tmp_path.iterdir()) == []
