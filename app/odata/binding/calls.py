"""Calls of canonical functions; what each takes and gives is said in ``functions.py``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Text, and_, literal
from sqlalchemy.sql.schema import Column

from app.db.late_values import dynamic
from app.odata.binding.collections import count_rows, members
from app.odata.binding.json_values import plain_text
from app.odata.binding.type_coercion import apply
from app.odata.binding.values import Constant, Elements, Rows, Translating, Typed
from app.odata.errors import QueryError, UnsupportedError
from app.odata.functions import FUNCTIONS, family_of
from app.odata.model import edm
from app.odata.sql.dialect_sql import DialectSql, Predicate
from app.odata.sql.patterns import spelled_pattern
from app.odata.syntax.nodes import Binary, Call, Collection, Count, Literal, Member, Node, Root


def call(translator: Translating, node: Call) -> Typed:
    """The value of a canonical function.

    Raises: QueryError, an argument is of the wrong type; UnsupportedError, the function is not
        offered.
    """
    name = node.name
    function = FUNCTIONS[name]
    if not function.is_offered:
        raise UnsupportedError(f"the function {name} is not offered", node.offset)
    if name in BY_CODE:
        return BY_CODE[name](translator, node)
    if function.takes_collections and is_collection(translator, node.arguments[0]):
        return collection_call(translator, node)
    if function.takes_utc:
        _refuse_offset(translator, node)
    overloads = [
        overload.parameters
        for overload in function.overloads
        if overload.sqlite and len(overload.parameters) == len(node.arguments)
    ]
    arguments = []
    for argument, parameters in zip(node.arguments, zip(*overloads, strict=True), strict=True):
        arguments.append(translator.argument(argument, name, *map(family_of, parameters)))
        if "length" in parameters:
            _refuse_negative(translator, argument, name)
    return apply(function.overload(*(argument.type.family for argument in arguments)), *arguments)


def _refuse_negative(translator: Translating, length: Node, name: str) -> None:
    """Raise QueryError where a length is written that is less than nothing."""
    literal = translator.unaliased(length)
    if not isinstance(literal, Literal) or literal.kind != "integer":
        return
    if translator.context.parameters.decide(literal, lambda value: value < 0):
        raise QueryError(f"the length of a {name} is 0 or more", literal.offset)


def _refuse_offset(translator: Translating, node: Call) -> None:
    """Raise QueryError where an instant is written in another time than UTC."""
    argument = translator.unaliased(node.arguments[0])
    if not isinstance(argument, Literal) or argument.kind != "datetime":
        return
    if not translator.context.parameters.decide(argument, lambda instant: not instant.utcoffset()):
        message = f"{node.name} takes instants in UTC, such as 2024-05-31T10:00:00Z"
        raise QueryError(message, argument.offset)


def _matches_pattern(translator: Translating, node: Call) -> Typed:
    text = translator.argument(node.arguments[0], node.name, "text")
    pattern = translator.bind(node.arguments[1])
    if not isinstance(pattern, Constant) or pattern.literal.kind != "string":
        raise UnsupportedError("the pattern must be a literal", node.arguments[1].offset)
    bind = translator.context.parameters.bind
    try:
        ours = bind(pattern.literal, Text, lambda value: spelled_pattern(value)[0])
    except QueryError as error:
        raise type(error)(error.message, pattern.literal.offset) from None
    theirs = bind(pattern.literal, Text, lambda value: spelled_pattern(value)[1])
    sql = Predicate("odata_matches({0}, {1})", '(({0} COLLATE "C") ~ {2})', text.sql, ours, theirs)
    return Typed(sql, edm.BOOLEAN, text.nullable)


# --- ``contains``, ``startswith`` and ``endswith``: exact, with case, and served by an index. The
# trigram index of a searchable property finds the rows and the exact predicate confirms them;
# ``startswith`` is a range of the order.

_LAST_CODE_POINT = chr(0x10FFFF)

_EXACT = {
    "contains": ("(instr({0}, {1}) > 0)", "(strpos({0}, {1}) > 0)"),
    "startswith": ("(substr({0}, 1, length({1})) = {1})", "starts_with({0}, {1})"),
    "endswith": (
        "(substr({0}, length({0}) - length({1}) + 1) = {1})",
        "(right({0}, length({1})) = {1})",
    ),
}


def text_match(
    translator: Translating, node: Call, *, indexed: bool = False
) -> ColumnElement[bool]:
    """One of the three Boolean functions; null where an operand is (URL Conventions 5.1.1.7).

    Args:
        indexed: use an index that serves it; then false may stand for null.
    """
    if is_collection(translator, node.arguments[0]):
        return collection_match(translator, node)
    text = translator.argument(node.arguments[0], node.name, "text")
    sought = translator.bind(node.arguments[1])
    if isinstance(sought, Constant) and sought.literal.kind == "string":
        return _with_literal(translator, node.name, text, sought.literal, indexed)
    other = translator.argument(node.arguments[1], node.name, "text")
    return Predicate(*_EXACT[node.name], text.sql, other.sql)


def _with_literal(
    translator: Translating, function: str, text: Typed, literal: Literal, indexed: bool
) -> ColumnElement[bool]:
    parameters = translator.context.parameters
    if not isinstance(text.sql, Column):
        return Predicate(*_EXACT[function], text.sql, parameters.bind(literal, Text))
    if function == "startswith":
        beginning = parameters.bind(literal, Text)
        return and_(text.sql >= beginning, text.sql < parameters.bind(literal, Text, _next_text))
    index = text.trigrams
    if index is None or not indexed or not parameters.decide(literal, index.serves):
        return Predicate(*_EXACT[function], text.sql, parameters.bind(literal, Text))
    translator.context.unordered = True
    return index.narrowed(
        _EXACT[function], text.sql, parameters.bind(literal, Text), text.sql.table,
        lambda make: parameters.bind(literal, Text, make),
    )  # fmt: skip


def _next_text(text: str) -> str:
    """The least text after all that begin with ``text``, in the order of code points."""
    rest = text.rstrip(_LAST_CODE_POINT)
    if not rest:
        return _LAST_CODE_POINT * (len(text) + 1)
    following = ord(rest[-1]) + 1
    # Surrogates are not characters: U+E000 comes after U+D7FF.
    return rest[:-1] + chr(0xE000 if following == 0xD800 else following)


# Those that are more than an expression of their arguments.
BY_CODE: Mapping[str, Callable[[Translating, Call], Typed]] = {
    **dict.fromkeys(
        ("contains", "startswith", "endswith"),
        lambda translator, node: Typed(text_match(translator, node), edm.BOOLEAN),
    ),
    "matchespattern": _matches_pattern,
    **dict.fromkeys(
        ("hassubset", "hassubsequence"),
        lambda translator, node: Typed(collection_match(translator, node), edm.BOOLEAN),
    ),
    "now": lambda translator, node: Typed(dynamic("now"), edm.DATETIME, nullable=False),
}


# --- functions of collections: ``hassubset``, ``hassubsequence``, and those of texts that take
# collections as well, their members in order (URL Conventions 5.1.1.5, 5.1.1.6). Both sides become
# arrays of texts, null among them: the members of a collection kept as JSON, what lies behind a
# navigation property, or a JSON array in the query.

# What SQLite takes as arguments of one function.
MOST_MEMBERS = 100
_KINDS = {
    "string": "text", "boolean": "boolean",
    **dict.fromkeys(("integer", "decimal", "double"), "number"),
}  # fmt: skip


class _Side(NamedTuple):
    """An array of texts; ``kind`` is None where it has no member that would tell."""

    sql: ColumnElement[Any]
    kind: str | None
    is_ordered: bool = True


def two_arrays(
    translator: Translating, node: Call | Binary, *, ordered: bool
) -> list[ColumnElement[Any]]:
    """Both collections of a function or of a comparison, as arrays of texts.

    Args:
        ordered: the order of their members matters.
    Raises: QueryError, one of them is none, they are of two types, or one has no order.
    """
    operands = node.arguments if isinstance(node, Call) else (node.left, node.right)
    name = node.name if isinstance(node, Call) else node.op
    sides = [_side(translator, operand) for operand in operands]
    for side, operand in zip(sides, operands, strict=True):
        if ordered and not side.is_ordered:
            raise QueryError(f"{name} takes collections that have an order", operand.offset)
    kinds = {side.kind for side in sides} - {None}
    if len(kinds) > 1:
        raise QueryError(f"{name} takes two collections of one type", node.offset)
    return [side.sql for side in sides]


def _side(translator: Translating, argument: Node) -> _Side:
    node = translator.unaliased(argument)
    if isinstance(node, Collection):
        return _of_literals(translator, node)
    base = node.base if isinstance(node, Member) else None
    if base and not isinstance(base, Root) and isinstance(translator.bind(base), Rows):
        return _of_rows(translator, node)
    bound = translator.bind(node)
    if not isinstance(bound, Elements):
        raise QueryError("expected a collection, such as [1,2]", argument.offset)
    if bound.predicates:
        raise UnsupportedError("only a whole collection is offered here", argument.offset)
    if bound.type.element != edm.STRING:
        raise UnsupportedError("only collections of texts are offered here", argument.offset)
    return _Side(bound.sql, "text")


def _of_literals(translator: Translating, node: Collection) -> _Side:
    if len(node.items) > MOST_MEMBERS:
        raise QueryError(f"a collection here has at most {MOST_MEMBERS} members", node.offset)
    values, kinds = [], set()
    for item in node.items:
        bound = translator.bind(item)
        if not isinstance(bound, Constant) or bound.literal.kind not in ("null", *_KINDS):
            raise QueryError("a collection here holds texts, numbers or Booleans", item.offset)
        values.append(translator.context.parameters.bind(bound.literal, Text, _item_text))
        kinds |= {_KINDS[bound.literal.kind]} if bound.literal.kind != "null" else set()
    if len(kinds) > 1:
        raise QueryError("the members of a collection are of one type", node.offset)
    places = [f"{{{index}}}" for index in range(len(values))]
    casts = ", ".join(f"CAST({expression} AS TEXT)" for expression in places)
    array = DialectSql(
        Text(), f"json_array({', '.join(places)})",
        f"to_json(CAST(ARRAY[{casts}] AS TEXT[]))", *values,
    )  # fmt: skip
    return _Side(array, next(iter(kinds), None))


def _item_text(value: Any) -> str | None:
    """A value so that equal ones are equal texts: 1, 1.0 and 1e0 are one number."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value - value != 0:
        return repr(value)
    number = Decimal(repr(value) if isinstance(value, float) else value)
    return f"{number.normalize():f}" if number else "0"


