"""``contains``, ``startswith`` and ``endswith``: exact, with case, and served by an index.

The trigram index of a searchable property finds the rows and the exact predicate confirms them;
``startswith`` is a range of the order.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, Text, and_
from sqlalchemy.sql.schema import Column

from app.odata.binding.sequences import collection_match, is_collection
from app.odata.binding.values import Constant, Translating, Typed
from app.odata.sql.dialect_sql import Predicate
from app.odata.syntax.nodes import Call, Literal

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
