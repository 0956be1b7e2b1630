"""The syntax of a query as frozen values: what was written, before any name is looked up.

Every node knows the 0-based offset of its first character in the text of its option; offsets and
slots take no part in comparison, so a tree equals another of the same meaning wherever it stood.
"""

from __future__ import annotations

import datetime as dt
import typing as t
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import cache

LiteralKind: t.TypeAlias = t.Literal[
    "null", "boolean", "integer", "decimal", "double", "string", "date", "datetime",
    "timeofday", "duration", "guid", "binary", "enum", "geo",
]  # fmt: skip
LiteralValue: t.TypeAlias = (
    bool | int | Decimal | float | str | bytes | dt.date | dt.datetime | dt.time | dt.timedelta
    | uuid.UUID | None
)  # fmt: skip


@t.dataclass_transform(frozen_default=True, field_specifiers=(field,))
class _Value:
    """What derives from it is a frozen dataclass."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)


class Node(_Value):
    """Anything that was written at one place of a query."""

    offset: int = field(default=0, kw_only=True, compare=False)


# --- expressions -------------------------------------------------------------------------------


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

    @property
    def number(self) -> int:
        """The value of a row count or an ordinal, which the parser lets be nothing else."""
        assert isinstance(self.value, int)
        return self.value


class It(Node):
    """``$it``: the current instance of the collection that the resource path names."""


class This(Node):
    """``$this``: the instance on which the option is evaluated, inside nested options."""


class These(Node):
    """``$these``: the collection of instances before a transformation of ``$apply``."""


class Root(Node):
    """``$root``: the service root; always the base of a Member, a call or a key predicate."""


class Alias(Node):
    """``@name``: a parameter alias; ``name`` is without the ``@``."""

    name: str


class Member(Node):
    """One step of a path: a property, a navigation, or an unqualified type.

    A first step (``base`` None) that carries the name of a lambda variable in scope is that
    variable: the binder decides.
    """

    base: Node | None
    name: str


class TypeCast(Node):
    """``base/Namespace.Type``; ``base`` is None where the path begins with the cast."""

    base: Node | None
    type_name: str


class Annotation(Node):
    """``base/@Namespace.Term#Qualifier``; the term is without the ``@``."""

    base: Node | None
    term: str
    qualifier: str | None = None


class Argument(Node):
    """A named value of a call or key predicate; ``name`` is None for the single key value."""

    name: str | None
    value: Node


class KeyPredicate(Node):
    """``base(1)``, ``base('x')``, ``base(@k)``: one entity of a collection by its key.

    After a function or ``/$filter(...)`` the parts of the key may be named.
    """

    base: Node
    arguments: tuple[Argument, ...]


class BoundCall(Node):
    """``base/Name(a=1,b=@x)``: a function of the model; ``base`` None binds it to the instance.

    A name without a dot may be a collection with a key written by name, ``Contacts(id=1)``:
    only the model can tell, so the binder reads it as a key predicate when it is a navigation
    property or, under Root, an entity set.
    """

    base: Node | None
    name: str
    arguments: tuple[Argument, ...]


class Call(Node):
    """A canonical function (URL Conventions 5.1.1.5 to 5.1.1.12), its name in lower case.

    The number of arguments is right for the function. The last argument of ``cast`` and ``isof``
    is a TypeName.
    """

    name: str
    arguments: tuple[Node, ...]


class TypeName(Node):
    """A type as argument of ``cast`` or ``isof``, written with or without quotes."""

    name: str
    is_collection: bool = False


class Case(Node):
    """``case(condition:value,...)``; evaluated from the first pair on, null when none holds."""

    branches: tuple[tuple[Node, Node], ...]


# Those in capitals are of ``$search``.
UnaryOperator: t.TypeAlias = t.Literal["not", "neg", "NOT"]
BinaryOperator: t.TypeAlias = t.Literal[
    "or", "and", "eq", "ne", "gt", "ge", "lt", "le", "has", "add", "sub", "mul", "div", "divby",
    "mod", "OR", "AND",
]  # fmt: skip


class Unary(Node):
    """``not operand`` or ``-operand``."""

    op: UnaryOperator
    operand: Node


class Binary(Node):
    """``left op right``; ``offset`` is that of the operator."""

    op: BinaryOperator
    left: Node
    right: Node


class In(Node):
    """``left in right``; ``right`` is a Collection, a path or an Alias. Offset of the ``in``."""

    left: Node
    right: Node


class Collection(Node):
    """``(1,2)`` after ``in``, or a JSON array ``[1,2]``."""

    items: tuple[Node, ...]


class JsonObject(Node):
    """``{"name":value,...}``: a complex or entity value."""

    members: tuple[tuple[str, Node], ...]


LambdaOperator: t.TypeAlias = t.Literal["any", "all"]