def _of_rows(translator: Translating, node: Node) -> _Side:
    """A property of the entities behind a navigation property: ``Contacts/email``."""
    collection, member = members(translator, node)
    kind = member.type.family if isinstance(member, Typed) else ""
    if not isinstance(member, Typed) or kind not in ("text", "integer", "boolean"):
        raise UnsupportedError(
            "only texts, whole numbers and Booleans are offered here", node.offset
        )
    text = member.sql if kind == "text" else plain_text(member.sql, member.type)
    array = DialectSql(
        Text(), "json_group_array({0})", "coalesce(json_agg({0}), CAST('[]' AS JSON))", text
    )
    array_sql = collection.select(array).scalar_subquery()
    return _Side(array_sql, "number" if kind == "integer" else kind, is_ordered=False)


# Arrays ``h`` and ``w`` of what is there and what is wanted.
_MEMBERS = (
    "ARRAY(SELECT e.v FROM json_array_elements_text({0}) WITH ORDINALITY AS e(v, k) ORDER BY e.k)"
)
_BOTH = f"(SELECT {_MEMBERS.format('o.a')} AS h, {_MEMBERS.format('o.b')} AS w)"  # nosec B608  # fixed text
_ON_POSTGRESQL = (
    "(SELECT CASE WHEN o.a IS NOT NULL AND o.b IS NOT NULL THEN {0} END"
    f" FROM (SELECT {{{{0}}}} AS a, {{{{1}}}} AS b OFFSET 0) AS o, LATERAL {_BOTH} AS l)"  # nosec B608
)
_PLACE = (
    "coalesce((SELECT min(g.i) FROM generate_series(0, cardinality(l.h) - cardinality(l.w))"
    " AS g(i) WHERE l.h[g.i + 1 : g.i + cardinality(l.w)] = l.w), -1)"
)
_CONDITIONS = {
    "contains": f"{_PLACE} >= 0",
    "startswith": "l.h[1 : cardinality(l.w)] = l.w",
    "endswith": (
        "cardinality(l.h) >= cardinality(l.w)"
        " AND l.h[cardinality(l.h) - cardinality(l.w) + 1 : cardinality(l.h)] = l.w"
    ),
    # No value of the second stands there more often than in the first.
    "hassubset": (
        "NOT EXISTS (SELECT 1 FROM unnest(l.w) AS odata_w(v) GROUP BY odata_w.v"
        " HAVING count(*) > (SELECT count(*) FROM unnest(l.h) AS odata_h(v)"
        " WHERE odata_h.v IS NOT DISTINCT FROM odata_w.v))"
    ),
    # Each wanted member is looked for behind the place where the one before it was found.
    "hassubsequence": (
        "EXISTS (WITH RECURSIVE odata_m(n, p) AS (SELECT 0, 0 UNION ALL"
        " SELECT m.n + 1, (SELECT min(i) FROM generate_subscripts(l.h, 1) AS i"
        " WHERE i > m.p AND l.h[i] IS NOT DISTINCT FROM l.w[m.n + 1])"
        " FROM odata_m AS m WHERE m.p IS NOT NULL AND m.n < cardinality(l.w))"
        " SELECT 1 FROM odata_m WHERE p IS NOT NULL AND n = cardinality(l.w))"
    ),
}


