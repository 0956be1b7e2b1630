"""The states of the eight entities that have them, and the steps between (contract section 10).

Whatever is not listed is refused with 409 INVALID_STATE.
"""

from __future__ import annotations

from collections.abc import Mapping

from app.writing.machines import PATCH, StateMachine, Transition

LEAD_OPEN = ("New", "Contacted", "Nurturing", "Qualified")
STAGE_OPEN = ("Prospecting", "Qualification", "Proposal", "Negotiation")
TASK_OPEN = ("Todo", "InProgress", "Blocked")
TASK_CLOSED = ("Done", "Canceled")
DOCUMENT_KEPT = ("Pending", "Active", "Archived", "Quarantined")

# Steps that time takes (app/jobs/schedule.py).
CLOCK = "clock"

# What only managers may do is asked of the right to delete, which the matrix gives to nobody
# below them; what only administrators may do, of the right to change settings (docs/adr/0033).
_MANAGER_OF_TICKETS = "tickets:delete"
_ADMINISTRATOR = "settings:update"


def _among(states: tuple[str, ...]) -> tuple[Transition, ...]:
    """Every step from one of the states to another of them."""
    return tuple(
        Transition(sources=tuple(source for source in states if source != target), target=target)
        for target in states
    )


LEAD = StateMachine(
    entity="Lead",
    attribute="status",
    initial=LEAD_OPEN,
    transitions=(
        *_among(LEAD_OPEN),
        Transition(sources=LEAD_OPEN, target="Disqualified"),
        Transition(sources=("Disqualified",), target="New"),
        Transition(
            sources=LEAD_OPEN, target="Converted", permission="leads:convert", by=("convert",)
        ),
    ),
)
OPPORTUNITY = StateMachine(
    entity="Opportunity",
    attribute="stage",
    initial=(*STAGE_OPEN, "ClosedWon", "ClosedLost"),
    transitions=(
        *_among(STAGE_OPEN),
        Transition(sources=STAGE_OPEN, target="ClosedWon"),
        Transition(sources=STAGE_OPEN, target="ClosedLost"),
        *(
            Transition(
                sources=("ClosedWon", "ClosedLost"), target=stage, permission="opportunities:reopen"
            )
            for stage in STAGE_OPEN
        ),
    ),
)
TICKET = StateMachine(
    entity="Ticket",
    attribute="status",
    initial=("New", "Open", "Pending", "OnHold", "Solved"),
    transitions=(
        Transition(sources=("New",), target="Open", by=(PATCH, "comment")),
        Transition(sources=("New", "Open"), target="Pending"),
        Transition(sources=("New", "Open"), target="OnHold"),
        Transition(sources=("New", "Open"), target="Solved"),
        Transition(sources=("Pending", "OnHold"), target="Open", by=(PATCH, "comment", CLOCK)),
        Transition(sources=("Solved",), target="Open", by=(PATCH, "comment")),
        Transition(
            sources=("Solved",), target="Closed", permission=_MANAGER_OF_TICKETS, by=(PATCH, CLOCK)
        ),
        Transition(
            sources=("New", "Open", "Pending", "OnHold", "Solved"),
            target="Closed",
            permission="tickets:merge",
            by=("merge",),
        ),
    ),
)
INVOICE = StateMachine(
    entity="Invoice",
    attribute="status",
    initial=("Draft",),
    transitions=(
        Transition(
            sources=("Draft",), target="Sent", permission="invoices:send", by=(PATCH, "send")
        ),
        Transition(
            sources=("Draft",),
            target="Sent",
            permission="invoices:send",
            by=("payment",),
            type="Invoice",
        ),
        Transition(
            sources=("Draft", "Sent", "PartiallyPaid", "Uncollectible"),
            target="Paid",
            by=("payment", "credit"),
            type="Invoice",
        ),
        Transition(
            sources=("Sent", "Uncollectible", "Paid"),
            target="PartiallyPaid",
            by=("payment", "credit", "reversal"),
            type="Invoice",
        ),
        Transition(
            sources=("Paid", "PartiallyPaid"), target="Sent", by=("reversal",), type="Invoice"
        ),
        Transition(
            sources=("Sent", "Uncollectible"),
            target="Void",
            permission="invoices:void",
            by=("void",),
        ),
        Transition(
            sources=("Sent", "PartiallyPaid"),
            target="Uncollectible",
            permission="invoices:uncollectible",
            by=(PATCH, "uncollectible"),
            type="Invoice",
        ),
    ),
)
TASK = StateMachine(
    entity="Task",
    attribute="status",
    initial=(*TASK_OPEN, *TASK_CLOSED),
    transitions=(
        Transition(sources=("InProgress", *TASK_CLOSED), target="Todo"),
        Transition(sources=("Todo", "Blocked", *TASK_CLOSED), target="InProgress"),
        Transition(sources=("InProgress",), target="Blocked"),
        Transition(sources=(*TASK_OPEN, "Canceled"), target="Done"),
        Transition(sources=(*TASK_OPEN, "Done"), target="Canceled"),
    ),
)
PROJECT = StateMachine(
    entity="Project",
    attribute="status",
    initial=("Planned", "Active", "OnHold"),
    transitions=(
        Transition(sources=("Planned", "OnHold"), target="Active"),
        Transition(sources=("Active",), target="OnHold"),
        Transition(sources=("Active",), target="Completed"),
        Transition(sources=("Planned", "Active", "OnHold"), target="Canceled"),
        Transition(
            sources=("Completed",), target="Active", permission="projects:update", everywhere=True
        ),
    ),
)
DOCUMENT = StateMachine(
    entity="Document",
    attribute="status",
    initial=("Pending",),
    transitions=(
        Transition(sources=("Pending",), target="Active", by=("upload",)),
        Transition(sources=("Active",), target="Archived"),
        Transition(sources=("Archived",), target="Active"),
        Transition(sources=("Active",), target="Quarantined", by=("scan",)),
        Transition(sources=("Quarantined",), target="Active", permission=_ADMINISTRATOR),
        Transition(sources=DOCUMENT_KEPT, target="Deleted", by=("DELETE",)),
        *(
            Transition(
                sources=("Deleted",), target=state, permission=_ADMINISTRATOR, by=("restore",)
            )
            for state in DOCUMENT_KEPT
        ),
    ),
)
KB_ARTICLE = StateMachine(
    entity="KbArticle",
    attribute="status",
    initial=("Draft", "InReview", "Published"),
    transitions=(
        Transition(sources=("Draft",), target="InReview"),
        Transition(sources=("Draft", "InReview"), target="Published", permission="kb:publish"),
        Transition(
            sources=("InReview", "Published", "Archived"), target="Draft", permission="kb:publish"
        ),
        Transition(
            sources=("Published",), target="Archived", permission="kb:publish", by=(PATCH, CLOCK)
        ),
    ),
)
MACHINES: Mapping[str, StateMachine] = {
    machine.entity: machine
    for machine in (LEAD, OPPORTUNITY, TICKET, INVOICE, TASK, PROJECT, DOCUMENT, KB_ARTICLE)
}
