"""Rows between two transformations: where they come from, and what was asked of them so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    Select,
    cast,
    func,
    literal_column,
    null,
    select,
    tuple_,
    union_all,
)
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from app.odata.binding.context import Context
from app.odata.binding.derived import PLACE, Output, derived_type, is_entity, labelled, outputs_of
from app.odata.binding.ordering import OrderKey, order_keys
from app.odata.binding.translator import Translator
from app.odata.binding.values import NestedRows, Scope
from app.odata.errors import QueryError, UnsupportedError
from app.odata.model import edm
from app.odata.sql.decimals import DecimalNumber, decimal_number
from app.odata.syntax.nodes import OrderItem

# Selects in one statement: each concat() and rollup() multiplies those that are there.
MOST_PARTS = 24
# Rows that a part may have before its places reach those of the next.
_ROOM = 10**12


@dataclass
class RowSet(NestedRows):
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
        return Translator(self.context, self.scope)

    def select(self, columns: Sequence[ColumnElement[Any]]) -> Select[Any]:
        return select(*columns).select_from(self.scope.from_clause()).where(*self.conditions)

    def limited(
        self, *, limit: ColumnElement[int] | None = None, offset: ColumnElement[int] | None = None
    ) -> RowSet:
        """The first rows in their order, or those behind the first."""
        order = [key.clause() for key in order_keys(self.translator(), self.order)]

        def cut(rows: Select[Any]) -> Select[Any]:
            return rows.order_by(*order).limit(limit).offset(offset)

        return self._selected_rows(lambda labels: cut(self.select(labels)), "a part of the rows")

    def narrowed(
        self, figures: Sequence[ColumnElement[Any]],
        holds: Callable[[ReadOnlyColumnCollection[str, Any]], ColumnElement[bool]],
        where: str, offset: int,
    ) -> RowSet:  # fmt: skip
        """The rows of which a condition on figures holds, such as their number in a window.

        Args:
            figures: labelled.
            where: for the error where collections of the rows would be lost.
        """

        def choose(labels: Sequence[ColumnElement[Any]]) -> Select[Any]:
            each = self.select([*labels, *figures]).correlate(None).subquery()
            return select(*(each.c[label.key or ""] for label in labels)).where(holds(each.c))

        return self._selected_rows(choose, where, offset)

    def _selected_rows(
        self, choose: Callable[[Sequence[ColumnElement[Any]]], Select[Any]], where: str,
        offset: int = 0,
    ) -> RowSet:  # fmt: skip
        """The rows that a select has, which ``choose`` makes of labelled columns: of the key, by
        which the rows are found again, or of all they have.
        """
        if is_entity(self.scope):
            keys = self.scope.key_columns()
            labels = [key.label(f"k{at}") for at, key in enumerate(keys)]
            condition = tuple_(*keys).in_(choose(labels).correlate(None))
            return RowSet(self.scope, [condition], self.order, self.parts)
        refuse_nested(self, where, offset)
        outputs = outputs_of(self.scope)
        outputs = _placed(self, outputs) if self.order else outputs
        return derived_rowset(self, choose(labelled(outputs)), outputs)


def derived_rowset(of: RowSet, rows: Select[Any], outputs: Sequence[Output]) -> RowSet:
    """The rows of a select made of those of ``of``; its columns are ``outputs``, labelled."""
    type_ = derived_type(of.scope.type.name, rows, outputs)
    return RowSet(Scope(of.context, type_), parts=of.parts)


def flat(rows: RowSet, *, always: bool = False) -> RowSet:
    """``rows`` with what was joined to them as values of their own, in the order they are in.

    Args:
        always: also where nothing was joined.
    """
    if not rows.scope.members and not always:
        return rows
    outputs = _placed(rows, outputs_of(rows.scope)) if rows.order else outputs_of(rows.scope)
    return derived_rowset(rows, rows.select(labelled(outputs)), outputs)


def _placed(rows: RowSet, outputs: Sequence[Output]) -> list[Output]:
    """``outputs`` with the place of each row among all, which alone tells it from others.

    An order may follow paths that lead nowhere from the rows made of these.
    """
    position = Output(PLACE, edm.INT64, _number(rows), nullable=False, unique=True)
    outputs_shown = [replace(output, unique=False) for output in outputs if output.path != PLACE]
    return [position, *outputs_shown]


def _number(rows: RowSet) -> ColumnElement[int]:
    """The number of each row in the order that the rows are in, from 1."""
    order = [key.clause() for key in order_keys(rows.translator(), rows.order)]
    return func.row_number(type_=BigInteger()).over(order_by=order or None)


def copies(rows: RowSet, count: int) -> list[RowSet]:
    """The same rows several times, each to be transformed in its own way.

    Raises: QueryError, there are too many of them by now.
    """
    scope = rows.scope
    refuse_nested(rows, "concat(), rollup() or nest()")
    if rows.parts * count > MOST_PARTS:
        raise QueryError(f"concat() and rollup() make more than {MOST_PARTS} parts of the rows")
    if scope.computed or scope.members or not scope.type.key:
        made_once = flat(rows, always=True)
        type_ = made_once.scope.type
        return [RowSet(Scope(rows.context, type_), parts=rows.parts) for _ in range(count)]
    keys = rows.select(scope.key_columns()).correlate(None)
    copies_made = []
    for _ in range(count):
        copy = Scope(rows.context, scope.type)
        chosen = tuple_(*copy.key_columns()).in_(keys)
        copies_made.append(RowSet(copy, [chosen], rows.order, rows.parts))
    return copies_made


def refuse_nested(rows: RowSet, where: str, offset: int = 0) -> None:
    """Raise UnsupportedError if the rows show collections that would be lost."""
    if rows.scope.nested:
        names = ", ".join(rows.scope.nested)
        raise UnsupportedError(f"{names} cannot be kept in {where}", offset)


def union(parts: Sequence[RowSet], by: Sequence[tuple[str, ...]] = ()) -> RowSet:
    """All rows of all parts, each with what it has in its part and nothing else.

    Args:
        by: paths to sort by instead of keeping the parts one after the other, each in its order;
            rows without a value come first, those that do not have it at all before them.
    Raises: QueryError, two parts have different things under one name.
    """
    for part in parts:
        refuse_nested(part, "concat()")
    outputs_by_path = [
        {output.path: output for output in outputs_of(part.scope) if output.path != PLACE}
        for part in parts
    ]
    columns = _columns(outputs_by_path)
    # Values that are absent together share the column that tells it.
    absences = [[_absent(own.get(column.path)) for own in outputs_by_path] for column in columns]
    patterns = [tuple(map(id, absence)) for absence in absences]
    first = {pattern: at for at, pattern in reversed(list(enumerate(patterns)))}
    places = [at for at in first.values() if any(absence is not _HERE for absence in absences[at])]
    selects = []
    for number, (part, own) in enumerate(zip(parts, outputs_by_path, strict=True)):
        before: ColumnElement[int] = literal_column(str(number * _ROOM), BigInteger())
        values = [_value(column, own.get(column.path)) for column in columns]
        selects.append(
            part.select(
                [
                    (before if by else before + _number(part)).label("place"),
                    *(sql.label(f"c{at}") for at, sql in enumerate(values)),
                    *(absences[at][number].label(f"a{at}") for at in places),
                ]
            )
        )
    rows = union_all(*selects).subquery()
    shared: dict[int, ColumnElement[int]] = {at: rows.c[f"a{at}"] for at in places}
    outputs = [
        replace(column, sql=rows.c[f"c{at}"], absent=shared.get(first[patterns[at]]))
        for at, column in enumerate(columns)
    ]
    position: ColumnElement[int] = rows.c.place
    if by:
        position = func.row_number(type_=BigInteger()).over(order_by=list(_by(outputs, by)))
    outputs = [Output(PLACE, edm.INT64, position, nullable=False, unique=True), *outputs]
    together = derived_rowset(parts[0], select(*labelled(outputs)), outputs)
    return replace(together, parts=sum(part.parts for part in parts))


# Of a value that a row has, and of one that it does not have.
_HERE = literal_column("0", Integer())
_ABSENT = literal_column("1", Integer())


def _absent(own: Output | None) -> ColumnElement[int]:
    """1 where rows of a part do not have a value of the union."""
    if own is None:
        return _ABSENT
    return _HERE if own.absent is None else own.absent


def _columns(parts: Sequence[Mapping[tuple[str, ...], Output]]) -> list[Output]:
    """What the parts of a union have together."""
    columns: dict[tuple[str, ...], Output] = {}
    for outputs in parts:
        for path, output in outputs.items():
            columns[path] = _common(columns.get(path, output), output)
    return [
        replace(
            column,
            nullable=any(
                path not in part_columns or part_columns[path].nullable for part_columns in parts
            ),
            unique=False,
        )
        for path, column in columns.items()
    ]


def _by(
    outputs: Sequence[Output], paths: Sequence[tuple[str, ...]]
) -> Iterator[ColumnElement[Any]]:
    values = {output.path: output for output in outputs}
    for path in paths:
        if (absent := values[path].absent) is not None:
            yield absent.desc()
        yield OrderKey(values[path].typed).clause()


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
