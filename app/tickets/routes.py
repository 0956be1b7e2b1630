"""``/api/tickets``: what the help desk does besides keeping records."""

from __future__ import annotations

from typing import Any

from app.events import entity_url
from app.http.areas import Area
from app.http.security import requires
from app.operations.rest import publish
from app.tickets import comments
from app.tickets.operations import OPERATIONS, describe_comment
from app.tickets.schemas import CommentSchema, NewCommentSchema

area = Area("tickets", __name__, description="Help desk: comments, merging of tickets")
publish(area, *OPERATIONS)


@area.post("/<int:ticket_id>/comments")
@area.arguments(NewCommentSchema)
@area.response(201, CommentSchema)
@requires("tickets:update")
def create_comment(
    body: dict[str, Any], ticket_id: int
) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Add an answer, a note, or what the customer said.

    The first answer of an agent opens a New ticket. What the customer says ends a pause and reopens
    a Solved ticket; on a Closed one any answer starts a follow-up ticket, which then has it.
    """
    answer = describe_comment(comments.create_comment(ticket_id, **body))
    address = f"{entity_url('Ticket', answer['ticketId'])}/Comments({answer['id']})"
    return answer, 201, {"Location": address}
