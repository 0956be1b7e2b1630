"""Tickets and comments as the answers of the operations show them."""

from __future__ import annotations

from typing import Any

from app.db import records
from app.errors import NotFoundError
from app.http.schema_parts import shown
from app.models.ticket import TicketComment
from app.tickets.merging import TicketMerge
from app.tickets.schemas import CommentSchema, TicketStandingSchema
from app.tickets.service import TICKETS


def describe_comment(comment_id: int) -> dict[str, Any]:
    """A comment and the standing of its ticket."""
    row = records.read(TicketComment, comment_id)
    if row is None:
        raise NotFoundError(f"There is no comment {comment_id}.")
    return shown(CommentSchema, row, ticket=describe_ticket(row.ticket_id))


def describe_ticket_merge(merge: TicketMerge) -> dict[str, Any]:
    """Both tickets after a merge, and what moved."""
    return {
        "source": describe_ticket(merge.source_id),
        "target": describe_ticket(merge.target_id),
        "moved": {
            "comments": merge.moved["ticket_comments"],
            "tasks": merge.moved["tasks"],
            "documents": merge.moved["documents"],
        },
    }


def describe_ticket(ticket_id: int) -> dict[str, Any]:
    """A ticket in short."""
    return shown(TicketStandingSchema, TICKETS.stored(ticket_id))
