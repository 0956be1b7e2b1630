"""Merging two tickets about the same thing: one is closed, the other goes on with its comments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import select, update

from app import audit
from app.db import records
from app.errors import InvalidStateError, NotFoundError, ValidationError
from app.http.security import Caller, current_caller
from app.models.ticket import Ticket, TicketArticle, TicketComment
from app.permissions import require
from app.tickets.service import TICKET, TICKETS
from app.writing.deletion import linked_to
from app.writing.states import require_step
from app.writing.transitions import TICKET as TICKET_STATES

_REPLIES = ("last_customer_reply_at", "last_agent_reply_at")


@dataclass(frozen=True, kw_only=True)
class TicketMerge:
    """What a merge did; ``moved`` rows by table."""

    source_id: int
    target_id: int
    moved: Mapping[str, int]


def merge_tickets(
    ticket_id: int, source_id: int | None = None, target_id: int | None = None
) -> TicketMerge:
    """Close one of two tickets as a part of the other, which gets its comments.

    Links to articles, tasks and documents go over, too.

    Args:
        source_id: the ticket that is closed as a part of the first; or
        target_id: the ticket of which the first becomes a part.
    Raises: NotFoundError; ForbiddenError; ValidationError, not one of both is given, or the other
        is the same or is not there; InvalidStateError, one of them is closed.
    """
    if target_id is not None and source_id is None:
        field, other_id = "targetId", target_id
    elif source_id is not None and target_id is None:
        field, other_id = "sourceId", source_id
    else:
        raise ValidationError([("targetId", "must be given, or sourceId, and not both")])
    caller = current_caller()
    if ticket_id == other_id:
        raise ValidationError([(field, "is the ticket itself")])
    for key in sorted((ticket_id, other_id)):
        records.read(Ticket, key, lock=True)
    ticket = TICKETS.locked(ticket_id, caller)
    require(caller, "tickets:merge", ticket)
    other = _other(caller, other_id, field)
    require(caller, "tickets:merge", other)
    source, target = (other, ticket) if target_id is None else (ticket, other)
    if target.status == "Closed":
        raise InvalidStateError(
            "A closed ticket takes up no other.", [("status", f"of {target.number} is Closed")]
        )
    require_step(TICKET_STATES, "ticket", source.status, "Closed", "merge")
    values = {"status": "Closed", "merged_into_id": target.id}
    TICKETS.apply(source.id, values, "ticket.merged", by="merge")
    moved = _move(source.id, target.id)
    _note(source, target)
    audit.record("ticket.merged", "Ticket", target.id,
                 after={"source": source.number, "moved": moved})  # fmt: skip
    return TicketMerge(source_id=source.id, target_id=target.id, moved=moved)


def _other(caller: Caller, key: int, field: str) -> Ticket:
    try:
        return TICKETS.locked(key, caller)
    except NotFoundError:
        raise ValidationError([(field, f"there is no ticket {key}")]) from None


def _move(source_id: int, target_id: int) -> dict[str, int]:
    """Comments, links to articles, tasks and documents."""
    connection = records.connection()
    moved = connection.execute(
        update(TicketComment)
        .where(TicketComment.ticket_id == source_id)
        .values(ticket_id=target_id)
    )
    known = select(TicketArticle.article_id).where(TicketArticle.ticket_id == target_id)
    connection.execute(
        update(TicketArticle)
        .where(TicketArticle.ticket_id == source_id, TicketArticle.article_id.not_in(known))
        .values(ticket_id=target_id)
    )
    counts = {"ticket_comments": moved.rowcount, "tasks": 0, "documents": 0}
    for service, owner, attribute, _, record in linked_to(TICKET, source_id):
        service.apply(record.id, {attribute: target_id})
        counts[owner.table.name] += 1
    return counts


def _note(source: Ticket, target: Ticket) -> None:
    """The ticket that goes on is a new version: it has more to say, and later answers."""
    replies = ((getattr(source, name), getattr(target, name), name) for name in _REPLIES)
    later = {
        name: reply
        for reply, known, name in replies
        if reply is not None and (known is None or reply > known)
    }
    TICKETS.apply(target.id, {**later, "version": target.version + 1})
