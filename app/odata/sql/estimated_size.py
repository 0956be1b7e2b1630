"""How much SQL an expression becomes: its parts, each counted as often as it is written.

A name given to an expression (``$compute``) stands for all of it wherever it is used, and a
template may write an argument several times; so a short query can become SQL of any length, and a
text that is twice as long with every step. The weight is known without writing the SQL: it is kept
with each expression, and made of those of its parts (docs/adr/0019).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, FromClause
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.elements import KeyedColumnElement
from sqlalchemy.sql.selectable import SelectBase

from app.odata.sql.dialect_sql import DialectSql

_KEPT = "odata_weight"
Both = tuple[int, int]  # on SQLite, on PostgreSQL


def estimated_size(expression: ClauseElement) -> int:
    """The number of parts on the database that has more of them; a column of a derived table has
    those of what it is there.
    """
    return max(_on_both(expression))


def _on_both(expression: ClauseElement) -> Both:
    known: Both | None = vars(expression).get(_KEPT)
    if known is None:
        known = vars(expression)[_KEPT] = _weighed(expression)
    return known


def _weighed(expression: ClauseElement) -> Both:
    if isinstance(expression, BindParameter):
        return 1, 1
    if isinstance(expression, DialectSql):
        sqlite = postgresql = 1
        for part, (here, there) in zip(expression.clauses, expression.repeats, strict=True):
            own = _on_both(part)
            sqlite, postgresql = sqlite + here * own[0], postgresql + there * own[1]
        return sqlite, postgresql
    if isinstance(expression, KeyedColumnElement):
        return _of_column(expression)
    if isinstance(expression, FromClause) and not isinstance(expression, SelectBase):
        return 1, 1
    children: Iterable[ClauseElement] = expression.get_children()
    parts = [(1, 1), *map(_on_both, children)]
    return sum(part[0] for part in parts), sum(part[1] for part in parts)


def _of_column(column: ColumnElement[Any]) -> Both:
    """A column of a table is one part, one of a derived table what it is there."""
    bases = [_on_both(base) for base in column.base_columns if base is not column]
    return max((base[0] for base in bases), default=1), max((base[1] for base in bases), default=1)
