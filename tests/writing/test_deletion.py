"""What becomes of the records around one that is deleted (docs/adr/0022)."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Table

from app.errors import InUseError, InvalidStateError
from app.extensions import Model
from app.models.invoice import LineItem
from app.models.ticket import TicketComment
from app.security import Caller
from app.services import SERVICES
from app.tickets.comments import create_comment
from tests.factories import (
    MAKERS,
    create,
    event_names,
    line,
    make_article,
    make_client,
    make_contact,
    make_document,
    make_invoice,
    make_issued_invoice,
    make_lead,
    make_opportunity,
    make_project,
    make_task,
    make_ticket,
    pay,
    put,
    rows,
    stored,
    update,
)

ENTITY_TABLES = {service.rules.columns for service in SERVICES.values()}
# Rows of which every one is gone with its parent, or whose parent cannot go while they are there.
# Said by the key itself: gone with the record, or left without it.
SAID = ("CASCADE", "SET NULL")
KEPT_BY_ISSUE = {"payments.invoice_id", "payments.client_id", "issue_records.invoice_id"}


def delete(entity: str, key: int) -> None:
    SERVICES[entity].delete(key)


def is_gone(entity: str, key: int) -> bool:
    return not rows(_model(entity), id=key)


def _model(entity: str) -> Any:
    table = SERVICES[entity].rules.columns
    return next(one for one in Model.__subclasses__() if one.__table__ is table)


def test_every_reference_between_records_has_a_rule() -> None:
    """A new foreign key to an entity must say what its deletion means."""
    ruled = {
        f"{owner.columns.name}.{name}"
        for service in SERVICES.values()
        for owner in (service.rules, *service.rules.children.values())
        for name in owner.references
    }
    for table in Model.metadata.tables.values():
        for column in _references_to_entities(table):
            key = next(iter(column.foreign_keys))
            name = f"{table.name}.{column.name}"
            assert name in ruled | KEPT_BY_ISSUE or key.ondelete in SAID, name


def _references_to_entities(table: Table) -> list[Any]:
    return [
        column
        for column in table.c
        if any(key.column.table in ENTITY_TABLES for key in column.foreign_keys)
    ]


def test_a_client_goes_with_its_people_drafts_and_open_sales(admin: Caller) -> None:
    client_id = make_client()
    contact = make_contact(client_id=client_id)
    draft = make_invoice(client_id=client_id)
    sale = make_opportunity(client_id=client_id, contact_id=contact)
    delete("Client", client_id)
    assert is_gone("Contact", contact)
    assert is_gone("Invoice", draft)
    assert is_gone("Opportunity", sale)
    assert rows(LineItem, invoice_id=draft) == []
    for entity, key in (("Contact", contact), ("Invoice", draft), ("Opportunity", sale)):
        assert event_names(entity, key)[-1] == f"{SERVICES[entity].rules.event}.deleted"


def test_what_can_be_without_its_client_stays_without_it(admin: Caller) -> None:
    client_id = make_client()
    kept = {
        "Ticket": make_ticket(client_id=client_id),
        "Project": make_project(client_id=client_id),
        "Document": make_document(client_id=client_id, entity_type="Client", entity_id=client_id),
        "Task": make_task(related_type="Client", related_id=client_id),
    }
    delete("Client", client_id)
    for entity, key in kept.items():
        row = stored(entity, key)
        assert row.get("client_id") is None
        assert event_names(entity, key)[-1] == f"{SERVICES[entity].rules.event}.updated"
    assert stored("Document", kept["Document"])["entity_type"] is None
    task = stored("Task", kept["Task"])
    assert (task["related_type"], task["related_id"]) == (None, None)


@pytest.mark.parametrize("state", ["issued", "paid", "void"])
def test_a_client_with_issued_invoices_stays(admin: Caller, state: str) -> None:
    client_id = make_client()
    contact = make_contact(client_id=client_id)
    invoice = make_issued_invoice(client_id=client_id)
    if state == "paid":
        pay(invoice, "119")
    if state == "void":
        put("Invoice", invoice, status="Void")
    with pytest.raises(InUseError, match="issued invoices"):
        delete("Client", client_id)
    assert stored("Contact", contact)["client_id"] == client_id


def test_a_client_that_bought_something_stays(admin: Caller) -> None:
    client_id = make_client()
    make_opportunity(client_id=client_id, stage="ClosedWon")
    with pytest.raises(InUseError, match="won opportunities"):
        delete("Client", client_id)


def test_a_deleted_contact_leaves_its_tickets_sales_and_drafts(admin: Caller) -> None:
    contact = make_contact()
    kept = (
        ("Ticket", make_ticket(contact_id=contact)),
        ("Opportunity", make_opportunity(contact_id=contact)),
        ("Invoice", make_issued_invoice(contact_id=contact)),
    )
    delete("Contact", contact)
    for entity, key in kept:
        assert stored(entity, key)["contact_id"] is None
    assert stored("Invoice", kept[-1][1])["buyer"]["contactName"].startswith("Person")


def test_a_deleted_ticket_takes_its_comments_and_leaves_its_article(admin: Caller) -> None:
    ticket = make_ticket()
    create_comment(ticket, body="Hello")
    article = make_article(source_ticket_id=ticket)
    delete("Ticket", ticket)
    assert rows(TicketComment, ticket_id=ticket) == []
    assert stored("KbArticle", article)["source_ticket_id"] is None


def test_a_deleted_project_leaves_its_tasks_and_invoices(admin: Caller) -> None:
    project = make_project()
    task, invoice = make_task(project_id=project), make_invoice(project_id=project)
    delete("Project", project)
    assert stored("Task", task)["project_id"] is None
    assert stored("Invoice", invoice)["project_id"] is None


def test_a_deleted_task_leaves_its_parts_and_the_line_that_billed_it(admin: Caller) -> None:
    task = make_task()
    part = make_task(parent_task_id=task)
    invoice = make_invoice(line_items=[line(task_id=task)])
    delete("Task", task)
    assert stored("Task", part)["parent_task_id"] is None
    assert rows(LineItem, invoice_id=invoice)[0]["task_id"] is None


def test_a_billed_task_stays(admin: Caller) -> None:
    task = make_task()
    make_issued_invoice(line_items=[line(task_id=task)])
    with pytest.raises(InvalidStateError):
        delete("Task", task)


def test_a_deleted_draft_frees_its_tasks(admin: Caller) -> None:
    task = make_task()
    invoice = make_invoice(line_items=[line(task_id=task)])
    assert stored("Task", task)["invoice_id"] == invoice
    delete("Invoice", invoice)
    assert stored("Task", task)["invoice_id"] is None


def test_a_deleted_sale_leaves_what_came_of_it(admin: Caller) -> None:
    sale = make_opportunity()
    project, invoice = make_project(opportunity_id=sale), make_issued_invoice(opportunity_id=sale)
    delete("Opportunity", sale)
    assert stored("Project", project)["opportunity_id"] is None
    assert stored("Invoice", invoice)["opportunity_id"] is None


def test_a_converted_lead_stays(admin: Caller) -> None:
    lead = make_lead()
    put("Lead", lead, status="Converted")
    with pytest.raises(InvalidStateError):
        delete("Lead", lead)


@pytest.mark.parametrize("entity", SERVICES)
def test_tasks_about_a_deleted_record_stay(admin: Caller, entity: str) -> None:
    key = MAKERS[entity]()
    task = create("Task", {"title": "A", "related_type": entity, "related_id": key})
    delete(entity, key)
    expected = entity if entity == "Document" else None  # it lies in the trash and may come back
    assert stored("Task", task)["related_type"] == expected
    update("Task", task, title="B")
