"""Amounts in the smallest units of their currency: rounded, checked and written by ISO 4217.

A yen has no smaller unit, a euro has cents, a dinar of Kuwait a thousand fils. Every amount that is
computed is rounded here, and nowhere else (docs/adr/0014).
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from functools import cache

from babel import Locale
from babel.numbers import NumberPattern, get_currency_symbol, parse_pattern
from iso4217 import Currency

from app.db.types import MONEY_SCALE

# Digits that columns keep; two currencies of account (CLF, UYW) have four in the standard.
MOST_DIGITS = MONEY_SCALE
# Of what has no unit in the standard (gold, codes for tests), as of most currencies.
USUAL_DIGITS = 2
ZERO = Decimal("0.00")


@cache
def digits(currency: str) -> int:
    """Digits behind the point that amounts of a currency have (ISO 4217 minor units): 0 to 3."""
    try:
        exponent = Currency(currency).exponent
    except ValueError:
        exponent = None
    return USUAL_DIGITS if exponent is None else min(int(exponent), MOST_DIGITS)


@cache
def finest() -> tuple[str, ...]:
    """The currencies whose amounts have three digits."""
    return tuple(sorted(each.code for each in Currency if digits(each.code) == MOST_DIGITS))


@cache
def unit(currency: str) -> Decimal:
    """The smallest amount of a currency: 1, 0.01 or 0.001."""
    return Decimal(1).scaleb(-digits(currency))


def rounded(amount: Decimal, currency: str) -> Decimal:
    """``amount`` in whole smallest units, half up (away from zero)."""
    return amount.quantize(unit(currency), ROUND_HALF_UP)


def is_whole(amount: Decimal, currency: str) -> bool:
    """Whether an amount can be paid: it has no more digits than its currency."""
    return rounded(amount, currency) == amount


def too_fine(currency: str) -> str:
    """What is wrong with an amount of more digits, to follow the name of its field."""
    most = digits(currency)
    return f"must have at most {most} decimals in {currency}" if most else (
        f"must have no decimals in {currency}"
    )  # fmt: skip


def written(amount: Decimal, currency: str) -> Decimal:
    """``amount`` with the digits to write: those of its currency, and all that it has besides.

    No digit of an amount is ever hidden; who shows a quotient rounds it first.
    """
    least = rounded(amount, currency)
    return least if least == amount else amount.normalize()


def plain(amount: Decimal, currency: str) -> str:
    """``1,234.50 EUR``, ``55,001 JPY``, ``3.889 KWD``: for messages in English."""
    return f"{written(amount, currency):,f} {currency}"


def with_sign(amount: Decimal, currency: str, locale: Locale) -> str:
    """An amount with the sign of its currency as CLDR writes it: ``1.234,50 €``, ``¥55,001``."""
    exact = written(amount, currency)
    pattern = _pattern(currency, str(locale), _digits_of(exact))
    return str(pattern.apply(exact, locale, currency=currency, currency_digits=False))


def grouped(amount: Decimal, currency: str, locale: Locale) -> str:
    """An amount where its currency is known from elsewhere: ``1.234,50``."""
    exact = written(amount, currency)
    return str(_number_pattern(_digits_of(exact)).apply(exact, locale))


@cache
def _pattern(currency: str, locale_name: str, places: int) -> NumberPattern:
    locale = Locale.parse(locale_name)
    standard: NumberPattern = locale.currency_formats["standard"]
    pattern = standard.pattern.replace(".00", _fraction(places))
    if get_currency_symbol(currency, locale)[-1:].isalpha():
        # CLDR's currency spacing: letters do not touch digits, as in "CHF 10".
        pattern = pattern.replace("\u00a4#", "\u00a4\u00a0#")
    return parse_pattern(pattern)


@cache
def _number_pattern(places: int) -> NumberPattern:
    return parse_pattern(f"#,##0{_fraction(places)}")


def _fraction(places: int) -> str:
    return "." + "0" * places if places else ""


def _digits_of(amount: Decimal) -> int:
    return max(0, -int(amount.as_tuple().exponent))
