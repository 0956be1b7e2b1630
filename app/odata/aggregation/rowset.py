"""Rows between two transformations: where they come from, and what was asked of them so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import ColumnElement, Select, cast, null, select, tuple_, union_all

from app.odata.aggregation.derived import Output, derived_type, labelled, outputs_of
from app.odata.binding.scope import Context, Scope
from app.odata.binding.translator import Translator
from app.odata.errors import QueryError, UnsupportedError
from app.odata.nodes import OrderItem
from app.odata.reading.ordering import order_keys
from app.odata.sql.decimals import DecimalNumber, decimal_number

# Selects in one statement: each concat() and rollup() multiplies those that are there.
MOST_PARTS = 24


@dataclass
class RowSet:
    """Rows of ``scope`` that fulfil all conditions; ``order`` is that of the last ``orderby``.

    ``parts`` is the number of selects that they are put together from.
    """

    scope: Scope
    conditions: list[ColumnElement[bool]] = field(default_factory=list)
    order: Sequence[OrderItem] = ()
    parts: int = 1

    @property
    def context(self) -> Context:
        return self.scope.context

    def translator(self) -> Translator:
        """For expressions on a row."""
        return Translator(self.context, self.scope)

    def select(self, columns: Sequence[ColumnElement[Any]]) -> Select[Any]:
        """These columns of the rows."""
        return select(*columns).select_from(self.scope.from_clause()).where(*self.conditions)

    def limited(
        self, *, limit: ColumnElement[int] | None = None, offset: ColumnElement[int] | None = None
    ) -> RowSet:
        """The first rows in their order, or those behind the first."""
        order = [key.clause() for key in order_keys(self.translator(), self.order)]

        def cut(rows: Select[Any]) -> Select[Any]:
            return rows.order_by(*order).limit(limit).offset(offset)

        if not self.scope.type.key or self.scope.members:
            refuse_nested(self, "a part of the rows")
            outputs = outputs_of(self.scope)
            rows = cut(self.select(labelled(outputs)))
            return made(self, rows, outputs, self.order)
        keys = self.scope.key_columns()
        chosen = tuple_(*keys).in_(cut(self.select(keys)).correlate(None))
        return RowSet(self.scope, [chosen], self.order, self.parts)


def made(
    of: RowSet, rows: Select[Any], outputs: Sequence[Output], order: Sequence[OrderItem] = ()
) -> RowSet:
    """The rows of a select made of those of ``of``; its columns are ``outputs``, labelled."""
    type_ = derived_type(of.scope.type.name, rows, outputs)
    return RowSet(Scope(of.context, type_), [], order, of.parts)


def flat(rows: RowSet) -> RowSet:
    """``rows`` with what was joined to them as values of their own."""
    if not rows.scope.members:
        return rows
    outputs = outputs_of(rows.scope)
    found = rows.select(labelled(outputs))
    return made(rows, found, outputs, rows.order)


def copies(rows: RowSet, count: int) -> list[RowSet]:
    """The same rows several times, each to be transformed in its own way.

    Raises: QueryError, there are too many of them by now.
    """
    scope = rows.scope
    refuse_nested(rows, "concat(), rollup() or nest()")
    if rows.parts * count > MOST_PARTS:
        raise QueryError(f"concat() and rollup() make more than {MOST_PARTS} parts of the rows")
    if scope.computed or scope.members or not scope.type.key:
        outputs = outputs_of(scope)
        type_ = derived_type(scope.type.name, rows.select(labelled(outputs)), outputs)
        return [RowSet(Scope(rows.context, type_), parts=rows.parts) for _ in range(count)]
    keys = rows.select(scope.key_columns()).correlate(None)
    found = []
    for _ in range(count):
        copy = Scope(rows.context, scope.type)
        found.append(RowSet(copy, [tuple_(*copy.key_columns()).in_(keys)], parts=rows.parts))
    return found


def refuse_nested(rows: RowSet, where: str, offset: int = 0) -> None:
    """Raise UnsupportedError if the rows show collections that would be lost."""
    if rows.scope.nested:
        names = ", ".join(rows.scope.nested)
        raise UnsupportedError(f"{names} cannot be kept in {where}", offset)


def union(parts: Sequence[RowSet]) -> RowSet:
    """All rows of all parts; what one part does not have is null in its rows.

    Raises: QueryError, two parts have different things under one name.
    """
    for part in parts:
        refuse_nested(part, "concat()")
    shown = [{output.path: output for output in outputs_of(part.scope)} for part in parts]
    columns: dict[tuple[str, ...], Output] = {}
    for outputs in shown:
        for path, output in outputs.items():
            columns[path] = _common(columns.get(path, output), output)
    for path, column in columns.items():
        if any(path not in outputs or outputs[path].nullable for outputs in shown):
            columns[path] = replace(column, nullable=True)
    selects = []
    for part, outputs in zip(parts, shown, strict=True):
        values = [_value(column, outputs.get(path)) for path, column in columns.items()]
        selects.append(part.select([sql.label(f"c{at}") for at, sql in enumerate(values)]))
    all_rows = union_all(*selects).subquery()
    found = made(parts[0], select(*all_rows.c), list(columns.values()))
    return replace(found, parts=sum(part.parts for part in parts))


def _common(first: Output, second: Output) -> Output:
    """What two columns of one name have in common."""
    if first.type != second.type:
        raise QueryError(f"{'/'.join(first.path)} has two different types in concat()")
    if repr(first.sql.type) == repr(second.sql.type):
        return first
    return Output(first.path, first.type, decimal_number(first.sql))


def _value(column: Output, own: Output | None) -> ColumnElement[Any]:
    if own is None:
        return cast(null(), column.sql.type)
    return decimal_number(own.sql) if isinstance(column.sql.type, DecimalNumber) else own.sql
