"""What happened to a record, on its page: for whoever may read it, with what they may know."""

from __future__ import annotations

import re
from decimal import Decimal

from flask import Flask

from app.crm.merging import merge_clients
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.tickets.merging import merge_tickets
from tests.console.conftest import SignIn
from tests.factories import line, make_invoice


def happened(page: str) -> str:
    history = page.split('<ol class="timeline" role="list">')[1].split("</ol>")[0]
    return " ".join(re.sub(r"<[^>]+>", " ", history).split())


def test_changes_are_told_and_what_was_before_to_who_reads_the_audit_log(sign_in: SignIn) -> None:
    admin = sign_in("Admin")
    key = admin.make("clients", name="Acme", notes="secret once")
    admin.submit(f"clients/{key}/edit", name="Acme Ltd", notes="", version='W/"1"')
    told = happened(admin.get(f"clients/{key}").text)
    assert "Admin" in told and "secret once" in told and "Acme Ltd" in told
    told = happened(sign_in("Viewer").get(f"clients/{key}").text)
    assert "Changed" in told and "Name, Notes" in told and "secret once" not in told


def test_what_a_record_was_is_told_in_names_and_in_the_signs_of_the_reader(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    lead = browser.make("leads", lastName="Berg")
    changed = {"ownerId": "", "estimatedValue": "1234.5", "country": "Norway"}
    assert browser.submit(f"leads/{lead}/edit", **changed, version='W/"1"').status_code == 303
    told = happened(browser.get(f"leads/{lead}").text)
    assert "Owner Admin" in told and "1,234.50" in told and "Country Norway" in told


def test_steps_payments_and_what_belongs_to_a_client_are_told(app: Flask, sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    client = browser.make("clients", name="Acme", email="office@acme.example")
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        invoice = make_invoice(client_id=client, line_items=[line("100", tax_rate=Decimal(0))])
    assert browser.submit(f"invoices/{invoice}/send", to="a@example.com").status_code == 303
    payment = {"step": "payment", "amount": "40", "date": "2026-01-05", "method": "transfer"}
    assert browser.submit(f"invoices/{invoice}", **payment).status_code == 303
    told = happened(browser.get(f"invoices/{invoice}").text)
    assert "Sent by e-mail a@example.com ·" in told and "Draft → Sent" in told
    assert told.count("Payment") == 1 and "40.00 EUR" in told
    of_client = happened(browser.get(f"clients/{client}/timeline").text)
    assert "Draft → Sent" in of_client and "INV-" in of_client
    hidden = happened(sign_in("Support").get(f"clients/{client}/timeline").text)
    assert "INV-" in hidden  # support reads invoices


def test_what_one_may_not_read_is_not_told(sign_in: SignIn) -> None:
    admin = sign_in("Admin")
    client = admin.make("clients", name="Acme")
    admin.make("opportunities", name="Secret deal", clientId=str(client), amount="5")
    assert "Secret deal" in happened(admin.get(f"clients/{client}").text)
    page = sign_in("Support").get(f"clients/{client}").text  # has no opportunities
    assert "Secret deal" not in page and "Opportunity" not in happened(page)
    assert sign_in("Accountant").get("leads/1/timeline").status_code == 403


def test_a_long_history_has_pages(app: Flask, sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = browser.make("clients", name="Acme")
    for count in range(1, 31):
        form = {"name": f"Acme {count}", "version": f'W/"{count}"'}
        assert browser.submit(f"clients/{key}/edit", **form).status_code == 303
    assert f"clients/{key}/timeline" in browser.get(f"clients/{key}").text
    first = browser.get(f"clients/{key}/timeline").text
    size = app.config["CONSOLE_PAGE_SIZE"]
    assert happened(first).count("Changed") == min(size, 30)
    rest = browser.get(f"clients/{key}/timeline?skip=25").text
    assert happened(rest).count("Changed") == 5 and "Created" in happened(rest)


def test_a_merge_names_what_has_become_a_part(app: Flask, sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    clients = [browser.make("clients", name="Acme") for _ in range(2)]
    tickets = [browser.make("tickets", subject="Loud pump") for _ in range(2)]
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        merge_clients(clients[0], source_id=clients[1])
        merge_tickets(tickets[0], source_id=tickets[1])
    for path, (kept, gone) in (("clients", clients), ("tickets", tickets)):
        told = happened(browser.get(f"{path}/{kept}").text)
        assert f"Merged {path[0].upper()}-{gone:06}" in told
