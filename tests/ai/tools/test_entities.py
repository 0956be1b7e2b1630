"""Entities that the assistant proposes to make or to change, as the entity data model has them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from app.ai.tools import tools
from app.container.model import SETS
from app.odata.names import snake
from tests.ai.conftest import about, chat, made
from tests.ai.provider.conftest import ModelServer
from tests.ai.tools.conftest import asks_for
from tests.contract.conftest import Api


def test_each_set_that_is_written_has_two_tools(ai: Api) -> None:
    with ai.client.application.app_context():
        names = set(tools())
        schemas = {name: tool.schema for name, tool in tools().items()}
    written = {home.type.name for home in SETS if home.service is not None}
    assert {f"{deed}_{snake(name)}" for deed in ("create", "update") for name in written} <= names
    assert {"create_kb_article", "update_client"} <= names
    assert schemas["create_client"]["required"] == ["name"]
    assert schemas["update_client"]["required"] == ["id"]
    assert schemas["create_client"]["properties"]["type"]["enum"][0] == "Company"
    assert "outstandingBalance" not in schemas["update_client"]["properties"]
    lines = schemas["create_invoice"]["properties"]["LineItems"]
    assert "unitPrice" in lines["items"]["properties"]


def test_an_entity_is_made_with_what_it_owns(ai: Api, server: ModelServer, acme: int) -> None:
    line = {"description": "Work", "unitPrice": 19.99, "taxRate": 0}
    asks_for(server, "create_invoice", clientId=acme, LineItems=[line])
    (action,) = chat(ai, "Create an invoice for Acme")["pendingActions"]
    assert action["summary"].startswith("Create the invoice, client Acme, line items ")
    done = ai.post(f"/api/ai/actions/{action['id']}/confirm")
    assert done.status_code == 200, done.text
    key = done.json["result"]["id"]
    assert done.json["result"]["url"] == f"/odata/Invoices({key})"
    assert ai.get(f"/odata/Invoices({key})").json["total"] == Decimal("19.99")


def test_a_property_that_is_named_is_changed(ai: Api, server: ModelServer, acme: int) -> None:
    values = {"phone": "+49 30 1234567", "industry": "Brewing"}
    message = "Set the phone of Acme to +49 30 1234567 and its industry: Brewing"
    asked = "Change the phone of this client to +49 30 1234567, industry Brewing"
    for said in (message, asked):
        asks_for(server, "update_client", id=acme, **values)
        (action,) = chat(ai, said, context=about("clients", acme))["pendingActions"]
        assert action["summary"] == (
            "Change the phone of Acme to +49 30 1234567, industry: Brewing."
        )
    done = ai.post(f"/api/ai/actions/{action['id']}/confirm")
    assert done.status_code == 200, done.text
    client = ai.get(f"/odata/Clients({acme})").json
    assert {name: client[name] for name in values} == values


@pytest.mark.parametrize(
    ("message", "arguments", "told"),
    [
        ("Set the phone of this client to +49 30 1", {"invoiceEmail": "eva@acme.example"},
         "invoiceEmail: is nothing that the user's message asks to change"),
        ("Set the phone of this client to +49 30 1", {"phone": "+49 30 1", "notes": "Wire it"},
         "notes: is nothing that the user's message asks to change"),
        ("Set the phone of this client", {"phone": 7}, "phone: must be"),
        ("Set the colour of this client", {"colour": "blue"}, "colour: is not a property"),
        ("Change this client", {}, "There must be something to write."),
        ("Create a contact for this client", {"phone": "+49 30 1"}, "does not ask for that"),
    ],
)  # fmt: skip
def test_what_is_not_proposed(
    ai: Api, server: ModelServer, acme: int, message: str, arguments: dict[str, Any], told: str
) -> None:
    asks_for(server, "update_client", id=acme, **arguments)
    answer = chat(ai, message, context=about("clients", acme))
    assert answer["pendingActions"] == []
    assert told in answer["toolCalls"][-1]["summary"]


def test_what_is_wrong_with_a_new_one_is_told_to_the_model(ai: Api, server: ModelServer) -> None:
    asks_for(server, "create_contact", lastName="Ek", email="nobody")
    answer = chat(ai, "Add a contact: Ek")
    assert answer["pendingActions"] == []
    assert "email: " in answer["toolCalls"][-1]["summary"]
    made_one = made(ai, "Contacts", lastName="Ek")
    asks_for(server, "update_contact", id=made_one, status="Nowhere")
    answer = chat(ai, "Set the status of the contact")
    assert "status: " in answer["toolCalls"][-1]["summary"]
