"""Text literals cast to a primitive type: ``cast('2026-01-31',Edm.Date)``.

A service of OData 4.01 takes them for every type (Protocol 13.1.4). The text is read like the
literal of the type; one that is no such value is null, as any cast that fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import BigInteger, Date, Double, LargeBinary, Time
from sqlalchemy.types import TypeEngine

from app.odata.binding.parameters import Convert, Parameters
from app.odata.binding.type_coercion import microseconds
from app.odata.binding.values import Typed, family
from app.odata.errors import QueryError
from app.odata.model import edm
from app.odata.sql.column_types import Guid
from app.odata.sql.dialect_sql import DialectSql
from app.odata.sql.operands import InstantOperand
from app.odata.syntax.literals import NON_FINITE, read_whole, to_binary, to_duration
from app.odata.syntax.nodes import Literal


def typed_text(literal: Literal, wanted: edm.PrimitiveType, parameters: Parameters) -> Typed | None:
    """A text literal as a value of ``wanted``; None where casts from any text do the same."""
    reader = _READERS.get(family(wanted))
    if reader is None:
        return None
    type_, read, postgresql = reader
    value = parameters.bind(literal, type_, _or_none(read))
    # PostgreSQL finds no type for a parameter that is only asked whether it is null.
    return Typed(DialectSql(type_, "{0}", f"CAST({{0}} AS {postgresql})", value), wanted)


def _or_none(read: Convert) -> Convert:
    def converted(text: str) -> Any:
        try:
            return read(text)
        except QueryError:
            return None

    return converted


def _written_as(kind: str) -> Convert:
    def read(text: str) -> Any:
        literal = read_whole(kind, text)
        return None if literal is None else literal[0]

    return read


_number = _written_as("number")


def _double(text: str) -> float | None:
    """A number, or INF and -INF; NaN is no number, as null is none."""
    value = NON_FINITE.get(text, _number(text))
    return None if value is None or value != value else float(value)


# Family -> the type of the parameter, its reader, and PostgreSQL's name for the type.
_READERS: dict[str, tuple[TypeEngine[Any] | type[TypeEngine[Any]], Callable[[str], Any], str]] = {
    "date": (Date, _written_as("date"), "DATE"),
    "instant": (InstantOperand("down"), _written_as("datetime"), "TIMESTAMPTZ"),
    "time": (Time, _written_as("timeofday"), "TIME"),
    "duration": (BigInteger, lambda text: microseconds(to_duration(text)), "BIGINT"),
    "guid": (Guid(), _written_as("guid"), "UUID"),
    "binary": (LargeBinary, to_binary, "BYTEA"),
    "double": (Double, _double, "DOUBLE PRECISION"),
}
