"""The operations on tickets."""

from __future__ import annotations

from app.errors import ValidationError
from app.operations.declaration import Operation
from app.tickets.answers import describe_ticket_merge
from app.tickets.merging import TicketMerge, merge_tickets as merge
from app.tickets.schemas import MergedTicketsSchema, MergeTicketsSchema


def merge_tickets(
    ticket_id: int, source_id: int | None = None, target_id: int | None = None
) -> TicketMerge:
    """Merge another ticket into this one, or this one into another.

    Raises: ValidationError, not one of both is given; as ``app.tickets.merging``.
    """
    if target_id is None and source_id is not None:
        return merge(ticket_id, source_id, field="sourceId", into_other=False)
    if target_id is not None and source_id is None:
        return merge(ticket_id, target_id, field="targetId", into_other=True)
    raise ValidationError([("targetId", "must be given, or sourceId, and not both")])


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
