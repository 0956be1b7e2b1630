"""``if`` of a request in a JSON batch: an expression over the answers before it (19.1).

``$1/$succeeded`` and ``$1/name`` are literals by the time the text is parsed, so what is left is
computed here, with the null rules of the protocol (URL Conventions 5.1.1.1).
"""

from __future__ import annotations

import operator
import re
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

from app.errors import InvalidQueryError
from app.odata.batch.references import References
from app.odata.errors import QueryError
from app.odata.syntax.nodes import Binary, Collection, In, Literal, Node, Unary
from app.odata.syntax.options import parse_filter

_SUCCEEDED = re.compile(r"('(?:[^']|'')*')|\$([^\s/()',]+)/\$succeeded")
_COMPARISONS = {"gt": operator.gt, "ge": operator.ge, "lt": operator.lt, "le": operator.le}


def holds(text: str, references: References) -> bool:
    """Whether the condition is true.

    Raises: InvalidQueryError, it cannot be understood, or is no Boolean.
    """

    def succeeded(match: re.Match[str]) -> str:
        if match[1] is not None:
            return match[0]
        return "false" if references.has_failed(match[2]) else "true"

    filled = references.in_expression(_SUCCEEDED.sub(succeeded, text))
    try:
        return bool(_boolean(parse_filter(filled)))
    except QueryError as error:
        raise InvalidQueryError(f"invalid if: {error.message}", position=error.offset) from error


def _value(node: Node) -> Any:
    match node:
        case Literal(value=value):
            return value
        case Unary(op="not", operand=operand):
            inner = _boolean(operand)
            return None if inner is None else not inner
        case Binary(op="and" | "or" as op, left=left, right=right):
            return _joined(op, _boolean(left), _boolean(right))
        case Binary(op=op, left=left, right=right):
            return _compared(op, _value(left), _value(right), node.offset)
        case In(left=left, right=Collection(items=items)):
            left_value = _value(left)
            return any(_equal(left_value, _value(item)) for item in items)
    raise QueryError("only comparisons, in, and, or, not are understood here", node.offset)


def _boolean(node: Node) -> bool | None:
    value = _value(node)
    if value is None or isinstance(value, bool):
        return value
    raise QueryError("expected a Boolean", node.offset)


def _joined(op: str, left: bool | None, right: bool | None) -> bool | None:
    decisive = op == "or"
    if left is decisive or right is decisive:
        return decisive
    return None if left is None or right is None else not decisive


def _compared(op: str, left: Any, right: Any, offset: int) -> bool:
    if op == "eq":
        return _equal(left, right)
    if op == "ne":
        return not _equal(left, right)
    if op not in _COMPARISONS:
        raise QueryError("only comparisons, in, and, or, not are understood here", offset)
    if left is None or right is None:
        return False
    try:
        return bool(_COMPARISONS[op](_instant(left, right), _instant(right, left)))
    except TypeError:
        raise QueryError("these values cannot be compared", offset) from None


def _instant(value: Any, other: Any) -> Any:
    """A day beside an instant is its beginning, as in ``$filter``."""
    if type(value) is date and isinstance(other, datetime):
        return datetime.combine(value, time(), UTC)
    return value


def _equal(left: Any, right: Any) -> bool:
    if {type(left), type(right)} == {date, datetime}:
        return _day(left) == _day(right)
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Decimal | int | float) != isinstance(right, Decimal | int | float):
        return left is None and right is None
    return bool(left == right)


def _day(value: date) -> date:
    return value.astimezone(UTC).date() if isinstance(value, datetime) else value
