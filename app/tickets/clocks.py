"""What time does to tickets: service levels, the end of a wait, closing what stays solved."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from sqlalchemy import select

from app.clock import utc_now
from app.db.types import AnyRow
from app.jobs.schedule import for_each_due
from app.models.ticket import Ticket
from app.settings import organisation
from app.tickets.service import TICKETS
from app.tickets.sla import sla_status
from app.writing.transitions import CLOCK

_RUNNING = ("New", "Open")
_EVENTS = {"AtRisk": "ticket.sla_at_risk", "Breached": "ticket.sla_breached"}


def run_ticket_clocks() -> int:
    """Every clock of tickets, once; returns how much there was to do."""
    return resume_waiting() + close_solved() + watch_service_levels()


def resume_waiting() -> int:
    """Tickets whose wait is over become Open, and their clocks go on."""
    waiting = select(Ticket.id).where(Ticket.status == "Pending", Ticket.pending_until <= utc_now())
    return for_each_due("resume tickets", waiting, partial(_set_status, "Open"))


def close_solved() -> int:
    """Tickets that nobody reopened are closed after the days of the settings."""
    since = utc_now() - timedelta(days=organisation().service_level.auto_close_days)
    solved = select(Ticket.id).where(Ticket.status == "Solved", Ticket.solved_at <= since)
    return for_each_due("close tickets", solved, partial(_set_status, "Closed"))


def _set_status(status: str, ticket_id: int) -> None:
    TICKETS.apply(ticket_id, {"status": status}, by=CLOCK)


def watch_service_levels() -> int:
    """Running tickets that are at risk or past a due time are marked, and it is said once."""
    running = select(
        Ticket.id,
        Ticket.sla_status,
        Ticket.status,
        Ticket.created_at,
        Ticket.solved_at,
        Ticket.first_response_due_at,
        Ticket.first_responded_at,
        Ticket.resolution_due_at,
    ).where(Ticket.status.in_(_RUNNING), Ticket.sla_status.in_(("OnTrack", "AtRisk")))
    return for_each_due("service levels", running, _mark, is_due=_is_another)


def _is_another(ticket: AnyRow) -> bool:
    return bool(sla_status(ticket, utc_now()) != ticket.sla_status)


def _mark(ticket_id: int) -> None:
    status = sla_status(TICKETS.stored(ticket_id), utc_now())
    events = (_EVENTS[status],) if status in _EVENTS else ()
    TICKETS.apply(ticket_id, {"sla_status": status}, *events)
