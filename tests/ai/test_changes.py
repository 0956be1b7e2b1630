"""What is declared is proposed in its own words: operations, new records, other values."""

from __future__ import annotations

from typing import Any

import pytest

from app.ai.changes import find_change
from app.ai.parts import Ask, RecordContext
from app.ai.tools import CreateTool, OperationTool, UpdateTool, tools
from app.bi.plans.entities import spoken
from app.container.model import container
from app.odata.names import apart
from tests.ai.conftest import about, chat, made
from tests.contract.conftest import Api
from tests.factories import today


def _record(entity: str) -> RecordContext:
    home = container().set_of_type[entity].name
    return RecordContext(home, entity, home, 1, "It")


def test_every_operation_on_a_record_is_wanted_by_its_name(api: Api) -> None:
    with api.client.application.app_context():
        declared = [each for each in tools().values() if isinstance(each, OperationTool)]
        operations = [each for each in declared if each.record and each.is_of_one]
        for tool in operations:
            message = f"{apart(tool.operation.name)} this {spoken(str(tool.record))}"
            change = find_change(Ask(message, _record(str(tool.record))))
            assert change is not None and change.tool is tool, message
            for doubt in (f"can I {message}?", f"don't {message}", f'what does "{message}" mean?',
                          f"how do I {message}?"):  # fmt: skip
                assert find_change(Ask(doubt, _record(str(tool.record)))) is None, doubt
    assert len(operations) > 8


def test_every_kind_of_record_is_made_and_changed_by_its_name(api: Api) -> None:
    with api.client.application.app_context():
        for tool in tools().values():
            if isinstance(tool, CreateTool) and tool.name not in ("create_task", "create_product"):
                kind = spoken(tool.entity).removeprefix("kb ")
                change = find_change(Ask(f"create a new {kind}: Alpha", None))
                assert change is not None and change.tool is tool, tool.name
            if isinstance(tool, UpdateTool):
                change = find_change(Ask(f"set the {tool.state} to x", _record(tool.entity)))
                assert change is not None and change.tool is tool, tool.name


@pytest.fixture
def records(api: Api, acme: int) -> dict[str, Any]:
    """Records of each kind that is changed, by what they are called in messages."""
    first, second = (made(api, "Tickets", subject=each, clientId=acme) for each in ("Hum", "Hiss"))
    numbers = [api.get(f"/odata/Tickets({key})").json["number"] for key in (first, second)]
    invoice = api.get(f"/odata/Invoices?$filter=clientId eq {acme}").json["value"][0]
    return {
        "client": acme, "ticket": first, "T1": numbers[0], "T2": numbers[1],
        "invoice": invoice["id"], "INV": invoice["number"],
        "lead": made(api, "Leads", lastName="Huber", company="Alp"),
        "deal": made(api, "Opportunities", name="Motors", clientId=acme, amount=5),
    }  # fmt: skip


SETS = {"client": "clients", "ticket": "tickets", "invoice": "invoices", "deal": "opportunities",
        "lead": "leads"}  # fmt: skip


