"""Tickets: the clocks through every state, and who works on them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from app.errors import InvalidStateError, ValidationError
from app.http.security import Caller, acting_as, make_caller
from app.models.ticket import Ticket
from app.permissions import ROLES
from app.settings import save_settings
from app.tickets.sla import sla_status
from tests.factories import (
    event_names,
    make_client,
    make_contact,
    make_ticket,
    make_user,
    put,
    stored,
    update,
)

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def at(hours: float) -> Any:
    """The clock so many hours after the ticket came."""
    return time_machine.travel(START + timedelta(hours=hours), tick=False)


def hours(key: int, *names: str) -> tuple[float | None, ...]:
    """Instants of a ticket as hours after it came."""
    row = stored("Ticket", key)
    return tuple(
        None if row[name] is None else (row[name] - START) / timedelta(hours=1) for name in names
    )


DUE = ("first_response_due_at", "resolution_due_at")


@pytest.fixture
def ticket(admin: Caller) -> int:
    with at(0):
        return make_ticket(assignee_id=admin.user_id)


@pytest.mark.parametrize(
    ("priority", "due"),
    [("Urgent", (1, 8)), ("High", (4, 24)), ("Normal", (8, 72)), ("Low", (24, 120))],
)
def test_due_times_follow_the_priority(admin: Caller, priority: str, due: tuple[int, int]) -> None:
    with at(0):
        key = make_ticket(priority=priority)
        other = make_ticket()
    assert hours(key, *DUE) == due
    with at(3):
        update("Ticket", other, priority=priority)
    assert hours(other, *DUE) == due


def test_due_times_come_from_the_settings(admin: Caller) -> None:
    level = {"Urgent": 1, "High": 1, "Normal": 2, "Low": 3}
    save_settings("serviceLevel", {"firstResponseHours": level})
    with at(0):
        assert hours(make_ticket(), *DUE) == (2, 72)


def test_numbers_run(admin: Caller) -> None:
    assert stored("Ticket", make_ticket())["number"] == "T-000001"


@pytest.mark.parametrize("pause", ["Pending", "OnHold"])
def test_the_clocks_stand_still_during_a_pause(ticket: int, pause: str) -> None:
    with at(2):
        update("Ticket", ticket, status=pause)
    assert stored("Ticket", ticket)["sla_status"] == "Paused"
    with at(12):
        update("Ticket", ticket, status="Open")
    assert hours(ticket, *DUE) == (18, 82)
    row = stored("Ticket", ticket)
    assert (row["sla_paused_at"], row["sla_status"]) == (None, "OnTrack")


def test_a_pause_may_have_an_end(ticket: int) -> None:
    with pytest.raises(ValidationError) as refused:
        update("Ticket", ticket, pending_until="2026-02-01T00:00:00Z")
    assert refused.value.details[0].field == "pendingUntil"
    update("Ticket", ticket, status="Pending", pending_until="2026-02-01T00:00:00Z")
    assert stored("Ticket", ticket)["pending_until"] is not None
    update("Ticket", ticket, status="Open")
    assert stored("Ticket", ticket)["pending_until"] is None


def test_solved_in_time_is_met_and_reopened_goes_on(ticket: int) -> None:
    put("Ticket", ticket, first_responded_at=START)
    with at(70):
        update("Ticket", ticket, status="Solved", resolution="Restarted")
    row = stored("Ticket", ticket)
    assert (row["sla_status"], hours(ticket, "solved_at")) == ("Met", (70,))
    with at(100):
        update("Ticket", ticket, status="Open")
    row = stored("Ticket", ticket)
    assert (row["reopen_count"], row["solved_at"], row["sla_status"]) == (1, None, "AtRisk")
    assert hours(ticket, "resolution_due_at") == (102,)
    assert event_names("Ticket", ticket)[1:] == [
        "ticket.status_changed", "ticket.solved", "ticket.updated",
        "ticket.status_changed", "ticket.reopened", "ticket.updated",
    ]  # fmt: skip


def test_solved_too_late_is_breached(ticket: int) -> None:
    with at(73):
        update("Ticket", ticket, status="Solved")
        assert stored("Ticket", ticket)["sla_status"] == "Breached"
        update("Ticket", ticket, status="Closed")
    assert hours(ticket, "closed_at") == (73,)
    assert "ticket.closed" in event_names("Ticket", ticket)


@pytest.mark.parametrize(
    ("values", "hour", "expected"),
    [
        ({}, 1, "OnTrack"),
        ({}, 6.5, "AtRisk"),
        ({}, 8.5, "Breached"),
        ({"first_responded_at": START + timedelta(hours=1)}, 50, "OnTrack"),
        ({"first_responded_at": START + timedelta(hours=1)}, 60, "AtRisk"),
        ({"first_responded_at": START + timedelta(hours=9)}, 10, "Breached"),
        ({"first_response_due_at": None, "resolution_due_at": None}, 999, "OnTrack"),
        ({"status": "Pending"}, 999, "Paused"),
        ({"status": "Closed", "solved_at": START + timedelta(hours=7)}, 999, "Met"),
    ],
)
def test_the_state_of_the_service_level(values: dict[str, Any], hour: float, expected: str) -> None:
    standing = {
        "status": "Open", "created_at": START,
        "first_response_due_at": START + timedelta(hours=8),
        "resolution_due_at": START + timedelta(hours=72), **values,
    }  # fmt: skip
    ticket = Ticket(**standing)
    assert sla_status(ticket, START + timedelta(hours=hour)) == expected


def test_an_assignee_opens_a_new_ticket(admin: Caller) -> None:
    key = make_ticket()
    assert stored("Ticket", key)["status"] == "New"
    update("Ticket", key, assignee_id=admin.user_id)
    assert stored("Ticket", key)["status"] == "Open"
    assert event_names("Ticket", key)[1:] == [
        "ticket.status_changed", "ticket.assigned", "ticket.updated",
    ]  # fmt: skip
    assert stored("Ticket", make_ticket(assignee_id=admin.user_id))["status"] == "Open"


@pytest.mark.parametrize("status", ["Open", "Solved"])
def test_somebody_must_work_on_it(admin: Caller, status: str) -> None:
    key = make_ticket()
    with pytest.raises(ValidationError) as refused:
        update("Ticket", key, status=status)
    assert refused.value.details[0].field == "assigneeId"
    update("Ticket", key, status=status, assignee_id=admin.user_id)


def test_a_closed_ticket_takes_a_rating_and_nothing_else(ticket: int) -> None:
    update("Ticket", ticket, status="Solved")
    update("Ticket", ticket, status="Closed")
    with pytest.raises(InvalidStateError) as refused:
        update("Ticket", ticket, subject="Other", priority="Low")
    assert {detail.field for detail in refused.value.details} == {"subject", "priority"}
    update("Ticket", ticket, satisfaction_rating=5, tags=["thanks"])


def test_who_asks_for_a_contact_asks_for_its_client(admin: Caller) -> None:
    client_id = make_client()
    contact = make_contact(client_id=client_id)
    assert stored("Ticket", make_ticket(contact_id=contact))["client_id"] == client_id
    assert stored("Ticket", make_ticket(contact_id=contact, client_id=None))["client_id"] is None


@pytest.mark.requirement("SEC-42")
def test_whose_contact_it_is_is_not_told(admin: Caller) -> None:
    """A contact that the caller may not read is refused in the words for one that is not there."""
    hidden = make_contact(client_id=make_client())
    person = make_user("Support")
    rights = {**ROLES["Support"], "contacts:read": "own", "clients:read": "own"}
    narrow = make_caller(person.user_id, "narrow", "jwt", rights)
    for key in (hidden, hidden + 1_000):
        with acting_as(narrow), pytest.raises(ValidationError) as refused:
            make_ticket(contact_id=key)
        problems = [(detail.field, detail.message) for detail in refused.value.details]
        assert problems == [("contactId", f"there is no contact {key}")]
