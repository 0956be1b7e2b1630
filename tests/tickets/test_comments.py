"""Comments: what an answer, a reply and a note do to the ticket."""

from __future__ import annotations

from typing import Any

import pytest

from app.errors import ForbiddenError, InvalidStateError, NotFoundError, ValidationError
from app.http.security import Caller, acting_as
from app.models.event import AuditRecord, Event
from app.models.ticket import Ticket, TicketComment
from app.tickets.comments import COMMENTS, create_comment
from app.tickets.merging import merge_tickets
from tests.container.conftest import with_rights
from tests.factories import (
    event_names,
    make_client,
    make_contact,
    make_ticket,
    make_user,
    put,
    rows,
    stored,
    update,
)


def test_the_first_answer_opens_a_ticket(admin: Caller) -> None:
    key = make_ticket()
    comment_id = create_comment(key, body="We look at it").id
    row = stored("Ticket", key)
    assert row["status"] == "Open"
    assert row["first_responded_at"] == row["last_agent_reply_at"] is not None
    (comment,) = rows(TicketComment, ticket_id=key)
    assert (comment["id"], comment["author_id"], comment["is_internal"]) == (
        comment_id, admin.user_id, False,
    )  # fmt: skip
    first = row["first_responded_at"]
    create_comment(key, body="Still looking")
    assert stored("Ticket", key)["first_responded_at"] == first


def test_a_comment_is_an_event_with_its_text(admin: Caller) -> None:
    key = make_ticket()
    comment_id = create_comment(key, body="Hello").id
    assert event_names("Ticket", key) == [
        "ticket.created", "ticket.status_changed", "ticket.updated", "ticket.comment_added",
    ]  # fmt: skip
    said = rows(Event, entity="Ticket", entity_id=key)[-1]["payload"]
    assert (said["object"]["id"], said["sequence"]) == (key, 2)
    assert (said["object"]["comment"]["id"], said["object"]["comment"]["body"]) == (
        comment_id, "Hello",
    )  # fmt: skip
    assert rows(AuditRecord, action="ticket.comment_added")[0]["after"]["body"] == "Hello"


def test_a_note_is_no_answer(admin: Caller) -> None:
    key = make_ticket()
    create_comment(key, body="Rude customer", is_internal=True)
    row = stored("Ticket", key)
    assert (row["status"], row["first_responded_at"], row["version"]) == ("New", None, 2)


@pytest.mark.parametrize("status", ["Pending", "OnHold", "Solved"])
def test_a_reply_of_the_customer_wakes_a_ticket(admin: Caller, status: str) -> None:
    key = make_ticket(assignee_id=admin.user_id, status=status)
    create_comment(key, body="And now?", by_customer=True)
    row = stored("Ticket", key)
    assert (row["status"], row["reopen_count"]) == ("Open", 1 if status == "Solved" else 0)
    assert row["last_customer_reply_at"] is not None
    assert (row["last_agent_reply_at"], row["sla_paused_at"]) == (None, None)
    assert rows(TicketComment, ticket_id=key)[0]["author_id"] is None


@pytest.mark.parametrize("status", ["Pending", "OnHold", "Solved"])
def test_an_answer_of_an_agent_leaves_the_state(admin: Caller, status: str) -> None:
    key = make_ticket(assignee_id=admin.user_id, status=status)
    create_comment(key, body="Any news?")
    assert stored("Ticket", key)["status"] == status


@pytest.mark.parametrize("by_customer", [True, False])
def test_a_reply_to_a_closed_ticket_starts_another(admin: Caller, by_customer: bool) -> None:
    key = make_ticket(subject="Printer", assignee_id=admin.user_id, priority="High")
    put("Ticket", key, status="Closed")
    before = stored("Ticket", key)
    create_comment(key, body="Again!", by_customer=by_customer)
    assert stored("Ticket", key) == before
    follow_up = rows(Ticket)[-1]
    assert (follow_up["subject"], follow_up["priority"], follow_up["status"]) == (
        "Printer", "High", "Open",
    )  # fmt: skip
    assert before["number"] in follow_up["description"]
    assert rows(TicketComment)[0]["ticket_id"] == follow_up["id"]
    with pytest.raises(InvalidStateError):
        create_comment(key, body="Note", is_internal=True)


