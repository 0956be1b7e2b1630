"""Numbers, money and dates as the reader's language writes them (CLDR, by Babel)."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from babel import Locale, UnknownLocaleError
from babel.dates import format_date
from babel.numbers import (
    NumberPattern,
    get_currency_precision,
    get_currency_symbol,
    parse_pattern,
)

from app.invoices.document import InvoiceDocument
from app.invoices.texts import language_of

_CENTS = 2
_MOST_PRICE_DECIMALS = 4


class Formats:
    """Of one document: its language and region, its currency."""

    def __init__(self, document: InvoiceDocument) -> None:
        self.locale = _locale_of(document.language)
        self._currency = document.currency
        self._digits = _money_digits(document)
        fraction = "." + "0" * self._digits if self._digits else ""
        self._amount = parse_pattern(f"#,##0{fraction}")
        more = "#" * (_MOST_PRICE_DECIMALS - self._digits)
        self._price = parse_pattern(f"#,##0.{'0' * self._digits}{more}")
        self._quantity = parse_pattern("#,##0.####")
        self._money = self._money_pattern(fraction)
        percent: NumberPattern = self.locale.percent_formats[None]
        self._percent = parse_pattern(percent.pattern.replace("0%", "0.##%").replace(
            "0\u00a0%", "0.##\u00a0%"
        ))  # fmt: skip

    def amount(self, amount: Decimal) -> str:
        """Money where the currency is known from elsewhere: ``1.234,50``."""
        return str(self._amount.apply(amount, self.locale))

    def money(self, amount: Decimal) -> str:
        """Money with its currency: ``1.234,50 €``."""
        return str(
            self._money.apply(amount, self.locale, currency=self._currency, currency_digits=False)
        )

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

    def _money_pattern(self, fraction: str) -> NumberPattern:
        standard: NumberPattern = self.locale.currency_formats["standard"]
        pattern = standard.pattern.replace(".00", fraction)
        if get_currency_symbol(self._currency, self.locale)[-1:].isalpha():
            # CLDR's currency spacing: letters do not touch digits, as in "CHF 10".
            pattern = pattern.replace("\u00a4#", "\u00a4\u00a0#")
        return parse_pattern(pattern)


def _locale_of(language: str) -> Locale:
    """The locale of a tag such as ``de-AT``; that of the words if CLDR does not know it."""
    try:
        locale = Locale.parse(language.replace("-", "_"))
    except (ValueError, UnknownLocaleError):
        return Locale.parse(language_of(language))
    words = language_of(language)
    return locale if locale.language == words else Locale.parse(words)


def _money_digits(document: InvoiceDocument) -> int:
    """Decimals of the currency, or cents where an amount has some that it would not show."""
    digits = min(get_currency_precision(document.currency), _CENTS + 1)
    amounts = [
        document.total, document.amount_due, document.subtotal, document.tax_total,
        *(line.line_net for line in document.lines),
    ]  # fmt: skip
    if digits < _CENTS and any(amount != int(amount) for amount in amounts):
        return _CENTS
    return digits
