"""Numbers as people type them, in the ways of several languages."""

from __future__ import annotations

from decimal import Decimal

import pytest

from app.console.numbers import NoNumberError, typed_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1234.5", "1234.5"), ("1,234.50", "1234.50"), ("1.234,50", "1234.50"),
        ("1 234,5", "1234.5"), ("1\u202f234,5", "1234.5"), ("1'234.5", "1234.5"),
        ("0,5", "0.5"), ("1,234,567", "1234567"), ("1.234.567", "1234567"), ("-3", "-3"),
        ("1.250", "1.250"), ("19", "19"),
    ],
)  # fmt: skip
def test_a_number_is_understood_as_it_is_typed(text: str, number: str) -> None:
    assert typed_number(text) == Decimal(number)


def test_a_number_that_could_be_two_is_refused_with_both() -> None:
    with pytest.raises(NoNumberError, match=r"write 1234 or 1\.234"):
        typed_number("1,234")


@pytest.mark.parametrize("text", ["", "many", "1.2.3,4,5", "NaN", "Infinity", "1e", ",", "--1"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(NoNumberError):
        typed_number(text)
