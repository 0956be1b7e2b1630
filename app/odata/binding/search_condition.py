"""``$search``: words and phrases in the searchable properties, without case and accents.

The trigram index of the type finds rows with a word or phrase; the exact predicate confirms them.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Text, and_, false, not_, or_

from app.odata.binding.values import Scope
from app.odata.errors import UnsupportedError
from app.odata.model import edm
from app.odata.sql.dialect_sql import Predicate, Spelled
from app.odata.sql.sqlite_texts import fold
from app.odata.syntax.nodes import (
    SearchAnd,
    SearchNode,
    SearchNot,
    SearchOr,
    SearchPhrase,
    SearchTerm,
)

# Decomposed, without the combining marks, and through upper case, so that "ß" is "ss".
_FOLDED = (
    "odata_fold({0})",
    "lower(upper(regexp_replace(normalize({0}, NFKD), '[\u0300-\u036f]', '', 'g')"
    ' COLLATE "und-x-icu") COLLATE "und-x-icu")',
)

_HAS = ("(instr({0}, {1}) > 0)", "(strpos({0}, {1}) > 0)")


def search_condition(scope: Scope, search: SearchNode, offset: int = 0) -> ColumnElement[bool]:
    """Whether a row has what is searched for: every word somewhere in its searchable properties.

    Raises: UnsupportedError, the type has none.
    """
    columns = [
        scope.columns[column]
        for property_ in scope.type.properties.values()
        for column in _searchable(property_)
    ]
    if not columns:
        raise UnsupportedError(f"{scope.type.name} has nothing to search in", offset)
    return _condition(scope, _folded(columns), search)


def _searchable(property_: edm.Property) -> list[str]:
    """The columns of a property that a search looks at."""
    if property_.columns is None:
        return [property_.attribute] if property_.searchable else []
    assert isinstance(property_.type, edm.ComplexType)
    inner = property_.type.properties
    return [column for name, column in property_.columns.items() if inner[name].searchable]


def _condition(scope: Scope, text: ColumnElement[str], search: SearchNode) -> ColumnElement[bool]:
    match search:
        case SearchTerm(text=words) | SearchPhrase(text=words):
            return _has(scope, text, " ".join(words.split()))
        case SearchNot(operand=operand):
            return not_(_condition(scope, text, operand))
        case SearchAnd(left=left, right=right):
            return and_(_condition(scope, text, left), _condition(scope, text, right))
        case SearchOr(left=left, right=right):
            return or_(_condition(scope, text, left), _condition(scope, text, right))
    raise TypeError(type(search).__name__)


def _has(scope: Scope, text: ColumnElement[str], sought: str) -> ColumnElement[bool]:
    wanted, index = fold(sought), scope.type.trigrams
    if not wanted:
        return false()
    if index is None or not index.serves(sought):
        return Predicate(*_HAS, text, wanted)
    scope.context.unordered = True
    return index.narrowed(_HAS, text, wanted, scope.table, lambda made: made(sought))


def _folded(columns: list[ColumnElement[Any]]) -> ColumnElement[str]:
    # A line feed between two properties: no phrase goes across it.
    parts = " || '\n' || ".join(f"coalesce({{{at}}}, '')" for at in range(len(columns)))
    joined = Spelled(Text(), f"({parts})", f"({parts})", *columns)
    return Spelled(Text(), *_FOLDED, joined)
