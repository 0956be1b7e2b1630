"""One figure, one value: OData, overview, reports, the pipeline and what an accountant adds up."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from flask import Flask

from app.container.measures import ALL, MEASURES
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.invoices.steps import mark_uncollectible, void_invoice
from app.models.invoice import Invoice, Payment
from app.models.opportunity import Opportunity
from app.money import rounded
from app.settings import save_settings
from app.settings.days import today
from tests.console.conftest import Browser
from tests.contract.conftest import PASSWORD, Api
from tests.factories import (
    line,
    make_client,
    make_invoice,
    make_issued_invoice,
    make_opportunity,
    make_ticket,
    pay,
    put,
    put_row,
    rows,
)

pytestmark = pytest.mark.both_databases

ISSUED = ("Sent", "PartiallyPaid", "Paid", "Uncollectible")
# The organisation's, one with a rate, one without.
CURRENCIES = ("EUR", "USD", "CHF")
RATES = {"USD": Decimal("0.9137")}


@dataclass
class Books:
    """What lies in the tables, added up without any query."""

    invoices: list[Any]
    payments: list[Any]
    deals: list[Any]
    day: date

    def amounts(self, name: str) -> Iterator[tuple[str, Decimal, Decimal, date | None]]:
        """Currency, rate, amount and day of each record that a measure counts."""
        for one in self.invoices:
            amount = self._of_invoice(name, one)
            if amount is not None:
                yield one["currency"], one["exchange_rate"], amount, one["issue_date"]
        rates = {one["id"]: one["exchange_rate"] for one in self.invoices}
        for one in self.payments if name == "Collected" else ():
            if one["status"] == "Completed":
                yield one["currency"], rates[one["invoice_id"]], one["amount"], one["paid_on"]
        states = {"Pipeline": "Open", "WeightedPipeline": "Open", "Won": "Won", "Lost": "Lost"}
        for one in self.deals:
            if name == "DealValue" or one["status"] == states.get(name):
                column = "weighted_amount" if name == "WeightedPipeline" else "amount"
                yield one["currency"], one["exchange_rate"], one[column], one["close_date"]

    def _of_invoice(self, name: str, one: Any) -> Decimal | None:
        is_invoice, status = one["type"] == "Invoice", one["status"]
        owed = is_invoice and status in ("Sent", "PartiallyPaid")
        amount: Decimal | None = None
        if name in ("Receivables", "Overdue") and owed:
            is_late = one["due_date"] < self.day
            amount = one["amount_due"] if name == "Receivables" or is_late else None
        elif name == "WrittenOff" and is_invoice and status == "Uncollectible":
            amount = one["amount_due"]
        elif status in ISSUED:
            sign = 1 if is_invoice else -1
            gross, tax = one["total"], one["tax_total"]
            amount = {
                "Revenue": sign * (gross - tax), "GrossRevenue": sign * gross, "Tax": sign * tax,
                "Invoiced": gross if is_invoice else None,
                "InvoicedNet": gross - tax if is_invoice else None,
                "Credited": None if is_invoice else gross,
                "CreditedNet": None if is_invoice else gross - tax,
                "CreditedTax": None if is_invoice else tax,
            }.get(name)  # fmt: skip
        return amount

    def apart(self, name: str) -> dict[str, Decimal]:
        """Each currency by itself."""
        found: dict[str, Decimal] = defaultdict(Decimal)
        for currency, _, amount, _ in self.amounts(name):
            found[currency] += amount
        return {currency: amount for currency, amount in found.items() if amount}

    def worth(self, name: str, since: date = date.min) -> Decimal:
        """What has a rate, in the currency of the organisation; what a record keeps is rounded."""
        is_kept = MEASURES[name].base is not None
        return rounded(
            sum(
                (rounded(rate * amount, "EUR") if is_kept else rate * amount
                 for _, rate, amount, day in self.amounts(name)
                 if day is None or day >= since),
                Decimal(0),
            ),
            "EUR",
        )  # fmt: skip


@pytest.fixture
def books(app: Flask) -> Books:
    """Invoices in every state, credit notes, payments and deals, over a year and more."""
    draw = random.Random(17)
    with app.app_context(), ExitStack() as stack:
        stack.enter_context(transaction())
        stack.enter_context(acting_as(system_caller("test")))
        save_settings("exchangeRates", RATES)
        for number in range(24):
            _document(draw, number)
        for number in range(9):
            stage = ("Prospecting", "Proposal", "ClosedWon", "ClosedLost")[number % 4]
            lost = {"lost_reason": "Price"} if stage == "ClosedLost" else {}
            make_opportunity(
                amount=Decimal(draw.randrange(100, 900_000)) / 100, stage=stage,
                currency=CURRENCIES[number % 3], **lost,
            )  # fmt: skip
        for status in ("New", "Solved", "Open"):
            put("Ticket", make_ticket(), status=status)
        return Books(rows(Invoice), rows(Payment), rows(Opportunity), today())


def _document(draw: random.Random, number: int) -> None:
    currency = CURRENCIES[number % 3]
    client = make_client(currency=currency)
    lines = [
        line(f"{draw.randrange(100, 90_000)}.{draw.randrange(100):02d}",
             quantity=Decimal(draw.randrange(1, 4)), tax_rate=Decimal(draw.choice((7, 19))))
        for _ in range(2)
    ]  # fmt: skip
    kind = ("draft", "sent", "partial", "paid", "void", "uncollectible", "credited", "reversed")
    state = kind[number // 3]
    terms: dict[str, Any] = {
        "client_id": client, "currency": currency, "line_items": lines,
        "discount_percent": Decimal(draw.choice((0, 10))),
    }  # fmt: skip
    if state == "draft":
        make_invoice(**terms)
        return
    key = make_issued_invoice(**terms)
    if state in ("partial", "reversed", "uncollectible"):
        payment = pay(key, "10.01")
        if state == "reversed":
            put_row(Payment, payment, status="Reversed", reversed_at=datetime.now(UTC))
    elif state == "paid":
        total = next(one for one in rows(Invoice, id=key))["amount_due"]
        pay(key, str(total))
    elif state == "void":
        void_invoice(key, "Wrong client")
    elif state == "credited":
        make_issued_invoice(
            client_id=client, currency=currency, type="CreditNote", credited_invoice_id=key,
            line_items=[line("50.50", tax_rate=lines[0]["tax_rate"])],
        )  # fmt: skip
    if state == "uncollectible":
        mark_uncollectible(key)
    issued = today() - timedelta(days=draw.randrange(0, 500))
    put("Invoice", key, issue_date=issued, due_date=issued + timedelta(days=30))


def test_every_measure_is_the_same_everywhere(
    books: Books, app: Flask, sign_in: Callable[..., Api]
) -> None:
    """One data set, every reader: a second definition anywhere shows as a second value."""
    admin = sign_in("Admin")
    _check_odata(books, admin)
    _check_reports(books, admin)
    _check_pipeline(books, admin)
    _check_overview(books, app)
    _check_questions(books, admin)


def _check_odata(books: Books, admin: Api) -> None:
    for measure in ALL:
        if not measure.is_money or measure.of == "LineItem":
            continue
        start = "Opportunities?$apply=" if measure.of == "Opportunity" else "Invoices?$apply="
        name, currency = measure.name, "currency"
        if measure.of == "Payment":
            start, name, currency = f"{start}join(Payments as p)/", "p/Collected", "p/currency"
        base = name.replace(measure.name, measure.base_name)
        groups = admin.get(f"/odata/{start}groupby(({currency}),aggregate({name} as n))")
        assert groups.status_code == 200, groups.text
        apart = {
            (row.get("p") or row)["currency"]: _number(row["n"])
            for row in groups.json["value"] if _number(row["n"])
        }  # fmt: skip
        assert apart == books.apart(measure.name), measure.name
        whole = admin.get(f"/odata/{start}aggregate({base} as n,{name} as mixed)").json["value"][0]
        assert rounded(_number(whole["n"]), "EUR") == books.worth(measure.name), measure.name
        # Amounts of several currencies are no amount.
        expected = None if len(apart) > 1 else next(iter(apart.values()), 0)
        assert whole["mixed"] == expected, measure.name
    lines = "/odata/Invoices?$apply=join(LineItems as l)/groupby((currency),aggregate("
    answer = admin.get(f"{lines}l/LineGrossRevenue as n,l/LineTax as tax,l/LineRevenue as net))")
    for row in answer.json["value"]:
        assert _number(row["n"]) == _number(row["net"]) + _number(row["tax"])
    tickets = admin.get("/odata/Tickets?$apply=aggregate(OpenTickets)").json["value"][0]
    assert tickets["OpenTickets"] == 2


_DATED = ("revenue-by-month", "tax-summary", "sales-by-client")


def _check_reports(books: Books, admin: Api) -> None:
    def totals(key: str, column: str) -> dict[str, Decimal]:
        since = "?from=2000-01-01" if key in _DATED else ""
        found = admin.get(f"/api/bi/reports/{key}/data{since}").json
        return {row["currency"]: _number(row[column]) for row in found["totals"] if row[column]}

    for key, column, name in (
        ("revenue-by-month", "revenue", "Revenue"),
        ("revenue-by-month", "grossRevenue", "GrossRevenue"),
        ("revenue-by-month", "invoiced", "Invoiced"),
        ("revenue-by-month", "credited", "Credited"),
        ("revenue-by-month", "tax", "Tax"),
        ("tax-summary", "tax", "Tax"),
        ("tax-summary", "taxable", "Revenue"),
        ("sales-by-client", "sales", "Revenue"),
        ("sales-by-client", "due", "Receivables"),
        ("sales-by-client", "writtenOff", "WrittenOff"),
        ("receivables-ageing", "amountDue", "Receivables"),
        ("pipeline-by-stage", "amount", "Pipeline"),
        ("pipeline-by-stage", "weighted", "WeightedPipeline"),
    ):
        assert totals(key, column) == books.apart(name), (key, column)
    ageing = admin.get("/api/bi/reports/receivables-ageing/data").json["totals"]
    late = {
        row["currency"]: sum(_number(row[name]) for name in
                             ("days1To30", "days31To60", "days61To90", "over90Days"))
        for row in ageing
    }  # fmt: skip
    assert {currency: one for currency, one in late.items() if one} == books.apart("Overdue")


def _check_pipeline(books: Books, admin: Api) -> None:
    summary = admin.get("/api/crm/pipeline/summary").json
    totals = summary["totals"]
    assert _number(totals["openAmount"]) == books.worth("Pipeline")
    assert _number(totals["wonAmount"]) == books.worth("Won")
    assert _number(totals["lostAmount"]) == books.worth("Lost")
    assert abs(_number(totals["weightedAmount"]) - books.worth("WeightedPipeline")) <= Decimal(
        ".02"
    )
    excluded = {row["currency"]: _number(row["amount"]) for row in summary["excluded"]}
    assert excluded == {"CHF": books.apart("DealValue")["CHF"]}


def _check_overview(books: Books, app: Flask) -> None:
    client = app.test_client()
    form = {"username": "admin", "password": PASSWORD}
    assert client.post("/admin/sign-in", data=form).status_code == 303
    page = Browser(client).get("").text
    for name in ("Receivables", "Overdue", "WrittenOff"):
        card = page.split(f">{MEASURES[name].label}<")[1].partition("</li>")[0]
        assert _values(card)[0] == books.worth(name), name
        assert f"{books.apart(name)['CHF']:,} CHF" in re.sub("<[^>]+>", "", card), name
    year, month = divmod(books.day.year * 12 + books.day.month - 1 - 11, 12)
    first = date(year, month + 1, 1)
    chart = page.partition("Net revenue by month")[2].partition("</table>")[0]
    assert abs(sum(_values(chart)) - books.worth("Revenue", first)) <= Decimal("0.06")
    chart = page.partition("Pipeline by stage")[2].partition("</table>")[0]
    assert sum(_values(chart)) == books.worth("Pipeline")


# What people ask, and the measure that it is about.
QUESTIONS = {
    "total revenue": "Revenue",
    "net sales": "Revenue",
    "gross revenue": "GrossRevenue",
    "total invoiced amount": "Invoiced",
    "net invoiced amount": "InvoicedNet",
    "total tax": "Tax",
    "total of credit notes": "Credited",
    "outstanding amount": "Receivables",
    "overdue amount": "Overdue",
    "pipeline value": "Pipeline",
    "weighted pipeline": "WeightedPipeline",
    "value of won deals": "Won",
}


def _check_questions(books: Books, admin: Api) -> None:
    for question, name in QUESTIONS.items():
        answer = admin.post("/api/bi/nlq", {"question": question}).json
        assert answer["status"] == "answered", question
        found = {row["currency"]: _number(row["amount"]) for row in answer["rows"]}
        assert {currency: one for currency, one in found.items() if one} == books.apart(name), (
            question, answer["query"],
        )  # fmt: skip
    for question, name in (("revenue", "Revenue"), ("gross revenue", "GrossRevenue")):
        answer = admin.post("/api/bi/nlq", {"question": f"{question} converted to EUR"}).json
        assert _number(next(iter(answer["rows"][0].values()))) == books.worth(name), answer
        assert "CHF without an exchange rate" in answer["interpretation"]
    reply = admin.post("/api/ai/chat", {"message": "What is our total revenue?"}).json
    call = next(one for one in reply["toolCalls"] if one["name"] == "ask_figures")
    said = re.sub(r"(?<=\d),(?=\d{3})", "", str(reply))
    assert call and all(str(amount) in said for amount in books.apart("Revenue").values()), said


def _values(html: str) -> list[Decimal]:
    return [Decimal(text) for text in re.findall(r'<data value="([^"]+)"', html)]


def _number(value: Any) -> Decimal:
    return Decimal(str(value))