@pytest.mark.parametrize(("beside", "message", "tool", "values"), [
    ("", "book 119.50 against {INV}, cash", "register_payment",
     {"amount": 119.5, "method": "cash"}),
    ("", "paid 20 by transfer on {INV} today", "register_payment",
     {"amount": 20, "method": "transfer", "date": str(today())}),
    ("", "zahlung von 50 euro für {INV} erfassen, überweisung", "register_payment",
     {"amount": 50, "method": "transfer"}),
    ("", "erfasse zahlung 40 euro überweisung auf {INV}", "register_payment",
     {"amount": 40, "method": "transfer"}),
    ("client", "leg ein projekt an: Umzug Lager", "create_project", {"name": "Umzug Lager"}),
    ("", "void {INV}, wrong address", "void_invoice", {"reason": "wrong address"}),
    ("invoice", "stornier die bitte, falsche adresse", "void_invoice",
     {"reason": "falsche adresse"}),
    ("", "schreib {INV} ab, da kommt nix mehr", "mark_uncollectible", {}),
    ("invoice", "bitte an den kunden schicken", "send_invoice", {}),
    ("", "credit note for {INV} pls", "create_credit_note", {}),
    ("lead", "convert to client and create an opportunity too", "convert_lead",
     {"createOpportunity": True}),
    ("lead", "in kunden umwandeln", "convert_lead", {}),
    ("", "merge {T2} into {T1}", "merge_tickets", {}),
    ("", "new lead: Jane Miller from Northwind, jane@northwind.example", "create_lead",
     {"firstName": "Jane", "lastName": "Miller", "company": "Northwind",
      "email": "jane@northwind.example"}),
    ("", "leg einen kunden Sonnenhof Catering an", "create_client", {"name": "Sonnenhof Catering"}),
    ("", "open a ticket for Acme: printer jams again", "create_ticket",
     {"subject": "printer jams again"}),
    ("", "create a contact Tom Baker for Acme, tom@baker.example", "create_contact",
     {"firstName": "Tom", "lastName": "Baker", "email": "tom@baker.example"}),
    ("lead", "qualify this lead", "update_lead", {"status": "Qualified"}),
    ("client", "ticket aufmachen: login geht nicht", "create_ticket",
     {"subject": "login geht nicht"}),
    ("ticket", "set prio to urgent", "update_ticket", {"priority": "Urgent"}),
    ("deal", "setz den betrag auf 12.500", "update_opportunity", {"amount": 12500}),
    ("deal", "bump it to negotiation and push the close date to 2030-12-20", "update_opportunity",
     {"stage": "Negotiation", "closeDate": "2030-12-20"}),
    ("deal", "verloren, war zu teuer", "update_opportunity",
     {"stage": "ClosedLost", "lostReason": "Price"}),
])  # fmt: skip
def test_a_change_is_proposed_with_the_values_that_are_said(
    api: Api, records: dict[str, Any], beside: str, message: str, tool: str, values: dict[str, Any]
) -> None:
    context = {"context": about(SETS[beside], records[beside])} if beside else {}
    answer = chat(api, message.format(**records), **context)
    assert [action["tool"] for action in answer["pendingActions"]] == [tool], answer["reply"]
    arguments = answer["pendingActions"][0]["arguments"]
    said = {name: float(value) if name == "amount" else value for name, value in arguments.items()}
    assert values.items() <= said.items()


def test_what_is_missing_is_asked_for_and_then_proposed(api: Api, records: dict[str, Any]) -> None:
    answer = chat(api, f"Record a payment of 500 for {records['INV']}")
    assert answer["pendingActions"] == []
    assert answer["reply"].startswith("Say also: method (transfer, card, ")
    (action,) = chat(api, "by card", sessionId=answer["sessionId"])["pendingActions"]
    assert (action["tool"], action["arguments"]["method"]) == ("register_payment", "card")


def test_a_value_is_corrected(api: Api, acme: int) -> None:
    answer = chat(api, "zahlungsziel auf 14 tage setzen", context=about("clients", acme))
    (action,) = chat(api, "nein, 21", sessionId=answer["sessionId"])["pendingActions"]
    assert action["arguments"] == {"id": acme, "paymentTermsDays": 21}


@pytest.mark.parametrize("message", [
    "paid?", "is it paid", "new leads this month", "Neue Kunden diesen Monat", "open tickets",
    "paid invoices", "how do I record a payment?", "can I void it?", "don't send it",
    'The client wrote "please void the invoice". What do I answer?', "Comment clore un ticket",
])  # fmt: skip
def test_what_wants_no_change_proposes_none(
    api: Api, records: dict[str, Any], message: str
) -> None:
    answer = chat(api, message, context=about("invoices", records["invoice"]))
    assert answer["pendingActions"] == []
