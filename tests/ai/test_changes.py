"""What is declared is proposed in its own words: operations, new records, other values."""

from __future__ import annotations

from typing import Any

import pytest

from app.ai.changes import find_change
from app.ai.context import entity_type
from app.ai.parts import Ask, RecordContext
from app.ai.tools import CreateTool, OperationTool, UpdateTool, tools
from app.bi.plans.entities import spoken
from app.container.model import container
from app.container.words import label_text, options_of, word_text
from app.localisation.catalogue import BUTTON, msgids
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
            # A comment on a ticket is a note on it.
            wanted = tools()["add_note"] if tool.name == "create_comment" else tool
            assert change is not None and change.tool is wanted, message
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
        "client": acme, "other": made(api, "Clients", name="Beta"), "ticket": first,
        "T1": numbers[0], "T2": numbers[1],
        "invoice": invoice["id"], "INV": invoice["number"],
        "lead": made(api, "Leads", lastName="Huber", company="Alp"),
        "deal": made(api, "Opportunities", name="Motors", clientId=acme, amount=5),
    }  # fmt: skip


SETS = {"client": "clients", "ticket": "tickets", "invoice": "invoices", "deal": "opportunities",
        "lead": "leads"}  # fmt: skip


def chat_beside(api: Api, records: dict[str, Any], beside: str, message: str) -> dict[str, Any]:
    """The answer to a message on the page of a record; on none, where that is empty."""
    context = {"context": about(SETS[beside], records[beside])} if beside else {}
    return chat(api, message.format(**records), **context)


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
    ("deal", "we lost it, price was too high", "update_opportunity",
     {"stage": "ClosedLost", "lostReason": "Price"}),
    ("deal", "leider verloren, zu teuer", "update_opportunity",
     {"stage": "ClosedLost", "lostReason": "Price"}),
    ("lead", "source email", "update_lead", {"source": "Email"}),
    ("client", "Kreditlimit auf 50.000 erhöhen", "update_client", {"creditLimit": 50000}),
    ("client", "raise the credit limit to 50000", "update_client", {"creditLimit": 50000}),
    ("", "lower the credit limit of client {client} to 500", "update_client",
     {"creditLimit": 500}),
    ("", "Kreditlimit von Kunde {client} auf 500 senken", "update_client", {"creditLimit": 500}),
    ("client", "senke das zahlungsziel auf 10 tage", "update_client", {"paymentTermsDays": 10}),
    ("client", "set the name to Acme Works", "update_client", {"name": "Acme Works"}),
    ("client", "setze die telefonnummer auf +49 30 1234", "update_client",
     {"phone": "+49 30 1234"}),
    ("", "merge client {client} into client {other}", "merge_clients", {}),
])  # fmt: skip
def test_a_change_is_proposed_with_the_values_that_are_said(
    api: Api, records: dict[str, Any], beside: str, message: str, tool: str, values: dict[str, Any]
) -> None:
    answer = chat_beside(api, records, beside, message)
    assert [action["tool"] for action in answer["pendingActions"]] == [tool], answer["reply"]
    arguments = answer["pendingActions"][0]["arguments"]
    said = {name: float(value) if name == "amount" else value for name, value in arguments.items()}
    assert values.items() <= said.items()


