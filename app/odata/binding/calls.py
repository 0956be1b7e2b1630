"""Calls of canonical functions; what each takes and gives is said in ``functions.py``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from sqlalchemy import ColumnElement, Text, and_
from sqlalchemy.sql.schema import Column

from app.db.late_values import dynamic
from app.odata.binding.sequences import collection_call, collection_match, is_collection
from app.odata.binding.type_coercion import apply
from app.odata.binding.values import Constant, Translating, Typed
from app.odata.errors import QueryError, UnsupportedError
from app.odata.functions import FUNCTIONS, family_of
from app.odata.model import edm
from app.odata.sql.dialect_sql import Predicate
from app.odata.sql.patterns import spelled_pattern
from app.odata.syntax.nodes import Call, Literal, Node


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
    if not translator.context.parameters.decide(argument, _is_utc):
        message = f"{node.name} takes instants in UTC, such as 2024-05-31T10:00:00Z"
        raise QueryError(message, argument.offset)


def _is_utc(instant: datetime) -> bool:
    return not instant.utcoffset()


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
