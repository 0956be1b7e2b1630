"""Amounts are rounded, checked and written in the smallest units of their currency (ISO 4217)."""

from __future__ import annotations

from decimal import Decimal

import pytest
from babel import Locale
from hypothesis import given, settings, strategies as st
from iso4217 import Currency

from app.money import (
    MOST_DIGITS,
    digits,
    is_whole,
    plain,
    rounded,
    too_fine,
    unit,
    with_sign,
    written,
)

CODES = sorted(str(currency.value) for currency in Currency)
amounts = st.decimals(-(10**10), 10**10, places=5)


@pytest.mark.parametrize(
    ("currency", "places"),
    [("EUR", 2), ("JPY", 0), ("KWD", 3), ("HUF", 2), ("IQD", 3), ("XAU", 2), ("CLF", 3)],
)
def test_the_digits_are_those_of_the_standard_and_no_more_than_are_kept(
    currency: str, places: int
) -> None:
    assert digits(currency) == places <= MOST_DIGITS


@settings(deadline=None)
@given(amount=amounts, currency=st.sampled_from(CODES))
def test_a_rounded_amount_is_whole_and_the_nearest(amount: Decimal, currency: str) -> None:
    nearest = rounded(amount, currency)
    assert is_whole(nearest, currency)
    assert nearest % unit(currency) == 0
    assert abs(nearest - amount) <= unit(currency) / 2
    assert -int(nearest.as_tuple().exponent) == digits(currency)


@settings(deadline=None)
@given(amount=amounts, currency=st.sampled_from(CODES))
def test_no_digit_of_an_amount_is_hidden(amount: Decimal, currency: str) -> None:
    text = plain(amount, currency)
    assert Decimal(text.split()[0].replace(",", "")) == amount
    assert -int(written(amount, currency).as_tuple().exponent) >= digits(currency)


@pytest.mark.parametrize(
    ("amount", "currency", "language", "text"),
    [("55000.61", "JPY", "en", "¥55,001"), ("1234.5", "EUR", "de", "1.234,50\u00a0€"),
     ("3.8885", "KWD", "en", "KWD\u00a03.889"), ("-5", "CHF", "en", "-CHF\u00a05.00")],
)  # fmt: skip
def test_an_amount_is_shown_as_its_readers_write_it(
    amount: str, currency: str, language: str, text: str
) -> None:
    assert with_sign(rounded(Decimal(amount), currency), currency, Locale.parse(language)) == text


def test_what_is_too_fine_is_told_with_what_the_currency_has() -> None:
    assert too_fine("JPY") == "must have no decimals in JPY"
    assert too_fine("KWD") == "must have at most 3 decimals in KWD"
