"""Records that a message names or a conversation is about, and what is asked and wanted of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from app.ai.changes import NEEDS_RECORD, UNKNOWN
from app.ai.knowledge import NOT_FOUND
from app.ai.references import find_mentioned
from app.ai.refusals import NO_WRITES, is_command
from app.ai.tools import NEEDS_VALUES
from app.localisation.catalogue import text_in
from tests.ai.conftest import about, chat, made
from tests.conftest import Once
from tests.contract.conftest import Api

Records = dict[str, Any]
NOBODY = "I found no record that is called \u201c{}\u201d."


@pytest.fixture
def records(api: Api, once: Once) -> Records:
    """Acme, with an unpaid invoice of two lines, a deal, a ticket and a task; beside Globex."""
    records: Records = once("records that a message names", partial(_make_records, api))
    return records


def _make_records(api: Api) -> Records:
    acme, globex = (made(api, "Clients", name=name, email="a@b.example", creditLimit=500,
                         billingAddress={"city": "Rostock"})
                    for name in ("Acme Works", "Globex"))  # fmt: skip
    found: Records = {"acme": acme, "globex": globex}
    for client in (acme, globex):
        lines = [{"description": text, "unitPrice": 100, "taxRate": 0} for text in ("Work", "Wood")]
        invoice = made(api, "Invoices", clientId=client, LineItems=lines, dueDate="2030-01-31")
        sent = api.patch(f"/odata/Invoices({invoice})", {"status": "Sent"})
        assert sent.status_code == 200
        found.setdefault("invoice", sent.json)
    found["deal"] = made(api, "Opportunities", name="Turbines", clientId=acme, amount=5000)
    ticket = made(api, "Tickets", subject="Noise", clientId=acme, description="It hums.")
    found["ticket"] = api.get(f"/odata/Tickets({ticket})").json
    for key in (acme, globex):
        made(api, "Tasks", title=f"Call {key}", relatedType="Client", relatedId=key)
    made(api, "Contacts", firstName="Eva", lastName="Roth", clientId=acme, isPrimary=True)
    return found


def beside(api: Api, records: Records, module: str, message: str) -> Any:
    """The answer to a message beside the record of a kind."""
    keys = {"clients": records["acme"], "invoices": records["invoice"]["id"],
            "tickets": records["ticket"]["id"], "opportunities": records["deal"]}  # fmt: skip
    return chat(api, message, context=about(module, keys[module]))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("show invoice {invoice}", "Invoice {invoice} has the status Sent. [1]"),
        ("Summarise {ticket}", "{ticket} \u201cNoise\u201d is New with the priority Normal. [1]"),
        ("status of ticket {ticket}", "The status of Noise is New. [1]"),
        ("when is {lower} due?", "The due date of {invoice} is 31 January 2030. [1]"),
        ("is {invoice} paid?", "The status of {invoice} is Sent. [1]"),
        ("Ticket 1", "{ticket} \u201cNoise\u201d is New with the priority Normal. [1]"),
        ("Show me client 2", "Globex (C-000002) is a client"),
        ("zeig mir Kunde 2", "Globex (C-000002) ist ein Kunde"),
        ("What does client C-000001 owe us?", "The outstanding balance of Acme Works is 200.00"),
        ("What does client 1 owe us?", "The outstanding balance of Acme Works is 200.00"),
        ("status of ticket no. 1", "The status of Noise is New. [1]"),
        ("Wie ist der Status von Ticket 1?", "Status von Noise: Neu. [1]"),
        ("when is invoice 1 due?", "The due date of {invoice} is 31 January 2030. [1]"),
        ("who is the owner of client 2?", "The owner of Globex is"),
        ("who is contact 1?", "Eva Roth is a contact. [1]"),
        ("Tell me about Acme Works", "Acme Works (C-000001) is a client"),
        ("tell me about acme", "Acme Works (C-000001) is a client"),
        ("Who is Eva Roth?", "Eva Roth is a contact. [1]"),
        ("describe Globex", "Globex (C-000002) is a client"),
    ],
)
def test_a_record_is_known_by_its_number_or_name(
    api: Api, records: Records, message: str, expected: str
) -> None:
    names = {"invoice": records["invoice"]["number"], "ticket": records["ticket"]["number"]}
    names["lower"] = names["invoice"].lower()
    for context in ({}, {"context": about("clients", records["globex"])}):
        answer = chat(api, message.format(**names), **context)
        assert answer["reply"].startswith(expected.format(**names))


@pytest.mark.parametrize(
    ("message", "called"),
    [
        ("show INV-1999-00001", "INV-1999-00001"), ("T-999999", "T-999999"),
        ("Ticket 431", "Ticket 431"), ("Show me client 501", "client 501"),
        ("What does client C-000501 owe us?", "C-000501"),
        ("Was schuldet uns Kunde 501?", "Kunde 501"), ("Set T-999999 to Solved", "T-999999"),
    ],
)  # fmt: skip
def test_a_record_that_there_is_not_is_not_found(
    api: Api, records: Records, message: str, called: str
) -> None:
    for context in ({}, {"context": about("clients", records["globex"])}):
        answer = chat(api, message, **context)
        assert answer["reply"] in (NOBODY.format(called), text_in("de", UNKNOWN, name=called))
        assert answer["pendingActions"] == []
    assert chat(api, "tell me about Umbrella")["reply"] == NOT_FOUND


def test_who_may_not_read_a_record_is_not_told_of_it(
    api: Api, records: Records, sign_in: Callable[..., Api]
) -> None:
    made(api, "Leads", company="Silent Works", firstName="Ada", lastName="Hidden")
    assert "Hidden" in chat(api, "tell me about Ada Hidden")["reply"]
    accountant = sign_in("Accountant")
    for message in ("tell me about Ada Hidden", "tell me about Silent Works"):
        assert chat(accountant, message)["reply"] == NOT_FOUND


def test_a_key_with_few_scopes_is_told_what_it_may_read(api: Api, records: Records) -> None:
    wish = {"name": "few", "role": "Manager", "scopes": ["ai:chat", "clients:read"]}
    key = Api(api.client, {"X-API-Key": api.post("/api/admin/api-keys", wish).json["key"]})
    reply = chat(key, "tell me about Acme Works")["reply"]
    assert reply.startswith("Acme Works (C-000001) is a client")
    assert "Unpaid invoices" not in reply and "scope" not in reply
    for called in (records["invoice"]["number"], f"invoice {records['invoice']['id']}"):
        assert chat(key, f"show {called}")["reply"] == NOBODY.format(called)
    refused = chat(key, "How many open tickets are there?")["reply"]
    assert refused == "You may not ask for figures."


def test_a_credit_note_is_no_unpaid_invoice(api: Api, records: Records) -> None:
    line = {"description": "Work", "unitPrice": 40, "taxRate": 0}
    note = made(api, "Invoices", clientId=records["acme"], type="CreditNote", LineItems=[line],
                creditedInvoiceId=records["invoice"]["id"])  # fmt: skip
    sent = api.patch(f"/odata/Invoices({note})", {"status": "Sent"})
    assert sent.status_code == 200, sent.text
    reply = chat(api, "tell me about Acme Works")["reply"]
    unpaid = reply.partition("Unpaid invoices")[2]
    assert records["invoice"]["number"] in unpaid and sent.json["number"] not in reply


def test_two_of_one_name_are_not_guessed(api: Api, records: Records) -> None:
    other = made(api, "Clients", name="Acme Works")
    answer = chat(api, "tell me about Acme Works")
    assert answer["reply"].startswith("There are several of this name:\n- Acme Works [1]\n-")
    assert [each["id"] for each in answer["citations"]] == [records["acme"], other]


@pytest.mark.parametrize(
    "message",
    ["revenue by client 2026", "top client 2026", "revenue per customer 2025", "clients 5",
     "contact 5 clients", "invoice 30 days overdue"],
)  # fmt: skip
def test_a_number_that_counts_or_is_a_year_names_no_record(message: str) -> None:
    assert not find_mentioned(message, "").called


@pytest.mark.parametrize(
    "message",
    ["Verbuche eine Zahlung von 100 Euro auf {invoice}", "Verbuche eine Zahlung",
     "Erfasse eine Zahlung von 100 Euro", "Eine Zahlung von 100 Euro verbuchen",
     "Buche eine Zahlung", "Register a payment of 100 EUR for {invoice}"],
)  # fmt: skip
def test_to_book_a_payment_is_no_question_about_payments(
    api: Api, records: Records, message: str
) -> None:
    reply = chat(api, message.format(invoice=records["invoice"]["number"]))["reply"]
    needed = (NEEDS_RECORD, NEEDS_VALUES)
    begins = [text_in(code, text)[:9] for text in needed for code in ("en", "de")]
    assert reply.startswith(tuple(begins)), reply


@pytest.mark.parametrize(
    "message", ["Verbuchte Zahlungen", "Erfasste Tickets", "Stornierte Rechnungen"]
)
def test_what_was_done_is_no_command(message: str) -> None:
    assert not is_command(message)


def test_figures_are_asked_of_a_client_named_by_its_number(api: Api, records: Records) -> None:
    reply = chat(api, "unpaid invoices of C-000001")["reply"]
    assert records["invoice"]["number"] in reply and "Acme Works" in reply
    assert "1 invoice" in reply


def test_articles_are_not_asked_for_the_number_of_a_record(api: Api, records: Records) -> None:
    call = chat(api, f"How do I correct invoice {records['invoice']['number']}?")["toolCalls"][0]
    assert call["arguments"] == {"q": "How do I correct invoice ?"}


def test_a_conversation_stays_with_its_record(api: Api, records: Records) -> None:
    first = chat(api, "Give me a summary", context=about("clients", records["acme"]))
    going_on = {"sessionId": first["sessionId"]}
    answer = chat(api, "what is their e-mail?", **going_on)
    assert answer["reply"] == "The email of Acme Works is a@b.example. [1]"
    assert answer["context"]["title"] == "Acme Works"
    assert chat(api, "Summarise this", context=None, **going_on)["reply"] == NEEDS_RECORD
    assert chat(api, "Summarise this", **going_on)["reply"] == NEEDS_RECORD


def test_a_conversation_goes_on_without_a_record_that_is_gone(api: Api, records: Records) -> None:
    key = made(api, "Clients", name="Short lived")
    session = chat(api, "Give me a summary", context=about("clients", key))["sessionId"]
    assert api.delete(f"/odata/Clients({key})").status_code == 204
    answer = chat(api, "Summarise this", sessionId=session)
    assert (answer["reply"], answer["context"]) == (NEEDS_RECORD, None)


@pytest.mark.parametrize(
    "question",
    ["Which invoices are unpaid?", "unpaid invoices", "last invoice?", "show me the invoices"],
)
def test_beside_a_client_invoices_are_the_clients(
    api: Api, records: Records, question: str
) -> None:
    reply = chat(api, question, context=about("clients", records["acme"]))["reply"]
    assert records["invoice"]["number"] in reply and "Acme Works" in reply
    assert "Globex" not in reply


@pytest.mark.parametrize("question", ["list all invoices", "How many invoices do we have?"])
def test_beside_a_client_all_are_all(api: Api, records: Records, question: str) -> None:
    reply = chat(api, question, context=about("clients", records["acme"]))["reply"]
    assert "2 invoices" in reply


@pytest.mark.parametrize(
    ("module", "question", "expected"),
    [
        ("clients", "open tasks?", "Open tasks: [1]\n- Call {acme} (Todo, Normal) [2]"),
        ("clients", "who is the main contact?", "1 contact (client Acme Works, primary): Eva Roth"),
        ("clients", "credit limit", "The credit limit of Acme Works is 500.00 EUR. [1]"),
        ("clients", "where are they located?", "The billing address of Acme Works is Rostock"),
        ("clients", "are they blocked?", "The status of Acme Works is Active. [1]"),
        ("invoices", "How much is still due?", "The amount due of {number} is 200.00 EUR. [1]"),
        ("invoices", "list the positions", "Lines: [1]\n- Work: 100.00 [1]\n- Wood: 100.00 [1]"),
        ("invoices", "payments?", "Payments of {number}: none. [1]"),
        ("invoices", "how many reminders were sent?", "The reminders sent of {number} are 0. [1]"),
        ("invoices", "Is it paid?", "The status of {number} is Sent. [1]"),
        ("tickets", "What is the problem?", "{ticket} “Noise” is New"),
        ("tickets", "what did the customer say?", "Last comments of Noise: none. [1]"),
        ("opportunities", "stages?", "Stages so far: [1]\n- Prospecting since"),
        ("opportunities", "which client is it for?", "The client of Turbines is Acme Works. [1]"),
        (
            "clients",
            "how much is overdue?",
            "There is nothing to count: no invoices (overdue, client Acme",
        ),
        ("clients", "when did they become a client?", "Acme Works was created on "),
        ("clients", "last activity?", "The last activity date of Acme Works is "),
        ("tickets", "Who is working on it?", "The assignee of Noise is not set. [1]"),
        ("tickets", "whats this about", "{ticket} “Noise” is New"),
        ("tickets", "worum geht es hier?", "{ticket} „Noise“ hat den Status Neu"),
        ("tickets", "wer bearbeitet es?", "Bearbeiter von Noise: nicht angegeben. [1]"),
        ("tickets", "ist es gelöst?", "Nein. Noise ({ticket}, Acme Works): Status neu. [1]"),
        ("tickets", "ähnliche tickets?", "Ich habe keine gefunden."),
        ("tickets", "welcher artikel hilft?", "Ich habe keine gefunden."),
        ("clients", "wie viel schulden sie uns noch?", "Offener Betrag von Acme Works: 200,00"),
        ("clients", "wer ist der ansprechpartner?", "1 Kontakt (Kunde Acme Works): Eva Roth"),
        ("clients", "und die telefonnummer?", "Telefon von Acme Works: nicht angegeben. [1]"),
        ("clients", "wo sitzen die?", "Ort von Acme Works: Rostock"),
        ("clients", "offene aufgaben?", "Offene Aufgaben: [1]\n- Call {acme}"),
        ("clients", "kreditlimit?", "Kreditlimit von Acme Works: 500,00 EUR. [1]"),
        ("invoices", "wann ist sie fällig?", "Fälligkeitsdatum von {number}: 31. Januar 2030. [1]"),
        ("invoices", "wie viel ist noch offen?", "Fälliger Betrag von {number}: 200,00 EUR. [1]"),
        ("invoices", "ist sie überfällig?", "Überfällig von {number}: nein. [1]"),
        ("opportunities", "welcher kunde ist das?", "Kunde von Turbines: Acme Works. [1]"),
        ("opportunities", "wie hoch ist der wert?", "Betrag von Turbines: 5.000,00 EUR. [1]"),
    ],
)
def test_what_belongs_to_the_record_is_told(
    api: Api, records: Records, module: str, question: str, expected: str
) -> None:
    reply = beside(api, records, module, question)["reply"]
    wanted = expected.format(acme=records["acme"], number=records["invoice"]["number"],
                             ticket=records["ticket"]["number"])  # fmt: skip
    assert reply.startswith(wanted), reply


@pytest.mark.parametrize(
    ("module", "message", "expected"),
    [
        ("invoices", "mark as paid", "Say also: method (transfer, card,"),
        (
            "invoices",
            "set the status to Draft",
            "INV-2026-00001 is Sent. From there follows: Uncollectible.",
        ),
        ("tickets", "close it", "Noise is New. From there follows: Open, Pending,"),
        (
            "opportunities",
            "mark as lost",
            "Say why, such as: mark it as Closed Lost because of Price,",
        ),
        ("opportunities", "set it to Prospecting", "Turbines is Prospecting already."),
        ("clients", "delete the tasks", NO_WRITES),
        ("clients", "change the credit limit", "Say also: credit limit."),
    ],
)
def test_what_cannot_be_done_is_not_proposed(
    api: Api, records: Records, module: str, message: str, expected: str
) -> None:
    answer = beside(api, records, module, message)
    assert answer["reply"].startswith(expected)
    assert answer["pendingActions"] == []


def test_a_wish_for_a_state_is_short(api: Api, records: Records) -> None:
    context = about("opportunities", records["deal"])
    message = f"set it to {'a because ' * 1_900}1"
    assert chat(api, message, context=context)["reply"] == NO_WRITES


def test_a_record_of_every_kind_is_asked_in_its_words(api: Api) -> None:
    project = made(api, "Projects", name="Move", budgetHours=10)
    lead = made(api, "Leads", company="Works", rating="Hot", nextActivityAt="2030-01-31T09:00:00Z")
    document = made(api, "Documents", name="a.pdf", expiresAt="2030-01-31")
    for module, key, question, expected in (
        (
            "projects",
            project,
            "how many hours are left?",
            "Budgeted hours left (Move): 10.00 hours. [1]",
        ),
        ("projects", project, "is it over budget?", "No. Move (P-"),
        ("leads", lead, "is it hot?", "is Hot. [1]"),
        ("leads", lead, "next activity?", "is 31 January 2030. [1]"),
        ("documents", document, "when does it expire?", "31 January 2030. [1]"),
    ):
        assert expected in chat(api, question, context=about(module, key))["reply"]


def test_a_lost_deal_keeps_the_reason_that_was_said(api: Api, records: Records) -> None:
    context = about("opportunities", records["deal"])
    (action,) = chat(api, "mark it as lost because of the price", context=context)["pendingActions"]
    assert action["summary"].endswith("to Closed Lost, lost reason: Price.")
    confirmed = api.post(f"/api/ai/actions/{action['id']}/confirm")
    assert confirmed.status_code == 200, confirmed.text
    deal = api.get(f"/odata/Opportunities({records['deal']})").json
    assert (deal["stage"], deal["lostReason"]) == ("ClosedLost", "Price")


def test_a_change_of_a_record_named_by_its_number_is_proposed(api: Api, records: Records) -> None:
    number = records["ticket"]["number"]
    for message, tool in (
        (f"set {number} to Open", "update_ticket"), (f"add a note to {number}: called", "add_note"),
        (f"create a task to check {number} tomorrow", "create_task"),
    ):  # fmt: skip
        (action,) = chat(api, message)["pendingActions"]
        assert action["tool"] == tool
        about_it = {"id", "relatedId"} & set(action["arguments"])
        assert {action["arguments"][name] for name in about_it} == {records["ticket"]["id"]}
    assert action["arguments"]["title"] == f"Check {number}"


@pytest.mark.parametrize("module", [None, "clients", "opportunities"])
def test_a_change_of_a_record_named_by_its_name_is_never_one_of_that_beside(
    api: Api, records: Records, module: str | None
) -> None:
    """Whatever the caller looks at, the record whose name is said is the one that is changed."""
    for message, name, value in (
        ("Set the status of Globex to Inactive", "status", "Inactive"),
        ("change the payment terms of globex to 14 days", "paymentTermsDays", 14),
        ("Setze den Status von Globex auf Inaktiv", "status", "Inactive"),
        ("Ändere das Zahlungsziel von Globex auf 14 Tage", "paymentTermsDays", 14),
        ("Set the status of Glob to Inactive", "status", "Inactive"),
    ):
        answer = (chat(api, message) if module is None
                  else beside(api, records, module, message))  # fmt: skip
        assert len(answer["pendingActions"]) == 1, (message, answer["reply"])
        (action,) = answer["pendingActions"]
        assert action["tool"] == "update_client", message
        assert action["arguments"] == {"id": records["globex"], name: value}, message
        assert "Globex" in action["summary"]


def test_a_mail_about_a_record_named_by_its_number_is_drafted(api: Api, records: Records) -> None:
    number = records["invoice"]["number"]
    for message in (f"draft a mail to the client about {number}", f"draft a reply to {number}"):
        (action,) = chat(api, message)["pendingActions"]
        assert action["arguments"]["to"] == "a@b.example"
        assert action["arguments"]["subject"] == number
        assert f"This is about invoice {number}: 200.00 EUR is due." in action["arguments"]["body"]
