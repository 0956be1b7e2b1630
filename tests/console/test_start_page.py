"""Figures of the first page: named measures, the period before beside them, lists behind them."""

from __future__ import annotations

import re
from datetime import date, timedelta
from decimal import Decimal

import pytest
from flask import Flask

from app.clock import utc_now
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.console.conftest import Browser, SignIn
from tests.factories import create, line, make_client, make_issued_invoice, put, today


def issued(app: Flask, price: str, *days: date) -> None:
    """An invoice of ``price`` net for each day."""
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        client = make_client(name="Acme")
        for day in days:
            key = make_issued_invoice(client_id=client, line_items=[line(price)])
            put("Invoice", key, issue_date=day)


def figures(browser: Browser) -> dict[str, str]:
    """Label -> what stands on the card."""
    cards = re.findall(r'<li class="card">(.*?)</li>', browser.get("").text, re.DOTALL)
    plain = [" ".join(re.sub(r"<[^>]+>", " ", card).split()) for card in cards]
    labels = [re.search(r'<span class="hint">([^<]+)', card) for card in cards]
    return {label[1]: text for label, text in zip(labels, plain, strict=True) if label}


def links(browser: Browser, label: str) -> list[str]:
    cards = re.findall(r'<li class="card">(.*?)</li>', browser.get("").text, re.DOTALL)
    (card,) = [card for card in cards if f">{label}" in card]
    return [link.replace("&amp;", "&") for link in re.findall(r'href="/admin/([^"]+)"', card)]


def test_revenue_has_that_of_the_month_before_beside_it(app: Flask, sign_in: SignIn) -> None:
    browser = sign_in("Accountant")
    first = today().replace(day=1)
    issued(app, "100", today())
    issued(app, "30", (first - timedelta(days=1)).replace(day=1))
    text = figures(browser)["Net revenue, this month"]
    assert "100.00 EUR" in text and text.endswith(": 30.00")
    for link in links(browser, "Net revenue, this month"):
        assert "of 1<" in browser.get(link).text


def test_it_is_said_how_amounts_in_other_currencies_are_counted(
    app: Flask, sign_in: SignIn
) -> None:
    issued(app, "100", today())
    page = sign_in("Accountant").get("").text
    assert "converted into EUR at the rate kept with each record" in page


def test_a_chart_of_nothing_says_so_and_draws_nothing(sign_in: SignIn) -> None:
    text = sign_in("Admin").get("").text
    charts = text.count('class="card chart"')
    assert charts == text.count("Nothing yet.") == 6 and "<svg" not in text


def test_clients_are_counted(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    browser.make("clients", name="Acme")
    text = figures(browser)["New clients, this month"]
    assert text.startswith("New clients, this month 1 ") and text.endswith(": 0")
    assert "of 1<" in browser.get(links(browser, "New clients, this month")[0]).text


def test_months_stand_on_an_axis_with_their_values_in_a_table(app: Flask, sign_in: SignIn) -> None:
    browser = sign_in("Accountant")
    issued(app, "1234.50", today())
    page = browser.get("").text
    assert page.count('<rect class="bar" x="') == 12
    assert re.search(r'height="32.92"><title>\w+ \d{4}: 1,234.50 EUR</title>', page)
    scale = page.partition('<div class="scale"')[2].partition("</div>")[0]
    assert re.findall(r"<span>([^<]+)</span>", scale) == ["1,500", "1,000", "500", "0"]
    rows = re.findall(r'<th scope="row"><a href="/admin/(invoices[^"]+)">(\w+ \d{4})</a>', page)
    assert len(rows) == 12 and rows[-1][1].endswith(str(today().year))
    assert "of 1<" in browser.get(rows[-1][0]).text
    assert "Net revenue by month: totals of issued invoices" in page


def test_what_stands_now_says_why_nothing_stands_beside_it(app: Flask, sign_in: SignIn) -> None:
    why = "what was owed a month ago is not kept"
    issued(app, "100", today())
    assert sign_in("Accountant").get("").text.count(why) == 1


def test_a_month_below_nothing_hangs_from_the_line(app: Flask, sign_in: SignIn) -> None:
    browser = sign_in("Accountant")
    issued(app, "300", today())
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        key, credited = make_issued_invoice(line_items=[line("100")]), make_issued_invoice()
        put("Invoice", credited, status="Void")
        day = today().replace(day=1) - timedelta(days=1)
        put("Invoice", key, type="CreditNote", credited_invoice_id=credited, issue_date=day)
    page = browser.get("").text
    scale = page.partition('<div class="scale"')[2].partition("</div>")[0]
    assert re.findall(r"<span>([^<]+)</span>", scale) == ["300", "200", "100", "0", "-100"]
    assert 'd="M0 0h120M0 10h120M0 20h120M0 30h120M0 40h120"' in page
    assert re.search(r'y="30.0" width="6" height="10.0"><title>\w+ \d{4}: -100.00', page)


@pytest.mark.parametrize(
    ("role", "shown", "hidden"),
    [
        ("Sales", ["Net revenue, this month", "New leads, this month"], []),
        ("Support", ["New leads, this month"], ["Value of won deals, this month"]),
        ("Accountant", ["Value of won deals, this month"], ["New leads, this month"]),
    ],
)
def test_a_role_sees_the_figures_that_it_may_read(
    sign_in: SignIn, role: str, shown: list[str], hidden: list[str]
) -> None:
    found = figures(sign_in(role))
    assert set(shown) <= found.keys() and not set(hidden) & found.keys()


def test_amounts_without_an_exchange_rate_stand_beside(app: Flask, sign_in: SignIn) -> None:
    browser = sign_in("Accountant")
    issued(app, "100", today())
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        key = make_issued_invoice(line_items=[line("50")])
        put("Invoice", key, currency="KES", exchange_rate=Decimal(0), issue_date=today())
    text = figures(browser)["Net revenue, this month"]
    assert "100.00 EUR" in text and "50.00 KES" in text


def test_open_tickets_are_told_by_how_long_they_wait(app: Flask, sign_in: SignIn) -> None:
    browser = sign_in("Support")
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        for days in (0, 0, 2, 10, 60):
            given = {"channel": "Web", "requester_email": "a@example.com", "subject": "Printer"}
            made = utc_now() - timedelta(days=days)
            put("Ticket", create("Ticket", given), created_at=made)
    page = browser.get("").text
    chart = page[page.index("Open tickets by age") :].partition("</section>")[0]
    counts = re.findall(r'<td class="number"><data value="(\d+)"', chart)
    assert counts == ["2", "1", "0", "1", "1"]
