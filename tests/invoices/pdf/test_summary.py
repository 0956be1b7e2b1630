"""The block of totals: what was taken off has its own line, and the lines add up."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest

from app.invoices.document import PaymentEntry
from app.invoices.pdf.render import lay_out
from tests.invoices.documents import make_document, make_line
from tests.invoices.pdf.reading import texts_on


def totals(**values: Any) -> dict[str, str]:
    """Label -> amount of the totals of one line at 19 %."""
    price = values.pop("unit_price", Decimal(100))
    texts = texts_on(lay_out(make_document([make_line(unit_price=price)], **values))[-1])
    block = texts[texts.index("Amount") :]
    return dict(pairwise(block))


def test_a_discount_of_a_cent_is_called_a_discount() -> None:
    """Ten cents less a cent: the net amount stays eight cents, the customer saw one taken off."""
    shown = totals(
        unit_price=Decimal("0.10"), discount_percent=Decimal(10), prices_include_tax=True
    )
    assert shown["Subtotal"] == "€0.10"
    assert shown["Discount 10%"] == "-€0.01"
    assert shown["Total"] == "€0.09"


def test_what_was_credited_is_taken_off_what_is_due() -> None:
    shown = totals(amount_credited=Decimal(19), amount_due=Decimal(100))
    assert shown["Total"] == "€119.00"
    assert shown["Credited"] == "-€19.00"
    assert shown["Amount due"] == "€100.00"


@pytest.mark.parametrize("credited", [0, 19, 119])
@pytest.mark.parametrize("paid", [0, 19, 100, 119, 200])
def test_what_is_below_the_total_adds_up_to_what_is_due(paid: int, credited: int) -> None:
    """What was paid too much is credit of the client, and stands there too."""
    day = date(2026, 3, 1)
    payments = (PaymentEntry(paid_on=day, amount=Decimal(paid), method="card"),) if paid else ()
    shown = totals(
        payments=payments, amount_credited=Decimal(credited),
        amount_due=Decimal(max(119 - paid - credited, 0)),
    )  # fmt: skip
    amounts = {
        label: Decimal(text.replace("€", ""))
        for label, text in shown.items()
        if text.lstrip("-").startswith("€")
    }
    due = amounts.pop("Amount due", Decimal(119))
    below = [*amounts.values()][[*amounts].index("Total") :]
    assert sum(below) == due
    assert ("Credited to your account" in shown) == (paid + credited > 119)


def test_vat_is_shown_in_the_accounting_currency_with_its_rate() -> None:
    shown = totals(currency="USD", accounting_currency="EUR", exchange_rate=Decimal("0.92155000"))
    assert shown["Total"] == "$119.00"
    assert shown["VAT in EUR (1 USD = 0.92155 EUR)"] == "€17.51"


def test_yen_are_whole() -> None:
    assert totals(currency="JPY", unit_price=Decimal("50000.55"))["Total"] == "¥59,501"
