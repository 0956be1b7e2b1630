"""Arithmetic of SQLite gives what PostgreSQL gives, digit for digit."""

from __future__ import annotations

import math

import pytest

from app.odata.sql import sqlite_numbers as numbers
from app.odata.sql.text_values import SQLITE


@pytest.mark.parametrize(
    ("left", "right", "quotient", "remainder"),
    [
        ("1", "3", "0.333333333333", "1"),
        ("2", "3", "0.666666666667", "2"),
        ("-2", "3", "-0.666666666667", "-2"),
        ("10", "2.5", "4", "0"),
        ("0", "7", "0", "0"),
        ("1", "0", None, None),
    ],
)
def test_decimals_are_divided(
    left: str, right: str, quotient: str | None, remainder: str | None
) -> None:
    assert numbers.divide(left, right) == quotient
    rest = numbers.modulo(left, right)
    assert rest == remainder or (rest is not None and float(rest) == float(remainder or "nan"))


@pytest.mark.parametrize(
    ("left", "right", "quotient"),
    [(7, 2, 3), (-7, 2, -3), (7, -2, -3), (7, 0, None)],
)
def test_whole_numbers_are_divided_towards_zero(
    left: int, right: int, quotient: int | None
) -> None:
    assert numbers.truncate(left, right) == quotient


def test_what_leaves_int64_is_an_error_and_never_a_float() -> None:
    most = 2**63 - 1
    assert numbers.add(most - 1, 1) == most
    for compute in (numbers.add, numbers.multiply):
        with pytest.raises(OverflowError):
            compute(most, 2)
    with pytest.raises(OverflowError):
        numbers.negate(-(2**63))


def test_doubles_by_zero_are_infinite() -> None:
    assert numbers.quotient(-1.0, 0.0) == -math.inf
    assert numbers.remainder(1.0, 0.0) is None


@pytest.mark.parametrize(
    ("text", "whole", "decimal"), [("12", 12, "12"), ("1.50", None, "1.50"), ("x", None, None)]
)
def test_a_cast_of_a_text_that_is_no_number_is_null(
    text: str, whole: int | None, decimal: str | None
) -> None:
    assert SQLITE["to_integer"](text) == whole
    assert SQLITE["to_decimal"](text) == decimal


@pytest.mark.parametrize(
    ("number", "expected"),
    [(2.5, 3.0), (-2.5, -3.0), (0.4, 0.0), (0.49999999999999994, 0.0), (2.0**52 + 1, 2.0**52 + 1)],
)
def test_doubles_are_rounded_half_away_from_zero(number: float, expected: float) -> None:
    assert numbers.round_double(number) == expected
