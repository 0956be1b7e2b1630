"""Products in the lines of an invoice: chosen by name, taken over by the server, and kept."""

from __future__ import annotations

import html
import re
from decimal import Decimal
from typing import Any

import pytest
from flask import Flask
from hypothesis import given, strategies as st
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.console.invoice_lines import (
    FIELDS,
    PRODUCT,
    TAKEN,
    Line,
    drawn_of,
    typed_lines,
    with_empty_rows,
)
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.models.invoice import LineItem
from tests.console.conftest import Browser, SignIn
from tests.factories import line, make_invoice

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
    assert (shown["unitCode"], shown["unitPrice"], shown["quantity"]) == ("h", "128.00", "")
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
    assert (first["description"], first["unitPrice"]) == ("Advice in May", "128.00")
    again = {f"line.0.{name}": text for name, text in first.items()}
    page = browser.submit(
        "invoices/new", clientId=client, **TOTALS, **again | {"line.0.productId": "Travel"}
    ).text
    second = row(page)
    assert (second["description"], second["unitPrice"]) == ("Advice in May", "50.00")
    assert second["unitCode"] == "pc."


def test_a_saved_line_keeps_what_it_took(browser: Browser, client: str, session: Session) -> None:
    key = browser.make(
        "invoices", clientId=client, lines="1",
        **{"line.0.productId": ADVICE_NAMED, "line.0.quantity": "2"},
    )  # fmt: skip
    assert stored(session) == [("Advice", "HUR", Decimal(128), "SRV-1")]
    changed = browser.submit("products/1/edit", **ADVICE | {"unitPrice": "200", "name": "Other"})
    assert changed.status_code == 303, changed.text
    page = browser.get(f"invoices/{key}/edit").text
    assert row(page)["productId"] == "Other (SRV-1)" and row(page)["unitPrice"] == "128.00"
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


def long_draft(app: Flask, client: str, lines: int) -> int:
    """A draft with ``Line 1`` to ``Line n`` at 10.00 without tax."""
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        items = [
            line("10", description=f"Line {number}", tax_rate=Decimal(0))
            for number in range(1, lines + 1)
        ]
        return make_invoice(client_id=int(client), line_items=items)


def form_of(page: str) -> dict[str, str]:
    """The lines of a page's form, and which they are."""
    found = re.findall(r'name="(line\.\d+\.\w+|shown|carried|version|seen)" value="([^"]*)"', page)
    kinds = re.findall(r'name="(line\.\d+\.taxCategory)".*?<option value="(\w+)" selected', page)
    return {"lines": "1", **{name: html.unescape(value) for name, value in (*found, *kinds)}}


def descriptions(session: Session) -> list[str]:
    return [each[0] for each in stored(session)]


def test_a_long_draft_is_changed_part_by_part(
    browser: Browser, client: str, app: Flask, session: Session
) -> None:
    key = long_draft(app, client, 120)
    address = f"invoices/{key}/edit"
    first = browser.get(address).text
    assert "1 to 25 of 120" in first and row(first, 24)["description"] == "Line 25"
    assert 'aria-label="Description of line 25"' in first and "1,200.00 EUR" in plain(first)
    last = browser.get(f"{address}?line=101").text
    assert "101 to 120 of 120" in last and row(last)["description"] == "Line 101"
    assert 'aria-label="Description of line 101"' in last and "1,200.00 EUR" in plain(last)

    middle = form_of(browser.get(f"{address}?line=77").text)
    middle |= {"line.0.description": "Other 76", "line.1.description": "", "line.1.unitPrice": ""}
    middle |= {"line.25.description": "New", "line.25.unitPrice": "7", "line.25.taxRate": "0"}
    totals = browser.submit(f"{address}?line=77", **middle, step="totals").text
    assert "1,197.00 EUR" in plain(totals)
    saved = browser.submit(f"{address}?line=77", **middle, step="line:101")
    assert saved.status_code == 303 and saved.location.endswith("/edit?line=101#lines-title")
    expected = [f"Line {number}" for number in range(1, 121)]
    expected[75:100] = ["Other 76", *expected[77:100], "New"]
    assert descriptions(session) == expected


def test_what_is_wrong_in_a_part_is_said_at_its_line(
    browser: Browser, client: str, app: Flask, session: Session
) -> None:
    address = f"invoices/{long_draft(app, client, 60)}/edit?line=51"
    form = form_of(browser.get(address).text)
    for wrong, said in (("much", "must be a number"), ("-1000000000000", "must be")):
        refused = browser.submit(address, **form | {"line.2.unitPrice": wrong})
        assert refused.status_code == 400
        problem = refused.text.partition('id="line-2-unitPrice-p">')[2].partition("</p>")[0]
        assert said in problem and row(refused.text, 2)["unitPrice"] == wrong
    assert descriptions(session) == [f"Line {number}" for number in range(1, 61)]


