"""What the answer to a query must be, computed in Python from the words of the standard."""

from __future__ import annotations

from datetime import date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import cmp_to_key
from typing import Any

from app.db.types import iso_instant
from app.odata.syntax.nodes import Node
from app.odata.syntax.options import parse_filter
from tests.odata.differential.queries import (
    ApplyQuery,
    ComputeQuery,
    FilterQuery,
    OrderQuery,
    Query,
)
from tests.odata.reading.evaluator import Evaluator, Level, Row

_WIDE = Context(prec=200)


class Expectation:
    """The rows of both tables, and what queries find in them."""

    def __init__(self, items: list[dict[str, Any]], makers: list[dict[str, Any]]) -> None:
        self._items = items
        self._evaluator = Evaluator(items, makers)

    def of(self, query: Query) -> Any:
        match query:
            case FilterQuery(filter=text):
                return self._evaluator.passing(parse_filter(text))
            case OrderQuery(keys=keys):
                return self._ordered([(parse_filter(text), down) for text, down in keys])
            case ComputeQuery():
                return self._computed(query)
            case ApplyQuery():
                return self._applied(query)

    def _value(self, node: Node, row: Row) -> Any:
        return self._evaluator.value(node, row, {})

    def _ordered(self, keys: list[tuple[Node, bool]]) -> list[int]:
        """Nulls first ascending and last descending; the key goes the way of the last one."""
        down = keys[-1][1]
        rows = [
            ([*((self._value(node, row), d) for node, d in keys), (row["id"], down)], row["id"])
            for row in self._items
        ]
        rows.sort(key=cmp_to_key(lambda a, b: _compare_keys(a[0], b[0])))
        return [key for _, key in rows]

    def _computed(self, query: ComputeQuery) -> list[Any]:
        texts = (query.text, query.integer, query.decimal, query.condition)
        nodes = [parse_filter(text) for text in texts]
        return [
            (row["id"], *(_shown(self._value(node, row)) for node in nodes)) for row in self._items
        ]

    def _applied(self, query: ApplyQuery) -> list[Any]:
        passing = None if query.filter is None else parse_filter(query.filter)
        keys = [parse_filter(key) for key in query.keys]
        groups: dict[tuple[Any, ...], list[Row]] = {}
        if not keys:
            groups[()] = []
        for row in self._items:
            if passing is None or self._value(passing, row) is True:
                key = tuple(_shown(self._value(node, row)) for node in keys)
                groups.setdefault(key, []).append(row)
        return sorted(
            (
                [*key, *(self._aggregate(one, rows) for one in query.aggregates), len(rows)]
                for key, rows in groups.items()
            ),
            key=repr,
        )

    def _aggregate(self, one: tuple[str, str], rows: list[Row]) -> Any:
        """A value of a group: nulls do not count, and of nothing there is none."""
        name, method = one
        node = parse_filter(name)
        values = [value for row in rows if (value := self._value(node, row)) is not None]
        if method == "countdistinct":
            return len(set(values))
        if not values:
            return None
        if method == "sum":
            return _shown(_sum(values))
        if method == "average":
            exact = _WIDE.divide(_sum(values), Decimal(len(values)))
            return _shown(exact.quantize(Decimal("1e-12"), ROUND_HALF_UP, _WIDE))
        return _shown(min(values) if method == "min" else max(values))


def _sum(values: list[Any]) -> Decimal:
    total = Decimal(0)
    for value in values:
        total = _WIDE.add(total, Decimal(value))
    return total


def _compare_keys(first: list[tuple[Any, bool]], second: list[tuple[Any, bool]]) -> int:
    for (a, down), (b, _) in zip(first, second, strict=True):
        if isinstance(a, Level):
            a, b = a.place, b.place
        if a == b:
            continue
        ascending = a is None or (b is not None and a < b)
        return 1 if ascending == down else -1
    return 0


def _shown(value: Any) -> Any:
    """A value as it is compared: numbers by value, all else as JSON has it."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | Decimal):
        return Decimal(value).normalize(_WIDE)
    if isinstance(value, datetime):
        return iso_instant(value)
    return value.isoformat() if isinstance(value, date) else str(value)


def answered(query: Query, rows: list[dict[str, Any]]) -> Any:
    """The rows of an answer in the form of ``Expectation.of``."""
    match query:
        case ComputeQuery():
            return [
                (row["id"], *(_shown(row[name]) for name in ("t", "i", "d", "c"))) for row in rows
            ]
        case ApplyQuery(keys=keys, aggregates=aggregates):
            found = []
            for row in rows:
                values = [_shown(row[f"a{place}"]) for place in range(len(aggregates))]
                for place, (_, method) in enumerate(aggregates):
                    if method == "countdistinct":
                        values[place] = int(row[f"a{place}"])
                found.append([*(_shown(row[key]) for key in keys), *values, row["n"]])
            return sorted(found, key=repr)
    return [row["id"] for row in rows]
