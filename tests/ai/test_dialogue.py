"""A message beside those before it: changes of the last wish, several wishes, wishes for many."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from app.ai.dialogue import is_of_many
from app.ai.refusals import MANY
from app.localisation.catalogue import text_in
from tests.ai.conftest import about, chat, made
from tests.contract.conftest import Api
from tests.factories import today


def talk(api: Api, context: Any, *messages: str) -> list[dict[str, Any]]:
    """The answers to messages of one conversation that begins beside a record."""
    answers = [chat(api, messages[0], context=context)]
    going_on = {"sessionId": answers[0]["sessionId"]}
    return answers + [chat(api, message, **going_on) for message in messages[1:]]


def friday_and_monday() -> tuple[str, str]:
    days = (today() + timedelta(days=(day - today().weekday() - 1) % 7 + 1) for day in (4, 0))
    friday, monday = map(str, days)
    return friday, monday


@pytest.mark.parametrize(("messages", "day", "time"), [
    (("remind me to call them at 3 pm on Friday",), 0, "15:00"),
    (("remind me on friday at 4 to call them",), 0, "16:00"),
    (("remind me to call them at 3 pm on Friday", "no, at 4"), 0, "16:00"),
    (("remind me to call them at 3 pm on Friday", "no, at 4", "sorry, on monday"), 1, "16:00"),
    (("remind me to call them on friday at 9", "make it monday at 10:30 please"), 1, "10:30"),
    (("remind me", "to call them on monday"), 1, "12:00"),
    (("reminde me to call them on friday",), 0, "12:00"),
    (("erinnere mich am freitag um 15 uhr sie anzurufen", "nee doch erst montag"), 1, "15:00"),
    (("erinner mich montag um 8 sie anzurufen", "ach, lieber um 9"), 1, "09:00"),
])  # fmt: skip
def test_the_last_wish_is_changed(
    api: Api, acme: int, messages: tuple[str, ...], day: int, time: str
) -> None:
    *before, last = talk(api, about("clients", acme), *messages)
    (action,) = last["pendingActions"]
    assert action["arguments"]["dueAt"][:16] == f"{friday_and_monday()[day]}T{time}"
    assert action["arguments"]["title"].lower() in ("call them", "sie anzurufen")
    for answer in before:
        for replaced in answer["pendingActions"]:
            late = api.post(f"/api/ai/actions/{replaced['id']}/confirm")
            assert (late.status_code, late.json["error"]["code"]) == (409, "INVALID_STATE")


def test_a_mail_a_state_and_a_reason_are_changed(api: Api, acme: int) -> None:
    deal = made(api, "Opportunities", name="Motors", clientId=acme, amount=5)
    ticket = made(api, "Tickets", subject="Hum", clientId=acme)
    for context, messages, expected in (
        (about("clients", acme), ("draft a mail to them about the visit",
                                  "actually make it about the price list"),
         {"subject": "The price list"}),
        (about("tickets", ticket), ("set it to open", "hmm no, pending please"),
         {"status": "Pending"}),
        (about("opportunities", deal), ("mark it lost", "price"),
         {"stage": "ClosedLost", "lostReason": "Price"}),
        (about("opportunities", deal), ("move it to negotiaton",), {"stage": "Negotiation"}),
    ):  # fmt: skip
        (action,) = talk(api, context, *messages)[-1]["pendingActions"]
        assert expected.items() <= action["arguments"].items()


@pytest.mark.parametrize(("message", "tools"), [
    ("log a call: they want a demo and remind me on monday to prepare it",
     ["add_note", "create_task"]),
    ("add a note: waiting for the serial number. And set it to pending",
     ["add_note", "update_ticket"]),
    ("setz es auf offen und schreib als notiz: ersatzteil verschickt",
     ["update_ticket", "add_note"]),
    ("remind me tomorrow to call them and send the contract", ["create_task"]),
    ("note: Eva and Bo called. They will mark it as urgent", ["add_note"]),
])  # fmt: skip
def test_wishes_of_one_line_are_told_apart(
    api: Api, acme: int, message: str, tools: list[str]
) -> None:
    ticket = made(api, "Tickets", subject="Hum", clientId=acme)
    actions = chat(api, message, context=about("tickets", ticket))["pendingActions"]
    assert [action["tool"] for action in actions] == tools


def test_two_questions_of_one_line_are_answered(api: Api, acme: int) -> None:
    ticket = made(api, "Tickets", subject="Hum", priority="High", clientId=acme)
    message = "what is the priority and what is the status?"
    reply = chat(api, message, context=about("tickets", ticket))["reply"]
    assert reply == "The priority of Hum is High. [1]\nThe status of Hum is New. [1]"


@pytest.mark.parametrize("message", [
    "delete all drafts", "send the reminder to everyone", "mark all overdue invoices as paid",
    "close all tickets", "please email all clients that we are closed on friday",
    "lösch alle entwürfe", "schick allen kunden eine mahnung", "schließ alle tickets",
    "kannst du alle rechnungen stornieren", "send everyone a mail",
])  # fmt: skip
def test_what_is_wanted_of_many_is_not_proposed(api: Api, message: str) -> None:
    answer = chat(api, message)
    assert answer["pendingActions"] == []
    assert answer["reply"] in (MANY, text_in("de", MANY))


@pytest.mark.parametrize("message", [
    "remind me to call all clients tomorrow", "draft a mail to Eva about all invoices",
    "list all invoices", "note: they closed all accounts", "how do i close all tickets?",
    "erinnere mich morgen alle kunden anzurufen",
])  # fmt: skip
def test_all_may_be_spoken_of(message: str) -> None:
    assert not is_of_many(message)
