"""Translation memories: exact entries, and the nearest by brute force."""

from __future__ import annotations

import random
from difflib import SequenceMatcher
from pathlib import Path

import polib
import pytest

from mt.errors import DataError
from mt.text.memory import Memory


def test_an_exact_source_is_found_whatever_its_spaces_and_composition() -> None:
    memory = Memory([("Ein  Café", "A café"), ("Ein Café", "One café"), ("leer", " ")])
    assert memory.exact("Ein Cafe\u0301 ") == "One café"
    assert memory.exact("ein Café") is None
    assert memory.exact("leer") is None
    assert len(memory) == 1


def test_the_closest_entry_is_that_of_brute_force() -> None:
    state = random.Random(3)
    words = [f"w{number}" for number in range(60)]
    sources = [" ".join(state.choices(words, k=state.randint(3, 9))) for _ in range(400)]
    memory = Memory([(source, source.upper()) for source in sources])
    entries = list(dict.fromkeys(sources))
    for _ in range(80):
        asked = state.choice(entries).split()
        asked[state.randrange(len(asked))] = state.choice(words)

        def likeness(source: str, asked: list[str] = asked) -> float:
            return SequenceMatcher(None, source.split(), asked, autojunk=False).ratio()

        most = max(map(likeness, entries))
        found = memory.closest(" ".join(asked))
        if most < 0.7:
            assert found is None
            continue
        assert found is not None
        assert found.likeness == pytest.approx(most)
        assert likeness(found.source) == most
        assert found.target == found.source.upper()


def test_only_the_same_text_is_wholly_alike() -> None:
    memory = Memory([("Der Hund schläft", "The dog sleeps"), ("東京都に住む", "lives in Tokyo")])
    same, cased = memory.closest("Der Hund schläft"), memory.closest("der hund schläft")
    assert same is not None
    assert cased is not None
    assert (same.likeness, cased.likeness) == (1.0, 0.99)
    near = memory.closest("京都に住む")
    assert near is not None
    assert near.target == "lives in Tokyo"
    assert memory.closest("Ganz anders") is None
    assert memory.closest("") is None


def test_a_memory_is_any_corpus_and_drafts_are_no_part_of_it(tmp_path: Path) -> None:
    file = polib.POFile()
    file.metadata = {"Content-Type": "text/plain; charset=UTF-8", "Language": "en"}
    file.append(polib.POEntry(msgid="Hund", msgstr="dog"))
    file.append(polib.POEntry(msgid="Katze", msgstr="cat", flags=["fuzzy"]))
    file.save(str(tmp_path / "a.po"))
    (tmp_path / "b.tsv").write_text("Maus\tmouse\n", "utf-8")
    memory = Memory.read([tmp_path / "a.po", tmp_path / "b.tsv"], None)
    assert (memory.exact("Hund"), memory.exact("Katze"), memory.exact("Maus")) == (
        "dog",
        None,
        "mouse",
    )
    (tmp_path / "c.tsv").write_text("\n", "utf-8")
    with pytest.raises(DataError, match="holds no pair"):
        Memory.read([tmp_path / "c.tsv"], None)
