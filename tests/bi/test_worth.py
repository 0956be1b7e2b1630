"""Groups are ranked over all currencies by what they are worth in the organisation's."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

import pytest
from flask import Flask

from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.bi.conftest import Ask
from tests.contract.conftest import Api
from tests.factories import line, make_client, make_issued_invoice, make_lead, pay

Sell = Callable[..., None]
PLAIN = {"tax_rate": Decimal(0), "tax_category": "Z"}


@pytest.fixture
def rates(admin: Api) -> Callable[..., None]:
    """Put the exchange rates into the settings."""

    def put(**values: float) -> None:
        answer = admin.put("/api/admin/settings/exchangeRates", values)
        assert answer.status_code == 200, answer.text

    return put


@pytest.fixture
def sell(app: Flask) -> Sell:
    """Issue one invoice per amount to a new client; ``paid`` is paid of the first."""

    def issue(name: str, currency: str, *amounts: str, paid: str = "", **client: Any) -> None:
        with app.app_context(), transaction(), acting_as(system_caller("test")):
            one = make_client(name=name, currency=currency, **client)
            for at, amount in enumerate(amounts):
                item = line(amount, **PLAIN) | {"description": "Advice"}
                invoice = make_issued_invoice(client_id=one, line_items=[item])
                if paid and at == 0:
                    pay(invoice, paid)

    return issue


@pytest.fixture
def trade(rates: Callable[..., None], sell: Sell) -> None:
    """Swiss invoices at 2 and at 3 for a franc; the settings say 5 by now."""
    rates(CHF=2)
    sell("Helvetia AG", "CHF", "60", paid="50", industry="Retail", billing_country="CH")
    rates(CHF=3)
    sell("Matterhorn AG", "CHF", "50", industry="Retail", billing_country="CH")
    sell("ACME GmbH", "EUR", "100", "35", industry="Retail", billing_country="DE")
    sell("Globex", "EUR", "140", paid="60", industry="Energy", billing_country="DE")
    rates(CHF=5)


@pytest.fixture
def asked(admin: Api) -> Ask:
    """Ask, and read the address of the answer: it gives the same rows."""

    def put(question: str, **more: Any) -> dict[str, Any]:
        answer: Any = admin.post("/api/bi/nlq", {"question": question, **more}).json
        assert answer["status"] == "answered", answer
        again: Any = admin.get(answer["query"]["odata"])
        assert again.status_code == 200, again.text
        assert len(again.json["value"]) == answer["rowCount"]
        return dict(answer)

    return put


def _figures(answer: dict[str, Any], name: str) -> list[tuple[str, Any, Any]]:
    return [(row[name], row.get("amount"), Decimal(str(row["worth"]))) for row in answer["rows"]]


@pytest.mark.usefixtures("trade")
def test_clients_of_all_currencies_are_ranked_at_the_rate_of_each_invoice(asked: Ask) -> None:
    answer = asked("top 3 clients by invoiced amount")
    assert _figures(answer, "Client/name") == [
        ("Matterhorn AG", 50, 150), ("Globex", 140, 140), ("ACME GmbH", 135, 135),
    ]  # fmt: skip
    assert [row["currency"] for row in answer["rows"]] == ["CHF", "EUR", "EUR"]
    assert [(one["name"], one["label"]) for one in answer["columns"]] == [
        ("Client/name", "Client"), ("currency", "Currency"),
        ("amount", "Gross invoiced amount"), ("worth", "Gross invoiced amount in EUR"),
    ]  # fmt: skip
    assert "Matterhorn AG 50.00 CHF (150.00 EUR); Globex 140.00 EUR;" in answer["answer"]
    assert "worth in EUR, at the rate kept with each invoice" in answer["interpretation"]
    assert answer["chart"]["y"] == "worth"
    assert "color" not in answer["chart"]["spec"]["encoding"]  # the bars are all euros
    assert answer["confidence"] >= 0.75


@pytest.mark.usefixtures("trade")
def test_debts_are_ranked_by_what_is_due_at_the_rate_of_the_invoice(asked: Ask) -> None:
    found = _figures(asked("top 4 debtors"), "Client/name")
    assert found == [
        ("Matterhorn AG", 50, 150), ("ACME GmbH", 135, 135), ("Globex", 80, 80),
        ("Helvetia AG", 10, 20),
    ]  # fmt: skip


@pytest.mark.usefixtures("trade")
def test_groups_with_several_currencies_have_their_worth_alone(asked: Ask) -> None:
    answer = asked("which industry brings in the most revenue")
    assert answer["rows"] == [{"Client/industry": "Retail", "worth": 405}]
    assert "Net revenue in EUR: Retail 405.00 EUR." in answer["answer"]


@pytest.mark.usefixtures("trade")
def test_lines_and_payments_have_the_rate_of_their_invoice(asked: Ask) -> None:
    lines = asked("top products by revenue")
    assert [(row["line/description"], row["worth"]) for row in lines["rows"]] == [("Advice", 545)]
    assert "at the rate of the invoice" in lines["interpretation"]
    paid = asked("top 2 clients by payments received")
    assert _figures(paid, "Client/name") == [("Helvetia AG", 50, 100), ("Globex", 60, 60)]
    single = asked("largest payment")
    assert single["rows"][0]["Client/name"] == "Helvetia AG"


@pytest.mark.usefixtures("trade")
def test_averages_are_those_of_the_worth(asked: Ask) -> None:
    answer = asked("which industry has the highest average invoice amount")
    # Retail: (120 + 150 + 100 + 35) / 4.
    assert answer["rows"] == [{"Client/industry": "Energy", "worth": 140}]
    assert "101.25" in asked("which industry has the lowest average invoice amount")["answer"]


@pytest.mark.usefixtures("trade")
def test_a_question_that_names_a_currency_stays_within_it(asked: Ask) -> None:
    answer = asked("top 3 clients by invoiced amount in CHF")
    assert [(row["Client/name"], row["amount"]) for row in answer["rows"]] == [
        ("Helvetia AG", 60), ("Matterhorn AG", 50),
    ]  # fmt: skip
    assert "worth" not in answer["interpretation"]


@pytest.mark.usefixtures("trade")
def test_what_is_only_put_in_order_keeps_its_currencies(asked: Ask) -> None:
    answer = asked("invoiced amount by industry, highest first")
    found = [(row["Client/industry"], row["currency"], row["amount"]) for row in answer["rows"]]
    assert found == [("Retail", "CHF", 110), ("Energy", "EUR", 140), ("Retail", "EUR", 135)]
    clients = asked("invoiced amount by client, highest first")
    assert [row["worth"] for row in clients["rows"]] == [150, 140, 135, 120]


def test_what_keeps_no_rate_is_converted_at_those_of_the_settings(
    rates: Callable[..., None], app: Flask, asked: Ask
) -> None:
    rates(CHF=2)
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        make_lead(source="Web", estimated_value=Decimal(100), currency="EUR")
        make_lead(source="Referral", estimated_value=Decimal(70), currency="CHF")
        make_lead(source="Phone", estimated_value=Decimal(900), currency="USD")
    answer = asked("top 3 lead sources by estimated value")
    assert _figures(answer, "source") == [("Referral", 70, 140), ("Web", 100, 100)]
    assert "at the rates of the settings" in answer["interpretation"]
    assert "Amounts in USD without an exchange rate are left out" in answer["interpretation"]
    assert answer["confidence"] < 0.8
    assert "currency in ('CHF','EUR')" in unquote(answer["query"]["odata"])


def test_an_invoice_without_a_rate_is_left_out_and_the_answer_says_so(
    rates: Callable[..., None], sell: Sell, asked: Ask
) -> None:
    sell("Liberty Inc.", "USD", "900")
    rates(CHF=2)
    sell("Helvetia AG", "CHF", "60")
    sell("ACME GmbH", "EUR", "100")
    answer = asked("top 3 clients by invoiced amount")
    assert _figures(answer, "Client/name") == [("Helvetia AG", 60, 120), ("ACME GmbH", 100, 100)]
    assert "Amounts in USD without an exchange rate are left out" in answer["interpretation"]
    assert "exchangeRate gt 0" in unquote(answer["query"]["odata"])


@pytest.mark.usefixtures("trade")
def test_a_report_of_such_a_question_has_the_same_rows(admin: Api) -> None:
    made: Any = admin.post(
        "/api/bi/reports", {"name": "Best", "question": "top 2 clients by invoiced amount"}
    )
    assert made.status_code == 201, made.text
    path = f"/api/bi/reports/{made.json['id']}/export"
    exported: Any = admin.post(path, {"format": "json"}).json
    assert [row["worth"] for row in exported["rows"]] == [150, 140]


def test_a_share_is_of_all_currencies(asked: Ask, trade: None) -> None:
    """270 of 545 euros, at the rates of the invoices; in francs it was all of them."""
    answer = asked("What percentage of this year's revenue comes from Switzerland?")
    assert [(row["hits"], row["total"], row["percent"]) for row in answer["rows"]] == [
        (270.0, 545.0, 49.5)
    ]
    assert "Amounts are converted into EUR, at the rate kept" in answer["interpretation"]


def test_sums_are_converted_where_it_is_asked_for(asked: Ask, trade: None) -> None:
    assert len(asked("revenue this year")["rows"]) == 2
    for question in ("revenue this year converted to euros", "net revenue, all converted to EUR"):
        assert [row["worth"] for row in asked(question)["rows"]] == [545.0], question
    by_country = asked("revenue by country, everything converted to euros")
    assert [(row["country"], row["worth"]) for row in by_country["rows"]] == [
        ("DE", 275.0),
        ("CH", 270.0),
    ]


def test_groups_ranked_by_value_are_not_counted(asked: Ask, trade: None) -> None:
    answer = asked("top 2 industries by value of invoices")
    assert [(row["Client/industry"], row["worth"]) for row in answer["rows"]] == [
        ("Retail", 405.0),
        ("Energy", 140.0),
    ]


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("unpaid invoices in swiss francs", "CHF"),
        ("invoices in Danish kroner", "DKK"),
        ("invoices in US dollars", "USD"),
        ("SEK invoices", "SEK"),
        ("rechnungen in schweizer franken", "CHF"),
        ("rechnungen in dänischen kronen", "DKK"),
        ("offene rechnungen in PLN", "PLN"),
    ],
)
def test_a_currency_is_called_by_its_name_or_code_and_is_no_country(
    ask: Ask, question: str, code: str
) -> None:
    answer = ask(question)
    assert answer["status"] == "answered"
    assert f"currency eq '{code}'" in unquote(answer["query"]["odata"])
    assert "country" not in answer["query"]["odata"]


def test_words_in_capitals_that_mean_something_are_no_currencies(ask: Ask) -> None:
    assert "currency eq" not in unquote(ask("ALL INVOICES")["query"]["odata"])
