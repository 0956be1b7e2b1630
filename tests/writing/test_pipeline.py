"""What every write leaves behind: the row with its stamps, the audit record, the events."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from sqlalchemy import Text, cast, select

from app.db import records
from app.errors import (
    DuplicateError,
    ForbiddenError,
    NotFoundError,
    PreconditionFailedError,
    ValidationError,
)
from app.http.security import Caller, acting_as, make_caller, system_caller
from app.models.event import AuditRecord, Event
from app.permissions import ROLES
from app.writing.services import SERVICES
from tests.factories import (
    MAKERS,
    audit_actions,
    create,
    event_names,
    make_client,
    make_contact,
    make_lead,
    make_opportunity,
    make_ticket,
    make_user,
    rows,
    stored,
    update,
)


def payloads(entity: str, key: int) -> list[dict[str, Any]]:
    """The data of the events of a record, oldest first."""
    return [event["payload"] for event in rows(Event, entity=entity, entity_id=key)]


def test_a_new_record_is_stamped_and_belongs_to_its_maker(admin: Caller) -> None:
    row = stored("Client", make_client())
    assert row["version"] == 1
    assert row["created_at"] == row["updated_at"]
    assert row["created_by_id"] == row["updated_by_id"] == row["owner_id"] == admin.user_id


def test_a_change_grows_the_version_and_names_who_made_it(admin: Caller) -> None:
    with time_machine.travel("2026-01-01T10:00:00Z", tick=False):
        key = make_client()
    manager = make_user("Manager")
    with acting_as(manager), time_machine.travel("2026-01-02T10:00:00Z", tick=False):
        update("Client", key, name="Other")
    row = stored("Client", key)
    assert (row["version"], row["updated_by_id"]) == (2, manager.user_id)
    assert (row["created_by_id"], row["owner_id"]) == (admin.user_id, admin.user_id)
    assert (row["updated_at"] - row["created_at"]).days == 1


def test_the_system_is_no_user(admin: Caller) -> None:
    with acting_as(system_caller("job")):
        key = make_client()
    row = stored("Client", key)
    assert (row["created_by_id"], row["updated_by_id"], row["owner_id"]) == (None, None, None)
    (audit,) = rows(AuditRecord, entity="Client", entity_id=key)
    assert (audit["actor_id"], audit["via"]) == (None, "job")


def test_a_change_that_changes_nothing_writes_nothing(admin: Caller) -> None:
    key = make_client(name="A", tags=["x"], custom_fields={"a": 1}, revenue=5)
    before = stored("Client", key)
    update("Client", key, name="A", tags=["x"], custom_fields={"a": 1}, revenue=5)
    update("Client", key)
    update("Client", key, id=99, number="C-7", invoiced_total=5)
    assert stored("Client", key) == before
    assert event_names("Client", key) == ["client.created"]
    assert audit_actions("Client", key) == ["client.created"]


def test_only_what_changed_is_reported_in_wire_spelling(admin: Caller) -> None:
    key = make_client(billing_city="Ulm", billing_country="DE", revenue=5, status="Prospect")
    update("Client", key, billing_city="Bonn", revenue=5, status="Active", name="New")
    _, specific, general = payloads("Client", key)
    previous = {
        "billingAddress": {"city": "Ulm"},
        "status": "Prospect",
        "name": specific["previous"]["name"],
    }
    assert specific["previous"] == general["previous"] == previous
    assert general["sequence"] == specific["sequence"] == stored("Client", key)["version"] == 2
    audit = rows(AuditRecord, entity="Client", entity_id=key)[-1]
    assert audit["before"] == previous
    assert audit["after"] == {
        "billingAddress": {"city": "Bonn"}, "status": "Active", "name": "New",
    }  # fmt: skip
    assert (audit["actor_id"], audit["via"]) == (admin.user_id, "jwt")


def test_events_carry_the_record_as_it_is_after_the_change(admin: Caller) -> None:
    key = make_client(name="Before")
    update("Client", key, name="After")
    created, updated = payloads("Client", key)
    assert (created["object"]["name"], updated["object"]["name"]) == ("Before", "After")
    assert "previous" not in created
    assert updated["actor"] == {"id": admin.user_id, "via": "jwt"}


def test_a_deletion_reports_the_record_as_it_was(admin: Caller) -> None:
    key = make_client(name="Gone")
    SERVICES["Client"].delete(key)
    assert event_names("Client", key) == ["client.created", "client.deleted"]
    assert payloads("Client", key)[-1]["object"]["name"] == "Gone"
    audit = rows(AuditRecord, entity="Client", entity_id=key)[-1]
    assert (audit["action"], audit["before"]["name"]) == ("client.deleted", "Gone")
    with pytest.raises(NotFoundError):
        SERVICES["Client"].delete(key)


@pytest.mark.requirement("RACE-10")
@pytest.mark.parametrize("entity", SERVICES)
def test_a_stale_version_is_refused_and_writes_nothing(admin: Caller, entity: str) -> None:
    service, key = SERVICES[entity], MAKERS[entity]()
    service.update(key, {"tags": ["a"]}, version=1)
    with pytest.raises(PreconditionFailedError):
        service.update(key, {"tags": ["b"]}, version=1)
    with pytest.raises(PreconditionFailedError):
        service.delete(key, version=1)
    row = stored(entity, key)
    assert (row["tags"], row["version"]) == (["a"], 2)
    service.delete(key, version=2)


@pytest.mark.parametrize("entity", SERVICES)
def test_an_external_id_is_unique_within_its_set(admin: Caller, entity: str) -> None:
    MAKERS[entity](external_id="erp-1")
    with pytest.raises(DuplicateError) as refused:
        MAKERS[entity](external_id="erp-1")
    assert [detail.field for detail in refused.value.details] == ["externalId"]


@pytest.mark.parametrize("entity", SERVICES)
def test_what_is_not_there_is_not_found(admin: Caller, entity: str) -> None:
    for key in (0, -1, 987_654_321, 2**63 - 1):
        with pytest.raises(NotFoundError):
            SERVICES[entity].update(key, {"tags": []})
        with pytest.raises(NotFoundError):
            SERVICES[entity].delete(key)


def test_giving_a_lead_away_needs_the_right_to_assign(admin: Caller) -> None:
    seller, colleague = make_user("Sales"), make_user("Sales")
    with acting_as(seller):
        key = make_lead()
        with pytest.raises(ForbiddenError) as refused:
            update("Lead", key, owner_id=colleague.user_id)
        assert refused.value.details[0].message == "leads:assign"
        with pytest.raises(ForbiddenError):
            make_lead(owner_id=colleague.user_id)
    update("Lead", key, owner_id=colleague.user_id)
    assert stored("Lead", key)["owner_id"] == colleague.user_id
    assert event_names("Lead", key) == ["lead.created", "lead.assigned", "lead.updated"]


def test_an_owner_gives_other_records_away_freely(admin: Caller) -> None:
    seller, colleague = make_user("Sales"), make_user("Sales")
    with acting_as(seller):
        key = make_opportunity()
        update("Opportunity", key, owner_id=colleague.user_id)
        with pytest.raises(ForbiddenError):
            update("Opportunity", key, name="Mine again")


def test_a_record_made_for_somebody_else_is_assigned(admin: Caller) -> None:
    agent = make_user("Support")
    assert event_names("Ticket", make_ticket(assignee_id=agent.user_id)) == [
        "ticket.created", "ticket.assigned",
    ]  # fmt: skip
    assert event_names("Ticket", make_ticket(assignee_id=admin.user_id)) == ["ticket.created"]


def test_records_belong_to_active_users_only(admin: Caller) -> None:
    gone = make_user("Sales", status="disabled")
    with pytest.raises(ValidationError) as refused:
        make_client(owner_id=gone.user_id)
    assert refused.value.details[0] == ("ownerId", f"there is no active user {gone.user_id}", None)


def test_an_unreadable_record_is_as_if_it_were_not_there(admin: Caller) -> None:
    """A custom role may narrow reading to own records (contract section 13)."""
    rights = {**ROLES["Sales"], "clients:read": "own"}
    person = make_user("Sales")
    narrow = make_caller(person.user_id, "narrow", "jwt", rights)
    theirs = make_client(owner_id=person.user_id)
    hidden = make_client()
    with acting_as(narrow):
        update("Client", theirs, name="Mine")
        with pytest.raises(NotFoundError) as unreadable:
            update("Client", hidden, name="Mine")
        with pytest.raises(ValidationError) as unreferable:
            make_contact(client_id=hidden)
        make_contact(client_id=theirs)
    assert unreadable.value.message == f"There is no client {hidden}."
    assert unreferable.value.details[0] == ("clientId", f"there is no client {hidden}", None)


def test_a_link_to_any_record_needs_both_halves_and_a_readable_record(admin: Caller) -> None:
    client_id = make_client()
    key = create("Task", {"title": "A", "related_type": "Client", "related_id": client_id})
    assert stored("Task", key)["related_id"] == client_id
    for values, field in (
        ({"related_type": "Client"}, "relatedId"),
        ({"related_id": client_id}, "relatedType"),
        ({"related_type": "Client", "related_id": 987_654}, "relatedId"),
        ({"related_type": "Lead", "related_id": client_id}, "relatedId"),
        ({"related_type": "User", "related_id": client_id}, "relatedType"),
    ):
        with pytest.raises(ValidationError) as refused:
            create("Task", {"title": "A", **values})
        assert [detail.field for detail in refused.value.details] == [field]
    update("Task", key, related_type=None, related_id=None)
    assert stored("Task", key)["related_type"] is None


WITH_CONTACT = [
    entity
    for entity, service in SERVICES.items()
    if {"client_id", "contact_id"} <= {*service.rules.all_writable}
]


def refusals(act: Callable[[], object]) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as refused:
        act()
    return [(detail.field, detail.message) for detail in refused.value.details]


def test_tickets_opportunities_and_invoices_have_a_client_and_a_contact() -> None:
    assert sorted(WITH_CONTACT) == ["Invoice", "Opportunity", "Ticket"]


@pytest.mark.parametrize("entity", WITH_CONTACT)
def test_the_contact_of_a_record_is_one_of_its_client(admin: Caller, entity: str) -> None:
    own, other = make_client(), make_client()
    contact, stranger, free = (
        make_contact(client_id=own),
        make_contact(client_id=other),
        make_contact(),
    )
    make = MAKERS[entity]
    wrong = [("contactId", "belongs to another client")]
    assert refusals(lambda: make(client_id=own, contact_id=stranger)) == wrong
    key = make(client_id=own, contact_id=contact)
    assert refusals(lambda: update(entity, key, contact_id=stranger)) == wrong
    assert refusals(lambda: update(entity, key, client_id=other)) == wrong
    told = SERVICES[entity].problems({"client_id": other}, partial=True, key=key)
    assert [(detail.field, detail.message) for detail in told] == wrong
    update(entity, key, contact_id=free)
    update(entity, key, client_id=other)
    update(entity, key, client_id=own, contact_id=contact)


@pytest.mark.parametrize("entity", WITH_CONTACT)
def test_a_contact_who_goes_to_another_client_stays_with_what_there_is(
    admin: Caller, entity: str
) -> None:
    own = make_client()
    contact = make_contact(client_id=own)
    key = MAKERS[entity](client_id=own, contact_id=contact)
    update("Contact", contact, client_id=make_client())
    update(entity, key, tags=["kept"])
    assert stored(entity, key)["contact_id"] == contact
    assert refusals(lambda: MAKERS[entity](client_id=own, contact_id=contact))


def test_the_accountant_cannot_link_to_leads(admin: Caller) -> None:
    lead_id = make_lead()
    with acting_as(make_user("Accountant")), pytest.raises(ValidationError) as refused:
        create("Task", {"title": "A", "related_type": "Lead", "related_id": lead_id})
    assert refused.value.details[0].field == "relatedId"


def test_amounts_are_exact_in_the_audit_log(admin: Caller) -> None:
    largest = Decimal("9999999999999.99")
    key = make_client(revenue=largest)
    assert stored("Client", key)["revenue"] == largest
    text = records.connection().execute(
        select(cast(AuditRecord.__table__.c.after, Text)).where(
            AuditRecord.__table__.c.entity_id == key
        )
    )
    assert '"revenue":9999999999999.99' in str(text.scalar_one())
