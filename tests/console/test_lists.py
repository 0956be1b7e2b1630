"""Lists to work in: columns of related records, conditions, order, pages."""

from __future__ import annotations

import pytest
from flask import Flask

from app.console.sets import PAGES
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.console.conftest import SignIn
from tests.factories import make_client, make_invoice, today


@pytest.mark.parametrize(
    "path", ["invoices", "opportunities", "tickets", "projects", "contacts", "documents"]
)
def test_the_client_can_be_sorted_by_and_is_linked(sign_in: SignIn, path: str) -> None:
    browser = sign_in("Admin")
    page = browser.get(f"{path}/?sort=Client")
    assert page.status_code == 200
    assert "$expand=" in page.text and "Client($select=id,name)" in page.text


def test_an_invoice_shows_its_client_and_amounts_with_their_currency(
    app: Flask, sign_in: SignIn
) -> None:
    browser = sign_in("Admin")
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        client = make_client(name="<script>Polaris</script>")
        make_invoice(client_id=client)
    deal = browser.make("opportunities", name="Deal", clientId=str(client), amount="1200",
                        closeDate=str(today()))  # fmt: skip
    text = browser.get("invoices/").text
    assert f'<a href="/admin/clients/{client}" dir="auto">&lt;script&gt;Polaris' in text
    assert '<small class="currency">EUR</small>' in text
    assert 'aria-sort="descending"' in text  # marked before anybody has sorted
    deals = browser.get("opportunities/").text
    assert f"/opportunities/{deal}" in deals and "Due today" in deals


def test_a_task_is_overdue_and_about_a_record_that_is_named_and_linked(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    client = browser.make("clients", name="Polaris")
    browser.make("tasks", title="Call", relatedType="Client", relatedId=str(client),
                 dueAt="2026-01-02T10:00")  # fmt: skip
    text = browser.get("tasks/").text
    assert f'<a href="/admin/clients/{client}" dir="auto">Polaris</a>' in text
    assert "Overdue</span>" in text


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("assigneeId:me:", 1), ("assigneeId:empty:", 1), ("priority:is:High,Urgent", 1),
        ("priority:not:High", 1), ("subject:has:PRINTER", 1), ("createdAt:today:", 2),
        ("createdAt:last-month:", 0), ("tags:has:vip", 1), ("tags:without:vip", 1),
        ("reopenCount:most:0", 2), ("createdById:me:", 2), ("category:empty:", 2),
    ],
)  # fmt: skip
def test_conditions_narrow_a_list(sign_in: SignIn, condition: str, count: int) -> None:
    browser = sign_in("Support")
    browser.make("tickets", subject="Printer jams", requesterEmail="a@example.com", tags="vip",
                 priority="High", assigneeId="Support")  # fmt: skip
    browser.make("tickets", subject="Other", requesterEmail="b@example.com")
    text = browser.get(f"tickets/?where={condition}").text
    assert (f"of {count}<" in text) if count else ("Nothing fits." in text)
    assert "Remove: " in text


