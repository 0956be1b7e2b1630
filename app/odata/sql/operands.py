"""Literals as operands of a comparison with a column, so that its index serves and nothing rounds.

A column has a grid: cents, milliseconds. A literal between two points of it compares as its lower
neighbour in ``gt`` and ``le``, as its upper one in ``ge`` and ``lt``, and equals nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any, Literal

from sqlalchemy import BigInteger, DateTime, Dialect, Numeric, String
from sqlalchemy.types import TypeDecorator, TypeEngine

from app.db.types import iso_instant
from app.odata.syntax.literals import INT64_MAX, INT64_MIN

Rounding = Literal["down", "up", "none"]
ROUNDING: dict[str, Rounding] = {"gt": "down", "le": "down", "ge": "up", "lt": "up"}

_WIDE = Context(prec=500)
_MILLISECOND = timedelta(milliseconds=1)


class DecimalOperand(TypeDecorator[Decimal]):
    """A number compared with a decimal column of ``scale``, or with whole numbers (scale 0)."""

    impl = Numeric
    cache_ok = True

    def __init__(self, scale: int, rounding: Rounding) -> None:
        super().__init__()
        self.scale = scale
        self.rounding = rounding

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(BigInteger())
        return dialect.type_descriptor(Numeric())

    def process_bind_param(self, value: Decimal | int | float | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        # The shortest text of a double is the number that was written.
        number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
        if dialect.name != "sqlite":
            return number
        if not number.is_finite():
            if self.rounding == "none":
                return 0.5
            return INT64_MAX if number > 0 else INT64_MIN  # compares as an infinity does
        scaled = number.scaleb(self.scale, _WIDE)
        if self.rounding == "none" and scaled != scaled.to_integral_value():
            return 0.5  # equals no whole number
        mode = ROUND_CEILING if self.rounding == "up" else ROUND_FLOOR
        units = int(scaled.to_integral_value(mode, _WIDE))
        if self.rounding == "none" and not INT64_MIN <= units <= INT64_MAX:
            return 0.5
        return min(max(units, INT64_MIN), INT64_MAX)


class InstantOperand(TypeDecorator[datetime]):
    """An instant compared with a column that keeps milliseconds."""

    impl = String
    cache_ok = True

    def __init__(self, rounding: Rounding) -> None:
        super().__init__()
        self.rounding = rounding

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(String(24))
        return dialect.type_descriptor(DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        instant = value.astimezone(UTC)
        remainder = instant.microsecond % 1000
        if dialect.name != "sqlite":
            return instant - timedelta(microseconds=remainder if self.rounding == "down" else 0)
        if not remainder or self.rounding == "down":
            return iso_instant(instant)
        if self.rounding == "none":
            return f"{iso_instant(instant)[:-1]}{remainder:03d}Z"  # longer than any in a column
        try:
            return iso_instant(instant + _MILLISECOND)
        except OverflowError:
            return "~"  # after every instant
