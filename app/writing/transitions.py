"""The states of the eight entities that have them, and the steps between (contract section 10).

Whatever is not listed is refused with 409 INVALID_STATE.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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


def _step(
    sources: str | tuple[str, ...], target: str, by: str = PATCH, **conditions: Any
) -> Transition:
    """The steps from some states to another; names of states and operations have blanks between."""
    names = tuple(sources.split()) if isinstance(sources, str) else sources
    return Transition(sources=names, target=target, by=tuple(by.split()), **conditions)


def _among(states: tuple[str, ...]) -> tuple[Transition, ...]:
    """Every step from one of the states to another of them."""
    return tuple(
        _step(tuple(source for source in states if source != target), target) for target in states
    )


LEAD = StateMachine(
    entity="Lead",
    attribute="status",
    initial=LEAD_OPEN,
    transitions=(
        *_among(LEAD_OPEN),
        _step(LEAD_OPEN, "Disqualified"),
        _step("Disqualified", "New"),
        _step(LEAD_OPEN, "Converted", "convert", permission="leads:convert"),
    ),
)
OPPORTUNITY = StateMachine(
    entity="Opportunity",
    attribute="stage",
    initial=(*STAGE_OPEN, "ClosedWon", "ClosedLost"),
    transitions=(
        *_among(STAGE_OPEN),
        _step(STAGE_OPEN, "ClosedWon"),
        _step(STAGE_OPEN, "ClosedLost"),
        *(
            _step("ClosedWon ClosedLost", stage, permission="opportunities:reopen")
            for stage in STAGE_OPEN
        ),
    ),
)
TICKET = StateMachine(
    entity="Ticket",
    attribute="status",
    initial=("New", "Open", "Pending", "OnHold", "Solved"),
    transitions=(
        _step("New", "Open", f"{PATCH} comment"),
        _step("New Open", "Pending"),
        _step("New Open", "OnHold"),
        _step("New Open", "Solved"),
        _step("Pending OnHold", "Open", f"{PATCH} comment {CLOCK}"),
        _step("Solved", "Open", f"{PATCH} comment"),
        _step("Solved", "Closed", f"{PATCH} {CLOCK}", permission=_MANAGER_OF_TICKETS),
        _step("New Open Pending OnHold Solved", "Closed", "merge", permission="tickets:merge"),
    ),
)
INVOICE = StateMachine(
    entity="Invoice",
    attribute="status",
    initial=("Draft",),
    transitions=(
        _step("Draft", "Sent", f"{PATCH} send", permission="invoices:send"),
        _step("Draft", "Sent", "payment", permission="invoices:send", type="Invoice"),
        _step("Draft Sent PartiallyPaid Uncollectible", "Paid", "payment credit", type="Invoice"),
        _step(
            "Sent Uncollectible Paid", "PartiallyPaid", "payment credit reversal", type="Invoice"
        ),
        _step("Paid PartiallyPaid", "Sent", "reversal", type="Invoice"),
        _step("Sent Uncollectible", "Void", "void", permission="invoices:void"),
        _step(
            "Sent PartiallyPaid",
            "Uncollectible",
            f"{PATCH} uncollectible",
            permission="invoices:uncollectible",
            type="Invoice",
        ),
    ),
)
TASK = StateMachine(
    entity="Task",
    attribute="status",
    initial=(*TASK_OPEN, *TASK_CLOSED),
    transitions=(
        _step(("InProgress", *TASK_CLOSED), "Todo"),
        _step(("Todo", "Blocked", *TASK_CLOSED), "InProgress"),
        _step("InProgress", "Blocked"),
        _step((*TASK_OPEN, "Canceled"), "Done"),
        _step((*TASK_OPEN, "Done"), "Canceled"),
    ),
)
PROJECT = StateMachine(
    entity="Project",
    attribute="status",
    initial=("Planned", "Active", "OnHold"),
    transitions=(
        _step("Planned OnHold", "Active"),
        _step("Active", "OnHold"),
        _step("Active", "Completed"),
        _step("Planned Active OnHold", "Canceled"),
        _step("Completed", "Active", permission="projects:update", everywhere=True),
    ),
)
DOCUMENT = StateMachine(
    entity="Document",
    attribute="status",
    initial=("Pending",),
    transitions=(
        _step("Pending", "Active", "upload"),
        _step("Active", "Archived"),
        _step("Archived", "Active"),
        _step("Active", "Quarantined", "scan"),
        _step("Quarantined", "Active", permission=_ADMINISTRATOR),
        _step(DOCUMENT_KEPT, "Deleted", "DELETE"),
        *(_step("Deleted", state, "restore", permission=_ADMINISTRATOR) for state in DOCUMENT_KEPT),
    ),
)
KB_ARTICLE = StateMachine(
    entity="KbArticle",
    attribute="status",
    initial=("Draft", "InReview", "Published"),
    transitions=(
        _step("Draft", "InReview"),
        _step("Draft InReview", "Published", permission="kb:publish"),
        _step("InReview Published Archived", "Draft", permission="kb:publish"),
        _step("Published", "Archived", f"{PATCH} {CLOCK}", permission="kb:publish"),
    ),
)
MACHINES: Mapping[str, StateMachine] = {
    machine.entity: machine
    for machine in (LEAD, OPPORTUNITY, TICKET, INVOICE, TASK, PROJECT, DOCUMENT, KB_ARTICLE)
}
