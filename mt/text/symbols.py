"""Symbol sequences: a vocabulary of what stands between the spaces, taken as it is.

For event logs, phonemes, formulas: a symbol is a run of characters without ASCII white space. No
character of it is changed, neither its case nor its Unicode form. Marks of broken text (U+FFFD,
lone surrogates) part symbols too. What training did not see is unknown: pieces could not spell it.

The file is text: a line that names the form, then one symbol a line in the order of their ids.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from mt.errors import ConfigError, DataError, ModelFolderError
from mt.events import Listener, Notice, ignore
from mt.text.tokenizer import RESERVED, UNKNOWN, Tokenizer

HEADER = b"mt symbols 1\n"
MOST_SYMBOLS = 32_000
"""Size of a vocabulary, reserved symbols included, that nobody gave another."""

_SYMBOL = re.compile("[^ \t\n\r\v\f\ufffd\ud800-\udfff]+")


def symbols_of(text: str) -> list[str]:
    """The symbols of a line."""
    return _SYMBOL.findall(text)


def with_single_spaces(text: str) -> str:
    """The symbols of `text` with single spaces between them."""
    return " ".join(symbols_of(text))


def has_no_symbol(text: str) -> bool:
    """Whether there is nothing but space."""
    return _SYMBOL.search(text) is None


class SymbolTokenizer(Tokenizer):
    """A vocabulary of symbols; ids follow their order, after the reserved ones."""

    def __init__(self, symbols: Iterable[str]) -> None:
        """Raises ValueError for what is no symbol, or comes twice."""
        self._symbols = (*RESERVED, *symbols)
        own = self._symbols[len(RESERVED) :]
        self._ids = {symbol: i for i, symbol in enumerate(own, start=len(RESERVED))}
        if len(self._ids) != len(own) or not all(map(_SYMBOL.fullmatch, own)):
            raise ValueError("symbols must be different, and hold no space")
        self.model = HEADER + "".join(f"{symbol}\n" for symbol in own).encode("utf-8")

    @classmethod
    def of_model(cls, model: bytes, *, name: str = "tokenizer") -> SymbolTokenizer:
        """Read a vocabulary from its bytes; raises ModelFolderError when they are none."""
        try:
            if not model.startswith(HEADER) or not model.endswith(b"\n"):
                raise ValueError("it is not whole")
            return cls(model[len(HEADER) :].decode("utf-8").split("\n")[:-1])
        except ValueError as error:
            raise ModelFolderError(f"{name} is not a list of symbols: {error}") from error

    @property
    def vocab_size(self) -> int:
        """Number of symbols, reserved ones included (V)."""
        return len(self._symbols)

    def normalise(self, text: str) -> str:
        """The symbols of `text` with single spaces between them."""
        return with_single_spaces(text)

    def is_blank(self, text: str) -> bool:
        """Whether there is nothing but space."""
        return has_no_symbol(text)

    def encode(self, text: str) -> list[int]:
        """The id of each symbol, UNKNOWN for one that is not in the vocabulary."""
        ids = self._ids
        return [ids.get(symbol, UNKNOWN) for symbol in symbols_of(text)]

    def encode_batch(self, texts: Sequence[str], *, num_threads: int = -1) -> list[list[int]]:
        """`encode` for many texts; threads would not make it faster."""
        return [self.encode(text) for text in texts]

    def unknown(self, text: str) -> list[str]:
        """The symbols of `text` that are not in the vocabulary, in order."""
        return [symbol for symbol in symbols_of(text) if symbol not in self._ids]

    def parts(self, texts: Sequence[str]) -> list[list[int]]:
        """The id of each text that is a symbol, after a space (U+2581); of others none."""
        found = (self._ids.get(text.removeprefix("\u2581")) for text in texts)
        return [[] if i is None else [i] for i in found]

    def decode(self, ids: Iterable[int]) -> str:
        """The symbols of ids with single spaces between them; reserved ids leave nothing behind."""
        return " ".join(self._symbols[i] for i in ids if i > UNKNOWN)

    def spell(self, ids: Iterable[int]) -> list[bytes]:
        """A space (U+2581) and the symbol for each id, nothing for a reserved one."""
        return [f"\u2581{self._symbols[i]}".encode() if i > UNKNOWN else b"" for i in ids]

    def word_of_each(self, ids: Sequence[int]) -> list[int | None]:
        """Each symbol is a word, an unknown one too."""
        return list(range(len(ids)))

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """The symbols of ids; `<unk>` and the like for reserved ones."""
        return [self._symbols[i] for i in ids]


def learn_symbols(
    texts: Iterable[str],
    *,
    vocab_size: int,
    min_count: int = 1,
    listener: Listener = ignore,
    name: str = "tokenizer",
) -> SymbolTokenizer:
    """The symbols that come `min_count` times and more in `texts`, the most frequent first.

    With reserved ones they are `vocab_size` at most. A Notice says how many others there are.
    Symbols of equal counts are in the order of their code points.

    Raises ConfigError when no symbol is left, DataError when there is no text.
    """
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(symbols_of(text))
    if not counts:
        raise DataError(f"there is no text to train the {name} on")
    room = vocab_size - len(RESERVED)
    if room < 1:
        raise ConfigError(
            f"a vocabulary of {vocab_size} symbols is too small for the {name}",
            hint=f"{len(RESERVED)} are reserved: it needs at least {len(RESERVED) + 1}",
        )
    ordered = sorted(counts, key=lambda symbol: (-counts[symbol], symbol))
    frequent = [symbol for symbol in ordered if counts[symbol] >= min_count]
    if not frequent:
        raise ConfigError(
            f"tokenizer.min_count = {min_count} leaves no symbol: the most frequent one for the "
            f"{name} comes {counts[ordered[0]]} times"
        )
    kept = frequent[:room]
    if len(kept) < len(counts):
        share = 1 - sum(counts[symbol] for symbol in kept) / counts.total()
        text = (
            f"the {name} knows {len(kept)} of {len(counts)} symbols; the others, {share:.2%} of "
            f"all that stands there, come less than {max(min_count, counts[kept[-1]])} times"
        )
        if len(frequent) > room:
            text = (
                f"the {name} knows {len(kept)} of {len(counts)} symbols, the most frequent ones "
                f"that a vocabulary of {vocab_size} holds; the others are {share:.2%} of all that "
                "stands there (--vocab-size makes it larger)"
            )
        listener(Notice(text=text, is_warning=len(frequent) > room))
    return SymbolTokenizer(kept)
