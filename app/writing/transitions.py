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


def _among(states: tuple[str, ...], effect: str) -> tuple[Transition, ...]:
    """Every step from one of the states to another of them."""
    return tuple(
        Transition(
            sources=tuple(source for source in states if source != target),
            target=target,
            effect=effect,
        )
        for target in states
    )


LEAD = StateMachine(
    entity="Lead",
    attribute="status",
    initial=LEAD_OPEN,
    transitions=(
        *_among(LEAD_OPEN, "statusChangedAt"),
        Transition(
            sources=LEAD_OPEN,
            target="Disqualified",
            guard="disqualifyReason is given",
            effect="lead.disqualified",
        ),
        Transition(sources=("Disqualified",), target="New", effect="reason and notes are cleared"),
        Transition(
            sources=LEAD_OPEN,
            target="Converted",
            permission="leads:convert",
            by=("convert",),
            effect="client, contact and opportunity are linked; tasks and documents move",
        ),
    ),
)
OPPORTUNITY = StateMachine(
    entity="Opportunity",
    attribute="stage",
    initial=(*STAGE_OPEN, "ClosedWon", "ClosedLost"),
    transitions=(
        *_among(STAGE_OPEN, "StageHistory; probability is the stage's unless given"),
        Transition(
            sources=STAGE_OPEN,
            target="ClosedWon",
            effect="closedAt, status Won; a client that was a Prospect becomes Active",
        ),
        Transition(
            sources=STAGE_OPEN,
            target="ClosedLost",
            guard="lostReason is given, and lostNotes when it is Other",
            effect="closedAt, status Lost",
        ),
        *(
            Transition(
                sources=("ClosedWon", "ClosedLost"),
                target=stage,
                permission="opportunities:reopen",
                effect="closedAt and the reason are cleared, status Open",
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
        Transition(
            sources=("New",),
            target="Open",
            by=(PATCH, "comment"),
            guard="an assignee is set, or an agent has answered",
            effect="firstRespondedAt on an answer",
        ),
        Transition(sources=("New", "Open"), target="Pending", effect="the clocks of the SLA stop"),
        Transition(sources=("New", "Open"), target="OnHold", effect="the clocks of the SLA stop"),
        Transition(
            sources=("New", "Open"), target="Solved", guard="an assignee is set", effect="solvedAt"
        ),
        Transition(
            sources=("Pending", "OnHold"),
            target="Open",
            by=(PATCH, "comment", CLOCK),
            effect="the clocks go on, due times are pushed by the time they stood",
        ),
        Transition(
            sources=("Solved",), target="Open", by=(PATCH, "comment"), effect="reopenCount + 1"
        ),
        Transition(
            sources=("Solved",),
            target="Closed",
            permission=_MANAGER_OF_TICKETS,
            by=(PATCH, CLOCK),
            guard="a manager, or the clock after the days of the settings",
            effect="closedAt",
        ),
        Transition(
            sources=("New", "Open", "Pending", "OnHold", "Solved"),
            target="Closed",
            permission="tickets:merge",
            by=("merge",),
            effect="mergedIntoId, comments move",
        ),
    ),
)
INVOICE = StateMachine(
    entity="Invoice",
    attribute="status",
    initial=("Draft",),
    transitions=(
        Transition(
            sources=("Draft",),
            target="Sent",
            permission="invoices:send",
            by=(PATCH, "send"),
            guard="at least one line, client not Blocked",
            effect="number, snapshots, dates; content is frozen",
        ),
        Transition(
            sources=("Draft",),
            target="Sent",
            permission="invoices:send",
            by=("payment",),
            type="Invoice",
            guard="as by send",
            effect="the same, before the payment",
        ),
        Transition(
            sources=("Draft", "Sent", "PartiallyPaid", "Uncollectible"),
            target="Paid",
            by=("payment", "credit"),
            type="Invoice",
            guard="payments and credits add up to the total",
            effect="paidAt, invoice.paid",
        ),
        Transition(
            sources=("Sent", "Uncollectible", "Paid"),
            target="PartiallyPaid",
            by=("payment", "credit", "reversal"),
            type="Invoice",
            effect="invoice.partially_paid",
        ),
        Transition(
            sources=("Paid", "PartiallyPaid"),
            target="Sent",
            by=("reversal",),
            type="Invoice",
            effect="payment.reversed",
        ),
        Transition(
            sources=("Sent", "Uncollectible"),
            target="Void",
            permission="invoices:void",
            by=("void",),
            guard="no payment stands",
            effect="amountDue 0; the number stays",
        ),
        Transition(
            sources=("Sent", "PartiallyPaid"),
            target="Uncollectible",
            permission="invoices:uncollectible",
            by=(PATCH, "uncollectible"),
            type="Invoice",
            effect="leaves the receivables; can still be paid",
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
        Transition(sources=(*TASK_OPEN, "Canceled"), target="Done", effect="completedAt"),
        Transition(sources=(*TASK_OPEN, "Done"), target="Canceled", effect="completedAt"),
    ),
)
PROJECT = StateMachine(
    entity="Project",
    attribute="status",
    initial=("Planned", "Active", "OnHold"),
    transitions=(
        Transition(sources=("Planned", "OnHold"), target="Active"),
        Transition(sources=("Active",), target="OnHold"),
        Transition(
            sources=("Active",),
            target="Completed",
            guard="no open tasks",
            effect="completedAt",
        ),
        Transition(sources=("Planned", "Active", "OnHold"), target="Canceled"),
        Transition(
            sources=("Completed",),
            target="Active",
            permission="projects:update",
            everywhere=True,
            effect="completedAt is cleared",
        ),
    ),
)
DOCUMENT = StateMachine(
    entity="Document",
    attribute="status",
    initial=("Pending",),
    transitions=(
        Transition(
            sources=("Pending",), target="Active", by=("upload",), effect="document.uploaded"
        ),
        Transition(sources=("Active",), target="Archived", effect="public links stop"),
        Transition(sources=("Archived",), target="Active"),
        Transition(sources=("Active",), target="Quarantined", by=("scan",), effect="no download"),
        Transition(sources=("Quarantined",), target="Active", permission=_ADMINISTRATOR),
        Transition(
            sources=DOCUMENT_KEPT,
            target="Deleted",
            by=("DELETE",),
            guard="retainUntil has passed",
            effect="public links are revoked",
        ),
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
        Transition(sources=("Draft",), target="InReview", effect="kb_article.submitted"),
        Transition(
            sources=("Draft", "InReview"),
            target="Published",
            permission="kb:publish",
            effect="publishedAt, indexed",
        ),
        Transition(
            sources=("InReview", "Published", "Archived"),
            target="Draft",
            permission="kb:publish",
            effect="removed from the public index",
        ),
        Transition(
            sources=("Published",),
            target="Archived",
            permission="kb:publish",
            by=(PATCH, CLOCK),
            effect="archivedAt; out of search",
        ),
    ),
)
MACHINES: Mapping[str, StateMachine] = {
    machine.entity: machine
    for machine in (LEAD, OPPORTUNITY, TICKET, INVOICE, TASK, PROJECT, DOCUMENT, KB_ARTICLE)
}
