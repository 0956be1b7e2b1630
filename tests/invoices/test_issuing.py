"""Issue: numbers, dates, snapshots, and the freeze."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from flask import Flask
from sqlalchemy import event

from app.blobs import blobs
from app.container.invoices import PARTY_SNAPSHOT
from app.db.engines import transaction
from app.errors import ForbiddenError, InvalidStateError, ValidationError
from app.extensions import db
from app.http.security import Caller, acting_as, system_caller
from app.invoices.chain import key_of
from app.invoices.files import draw_pdf, frozen_file
from app.invoices.letters import Letter
from app.invoices.reading import read_document
from app.invoices.sending import send_invoice
from app.invoices.steps import issue_invoice, mark_uncollectible, void_invoice
from app.models.invoice import Invoice, LineItem
from app.settings import save_settings
from tests.business import bind_services
from tests.factories import (
    day,
    event_names,
    line,
    make_client,
    make_contact,
    make_invoice,
    make_issued_invoice,
    make_user,
    pay,
    rows,
    stored,
    update,
)


def test_others_wait_for_the_number_during_sixteen_statements_at_most(admin: Caller) -> None:
    key = make_invoice()
    statements: list[str] = []
    event.listen(db.engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    send_invoice(key, Letter(to=("a@example.com",)))
    first = next(index for index, text in enumerate(statements) if "counters" in text)
    assert len(statements[first:]) <= 16, statements[first:]


@time_machine.travel("2026-03-05T23:30:00Z", tick=False)
def test_issue_gives_number_dates_and_status(admin: Caller) -> None:
    client_id = make_client(payment_terms_days=14, buyer_reference="4711")
    key = make_invoice(client_id=client_id)
    issue_invoice(key)
    row = stored("Invoice", key)
    assert (row["number"], row["status"]) == ("INV-2026-00001", "Sent")
    assert (row["issue_date"], row["due_date"]) == (day("2026-03-05"), day("2026-03-19"))
    assert row["sent_at"].isoformat() == "2026-03-05T23:30:00+00:00"
    assert (row["amount_due"], row["buyer_reference"]) == (Decimal("119.00"), "4711")
    assert event_names("Invoice", key) == [
        "invoice.created", "invoice.issued", "invoice.sent", "invoice.updated",
    ]  # fmt: skip
    client = stored("Client", client_id)
    assert (client["invoiced_total"], client["outstanding_balance"]) == (119, 119)
    assert client["last_activity_at"] == row["sent_at"]


def test_numbers_run_by_series_and_year_of_issue(admin: Caller) -> None:
    keys = [
        make_issued_invoice(**values)
        for values in (
            {"issue_date": "2025-12-31"}, {"issue_date": "2026-01-02"},
            {"issue_date": "2026-01-31"}, {"issue_date": "2026-01-05", "series": "EXP"},
        )
    ]  # fmt: skip
    assert [stored("Invoice", key)["number"] for key in keys] == [
        "INV-2025-00001", "INV-2026-00001", "INV-2026-00002", "EXP-2026-00001",
    ]  # fmt: skip


def test_the_parties_are_kept_as_they_were(admin: Caller) -> None:
    save_settings("seller", {"name": "We", "taxId": "DE136695976", "city": "Ulm"})
    save_settings("bank", {"iban": "DE02120300000000202051"})
    client_id = make_client(name="They", legal_name="They GmbH", billing_country="AT")
    contact = make_contact(client_id=client_id, first_name="Eva", last_name="Maier")
    key = make_issued_invoice(client_id=client_id, contact_id=contact)
    update("Client", client_id, name="Others", billing_country="CH")
    row = stored("Invoice", key)
    assert row["buyer"]["legalName"] == "They GmbH"
    assert (row["buyer"]["address"]["country"], row["buyer"]["contactName"]) == ("AT", "Eva Maier")
    assert (row["seller"]["name"], row["seller"]["address"]["city"]) == ("We", "Ulm")
    assert row["seller"]["iban"] == "DE02120300000000202051"
    assert set(row["seller"]) | set(row["buyer"]) == set(PARTY_SNAPSHOT.properties)


def test_marking_as_sent_issues_too_with_the_last_changes(admin: Caller) -> None:
    key = make_invoice()
    update("Invoice", key, status="Sent", line_items=[line("200")], due_date="2999-01-01")
    row = stored("Invoice", key)
    assert (row["total"], row["amount_due"], row["status"]) == (238, 238, "Sent")
    assert [entry["unit_price"] for entry in rows(LineItem, invoice_id=key)] == [200]
    assert "invoice.sent" in event_names("Invoice", key)


def test_an_invoice_over_nothing_is_paid_at_issue(admin: Caller) -> None:
    key = make_issued_invoice(line_items=[line("0")])
    row = stored("Invoice", key)
    assert row["status"] == "Paid"
    assert row["paid_at"] == row["sent_at"]
    assert "invoice.paid" in event_names("Invoice", key)


@pytest.mark.parametrize(
    ("values", "client", "error", "field"),
    [
        ({"line_items": []}, {}, ValidationError, "lineItems"),
        ({"due_date": "2020-01-01"}, {}, ValidationError, "dueDate"),
        ({}, {"status": "Blocked"}, InvalidStateError, "clientId"),
        ({"currency": "JPY"}, {}, InvalidStateError, "currency"),
    ],
)
def test_what_cannot_be_issued(
    admin: Caller, values: dict[str, Any], client: dict[str, Any], error: type, field: str
) -> None:
    key = make_invoice(client_id=make_client(**client), **values)
    for attempt in (lambda: issue_invoice(key), lambda: update("Invoice", key, status="Sent")):
        with pytest.raises(error) as refused:
            attempt()
        assert [detail.field for detail in refused.value.details] == [field]
    assert stored("Invoice", key)["number"] is None
    assert stored("Invoice", make_issued_invoice())["number"].endswith("-00001")


@pytest.mark.parametrize("role", ["Sales", "Support", "Viewer"])
def test_issue_needs_its_right(admin: Caller, role: str) -> None:
    key = make_invoice()
    with acting_as(make_user(role)), pytest.raises(ForbiddenError) as refused:
        issue_invoice(key)
    assert refused.value.details[0].message == "invoices:send"


@pytest.mark.parametrize(
    "values",
    [{"notes": "x"}, {"due_date": "2999-01-01"}, {"client_id": None}, {"discount_percent": 5},
     {"line_items": []}, {"currency": "USD"}, {"type": "CreditNote"}, {"reference": "x"}],
    ids=lambda values: next(iter(values)),
)  # fmt: skip
def test_what_is_printed_is_frozen(admin: Caller, values: dict[str, Any]) -> None:
    key = make_issued_invoice()
    if values == {"client_id": None}:
        values = {"client_id": make_client()}
    before = stored("Invoice", key)
    with pytest.raises(InvalidStateError) as refused:
        update("Invoice", key, **values)
    name = next(iter(values))
    assert [detail.field for detail in refused.value.details] == [
        {"due_date": "dueDate", "client_id": "clientId", "discount_percent": "discountPercent",
         "line_items": "lineItems"}.get(name, name)
    ]  # fmt: skip
    assert stored("Invoice", key) == before


def test_what_was_read_can_be_sent_back_after_issue(admin: Caller) -> None:
    key = make_issued_invoice()
    row = stored("Invoice", key)
    lines = rows(LineItem, invoice_id=key)
    update("Invoice", key, **{k: v for k, v in row.items() if k != "id"}, line_items=lines)
    assert stored("Invoice", key)["version"] == row["version"]
    update("Invoice", key, internal_notes="Called", tags=["vip"])
    assert stored("Invoice", key)["internal_notes"] == "Called"


def test_void_takes_the_invoice_back_and_keeps_its_number(admin: Caller) -> None:
    key = make_issued_invoice()
    number = stored("Invoice", key)["number"]
    void_invoice(key, "Wrong client")
    row = stored("Invoice", key)
    assert (row["status"], row["amount_due"], row["number"]) == ("Void", 0, number)
    assert (row["void_reason"], row["total"]) == ("Wrong client", Decimal("119.00"))
    client = stored("Client", row["client_id"])
    assert (client["invoiced_total"], client["outstanding_balance"]) == (0, 0)
    assert event_names("Invoice", key)[-2:] == ["invoice.voided", "invoice.updated"]


@pytest.mark.parametrize("reason", [None, "", "x" * 501, 5])
def test_void_needs_a_reason(admin: Caller, reason: Any) -> None:
    with pytest.raises(ValidationError) as refused:
        void_invoice(make_issued_invoice(), reason)
    assert refused.value.details[0].field == "reason"


def test_an_invoice_with_a_payment_is_not_voided(admin: Caller) -> None:
    key = make_issued_invoice()
    pay(key, "10")
    with pytest.raises(InvalidStateError):
        void_invoice(key, "Wrong")
    draft = make_invoice()
    with pytest.raises(InvalidStateError):
        void_invoice(draft, "Wrong")


@pytest.mark.parametrize("role", ["Manager", "Sales"])
def test_void_and_writing_off_are_for_accountants(admin: Caller, role: str) -> None:
    key = make_issued_invoice()
    with acting_as(make_user(role)):
        with pytest.raises(ForbiddenError):
            void_invoice(key, "Wrong")
        with pytest.raises(ForbiddenError):
            mark_uncollectible(key)
    with acting_as(make_user("Accountant")):
        mark_uncollectible(key)


def test_writing_off_leaves_the_receivables_and_money_may_still_come(admin: Caller) -> None:
    key = make_issued_invoice()
    mark_uncollectible(key)
    client_id = stored("Invoice", key)["client_id"]
    assert stored("Client", client_id)["outstanding_balance"] == 0
    assert "invoice.uncollectible" in event_names("Invoice", key)
    pay(key, "19")
    assert stored("Invoice", key)["status"] == "PartiallyPaid"
    assert stored("Client", client_id)["outstanding_balance"] == 100


@pytest.mark.requirement("RACE-01", "RACE-02")
def test_parallel_issues_give_consecutive_numbers_and_failures_leave_no_gap(app: Flask) -> None:
    bind_services(app)
    begin = threading.Barrier(10)
    with app.app_context(), acting_as(system_caller()), transaction():
        keys = [make_invoice(issue_date="2026-01-02") for _ in range(50)]

    def issue(worker: int) -> None:
        begin.wait()
        for key in keys[worker::10]:
            for fails in (True, False) if key % 3 == 0 else (False,):
                try:
                    with app.app_context(), acting_as(system_caller()), transaction():
                        issue_invoice(key)
                        if fails:
                            raise RuntimeError
                except RuntimeError:
                    pass

    with ThreadPoolExecutor(10) as pool:
        list(pool.map(issue, range(10)))
    with app.app_context(), transaction():
        numbers = sorted(row["number"] for row in rows(Invoice))
    assert numbers == [f"INV-2026-{place:05d}" for place in range(1, 51)]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {
            "line_items": [
                line("0.01", quantity=Decimal("0.3333"), tax_rate=Decimal("7.5")),
                line("12.3456"),
            ]
        },
        {"discount_percent": Decimal("12.5"), "prices_include_tax": True},
        {"currency": "JPY", "line_items": [line("1500", discount_percent=Decimal("33.33"))]},
        {"currency": "KWD", "line_items": [line("1.2345")]},
        {"line_items": [line("0")]},
    ],
    ids=["plain", "fractions", "discount", "no digits", "three digits", "nothing to pay"],
)
@pytest.mark.parametrize("with_lines", [False, True], ids=["as it lies there", "with new lines"])
def test_the_frozen_file_is_the_one_that_the_row_would_give(
    admin: Caller, given: dict[str, Any], with_lines: bool
) -> None:
    save_settings("exchangeRates", {"JPY": Decimal("0.0061"), "KWD": Decimal("3.01")})
    if with_lines:
        key = make_invoice(**{**given, "line_items": [line("3")]})
        lines = given.get("line_items", [line("99.99")])
        update("Invoice", key, status="Sent", line_items=lines)
    else:
        key = make_issued_invoice(**given)
    frozen = blobs.current.read(key_of(frozen_file(key)))
    assert frozen == draw_pdf(read_document(key), "Auto")
