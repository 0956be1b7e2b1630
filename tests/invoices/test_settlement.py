"""How payments and credits move an invoice and the balances of its client."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, strategies as st

from app.invoices.settlement import Balances, balances, settle, settled_values
from app.models.invoice import Invoice

cents = st.integers(0, 10**7).map(lambda value: Decimal(value).scaleb(-2))
NOW = datetime(2026, 5, 1, tzinfo=UTC)


@given(total=cents, paid=cents, credited=cents)
def test_what_is_due_and_what_is_too_much_add_up(
    total: Decimal, paid: Decimal, credited: Decimal
) -> None:
    standing = settle(total, paid, credited)
    assert standing.due - standing.surplus == total - paid - credited  # BR-CO-16
    assert min(standing.due, standing.surplus) == 0
    assert (standing.status == "Paid") == (standing.due == 0)


@pytest.mark.parametrize(
    ("paid", "credited", "status"),
    [("0", "0", "Sent"), ("1", "0", "PartiallyPaid"), ("0", "1", "PartiallyPaid"),
     ("100", "0", "Paid"), ("60", "40", "Paid"), ("0", "100", "Paid"), ("150", "0", "Paid"),
     ("40", "40", "PartiallyPaid")],
)  # fmt: skip
def test_status(paid: str, credited: str, status: str) -> None:
    assert settle(Decimal(100), Decimal(paid), Decimal(credited)).status == status


def invoice(**values: Any) -> Invoice:
    usual = {
        "type": "Invoice", "status": "Sent", "total": Decimal(100), "amount_due": Decimal(100),
        "amount_paid": Decimal(0), "amount_credited": Decimal(0),
    }  # fmt: skip
    return Invoice(**usual | values)


def test_an_invoice_written_off_stays_so_until_money_comes() -> None:
    written_off = invoice(status="Uncollectible", amount_paid=Decimal(10))
    less = settled_values(written_off, paid=Decimal(0), credited=Decimal(0), now=NOW)
    more = settled_values(written_off, paid=Decimal(20), credited=Decimal(0), now=NOW)
    assert (less["status"], more["status"]) == ("Uncollectible", "PartiallyPaid")


@pytest.mark.parametrize(
    ("paid", "credited", "status"),
    [("10", "5", "Uncollectible"), ("5", "10", "Uncollectible"), ("10", "10", "PartiallyPaid"),
     ("16", "0", "PartiallyPaid"), ("0", "100", "Paid")],
)  # fmt: skip
def test_payments_and_credits_count_together_for_what_was_written_off(
    paid: str, credited: str, status: str
) -> None:
    written_off = invoice(
        status="Uncollectible", amount_paid=Decimal(10), amount_credited=Decimal(5)
    )
    values = settled_values(written_off, paid=Decimal(paid), credited=Decimal(credited), now=NOW)
    assert values == {
        "amount_paid": Decimal(paid), "amount_credited": Decimal(credited),
        "amount_due": 100 - Decimal(paid) - Decimal(credited), "status": status,
        "paid_at": NOW if status == "Paid" else None,
    }  # fmt: skip


def test_the_day_of_payment_is_kept_and_cleared() -> None:
    paid = settled_values(invoice(), paid=Decimal(100), credited=Decimal(0), now=NOW)
    assert paid["paid_at"] == NOW
    again = invoice(**paid)
    more = settled_values(again, paid=Decimal(120), credited=Decimal(0), now=datetime.now(UTC))
    back = settled_values(again, paid=Decimal(0), credited=Decimal(0), now=NOW)
    assert (more["paid_at"], back["paid_at"]) == (NOW, None)


@pytest.mark.parametrize(
    ("given_invoice", "expected"),
    [
        (None, Balances()),
        (invoice(status="Draft"), Balances()),
        (invoice(status="Void"), Balances()),
        (invoice(), Balances(Decimal(100), Decimal(100))),
        (invoice(status="Uncollectible"), Balances(Decimal(100))),
        (invoice(status="Paid", amount_due=Decimal(0), amount_paid=Decimal(130)),
         Balances(Decimal(100), Decimal(0), Decimal(30))),
        (invoice(type="CreditNote", amount_due=Decimal(0)), Balances(Decimal(-100))),
    ],
)  # fmt: skip
def test_the_part_of_an_invoice_in_the_balances(
    given_invoice: Invoice | None, expected: Balances
) -> None:
    assert balances(given_invoice, Decimal(1), "EUR") == expected


def test_balances_are_in_units_of_the_client() -> None:
    overpaid = invoice(amount_paid=Decimal("130.50"), amount_due=Decimal(20))
    assert balances(overpaid, Decimal("1.25"), "EUR") == Balances(
        invoiced_total=Decimal("125.00"), outstanding_balance=Decimal("25.00"),
        credit_balance=Decimal("38.13"),
    )  # fmt: skip
    note = invoice(type="CreditNote", amount_due=Decimal(0))
    assert balances(note, Decimal("1.25"), "EUR") == Balances(Decimal("-125.00"))


@given(steps=st.lists(cents, max_size=10), rate=st.integers(1, 10**6))
def test_balances_in_another_currency_come_back_to_nothing(steps: list[Decimal], rate: int) -> None:
    """Parts are rounded, differences are not: there is no drift over many payments."""
    factor = Decimal(rate).scaleb(-3)
    balance, before = Decimal(0), None
    for due in [*steps, Decimal(0)]:
        after = invoice(amount_due=due)
        old, new = balances(before, factor, "EUR"), balances(after, factor, "EUR")
        balance += new.outstanding_balance - old.outstanding_balance
        before = after
    assert balance == 0
