"""What becomes of the records around one that is deleted (docs/adr/0032)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Column, ForeignKey, Integer, MetaData, Table

from app.errors import InUseError, InvalidStateError
from app.extensions import Model
from app.http.security import Caller, acting_as, make_caller
from app.invoices.steps import issue_invoice
from app.models.document import ENTITY_TYPES
from app.models.invoice import LineItem
from app.models.ticket import TicketComment
from app.tickets.comments import create_comment
from app.writing.reference_rules import DELETE, RESTRICT, RULES, Rule, rule_of
from app.writing.services import SERVICES
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
    today,
    update,
)

ENTITY_OF = {service.rules.table.name: name for name, service in SERVICES.items()}
ISSUED_STATES = ("Sent", "PartiallyPaid", "Paid", "Void", "Uncollectible")


def delete(entity: str, key: int) -> None:
    SERVICES[entity].delete(key)


def is_gone(entity: str, key: int) -> bool:
    return not rows(_model(entity), id=key)


def _model(entity: str) -> Any:
    return SERVICES[entity].rules.model


def test_every_foreign_key_has_a_rule_for_the_deletion_of_what_it_refers_to() -> None:
    keys = {
        f"{table.name}.{column.name}": rule_of(column, key)
        for table in Model.metadata.tables.values()
        for column in table.c
        for key in column.foreign_keys
    }
    linked = {
        f"{service.rules.table.name}.{service.rules.polymorphic[1]}"
        for service in SERVICES.values()
        if service.rules.polymorphic
    }
    assert set(RULES) - set(keys) == linked, "a rule without a foreign key"
    assert linked <= set(RULES)
    # What blocks says what it is.
    assert all(bool(rule.blockers) == bool(rule.does == RESTRICT or rule.blocks)
               for rule in keys.values())  # fmt: skip


def test_a_foreign_key_without_a_rule_is_refused() -> None:
    table = Table("news", MetaData(), Column("client_id", ForeignKey("clients.id")))
    Table("clients", table.metadata, Column("id", Integer, primary_key=True))
    (key,) = table.c.client_id.foreign_keys
    with pytest.raises(LookupError, match=r"news\.client_id"):
        rule_of(table.c.client_id, key)


@dataclass(frozen=True)
class Link:
    """A reference of one entity to another."""

    owner: str
    attribute: str
    target: str

    @property
    def rule(self) -> Rule:
        return RULES[f"{SERVICES[self.owner].rules.table.name}.{self.attribute}"]


LINKS = [
    Link(name, reference.attribute, ENTITY_OF[reference.target])
    for name, service in SERVICES.items()
    for reference in service.rules.references.values()
    if reference.target in ENTITY_OF
]
# How a row comes to stand on what it refers to.
STANDING: Mapping[str, Callable[[int], None]] = {
    "Invoice": lambda key: issue_invoice(key),
    "Task": lambda key: issue_invoice(make_invoice(line_items=[line(task_id=key)])),
    "Document": lambda key: put("Document", key, retain_until=today()),
    "Opportunity": lambda key: put("Opportunity", key, status="Won"),
}


@pytest.mark.parametrize("link", LINKS, ids=str)
def test_a_deletion_does_what_the_rule_says(admin: Caller, link: Link) -> None:
    target, owner = MAKERS[link.target](), MAKERS[link.owner]()
    put(link.owner, owner, **{link.attribute: target})
    if link.rule.does == RESTRICT:
        with pytest.raises(InUseError, match=link.rule.blockers):
            delete(link.target, target)
        return
    if link.rule.blocks:
        standing = MAKERS[link.owner]()
        put(link.owner, standing, **{link.attribute: target})
        STANDING[link.owner](standing)
        before = [stored(link.owner, key) for key in (owner, standing)]
        with pytest.raises(InUseError) as caught:
            delete(link.target, target)
        assert f"{link.rule.blockers} (1) refer to it" in caught.value.message
        (named,) = caught.value.details
        assert named.field == f"{link.owner}({standing})"
        assert [stored(link.owner, key) for key in (owner, standing)] == before
        put(link.owner, standing, **{link.attribute: MAKERS[link.target]()})
    delete(link.target, target)
    if link.rule.does == DELETE:
        assert is_gone(link.owner, owner)
    else:
        assert stored(link.owner, owner)[link.attribute] is None


@pytest.mark.parametrize("status", ISSUED_STATES)
def test_no_reference_of_an_issued_document_becomes_null(admin: Caller, status: str) -> None:
    task = make_task()
    targets = {
        link.attribute: (link.target, MAKERS[link.target]())
        for link in LINKS
        if link.owner == "Invoice"
    }
    invoice = make_issued_invoice(line_items=[line(task_id=task)])
    put("Invoice", invoice, status=status, **{name: key for name, (_, key) in targets.items()})
    put("Task", task, invoice_id=None)  # as a void one leaves it, and a credit note
    for entity, key in (*targets.values(), ("Task", task)):
        with pytest.raises(InUseError):
            delete(entity, key)
    assert rows(LineItem, invoice_id=invoice)[0]["task_id"] == task


@pytest.mark.parametrize("entity", [name for name in ENTITY_TYPES if name != "Document"])
def test_a_retained_document_keeps_what_it_is_about(admin: Caller, entity: str) -> None:
    key = MAKERS[entity]()
    document = make_document(entity_type=entity, entity_id=key, retain_until=today())
    with pytest.raises(InUseError, match=r"retained documents \(1\)"):
        delete(entity, key)
    put("Document", document, retain_until=today() - timedelta(days=1))
    delete(entity, key)
    assert stored("Document", document)["entity_id"] is None


def test_what_keeps_a_record_is_named_to_those_who_may_read_it(admin: Caller) -> None:
    project = make_project()
    numbers = {
        stored("Invoice", make_issued_invoice(project_id=project))["number"] for _ in range(3)
    }
    with pytest.raises(InUseError, match=r"issued invoices \(3\) refer to it") as caught:
        delete("Project", project)
    assert {detail.message.split()[0] for detail in caught.value.details} == numbers
    assert caught.value.details[0].message.endswith("refers to it by projectId")
    rights = {"projects:read": "all", "projects:delete": "all"}
    with (
        acting_as(make_caller(admin.user_id, "someone", "jwt", rights)),
        pytest.raises(InUseError, match=r"issued invoices \(3\)") as caught,
    ):
        delete("Project", project)
    assert list(caught.value.details) == []


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


def test_a_deleted_ticket_takes_its_comments_and_leaves_its_article(admin: Caller) -> None:
    ticket = make_ticket()
    create_comment(ticket, body="Hello")
    article = make_article(source_ticket_id=ticket)
    delete("Ticket", ticket)
    assert rows(TicketComment, ticket_id=ticket) == []
    assert stored("KbArticle", article)["source_ticket_id"] is None


def test_a_deleted_task_leaves_its_parts_and_the_line_that_billed_it(admin: Caller) -> None:
    task = make_task()
    part = make_task(parent_task_id=task)
    invoice = make_invoice(line_items=[line(task_id=task)])
    delete("Task", task)
    assert stored("Task", part)["parent_task_id"] is None
    assert rows(LineItem, invoice_id=invoice)[0]["task_id"] is None


def test_a_deleted_draft_frees_its_tasks(admin: Caller) -> None:
    task = make_task()
    invoice = make_invoice(line_items=[line(task_id=task)])
    assert stored("Task", task)["invoice_id"] == invoice
    delete("Invoice", invoice)
    assert stored("Task", task)["invoice_id"] is None


def test_a_converted_lead_stays(admin: Caller) -> None:
    lead = make_lead()
    put("Lead", lead, status="Converted")
    with pytest.raises(InvalidStateError):
        delete("Lead", lead)


@pytest.mark.parametrize("entity", ENTITY_TYPES)
def test_tasks_about_a_deleted_record_stay(admin: Caller, entity: str) -> None:
    key = MAKERS[entity]()
    task = create("Task", {"title": "A", "related_type": entity, "related_id": key})
    delete(entity, key)
    expected = entity if entity == "Document" else None  # it lies in the trash and may come back
    assert stored("Task", task)["related_type"] == expected
    update("Task", task, title="B")
