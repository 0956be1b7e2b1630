"""Comments on tickets: answers to the customer, the customer's own, and notes of the agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app import audit
from app.clock import utc_now
from app.crm.clients import contact_of
from app.db import records
from app.db.types import json_text
from app.errors import InvalidStateError, NotFoundError, refuse_any
from app.events import emit, represent
from app.http.security import Caller, current_caller
from app.models.ticket import Ticket, TicketComment
from app.permissions import allowed, require
from app.tickets.service import TICKETS
from app.writing.added_only import AddedOnly
from app.writing.operations import require_operation
from app.writing.rules import RowRules
from app.writing.validation import validate

COMMENT = RowRules(model=TicketComment, writable=("body", "is_internal"))
# What a follow-up takes over from the closed ticket that it follows.
_INHERITED = (
    "subject", "priority", "type", "channel", "client_id", "requester_email", "assignee_id",
    "category", "language",
)  # fmt: skip


@dataclass(frozen=True)
class NewComment:
    """The key of a comment, and whether a follow-up ticket was begun for it."""

    id: int
    has_begun_ticket: bool = False


def create_comment(
    ticket_id: int, *, body: Any = None, is_internal: Any = False, by_customer: bool = False
) -> NewComment:
    """Add a comment.

    An agent's answer is the first response where there was none and opens a New ticket. The
    customer's reply reopens a Solved one and ends a pause; on a Closed one it starts a follow-up
    ticket, which then has the comment. What is said of a merged ticket belongs to the one that it
    was merged into.

    Raises: NotFoundError; ForbiddenError; ValidationError; InvalidStateError, a note on a closed
        ticket.
    """
    caller = current_caller()
    ticket = _addressed(ticket_id, caller)
    ticket_id = ticket.id
    require(caller, "tickets:update", ticket)
    require_operation("Ticket", "ticket", "comment", ticket)
    values = {"body": body, "is_internal": is_internal}
    cleaned, problems = validate(COMMENT, values, partial=False)
    refuse_any(problems)
    internal: bool = cleaned["is_internal"]
    was_closed = ticket.status == "Closed"
    if was_closed:
        if internal:
            raise InvalidStateError(
                "A closed ticket takes no notes.", [("isInternal", "the ticket is Closed")]
            )
        ticket_id = _follow_up(ticket)
        ticket = TICKETS.locked(ticket_id, caller)
    comment = {
        "created_at": utc_now(),
        "ticket_id": ticket_id,
        "body": cleaned["body"],
        "is_internal": internal,
        "author_id": None if by_customer else caller.user_id or None,
    }
    comment_id = records.insert(TicketComment, comment)
    _answer(ticket, internal, by_customer)
    _report(caller, ticket_id, comment_id, comment)
    return NewComment(comment_id, was_closed)


def _addressed(ticket_id: int, caller: Caller) -> Ticket:
    """The ticket that goes on for ``ticket_id``, locked: itself, or the last of its mergers.

    Raises: NotFoundError; ForbiddenError, the caller may not answer one that was merged.
    """
    while True:
        # Looked at before it is locked: a merger locks both tickets in the order of their keys.
        ticket = records.read(Ticket, ticket_id)
        if ticket is None or ticket.merged_into_id is None:
            ticket = TICKETS.locked(ticket_id, caller)
            if ticket.merged_into_id is None:  # nobody has merged it meanwhile
                return ticket
        if not allowed(caller, "tickets:read", ticket):
            raise NotFoundError(f"There is no ticket {ticket_id}.")
        require(caller, "tickets:update", ticket)
        ticket_id = ticket.merged_into_id


def _answer(ticket: Ticket, internal: bool, by_customer: bool) -> None:
    """What the comment means for the ticket."""
    now = utc_now()
    if internal:
        # Nothing of the ticket changes, but what was said about it is something new.
        changes = {"updated_at": now, "version": ticket.version + 1}
        records.update(Ticket, ticket.id, changes)
        return
    values: dict[str, Any] = {}
    status = ticket.status
    if by_customer:
        values["last_customer_reply_at"] = now
        if status in ("Pending", "OnHold", "Solved"):
            values["status"] = "Open"
    else:
        values["last_agent_reply_at"] = now
        if ticket.first_responded_at is None:
            values["first_responded_at"] = now
        if status == "New":
            values["status"] = "Open"
    TICKETS.apply(ticket.id, values, by="comment")


def _follow_up(closed: Ticket) -> int:
    """A new ticket for what comes after the end of another."""
    inherited = ((name, getattr(closed, name)) for name in _INHERITED)
    values = {name: value for name, value in inherited if value is not None}
    return TICKETS.create(
        {
            **values,
            "contact_id": contact_of(closed),
            "description": f"Follow-up to the closed ticket {closed.number}.",
        }
    )


def _report(caller: Caller, ticket_id: int, comment_id: int, comment: Mapping[str, Any]) -> None:
    properties = {
        "id": comment_id,
        "body": comment["body"],
        "isInternal": comment["is_internal"],
        "authorId": comment["author_id"],
        "createdAt": comment["created_at"],
    }
    audit.record("ticket.comment_added", "Ticket", ticket_id, after=properties)
    after = records.read(Ticket, ticket_id)
    emit(
        "ticket.comment_added", "Ticket", ticket_id,
        sequence=after.version if after else 0,
        representation=f'{represent("Ticket", ticket_id)[:-1]},"comment":{json_text(properties)}}}',
    )  # fmt: skip


COMMENTS = AddedOnly(
    rules=COMMENT,
    parent="ticket_id",
    right="tickets:update",
    add=lambda ticket_id, **values: create_comment(ticket_id, **values).id,
    no_change=lambda: InvalidStateError("A comment cannot be changed: it may have been read."),
    no_deletion=lambda: InvalidStateError("A comment cannot be deleted: it may have been read."),
)