def test_a_typed_condition_becomes_a_part_of_the_address(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    client = browser.make("clients", name="Polaris")
    browser.make("opportunities", name="Deal", clientId=str(client), amount="1200.50")
    asked = "opportunities/?q=deal&filtering=1"
    kept = browser.get(f"{asked}&add=clientId&operator=is&value=Polaris").headers["Location"]
    assert kept == f"/admin/opportunities/?q=deal&where=clientId%3Ais%3A{client}"
    assert "of 1<" in browser.get(kept.removeprefix("/admin/")).text
    refused = browser.get(f"{asked}&add=clientId&operator=is&value=Nobody")
    assert refused.status_code == 400
    assert "no record" in refused.text and 'value="Nobody"' in refused.text
    form = browser.get("opportunities/?add=amount").text
    assert "is at least" in form and 'inputmode="decimal"' in form


@pytest.mark.parametrize(
    "query",
    ["where=nothing:is:1", "where=status:is:Nowhere", "where=clientId:is:x",
     "where=total:least:NaN", "where=dueDate:on:9999-12-31", "where=dueDate:on:soon",
     "where=::", "sort=Client/owner",
     "columns=nothing,LineItems", "columns=taxBreakdown", "rows=7", "where=number:has:'%25"],
)  # fmt: skip
def test_an_old_or_broken_address_still_opens(sign_in: SignIn, query: str) -> None:
    assert sign_in("Admin").get(f"invoices/?{query}").status_code == 200


@pytest.mark.parametrize(
    ("query", "text"),
    [("where=nothing:is:1", "nothing:is:1"), ("where=total:least:NaN", "total:least:NaN"),
     ("view=Lost", "Lost"), ("state=Nowhere&q=5", "Nowhere"),
     ("&".join(f"where=total:least:{n}" for n in range(21)), "total:least:20")],
    ids=["property", "value", "view", "state", "too many"],
)  # fmt: skip
def test_a_list_with_more_than_was_asked_for_says_so_and_nothing_is_done_with_all_of_it(
    sign_in: SignIn, query: str, text: str
) -> None:
    browser = sign_in("Admin")
    page = browser.get(f"invoices/?{query}").text
    assert f"shows more than was asked for: {text}<" in page
    assert "shows more than" not in browser.get("invoices/?where=total:least:1&view=Unpaid").text
    for answer in (
        browser.submit("invoices/bulk", action="tag", all="1", query=query),
        browser.submit("invoices/bulk", action="tag", all="1", query=query, confirm="1", value="x"),
        browser.get(f"invoices/export.csv?{query}"),
    ):
        assert answer.status_code == 400
        assert "choose the filter anew" in answer.text


@pytest.mark.parametrize(
    ("words", "count"), [("POLARIS", 1), ("polaris deal", 1), ("polaris other", 0), ("eal", 1)]
)
def test_a_list_is_searched_by_names_of_what_its_records_refer_to(
    sign_in: SignIn, words: str, count: int
) -> None:
    browser = sign_in("Admin")
    for name, client in (("Deal", "Polaris Optik"), ("Other", "Vega")):
        key = browser.make("clients", name=client)
        browser.make("opportunities", name=name, clientId=str(key), amount="5")
    text = browser.get(f"opportunities/?q={words}").text
    assert (f"of {count}<" in text) if count else ("Nothing fits." in text)


@pytest.mark.parametrize("path", PAGES)
def test_a_list_is_searched_by_the_numbers_that_it_shows(app: Flask, path: str) -> None:
    with app.app_context():
        page = PAGES[path]
        properties = page.entity_set.type.properties
        numbers = [name for name in ("number", "code", "sku") if name in page.columns]
        assert all(properties[name].searchable for name in numbers)


def test_a_client_is_found_by_a_part_of_its_number(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    browser.make("clients", name="Acme")
    assert "Acme" in browser.get("clients/?q=0001").text
    assert "Nothing fits." in browser.get("clients/?q=0002").text


def test_the_search_at_the_top_finds_every_kind(app: Flask, sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    client = browser.make("clients", name="Polaris Optik")
    made = {
        "opportunities": browser.make("opportunities", name="Deal", clientId=str(client),
                                      amount="5"),
        "tickets": browser.make("tickets", subject="Polaris calls",
                                requesterEmail="a@example.com"),
        "tasks": browser.make("tasks", title="Ring Polaris"),
        "projects": browser.make("projects", name="Roof", clientId=str(client)),
    }  # fmt: skip
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        made["invoices"] = make_invoice(client_id=client)
    text = browser.get("search?q=polaris").text
    for path in ("tickets", "tasks", "projects", "invoices"):
        assert f'href="/admin/{path}/{made[path]}"' in text, path
        assert f'href="/admin/{path}/?q=polaris"' in text, path
    assert f'href="/admin/clients/{client}"' in text
