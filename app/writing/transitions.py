"""The states of the eight entities that have them, and the steps between (contract section 10).

Whatever is not listed is refused with 409 INVALID_STATE.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

PATCH = "PATCH"


@dataclass(frozen=True, kw_only=True)
class Transition:
    """Steps from any of ``sources`` to ``target``.

    ``permission`` is needed besides the right to change the record, ``everywhere`` says that it
    must be held for all records and not only for own ones; ``by`` names the operations that do
    it, PATCH among them when a change of the attribute does. ``type``: only records of this type
    take it. What else a step asks for and brings along is in the service (``enter``).
    """

    sources: tuple[str, ...]
    target: str
    permission: str | None = None
    everywhere: bool = False
    by: tuple[str, ...] = (PATCH,)
    type: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class StateMachine:
    """The states of an entity: ``attribute`` holds the current one, ``initial`` are the first."""

    entity: str
    attribute: str
    initial: tuple[str, ...]
    transitions: tuple[Transition, ...]

    @cached_property
    def steps(self) -> Mapping[tuple[str, str], tuple[Transition, ...]]:
        """(from, to) -> transitions, one for each way that needs another right."""
        transitions: dict[tuple[str, str], tuple[Transition, ...]] = {}
        for transition in self.transitions:
            for source in transition.sources:
                pair = (source, transition.target)
                transitions[pair] = (*transitions.get(pair, ()), transition)
        return transitions

    def targets(self, state: str, *operations: str) -> tuple[str, ...]:
        """What may follow ``state`` by one of ``operations``, in the order of the declaration."""
        return tuple(
            target
            for source, target in self.steps
            if source == state and any(self.find(state, target, by) for by in operations)
        )

    def find(self, state: str, target: str, by: str = PATCH) -> Transition | None:
        """The transition from ``state`` to ``target`` by this operation, if there is one."""
        transitions = self.steps.get((state, target), ())
        return next((transition for transition in transitions if by in transition.by), None)

    def operations(self, state: str, target: str) -> tuple[str, ...]:
        """The operations other than PATCH that lead from ``state`` to ``target``."""
        transitions = self.steps.get((state, target), ())
        names = (name for transition in transitions for name in transition.by if name != PATCH)
        return tuple(dict.fromkeys(names))


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
