"""Column types for EDM types that have no column of their own on both databases."""

from __future__ import annotations

from datetime import timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from sqlalchemy import BigInteger, Dialect, Numeric, Text
from sqlalchemy.types import TypeDecorator, TypeEngine

from app.odata.sql.decimals import DecimalNumber

_MICROSECOND = timedelta(microseconds=1)


class Duration(TypeDecorator[timedelta]):
    """Edm.Duration as whole microseconds."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: timedelta | int | None, dialect: Dialect) -> int | None:
        return value // _MICROSECOND if isinstance(value, timedelta) else value

    def process_result_value(self, value: int | None, dialect: Dialect) -> timedelta | None:
        return None if value is None else timedelta(microseconds=value)


class WideDecimal(DecimalNumber):
    """Edm.Decimal of more digits than a scaled integer of 64 bits has (``ExactDecimal``).

    On SQLite it is text with all digits of its scale; the collation compares by value.
    """

    impl = Numeric
    cache_ok = True

    def __init__(self, precision: int, scale: int) -> None:
        super().__init__(precision, scale)
        self.precision = precision
        self.scale = scale
        self._unit = Decimal(1).scaleb(-scale)
        self._context = Context(prec=precision + scale)

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(Text(collation="odata_decimal"))
        return dialect.type_descriptor(Numeric(self.precision, self.scale))

    def process_bind_param(self, value: Decimal | int | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        exact = Decimal(value).quantize(self._unit, ROUND_HALF_UP, self._context)
        return format(exact, "f") if dialect.name == "sqlite" else exact

    def process_result_value(self, value: Any, dialect: Dialect) -> Decimal | None:
        return None if value is None else Decimal(value)