@pytest.mark.parametrize(("beside", "message", "tool", "values"), [
    ("client", "limit um 500 erhöhen", "update_client", {"creditLimit": 1500}),
    ("client", "lower the credit limit by 50 euros", "update_client", {"creditLimit": 950}),
    ("client", "raise the credit limit by 10%", "update_client", {"creditLimit": 1100}),
    ("deal", "bump it up to 7000", "update_opportunity", {"amount": 7000}),
    ("deal", "erhöhe es um 10 Prozent", "update_opportunity", {"amount": 5.5}),
    ("deal", "den Betrag um 2 senken", "update_opportunity", {"amount": 3}),
    ("client", "change the owner to Admin", "update_client", {"ownerId": 1}),
    ("client", "ändere den Verantwortlichen auf Admin", "update_client", {"ownerId": 1}),
    ("ticket", "assign it to Admin", "update_ticket", {"assigneeId": 1}),
    ("ticket", "weise das Ticket Admin zu", "update_ticket", {"assigneeId": 1}),
    ("ticket", "weise es mir zu", "update_ticket", {"assigneeId": 1}),
    ("", "new deal for Beta: Pumps over 5000", "create_opportunity",
     {"name": "Pumps", "amount": 5000}),
    ("", "neuer Deal Pumpen für Beta über 5.000 Euro", "create_opportunity",
     {"name": "Pumpen", "amount": 5000}),
    ("", "create an invoice for Beta over €1,200: new website", "create_invoice",
     {"LineItems": [{"description": "new website", "unitPrice": 1200}]}),
    ("", "create an invoice for Beta over 500 euros for consulting", "create_invoice",
     {"LineItems": [{"description": "consulting", "unitPrice": 500}]}),
    ("", "erstelle eine Rechnung für Beta: 2 Stunden Beratung zu 90 Euro", "create_invoice",
     {"LineItems": [{"description": "Stunden Beratung", "quantity": 2, "unitPrice": 90}]}),
    ("", "refund the payment of {paid}, it bounced", "reverse_payment", {"reason": "it bounced"}),
    ("", "erstatte die Zahlung zu {paid}", "reverse_payment", {}),
])  # fmt: skip
def test_amounts_people_and_parts_are_said(
    api: Api, records: dict[str, Any], beside: str, message: str, tool: str, values: dict[str, Any]
) -> None:
    assert api.patch(f"/odata/Clients({records['client']})", {"creditLimit": 1000}).json
    payment = {"amount": 30, "date": "2026-01-31", "method": "transfer"}
    assert api.post(f"/api/invoices/{records['invoice']}/payments", payment).status_code == 201
    answer = chat_beside(api, {**records, "paid": records["INV"]}, beside, message)
    assert [action["tool"] for action in answer["pendingActions"]] == [tool], answer["reply"]
    arguments = answer["pendingActions"][0]["arguments"]
    assert values.items() <= {**arguments, "amount": float(arguments.get("amount", 0))}.items()


@pytest.mark.parametrize(("messages", "asked"), [
    (("create an invoice for Beta over 500 euros", "consulting"), "Say also: description."),
    (("erstelle eine Rechnung für Beta über 500 Euro", "Beratung"), "Es fehlt noch: Beschreibung."),
    (("refund the payment", "that of 20"), "Say also: payment."),
    (("add a note", "they moved"), "Say also: text."),
])  # fmt: skip
def test_what_is_asked_for_completes_a_change(
    api: Api, records: dict[str, Any], messages: tuple[str, str], asked: str
) -> None:
    for amount in (30, 20):
        payment = {"amount": amount, "date": "2026-01-31", "method": "transfer"}
        assert api.post(f"/api/invoices/{records['invoice']}/payments", payment).status_code == 201
    first = chat(api, messages[0], context=about("invoices", records["invoice"]))
    assert (first["reply"], first["pendingActions"]) == (asked, [])
    (action,) = chat(api, messages[1], sessionId=first["sessionId"])["pendingActions"]
    assert action["tool"] in ("create_invoice", "reverse_payment", "add_note")


@pytest.mark.parametrize(("message", "reply"), [
    ("change the owner to Nobody", "I found no record that is called “Nobody”."),
    ("weise es Niemand zu", "Einen Datensatz mit dem Namen „Niemand“ habe ich nicht gefunden."),
    ("why was the deal lost?", "The lost reason of Motors is Price. [1]"),
    ("warum haben wir den Deal verloren?", "Verlustgrund von Motors: Preis. [1]"),
])  # fmt: skip
def test_who_is_not_known_and_why_it_is_so_is_said(
    api: Api, records: dict[str, Any], message: str, reply: str
) -> None:
    lost = {"stage": "ClosedLost", "lostReason": "Price"}
    assert api.patch(f"/odata/Opportunities({records['deal']})", lost).status_code == 200
    assert chat_beside(api, records, "deal", message)["reply"] == reply


