"""Products in the lines of an invoice: chosen by name, taken over by the server, and kept."""

from __future__ import annotations

import html
import re
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.console.invoice_lines import Line, typed_lines
from app.models.invoice import LineItem
from tests.console.conftest import Browser, SignIn

ADVICE = {"sku": "SRV-1", "name": "Advice", "unitPrice": "128", "unitCode": "HUR"}
ADVICE_NAMED = "Advice (SRV-1)"
TOTALS = {"lines": "1", "step": "totals"}


@pytest.fixture
def browser(sign_in: SignIn) -> Browser:
    return sign_in("Admin")


@pytest.fixture
def client(browser: Browser) -> str:
    browser.make("products", **ADVICE, isActive="true")
    return str(browser.make("clients", name="Acme"))


def row(page: str, number: int = 0) -> dict[str, str]:
    """What stands in a row of the form."""
    fields = re.findall(rf'name="line\.{number}\.(\w+)" value="([^"]*)"', page)
    return {name: html.unescape(value) for name, value in fields}


def stored(session: Session) -> list[tuple[Any, ...]]:
    session.rollback()
    columns = (LineItem.description, LineItem.unit_code, LineItem.unit_price)
    found = session.execute(select(*columns, LineItem.product_code).order_by(LineItem.position))
    return [tuple(each) for each in found]


def test_products_are_suggested_by_name_and_number(browser: Browser, client: str) -> None:
    browser.make("products", name="Old advice", unitPrice="1")  # not ticked as active
    for typed in ("adv", "SRV"):
        assert browser.get(f"choices/products?q={typed}").json == {"items": [ADVICE_NAMED]}


def test_a_product_fills_its_row_before_anything_is_saved(
    browser: Browser, client: str, session: Session
) -> None:
    page = browser.submit(
        "invoices/new", clientId=client, **TOTALS, **{"line.4.productId": "SRV-1"}
    ).text
    assert 'data-typed="4"' in page
    shown = row(page)
    assert shown["productId"] == ADVICE_NAMED and shown["description"] == "Advice"
    assert (shown["unitCode"], shown["unitPrice"], shown["quantity"]) == ("HUR", "128", "")
    assert "152.32 EUR" in re.sub(r"<[^>]+>", "", page)
    assert stored(session) == []


def test_what_was_typed_stays_and_another_product_replaces_the_rest(
    browser: Browser, client: str
) -> None:
    browser.make("products", name="Travel", unitPrice="50", isActive="true")
    page = browser.submit(
        "invoices/new", clientId=client, **TOTALS,
        **{"line.0.productId": ADVICE_NAMED, "line.0.description": "Advice in May"},
    ).text  # fmt: skip
    first = row(page)
    assert (first["description"], first["unitPrice"]) == ("Advice in May", "128")
    again = {f"line.0.{name}": text for name, text in first.items()}
    page = browser.submit(
        "invoices/new", clientId=client, **TOTALS, **again | {"line.0.productId": "Travel"}
    ).text
    second = row(page)
    assert (second["description"], second["unitPrice"]) == ("Advice in May", "50")
    assert second["unitCode"] == "C62"


def test_a_saved_line_keeps_what_it_took(browser: Browser, client: str, session: Session) -> None:
    key = browser.make(
        "invoices", clientId=client, lines="1",
        **{"line.0.productId": ADVICE_NAMED, "line.0.quantity": "2"},
    )  # fmt: skip
    assert stored(session) == [("Advice", "HUR", Decimal(128), "SRV-1")]
    changed = browser.submit("products/1/edit", **ADVICE | {"unitPrice": "200", "name": "Other"})
    assert changed.status_code == 303, changed.text
    page = browser.get(f"invoices/{key}/edit").text
    assert row(page)["productId"] == "Other (SRV-1)" and row(page)["unitPrice"] == "128"
    form = {f"line.0.{name}": text for name, text in row(page).items()}
    saved = browser.submit(
        f"invoices/{key}/edit",
        lines="1",
        **form | {"line.0.quantity": "3", "line.0.taxCategory": "S"},
    )
    assert saved.status_code == 303, saved.text
    assert stored(session) == [("Advice", "HUR", Decimal(128), "SRV-1")]


def test_a_known_line_takes_the_values_of_another_product(
    browser: Browser, client: str, session: Session
) -> None:
    browser.make("products", name="Travel", unitPrice="50", isActive="true")
    key = browser.make("invoices", clientId=client, lines="1", **{"line.0.productId": ADVICE_NAMED})
    page = browser.get(f"invoices/{key}/edit").text
    form = {f"line.0.{name}": text for name, text in row(page).items()}
    saved = browser.submit(
        f"invoices/{key}/edit", lines="1",
        **form | {"line.0.productId": "Travel", "line.0.taxCategory": "S"},
    )  # fmt: skip
    assert saved.status_code == 303, saved.text
    assert [each[:3] for each in stored(session)] == [("Travel", "C62", Decimal(50))]


def test_a_price_in_another_currency_is_asked_for_at_its_field(
    browser: Browser, client: str, session: Session
) -> None:
    form = {"clientId": client, "currency": "USD", "line.0.productId": ADVICE_NAMED}
    for more in ({}, {"step": "totals"}):
        page = browser.submit("invoices/new", lines="1", **form, **more).text
        assert 'id="line-0-unitPrice-p">must be given: the price of the product is in EUR' in page
        assert row(page)["productId"] == ADVICE_NAMED and row(page)["description"] == "Advice"
    assert stored(session) == []
    browser.make("invoices", lines="1", **form, **{"line.0.unitPrice": "140"})
    assert stored(session) == [("Advice", "HUR", Decimal(140), "SRV-1")]


def test_what_names_no_product_is_said_at_its_field(browser: Browser, client: str) -> None:
    form = {"clientId": client, "line.0.productId": "Nonsense", "line.0.unitPrice": "5"}
    page = browser.submit("invoices/new", lines="1", **form)
    assert page.status_code == 400 and 'id="line-0-productId-p"' in page.text
    assert (row(page.text)["productId"], row(page.text)["unitPrice"]) == ("Nonsense", "5")


@pytest.mark.parametrize("was", ["{", "7", "[1]", '{"a": "b"}', "[]"])
def test_what_a_row_was_is_nothing_where_it_is_not_readable(was: str) -> None:
    form = {"line.3.description": "Work", "line.3.was": was}
    assert typed_lines(form) == [Line("", {"description": "Work"}, {}, 3)]
