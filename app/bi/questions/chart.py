"""All analyses of a question over spans: bottom-up, the best of each span, within a budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

WIDEST_CELL = 22  # analyses that are kept of a span
BUDGET = 30_000  # combinations of one question; what is not tried then is not found
Weights = Mapping[str, float]


class Item:
    """An analysis of a span: a category, its meaning, how likely it is, and how it was made."""

    __slots__ = ("category", "crossed", "features", "left", "meaning", "right", "score")

    def __init__(
        self, category: str, meaning: Any, features: tuple[str, ...], score: float,
        left: Item | None = None, right: Item | None = None, crossed: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        self.category, self.meaning = category, meaning
        self.features, self.score = features, score
        self.left, self.right = left, right
        self.crossed = crossed  # places of the chart that it passes over

    def parts(self) -> Iterator[Item]:
        """Itself and all that it is made of, from left to right."""
        yield self
        for part in (self.left, self.right):
            if part is not None:
                yield from part.parts()

    def leaves(self) -> Iterator[Item]:
        """The words and names that it is made of, in their order."""
        return (part for part in self.parts() if part.left is None and part.right is None)

    def all_crossed(self) -> Iterator[int]:
        """The places that nothing was made of."""
        return chain.from_iterable(part.crossed for part in self.parts())

    def all_features(self) -> Iterator[str]:
        """The features of all its parts."""
        return chain.from_iterable(part.features for part in self.parts())


@dataclass(frozen=True)
class Rule:
    """Two neighbours made one; ``compose`` answers the meaning, or None where types disagree.

    Without a name they are parts of a rule that come together, which costs nothing.
    """

    name: str
    left: str
    right: str
    result: str
    compose: Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Parsed:
    """The analyses of the whole question, the likeliest first; ``is_cut``: the budget ended."""

    items: list[Item]
    is_cut: bool
    cells: Mapping[tuple[int, int], Sequence[Item]]


class Chart:
    """Fills the spans of one question."""

    def __init__(
        self, rules: Mapping[tuple[str, str], Sequence[Rule]],
        lifts: Mapping[str, Sequence[tuple[str, str, Callable[[Any], Any]]]], weights: Weights,
    ) -> None:  # fmt: skip
        self._rules, self._lifts, self._weights = rules, lifts, weights
        self._cells: dict[tuple[int, int], dict[tuple[str, Any], Item]] = defaultdict(dict)

    def put(
        self, start: int, end: int, category: str, meaning: Any, features: tuple[str, ...],
        crossed: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        """A leaf, and what it may stand for."""
        score = sum(self._weights[feature] for feature in features)
        self._keep(start, end, Item(category, meaning, features, score, crossed=crossed))

    def parsed(self, length: int, wanted: str) -> Parsed:
        """The analyses of all words that have the wanted category."""
        spans: dict[tuple[int, int], list[Item]] = {}
        steps = 0
        for width in range(1, length + 1):
            for start in range(length - width + 1):
                end = start + width
                for middle in range(start + 1, end):
                    lefts, rights = spans.get((start, middle)), spans.get((middle, end))
                    if lefts and rights and steps < BUDGET:
                        steps += self._join(start, end, lefts, rights)
                items = sorted(self._cells[start, end].values(), key=lambda item: -item.score)
                if items:
                    spans[start, end] = _widest(items)
        whole = [item for item in spans.get((0, length), ()) if item.category == wanted]
        return Parsed(whole, steps >= BUDGET, spans)

    def _join(self, start: int, end: int, lefts: list[Item], rights: list[Item]) -> int:
        tried = 0
        by_category: dict[str, list[Item]] = defaultdict(list)
        for item in rights:
            by_category[item.category].append(item)
        for left in lefts:
            for category, others in by_category.items():
                for rule in self._rules.get((left.category, category), ()):
                    features = (f"rule {rule.name}",) if rule.name else ()
                    price = self._weights[features[0]] if features else 0.0
                    for right in others:
                        tried += 1
                        meaning = rule.compose(left.meaning, right.meaning)
                        if meaning is not None:
                            score = left.score + right.score + price
                            self._keep(start, end, Item(rule.result, meaning, features, score,
                                                        left, right))  # fmt: skip
        return tried

    def _keep(self, start: int, end: int, item: Item) -> None:
        cell = self._cells[start, end]
        key = (item.category, item.meaning)
        known = cell.get(key)
        if known is not None and known.score >= item.score:
            return
        cell[key] = item
        for name, category, lift in self._lifts.get(item.category, ()):
            meaning = lift(item.meaning)
            if meaning is not None:
                features = (f"rule {name}",)
                score = item.score + self._weights[features[0]]
                self._keep(start, end, Item(category, meaning, features, score, item))


def _widest(items: list[Item]) -> list[Item]:
    """The best of each category, so that whole questions do not crowd out what they need."""
    widest: list[Item] = []
    counts: dict[str, int] = defaultdict(int)
    for item in items:
        most = 10 if item.category.endswith("question") else 3  # by itself, or behind a word
        if counts[item.category] < most and len(widest) < WIDEST_CELL:
            counts[item.category] += 1
            widest.append(item)
    return widest
