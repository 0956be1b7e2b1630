"""Pages of plain lists: ``{items, total, limit, offset}``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from sqlalchemy import Connection, Select, func, select

from app.db.engines import primary_engine, steady_read
from app.db.types import AnyRow
from app.extensions import Model

M = TypeVar("M", bound=Model)
Page = dict[str, Any]
# The rows of a page, and the connection they were read with, to what the API shows.
Shape = Callable[[Connection, Iterable[AnyRow]], list[dict[str, Any]]]


def read_page(statement: Select[Any], shape: Shape, *, limit: int, offset: int) -> Page:
    """The rows ``offset`` to ``offset + limit`` of ``statement``, which must have an order.

    Rows, what the shape reads for them, and the total are of one moment.
    """
    with steady_read(primary_engine()) as connection:
        count = select(func.count()).select_from(statement.order_by(None).subquery())
        return {
            "items": shape(connection, connection.execute(statement.limit(limit).offset(offset))),
            "total": connection.execute(count).scalar_one(),
            "limit": limit,
            "offset": offset,
        }


def each(shape_row: Callable[[AnyRow], dict[str, Any]]) -> Shape:
    """The shape of rows that need nothing but themselves."""
    return lambda connection, rows: [shape_row(row) for row in rows]


def each_of(model: type[M], shape: Callable[[M], dict[str, Any]]) -> Shape:
    """The shape of rows that are records of ``model``."""
    return lambda connection, rows: [shape(model(**row._mapping)) for row in rows]
