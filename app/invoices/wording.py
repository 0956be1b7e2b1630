"""How a document says things: its name, what it corrects, its totals; numbers, money and dates.

These are written as the reader's language writes them (CLDR, by Babel).
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from babel import Locale, UnknownLocaleError
from babel.dates import format_date
from babel.numbers import NumberPattern, parse_pattern

from app import money
from app.invoices.document import InvoiceDocument, TaxSubtotal
from app.invoices.plain_text import one_line
from app.invoices.texts import Texts, language_of, texts_for

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


def kind_of(document: InvoiceDocument) -> str:
    """``Invoice`` or ``Credit note``, in the language of the document."""
    name = "titles.credit_note" if document.is_credit_note else "titles.invoice"
    return texts_for(document.language)(name)


def title_of(document: InvoiceDocument) -> str:
    """``Invoice INV-2026-00007``; a draft has no number yet."""
    return f"{kind_of(document)} {one_line(document.number)}".strip()


def correction_of(document: InvoiceDocument) -> str:
    """The sentence that names the credited invoice; "" if there is none."""
    credited = document.credited
    if credited is None:
        return ""
    texts, number = texts_for(document.language), one_line(credited.number)
    if credited.issue_date is None:
        return texts("payment.correction", number=number)
    day = Formats(document).day(credited.issue_date)
    return end_once(texts("payment.correction_dated", number=number, date=day))


def end_once(sentence: str) -> str:
    """A sentence whose last word, as Russian dates do, brings its own full stop."""
    return sentence.replace("..", ".")


def total_label(texts: Texts, document: InvoiceDocument) -> str:
    """What the total of a document is called."""
    return texts("totals.total_credit" if document.is_credit_note else "totals.total")


def discount_label(texts: Texts, formats: Formats, percent: Decimal | None) -> str:
    """What stands beside the discount of a document: of how many percent it is."""
    label = texts("totals.discount")
    return f"{label} {formats.percent(percent)}" if percent else label


def tax_label(texts: Texts, formats: Formats, group: TaxSubtotal, name: str) -> str:
    """What stands beside the tax of a group: its rate or why there is none, and of what."""
    taxable = formats.money(group.taxable)
    if group.tax_category == "S":
        return texts(name, rate=formats.percent(group.tax_rate), taxable=taxable)
    return f"{texts(f'categories.{group.tax_category}')}: {taxable}"
