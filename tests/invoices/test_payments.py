"""Payments: what they do to the invoice and its client, also when two come at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from flask import Flask

from app.db.engines import transaction
from app.errors import (
    Detail,
    ForbiddenError,
    InvalidStateError,
    NotFoundError,
    OverpaymentError,
    ValidationError,
)
from app.http.security import Caller, acting_as, system_caller
from app.invoices.payments import PAYMENTS, register_payment, reverse_payment
from app.invoices.steps import mark_uncollectible, void_invoice
from app.models.event import AuditRecord
from app.models.invoice import Payment
from app.settings import save_settings
from tests.business import bind_services
from tests.factories import (
    event_names,
    line,
    make_client,
    make_invoice,
    make_issued_invoice,
    make_user,
    pay,
    rows,
    stored,
    today,
)


def payment_of(key: int) -> dict[str, Any]:
    return dict(rows(Payment, id=key)[0])


def client_of(invoice_id: int) -> dict[str, Any]:
    return stored("Client", stored("Invoice", invoice_id)["client_id"])


def test_a_full_payment_makes_the_invoice_paid(admin: Caller) -> None:
    key = make_issued_invoice()
    with time_machine.travel("2026-05-05T12:00:00Z", tick=False):
        payment = payment_of(pay(key, "119"))
    row = stored("Invoice", key)
    assert (row["status"], row["amount_paid"], row["amount_due"]) == ("Paid", 119, 0)
    assert row["paid_at"].isoformat() == "2026-05-05T12:00:00+00:00"
    assert (payment["number"], payment["status"], payment["currency"]) == (
        "PAY-000001", "Completed", "EUR",
    )  # fmt: skip
    assert (payment["client_id"], payment["created_by_id"]) == (row["client_id"], admin.user_id)
    assert event_names("Invoice", key)[-2:] == ["invoice.paid", "invoice.updated"]
    assert event_names("Payment", payment["id"]) == ["payment.created"]
    (audit,) = rows(AuditRecord, entity="Payment")
    assert audit["after"]["date"] == "2026-05-05"
    assert client_of(key)["outstanding_balance"] == 0


def test_parts_add_up(admin: Caller) -> None:
    key = make_issued_invoice()
    for amount, left in (("19", 100), ("99.99", Decimal("0.01"))):
        pay(key, amount)
        row = stored("Invoice", key)
        assert (row["status"], row["amount_due"]) == ("PartiallyPaid", left)
        assert client_of(key)["outstanding_balance"] == left
        assert event_names("Invoice", key)[-2] == "invoice.partially_paid"
    pay(key, "0.01")
    assert stored("Invoice", key)["status"] == "Paid"
    assert event_names("Invoice", key).count("invoice.paid") == 1


def test_a_payment_issues_a_draft_first(admin: Caller) -> None:
    key = make_invoice()
    pay(key, "119")
    row = stored("Invoice", key)
    assert (row["status"], row["number"]) == ("Paid", f"INV-{today().year}-00001")
    assert event_names("Invoice", key) == [
        "invoice.created", "invoice.issued", "invoice.updated", "invoice.paid", "invoice.updated",
    ]  # fmt: skip


def test_too_much_is_refused(admin: Caller) -> None:
    key = make_issued_invoice()
    before = stored("Invoice", key)
    with pytest.raises(OverpaymentError, match=r"Only 119\.00 EUR are left"):
        pay(key, "119.01")
    assert (stored("Invoice", key), rows(Payment)) == (before, [])
    pay(key, "119")
    with pytest.raises(OverpaymentError):
        pay(key, "0.01")


def test_too_much_becomes_credit_on_request(admin: Caller) -> None:
    key = make_issued_invoice()
    pay(key, "150", allow_overpayment=True)
    row = stored("Invoice", key)
    assert (row["status"], row["amount_paid"], row["amount_due"]) == ("Paid", 150, 0)
    assert client_of(key)["credit_balance"] == 31
    pay(key, "9", allow_overpayment=True)
    assert client_of(key)["credit_balance"] == 40


def test_credit_pays_other_invoices(admin: Caller) -> None:
    client_id = make_client()
    pay(make_issued_invoice(client_id=client_id), "219", allow_overpayment=True)
    other = make_issued_invoice(client_id=client_id)
    with pytest.raises(ValidationError) as refused:
        pay(other, "100.01", method="credit")
    most = "must be at most 100.00 EUR, the credit that the client has"
    assert [*refused.value.details] == [Detail("amount", most)]
    used = pay(other, "100", method="Credit")
    client = stored("Client", client_id)
    assert (client["credit_balance"], client["outstanding_balance"]) == (0, 19)
    reverse_payment(used)
    client = stored("Client", client_id)
    assert (client["credit_balance"], client["outstanding_balance"]) == (100, 119)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"amount": 0}, "amount"),
        ({"amount": Decimal("-5")}, "amount"),
        ({"amount": Decimal("1.001")}, "amount"),
        ({"amount": None}, "amount"),
        ({"amount": "5"}, "amount"),
        ({"amount": 5.0}, "amount"),
        ({"amount": Decimal(10) ** 13}, "amount"),
        ({"method": "barter"}, "method"),
        ({"method": None}, "method"),
        ({"method": 5}, "method"),
        ({"paid_on": None}, "date"),
        ({"paid_on": "2026-02-30"}, "date"),
        ({"paid_on": "9999-12-31"}, "date"),
        ({"reference": "x" * 101}, "reference"),
        ({"notes": "x" * 501}, "notes"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_payment_refuses(admin: Caller, values: dict[str, Any], field: str) -> None:
    key = make_issued_invoice()
    with pytest.raises(ValidationError) as refused:
        payment = {"amount": 5, "paid_on": "2026-01-31", "method": "transfer"}
        register_payment(key, **payment | values)
    assert [detail.field for detail in refused.value.details] == [field]


def test_all_that_is_missing_is_named(admin: Caller) -> None:
    with pytest.raises(ValidationError) as refused:
        register_payment(make_issued_invoice())
    assert {detail.field for detail in refused.value.details} == {"amount", "date", "method"}


def test_the_day_may_be_tomorrow_and_no_later(admin: Caller) -> None:
    key = make_issued_invoice()
    pay(key, "1", paid_on=today() + timedelta(days=1))
    with pytest.raises(ValidationError):
        pay(key, "1", paid_on=today() + timedelta(days=2))


@pytest.mark.parametrize(
    ("method", "kept"), [("TRANSFER", "transfer"), ("directdebit", "directDebit")]
)
def test_the_method_is_taken_in_any_case(admin: Caller, method: str, kept: str) -> None:
    assert payment_of(pay(make_issued_invoice(), "1", method=method))["method"] == kept


def test_what_cannot_be_paid(admin: Caller) -> None:
    void = make_issued_invoice()
    void_invoice(void, "Wrong")
    paid = make_issued_invoice()
    note = make_issued_invoice(
        type="CreditNote", credited_invoice_id=paid, client_id=stored("Invoice", paid)["client_id"]
    )
    for key in (void, note):
        with pytest.raises(InvalidStateError):
            pay(key, "1")
    for key in (0, 987_654, 2**63 - 1):
        with pytest.raises(NotFoundError):
            pay(key, "1")


@pytest.mark.parametrize("role", ["Sales", "Support", "Viewer"])
def test_payments_need_their_rights(admin: Caller, role: str) -> None:
    key = make_issued_invoice()
    payment = pay(key, "1")
    with acting_as(make_user(role)):
        with pytest.raises(ForbiddenError):
            pay(key, "1")
        with pytest.raises(ForbiddenError):
            reverse_payment(payment)
    with acting_as(make_user("Manager")):
        pay(key, "1")
        with pytest.raises(ForbiddenError):
            reverse_payment(payment)


def test_a_reversal_opens_the_invoice_again(admin: Caller) -> None:
    key = make_issued_invoice()
    first, second = pay(key, "19"), pay(key, "100")
    reverse_payment(second, "Bounced")
    row, payment = stored("Invoice", key), payment_of(second)
    assert (row["status"], row["amount_due"], row["paid_at"]) == ("PartiallyPaid", 100, None)
    assert (payment["status"], payment["reversal_reason"]) == ("Reversed", "Bounced")
    assert payment["reversed_at"] is not None
    reverse_payment(first)
    assert stored("Invoice", key)["status"] == "Sent"
    assert client_of(key)["outstanding_balance"] == 119
    assert event_names("Payment", first) == ["payment.created", "payment.reversed"]
    with pytest.raises(InvalidStateError):
        reverse_payment(first)
    with pytest.raises(NotFoundError):
        reverse_payment(987_654)


def test_a_reversed_overpayment_takes_its_credit_back(admin: Caller) -> None:
    key = make_issued_invoice()
    payment = pay(key, "150", allow_overpayment=True)
    reverse_payment(payment)
    client = client_of(key)
    assert (client["credit_balance"], client["outstanding_balance"]) == (0, 119)


def test_a_written_off_invoice_stays_so_when_its_payment_bounces(admin: Caller) -> None:
    key = make_issued_invoice()
    payment = pay(key, "19")
    mark_uncollectible(key)
    reverse_payment(payment)
    assert stored("Invoice", key)["status"] == "Uncollectible"
    assert client_of(key)["outstanding_balance"] == 0


def test_payments_are_neither_changed_nor_deleted(admin: Caller) -> None:
    key = make_issued_invoice()
    payment = PAYMENTS.create(
        {"invoice_id": key, "amount": 1, "paid_on": today(), "method": "cash"}
    )
    with pytest.raises(InvalidStateError):
        PAYMENTS.update(payment, {"amount": 2})
    with pytest.raises(InvalidStateError):
        PAYMENTS.delete(payment)
    with pytest.raises(ValidationError):
        PAYMENTS.create({"amount": 1})


def test_balances_of_a_client_in_another_currency(admin: Caller) -> None:
    save_settings("exchangeRates", {"USD": Decimal("0.9"), "CHF": Decimal("1.05")})
    client_id = make_client(currency="USD")
    key = make_issued_invoice(client_id=client_id, currency="CHF", line_items=[line("33.33")])
    assert stored("Client", client_id)["outstanding_balance"] == Decimal("46.27")
    for amount in ("13.22", "13.22", "13.22"):
        pay(key, amount)
    assert stored("Client", client_id)["outstanding_balance"] == 0
    assert stored("Client", client_id)["invoiced_total"] == Decimal("46.27")


@pytest.mark.requirement("RACE-04")
def test_of_two_full_payments_at_once_one_is_taken(app: Flask) -> None:
    bind_services(app)
    begin = threading.Barrier(2)
    with app.app_context(), acting_as(system_caller()), transaction():
        keys = [make_issued_invoice() for _ in range(5)]

    def pay_all(_: int) -> list[str]:
        answers = []
        for key in keys:
            begin.wait()
            try:
                with app.app_context(), acting_as(system_caller()), transaction():
                    pay(key, "119")
                answers.append("taken")
            except OverpaymentError:
                answers.append("refused")
        return answers

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(pay_all, range(2)))
    assert all({*pair} == {"taken", "refused"} for pair in zip(*answers, strict=True))
    with app.app_context(), transaction():
        assert [stored("Invoice", key)["amount_paid"] for key in keys] == [119] * 5
        assert all(client_of(key)["outstanding_balance"] == 0 for key in keys)
        assert len(rows(Payment)) == 5


@pytest.mark.requirement("RACE-03")
def test_parallel_parts_lose_nothing(app: Flask) -> None:
    bind_services(app)
    with app.app_context(), acting_as(system_caller()), transaction():
        client_id = make_client()
        keys = [make_issued_invoice(client_id=client_id) for _ in range(2)]

    def pay_parts(worker: int) -> None:
        for _ in range(8):
            with app.app_context(), acting_as(system_caller()), transaction():
                pay(keys[worker % 2], "1.01")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(pay_parts, range(4)))
    with app.app_context(), transaction():
        paid = Decimal("16.16")
        assert [stored("Invoice", key)["amount_paid"] for key in keys] == [paid, paid]
        assert stored("Client", client_id)["outstanding_balance"] == 238 - 2 * paid
        numbers = sorted(row["number"] for row in rows(Payment))
        assert numbers == [f"PAY-{place:06d}" for place in range(1, 33)]