def is_collection(translator: Translating, argument: Node) -> bool:
    """Whether an argument is a collection, so that a function of texts is one of collections."""
    node = translator.unaliased(argument)
    if isinstance(node, Collection):
        return True
    return isinstance(node, Member) and isinstance(translator.bind(node), Elements | Rows)


def collection_match(translator: Translating, node: Call) -> Predicate:
    """``contains``, ``startswith``, ``endswith``, ``hassubset`` or ``hassubsequence`` of two
    collections; null where one is.

    Raises: QueryError, an argument is no collection, or their members cannot be compared.
    """
    name = node.name
    arrays = two_arrays(translator, node, ordered=name != "hassubset")
    return Predicate(
        f"odata_members_{name}({{0}}, {{1}})", _ON_POSTGRESQL.format(_CONDITIONS[name]), *arrays
    )


def collection_call(translator: Translating, node: Call) -> Typed:
    """``length`` of a collection, or ``indexof`` one in another.

    Raises: UnsupportedError, the function makes a collection.
    """
    if node.name == "length":
        counted = translator.unaliased(node.arguments[0])
        if isinstance(counted, Collection):
            return Typed(literal(len(counted.items), BigInteger), edm.INT32, nullable=False)
        return count_rows(translator, Count(node.arguments[0], offset=node.offset))
    if node.name != "indexof":
        message = f"{node.name} of collections is not offered, only of texts"
        raise UnsupportedError(message, node.offset)
    index = DialectSql(
        BigInteger(),
        "odata_members_indexof({0}, {1})",
        _ON_POSTGRESQL.format(_PLACE),
        *two_arrays(translator, node, ordered=True),
    )
    return Typed(index, edm.INT32)
