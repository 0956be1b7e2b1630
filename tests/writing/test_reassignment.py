"""Everything that belongs to one record is hung onto another."""

from __future__ import annotations

from sqlalchemy import func, select

from app.db import records
from app.extensions import Model
from app.http.security import Caller
from app.writing.deletion import move_references
from app.writing.services import SERVICES
from tests.business import admin
from tests.factories import (
    event_names,
    make_client,
    make_contact,
    make_document,
    make_issued_invoice,
    make_opportunity,
    make_project,
    make_task,
    make_ticket,
    pay,
    stored,
)

__all__ = ["admin"]
CLIENT = SERVICES["Client"].rules


def references_to(key: int) -> dict[str, int]:
    """Table and column -> how many of its rows refer to a client."""
    counts = {}
    for table in Model.metadata.sorted_tables:
        for column in table.c:
            if any(foreign.column.table is CLIENT.table for foreign in column.foreign_keys):
                count = select(func.count()).select_from(table).where(column == key)
                if found := records.connection().execute(count).scalar_one():
                    counts[f"{table.name}.{column.name}"] = found
    return counts


def test_whatever_refers_to_a_client_refers_to_the_other(admin: Caller) -> None:
    client, source, third = make_client(), make_client(), make_client()
    contact = make_contact(client_id=source)
    for make in (make_opportunity, make_ticket, make_project):
        make(client_id=source)
    untouched = make_ticket(client_id=third)
    invoice = make_issued_invoice(client_id=source)
    pay(invoice, "10")
    before = references_to(source)
    moved = move_references(CLIENT, source, client)
    assert references_to(source) == {}
    assert references_to(client) == before
    assert sum(moved.values()) == sum(before.values())
    assert {name.partition(".")[0] for name in before} == moved.keys()
    assert moved["contacts"] == 1
    assert stored("Ticket", untouched)["client_id"] == third
    assert event_names("Contact", contact)[-1] == "contact.updated"


def test_what_is_about_a_record_by_its_type_goes_along_and_no_other_of_its_key(
    admin: Caller,
) -> None:
    client, source = make_client(), make_client()
    about = {"related_type": "Client", "related_id": source}
    task = make_task(**about)
    document = make_document(entity_type="Client", entity_id=source)
    namesake = make_project(client_id=client)
    other = make_task(related_type="Project", related_id=namesake)
    assert move_references(CLIENT, source, client) == {"documents": 1, "tasks": 1}
    assert stored("Task", task)["related_id"] == client
    assert stored("Document", document)["entity_id"] == client
    assert stored("Task", other)["related_id"] == namesake
    assert move_references(CLIENT, source, client) == {}
