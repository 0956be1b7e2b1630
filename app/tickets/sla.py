"""The clocks of the service level: when an answer and a solution are due, and how it stands.

Pure functions over a ticket. The clocks run around the clock and stand still while
the ticket is Pending, OnHold or Solved (docs/adr/0033).
"""

from __future__ import annotations

from datetime import datetime, timedelta

from app.db.types import AnyRow
from app.models.ticket import Ticket
from app.settings import ServiceLevel

PAUSED = ("Pending", "OnHold")
FINISHED = ("Solved", "Closed")
# The last part of the time in which a ticket counts as at risk.
RISK_SHARE = 0.2


def due_times(start: datetime, priority: str, level: ServiceLevel) -> dict[str, datetime]:
    """When the first answer and the solution are due for a ticket that came at ``start``."""
    return {
        "first_response_due_at": start + timedelta(hours=level.first_response_hours[priority]),
        "resolution_due_at": start + timedelta(hours=level.resolution_hours[priority]),
    }


def reprioritised(ticket: Ticket, before: str, level: ServiceLevel) -> dict[str, datetime]:
    """The due times under another priority than ``before``; what pauses have added stays."""
    now = ticket.priority
    first = timedelta(hours=level.first_response_hours[now] - level.first_response_hours[before])
    solved = timedelta(hours=level.resolution_hours[now] - level.resolution_hours[before])
    return _moved(ticket, first, solved)


def pushed(ticket: Ticket, since: datetime, now: datetime) -> dict[str, datetime]:
    """The due times after the clocks stood still from ``since`` until ``now``."""
    stood = now - since
    return _moved(ticket, stood, stood)


def _moved(ticket: Ticket, first: timedelta, solved: timedelta) -> dict[str, datetime]:
    """The due times of what is still to come, so much later."""
    moved = {}
    if ticket.first_response_due_at and ticket.first_responded_at is None:
        moved["first_response_due_at"] = ticket.first_response_due_at + first
    if ticket.resolution_due_at:
        moved["resolution_due_at"] = ticket.resolution_due_at + solved
    return moved


def sla_status(ticket: Ticket | AnyRow, now: datetime) -> str:
    """``OnTrack``, ``AtRisk``, ``Breached``, ``Paused`` or ``Met``."""
    if ticket.status in PAUSED:
        return "Paused"
    end = ticket.solved_at if ticket.status in FINISHED else None
    answered = ticket.first_responded_at or end or now
    clocks = (
        (ticket.first_response_due_at, answered, ticket.first_responded_at is None),
        (ticket.resolution_due_at, end or now, end is None),
    )
    if any(due is not None and at > due for due, at, _ in clocks):
        return "Breached"
    if end is not None:
        return "Met"
    running = [due for due, _, runs in clocks if due is not None and runs]
    is_near = any(due - now < (due - ticket.created_at) * RISK_SHARE for due in running)
    return "AtRisk" if is_near else "OnTrack"
