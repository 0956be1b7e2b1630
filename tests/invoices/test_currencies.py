"""Invoices, payments and credit notes in whole smallest units of their currency."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sqlalchemy import event

from app.crm.clients import BALANCES
from app.errors import InvalidStateError, ValidationError
from app.extensions import db
from app.http.security import Caller
from app.invoices.payments import reverse_payment
from app.invoices.reading import read_document
from app.invoices.steps import create_credit_note, issue_invoice, void_invoice
from app.models.invoice import LineItem
from app.money import is_whole, unit
from app.odata.names import camel
from app.settings import save_settings
from tests.factories import (
    create,
    line,
    make_client,
    make_invoice,
    make_issued_invoice,
    make_opportunity,
    make_project,
    pay,
    put,
    rows,
    stored,
    update,
)

CURRENCIES = ("JPY", "EUR", "KWD")
RATES = {"JPY": Decimal("0.0061"), "KWD": Decimal("3.01")}
prices = st.decimals(Decimal("0.01"), 10_000, places=4)
_FEW = settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@_FEW
@given(
    currency=st.sampled_from(CURRENCIES),
    given_lines=st.lists(
        st.tuples(prices, st.integers(1, 40), st.sampled_from((0, 5, 10, 19))),
        min_size=1, max_size=4,
    ),
    discount=st.decimals(0, 50, places=2),
    gross=st.booleans(),
)  # fmt: skip
def test_the_whole_amount_settles_and_credit_restores(
    admin: Caller,
    currency: str,
    given_lines: list[tuple[Decimal, int, int]],
    discount: Decimal,
    gross: bool,
) -> None:
    save_settings("exchangeRates", RATES)
    client = make_client(currency=currency)
    lines = [
        line(unit_price=price + 1, quantity=quantity, tax_rate=rate)
        for price, quantity, rate in given_lines
    ]
    key = make_issued_invoice(
        client_id=client, currency=currency, line_items=lines, discount_percent=discount,
        prices_include_tax=gross,
    )  # fmt: skip
    invoice = stored("Invoice", key)
    amounts = [invoice[name] for name in ("subtotal", "discount_total", "tax_total", "total")]
    assert all(is_whole(amount, currency) for amount in amounts)
    assert invoice["subtotal"] - invoice["discount_total"] + invoice["tax_total"] == amounts[-1]
    nets = [row["line_net"] for row in rows(LineItem, invoice_id=key)]
    assert sum(nets) == invoice["subtotal"]
    payment = pay(key, str(invoice["total"]))
    assert stored("Invoice", key)["status"] == "Paid"
    assert stored("Client", client)["outstanding_balance"] == 0
    reverse_payment(payment, "bounced")
    assert stored("Client", client)["outstanding_balance"] == invoice["total"]
    create_credit_note(key)
    assert stored("Invoice", key)["amount_due"] == 0
    assert stored("Client", client)["invoiced_total"] == 0


@pytest.mark.parametrize("currency", CURRENCIES)
def test_what_is_finer_than_the_currency_is_refused_by_name(admin: Caller, currency: str) -> None:
    """Every amount that a body may set, when it is given and when the currency changes."""
    save_settings("exchangeRates", RATES)
    step = unit(currency)
    fine = step / 10 if currency != "KWD" else Decimal("0.0001")
    client = make_client(currency=currency, revenue=step, credit_limit=step)
    project = make_project(client_id=client, budget_amount=step)
    bodies = [
        ("Client", "revenue", {"name": "A", "currency": currency}),
        ("Client", "credit_limit", {"name": "A", "currency": currency}),
        ("Lead", "estimated_value", {"company": "A", "currency": currency}),
        ("Opportunity", "amount", {"name": "A", "client_id": client}),
        ("Project", "budget_amount", {"name": "A", "client_id": client}),
        ("Project", "hourly_rate", {"name": "A", "currency": currency}),
        ("Task", "hourly_rate", {"title": "A", "project_id": project}),
    ]
    for entity, name, body in bodies:
        create(entity, {**body, name: step})
        with pytest.raises(ValidationError) as refused:
            create(entity, {**body, name: fine})
        assert [each.field for each in refused.value.details] == [camel(name)], entity
    key = make_issued_invoice(client_id=client, line_items=[line("1000")])
    with pytest.raises(ValidationError) as refused:
        pay(key, str(step + fine))
    assert [each.field for each in refused.value.details] == ["amount"]


def test_a_new_currency_asks_for_amounts_that_it_has(admin: Caller) -> None:
    deal = make_opportunity(amount=Decimal("10.50"))
    with pytest.raises(ValidationError) as refused:
        update("Opportunity", deal, currency="JPY")
    (problem,) = refused.value.details
    assert (problem.field, problem.message) == ("amount", "must have no decimals in JPY")
    update("Opportunity", deal, currency="JPY", amount=Decimal(1050))
    assert stored("Opportunity", deal)["amount"] == 1050


def test_a_credit_note_gives_back_at_the_rate_of_its_invoice(admin: Caller) -> None:
    save_settings("exchangeRates", {"USD": Decimal("0.92155")})
    client = make_client(currency="EUR")
    key = make_issued_invoice(client_id=client, currency="USD")
    save_settings("exchangeRates", {"USD": Decimal("0.5")})
    note = create_credit_note(key)
    assert stored("Invoice", note)["exchange_rate"] == Decimal("0.92155")
    assert stored("Invoice", note)["base_total"] == stored("Invoice", key)["base_total"]
    balances = [stored("Client", client)[name] for name in BALANCES]
    assert balances == [0, 0, 0]


@_FEW
@given(
    of_client=st.sampled_from(("EUR", *RATES)),
    currency=st.sampled_from(("EUR", *RATES)),
    rates=st.lists(st.decimals("0.001", "5", places=4), min_size=10, max_size=10),
    paid=st.integers(1, 118),
)
def test_a_document_takes_from_the_balances_what_it_added_whatever_rates_are_now(
    admin: Caller, of_client: str, currency: str, rates: list[Decimal], paid: int
) -> None:
    """What rates become between the steps moves nothing of what was billed before."""

    def move() -> None:
        save_settings("exchangeRates", {name: rates.pop() for name in RATES})

    def now() -> list[Decimal]:
        return [stored("Client", client)[name] for name in BALANCES]

    move()
    client = make_client(currency=of_client)
    key = make_issued_invoice(client_id=client, currency=currency)
    issued = now()
    move()
    payment = pay(key, str(paid))
    begun = now()
    assert begun[0] == issued[0]
    move()
    note = create_credit_note(key)
    assert now()[:2] == [0, 0]
    move()
    void_invoice(note, "no")
    assert now() == begun
    move()
    reverse_payment(payment, "bounced")
    assert now() == issued
    void_invoice(key, "no")
    assert now() == [0, 0, 0]


def test_a_client_whose_currency_changes_during_issue_is_asked_for_again(admin: Caller) -> None:
    client = make_client()
    key = make_invoice(client_id=client)

    def change(*given: Any) -> None:
        if "INTO counters" in given[2]:  # issue has read the client by then, and not locked it
            put("Client", client, currency="USD")

    event.listen(db.engine, "after_cursor_execute", change)
    try:
        with pytest.raises(InvalidStateError, match="changed meanwhile"):
            issue_invoice(key)
    finally:
        event.remove(db.engine, "after_cursor_execute", change)


def test_what_no_column_holds_is_refused_by_name(admin: Caller) -> None:
    """Of every amount that follows from others: on both databases, before anything is written."""
    huge = [line("80000000000", quantity=100, tax_rate=0)]
    save_settings("exchangeRates", {"USD": Decimal("1")})

    def refused(field: str, step: Callable[[], object]) -> None:
        with pytest.raises(ValidationError) as found:
            step()
        assert field in [problem.field for problem in found.value.details]

    client = make_client()
    key = make_issued_invoice(client_id=client, line_items=huge)
    another = make_invoice(client_id=client, line_items=huge)
    refused("invoicedTotal", lambda: issue_invoice(another))
    refused("amountPaid", lambda: pay(key, "9000000000000", allow_overpayment=True)
            and pay(key, "9000000000000", allow_overpayment=True))  # fmt: skip
    dear = make_invoice(client_id=make_client(currency="USD"), line_items=huge)
    save_settings("exchangeRates", {"USD": Decimal("1000")})
    refused("baseTotal", lambda: issue_invoice(dear))
    save_settings("exchangeRates", {"USD": Decimal("0.00000001")})
    cheap = make_invoice(client_id=make_client(currency="USD"), currency="EUR", line_items=huge)
    refused("invoicedTotal", lambda: issue_invoice(cheap))
    taxed = [line("80000000000", quantity=100, tax_rate=90)]
    refused("lineItems", lambda: make_invoice(line_items=taxed, discount_percent=90))


def test_vat_in_another_currency_needs_a_rate_where_the_law_asks_for_it(admin: Caller) -> None:
    """Article 230 of Directive 2006/112/EC: a seller of the Union states the VAT in its own."""
    save_settings("seller", {"country": "DE"})
    client = make_client(currency="USD")
    taxed, free = (
        make_invoice(client_id=client),
        make_invoice(client_id=client, line_items=[line(tax_rate=Decimal(0))]),
    )
    with pytest.raises(ValidationError) as refused:
        issue_invoice(taxed)
    (problem,) = refused.value.details
    assert problem.field == "currency" and "EUR" in problem.message
    assert stored("Invoice", taxed)["status"] == "Draft"
    issue_invoice(free)
    assert read_document(taxed).accounted_tax is None
    save_settings("exchangeRates", {"USD": Decimal("0.92155")})
    assert read_document(taxed).accounted_tax == Decimal("17.51")
    issue_invoice(taxed)
    document = read_document(taxed)
    assert (document.tax_currency, document.accounted_tax) == ("EUR", Decimal("17.51"))
    # The rate of the day of issue is kept, whatever comes after it.
    save_settings("exchangeRates", {"USD": Decimal("0.5")})
    assert read_document(taxed).accounted_tax == Decimal("17.51")
