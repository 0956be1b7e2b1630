"""Amounts that people type: asked where they could be two, and told as they were stored."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.models.invoice import LineItem, Payment
from app.models.opportunity import Opportunity
from app.models.user import User
from app.settings import change_settings
from tests.console.conftest import Browser, SignIn

LINE = {"lines": "1", "line.0.description": "Advice", "line.0.quantity": "1"}


@pytest.fixture
def browser(sign_in: SignIn) -> Browser:
    return sign_in("Admin")


Speak = Callable[[str], None]


@pytest.fixture
def speak(app: Flask, browser: Browser) -> Speak:
    """``speak("de")``: from now on this is the language of the user."""

    def choose(language: str) -> None:
        with app.app_context(), transaction() as session:
            session.execute(update(User).values(language=language))

    return choose


def invoice(browser: Browser, price: str, **fields: Any) -> int:
    client = browser.make("clients", name="Acme", currency="EUR")
    return browser.make("invoices", clientId=str(client), **LINE, **fields,
                        **{"line.0.unitPrice": price, "line.0.taxRate": "0"})  # fmt: skip


def pay(browser: Browser, key: int, amount: str) -> Any:
    return browser.submit(
        f"invoices/{key}", step="payment", amount=amount, date="2026-01-05", method="transfer"
    )


def paid(session: Session) -> list[str]:
    session.rollback()
    return [str(amount) for amount in session.scalars(select(Payment.amount).order_by(Payment.id))]


def test_a_payment_that_could_be_two_is_asked_for_at_its_field(
    browser: Browser, session: Session
) -> None:
    key = invoice(browser, "5000")
    for text in ("1.000", "1,000"):
        answer = pay(browser, key, text)
        assert answer.status_code == 400
        assert "could be two numbers: write 1000 or 1.00" in answer.text
        assert (
            'aria-describedby="payment-amount-p"' in answer.text
            and f'value="{text}"' in answer.text
        )
    assert paid(session) == []


@pytest.mark.parametrize(
    ("language", "typed", "stored", "told"),
    [
        ("de", "1.000", "1000.00", "1.000,00 EUR"), ("de", "1000,5", "1000.50", "1.000,50 EUR"),
        ("en-GB", "1,000", "1000.00", "1,000.00 EUR"), ("en-IN", "1,000.5", "1000.50",
        "1,000.50 EUR"), ("fr", "1\u202f000,5", "1000.50", "1\u202f000,50 EUR"),
    ],
)  # fmt: skip
def test_a_payment_is_read_and_told_in_the_signs_of_the_user(
    browser: Browser,
    session: Session,
    speak: Speak,
    language: str,
    typed: str,
    stored: str,
    told: str,
) -> None:
    key = invoice(browser, "5000")
    speak(language)
    assert pay(browser, key, typed).status_code == 303
    assert [f"{float(amount):.2f}" for amount in paid(session)] == [stored]
    page = browser.get(f"invoices/{key}").text
    assert f": {told}." in page


def test_decimals_that_the_currency_does_not_have_are_doubted(
    browser: Browser, session: Session, speak: Speak
) -> None:
    key = invoice(browser, "5000")
    speak("en-US")
    assert "write 1000 or 1.00" in pay(browser, key, "1.000").text
    speak("de-DE")
    assert "schreiben Sie 1000 oder 1,00" in pay(browser, key, "1,000").text
    assert paid(session) == []


def test_the_organisation_says_it_where_the_user_does_not(
    app: Flask, browser: Browser, session: Session
) -> None:
    key = invoice(browser, "5000")
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        change_settings("seller", {"country": "GB"})
    assert pay(browser, key, "1,000").status_code == 303
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        change_settings("seller", {"country": "DE"})  # against the language of the account
    assert pay(browser, key, "1,000").status_code == 400
    assert len(paid(session)) == 1


def test_a_unit_price_is_asked_for_and_shown_as_it_is_read(
    browser: Browser, session: Session, speak: Speak
) -> None:
    client = browser.make("clients", name="Acme", currency="EUR")
    form = {"clientId": str(client), **LINE, "line.0.taxRate": "0"}
    answer = browser.submit("invoices/new", **form, **{"line.0.unitPrice": "1.234"})
    assert answer.status_code == 400 and "write 1234 or 1.2340" in answer.text
    key = browser.make("invoices", **form, **{"line.0.unitPrice": "1.2340"})
    assert "Invoice saved: total 1.23 EUR." in browser.get(f"invoices/{key}").text
    page = browser.get(f"invoices/{key}/edit").text
    assert 'value="1.2340"' in page
    speak("de")
    assert 'value="1,2340"' in browser.get(f"invoices/{key}/edit").text
    line = {
        "line.0.id": str(session.scalars(select(LineItem.id)).one()),
        "line.0.unitPrice": "1.234",
        "line.0.taxCategory": "Z",
    }
    saved = browser.submit(f"invoices/{key}/edit", **form, **line)
    assert saved.status_code == 303, saved.text
    assert "Rechnung gespeichert: Gesamt 1.234,00 EUR." in browser.get(f"invoices/{key}").text


def test_amounts_of_records_are_told_as_they_were_stored(
    browser: Browser, session: Session, speak: Speak
) -> None:
    client = browser.make("clients", name="Acme")
    deal = {"name": "Pumps", "clientId": str(client), "currency": "EUR", "closeDate": "2026-12-01"}
    refused = browser.submit("opportunities/new", **deal, amount="12.500")
    assert refused.status_code == 400 and "write 12500 or 12.50" in refused.text
    speak("de")
    key = browser.make("opportunities", **deal, amount="12.500")
    assert (
        "Verkaufschance gespeichert: Betrag 12.500,00 EUR."
        in browser.get(f"opportunities/{key}").text
    )
    assert 'value="12500' in browser.get(f"opportunities/{key}/edit").text
    session.rollback()
    assert session.scalars(select(Opportunity.amount)).one() == 12500


def test_the_deal_of_a_conversion_is_read_as_other_amounts_are(browser: Browser) -> None:
    lead = browser.make("leads", company="Globex", lastName="Doe")
    form = {"step": "convert", "createContact": "true", "createOpportunity": "true"}
    refused = browser.submit(f"leads/{lead}/convert", **form, amount="1.000")
    assert refused.status_code == 400 and "write 1000 or 1.00" in refused.text
    done = browser.submit(f"leads/{lead}/convert", **form, amount="1.000,50")
    assert done.status_code == 303
    assert "with a deal of 1,000.50 EUR." in browser.client.get(done.headers["Location"]).text


def test_the_amount_of_a_conversion_names_its_currency(browser: Browser) -> None:
    lead = browser.make("leads", lastName="Berg", currency="CHF", estimatedValue="5")
    page = browser.get(f"leads/{lead}/convert").text
    assert ">Amount in CHF</label>" in page and "0 tasks" not in page


def test_rates_and_taxes_of_the_settings_are_asked_for(browser: Browser) -> None:
    refused = browser.submit("settings/exchangeRates", code="USD", rate="1.085")
    assert refused.status_code == 400 and "write 1085 or 1.0850" in refused.text
    version = re.search('name="version" value="([^"]+)"', refused.text)
    assert version is not None
    form = {"code": "USD", "rate": "1.0850", "version": version[1]}
    assert browser.submit("settings/exchangeRates", **form).status_code == 303
    page = browser.get("settings/exchangeRates").text
    assert 'value="1.0850"' in page
    refused = browser.submit("settings/defaults", taxRate="19.000")
    assert refused.status_code == 400 and "write 19000 or 19.00" in refused.text


def test_what_was_written_off_is_told(browser: Browser) -> None:
    key = invoice(browser, "5000")
    assert browser.submit(f"invoices/{key}/send", markOnly="on").status_code == 303
    assert browser.submit(f"invoices/{key}", step="uncollectible").status_code == 303
    assert "Invoice written off: 5,000.00 EUR." in browser.get(f"invoices/{key}").text


@pytest.mark.parametrize(
    ("currency", "price", "total", "field", "typed", "problem"),
    [("JPY", "50000.55", "50,001", "50001", "1.5", "must have no decimals in JPY"),
     ("KWD", "3.8885", "3.889", "3.8890", "1.00005", "must have the decimals of its currency")],
)  # fmt: skip
def test_pages_have_the_digits_of_the_currency(
    browser: Browser, session: Session, speak: Speak, currency: str, price: str, total: str,
    field: str, typed: str, problem: str,
) -> None:  # fmt: skip
    speak("en-US")
    client = browser.make("clients", name="Acme", currency=currency)
    key = browser.make("invoices", clientId=str(client), **LINE,
                       **{"line.0.unitPrice": price, "line.0.taxRate": "0"})  # fmt: skip
    page = browser.get(f"invoices/{key}").text
    due = page.partition("Amount due</dt>")[2].partition("</div>")[0]
    assert f">{total}</data> {currency}</dd>" in due
    assert f'value="{field}"' in page  # what is left to pay
    assert f">{total}</data>" in browser.get("invoices/").text
    assert page.count(f">{total}</data>") >= 4  # those of the line among them
    assert f">{total}</data>" in browser.get(f"clients/{client}").text
    assert problem in pay(browser, key, typed).text
    assert pay(browser, key, field).status_code == 303
    assert f"Payment registered: {total} {currency}." in browser.get(f"invoices/{key}").text
    deal = browser.make("opportunities", name="Pumps", clientId=str(client), currency=currency,
                        amount=field, closeDate="2026-12-01")  # fmt: skip
    assert f'value="{field}"' in browser.get(f"opportunities/{deal}/edit").text


def test_a_field_has_the_signs_of_the_page_around_it(browser: Browser) -> None:
    deal = browser.make("opportunities", name="D", clientId=str(browser.make("clients", name="A")),
                        amount="1234.50")  # fmt: skip
    german = {"Accept-Language": "de-DE"}
    page = browser.client.get(f"/admin/opportunities/{deal}/edit", headers=german).text
    assert 'name="amount" value="1234,50"' in page