@pytest.mark.parametrize("has_gone", [True, False])
def test_what_follows_a_closed_ticket_is_for_a_contact_of_its_client(
    admin: Caller, has_gone: bool
) -> None:
    client_id = make_client()
    contact = make_contact(client_id=client_id)
    key = make_ticket(client_id=client_id, contact_id=contact, assignee_id=admin.user_id)
    put("Ticket", key, status="Closed")
    if has_gone:
        update("Contact", contact, client_id=make_client())
    create_comment(key, body="Again!")
    follow_up = rows(Ticket)[-1]
    assert follow_up["client_id"] == client_id
    assert follow_up["contact_id"] == (None if has_gone else contact)


def merged(source: int, target: int) -> int:
    merge_tickets(source, target_id=target)
    return target


@pytest.mark.parametrize(
    "said", [{"by_customer": True}, {}, {"is_internal": True}], ids=["customer", "agent", "note"]
)
def test_what_is_said_of_a_merged_ticket_reaches_the_one_that_goes_on(
    admin: Caller, said: dict[str, Any]
) -> None:
    first, last = make_ticket(), make_ticket(assignee_id=admin.user_id, status="Solved")
    merged(merged(first, make_ticket()), last)
    comment_id = create_comment(first, body="Still broken", **said).id
    assert rows(TicketComment, id=comment_id)[0]["ticket_id"] == last
    status = "Open" if said.get("by_customer") else "Solved"
    assert (len(rows(Ticket)), stored("Ticket", last)["status"]) == (3, status)


def test_a_reply_to_a_ticket_whose_other_is_closed_starts_another(admin: Caller) -> None:
    first, last = make_ticket(), make_ticket(subject="Printer")
    merged(first, last)
    put("Ticket", last, status="Closed")
    create_comment(first, body="Again", by_customer=True)
    assert (rows(Ticket)[-1]["subject"], rows(TicketComment)[-1]["ticket_id"]) == (
        "Printer", rows(Ticket)[-1]["id"],
    )  # fmt: skip


def test_who_may_not_read_the_ticket_that_goes_on_does_not_reach_it(admin: Caller) -> None:
    person = make_user("Support").user_id
    mine, other = make_ticket(assignee_id=person), make_ticket(assignee_id=admin.user_id)
    merged(mine, other)
    agent = with_rights(person, tickets_read="own", tickets_update="own")
    with acting_as(agent), pytest.raises(NotFoundError):
        create_comment(mine, body="A")
    assert rows(TicketComment) == []


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"body": ""}, "body"), ({"body": None}, "body"), ({"body": 5}, "body"),
        ({"body": "a\x00"}, "body"), ({"body": "x" * 20_001}, "body"),
        ({"body": "A", "is_internal": "yes"}, "isInternal"),
        ({"body": "A", "is_internal": None}, "isInternal"),
    ],
)  # fmt: skip
def test_a_comment_refuses(admin: Caller, values: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as refused:
        create_comment(make_ticket(), **values)
    assert [detail.field for detail in refused.value.details] == [field]


def test_comments_are_neither_changed_nor_deleted(admin: Caller) -> None:
    key = COMMENTS.create({"ticket_id": make_ticket(), "body": "A", "is_internal": True})
    assert rows(TicketComment, id=key)[0]["is_internal"] is True
    for write in (lambda: COMMENTS.update(key, {"body": "B"}), lambda: COMMENTS.delete(key)):
        with pytest.raises(InvalidStateError):
            write()
    with pytest.raises(ValidationError):
        COMMENTS.create({"body": "A"})


def test_who_may_comment(admin: Caller) -> None:
    key = make_ticket()
    with pytest.raises(NotFoundError):
        create_comment(987_654, body="A")
    with acting_as(make_user("Sales")), pytest.raises(ForbiddenError):
        create_comment(key, body="A")
    with acting_as(make_user("Support")):
        create_comment(key, body="A")
