"""OData's expressions evaluated in plain Python, from the words of the standard alone.

It is the third opinion beside the two databases: it shares the parser with the engine and nothing
of what comes after it. Rows are dicts by column name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal
from typing import Any

from app.odata.names import camel
from app.odata.syntax import nodes
from tests.odata.reading import model

Row = Mapping[str, Any]
_WIDE = Context(prec=200)
# Python's own operators round to 28 digits.
_EXACT = {"add": _WIDE.add, "sub": _WIDE.subtract, "mul": _WIDE.multiply}
_COLUMNS = {camel(column.name): column.name for column in model.items.c}
_MICROSECOND = timedelta(microseconds=1)


class Evaluator:
    """Evaluates expressions on items."""

    def __init__(self, items: list[dict[str, Any]], makers: list[dict[str, Any]]) -> None:
        self._items = {row["id"]: row for row in items}
        self._makers = {row["id"]: row for row in makers}

    def passing(self, node: nodes.Node) -> list[int]:
        """The keys of the items for which a condition is true."""
        return [key for key, row in self._items.items() if self.value(node, row, {}) is True]

    def value(self, node: nodes.Node, row: Row, variables: Mapping[str, Any]) -> Any:
        match node:
            case nodes.Literal(value=value):
                return value
            case nodes.Member(base=None, name=name) if name in variables:
                return variables[name]
            case nodes.Member(base=base, name=name):
                owner = row if base is None else self.value(base, row, variables)
                return None if owner is None else self._step(owner, name)
            case nodes.Unary(op="not", operand=operand):
                inner = self.value(operand, row, variables)
                return None if inner is None else not inner
            case nodes.Unary(op="neg", operand=operand):
                inner = self.value(operand, row, variables)
                return None if inner is None else -inner
            case nodes.Binary(op="and" | "or"):
                return self._logical(node, row, variables)
            case nodes.Binary(op=op, left=left, right=right):
                first = self.value(left, row, variables)
                second = self.value(right, row, variables)
                if op in _COMPARISONS:
                    return compare(op, first, second)
                return None if first is None or second is None else arithmetic(op, first, second)
            case nodes.In(left=left, right=nodes.Collection(items=items)):
                first = self.value(left, row, variables)
                return any(compare("eq", first, self.value(i, row, variables)) for i in items)
            case nodes.Lambda(op=op, source=source, variable=variable, predicate=predicate):
                members = self.value(source, row, variables)
                if predicate is None:
                    return bool(members)
                results = [
                    self.value(predicate, row, {**variables, str(variable): one}) is True
                    for one in members
                ]
                return any(results) if op == "any" else all(results)
            case nodes.Count(source=source, filter=None) if source is not None:
                return len(self.value(source, row, variables))
            case nodes.Count(source=source, filter=predicate) if source is not None:
                members = self.value(source, row, variables)
                return sum(self.value(predicate, one, variables) is True for one in members)
            case nodes.Call(name=name, arguments=arguments):
                values = [self.value(argument, row, variables) for argument in arguments]
                return None if None in values else _FUNCTIONS[name](*values)
            case nodes.Case(branches=branches):
                for condition, result in branches:
                    if self.value(condition, row, variables) is True:
                        return self.value(result, row, variables)
                return None
        raise TypeError(type(node).__name__)

    def _logical(self, node: nodes.Binary, row: Row, variables: Mapping[str, Any]) -> Any:
        """Three-valued, for Boolean values that are null (URL Conventions 5.1.1.1.7, .8)."""
        both = [self.value(side, row, variables) for side in (node.left, node.right)]
        decisive = node.op == "or"
        if decisive in both:
            return decisive
        return None if None in both else not decisive

    def _step(self, owner: Row, name: str) -> Any:
        if name == "Parent":
            return self._items.get(owner["parent_id"])
        if name == "Maker":
            return self._makers.get(owner["maker_id"])
        if name == "Children":
            return [row for row in self._items.values() if row["parent_id"] == owner["id"]]
        if name == "place":
            return {"street": owner["street"], "city": owner["city"]}
        value = owner[_COLUMNS.get(name, name)]
        return Level(value) if name == "level" else value


class Level(str):
    """A member of the enumeration; it orders by its place."""

    @property
    def place(self) -> int:
        return model.LEVELS.index(self)


_COMPARISONS = ("eq", "ne", "gt", "ge", "lt", "le")


def compare(op: str, left: Any, right: Any) -> bool:
    """Never null: null equals null alone, and is neither greater nor less than anything."""
    if left is None or right is None:
        same = left is None and right is None
        return same if op == "eq" else not same if op == "ne" else False
    if isinstance(left, Level) or isinstance(right, Level):
        left, right = Level(left).place, Level(right).place
    if isinstance(left, datetime) and not isinstance(right, datetime):
        return _compare_with_day(op, left, right)
    if isinstance(right, datetime) and not isinstance(left, datetime):
        return _compare_with_day(_MIRRORED[op], right, left)
    if isinstance(left, float) or isinstance(right, float):
        left, right = Decimal(repr(float(left))), Decimal(repr(float(right)))
    return bool(
        {"eq": left == right, "ne": left != right, "gt": left > right, "ge": left >= right,
         "lt": left < right, "le": left <= right}[op]
    )  # fmt: skip


_MIRRORED = {"gt": "lt", "lt": "gt", "ge": "le", "le": "ge", "eq": "eq", "ne": "ne"}


def _compare_with_day(op: str, instant: datetime, day: date) -> bool:
    """A date is 00:00 UTC, or for eq and ne the whole day (contract P5)."""
    if op in ("eq", "ne"):
        return (instant.astimezone(UTC).date() == day) == (op == "eq")
    return compare(op, instant, datetime(day.year, day.month, day.day, tzinfo=UTC))


def arithmetic(op: str, left: Any, right: Any) -> Any:
    if isinstance(left, timedelta | datetime | date) or isinstance(right, timedelta):
        return left + right if op == "add" else left - right
    if op in _EXACT and (isinstance(left, Decimal) or isinstance(right, Decimal)):
        return _EXACT[op](Decimal(left), Decimal(right))
    if op == "add":
        return left + right
    if op == "sub":
        return left - right
    if op == "mul":
        return left * right
    if right == 0:
        return None
    if op == "mod":
        whole = int(left / right) if isinstance(left, int) else None
        if isinstance(left, int) and isinstance(right, int):
            quotient = abs(left) // abs(right)
            whole = quotient if (left < 0) == (right < 0) else -quotient
            return left - right * whole
        return _WIDE.remainder(Decimal(left), Decimal(right))
    if op == "div" and isinstance(left, int) and isinstance(right, int):
        quotient = abs(left) // abs(right)
        return quotient if (left < 0) == (right < 0) else -quotient
    exact = _WIDE.divide(Decimal(left), Decimal(right))
    return exact.quantize(Decimal("1e-12"), ROUND_HALF_UP, _WIDE)


def _rounded(mode: str) -> Callable[[Any], Any]:
    return lambda value: (
        value if isinstance(value, int) else value.quantize(Decimal(1), mode, _WIDE)
    )


def _substring(text: str, start: int, length: int | None = None) -> str:
    rest = text[start:] if start >= 0 else text[max(len(text) + start, 0) :]
    return rest if length is None else rest[: max(length, 0)]


def _utc(value: datetime) -> datetime:
    return value.astimezone(UTC)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "contains": lambda text, part: part in text,
    "startswith": lambda text, part: text.startswith(part),
    "endswith": lambda text, part: text.endswith(part),
    "length": len,
    "indexof": lambda text, part: text.find(part),
    "substring": _substring,
    "tolower": str.lower,
    "toupper": str.upper,
    "trim": str.strip,
    "concat": lambda left, right: left + right,
    "year": lambda value: (_utc(value) if isinstance(value, datetime) else value).year,
    "month": lambda value: (_utc(value) if isinstance(value, datetime) else value).month,
    "day": lambda value: (_utc(value) if isinstance(value, datetime) else value).day,
    "hour": lambda value: _utc(value).hour,
    "minute": lambda value: _utc(value).minute,
    "second": lambda value: _utc(value).second,
    "date": lambda value: _utc(value).date(),
    "fractionalseconds": lambda value: Decimal(_utc(value).microsecond) / 1_000_000,
    "totalseconds": lambda value: Decimal(value // _MICROSECOND) / 1_000_000,
    "round": _rounded(ROUND_HALF_UP),
    "floor": _rounded(ROUND_FLOOR),
    "ceiling": _rounded(ROUND_CEILING),
}
