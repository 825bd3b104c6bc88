"""Marks of a source put into its translation, by the words that belong together.

A pair goes around the smallest span of target words that covers what belongs to the words in it;
pairs never cross, and those inside another stay there. A mark by itself goes behind the target of
the word before it, or before that of the word after it where it is written together with that.
What stands at an end of a sentence stays there. Nothing is put inside a word.

These are pure functions of words, marks and links. Positions are gaps: gap g is before word g.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from mt.documents.passage import Mark
from mt.formats.documents.unit import CodeForm

Gap = int
Interval = tuple[Gap, Gap]
"""From a gap to another: the words between them."""


@dataclass(frozen=True, kw_only=True)
class Placing:
    """A mark, and where it stands among the words of the source."""

    mark: Mark
    gap: Gap
    """Words before it; one that it stands inside counts for a closing, not for an opening."""
    is_with_next: bool = False
    """It is written together with the word behind it and apart from the one before it."""


@dataclass(kw_only=True)
class Node:
    """A pair with what is in it, or a mark by itself."""

    opening: Placing
    closing: Placing | None = None
    """None of a mark by itself."""
    children: list[Node] = field(default_factory=list)

    @property
    def source(self) -> Interval:
        """The words of the source that are in it."""
        return self.opening.gap, self.opening.gap if self.closing is None else self.closing.gap

    @property
    def is_around_words(self) -> bool:
        """Whether it is a pair with words in it."""
        return self.source[0] < self.source[1]


@dataclass(frozen=True, kw_only=True)
class Words:
    """What is known of the words of both sides."""

    num_target: int
    links: Mapping[int, Collection[int]]
    """The target words that belong to a source word."""
    anchors: Mapping[Gap, Gap]
    """Gaps of the source whose place is known, the ends of sentences; 0 and the end among them."""
    source_content: Sequence[bool]
    target_content: Sequence[bool]
    """Whether a word says something, as a comma does not."""


@dataclass(frozen=True, kw_only=True)
class Projected:
    """Marks among the words of the target."""

    sequence: tuple[Mark | int, ...]
    """Marks, and the numbers of words in order."""
    num_unplaced: int
    """Pairs around words that nothing in the target belongs to."""


def tree_of(placings: Sequence[Placing]) -> list[Node]:
    """The marks as a tree; they must be well nested.

    Raises ValueError where they are not.
    """
    roots: list[Node] = []
    stack: list[Node] = []
    for placing in placings:
        if placing.mark.form is CodeForm.CLOSING:
            if not stack or stack[-1].opening.mark.name != placing.mark.name:
                raise ValueError(f"a closing without its opening: {placing.mark.name}")
            stack.pop().closing = placing
            continue
        node = Node(opening=placing)
        (stack[-1].children if stack else roots).append(node)
        if placing.mark.form is CodeForm.OPENING:
            stack.append(node)
    if stack:
        raise ValueError(f"an opening without its closing: {stack[-1].opening.mark.name}")
    return roots


def project(placings: Sequence[Placing], words: Words) -> Projected:
    """Where the marks stand in the target; as many, well nested."""
    projection = _Projection(words)
    everything = (0, len(words.source_content))
    projection.put(tree_of(placings), (0, words.num_target), everything)
    return Projected(sequence=tuple(projection.sequence), num_unplaced=projection.num_unplaced)


class _Projection:
    def __init__(self, words: Words) -> None:
        self._words = words
        self._sentences = list(pairwise(sorted(words.anchors.items())))
        self._sources: dict[int, list[int]] = {}  # of a target word, those that say something
        for source, targets in words.links.items():
            for target in targets if words.source_content[source] else ():
                self._sources.setdefault(target, []).append(source)
        self.sequence: list[Mark | int] = []
        self.num_unplaced = 0

    def put(self, nodes: Sequence[Node], within: Interval, region: Interval) -> None:
        """Write the words `within` with the marks of `nodes`, which stand in `region`, in them."""
        pairs = [node for node in nodes if node.is_around_words]
        intervals, nested = self._intervals(pairs, within, region)
        around: dict[Gap, list[tuple[Node, Interval]]] = {}
        for node, interval in intervals:
            around.setdefault(interval[0], []).append((node, interval))
        placed = {id(node) for node, _ in intervals} | nested
        singles: dict[Gap, list[Node]] = {}
        for node in nodes:
            if id(node) not in placed:
                self.num_unplaced += node.is_around_words
                gap = self._gap(node, within, region, [interval for _, interval in intervals])
                singles.setdefault(gap, []).append(node)
        gap = within[0]
        while gap <= within[1]:
            for node in singles.get(gap, ()):
                self._put_one(node, (gap, gap))
            if gap in around:
                ((node, interval),) = around[gap]
                self._put_one(node, interval)
                gap = interval[1]
                continue
            if gap < within[1]:
                self.sequence.append(gap)
            gap += 1

    def _put_one(self, node: Node, interval: Interval) -> None:
        self.sequence.append(node.opening.mark)
        if node.closing is not None:
            self.put(node.children, interval, node.source)
            self.sequence.append(node.closing.mark)

    def _intervals(
        self, pairs: Sequence[Node], within: Interval, region: Interval
    ) -> tuple[list[tuple[Node, Interval]], set[int]]:
        """Intervals of pairs beside each other, none empty; a pair without one is left out.

        Of pairs that share all their target words, one goes into the other: the second value has
        the ids of such nodes.
        """
        nested: set[int] = set()
        own = {id(node): self._own(node, within) for node in pairs}
        owned = set().union(*own.values())
        taken: list[tuple[Node, Interval]] = []
        rest = []
        for node in pairs:
            interval = self._anchored(node, within, region)
            if interval is not None and _is_free(interval, taken):
                taken.append((node, interval))
            else:
                rest.append(node)
        for node in sorted(rest, key=lambda node: -len(own[id(node)])):
            interval = self._interval(node, own[id(node)], owned, within, taken)
            if interval is not None:
                taken.append((node, interval))
                continue
            for other, there in taken:
                if any(there[0] <= word < there[1] for word in own[id(node)]):
                    other.children.append(node)
                    nested.add(id(node))
                    break
        return sorted(taken, key=lambda each: each[1]), nested

    def _anchor(self, gap: Gap, within: Interval, region: Interval) -> Gap | None:
        """The place of a gap that is known: at an end of a sentence, or of the pair around it."""
        if gap in region:
            return within[region.index(gap)]
        place = self._words.anchors.get(gap)
        return None if place is None else min(max(place, within[0]), within[1])

    def _anchored(self, node: Node, within: Interval, region: Interval) -> Interval | None:
        """The interval of a pair around all words of sentences; signs at the ends may be outside.

        None for any other pair.
        """
        (start, end), words = node.source, self._words
        first, last = start, end
        if any(words.source_content[start:end]):
            while (
                self._anchor(first, within, region) is None and not words.source_content[first - 1]
            ):
                first -= 1
            while self._anchor(last, within, region) is None and not words.source_content[last]:
                last += 1
        here, there = self._anchor(first, within, region), self._anchor(last, within, region)
        if here is None or there is None or here >= there:
            return None
        content = [i for i in range(here, there) if words.target_content[i]]
        if (first, last) == (start, end) or not content:
            return here, there
        signs = self._signs_in(node)
        here = here if first == start else max(here, content[0] - signs[0])
        there = there if last == end else min(there, content[-1] + 1 + signs[1])
        return here, there

    def _own(self, node: Node, within: Interval) -> set[int]:
        """The target words that belong to a pair; of signs only where it holds nothing else."""
        start, end = node.source
        words = self._words
        content = [i for i in range(start, end) if words.source_content[i]]
        found = {
            target
            for source in content or range(start, end)
            for target in words.links.get(source, ())
        }
        for (here, place), (there, behind) in self._sentences:
            if start <= here and there <= end:  # a sentence as a whole
                found.update(range(place, behind))
        found = {target for target in found if within[0] <= target < within[1]}
        saying = {target for target in found if words.target_content[target]}
        return saying or found

    def _interval(
        self,
        node: Node,
        own: set[int],
        owned: set[int],
        within: Interval,
        taken: Sequence[tuple[Node, Interval]],
    ) -> Interval | None:
        """The span of a pair: what covers its words, or most of them where others stand between."""
        if not own:
            return None
        cover = (min(own), max(own) + 1)
        between = [word for word in range(*cover) if word not in own]
        foreign = [word for word in between if self._is_foreign(word, node)]
        is_crowded = not owned.isdisjoint(between)
        if len(foreign) > len(own) or is_crowded or not _is_free(cover, taken):
            best = _densest(own, foreign, taken)
            if best is None:
                return None
            cover = best
        return self._with_signs(cover, self._signs_in(node), within, taken)

    def _signs_in(self, node: Node) -> tuple[int, int]:
        """How many signs stand in the pair before its first word, and behind its last."""
        start, end = node.source
        content = [i for i in range(start, end) if self._words.source_content[i]]
        if not content:
            return 0, 0
        return content[0] - start, end - 1 - content[-1]

    def _is_foreign(self, target: int, node: Node) -> bool:
        """Whether a target word belongs to source words outside of a pair."""
        start, end = node.source
        return any(not start <= source < end for source in self._sources.get(target, ()))

    def _with_signs(
        self,
        cover: Interval,
        signs: tuple[int, int],
        within: Interval,
        taken: Sequence[tuple[Node, Interval]],
    ) -> Interval:
        """A span with as many signs (quotes, a full stop) at its ends as the source has in it."""
        start, end = cover
        is_content = self._words.target_content
        for _ in range(signs[0]):
            if start > within[0] and not is_content[start - 1]:
                start -= _is_free((start - 1, start), taken)
        for _ in range(signs[1]):
            if end < within[1] and not is_content[end]:
                end += _is_free((end, end + 1), taken)
        return start, end

    def _gap(
        self, node: Node, within: Interval, region: Interval, taken: Sequence[Interval]
    ) -> Gap:
        """Where a mark by itself stands, or a pair without words."""
        placing = node.opening
        words = self._words
        first, last = within
        gap = self._anchor(placing.gap, within, region)
        if gap is None and placing.is_with_next:
            here = [i for i in words.links.get(placing.gap, ()) if first <= i < last]
            gap = min(here, default=None)
        if gap is None:
            gap = first
            for source in range(placing.gap - 1, -1, -1):
                here = [i for i in words.links.get(source, ()) if first <= i < last]
                if here:
                    gap = max(here) + 1
                    break
                if source in words.anchors:
                    gap = words.anchors[source]
                    break
        gap = min(max(gap, first), last)
        for start, end in taken:
            if start < gap < end:
                return start if placing.is_with_next else end
        return gap


def _is_free(interval: Interval, taken: Sequence[tuple[Node, Interval]]) -> bool:
    return all(interval[1] <= start or end <= interval[0] for _, (start, end) in taken)


def _densest(
    own: set[int], foreign: Sequence[int], taken: Sequence[tuple[Node, Interval]]
) -> Interval | None:
    """The span with most words of its own over those that are foreign; None where all are taken.

    Foreign words count against it, words that belong to nothing do not (Kadane's maximum sum).
    """
    free = [word for word in sorted(own) if _is_free((word, word + 1), taken)]
    best: Interval | None = None
    best_score = score = 0
    start = -1
    for before, word in zip([-1, *free], free, strict=False):
        if start >= 0:
            score -= bisect_left(foreign, word) - bisect_left(foreign, before)
        if start < 0 or score <= 0 or not _is_free((start, word + 1), taken):
            start, score = word, 0
        score += 1
        if score > best_score:
            best_score, best = score, (start, word + 1)
    return best
