"""Which corpora get which reserved tags before their sources, and which directions they are of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mt.corpus.balance import balance_weights
from mt.corpus.store import Sequences
from mt.text.tags import SYNTHETIC, TaggedTokenizer
from mt.text.tokenizer_pair import TokenizerPair


@dataclass(frozen=True, kw_only=True)
class Marks:
    """Tags and directions of the corpora of a run, each in their order; none of a plain run."""

    tags: tuple[str, ...] = ()
    """Those of the vocabulary."""
    of_train: tuple[tuple[str, ...], ...] = ()
    """Before the sources of each corpus."""
    of_dev: tuple[tuple[str, ...], ...] = ()
    """The same of the validation set; of one that is held out, none."""
    groups: tuple[int, ...] = ()
    """The number of the direction of each corpus; none where there is one direction."""

    @property
    def synthetic(self) -> tuple[int, ...]:
        """The corpora whose sources a model made: nothing of them is held out."""
        return tuple(i for i, tags in enumerate(self.of_train) if SYNTHETIC in tags)

    def weights(self, counts: Sequence[int], temperature: float) -> tuple[float, ...]:
        """How often the pairs of each corpus are to come, of so many pairs."""
        if not self.groups or temperature == 1:
            return (1.0,) * len(counts)
        return balance_weights(counts, self.groups, temperature)

    def with_tags(self, tokenizers: TokenizerPair) -> TokenizerPair:
        """Tokenizers that know the tags: of two, that of the source."""
        if not self.tags:
            return tokenizers
        source = TaggedTokenizer(tokenizers.source, self.tags)
        target = source if tokenizers.is_joint else tokenizers.target
        return TokenizerPair(source=source, target=target, truecaser=tokenizers.truecaser)

    def led(
        self,
        sources: Sequences,
        origins: NDArray[np.uint16],
        tokenizers: TokenizerPair,
        *,
        of_dev: bool = False,
    ) -> Sequences:
        """Sources, each after the tags of the corpus that it comes from."""
        tags = (self.of_dev or self.of_train) if of_dev else self.of_train
        if not any(tags):
            return sources
        return sources.led_by([tokenizers.source.tag_ids(each) for each in tags], origins)


NO_MARKS = Marks()
