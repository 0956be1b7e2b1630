"""Many operations at random, and after each the sums that an accountant would check."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import pytest

from app.crm.clients import BALANCES
from app.errors import ApiError
from app.extensions import db
from app.http.security import Caller
from app.invoices.payments import reverse_payment
from app.invoices.steps import create_credit_note, issue_invoice, mark_uncollectible, void_invoice
from app.models.client import Client
from app.models.invoice import Invoice, Payment
from app.money import rounded, unit
from app.settings import save_settings
from tests.factories import line, make_client, make_invoice, pay, rows

Row = Mapping[str, Any]
STEPS = 60
CURRENCIES = ("EUR", "USD", "JPY", "KWD")
WITHOUT_EFFECT = ("Draft", "Void")


class Walk:
    """An accountant who does anything at any time."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.clients = [make_client(currency=currency) for currency in ("EUR", "USD")]
        self.steps: tuple[Callable[[], object], ...] = (
            self.draft, self.issue, self.pay, self.pay, self.pay, self.credit, self.credit,
            self.reverse, self.void, self.write_off, self.move_rates,
        )  # fmt: skip

    def step(self) -> None:
        """One operation; a refusal undoes it as the end of a request does."""
        try:
            with db.session.begin_nested():
                self.chance.choice(self.steps)()
        except ApiError:
            db.session.expire_all()

    def some(self, *statuses: str) -> Row:
        """A document in one of these states; a new draft where there is none."""
        found = [each for each in rows(Invoice) if each["status"] in statuses]
        return self.chance.choice(found or [rows(Invoice, id=self.draft())[0]])

    def amount(self, most: Decimal, currency: str) -> Decimal:
        part = self.chance.choice([Decimal(1), Decimal("0.4"), Decimal("1.5")])
        return max(rounded(most * part, currency), unit(currency))

    def draft(self) -> int:
        rates = [self.chance.choice((0, 7, 19)) for _ in range(self.chance.randint(1, 3))]
        price = Decimal(self.chance.randint(1, 99_999)).scaleb(-2)
        return make_invoice(
            client_id=self.chance.choice(self.clients), currency=self.chance.choice(CURRENCIES),
            prices_include_tax=self.chance.random() < 0.5,
            discount_percent=Decimal(self.chance.choice((0, 0, "12.5"))),
            line_items=[line(str(price), tax_rate=Decimal(rate)) for rate in rates],
        )  # fmt: skip

    def issue(self) -> None:
        issue_invoice(self.some("Draft")["id"])

    def pay(self) -> None:
        invoice = self.some("Draft", "Sent", "PartiallyPaid", "Paid", "Uncollectible")
        pay(
            invoice["id"], str(self.amount(invoice["amount_due"], invoice["currency"])),
            method=self.chance.choice(("transfer", "credit")),
            allow_overpayment=self.chance.random() < 0.5,
        )  # fmt: skip

    def credit(self) -> None:
        invoice = self.some("Sent", "PartiallyPaid", "Paid", "Uncollectible")
        rate = Decimal(self.chance.choice((0, 7, 19)))
        price = self.amount(invoice["total"] / 3, "EUR")
        lines = [{"description": "Less", "unitPrice": price, "taxRate": rate}]
        create_credit_note(invoice["id"], self.chance.choice((None, lines)))

    def reverse(self) -> None:
        payments = rows(Payment, status="Completed")
        if payments:
            reverse_payment(self.chance.choice(payments)["id"])

    def void(self) -> None:
        void_invoice(self.some("Sent")["id"], "Wrong")

    def write_off(self) -> None:
        mark_uncollectible(self.some("Sent", "PartiallyPaid")["id"])

    def move_rates(self) -> None:
        rates = {"USD": "0.91", "JPY": "0.0061", "KWD": "3.01"}
        part = Decimal(self.chance.randint(90, 110)) / 100
        save_settings("exchangeRates", {code: Decimal(rate) * part for code, rate in rates.items()})


def gross_by_group(*documents: Row) -> dict[tuple[str, Decimal], Decimal]:
    sums: dict[tuple[str, Decimal], Decimal] = defaultdict(Decimal)
    for group in (group for document in documents for group in document["tax_breakdown"]):
        amounts = Decimal(str(group["taxable"])) + Decimal(str(group["tax"]))
        sums[group["taxCategory"], Decimal(str(group["taxRate"]))] += amounts
    return sums


def assert_books_are_right() -> None:
    """Every sum from the rows that it is of, each document at the rates frozen with it."""
    invoices = rows(Invoice)
    expected = {client["id"]: dict.fromkeys(BALANCES, Decimal(0)) for client in rows(Client)}
    currencies = {client["id"]: client["currency"] for client in rows(Client)}
    for invoice in (each for each in invoices if each["status"] not in WITHOUT_EFFECT):
        currency = currencies[invoice["client_id"]]
        own = expected[invoice["client_id"]]
        is_own = currency == invoice["currency"]
        factor = 1 if is_own else invoice["exchange_rate"] / invoice["client_rate"]
        if invoice["type"] == "CreditNote":
            own["invoiced_total"] -= rounded(invoice["total"] * factor, currency)
            continue
        payments = rows(Payment, invoice_id=invoice["id"], status="Completed")
        notes = [
            note for note in rows(Invoice, credited_invoice_id=invoice["id"])
            if note["status"] not in WITHOUT_EFFECT
        ]  # fmt: skip
        paid = sum((payment["amount"] for payment in payments), Decimal(0))
        credited = sum((note["total"] for note in notes), Decimal(0))
        left = invoice["total"] - paid - credited
        assert (invoice["amount_paid"], invoice["amount_credited"]) == (paid, credited)
        assert invoice["amount_due"] == max(left, Decimal(0))
        begun = "PartiallyPaid" if paid + credited else "Sent"
        assert invoice["status"] in (
            "Uncollectible" if left > 0 else "Paid",
            "Paid" if left <= 0 else begun,
        )
        billed = gross_by_group(invoice)
        assert all(gross <= billed[key] for key, gross in gross_by_group(*notes).items())
        own["invoiced_total"] += rounded(invoice["total"] * factor, currency)
        if invoice["status"] != "Uncollectible":
            own["outstanding_balance"] += rounded(max(left, Decimal(0)) * factor, currency)
        own["credit_balance"] += rounded(max(-left, Decimal(0)) * factor, currency)
        own["credit_balance"] -= sum(
            rounded(payment["amount"] * factor, currency)
            for payment in payments if payment["method"] == "credit"
        )  # fmt: skip
    for client in rows(Client):
        assert {name: client[name] for name in BALANCES} == expected[client["id"]]
        assert client["credit_balance"] >= 0
    for numbers in (
        [each["number"] for each in invoices],
        [each["number"] for each in rows(Payment)],
    ):
        ends = sorted(int(number.rpartition("-")[2]) for number in numbers if number)
        assert ends == [*range(1, len(ends) + 1)]


@pytest.mark.parametrize("seed", [1])
def test_the_books_are_right_after_every_operation(admin: Caller, seed: int) -> None:
    walk = Walk(seed)
    walk.move_rates()
    reached = set()
    for _ in range(STEPS):
        walk.step()
        assert_books_are_right()
        reached |= {(each["type"], each["status"]) for each in rows(Invoice)}
    assert len(reached) >= 7  # of six states, and credit notes in two
