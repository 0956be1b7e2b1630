"""Credit notes: they lower what is due first; the rest is credit of the client."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from app.errors import ForbiddenError, InvalidStateError, ValidationError
from app.http.security import Caller, acting_as
from app.invoices.service import INVOICES
from app.invoices.steps import create_credit_note, issue_invoice, mark_uncollectible, void_invoice
from tests.factories import (
    create,
    event_names,
    line,
    make_client,
    make_contact,
    make_invoice,
    make_issued_invoice,
    make_user,
    pay,
    stored,
    update,
)


def make_credit_note(invoice_id: int, price: str = "100", **values: Any) -> int:
    """A draft of a credit note for an invoice."""
    given = {
        "type": "CreditNote", "credited_invoice_id": invoice_id,
        "client_id": stored("Invoice", invoice_id)["client_id"], "line_items": [line(price)],
    }  # fmt: skip
    return create("Invoice", given | values)


def credit(invoice_id: int, price: str = "100", **values: Any) -> int:
    key = make_credit_note(invoice_id, price, **values)
    issue_invoice(key)
    return key


def state(invoice_id: int) -> tuple[str, Decimal, Decimal, Decimal, Decimal]:
    """Status, due and credited of the invoice; outstanding and credit of its client."""
    row = stored("Invoice", invoice_id)
    client = stored("Client", row["client_id"])
    return (
        row["status"], row["amount_due"], row["amount_credited"],
        client["outstanding_balance"], client["credit_balance"],
    )  # fmt: skip


def test_a_full_credit_settles_an_open_invoice(admin: Caller) -> None:
    invoice_id = make_issued_invoice()
    note = stored("Invoice", credit(invoice_id))
    assert state(invoice_id) == ("Paid", 0, 119, 0, 0)
    assert (note["status"], note["amount_due"], note["total"]) == ("Sent", 0, 119)
    assert note["number"].endswith("-00002")
    assert stored("Client", note["client_id"])["invoiced_total"] == 0
    names = event_names("Invoice", invoice_id)
    assert names[-3:] == ["invoice.credited", "invoice.paid", "invoice.updated"]


@pytest.mark.parametrize("has_gone", [True, False])
def test_a_credit_note_is_for_a_contact_of_the_client(admin: Caller, has_gone: bool) -> None:
    client_id = make_client()
    contact = make_contact(client_id=client_id)
    invoice_id = make_issued_invoice(client_id=client_id, contact_id=contact)
    if has_gone:
        update("Contact", contact, client_id=make_client())
    note = stored("Invoice", create_credit_note(invoice_id))
    assert note["contact_id"] == (None if has_gone else contact)


def test_a_partial_credit_lowers_what_is_due(admin: Caller) -> None:
    invoice_id = make_issued_invoice()
    credit(invoice_id, "10")
    assert state(invoice_id) == (
        "PartiallyPaid", Decimal("107.10"), Decimal("11.90"), Decimal("107.10"), 0,
    )  # fmt: skip
    pay(invoice_id, "107.10")
    assert state(invoice_id)[0] == "Paid"


def test_credit_for_what_was_paid_is_owed_to_the_client(admin: Caller) -> None:
    invoice_id = make_issued_invoice()
    pay(invoice_id, "100")
    credit(invoice_id)
    assert state(invoice_id) == ("Paid", 0, 119, 0, 100)


def test_a_credit_note_is_not_written_off(admin: Caller) -> None:
    key = credit(make_issued_invoice())
    with pytest.raises(InvalidStateError):
        mark_uncollectible(key)
    with pytest.raises(InvalidStateError):
        INVOICES.update(key, {"status": "Uncollectible"})
    assert stored("Invoice", key)["status"] == "Sent"


def test_no_more_than_the_invoice_is_credited(admin: Caller) -> None:
    invoice_id = make_issued_invoice()
    credit(invoice_id, "60")
    note = make_credit_note(invoice_id, "41")
    with pytest.raises(ValidationError, match=r"47\.60"):
        issue_invoice(note)
    credit(invoice_id, "40")
    assert state(invoice_id)[0] == "Paid"


@pytest.mark.parametrize(
    ("lines", "most"),
    [
        ([line("100", tax_rate=Decimal(20))], r"more than 0\.00 in tax category S at 20 %"),
        ([line("60"), line("50", tax_rate=Decimal(7))], r"more than 21\.40 in .* at 7 %"),
        ([line("1", tax_rate=Decimal(0), tax_category="Z")], r"more than 0\.00 in .* Z at 0 %"),
    ],
    ids=["a rate that the invoice lacks", "more than it had of one", "another category"],
)
def test_no_more_is_credited_at_a_rate_than_was_billed_there(
    admin: Caller, lines: list[dict[str, Any]], most: str
) -> None:
    """The VAT of a rate is given back as far as it was owed, whatever the invoice leaves in all."""
    exempt = {"tax_rate": Decimal(0), "tax_category": "E", "tax_exemption_reason": "School"}
    billed = [line("100"), line("50", tax_rate=Decimal("7.0")), line("30", **exempt)]
    invoice_id = make_issued_invoice(line_items=billed)
    voided = credit(invoice_id, line_items=billed[:1])
    void_invoice(voided, "Wrong")
    credit(invoice_id, line_items=[line("30", tax_rate=Decimal(7))])
    note = make_credit_note(invoice_id, line_items=lines)
    with pytest.raises(ValidationError, match=most):
        issue_invoice(note)
    INVOICES.update(note, {"line_items": [line("100"), line("20", tax_rate=Decimal(7))]})
    issue_invoice(note)
    assert state(invoice_id)[1] == 30


def test_a_void_credit_note_takes_its_credit_back(admin: Caller) -> None:
    invoice_id = make_issued_invoice()
    pay(invoice_id, "19")
    note = credit(invoice_id)
    assert state(invoice_id) == ("Paid", 0, 119, 0, 19)
    void_invoice(note, "Wrong")
    assert state(invoice_id) == ("PartiallyPaid", 100, 0, 100, 0)
    assert stored("Client", stored("Invoice", note)["client_id"])["invoiced_total"] == 119


def test_a_credited_invoice_is_not_voided(admin: Caller) -> None:
    invoice_id = make_issued_invoice()
    credit(invoice_id, "10")
    with pytest.raises(InvalidStateError):
        void_invoice(invoice_id, "Wrong")


def test_it_takes_currency_from_its_invoice(admin: Caller) -> None:
    client_id = make_client(currency="USD")
    invoice_id = make_issued_invoice(client_id=client_id)
    assert stored("Invoice", make_credit_note(invoice_id))["currency"] == "USD"


def test_it_fits_its_invoice(admin: Caller) -> None:
    invoice_id, draft = make_issued_invoice(), make_invoice()
    note = credit(invoice_id, "10")
    for values, field in (
        ({"client_id": make_client()}, "clientId"),
        ({"currency": "USD"}, "currency"),
        ({"credited_invoice_id": draft}, "creditedInvoiceId"),
        ({"credited_invoice_id": note}, "creditedInvoiceId"),
        ({"credited_invoice_id": 987_654}, "creditedInvoiceId"),
    ):
        with pytest.raises(ValidationError) as refused:
            make_credit_note(invoice_id, **values)
        assert [detail.field for detail in refused.value.details] == [field]


def test_only_accountants_credit(admin: Caller) -> None:
    invoice_id = make_issued_invoice()
    with acting_as(make_user("Manager")), pytest.raises(ForbiddenError) as refused:
        make_credit_note(invoice_id)
    assert refused.value.details[0].message == "invoices:credit"
    draft = make_credit_note(invoice_id, "10")
    with acting_as(make_user("Manager")), pytest.raises(ForbiddenError):
        issue_invoice(draft)
    with acting_as(make_user("Accountant")):
        credit(invoice_id, "90")


def test_a_voided_invoice_takes_no_credit(admin: Caller) -> None:
    invoice_id = make_issued_invoice()
    note = make_credit_note(invoice_id)
    void_invoice(invoice_id, "Wrong")
    with pytest.raises(InvalidStateError):
        issue_invoice(note)
