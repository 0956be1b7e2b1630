"""Operations that the assistant proposes: those that are declared, under their own rights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.ai.tools import tools
from app.container.declared import DECLARED
from app.operations.declaration import Operation
from app.operations.wire_types import members_of
from tests.ai.conftest import about, chat
from tests.ai.provider.conftest import ModelServer
from tests.ai.tools.conftest import asks_for
from tests.contract.conftest import Api

PROPOSED = [operation for operation in DECLARED if operation.changes and operation.proposed]


@pytest.mark.parametrize("operation", PROPOSED, ids=lambda each: each.run.__name__)
def test_each_operation_is_a_tool(ai: Api, operation: Operation) -> None:
    with ai.client.application.app_context():
        tool = tools()[operation.run.__name__]
        schema = tool.schema
    fields = {} if operation.arguments is None else members_of(operation.arguments)
    assert fields.keys() <= schema["properties"].keys()
    assert ("id" in schema["required"]) == (operation.bound_to is not None)
    needed = {name for name, field in fields.items() if field.required}
    assert needed <= set(schema["required"])
    assert tool.rights({}) == operation.permissions
    assert "$ref" not in str(schema)


def test_an_operation_is_proposed_and_done_when_it_is_confirmed(
    ai: Api, server: ModelServer, invoice: dict[str, Any]
) -> None:
    key = invoice["id"]
    asks_for(server, "register_payment", id=key, amount=100, date="2026-01-31", method="transfer")
    answer = chat(ai, f"Register a payment of 100 for {invoice['number']}")
    (action,) = answer["pendingActions"]
    assert action["summary"] == (
        f"Register payment ({invoice['number']}): amount 100, day 31 January 2026, method transfer."
    )
    assert ai.get(f"/odata/Invoices({key})").json["amountDue"] == 100
    done = ai.post(f"/api/ai/actions/{action['id']}/confirm")
    assert done.status_code == 200, done.text
    assert done.json["result"]["type"] == "Payment"
    assert ai.get(f"/odata/Invoices({key})").json["status"] == "Paid"


def test_one_of_a_record_within_another_names_both(
    ai: Api, server: ModelServer, invoice: dict[str, Any]
) -> None:
    key = invoice["id"]
    paid = ai.post(f"/api/invoices/{key}/payments", {"amount": 100, "date": "2026-01-31",
                                                     "method": "transfer"})  # fmt: skip
    assert paid.status_code == 201, paid.text
    asks_for(server, "reverse_payment", invoiceId=key, id=paid.json["id"], reason="It bounced")
    (action,) = chat(ai, "Reverse the payment")["pendingActions"]
    done = ai.post(f"/api/ai/actions/{action['id']}/confirm")
    assert done.status_code == 200, done.text
    assert ai.get(f"/odata/Invoices({key})").json["status"] == "Sent"


@pytest.mark.parametrize(
    ("message", "tool", "more", "status", "told"),
    [
        ("What is this?", "void_invoice", {"reason": "x"}, "denied", "does not ask for that"),
        ("Void this invoice", "void_invoice", {}, "error", "reason: is required"),
        ("Void this invoice", "void_invoice", {"reason": "x", "y": 1}, "error", "y"),
        ("Send this invoice", "send_invoice", {"to": ["thief@evil.example"]}, "denied",
         "no such address"),
        ("Restore it", "restore", {"id": "1"}, "error", "id: must be the id of a record"),
    ],
)  # fmt: skip
def test_what_is_not_proposed(
    ai: Api, server: ModelServer, invoice: dict[str, Any], message: str, tool: str,
    more: dict[str, Any], status: str, told: str,
) -> None:  # fmt: skip
    asks_for(server, tool, **{"id": invoice["id"], **more})
    answer = chat(ai, message, context=about("invoices", invoice["id"]))
    assert answer["pendingActions"] == []
    call = answer["toolCalls"][-1]
    assert (call["status"], told in call["summary"]) == (status, True), call["summary"]


def test_an_operation_that_the_state_does_not_allow_is_not_proposed(
    ai: Api, server: ModelServer, invoice: dict[str, Any]
) -> None:
    answer = ai.post(f"/api/invoices/{invoice['id']}/void", {"reason": "Twice"})
    assert answer.status_code == 200, answer.text
    asks_for(server, "void_invoice", id=invoice["id"], reason="Again")
    answer = chat(ai, "Void it", context=about("invoices", invoice["id"]))
    assert answer["pendingActions"] == []
    assert "as it is does not allow: Void." in answer["toolCalls"][-1]["summary"]


def test_whoever_may_not_do_it_has_no_tool_for_it(
    ai: Api, server: ModelServer, invoice: dict[str, Any], sign_in: Callable[..., Api]
) -> None:
    asks_for(server, "void_invoice", id=invoice["id"], reason="x")
    answer = chat(sign_in("Sales"), "Void this invoice")
    assert answer["pendingActions"] == []
    assert "there is no tool" in answer["toolCalls"][-1]["summary"]