def test_lines_that_others_add_or_take_away_move_no_part(
    browser: Browser, client: str, app: Flask, session: Session
) -> None:
    address = f"invoices/{long_draft(app, client, 60)}/edit"
    mine = form_of(browser.get(f"{address}?line=51").text)
    theirs = form_of(browser.get(address).text)
    for name in ("description", "unitPrice"):
        theirs[f"line.0.{name}"] = ""
    assert browser.submit(address, **theirs).status_code == 303
    mine["line.9.description"] = "Mine"
    both = browser.submit(f"{address}?line=51", **mine)
    assert both.status_code == 412 and row(both.text, 9)["description"] == "Mine"
    assert browser.submit(f"{address}?line=51", **form_of(both.text)).status_code == 303
    assert descriptions(session) == [*(f"Line {number}" for number in range(2, 60)), "Mine"]


@pytest.mark.parametrize("number", ["0", "x", "61", "99999999", "-1", ""])
def test_a_line_that_there_is_not_leads_to_one_that_there_is(
    browser: Browser, client: str, app: Flask, number: str
) -> None:
    page = browser.get(f"invoices/{long_draft(app, client, 60)}/edit?line={number}")
    assert page.status_code == 200 and " of 60</small>" in page.text


def plain(page: str) -> str:
    return re.sub(r"<[^>]+>", "", page)


def typed_form(count: int, client: str) -> dict[str, str]:
    """A form for a new invoice with so many lines."""
    form = {"lines": "1", "clientId": client}
    for number in range(count):
        form[f"line.{number}.description"] = f"Line {number + 1}"
        form[f"line.{number}.unitPrice"] = "10"
    return form


def test_of_many_typed_lines_a_page_draws_some_and_loses_none(
    browser: Browser, client: str, session: Session
) -> None:
    form = typed_form(90, client) | {"line.4.unitPrice": "much", "line.88.unitPrice": "more"}
    refused = browser.submit("invoices/new", **form)
    assert refused.status_code == 400 and "64 other lines are kept" in plain(refused.text)
    for number in (4, 88):
        assert f'id="line-{number}-unitPrice-p">must be a number' in refused.text
    assert 'aria-label="Description of line 89"' in refused.text
    assert row(refused.text, 40) == {}
    next_page = browser.submit(
        "invoices/new", clientId=client, **form_of(refused.text), step="lines:25"
    ).text
    assert row(next_page, 40)["description"] == "Line 41" and row(next_page, 3) == {}
    again = form_of(next_page) | {"line.88.unitPrice": "10", "line.40.description": "Other"}
    assert browser.submit("invoices/new", clientId=client, **again).status_code == 400
    page = browser.submit("invoices/new", clientId=client, **again, step="lines:0").text
    browser.make("invoices", clientId=client, **form_of(page) | {"line.4.unitPrice": "10"})
    expected = [f"Line {number}" for number in range(1, 91)]
    expected[40] = "Other"
    assert descriptions(session) == expected


def test_more_lines_than_an_invoice_takes_come_back_on_a_page_that_is_no_larger(
    browser: Browser, client: str
) -> None:
    refused = browser.submit("invoices/new", **typed_form(1001, client))
    assert refused.status_code == 400
    assert "must have at most 1,000 entries, not 1,001" in refused.text
    assert len(refused.data) < 150_000
    form = form_of(refused.text)
    assert browser.submit("invoices/new", clientId=client, **form).status_code == 400
    form |= {"line.0.description": "", "line.0.unitPrice": ""}
    browser.make("invoices", clientId=client, **form)


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20).map(str.strip)
LINES = st.builds(
    Line,
    st.sampled_from(["", "7"]),
    st.fixed_dictionaries({each.name: TEXTS for each in FIELDS}),
    st.fixed_dictionaries(dict.fromkeys((PRODUCT, *TAKEN), TEXTS)),
).filter(lambda line: not line.is_empty)


@given(
    st.lists(LINES, max_size=4), st.integers(1, 40), st.sets(st.integers(0, 200)),
    st.sets(st.integers(0, 200)), st.integers(0, 300),
)  # fmt: skip
def test_what_a_page_draws_and_carries_is_what_was_typed(
    some: list[Line], times: int, wrong: set[int], filled: set[int], first: int
) -> None:
    lines = some * times
    within = range(len(lines))
    drawn = drawn_of(with_empty_rows(lines), wrong & {*within}, filled & {*within}, first)
    form = {"carried": drawn.carried}
    for place, each in drawn.lines:
        form |= {f"line.{place}.{name}": text for name, text in each.values.items()}
        form |= {f"line.{place}.id": each.id, f"line.{place}.was": each.was_text}
    again = typed_lines(form)
    assert [(line.id, line.values) for line in again] == [(line.id, line.values) for line in lines]
    assert [line.was_text for line in again] == [line.was_text for line in lines]
    assert len(drawn.lines) <= 3 * 25 + 3


@pytest.mark.parametrize("carried", ["[", "7", "[7]", '[["x", "a"]]', '{"1": {}}', "[[]]"])
def test_what_no_page_carries_is_no_line(carried: str) -> None:
    assert typed_lines({"carried": carried}) == []
