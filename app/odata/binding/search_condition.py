"""``$search``: words and phrases in the searchable properties, without case and accents.

Those of the records that a row refers to count where the model says so. The trigram index of the
type finds rows with a word or phrase; the exact predicate confirms them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import ColumnElement, Text, and_, false, not_, or_, select

from app.odata.binding.values import Scope
from app.odata.errors import UnsupportedError
from app.odata.model import edm
from app.odata.sql.dialect_sql import DialectSql, Predicate
from app.odata.sql.sqlite_functions import fold
from app.odata.syntax import nodes

# Decomposed, without the combining marks, and through upper case, so that "ß" is "ss".
_FOLDED = (
    "odata_fold({0})",
    "lower(upper(regexp_replace(normalize({0}, NFKD), '[\u0300-\u036f]', '', 'g')"
    ' COLLATE "und-x-icu") COLLATE "und-x-icu")',
)

_HAS = ("(instr({0}, {1}) > 0)", "(strpos({0}, {1}) > 0)")


def search_condition(scope: Scope, search: nodes.Node, offset: int = 0) -> ColumnElement[bool]:
    """Whether a row has what is searched for: every word somewhere in its searchable properties.

    Or in those of a record that it refers to, where the model says so
    (``NavigationProperty.searched``).

    Raises: UnsupportedError, the type has none.
    """
    if not _searched(scope):
        raise UnsupportedError(f"{scope.type.name} has nothing to search in", offset)
    return _condition(scope, search)


def _searched(scope: Scope) -> list[ColumnElement[Any]]:
    return [
        scope.columns[column]
        for property_ in scope.type.properties.values()
        for column in _searchable(property_)
    ]


def _searchable(property_: edm.Property) -> list[str]:
    """The columns of a property that a search looks at."""
    if property_.columns is None:
        return [property_.attribute] if property_.searchable else []
    assert isinstance(property_.type, edm.ComplexType)
    inner = property_.type.properties
    return [column for name, column in property_.columns.items() if inner[name].searchable]


def _condition(scope: Scope, search: nodes.Node) -> ColumnElement[bool]:
    match search:
        case nodes.SearchTerm(text=words) | nodes.SearchPhrase(text=words):
            sought = " ".join(words.split())
            return or_(_has(scope, sought), *_referred(scope, sought))
        case nodes.Unary(operand=operand):
            return not_(_condition(scope, operand))
        case nodes.Binary(op=op, left=left, right=right):
            join = and_ if op == "AND" else or_
            return join(_condition(scope, left), _condition(scope, right))
    raise TypeError(type(search).__name__)


def _referred(scope: Scope, sought: str) -> Iterator[ColumnElement[bool]]:
    """That a record that the row refers to, and that the caller may read, has what is sought."""
    context = scope.context
    for navigation in scope.type.navigation.values():
        if not navigation.searched or navigation.foreign_key is None:
            continue
        type_ = context.container.target(navigation)
        if not context.may_read(type_):
            continue
        target = Scope(context, type_)
        key = scope.columns[navigation.foreign_key]
        matching = select(target.columns[type_.key[0]]).where(
            _has(target, sought), *target.conditions
        )
        # Of a row that refers to none it is false, not unknown.
        yield and_(key.is_not(None), key.in_(matching.correlate_except(target.table)))


def _has(scope: Scope, sought: str) -> ColumnElement[bool]:
    text = _folded(_searched(scope))
    wanted, index = fold(sought), scope.type.trigrams
    if not wanted:
        return false()
    if index is None or not index.serves(sought):
        return Predicate(*_HAS, text, wanted)
    scope.context.unordered = True
    return index.narrowed(_HAS, text, wanted, scope.table, lambda make: make(sought))


def _folded(columns: list[ColumnElement[Any]]) -> ColumnElement[str]:
    # A line feed between two properties: no phrase goes across it.
    parts = " || '\n' || ".join(f"coalesce({{{at}}}, '')" for at in range(len(columns)))
    joined = DialectSql(Text(), f"({parts})", f"({parts})", *columns)
    return DialectSql(Text(), *_FOLDED, joined)
