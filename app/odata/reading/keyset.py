"""Pages that continue after a row: by its sort keys, at any depth as fast as the first page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Text, and_, bindparam, or_, tuple_
from sqlalchemy.types import NullType

from app.odata.reading.bound import OrderKey
from app.odata.reading.statement import RUN
from app.odata.sql.spelled import Spelled


def key_values(order: Sequence[OrderKey]) -> list[ColumnElement[Any]]:
    """The sort keys as columns of the result, in the form that a token keeps."""
    return [Spelled(Text(), "{0}", "CAST({0} AS TEXT)", key.value.sql) for key in order]


def rows_after(order: Sequence[OrderKey], nulls: Sequence[bool]) -> ColumnElement[bool]:
    """The rows that come after one with known sort keys.

    Args:
        nulls: which keys of that row are null: they decide the form of the condition. The others
            are the parameters ``run_after_0`` ...
    """
    return _after(order, nulls, 0)


def _after(order: Sequence[OrderKey], nulls: Sequence[bool], at: int) -> ColumnElement[bool]:
    run = _uniform(order, at)
    if at + run == len(order):
        return _row_after(order[at:], at)
    rest = _after(order, nulls, at + 1)
    key, sql = order[at], order[at].value.sql
    if nulls[at]:
        if key.descending:
            return and_(sql.is_(None), rest)
        return or_(sql.is_not(None), rest)
    value = _parameter(at)
    if not key.descending:  # nulls came before
        return and_(sql >= value, or_(sql > value, rest))
    if key.value.nullable:
        return or_(sql < value, sql.is_(None), and_(sql == value, rest))
    return and_(sql <= value, or_(sql < value, rest))


def _uniform(order: Sequence[OrderKey], at: int) -> int:
    """How many keys from ``at`` on go one way and are never null: they compare as one row."""
    length = 0
    for key in order[at:]:
        if key.value.nullable or key.descending != order[at].descending:
            break
        length += 1
    return length


def _row_after(keys: Sequence[OrderKey], at: int) -> ColumnElement[bool]:
    values = [_parameter(at + index) for index in range(len(keys))]
    if len(keys) == 1:
        sql = keys[0].value.sql
        return sql < values[0] if keys[0].descending else sql > values[0]
    row, other = tuple_(*(key.value.sql for key in keys)), tuple_(*values)
    return row < other if keys[0].descending else row > other


def _parameter(at: int) -> ColumnElement[Any]:
    # Without a type: the database takes it for what it is compared with.
    return bindparam(f"{RUN}after_{at}", type_=NullType(), required=True)
