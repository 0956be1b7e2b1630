"""Documents composed of lines have the amounts that the service computes."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from app.invoices.document import CreditedInvoice, PaymentEntry
from app.invoices.wording import correction_of, end_once, title_of
from tests.invoices.documents import make_document, make_line


def test_amounts_are_worked_out() -> None:
    payment = PaymentEntry(paid_on=date(2026, 3, 9), amount=Decimal("10.00"), method="card")
    document = make_document(
        [make_line(unit_price=Decimal(100)), make_line(unit_price=Decimal(50))],
        discount_percent=Decimal(10), payments=(payment,), amount_credited=Decimal("5.00"),
    )  # fmt: skip
    assert [line.line_net for line in document.lines] == [Decimal(100), Decimal(50)]
    assert (document.subtotal, document.discount_total) == (Decimal(150), Decimal(15))
    assert (document.net_total, document.tax_total) == (Decimal(135), Decimal("25.65"))
    assert (document.total, document.amount_due) == (Decimal("160.65"), Decimal("145.65"))
    (group,) = document.tax_breakdown
    assert (group.taxable, group.tax) == (Decimal(135), Decimal("25.65"))


def test_a_document_is_called_by_its_kind_and_number() -> None:
    assert title_of(make_document(language="it")) == "Fattura INV-2026-00007"
    assert title_of(make_document(number=None, state="Draft")) == "Invoice"


def test_a_correction_names_the_invoice_and_its_day() -> None:
    assert correction_of(make_document()) == ""
    undated = make_document(type="CreditNote", credited=CreditedInvoice(number="INV-1"))
    assert correction_of(undated) == "This credit note corrects invoice INV-1."


def test_a_sentence_ends_once() -> None:
    assert end_once("am 2. März..") == "am 2. März."
