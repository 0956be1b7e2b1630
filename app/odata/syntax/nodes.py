"""The syntax of a query as frozen values: what was written, before any name is looked up.

Every node knows the 0-based offset of its first character in the text of its option; offsets and
slots take no part in comparison, so a tree equals another of the same meaning wherever it stood.
"""

from __future__ import annotations

import datetime as dt
import typing as t
import uuid
from dataclasses import dataclass, field
from decimal import Decimal

LiteralKind: t.TypeAlias = t.Literal[
    "null",
    "boolean",
    "integer",
    "decimal",
    "double",
    "string",
    "date",
    "datetime",
    "timeofday",
    "duration",
    "guid",
    "binary",
    "enum",
    "geo",
]
LiteralValue: t.TypeAlias = (
    bool
    | int
    | Decimal
    | float
    | str
    | bytes
    | dt.date
    | dt.datetime
    | dt.time
    | dt.timedelta
    | uuid.UUID
    | None
)


@dataclass(frozen=True, slots=True)
class Node:
    """Anything that was written at one place of a query."""

    offset: int = field(default=0, kw_only=True, compare=False)


# --- expressions -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """A primitive value.

    ``value`` by ``kind``: null None; boolean bool; integer int within Int64; decimal Decimal with
    the fraction digits that were written; double float (an exponent, INF, -INF, NaN); string, and
    the text of enum and geo, str; date, datetime (aware, with the offset written), timeofday and
    duration (timedelta) with microseconds; guid UUID; binary bytes.
    ``type_name`` is the prefix of an enum literal (``Sales.Colour``) or ``geography``/``geometry``.
    ``slot`` is the place of the value in ``Shape.literals``; None when it stays in the shape, so
    that a plan made from this tree may keep the value itself only then (docs/adr/0019).
    """

    value: LiteralValue
    kind: LiteralKind
    type_name: str | None = field(default=None, kw_only=True)
    slot: int | None = field(default=None, kw_only=True, compare=False)


@dataclass(frozen=True, slots=True)
class It(Node):
    """``$it``: the current instance of the collection that the resource path names."""


@dataclass(frozen=True, slots=True)
class This(Node):
    """``$this``: the instance on which the option is evaluated, inside nested options."""


@dataclass(frozen=True, slots=True)
class These(Node):
    """``$these``: the collection of instances before a transformation of ``$apply``."""


@dataclass(frozen=True, slots=True)
class Root(Node):
    """``$root``: the service root; always the base of a Member, a call or a key predicate."""


@dataclass(frozen=True, slots=True)
class Alias(Node):
    """``@name``: a parameter alias; ``name`` is without the ``@``."""

    name: str


@dataclass(frozen=True, slots=True)
class Member(Node):
    """One step of a path: a property, a navigation, or an unqualified type.

    A first step (``base`` None) that carries the name of a lambda variable in scope is that
    variable: the binder decides.
    """

    base: Node | None
    name: str


@dataclass(frozen=True, slots=True)
class TypeCast(Node):
    """``base/Namespace.Type``; ``base`` is None where the path begins with the cast."""

    base: Node | None
    type_name: str


@dataclass(frozen=True, slots=True)
class Annotation(Node):
    """``base/@Namespace.Term#Qualifier``; the term is without the ``@``."""

    base: Node | None
    term: str
    qualifier: str | None = None


@dataclass(frozen=True, slots=True)
class Argument(Node):
    """A named value of a call or key predicate; ``name`` is None for the single key value."""

    name: str | None
    value: Node


@dataclass(frozen=True, slots=True)
class KeyPredicate(Node):
    """``base(1)``, ``base('x')``, ``base(@k)``: one entity of a collection by its key.

    After a function or ``/$filter(...)`` the parts of the key may be named.
    """

    base: Node
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class BoundCall(Node):
    """``base/Name(a=1,b=@x)``: a function of the model; ``base`` None binds it to the instance.

    A name without a dot may be a collection with a key written by name, ``Contacts(id=1)``:
    only the model can tell, so the binder reads it as a key predicate when it is a navigation
    property or, under Root, an entity set.
    """

    base: Node | None
    name: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A canonical function (URL Conventions 5.1.1.5 to 5.1.1.12), its name in lower case.

    The number of arguments is right for the function. The last argument of ``cast`` and ``isof``
    is a TypeName.
    """

    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class TypeName(Node):
    """A type as argument of ``cast`` or ``isof``, written with or without quotes."""

    name: str
    is_collection: bool = False


@dataclass(frozen=True, slots=True)
class Case(Node):
    """``case(condition:value,...)``; evaluated from the first pair on, null when none holds."""

    branches: tuple[tuple[Node, Node], ...]


UnaryOperator: t.TypeAlias = t.Literal["not", "neg"]
BinaryOperator: t.TypeAlias = t.Literal[
    "or",
    "and",
    "eq",
    "ne",
    "gt",
    "ge",
    "lt",
    "le",
    "has",
    "add",
    "sub",
    "mul",
    "div",
    "divby",
    "mod",
]


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """``not operand`` or ``-operand``."""

    op: UnaryOperator
    operand: Node


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """``left op right``; ``offset`` is that of the operator."""

    op: BinaryOperator
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class In(Node):
    """``left in right``; ``right`` is a Collection, a path or an Alias. Offset of the ``in``."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Collection(Node):
    """``(1,2)`` after ``in``, or a JSON array ``[1,2]``."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class JsonObject(Node):
    """``{"name":value,...}``: a complex or entity value."""

    members: tuple[tuple[str, Node], ...]


LambdaOperator: t.TypeAlias = t.Literal["any", "all"]


@dataclass(frozen=True, slots=True)
class Lambda(Node):
    """``source/any(variable:predicate)``; ``any()`` has neither variable nor predicate."""

    op: LambdaOperator
    source: Node
    variable: str | None = None
    predicate: Node | None = None


@dataclass(frozen=True, slots=True)
class Count(Node):
    """``source/$count($filter=...;$search=...)``; ``source`` None is ``$count`` in aggregate()."""

    source: Node | None
    filter: Node | None = None
    search: SearchNode | None = None


@dataclass(frozen=True, slots=True)
class FilterSegment(Node):
    """``base/$filter(predicate)``: the members of a collection that satisfy the predicate."""

    base: Node
    predicate: Node


# --- $orderby, $compute ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OrderItem(Node):
    expression: Node
    descending: bool = False


@dataclass(frozen=True, slots=True)
class ComputeItem(Node):
    expression: Node
    alias: str


# --- $search -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SearchNode(Node):
    """Any part of a search expression."""


@dataclass(frozen=True, slots=True)
class SearchTerm(SearchNode):
    text: str


@dataclass(frozen=True, slots=True)
class SearchPhrase(SearchNode):
    text: str


@dataclass(frozen=True, slots=True)
class SearchNot(SearchNode):
    operand: SearchNode


@dataclass(frozen=True, slots=True)
class SearchAnd(SearchNode):
    left: SearchNode
    right: SearchNode


@dataclass(frozen=True, slots=True)
class SearchOr(SearchNode):
    left: SearchNode
    right: SearchNode