def test_what_is_missing_is_asked_for_and_then_proposed(api: Api, records: dict[str, Any]) -> None:
    answer = chat(api, f"Record a payment of 500 for {records['INV']}")
    assert answer["pendingActions"] == []
    assert answer["reply"].startswith("Say also: method (transfer, card, ")
    (action,) = chat(api, "by card", sessionId=answer["sessionId"])["pendingActions"]
    assert (action["tool"], action["arguments"]["method"]) == ("register_payment", "card")


@pytest.mark.parametrize(("beside", "message", "reply"), [
    ("deal", "we lost it", "Say why, such as: "),
    ("client", "change the email", "Say also: email."),
    ("", "Buche eine Zahlung", "Welcher Datensatz ist gemeint?"),
    ("client", "was ist noch offen?", "Unbezahlte Rechnungen:"),
    ("client", "what is still open?", "Unpaid invoices:"),
])  # fmt: skip
def test_what_is_open_is_said(
    api: Api, records: dict[str, Any], beside: str, message: str, reply: str
) -> None:
    answer = chat_beside(api, records, beside, message)
    assert reply in answer["reply"]
    assert answer["pendingActions"] == []


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


@pytest.mark.parametrize("kind", ["Lead", "Client", "Ticket"])
@pytest.mark.parametrize("message", ["email", "e-mail?", "source", "type", "phone", "status"])
def test_a_bare_word_of_a_property_asks_for_it(
    api: Api, records: dict[str, Any], kind: str, message: str
) -> None:
    context = about(SETS[kind.lower()], records[kind.lower()])
    assert chat(api, message, context=context)["pendingActions"] == []


def test_no_english_word_stands_in_a_german_proposal(api: Api) -> None:
    with api.client.application.app_context():
        known, untranslated = msgids("de"), set()
        for tool in tools().values():
            labels = tool.labels if isinstance(tool, OperationTool) else {}
            if isinstance(tool, OperationTool) and (BUTTON, tool.label) not in known:
                untranslated.add(tool.label)
            properties = entity_type(tool.values_of).properties if tool.values_of else {}
            for name in tool.schema["properties"]:
                options = options_of(properties[name]) if name in properties else ()
                texts = {labels.get(name) or label_text(name), *map(word_text, options)}
                untranslated |= {
                    each for each in texts if not {(None, each), ("address", each)} & known
                }
    assert untranslated == set()


@pytest.mark.parametrize(("beside", "message", "proposal"), [
    ("", "verbuche 119,50 auf {INV}, bar",
     "Zahlung erfassen ({INV}): Zahlungsart Bar, Betrag 119,50"),
    ("", "erstelle eine gutschrift für {INV}", "Gutschreiben ({INV})"),
    ("", "neuer lead: Jana Weber, Nordwind, status neu", "Lead anlegen, Status Neu, "),
    ("deal", "setz die phase auf verhandlung", "Phase von Motors auf Verhandlung ändern"),
    ("ticket", "priorität auf dringend setzen", "Priorität von Hum auf Dringend ändern"),
])  # fmt: skip
def test_a_german_proposal_is_in_german(
    api: Api, records: dict[str, Any], beside: str, message: str, proposal: str
) -> None:
    reply = chat_beside(api, records, beside, message)["reply"]
    assert proposal.format(**records) in reply


def test_a_refusal_is_in_the_language_of_the_message(api: Api, records: dict[str, Any]) -> None:
    api.post(f"/api/invoices/{records['invoice']}/void", {"reason": "x"})
    reply = chat(api, f"bitte {records['INV']} stornieren, falsche adresse")["reply"]
    assert reply == f"{records['INV']} lässt in diesem Zustand nicht zu: Stornieren."
