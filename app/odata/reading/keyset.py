"""Pages that continue after a row: by its sort keys, at any depth as fast as the first page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Integer, and_, bindparam, false, or_, tuple_

from app.odata.binding.json_values import json_parts, plain_text
from app.odata.binding.ordering import OrderKey
from app.odata.binding.type_coercion import FAMILIES
from app.odata.model import edm
from app.odata.reading.bound import BoundQuery
from app.odata.reading.statement import RUN
from app.odata.sql.dialect_sql import Part

# Sort keys that a page continues by; each that may be null nests the condition one level deeper,
# and SQLite's parser has a stack of 100. With more of them a page continues by its position.
MOST_KEYS = 12
# Families whose values a token keeps as numbers and texts of JSON; all others are made texts.
_AS_JSON = {
    "text": edm.STRING,
    "double": edm.DOUBLE,
    **dict.fromkeys(("integer", "enum", "duration"), edm.INT64),
}


def continues_by_key(query: BoundQuery) -> bool:
    """Whether the sort keys of a row tell which rows come after it; else its position does."""
    return query.total_order and len(query.order) <= MOST_KEYS


def key_values(order: Sequence[OrderKey]) -> list[ColumnElement[Any]]:
    """The sort keys as columns of the result, in the form that a token keeps.

    It is the same on both databases: numbers that JSON has, and texts.
    """
    return [
        plain_text(key.value.sql, key.value.type)
        if key.value.type.family not in _AS_JSON
        else key.value.sql
        for key in order
    ]


def key_json(order: Sequence[OrderKey]) -> list[Part]:
    """The sort keys as pieces of a JSON array, in the form that a token keeps."""
    pieces: list[Part] = []
    for key, value in zip(order, key_values(order), strict=True):
        type_ = _AS_JSON.get(key.value.type.family, edm.STRING)
        pieces += [",", *json_parts(value, type_, nullable=key.value.nullable)]
    return ["[", *pieces[1:], "]"]


def key_readers(order: Sequence[OrderKey]) -> tuple[Callable[[Any], Any], ...]:
    """For each sort key what makes of its form in a token the value that is compared."""
    return tuple(FAMILIES[key.value.type.family].read for key in order)


def rows_after(order: Sequence[OrderKey], nulls: Sequence[bool]) -> list[ColumnElement[bool]]:
    """The rows that come after one with known sort keys.

    Args:
        nulls: which keys of that row are null: they decide the form of the conditions. The others
            are the parameters ``run_after_0`` ...
    Returns: conditions that share no row, each a range that an index can serve. Where nulls and
        values both follow, the nulls that come first or last are a range of their own.
    """
    first = order[0]
    sql = first.value.sql
    if not first.value.nullable or first.descending == nulls[0]:
        return [_after(order, nulls, 0)]
    rest = _after(order, nulls, 1)
    if nulls[0]:
        return [and_(sql.is_(None), rest), sql.is_not(None)]
    value = _parameter(first, 0)
    return [and_(sql <= value, or_(sql < value, rest)), sql.is_(None)]


def _after(order: Sequence[OrderKey], nulls: Sequence[bool], at: int) -> ColumnElement[bool]:
    if at == len(order):
        return false()  # the row itself
    run = _uniform(order, at)
    if at + run == len(order):
        return _row_after(order[at:], at)
    rest = _after(order, nulls, at + 1)
    key, sql = order[at], order[at].value.sql
    if nulls[at]:
        if key.descending:
            return and_(sql.is_(None), rest)
        return or_(sql.is_not(None), rest)
    value = _parameter(key, at)
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
    values = [_parameter(key, at + index) for index, key in enumerate(keys)]
    if len(keys) == 1:
        sql = keys[0].value.sql
        return sql < values[0] if keys[0].descending else sql > values[0]
    row, other = tuple_(*(key.value.sql for key in keys)), tuple_(*values)
    return row < other if keys[0].descending else row > other


def _parameter(key: OrderKey, at: int) -> ColumnElement[Any]:
    # A member of an enumeration is the number that the column keeps.
    type_ = Integer() if key.value.type.family == "enum" else key.value.sql.type
    return bindparam(f"{RUN}after_{at}", type_=type_, required=True)
