"""The syntax of ``$apply`` (OData Extension for Data Aggregation 4.0) as frozen values."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from app.odata.syntax.nodes import Argument, ComputeItem, Literal, Node, OrderItem, SearchNode


@dataclass(frozen=True, slots=True)
class Transformation(Node):
    """One set transformation (Data Aggregation 3)."""


@dataclass(frozen=True, slots=True)
class Apply(Node):
    """Transformations, each fed with the result of the one before."""

    transformations: tuple[Transformation, ...]


@dataclass(frozen=True, slots=True)
class AggregateFrom(Node):
    """``from a,b with method``: the step-wise aggregation of an AggregateItem."""

    properties: tuple[Node, ...]
    method: str | None = None


@dataclass(frozen=True, slots=True)
class AggregateItem(Node):
    """``expression with method from ... as alias``.

    ``$count as n`` and ``Orders/$count as n`` have a Count and no method; a custom aggregate is a
    Member without a method. ``method`` is sum, min, max, average, countdistinct or a qualified
    name; ``alias`` is None only for a custom aggregate, or inside an AggregateCall.
    """

    expression: Node
    method: str | None = None
    alias: str | None = None
    origins: tuple[AggregateFrom, ...] = ()


@dataclass(frozen=True, slots=True)
class Aggregate(Transformation):
    items: tuple[AggregateItem, ...]


@dataclass(frozen=True, slots=True)
class Rollup(Node):
    """``rollup(a,b)``; ``with_total`` for ``rollup($all,a,b)``.

    A single property without ``$all`` is the qualifier of a levelled hierarchy.
    """

    properties: tuple[Node, ...]
    with_total: bool = False


@dataclass(frozen=True, slots=True)
class GroupBy(Transformation):
    """``groupby((path,rollup(...)),apply)``; a key is a path or a Rollup."""

    keys: tuple[Node, ...]
    apply: Apply | None = None


@dataclass(frozen=True, slots=True)
class FilterTransformation(Transformation):
    predicate: Node


@dataclass(frozen=True, slots=True)
class SearchTransformation(Transformation):
    search: SearchNode


@dataclass(frozen=True, slots=True)
class ComputeTransformation(Transformation):
    items: tuple[ComputeItem, ...]


@dataclass(frozen=True, slots=True)
class OrderByTransformation(Transformation):
    items: tuple[OrderItem, ...]


@dataclass(frozen=True, slots=True)
class TopTransformation(Transformation):
    count: Literal


@dataclass(frozen=True, slots=True)
class SkipTransformation(Transformation):
    count: Literal


@dataclass(frozen=True, slots=True)
class Identity(Transformation):
    pass


@dataclass(frozen=True, slots=True)
class Concat(Transformation):
    sequences: tuple[Apply, ...]


TopBottomKind: t.TypeAlias = t.Literal[
    "topcount", "topsum", "toppercent", "bottomcount", "bottomsum", "bottompercent"
]


@dataclass(frozen=True, slots=True)
class TopBottom(Transformation):
    """``topcount(amount,expression)`` and its five siblings."""

    kind: TopBottomKind
    amount: Node
    expression: Node


@dataclass(frozen=True, slots=True)
class NestItem(Node):
    apply: Apply
    alias: str


@dataclass(frozen=True, slots=True)
class Nest(Transformation):
    """``nest(apply as alias,...)``, or with a path ``addnested(path,apply as alias,...)``."""

    items: tuple[NestItem, ...]
    path: Node | None = None


@dataclass(frozen=True, slots=True)
class Join(Transformation):
    """``join(path as alias,apply)``; ``outer`` for ``outerjoin``."""

    path: Node
    alias: str
    apply: Apply | None = None
    outer: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class ExpandTransformation(Transformation):
    """``expand(path,apply,expand(...),...)``."""

    path: Node
    apply: Apply | None = None
    nested: tuple[ExpandTransformation, ...] = ()


@dataclass(frozen=True, slots=True)
class FunctionTransformation(Transformation):
    """A function of the model that is bound to the collection."""

    name: str
    arguments: tuple[Argument, ...]


def name_of(node: Transformation) -> str:
    """The name that a transformation is written with."""
    match node:
        case TopBottom(kind=kind):
            return kind
        case FunctionTransformation(name=name):
            return name
        case Nest(path=path):
            return "nest" if path is None else "addnested"
        case Join(outer=True):
            return "outerjoin"
    return type(node).__name__.removesuffix("Transformation").lower()


@dataclass(frozen=True, slots=True)
class AggregateCall(Node):
    """``source/aggregate(...)`` as an expression (Data Aggregation 4.3)."""

    source: Node
    item: AggregateItem
