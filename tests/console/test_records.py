"""Lists, pages and forms of records: rows of the engine, rules of the services, rights."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from flask import Flask
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.auth.roles import create_role
from app.console.sets import PAGES
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.models.client import Client, Contact
from app.models.invoice import Invoice
from app.models.project import Task
from tests.console.conftest import Browser, SignIn
from tests.factories import line, make_invoice

HOSTILE = "<script>alert('1')</script>\" onload=x ' &"


@pytest.mark.parametrize("path", PAGES)
def test_every_set_has_a_list_a_form_and_a_page(sign_in: SignIn, path: str) -> None:
    browser = sign_in("Admin")
    assert browser.get(f"{path}/").status_code == 200
    assert browser.get(f"{path}/new").status_code == 200
    assert browser.get(f"{path}/12345").status_code == 404


def test_a_record_is_made_shown_changed_and_deleted(sign_in: SignIn, session: Session) -> None:
    browser = sign_in("Admin")
    key = browser.make(
        "clients", name="Acme", revenue="1200.50", tags="one, two", **{"billingAddress.city": "Ulm"}
    )
    shown = browser.get(f"clients/{key}").text
    assert "Acme" in shown and "1,200.50" in shown and ">Ulm</dd>" in shown
    changed = browser.submit(f"clients/{key}/edit", name="Acme Ltd", version='W/"1"')
    assert changed.status_code == 303
    row = session.execute(select(Client.name, Client.billing_city, Client.tags)).one()
    assert tuple(row) == ("Acme Ltd", "Ulm", ["one", "two"])
    assert browser.submit(f"clients/{key}", step="delete", version='W/"2"').status_code == 303
    assert browser.get(f"clients/{key}").status_code == 404


def test_what_is_refused_comes_back_as_it_was_typed(sign_in: SignIn) -> None:
    answer = sign_in("Admin").submit("clients/new", name="Acme", email="nonsense", revenue="many")
    assert answer.status_code == 400
    assert 'value="nonsense"' in answer.text and 'value="many"' in answer.text
    assert "must be a number" in answer.text


def test_a_form_that_is_saved_unchanged_changes_nothing(sign_in: SignIn, session: Session) -> None:
    browser = sign_in("Admin")
    key = browser.make("clients", name="Acme", employeeCount="1,200,000", phone="+49 30 1")
    same = {"name": "Acme", "employeeCount": "1200000", "phone": "+49 30 1", "version": 'W/"1"'}
    assert browser.submit(f"clients/{key}/edit", **same).status_code == 303
    row = session.execute(select(Client.employee_count, Client.version)).one()
    assert tuple(row) == (1_200_000, 1)
    blank = {"employeeCount": " ", "phone": "", "version": 'W/"1"'}
    assert browser.submit(f"clients/{key}/edit", **blank).status_code == 303
    session.rollback()
    assert session.execute(select(Client.employee_count, Client.phone)).one() == (None, None)
    parts = browser.submit(f"clients/{key}/edit", employeeCount="1.5", version='W/"2"')
    assert parts.status_code == 400 and "must be a whole number" in parts.text


def test_an_instant_is_typed_in_the_zone_of_the_organisation_or_with_its_own(
    sign_in: SignIn, session: Session
) -> None:
    browser = sign_in("Admin")
    zone = {"timeZone": "Europe/Berlin", "currency": "EUR", "language": "en", "taxRate": "19.00"}
    version = re.search(r'name="version" value="([^"]+)"', browser.get("settings/defaults").text)
    assert version is not None
    form = {**zone, "fiscalYearStart": "1", "version": version[1]}
    assert browser.submit("settings/defaults", **form).status_code == 303
    local = browser.make("tasks", title="Local", dueAt="2026-07-01T10:00")
    own = browser.make("tasks", title="Own", dueAt="2026-07-01T10:00+00:00")
    due = {row.id: row.due_at for row in session.execute(select(Task.id, Task.due_at))}
    assert due == {
        local: datetime(2026, 7, 1, 8, tzinfo=UTC), own: datetime(2026, 7, 1, 10, tzinfo=UTC)
    }  # fmt: skip
    assert 'value="2026-07-01T12:00"' in browser.get(f"tasks/{own}/edit").text
    wrong = browser.submit("tasks/new", title="Wrong", dueAt="soon")
    assert wrong.status_code == 400 and "must be a day and a time" in wrong.text


def test_a_record_is_named_by_its_mark_its_key_or_its_name(
    sign_in: SignIn, session: Session
) -> None:
    browser = sign_in("Admin")
    acme, other = browser.make("clients", name="Acme"), browser.make("clients", name="Other")
    number = session.scalar(select(Client.number).where(Client.id == acme))
    for typed in ("Acme", f"Acme ({number})", number, f"#{acme}", str(acme)):
        made = browser.make("contacts", lastName="Ada", clientId=typed)
        session.rollback()
        assert session.scalar(select(Contact.client_id).where(Contact.id == made)) == acme, typed
    for typed in ("Nobody", "Acme (C-999999)", "#999999"):
        wrong = browser.submit("contacts/new", lastName="Ada", clientId=typed)
        assert wrong.status_code == 400, typed
        assert f'value="{typed}"' in wrong.text
    browser.make("clients", name="Other")
    twice = browser.submit("contacts/new", lastName="Ada", clientId="Other")
    assert twice.status_code == 400 and twice.text.count("Other (C-") == 2
    assert other


def test_a_field_that_the_service_refuses_says_so_beside_it(sign_in: SignIn) -> None:
    answer = sign_in("Admin").submit("clients/new", name="Acme", email="nonsense")
    assert answer.status_code == 400
    assert 'aria-invalid="true"' in answer.text


def test_nobody_overwrites_what_another_changed_meanwhile(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = browser.make("clients", name="Acme")
    browser.submit(f"clients/{key}/edit", name="First", version='W/"1"')
    late = browser.submit(f"clients/{key}/edit", name="Second", version='W/"1"')
    assert late.status_code == 412
    assert 'value="Second"' in late.text and '<ins dir="auto">First</ins>' in late.text
    assert "First" in browser.get(f"clients/{key}").text


def edited(page: str) -> dict[str, str]:
    """The version of an edit form, and what it was made of."""
    return {
        name: html.unescape(re.search(f'name="{name}" value="([^"]*)"', page)[1])  # type: ignore[index]
        for name in ("version", "seen")
    }


def test_of_two_people_the_second_sees_both_versions_and_chooses(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = browser.make("clients", name="Acme", phone="+49 30 1", industry="Steel")
    address = f"clients/{key}/edit"
    begun = edited(browser.get(address).text)
    other = {"name": "Acme of the other", "phone": "+49 30 2", "industry": "Steel"}
    assert browser.submit(address, **other, version=begun["version"]).status_code == 303
    mine = {"name": "My Acme", "phone": "+49 30 1", "industry": "Iron"}
    both = browser.submit(address, **mine, **begun)
    assert both.status_code == 412 and "Admin saved this record meanwhile" in both.text
    assert 'value="My Acme"' in both.text and ">Acme of the other</ins>" in both.text
    assert 'value="+49 30 2"' in both.text  # which I have not touched
    assert 'value="Iron"' in both.text and both.text.count('name="take"') == 1
    again = edited(both.text)
    form = {**mine, "phone": "+49 30 2", **again}
    assert browser.submit(address, **form, take="name").status_code == 303
    page = browser.get(f"clients/{key}").text
    assert "Acme of the other" in page and "Iron" in page and "+49 30 2" in page
    assert "My Acme" not in browser.get(f"clients/{key}/edit").text


def test_lines_that_two_people_change_are_chosen_as_a_whole(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    client = browser.make("clients", name="Acme")
    first = {
        "line.0.description": "Work", "line.0.unitPrice": "10", "line.0.quantity": "1",
        "line.0.taxRate": "19", "line.0.taxCategory": "S", "lines": "1",
    }  # fmt: skip
    key = browser.make("invoices", clientId=str(client), **first)
    address = f"invoices/{key}/edit"
    begun = edited(browser.get(address).text)
    theirs = {**first, "line.0.id": "1", "line.0.unitPrice": "12", "version": begun["version"]}
    assert browser.submit(address, **theirs).status_code == 303
    mine = {**first, "line.0.id": "1", "line.0.description": "Good work", **begun}
    both = browser.submit(address, **mine)
    assert both.status_code == 412 and 'value="Good work"' in both.text
    assert (
        'Work, <data value="12.00">12.00</data>' in both.text and 'value="LineItems"' in both.text
    )
    mine |= edited(both.text)
    assert browser.submit(address, **mine, take="LineItems").status_code == 303
    assert "12.00" in browser.get(f"invoices/{key}").text


def test_a_page_offers_the_steps_that_the_caller_may_take(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = browser.make("leads", company="Acme", lastName="Doe")
    page = browser.get(f"leads/{key}").text
    assert 'value="status:Contacted"' in page and f"leads/{key}/convert" in page
    assert browser.submit(f"leads/{key}", step="status:Contacted").status_code == 303
    assert browser.submit(f"leads/{key}", step="convert").status_code == 303
    assert "Converted" in browser.get(f"leads/{key}").text
    again = browser.submit(f"leads/{key}", step="convert")
    assert again.status_code == 409


def test_an_invoice_is_issued_paid_and_shown_as_pdf(sign_in: SignIn, app: Flask) -> None:
    browser = sign_in("Admin")
    client = browser.make("clients", name="Acme", email="office@acme.example")
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        invoice = make_invoice(client_id=client, line_items=[line("100", tax_rate=Decimal(0))])
    assert browser.submit(f"invoices/{invoice}", step="status:Sent").status_code == 303
    wrong = browser.submit(f"invoices/{invoice}", step="payment", amount="much", date="soon")
    assert "must be a number" in wrong.text and "must be a date" in wrong.text
    assert wrong.status_code == 400 and "must be a number" in wrong.text
    over = {"step": "payment", "amount": "100.01", "date": "2026-01-05", "method": "transfer"}
    assert browser.submit(f"invoices/{invoice}", **over).status_code == 409
    assert browser.submit(f"invoices/{invoice}", **{**over, "amount": "100"}).status_code == 303
    assert "Paid" in browser.get(f"invoices/{invoice}").text
    assert browser.get(f"invoices/{invoice}/pdf").data.startswith(b"%PDF-")


@pytest.mark.parametrize("path", PAGES)
def test_every_property_of_a_record_is_on_its_page(app: Flask, path: str) -> None:
    """Once: in the head, in a group, or among the details; its table names what there is."""
    with app.app_context():
        page = PAGES[path]
        known = page.entity_set.type.properties
        placed = [*page.head, *page.elsewhere]
        placed += [name for group in page.groups for name in group.properties]
        assert sorted(placed) == sorted(set(placed)), page.set_name
        assert set(placed) <= set(known), page.set_name
        assert {*placed, *page.details(list(known))} == set(known)
        rows = {section for section in page.sections if isinstance(section, str)}
        assert rows <= set(page.related), page.set_name


def test_references_are_names_that_lead_to_their_pages(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    lead = browser.make("leads", company="Acme", lastName="Doe", ownerId="Admin")
    assert browser.submit(f"leads/{lead}", step="convert").status_code == 303
    page = browser.get(f"leads/{lead}").text
    assert re.search(
        r'Converted client</dt><dd dir="auto"><a href="/admin/clients/1">Acme</a>', page
    )
    assert re.search(r'Converted by</dt><dd dir="auto">Admin</dd>', page)
    task = browser.make("tasks", title="Call", relatedType="Client", relatedId="1")
    assert 'href="/admin/clients/1">Acme</a>' in browser.get(f"tasks/{task}").text


def test_a_reference_to_what_one_may_not_read_has_no_name(sign_in: SignIn) -> None:
    admin = sign_in("Admin")
    lead = admin.make("leads", company="Secret", lastName="Doe")
    task = admin.make("tasks", title="Call", relatedType="Lead", relatedId=str(lead))
    page = sign_in("Accountant").get(f"tasks/{task}").text
    assert "Secret" not in page and "/admin/leads/" not in page and "Doe" not in page


def test_the_next_step_is_the_one_main_button(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = browser.make("leads", company="Acme", lastName="Doe")
    for state in ("New", "Contacted", "Qualified"):
        if state != "New":
            browser.submit(f"leads/{key}", step=f"status:{state}")
        head = browser.get(f"leads/{key}").text.split("In short")[0]
        head = re.sub(r"<summary.*?</details>", "", head, flags=re.DOTALL)  # what is folded
        assert len(re.findall(r'class="(?:button )?main"', head)) == 1, state
    assert f'class="button main" href="/admin/leads/{key}/convert"' in head


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("leads", {"company": "Acme", "lastName": "Doe"}),
        ("opportunities", {"name": "Rollout", "clientId": "1", "amount": "100"}),
        ("tickets", {"subject": "Broken", "requesterEmail": "a@example.com"}),
        ("tasks", {"title": "Call"}),
        ("projects", {"name": "Move", "clientId": "1"}),
        ("kbarticles", {"title": "How to", "body": "So"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_step_to_a_state_asks_for_all_that_it_needs(
    sign_in: SignIn, app: Flask, path: str, fields: dict[str, str]
) -> None:
    browser = sign_in("Admin")
    browser.make("clients", name="Acme")
    with app.app_context():
        properties = PAGES[path].entity_set.type.properties
    offered = re.findall(r'name="step" value="(\w+:\w+)"', _page(browser, path, fields))
    assert offered
    for step in dict.fromkeys(offered):
        key = browser.make(path, **fields)
        page = browser.get(f"{path}/{key}").text
        form = page.partition(f'value="{step}"')[2].partition("</form>")[0]
        typed = {
            name: (properties[name].allowed or ["7"])[0]
            for name in re.findall(r'<(?:input|select) id="[^"]+" name="(\w+)"', form)
        }
        taken = browser.submit(f"{path}/{key}", step=step, **typed)
        assert taken.status_code == 303, (step, typed, taken.text)


def _page(browser: Browser, path: str, fields: dict[str, str]) -> str:
    return browser.get(f"{path}/{browser.make(path, **fields)}").text


def test_what_a_deal_or_a_lead_ended_with_is_asked_on_its_page(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    client = str(browser.make("clients", name="Acme"))
    deal = browser.make("opportunities", name="Rollout", clientId=client, amount="100")
    refused = browser.submit(f"opportunities/{deal}", step="stage:ClosedLost", lostReason="Other")
    assert refused.status_code == 400
    form = refused.text.partition(">Mark as lost</summary>")[2].partition("</form>")[0]
    assert re.search(r'name="lostNotes"[^>]+aria-invalid="true"', form)
    assert re.search(r'<option value="Other" selected', form)
    won = browser.submit(f"opportunities/{deal}", step="stage:ClosedWon", amount="90")
    assert won.status_code == 303
    assert "Opportunity: Won, 90.00 EUR." in browser.get(f"opportunities/{deal}").text
    lead = browser.make("leads", company="Acme", lastName="Doe")
    reason = {"disqualifyReason": "NoResponse", "disqualifyNotes": ""}
    given_up = browser.submit(f"leads/{lead}", step="status:Disqualified", **reason)
    assert given_up.status_code == 303, given_up.text
    assert "Lead: Disqualified." in browser.get(f"leads/{lead}").text


def test_a_draft_is_sent_by_one_button(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    client = str(browser.make("clients", name="Acme"))
    page = browser.get(f"invoices/{browser.make('invoices', clientId=client)}").text
    assert "/send" in page and 'value="status:Sent"' not in page


def test_a_deletion_says_before_what_goes_along(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    client = browser.make("clients", name="Acme")
    browser.make("contacts", lastName="Ada", clientId=str(client))
    browser.make("tickets", subject="Broken", clientId=str(client), requesterEmail="a@b.example")
    page = browser.get(f"clients/{client}/delete").text
    assert "1 contact," in page and "1 ticket." in page and 'value="delete"' in page
    assert browser.get(f"clients/{client}").status_code == 200
    assert sign_in("Viewer").get(f"clients/{client}/delete").status_code == 403


def test_what_keeps_a_record_is_named_in_the_language_of_the_page(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    client = str(browser.make("clients", name="Acme"))
    browser.make("opportunities", name="Rollout", clientId=client, stage="ClosedWon")
    browser.client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "de"
    page = browser.get(f"clients/{client}/delete").text
    assert "Darauf verweisen: gewonnene Verkaufschancen (1)." in page
    assert 'value="delete"' not in page


def test_related_records_are_counted_and_all_are_a_click_away(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    client = browser.make("clients", name="Acme")
    for count in range(12):
        browser.make("contacts", lastName=f"Ada {count}", clientId=str(client))
    assert f'clients/{client}/all/Contacts">All 12<' in browser.get(f"clients/{client}").text
    everybody = browser.get(f"clients/{client}/all/Contacts").text
    assert "Ada 0" in everybody and "Ada 11" in everybody and "of 12" in everybody
    assert browser.get(f"clients/{client}/all/Nothing").status_code == 404
    assert sign_in("Accountant").get(f"clients/{client}/all/Leads").status_code == 404


def test_a_draft_without_a_number_is_linked_from_its_client(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    client = browser.make("clients", name="Acme")
    draft = browser.make("invoices", clientId=str(client))
    assert f'href="/admin/invoices/{draft}" dir="auto">Draft {draft}<' in (
        browser.get(f"clients/{client}").text
    )


def test_a_role_without_any_right_sees_pages_and_nothing_on_them(
    app: Flask, sign_in: SignIn
) -> None:
    admin = sign_in("Admin")
    client = admin.make("clients", name="Secret Ltd")
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        create_role("Guest", {})
    guest = sign_in("Guest")
    assert guest.get("").status_code == 200
    for path in ("clients/", f"clients/{client}", f"clients/{client}/edit",
                 f"clients/{client}/delete", f"clients/{client}/timeline",
                 f"clients/{client}/all/Contacts", "clients/new", "queue",
                 "invoices/1/send", "settings/answers"):  # fmt: skip
        answer = guest.get(path)
        assert answer.status_code in (403, 404) and "Secret" not in answer.text, path
    # Who reads records and no colleagues sees keys of nobody.
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        create_role("Reader", {"clients:read": "all"})
    page = sign_in("Reader").get(f"clients/{client}")
    assert page.status_code == 200 and "Secret Ltd" in page.text and 'name="step"' not in page.text


def test_a_viewer_sees_and_changes_nothing(sign_in: SignIn) -> None:
    admin = sign_in("Admin")
    key = admin.make("clients", name="Acme")
    viewer = sign_in("Viewer")
    page = viewer.get(f"clients/{key}")
    assert page.status_code == 200
    assert "/edit" not in page.text and 'name="step"' not in page.text
    assert viewer.submit(f"clients/{key}/edit", name="Mine").status_code == 403
    assert viewer.submit(f"clients/{key}", step="delete").status_code == 403
    assert "API keys" not in viewer.get("").text
    assert viewer.get("api-keys").status_code == 403


def test_a_role_without_leads_has_no_page_of_leads(sign_in: SignIn) -> None:
    browser = sign_in("Accountant")
    assert "/admin/leads/" not in browser.get("").text
    assert browser.get("leads/").status_code == 403


@pytest.mark.parametrize("path", ["", "clients/", "clients/{key}", "clients/{key}/edit", "audit"])
def test_hostile_text_is_only_text(sign_in: SignIn, path: str) -> None:
    browser = sign_in("Admin")
    key = browser.make("clients", name=HOSTILE, notes=HOSTILE, tags=HOSTILE)
    page = browser.get(path.format(key=key)).text
    assert "<script>alert" not in page
    assert '" onload=x' not in page


@pytest.mark.parametrize(
    "query", ["q=%22", "q=%27%29%20or%201", "state=%27%20or%201%20eq%201", "sort=nothing",
              "sort=name;drop", "q=AND%20OR%20NOT%20%28"],
)  # fmt: skip
def test_odd_words_in_the_address_are_no_error(sign_in: SignIn, query: str) -> None:
    assert sign_in("Sales").get(f"clients/?{query}").status_code == 200


def test_invoices_begin_with_the_newest_whatever_their_keys_are(
    app: Flask, sign_in: SignIn
) -> None:
    browser = sign_in("Admin")
    with app.app_context(), transaction() as session, acting_as(system_caller("test")):
        old, new, moved_in = (make_invoice() for _ in range(3))
        long_ago = datetime(2020, 1, 1, tzinfo=UTC)
        session.execute(update(Invoice).where(Invoice.id == moved_in).values(created_at=long_ago))
    page = browser.get("invoices/").text
    places = [page.index(f'/invoices/{key}"') for key in (new, old, moved_in)]
    assert places == sorted(places)
    assert page.count('class="code"') == 3


def test_lists_search_filter_sort_and_page(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    for name, status in (("Acme", "Active"), ("Beta", "Inactive"), ("Acme Two", "Inactive")):
        browser.make("clients", name=name, status=status)
    assert "of 2" in browser.get("clients/?q=acme").text
    assert "of 2" in browser.get("clients/?state=Inactive").text
    names = browser.get("clients/?sort=name+desc").text
    assert names.index("Beta") < names.index("Acme Two")
    assert "Nothing fits." in browser.get("clients/?skip=50").text
    assert browser.get("clients/?skip=-1").status_code == 400
