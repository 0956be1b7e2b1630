"""What the palette of the keyboard finds, and the page of the keys."""

from __future__ import annotations

import io
from datetime import date
from typing import Any

import pytest
from flask import Flask

from app.console.search_page import KEYS
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.console.conftest import Browser, SignIn
from tests.factories import make_issued_invoice


def found(browser: Browser, text: str) -> list[dict[str, Any]]:
    answer = browser.get(f"palette?q={text}")
    assert answer.status_code == 200
    items: list[dict[str, Any]] = answer.json["items"]  # type: ignore[index]
    return items


def test_records_of_every_kind_are_found_with_their_pages(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    client = browser.make("clients", name="Polaris")
    browser.make("invoices", clientId=str(client))
    browser.make("products", name="Polaris lamp", sku="PL-1", unitPrice="5")
    browser.make("tasks", title="Call Polaris")
    items = found(browser, "polaris")
    assert {"name": "Polaris", "kind": "Client", "link": f"/admin/clients/{client}"} in items
    assert {"name": "Draft 1 · Polaris", "kind": "Invoice", "link": "/admin/invoices/1"} in items
    assert {"name": "PL-1 · Polaris lamp", "kind": "Product", "link": "/admin/products/1"} in items
    assert {"name": "Call Polaris", "kind": "Task", "link": "/admin/tasks/1"} in items
    assert all(browser.get(item["link"].removeprefix("/admin/")).status_code == 200
               for item in items)  # fmt: skip


def test_a_ticket_is_found_by_its_number(sign_in: SignIn) -> None:
    browser = sign_in("Support")
    browser.make("tickets", subject="Printer", channel="Web", requesterEmail="a@b.example")
    assert [item["name"] for item in found(browser, "T-000001")] == ["T-000001 · Printer"]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("INV-2026-00001", "INV-2026-00001"), ("00001", "INV-2026-00001"),
        ("-00001", "INV-2026-00001"), ("000001", "C-000001"), ("C-000001", "C-000001"),
        ("T-000001", "T-000001"), ("00001 ", "INV-2026-00001"), ("0012", "PUMP-0012"),
        ("polaris 7", "Polaris 7"),
    ],
)  # fmt: skip
def test_the_number_that_was_typed_comes_first(
    sign_in: SignIn, app: Flask, text: str, first: str
) -> None:
    browser = sign_in("Admin")
    client = browser.make("clients", name="Old")
    browser.make("clients", name="Polaris 7")
    browser.make("tickets", subject="Printer", channel="Web", requesterEmail="a@b.example")
    browser.make("products", name="Pump 120012", sku="PUMP-0012", unitPrice="5")
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        number = make_issued_invoice(client_id=client, issue_date=date(2026, 1, 5))
    assert number
    names = [item["name"] for item in found(browser, text)]
    assert names[0].startswith(first), names


def test_articles_and_documents_are_found_by_their_names(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    browser.make("kbarticles", title="Change the filter", body="So")
    file = (io.BytesIO(b"text"), "a.txt")
    browser.submit("documents/upload", name="Filter of 2026", file=file)
    assert {item["kind"] for item in found(browser, "filter")} == {"Article", "Document"}


@pytest.mark.parametrize("text", ["", "%20", "x", "'", "%25", "<script>", "a" * 400])
def test_what_finds_nothing_is_no_fault(sign_in: SignIn, text: str) -> None:
    assert found(sign_in("Viewer"), text) == []


def test_what_a_role_may_not_read_is_not_found(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    client = browser.make("clients", name="Polaris")
    browser.make("opportunities", name="Polaris deal", clientId=str(client), amount="1",
                 closeDate="2026-12-01")  # fmt: skip
    assert "Opportunity" in {item["kind"] for item in found(browser, "polaris")}
    assert "Opportunity" not in {item["kind"] for item in found(sign_in("Support"), "polaris")}


def test_the_keys_are_a_page_too(sign_in: SignIn) -> None:
    page = sign_in("Viewer").get("keys").text
    assert all(f"<kbd>{name}</kbd>" in page for names, _ in KEYS for name in names)
    assert '<a href="/admin/keys">Keys</a>' in page
