"""Random trees of codes through translators of known alignment: none is lost or crosses."""

from __future__ import annotations

import random
import re
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from mt.documents.report import DocumentReport
from mt.documents.translate_document import Filling, translate_document
from mt.documents.verification import faults_of, is_well_nested
from mt.formats.documents.unit import Code, CodeForm, Content, Unit
from tests.documents.memory_document import ByWords, MemoryDocument, codes_of, content, shown

_TEXTS = st.sampled_from(
    [
        "Hund",
        " ",
        ". ",
        ", ",
        "schläft ",
        "%s",
        " {name} ",
        "don’t ",
        "« ",
        "Ω漢字",
        "12,5 ",
        "-",
        "\n",
    ]
)


_NAMES: st.SearchStrategy[set[str]] = st.shared(st.builds(set), key="names")
"""Those of an example: each code, or pair, has its own."""


@st.composite
def contents(draw: st.DrawFn, depth: int = 3) -> list[str | Code]:
    """Text and codes in random order, well nested; codes with text among them."""
    parts: list[str | Code] = []
    for _ in range(draw(st.integers(0, 5))):
        kind = draw(st.sampled_from(["text", "text", "text", "pair", "single", "text code"]))
        used = draw(_NAMES)
        name = str(len(used))
        used.add(name)
        if kind == "text" or (kind == "pair" and not depth):
            parts.append(draw(_TEXTS))
        elif kind == "pair":
            inner = draw(contents(depth=depth - 1))
            parts.append(Code(form=CodeForm.OPENING, name=name, markup=f"<{name}>"))
            parts += inner
            parts.append(Code(form=CodeForm.CLOSING, name=name, markup=f"</{name}>"))
        else:
            text = draw(st.sampled_from(["%d", "Ada", "3"])) if kind == "text code" else ""
            is_break = not text and draw(st.booleans())
            parts.append(
                Code(
                    form=CodeForm.ISOLATED,
                    name=name,
                    markup=f"<{name}/>",
                    text=text,
                    is_break=is_break,
                )
            )
    return parts


def filled(
    source: Content, translator: ByWords, **filling: str
) -> tuple[Content | None, DocumentReport]:
    document = MemoryDocument(Unit(name="1", source=source))
    report = translate_document(document, translator, Filling(**filling))  # type: ignore[arg-type]
    return document.filled.get(0), report


@given(parts=contents(), seed=st.integers(0, 1000), shuffles=st.booleans())
@settings(max_examples=120)
def test_every_code_is_carried_over_and_none_crosses(
    parts: list[str | Code], seed: int, shuffles: bool
) -> None:
    source = tuple(part for part in parts if part != "")
    shuffled = random.Random(seed) if shuffles else None
    target, report = filled(source, ByWords(shuffled=shuffled))
    assert target is not None and report.left == 0
    assert Counter(map(repr, codes_of(target))) == Counter(map(repr, codes_of(source)))
    assert is_well_nested(target)
    if not report.fallbacks and report.filled:
        assert not faults_of(source, target)


@given(parts=contents())
@settings(max_examples=120)
def test_a_copying_translation_is_the_source(parts: list[str | Code]) -> None:
    """White space aside, which stands outside of pairs in a translation.

    A placeholder and letters with nothing but markup between are one word, which has no place
    for that inside.
    """
    source = tuple(parts)
    marked = "".join(p if isinstance(p, str) else p.text or "\0" for p in source)
    if re.search(r"\w\0+\w|[%{}]\0+\w|\w\0+[%{}]", marked):
        return
    target, report = filled(source, ByWords(), target_language="en")
    assert target is not None
    if report.fallbacks or report.copied or faults_of(source, source):
        return
    words = [shown((part,)).split() for part in target]
    assert "".join(w for each in words for w in each) == "".join(shown(source).split())


def test_random_tags_in_sentences_stand_around_their_words() -> None:
    """500 sentences, their words in another order: each tag is around the words that it was."""
    draw = random.Random(7)
    num_fallbacks = num_codes = 0
    for number in range(500):
        words = [f"Wort{i}" for i in range(draw.randint(3, 12))]
        text, around = _tagged(words, draw)
        source = content(text)
        target, report = filled(source, ByWords(shuffled=draw), target_language="en")
        assert target is not None and not faults_of(source, target), (number, text)
        num_fallbacks += report.fallbacks
        num_codes += len(codes_of(source))
        for tag, word in around.items():
            assert f"⟨{tag}⟩{word}" in shown(target), (text, shown(target))
            assert "  " not in shown(target)
    assert num_codes > 1000
    assert num_fallbacks == 0


def _tagged(words: list[str], draw: random.Random) -> tuple[str, dict[str, str]]:
    """A sentence with tags; and those around a single word, by that word."""
    tagged, around = list(words), {}
    for number, place in enumerate(draw.sample(range(len(words)), min(len(words), 3))):
        form = draw.choice(["pair", "nested", "single", "empty", "sign"])
        word = words[place]
        if form == "pair":
            tagged[place] = f"⟨p{number}⟩{word}⟨/p{number}⟩"
            around[f"p{number}"] = word
        elif form == "nested":
            tagged[place] = f"⟨p{number}⟩⟨q{number}⟩{word}⟨/q{number}⟩⟨/p{number}⟩"
            around[f"q{number}"] = word
        elif form == "single":
            tagged[place] = f"{word}⟨x{number}/⟩"
        elif form == "empty":
            tagged[place] = f"{word}⟨p{number}⟩⟨/p{number}⟩"
        else:
            tagged[place] = f"„⟨p{number}⟩{word}⟨/p{number}⟩“,"
            around[f"p{number}"] = word
    return " ".join(tagged) + ".", around
