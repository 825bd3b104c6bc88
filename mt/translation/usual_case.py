"""Source lines in the case that a model reads best, with the terms of a glossary kept."""

from __future__ import annotations

from collections.abc import Sequence

from mt.events import LineRecased, Listener
from mt.text.glossary import Glossary
from mt.text.normalise import normalise
from mt.text.tokenizer_pair import TokenizerPair


def in_usual_case(
    lines: Sequence[str],
    tokenizers: TokenizerPair,
    *,
    glossary: Glossary | None,
    first_line: int,
    listener: Listener,
) -> list[str]:
    """The lines, those in capitals or without any in usual case; an event reports each of these.

    What the `glossary` asks for is written as it has it, so that it is asked for afterwards too.
    """
    texts = []
    for number, line in enumerate(lines, first_line):
        text = tokenizers.in_usual_case(line)
        if text != line:
            if glossary is not None:
                whole = normalise(line)
                text = tokenizers.in_usual_case(whole, glossary.kept(whole))
            listener(LineRecased(line=number, recased=text))
        texts.append(text)
    return texts