class Lambda(Node):
    """``source/any(variable:predicate)``; ``any()`` has neither variable nor predicate."""

    op: LambdaOperator
    source: Node
    variable: str | None = None
    predicate: Node | None = None


class Count(Node):
    """``source/$count($filter=...;$search=...)``; ``source`` None is ``$count`` in aggregate()."""

    source: Node | None
    filter: Node | None = None
    search: Node | None = None


class FilterSegment(Node):
    """``base/$filter(predicate)``: the members of a collection that satisfy the predicate."""

    base: Node
    predicate: Node


# --- $orderby, $compute ------------------------------------------------------------------------


class OrderItem(Node):
    expression: Node
    descending: bool = False


class ComputeItem(Node):
    expression: Node
    alias: str


# --- $search -----------------------------------------------------------------------------------


class SearchTerm(Node):
    """A word; ``NOT``, ``AND`` and ``OR`` between operands are Unary and Binary."""

    text: str


class SearchPhrase(Node):
    text: str


# --- $apply ------------------------------------------------------------------------------------


class Transformation(Node):
    """One set transformation (Data Aggregation 3)."""


class Apply(Node):
    """Transformations, each fed with the result of the one before."""

    transformations: tuple[Transformation, ...]


class AggregateFrom(Node):
    """``from a,b with method``: the step-wise aggregation of an AggregateItem."""

    properties: tuple[Node, ...]
    method: str | None = None


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


class Aggregate(Transformation):
    items: tuple[AggregateItem, ...]


class Rollup(Node):
    """``rollup(a,b)``; ``with_total`` for ``rollup($all,a,b)``.

    A single property without ``$all`` is the qualifier of a levelled hierarchy.
    """

    properties: tuple[Node, ...]
    with_total: bool = False


class GroupBy(Transformation):
    """``groupby((path,rollup(...)),apply)``; a key is a path or a Rollup."""

    keys: tuple[Node, ...]
    apply: Apply | None = None


class OptionTransformation(Transformation):
    """``filter(...)``, ``top(5)`` and their like: what the system query option of that name does.

    ``value`` is as in QueryOptions.
    """

    option: t.Literal["filter", "search", "compute", "orderby", "top", "skip"]
    value: t.Any


class Identity(Transformation):
    pass


class Concat(Transformation):
    sequences: tuple[Apply, ...]


TopBottomKind: t.TypeAlias = t.Literal[
    "topcount", "topsum", "toppercent", "bottomcount", "bottomsum", "bottompercent"
]


class TopBottom(Transformation):
    """``topcount(amount,expression)`` and its five siblings."""

    kind: TopBottomKind
    amount: Node
    expression: Node


class NestItem(Node):
    apply: Apply
    alias: str


class Nest(Transformation):
    """``nest(apply as alias,...)``, or with a path ``addnested(path,apply as alias,...)``."""

    items: tuple[NestItem, ...]
    path: Node | None = None


class Join(Transformation):
    """``join(path as alias,apply)``; ``outer`` for ``outerjoin``."""

    path: Node
    alias: str
    apply: Apply | None = None
    outer: bool = field(default=False, kw_only=True)


class ExpandTransformation(Transformation):
    """``expand(path,apply,expand(...),...)``."""

    path: Node
    apply: Apply | None = None
    nested: tuple[ExpandTransformation, ...] = ()


class FunctionTransformation(Transformation):
    """A function of the model that is bound to the collection."""

    name: str
    arguments: tuple[Argument, ...]


def name_of(node: Transformation) -> str:
    """The name that a transformation is written with."""
    match node:
        case TopBottom(kind=kind):
            return kind
        case FunctionTransformation(name=name) | OptionTransformation(option=name):
            return name
        case Nest(path=path):
            return "nest" if path is None else "addnested"
        case Join(outer=True):
            return "outerjoin"
    return type(node).__name__.removesuffix("Transformation").lower()


class AggregateCall(Node):
    """``source/aggregate(...)`` as an expression (Data Aggregation 4.3)."""

    source: Node
    item: AggregateItem


# --- $select, $expand, and all options of one resource together -----------------------------------


class SelectItem(Node):
    """One item of ``$select``.

    ``path`` holds the steps as written: ``("*",)``, ``("Ns.*",)``, ``("Address", "city")``,
    ``("Ns.Type", "name")``, ``("@Ns.Term",)``. ``parameters`` are the names that pick an overload
    of a function, ``Ns.Function(a,b)``; None when no parentheses of that kind were written.
    """

    path: tuple[str, ...]
    options: QueryOptions | None = None
    parameters: tuple[str, ...] | None = None


