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
    protected: Sequence[tuple[str, ...]],
    first_line: int,
    listener: Listener,
) -> list[str]:
    """The lines, those in capitals or without any in usual case; an event reports each of these.

    What the `glossary` asks for is written as it has it, so that it is asked for afterwards too,
    and what is `protected` in each line as it stands there.
    """
    texts = []
    for number, (line, of_line) in enumerate(zip(lines, protected, strict=True), first_line):
        text = tokenizers.in_usual_case(line)
        if text != line:
            if glossary is not None:
                whole = normalise(line)
                text = tokenizers.in_usual_case(whole, glossary.kept(whole, of_line))
            listener(LineRecased(line=number, recased=text))
        texts.append(text)
    return texts
