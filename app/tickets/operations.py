"""The operations on tickets."""

from __future__ import annotations

from typing import Any

from app.db import records
from app.http.schema_parts import answer_body
from app.models.ticket import TicketComment
from app.operations.declaration import Button, Operation
from app.tickets.comments import NewComment, create_comment
from app.tickets.merging import TicketMerge, merge_tickets
from app.tickets.schemas import (
    CommentSchema,
    MergedTicketsSchema,
    MergeTicketsSchema,
    NewCommentSchema,
    TicketStandingSchema,
)
from app.tickets.service import TICKETS


def describe_comment(new: NewComment) -> dict[str, Any]:
    """A comment and the standing of its ticket."""
    row = records.get(TicketComment, new.id)
    return answer_body(CommentSchema, row, ticket=describe_ticket(row.ticket_id))


def describe_trial(new: NewComment) -> dict[str, Any]:
    """The same of a comment that is undone: a ticket that was begun for it has no key."""
    comment = describe_comment(new)
    if not new.has_begun_ticket:
        return comment
    return {**comment, "ticketId": None, "ticket": {**comment["ticket"], "id": None}}


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
    return answer_body(TicketStandingSchema, TICKETS.stored(ticket_id))


ADD_COMMENT = Operation(
    name="AddComment",
    bound_to="Ticket",
    action="comment",
    path="/<int:ticket_id>/comments",
    permissions=("tickets:update",),
    description="""Add an answer, a note, or what the customer said.

    The first answer of an agent opens a New ticket. What the customer says ends a pause and reopens
    a Solved ticket; on a Closed one any answer starts a follow-up ticket, which then has it.""",
    arguments=NewCommentSchema,
    run=create_comment,
    answer=describe_comment,
    answer_of_trial=describe_trial,
    answers=CommentSchema,
    location="/odata/Tickets({ticketId})/Comments({id})",
    asked_by=("comment on", "reply to", "respond to", "kommentiere", "antworte", "commente",
              "réponds", "comenta", "responde", "commenta", "rispondi"),
)  # fmt: skip
MERGE_TICKETS = Operation(
    name="Merge",
    bound_to="Ticket",
    action="merge",
    path="/<int:ticket_id>/merge",
    permissions=("tickets:merge",),
    description="""Merge two tickets: one is closed for good, the other gets its comments.

    `targetId` closes the ticket of the address, `sourceId` the other one. Neither may be
    closed.""",
    arguments=MergeTicketsSchema,
    run=merge_tickets,
    answer=describe_ticket_merge,
    answers=MergedTicketsSchema,
    returns="Ticket",
    key_of=lambda merged: merged.target_id,
    button=Button(label="Merge", page="merge", is_dangerous=True),
    asked_by=("führe zusammen", "fusionne", "fusiona", "unisci"),
)
OPERATIONS = (ADD_COMMENT, MERGE_TICKETS)
