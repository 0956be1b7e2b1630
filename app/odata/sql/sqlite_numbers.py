"""Arithmetic for SQLite: exact decimals as text, whole numbers that never become floats.

PostgreSQL computes with NUMERIC and BIGINT; these functions give what it gives, digit for digit.
No argument is null (sqlite_functions.py).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from decimal import (
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_UP,
    Context,
    Decimal,
    Inexact,
    InvalidOperation,
)
from typing import Any

Number = int | str | float

# More digits than any product of a query of legal length: what does not fit is an error.
_EXACT = Context(prec=50_000, traps=[Inexact])
WIDE = Context(prec=50_000)
INT64 = range(-(2**63), 2**63)
QUOTIENT_DIGITS = 12
# Where PostgreSQL changes to the form with an exponent.
_MOST_PLAIN_DIGITS = {"d": 15, "f": 6}


def _binary(
    integers: Callable[[int, int], int], decimals: Callable[[Decimal, Decimal], Decimal]
) -> Callable[[Number, Number], Number]:
    def compute(left: Number, right: Number) -> Number:
        if isinstance(left, int) and isinstance(right, int):
            return _int64(integers(left, right))
        return written(decimals(Decimal(str(left)), Decimal(str(right))))

    return compute


add = _binary(lambda a, b: a + b, _EXACT.add)
subtract = _binary(lambda a, b: a - b, _EXACT.subtract)
multiply = _binary(lambda a, b: a * b, _EXACT.multiply)


def truncate(left: int, right: int) -> int | None:
    """The whole part of a quotient, towards zero; null where the divisor is zero."""
    if not right:
        return None
    quotient = abs(left) // abs(right)
    return _int64(quotient if (left < 0) == (right < 0) else -quotient)


def divide(left: str, right: str) -> str | None:
    """A quotient of at most 12 digits behind the point, half away from zero, no trailing zeros."""
    if not (divisor := Decimal(right)):
        return None
    dividend = Decimal(left)
    top, bottom = dividend.as_integer_ratio(), divisor.as_integer_ratio()
    numerator, denominator = top[0] * bottom[1], top[1] * bottom[0]
    twice = 2 * abs(numerator) * 10**QUOTIENT_DIGITS + abs(denominator)
    units = twice // (2 * abs(denominator))
    if (numerator < 0) != (denominator < 0):
        units = -units
    quotient = Decimal(units).scaleb(-QUOTIENT_DIGITS, WIDE)
    return plain(quotient)


def plain(number: Decimal) -> str:
    """A decimal without an exponent and without zeros at its end."""
    return format(number.normalize(WIDE), "f") if number else "0"


def modulo(left: str, right: str) -> str | None:
    """The remainder with the sign of the dividend; null where the divisor is zero."""
    if not (divisor := Decimal(right)):
        return None
    return written(WIDE.remainder(Decimal(left), divisor))


def negate(number: Number) -> Number:
    if isinstance(number, int):
        return _int64(-number)
    return written(-Decimal(str(number)))


def _rounding(mode: str) -> Callable[[str], str]:
    def compute(number: str) -> str:
        return written(Decimal(number).quantize(Decimal(1), mode, WIDE))

    return compute


round_half_up = _rounding(ROUND_HALF_UP)
floor = _rounding(ROUND_FLOOR)
ceiling = _rounding(ROUND_CEILING)


def whole(number: str) -> int:
    """A decimal without a fraction as a whole number.

    Raises: OverflowError, it is beyond Edm.Int64.
    """
    return _int64(int(Decimal(number)))


def double_to_decimal(number: float) -> str | None:
    """A double as PostgreSQL makes NUMERIC of it: 15 significant digits."""
    return written(Decimal(f"{number:.15g}")) if abs(number) <= 1e300 else None


def round_double(number: float) -> float:
    """Half away from zero, by the fraction itself: adding a half to it could round up."""
    if not math.isfinite(number):
        return number
    fraction, whole = math.modf(abs(number))
    return math.copysign(whole + (fraction >= 0.5), number)


def quotient(number: float, divisor: float) -> float:
    """A number by zero is infinity with the sign of the number; SQLite makes null of NaN."""
    return float(number) / float(divisor) if divisor else float(number) * math.inf


def remainder(number: float, divisor: float) -> float | None:
    """By the whole part of the quotient, as PostgreSQL is told to; SQLite makes null of NaN."""
    if not divisor:
        return None
    quotient = float(number) / float(divisor)
    whole = float(math.trunc(quotient)) if math.isfinite(quotient) else quotient
    return number - divisor * whole


def floor_double(number: float) -> float:
    return float(math.floor(number)) if math.isfinite(number) else number


def ceiling_double(number: float) -> float:
    return float(math.ceil(number)) if math.isfinite(number) else number


def compare_decimals(left: str, right: str) -> int:
    """The collation ``odata_decimal``: texts of numbers by their value.

    It never raises, which Python could not survive in here; other texts go by their characters.
    """
    if left == right:
        return 0
    try:
        return int(Decimal(left).compare(Decimal(right)))
    except (InvalidOperation, ValueError):
        return 1 if left > right else -1


def double_text(number: float) -> str:
    """JSON of an Edm.Double, as PostgreSQL writes it: shortest, exponent from 1e15 on."""
    return _shortest(number, repr(float(number)), "d")


def single_text(number: float) -> str:
    """JSON of an Edm.Single: the shortest text that reads back as the same 32 bits."""
    single = _as_single(number)
    texts = (f"{single:.{digits}g}" for digits in range(1, 10))  # nine digits tell all apart
    shortest = next((text for text in texts if _as_single(float(text)) == single), "")
    return _shortest(single, shortest, "f")


def _as_single(number: float) -> float:
    single: float = struct.unpack("f", struct.pack("f", number))[0]
    return single


def _shortest(number: float, text: str, kind: str) -> str:
    if math.isnan(number):
        return '"NaN"'
    if math.isinf(number):
        return '"INF"' if number > 0 else '"-INF"'
    sign, digits, exponent = Decimal(text).normalize().as_tuple()
    if not any(digits):
        return "0"  # SQLite loses the sign of a zero now and then
    figures = "".join(map(str, digits))
    power = len(figures) - 1 + int(exponent)
    prefix = "-" if sign else ""
    if -5 < power < _MOST_PLAIN_DIGITS[kind]:
        return prefix + format(Decimal(text).copy_abs().normalize(), "f")
    mantissa = figures[0] + ("." + figures[1:] if len(figures) > 1 else "")
    return f"{prefix}{mantissa}e{'-' if power < 0 else '+'}{abs(power):02d}"


def _int64(number: int) -> int:
    if number not in INT64:
        raise OverflowError("a whole number is beyond Edm.Int64")
    return number


def written(number: Decimal) -> str:
    """A decimal with the digits that it has."""
    # A zero has no sign on PostgreSQL.
    return format(number if number else number.copy_abs(), "f")


class Sum:
    """The aggregate ``odata_sum`` of decimals; null over nothing."""

    def __init__(self) -> None:
        self._total: Decimal | None = None

    def step(self, number: Any, /) -> None:
        if number is not None:
            self._total = _EXACT.add(self._total or Decimal(0), Decimal(number))

    def finalize(self) -> str | None:
        return None if self._total is None else written(self._total)


class SumOfProducts:
    """The aggregate ``odata_sum_of_products`` of scaled integers; null over nothing."""

    def __init__(self) -> None:
        self._total: int | None = None
        self._scale = 0

    def step(self, left: int | None, right: int | None, scale: int, /) -> None:
        if left is not None and right is not None:
            self._total = (self._total or 0) + left * right
            self._scale = scale

    def finalize(self) -> str | None:
        if self._total is None:
            return None
        return written(Decimal(self._total).scaleb(-self._scale, WIDE))
