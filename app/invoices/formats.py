"""Numbers, money and dates as the reader's language writes them (CLDR, by Babel)."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from babel import Locale, UnknownLocaleError
from babel.dates import format_date
from babel.numbers import NumberPattern, parse_pattern

from app import money
from app.invoices.document import InvoiceDocument
from app.invoices.texts import language_of

_MOST_PRICE_DECIMALS = 4
_RATE = parse_pattern("#,##0.00######")


class Formats:
    """Of one document: its language and region, its currency."""

    def __init__(self, document: InvoiceDocument) -> None:
        self.locale = _locale_of(document.language)
        self._currency = document.currency
        digits = money.digits(document.currency)
        self._price = parse_pattern(f"#,##0.{'0' * digits}{'#' * (_MOST_PRICE_DECIMALS - digits)}")
        self._quantity = parse_pattern("#,##0.####")
        percent: NumberPattern = self.locale.percent_formats[None]
        self._percent = parse_pattern(percent.pattern.replace("0%", "0.##%").replace(
            "0\u00a0%", "0.##\u00a0%"
        ))  # fmt: skip

    def amount(self, amount: Decimal) -> str:
        """Money where the currency is known from elsewhere: ``1.234,50``."""
        return money.grouped(amount, self._currency, self.locale)

    def money(self, amount: Decimal, currency: str | None = None) -> str:
        """Money with its currency, that of the document if no other is given: ``1.234,50 €``."""
        return money.with_sign(amount, currency or self._currency, self.locale)

    def rate(self, rate: Decimal) -> str:
        """An exchange rate, with all decimals that it has: ``0,9215``."""
        return str(_RATE.apply(rate, self.locale))

    def price(self, price: Decimal) -> str:
        """The price of a unit: up to four decimals, no fewer than money has."""
        return str(self._price.apply(price, self.locale))

    def quantity(self, quantity: Decimal) -> str:
        return str(self._quantity.apply(quantity, self.locale))

    def percent(self, percent: Decimal) -> str:
        """``19`` as ``19 %``."""
        return str(self._percent.apply(percent / 100, self.locale))

    def day(self, day: date) -> str:
        return format_date(day, "medium", locale=self.locale)


def _locale_of(language: str) -> Locale:
    """The locale of a tag such as ``de-AT``; that of the words if CLDR does not know it."""
    try:
        locale = Locale.parse(language.replace("-", "_"))
    except (ValueError, UnknownLocaleError):
        return Locale.parse(language_of(language))
    words = language_of(language)
    return locale if locale.language == words else Locale.parse(words)
