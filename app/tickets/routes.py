"""``/api/tickets``: what the help desk does besides keeping records."""

from __future__ import annotations

from typing import Any

from app.events import entity_url
from app.http.areas import Area
from app.http.dry_run import DryRunSchema, undo_if_dry
from app.http.security import requires
from app.tickets.answers import describe_comment, describe_ticket_merge
from app.tickets.comments import create_comment
from app.tickets.merging import merge_tickets
from app.tickets.schemas import (
    CommentSchema,
    MergedTicketsSchema,
    MergeTicketsSchema,
    NewCommentSchema,
)

area = Area("tickets", __name__, description="Help desk: comments, merging of tickets")


@area.post("/<int:ticket_id>/comments")
@area.arguments(NewCommentSchema)
@area.response(201, CommentSchema)
@requires("tickets:update")
def comment(body: dict[str, Any], ticket_id: int) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Add an answer, a note, or what the customer said.

    The first answer of an agent opens a New ticket. What the customer says ends a pause and reopens
    a Solved ticket; on a Closed one any answer starts a follow-up ticket, which then has it.
    """
    answer = describe_comment(create_comment(ticket_id, **body))
    address = f"{entity_url('Ticket', answer['ticketId'])}/Comments({answer['id']})"
    return answer, 201, {"Location": address}


@area.post("/<int:ticket_id>/merge")
@area.arguments(DryRunSchema, location="query")
@area.arguments(MergeTicketsSchema)
@area.response(200, MergedTicketsSchema)
@requires("tickets:merge")
def merge(query: dict[str, Any], body: dict[str, Any], ticket_id: int) -> dict[str, Any]:
    """Merge two tickets: one is closed for good, the other gets its comments.

    `targetId` closes the ticket of the address, `sourceId` the other one. Neither may be closed.
    """
    into_other = "target_id" in body
    field, other = ("targetId", "target_id") if into_other else ("sourceId", "source_id")
    merged = merge_tickets(ticket_id, body[other], field=field, into_other=into_other)
    answer = describe_ticket_merge(merged)
    undo_if_dry(query)
    return answer
