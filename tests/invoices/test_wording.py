"""Numbers and money as they are written; no decimal is hidden."""

from __future__ import annotations

from decimal import Decimal

import pytest

from app.invoices.wording import Formats
from tests.invoices.documents import make_document, make_line


@pytest.mark.parametrize(
    ("currency", "price", "total"),
    [("EUR", "100", "€119.00"), ("JPY", "100", "¥119"), ("JPY", "100.50", "¥120"),
     ("KWD", "100", "KWD\u00a0119.000"), ("CHF", "0.05", "CHF\u00a00.06")],
)  # fmt: skip
def test_money_has_the_decimals_of_its_currency_and_hides_none(
    currency: str, price: str, total: str
) -> None:
    document = make_document([make_line(unit_price=Decimal(price))], currency=currency)
    assert Formats(document).money(document.total) == total


def test_prices_show_up_to_four_decimals_and_quantities_only_what_they_have() -> None:
    formats = Formats(make_document(language="de"))
    assert formats.price(Decimal("0.0012")) == "0,0012"
    assert formats.price(Decimal("1234.5000")) == "1.234,50"
    assert formats.quantity(Decimal("1234.5000")) == "1.234,5"
    assert formats.quantity(Decimal("3.0000")) == "3"
    assert formats.percent(Decimal("5.50")) == "5,5\u00a0%"
