"""``$search``: words and phrases in the searchable properties, without case and accents."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Text, and_, false, not_, or_

from app.odata import edm
from app.odata.binding.values import Scope
from app.odata.errors import UnsupportedError
from app.odata.nodes import SearchAnd, SearchNode, SearchNot, SearchOr, SearchPhrase, SearchTerm
from app.odata.sql.spelled import Predicate, Spelled
from app.odata.sql.sqlite_texts import fold

# Decomposed, without the combining marks, and through upper case, so that "ß" is "ss".
_FOLDED = (
    "odata_fold({0})",
    "lower(upper(regexp_replace(normalize({0}, NFKD), '[\u0300-\u036f]', '', 'g')"
    ' COLLATE "und-x-icu") COLLATE "und-x-icu")',
)


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
    return _condition(_folded(columns), search)


def _searchable(property_: edm.Property) -> list[str]:
    """The columns of a property that a search looks at."""
    if property_.columns is None:
        return [property_.attribute] if property_.searchable else []
    assert isinstance(property_.type, edm.ComplexType)
    inner = property_.type.properties
    return [column for name, column in property_.columns.items() if inner[name].searchable]


def _condition(text: ColumnElement[str], search: SearchNode) -> ColumnElement[bool]:
    match search:
        case SearchTerm(text=words) | SearchPhrase(text=words):
            wanted = fold(" ".join(words.split())) or ""
            found = ("(instr({0}, {1}) > 0)", "(strpos({0}, {1}) > 0)")
            return Predicate(*found, text, wanted) if wanted else false()
        case SearchNot(operand=operand):
            return not_(_condition(text, operand))
        case SearchAnd(left=left, right=right):
            return and_(_condition(text, left), _condition(text, right))
        case SearchOr(left=left, right=right):
            return or_(_condition(text, left), _condition(text, right))
    raise TypeError(type(search).__name__)


def _folded(columns: list[ColumnElement[Any]]) -> ColumnElement[str]:
    # A line feed between two properties: no phrase goes across it.
    parts = " || '\n' || ".join(f"coalesce({{{at}}}, '')" for at in range(len(columns)))
    joined = Spelled(Text(), f"({parts})", f"({parts})", *columns)
    return Spelled(Text(), *_FOLDED, joined)
