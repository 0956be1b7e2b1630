"""When something may be done to a record: one table of the conditions of all operations.

Services refuse by it (``require_operation``), and ``allowedActions`` is written from it
(app/container/actions.py), so that what is offered is what is accepted (docs/adr/0049). Steps
between states that a PATCH takes stand in the state machines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from app.errors import ApiError, InUseError, InvalidStateError
from app.models.columns import Record
from app.odata.names import camel
from app.settings.days import today
from app.writing.transitions import INVOICE, LEAD, LEAD_OPEN, TICKET, StateMachine

UPDATE, DELETE = "update", "delete"


@dataclass(frozen=True, kw_only=True)
class Condition:
    """When something may be done to a record, as far as its own row says.

    It is in ``states`` (None: in all) for records of ``record_type`` (None: of all), when
    every amount of ``zero`` is 0, every amount of ``positive`` is more, and every date of ``ended``
    is null or before today. ``rights`` are all needed. A message says that the record cannot be
    ``done``; ``refusal`` is raised for the amounts and dates. Without ``rights`` those of its
    declaration are needed (app/operations/declaration.py); ``everywhere`` says that they
    must be held for all records and not only for own ones.
    """

    name: str
    done: str = "done"
    rights: tuple[str, ...] = ()
    states: tuple[str, ...] | None = None
    record_type: str | None = None
    zero: tuple[str, ...] = ()
    positive: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()
    everywhere: bool = False
    refusal: type[ApiError] = InvalidStateError


def _sources(machine: StateMachine, by: str) -> tuple[str, ...]:
    """The states from which an operation takes a step of the machine."""
    steps = (step for step in machine.transitions if by in step.by)
    return tuple(dict.fromkeys(state for step in steps for state in step.sources))


_NOT_CONVERTED = (*LEAD_OPEN, "Disqualified")
_ISSUED = ("Sent", "PartiallyPaid", "Paid", "Uncollectible")

CONDITIONS: Mapping[str, tuple[Condition, ...]] = {
    "Client": (
        Condition(
            name=DELETE, done="deleted", rights=("clients:delete",), zero=("credit_balance",),
            refusal=InUseError,
        ),
    ),
    "Lead": (
        # A converted lead is where its client came from, and stays as it was.
        Condition(name=UPDATE, done="changed", rights=("leads:update",), states=_NOT_CONVERTED),
        Condition(name=DELETE, done="deleted", rights=("leads:delete",), states=_NOT_CONVERTED),
        Condition(name="convert", done="converted", states=_sources(LEAD, "convert")),
    ),
    "Ticket": (
        Condition(
            name="comment", done="answered",
            states=("New", "Open", "Pending", "OnHold", "Solved"),
        ),
        # What is said of a closed ticket begins another one (app/tickets/comments.py).
        Condition(
            name="comment", done="answered", rights=("tickets:update", "tickets:create"),
            states=("Closed",),
        ),
        Condition(name="merge", done="merged", states=_sources(TICKET, "merge")),
    ),
    "Invoice": (
        Condition(name=DELETE, done="deleted", rights=("invoices:delete",), states=("Draft",)),
        Condition(name="send", done="sent", states=("Draft", *_ISSUED)),
        # A payment issues a draft.
        Condition(
            name="payment", done="paid", rights=("payments:create", "invoices:send"),
            states=("Draft",), record_type="Invoice",
        ),
        # What is paid too much can be kept as credit, for a paid invoice all of it.
        Condition(name="payment", done="paid", states=_ISSUED, record_type="Invoice"),
        Condition(
            name="credit", done="credited", rights=("invoices:credit", "invoices:create"),
            states=_ISSUED, record_type="Invoice",
        ),
        Condition(
            name="reversal", done="freed of a payment", rights=("payments:reverse",),
            states=_ISSUED, record_type="Invoice", positive=("amount_paid",),
        ),
        Condition(
            name="void", done="voided", states=_sources(INVOICE, "void"),
            zero=("amount_paid", "amount_credited"),
        ),
        Condition(
            name="uncollectible", done="written off",
            states=_sources(INVOICE, "uncollectible"), record_type="Invoice",
        ),
    ),
    "Payment": (Condition(name="reverse", done="reversed", states=("Completed",)),),
    "Document": (
        Condition(
            name=DELETE, done="deleted", rights=("documents:delete",), ended=("retain_until",),
            refusal=InUseError,
        ),
        Condition(
            name="upload", done="given a file", rights=("documents:update",),
            states=("Pending", "Active"),
        ),
        Condition(name="share", done="shared", states=("Active",)),
    ),
}  # fmt: skip


def conditions_of(entity: str, resource: str) -> tuple[Condition, ...]:
    """The operations on an entity; change and deletion are possible where nothing else is said."""
    listed = CONDITIONS.get(entity, ())
    named = {operation.name for operation in listed}
    general = (
        Condition(name=name, done=f"{name}d", rights=(f"{resource}:{name}",))
        for name in (UPDATE, DELETE)
        if name not in named
    )
    return (*general, *listed)


def require_operation(entity: str, title: str, name: str, record: Record) -> None:
    """Check that an operation is possible as the record stands; rights are asked elsewhere.

    Args:
        title: how a message calls the record, such as ``invoice``.
        record: as it stands.
    Raises: InvalidStateError, or the ``refusal`` of the operation.
    """
    listed = [each for each in CONDITIONS.get(entity, ()) if each.name == name]
    if not listed:
        return
    type_, status = getattr(record, "type", None), getattr(record, "status", None)
    states = tuple(dict.fromkeys(state for each in listed for state in each.states or ()))
    operation = next(
        (each for each in listed if each.states is None or status in each.states),
        listed[0],
    )
    cannot = f"cannot be {operation.done}"
    if operation.record_type is not None and type_ != operation.record_type:
        raise InvalidStateError(
            f"Only the type {operation.record_type} can be {operation.done}.",
            [("type", f"is {type_}")],
        )
    if operation.states is not None and status not in operation.states:
        article = "An" if title[0] in "aeiou" else "A"
        raise InvalidStateError(
            f"{article} {title} in state {status} {cannot}; possible in: {', '.join(states)}.",
            [("status", f"is {status}")],
        )
    for attribute in _standing_against(operation, record):
        value = getattr(record, attribute)
        raise operation.refusal(
            f"The {title} {cannot}: its {camel(attribute)} is {value}.",
            [(camel(attribute), f"is {value}")],
        )


def _standing_against(operation: Condition, record: Record) -> list[str]:
    """The attributes whose values forbid the operation."""
    ends: dict[str, date | None] = {name: getattr(record, name) for name in operation.ended}
    return [
        *(name for name in operation.zero if getattr(record, name) != 0),
        *(name for name in operation.positive if not getattr(record, name) > 0),
        *(name for name, end in ends.items() if end is not None and end >= today()),
    ]
