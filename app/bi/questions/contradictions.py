"""Whether any record can fulfil a filter, by what its conditions leave of each property.

Values of a property, the numbers and dates between which it lies, and what the model says that one
property entails of another (``isOverdue`` that the status is an open one) are compared. What is
not compared counts as possible, so a filter is never refused that a record can fulfil.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

from app.bi.questions.algebra import OPPOSITE
from app.bi.questions.model import model_data
from app.container.model import container
from app.container.words import options_of
from app.odata.model import edm
from app.odata.syntax.nodes import Binary, Collection, In, Literal, Node, Unary
from app.odata.syntax.options import parse_filter
from app.odata.syntax.printer import to_text

_MOST = 64  # ways to fulfil a filter; of one that has more nothing is said


@dataclass(frozen=True)
class Fact:
    """What is so of a path: ``in`` and ``not in`` some values, or compared with one.

    ``is`` says that an expression as a whole is true or false.
    """

    path: str
    sign: str
    values: tuple[Any, ...]


def is_possible(kind: edm.EntityType, filters: Iterable[str]) -> bool:
    """Whether a record can fulfil all of some OData filters."""
    ways = [list(_ways(parse_filter(text), holds=True)) for text in filters]
    count = 1
    for facts in ways:
        count *= len(facts)
    if count > _MOST:
        return True
    return any(_agree(kind, [fact for way in chosen for fact in way]) for chosen in product(*ways))


def _ways(node: Node, *, holds: bool) -> Iterator[tuple[Fact, ...]]:
    """The ways to fulfil an expression, or its opposite: of each the facts that make it so."""
    match node:
        case Unary("not", operand):
            yield from _ways(operand, holds=not holds)
        case Binary("and" | "or" as word, left, right):
            if (word == "and") == holds:
                firsts = list(_ways(left, holds=holds))
                for first, second in product(firsts, _ways(right, holds=holds)):
                    yield (*first, *second)
            else:
                yield from _ways(left, holds=holds)
                yield from _ways(right, holds=holds)
        case Binary(sign, left, Literal(value)) if sign in OPPOSITE:
            yield (_compared(to_text(left), sign, value, holds=holds),)
        case In(left, Collection(items)) if all(isinstance(literal, Literal) for literal in items):
            values = tuple(literal.value for literal in items if isinstance(literal, Literal))
            yield (Fact(to_text(left), "in" if holds else "not in", values),)
        case _:
            yield (Fact(to_text(node), "is", (holds,)),)


def _compared(path: str, sign: str, value: Any, *, holds: bool) -> Fact:
    sign = sign if holds else OPPOSITE[sign]
    if sign in ("eq", "ne"):
        return Fact(path, "in" if sign == "eq" else "not in", (value,))
    return Fact(path, sign, (value,))


def _agree(kind: edm.EntityType, facts: list[Fact]) -> bool:
    """Whether one record can have all of the facts."""
    by_path: dict[str, list[Fact]] = {}
    for stated in (*facts, *(other for fact in facts for other in _entailed(kind, fact))):
        by_path.setdefault(stated.path, []).append(stated)
    return all(
        _fit(_values_of(kind, path), facts_of_path) for path, facts_of_path in by_path.items()
    )


def _entailed(kind: edm.EntityType, fact: Fact) -> Iterator[Fact]:
    """What a flag that is true, or a date that is known, says of other properties."""
    owner, _, name = fact.path.rpartition("/")
    is_known = fact.sign in ("gt", "ge", "lt", "le") or (fact.sign, fact.values) in (
        ("is", (True,)), ("in", (True,)), ("not in", (None,)), ("not in", (False,)),
    )  # fmt: skip
    if not is_known:
        return
    for step in filter(None, owner.split("/")):
        if step not in kind.navigation:
            return
        kind = container().types[kind.navigation[step].target]
    text = _entailments().get(kind.name, {}).get(name)
    if text is not None:
        (way,) = _ways(parse_filter(text), holds=True)
        for stated in way:
            yield Fact(
                f"{owner}/{stated.path}" if owner else stated.path, stated.sign, stated.values
            )


@lru_cache(maxsize=1)
def _entailments() -> Mapping[str, Mapping[str, str]]:
    """Type of entity -> property -> filter that is so of all records that have it."""
    entailments: dict[str, dict[str, str]] = {}
    for data in model_data().values():
        if "entails" in data:
            kind = container().sets[data["set"]].type
            entailments.setdefault(kind.name, {}).update(data["entails"])
    return entailments


def _values_of(kind: edm.EntityType, path: str) -> tuple[Any, ...]:
    """All values that a property can have, where they are few."""
    prop = kind.properties.get(path)
    return () if prop is None or prop.nullable else options_of(prop)


def _fit(values: tuple[Any, ...], facts: list[Fact]) -> bool:
    """Whether some value has all of the facts."""
    equal_values = [fact.values[0] for fact in facts if fact.sign == "is"]
    if len(set(equal_values)) > 1:
        return False
    allowed: set[Any] | None = set(values) or None
    for fact in facts:
        if fact.sign == "in":
            allowed = set(fact.values) if allowed is None else allowed & set(fact.values)
    left_out = {value for fact in facts if fact.sign == "not in" for value in fact.values}
    ordered = [fact for fact in facts if fact.sign in ("gt", "ge", "lt", "le")]
    if allowed is None:
        return _is_between(ordered)
    return any(
        value not in left_out and all(_is(value, fact.sign, fact.values[0]) for fact in ordered)
        for value in allowed
    )


def _is_between(ordered: list[Fact]) -> bool:
    """Whether something lies above all lower limits and below all upper ones."""
    lows = [fact for fact in ordered if fact.sign in ("gt", "ge")]
    highs = [fact for fact in ordered if fact.sign in ("lt", "le")]
    for low, high in product(lows, highs):
        touching = "le" if (low.sign, high.sign) == ("ge", "le") else "lt"
        if not _is(low.values[0], touching, high.values[0]):
            return False
    return True


def _is(value: Any, sign: str, limit: Any) -> bool:
    """Whether a value is on that side of a limit; of two that are not compared it may be."""
    if value is None:
        return False
    try:
        below, same = bool(value < limit), bool(value == limit)
    except TypeError:
        return True
    return {"lt": below, "le": below or same, "gt": not (below or same), "ge": not below}[sign]