class ExpandItem(Node):
    """One item of ``$expand``.

    ``path`` holds the steps as written, type casts included: ``("Contacts",)``,
    ``("Ns.Type", "Address", "Country")``, ``("*",)`` with ``star``, ``("$value",)``. ``ref`` and
    ``count_only`` tell ``/$ref`` and ``/$count``. ``$levels`` is in ``options.levels``.
    """

    path: tuple[str, ...]
    options: QueryOptions | None = None
    star: bool = field(default=False, kw_only=True)
    ref: bool = field(default=False, kw_only=True)
    count_only: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryOptions:
    """What one query string, or the parentheses of one expanded item, asks for.

    None and empty mean "not given". What is one word, such as ``$format``, is read where its text
    is (``OptionTexts``) and not here. ``top`` and ``skip`` are integer literals (not negative), so
    that a plan can bind them by slot; ``levels`` is a number from 1 or ``"max"``. ``aliases`` maps
    a name without ``@`` to its expression. ``custom`` keeps options that are the application's.
    """

    filter: Node | None = None
    orderby: tuple[OrderItem, ...] = ()
    select: tuple[SelectItem, ...] = ()
    expand: tuple[ExpandItem, ...] = ()
    compute: tuple[ComputeItem, ...] = ()
    search: Node | None = None
    apply: Apply | None = None
    top: Literal | None = None
    skip: Literal | None = None
    count: bool | None = None
    levels: int | t.Literal["max"] | None = None
    index: int | None = None
    aliases: Mapping[str, Node] = field(default_factory=dict, hash=False)
    custom: tuple[tuple[str, str], ...] = ()


# --- resource paths ----------------------------------------------------------------------------


class Segment(Node):
    """What stands between two slashes; ``offset`` is in the percent-decoded path."""


class NameSegment(Segment):
    """An identifier, with dots or without, and the parentheses after it.

    Without parentheses it is an entity set, a property, a type, an operation, or a key written as
    a segment (``Employees/A1245``): the binder decides. ``arguments`` is what the first
    parentheses hold: a key (``Clients(1)``, ``Clients(id=1)``, ``Clients(@k)``) or the parameters
    of a function; None without parentheses. ``key`` is a key after the parameters of a function.
    """

    name: str
    arguments: tuple[Argument, ...] | None = None
    key: tuple[Argument, ...] | None = None


class KeySegment(Segment):
    """A segment that is no identifier: the raw text of a key, or an ordinal (``Clients/1``)."""

    text: str


class SystemSegment(Segment):
    """``$metadata``, ``$batch``, ``$all``, ``$entity``, ``$count``, ``$ref``, ``$value``,
    ``$each`` or ``$query``; ``name`` has the dollar sign.
    """

    name: str


class FilterPathSegment(Segment):
    """``$filter(predicate)``; ``$filter(@alias)`` has an Alias. ``key`` as in NameSegment."""

    predicate: Node
    key: tuple[Argument, ...] | None = None


class CrossJoinSegment(Segment):
    """``$crossjoin(Clients,Contacts)``."""

    entity_sets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResourcePath:
    """The segments after the service root; none is the service document.

    ``slots`` is the number of literals with a slot: the ``first_slot`` of the query options.
    """

    segments: tuple[Segment, ...]
    slots: int = 0


# --- what holds for every kind of node -----------------------------------------------------------


def children(parent: Node | QueryOptions) -> Iterator[Node]:
    """The nodes right below ``parent``, in the order of its fields."""
    kind: t.Any = type(parent)
    waiting: list[t.Any] = [getattr(parent, name) for name in _names_from_the_last(kind)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            waiting.extend(reversed(value))
        elif isinstance(value, dict):
            waiting.extend(reversed(list(value.values())))
        elif isinstance(value, QueryOptions):
            waiting.extend(reversed(list(children(value))))


@cache
def _names_from_the_last(kind: type[t.Any]) -> tuple[str, ...]:
    return tuple(field.name for field in reversed(fields(kind)))


def descendants(root: Node | QueryOptions) -> Iterator[tuple[Node, int]]:
    """All nodes below ``root``, each with the number of steps to it."""
    waiting = [(child, 1) for child in children(root)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        waiting += ((child, depth + 1) for child in children(node))


def height(root: Node) -> int:
    """The number of nodes on the longest way down: 1 for a leaf."""
    return 1 + max((depth for _, depth in descendants(root)), default=0)


Operand = t.TypeVar("Operand")


def balance(
    operands: Sequence[Operand],
    offsets: Sequence[int],
    join: t.Callable[[Operand, Operand, int], Operand],
) -> Operand:
    """``a op b op c op d`` as ``(a op b) op (c op d)``; up to three operands it is left to right.

    A chain of 250 terms becomes 8 levels deep, so that no walk of the tree overflows the stack.
    Args:
        operands: at least one.
        offsets: of the operators between them.
        join: makes a node of two operands and the offset of the operator between them.
    """
    if len(operands) == 1:
        return operands[0]
    middle = (len(operands) + 1) // 2
    left = balance(operands[:middle], offsets[: middle - 1], join)
    right = balance(operands[middle:], offsets[middle:], join)
    return join(left, right, offsets[middle - 1])
