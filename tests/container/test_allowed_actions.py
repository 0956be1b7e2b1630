"""What ``allowedActions`` offers is what is accepted: every entity, every state, every role."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import pytest
from flask import Flask

from app.blobs import Blob
from app.container.actions import actions_of
from app.container.declared import DECLARED
from app.container.model import container
from app.crm.merging import merge_clients
from app.db import records
from app.documents.files import StoredFile
from app.documents.service import DOCUMENTS
from app.errors import (
    AlreadyConvertedError,
    ApiError,
    ForbiddenError,
    InUseError,
    InvalidStateError,
)
from app.http.security import Caller, acting_as
from app.invoices.letters import Letter
from app.invoices.payments import register_payment, reverse_payment
from app.invoices.sending import send_invoice
from app.invoices.steps import create_credit_note, issue_invoice, mark_uncollectible, void_invoice
from app.models.invoice import Payment
from app.tickets.comments import create_comment
from app.tickets.merging import merge_tickets
from app.writing.transitions import MACHINES
from tests import factories
from tests.container.conftest import Read
from tests.factories import MAKERS, SERVICES, put, rows, stored, today
from tests.writing.test_transitions import BY_PATCH, in_state

ROLES = ("Manager", "Sales", "Accountant", "Support", "Viewer")
FILE = StoredFile("a.txt", "text/plain", Blob("blobs/0", 1, "0" * 64), None)
PAID = {"amount": Decimal("1.00"), "paid_on": today(), "method": "transfer"}


def _reverse(key: int) -> None:
    payments = rows(Payment, invoice_id=key, status="Completed")
    if not payments:
        raise InvalidStateError("nothing was paid")
    reverse_payment(payments[0]["id"])


# Name of an operation on an entity -> what a caller does then, where it needs arguments or more.
OPERATIONS: Mapping[tuple[str, str], Callable[[int], Any]] = {
    ("Client", "merge"): lambda key: merge_clients(key, factories.make_client()),
    ("Ticket", "comment"): lambda key: create_comment(key, body="A"),
    ("Ticket", "merge"): lambda key: merge_tickets(key, target_id=factories.make_ticket()),
    ("Invoice", "send"): lambda key: send_invoice(key, Letter(to=("a@example.com",))),
    ("Invoice", "payment"): lambda key: register_payment(key, allow_overpayment=True, **PAID),
    ("Invoice", "credit"): lambda key: create_credit_note(key, issue=False),
    ("Invoice", "reversal"): _reverse,
    ("Invoice", "void"): lambda key: void_invoice(key, "Wrong"),
    ("Document", "upload"): lambda key: DOCUMENTS.add_file(key, FILE),
}
STATES = [
    *((entity, state) for entity, states in BY_PATCH.items() for state in states),
    ("Client", "Active"), ("Client", "with credit"), ("Contact", ""), ("Document", "retained"),
    ("Ticket", "merged"), ("Invoice", "CreditNote Draft"), ("Invoice", "CreditNote Sent"),
    ("Invoice", "Uncollectible, paid in part"),
]  # fmt: skip


def _made(entity: str, state: str) -> int:
    """A record in a state, with what comes with it."""
    if (entity, state) in (("Client", "Active"), ("Contact", "")):
        return MAKERS[entity]()
    if state == "with credit":
        key = factories.make_client()
        put(entity, key, credit_balance=5)
        return key
    if state == "retained":
        return MAKERS[entity](retain_until=today())
    if state == "merged":
        key = factories.make_ticket()
        merge_tickets(key, target_id=factories.make_ticket())
        return key
    if entity == "Invoice":
        return _invoice(state)
    return in_state(entity, state)


def _invoice(state: str) -> int:
    if state == "Draft":
        return factories.make_invoice()
    key = factories.make_issued_invoice()
    if "CreditNote" in state:
        note = create_credit_note(key, issue=False)
        if state.endswith("Sent"):
            issue_invoice(note)
        return note
    if state == "Void":
        void_invoice(key, "Wrong")
    if state in ("PartiallyPaid", "Paid", "Uncollectible, paid in part"):
        factories.pay(key, "119.00" if state == "Paid" else "10.00")
    if state.startswith("Uncollectible"):
        mark_uncollectible(key)
    return key


def _actions_tried(entity: str, state: str) -> dict[str, Callable[[int], Any]]:
    """Everything that may be tried with a record of an entity."""
    service = SERVICES[entity]
    tried: dict[str, Callable[[int], Any]] = {
        "update": lambda key: service.update(key, {"tags": ["seen"]}),
        "delete": service.delete,
        **{
            each.action: lambda key, operation=each: operation.call(key, operation.load({}))
            for each in DECLARED
            if each.bound_to == entity and each.action is not None
        },
        **{name: act for (of, name), act in OPERATIONS.items() if of == entity},
    }
    machine = MACHINES.get(entity)
    for target in BY_PATCH.get(entity, ()):
        if machine is not None and target != state:
            change = {machine.attribute: target}
            tried[f"{machine.attribute}:{target}"] = lambda key, c=change: service.update(key, c)
    return tried


def _is_accepted(act: Callable[[int], Any], key: int) -> bool:
    """Whether the state and the rights allow it; what else is missing is another matter."""
    nested = records.connection().begin_nested()
    try:
        act(key)
    except (AlreadyConvertedError, ForbiddenError, InUseError, InvalidStateError):
        return False
    except ApiError:
        return True  # a field that is asked for
    finally:
        nested.rollback()
    return True


@pytest.mark.parametrize(("entity", "state"), STATES, ids=lambda value: str(value))
def test_what_is_offered_is_what_is_accepted(
    read: Read, admin: Caller, entity: str, state: str
) -> None:
    key = _made(entity, state)
    if "owner_id" in stored(entity, key) and entity == "Ticket" and state != "New":
        put(entity, key, assignee_id=admin.user_id)
    other = factories.make_user(ROLES[STATES.index((entity, state)) % len(ROLES)])
    address = f"{container().set_of_type[entity].name}({key})?$select=allowedActions"
    status = stored(entity, key).get(MACHINES[entity].attribute if entity in MACHINES else "", "")
    for caller in (admin, other):
        answered, found = read(address, caller)
        if answered in (403, 404):
            continue  # nothing is offered of what the caller may not read
        offered = set(found["allowedActions"])
        tried = _actions_tried(entity, status)
        with acting_as(caller):
            accepted = {name for name, act in tried.items() if _is_accepted(act, key)}
        assert offered == accepted, caller


@pytest.mark.parametrize("entity", sorted({entity for entity, _ in STATES}))
def test_every_action_is_tried(app: Flask, entity: str) -> None:
    resource = container().set_of_type[entity].type.resource
    assert resource is not None
    offered = {action.name for action in actions_of(entity, resource)}
    assert offered <= set(_actions_tried(entity, ""))
