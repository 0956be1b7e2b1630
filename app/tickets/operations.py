"""The operations on tickets."""

from __future__ import annotations

from app.errors import ValidationError
from app.operations.declaration import Operation
from app.tickets.answers import describe_ticket_merge
from app.tickets.merging import TicketMerge, merge_tickets as merge
from app.tickets.schemas import MergedTicketsSchema, MergeTicketsSchema


def merge_tickets(ticket_id: int, **others: int) -> TicketMerge:
    """Merge a ticket with the one that is given as ``sourceId`` or as ``targetId``.

    Raises: ValidationError, not one of both is given; as ``app.tickets.merging``.
    """
    if len(others) != 1:
        raise ValidationError([("targetId", "must be given, or sourceId, and not both")])
    ((field, other_id),) = others.items()
    return merge(ticket_id, other_id, field=field, into_other=field == "targetId")


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
    asked_by=("führe zusammen", "fusionne", "fusiona", "unisci"),
)
OPERATIONS = (MERGE_TICKETS,)
