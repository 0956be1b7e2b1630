"""The JSON of an entity out of its row, as the database would write it (docs/adr/0169).

A write has the row in hand: to have the database write it once more costs a statement, and on
PostgreSQL a way to the server. Types with properties that only the database knows are read there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import orjson
from sqlalchemy import Table

from app.odata import edm
from app.types import ExactDecimal, JsonText, OrdinalEnum, UtcDateTime, iso_instant, json_text

_NONE = type(None)
_INTEGERS = frozenset(("Edm.Byte", "Edm.SByte", "Edm.Int16", "Edm.Int32", "Edm.Int64"))

# Name in JSON, column, the Python types that its values may have.
Plain = tuple[str, str, frozenset[type]]


class RowJson:
    """Writes the entities of one type."""

    def __init__(self, etag: str | None, members: Members) -> None:
        self._etag = etag
        self._members = members

    @classmethod
    def of(cls, type_: edm.EntityType) -> RowJson | None:
        """None for a type whose entities only the database can write."""
        if not isinstance(type_.table, Table) or type_.is_open or type_.has_stream:
            return None
        shown = [one for one in type_.properties.values() if not one.on_request]
        try:
            return cls(type_.etag, Members(type_.table, shown))
        except _UnknownError:
            return None

    def write(self, row: Mapping[str, Any]) -> str | None:
        """The JSON text; None where the row has a value that the database may write otherwise."""
        try:
            return json_text(self._members.shown(row))
        except (_UnknownError, TypeError):
            return None

    def version(self, row: Mapping[str, Any]) -> int | None:
        """The row version, if the type has one."""
        return None if self._etag is None else row[self._etag]


class Members:
    """The properties of an entity, or of a complex value that lies in columns of its row."""

    def __init__(self, table: Table, properties: list[edm.Property]) -> None:
        self._names = tuple(one.name for one in properties)
        self._plain: list[Plain] = []
        self._computed: list[tuple[str, Callable[[Mapping[str, Any]], Any]]] = []
        self._amounts: list[tuple[str, str, ExactDecimal]] = []
        self._instants: list[tuple[str, str]] = []
        self._documents: list[tuple[str, str]] = []
        self._structures: list[tuple[str, Members, tuple[str, ...] | None]] = []
        for one in properties:
            self._take(table, one)

    def shown(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The values as JSON has them, in the order declared.

        Raises: _UnknownError, a value is not of a type that is known here.
        """
        values: dict[str, Any] = dict.fromkeys(self._names)
        for name, column, kinds in self._plain:
            value = row[column]
            if type(value) not in kinds:
                raise _UnknownError(column)
            values[name] = value
        for name, compute in self._computed:
            values[name] = compute(row)
        for name, column, kind in self._amounts:
            value = row[column]
            if value is not None:
                values[name] = _amount(kind, value)
        for name, column in self._instants:
            value = row[column]
            if value is not None:
                values[name] = _instant(value)
        for name, column in self._documents:
            values[name] = _document(row[column])
        for name, members, nothing in self._structures:
            if nothing is None or any(row[column] is not None for column in nothing):
                values[name] = members.shown(row)
        return values

    def _take(self, table: Table, one: edm.Property) -> None:
        if one.of_row is not None:
            self._computed.append((one.name, one.of_row))
            return
        if one.expression is not None:
            raise _UnknownError(one.name)
        if one.columns is not None and isinstance(one.type, edm.ComplexType):
            columns = one.columns
            parts = [
                _lying_in(part, columns.get(name)) for name, part in one.type.properties.items()
            ]
            nothing = tuple(columns.values()) if one.nullable else None
            self._structures.append((one.name, Members(table, parts), nothing))
            return
        column = table.c[one.attribute]
        if isinstance(column.type, JsonText):
            self._documents.append((one.name, one.attribute))
        elif isinstance(column.type, UtcDateTime):
            self._instants.append((one.name, one.attribute))
        elif isinstance(column.type, ExactDecimal):
            self._amounts.append((one.name, one.attribute, column.type))
        else:
            self._plain.append((one.name, one.attribute, _kinds(one, column.type)))


class _UnknownError(Exception):
    """What only the database knows how to write."""


def _lying_in(part: edm.Property, column: str | None) -> edm.Property:
    """A part of a complex value as a property of the row."""
    if column is None or part.columns is not None:
        raise _UnknownError(part.name)
    return edm.Property(name=part.name, type=part.type, attribute=column)


def _kinds(one: edm.Property, kind: Any) -> frozenset[type]:
    if isinstance(one.type, edm.EnumType):
        members = one.type.members
        if not isinstance(kind, OrdinalEnum) or any(
            members.get(name) != place for place, name in enumerate(kind.members)
        ):
            raise _UnknownError(one.name)
        return frozenset((_NONE, str))
    name = one.type.name if isinstance(one.type, edm.PrimitiveType) else ""
    if name in _INTEGERS:
        return frozenset((_NONE, int))
    known = {"Edm.String": str, "Edm.Boolean": bool, "Edm.Date": date}.get(name)
    if known is None:
        raise _UnknownError(one.name)
    return frozenset((_NONE, known))


def _amount(kind: ExactDecimal, value: Any) -> orjson.Fragment:
    """With all the digits of the column; there is no negative zero."""
    exact = kind.quantize(Decimal(value))
    return orjson.Fragment(format(exact if exact else abs(exact), "f"))


def _instant(value: datetime) -> str:
    if value.microsecond % 1000:  # columns keep milliseconds, each database in its own way
        raise _UnknownError
    return iso_instant(value)


def _document(value: Any) -> Any:
    """JSON that is kept as text: a float may have been written otherwise."""
    if isinstance(value, float):
        raise _UnknownError
    if isinstance(value, (dict, list)):
        for member in value.values() if isinstance(value, dict) else value:
            if type(member) is not str:
                _document(member)
    return value
