"""Proposed changes: nothing happens until they are confirmed, and then once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.ai.free_text import read_text
from app.clock import utc_now
from app.models.assistant import AiAction
from app.models.event import AuditRecord, Event
from tests.ai.conftest import about, chat, made
from tests.contract.conftest import Api
from tests.factories import today


def propose(api: Api, message: str, **body: Any) -> dict[str, Any]:
    answer = chat(api, message, **body)
    (action,) = answer["pendingActions"]
    assert action["id"].startswith("act_")
    return dict(action)


def confirm(api: Api, action: dict[str, Any]) -> Any:
    return api.post(f"/api/ai/actions/{action['id']}/confirm")


@pytest.fixture
def acme(api: Api) -> int:
    return made(api, "Clients", name="Acme", email="eva@acme.example", notes="Old.")


def test_a_task_is_proposed_and_made_when_confirmed(api: Api, acme: int, session: Session) -> None:
    action = propose(api, "Please create a task to call Eva tomorrow", context=about("crm", acme))
    tomorrow = today() + timedelta(days=1)
    assert (action["tool"], action["arguments"]) == (
        "create_task",
        {"title": "Call Eva", "dueAt": f"{tomorrow}T12:00:00.000Z", "relatedType": "Client",
         "relatedId": acme},
    )  # fmt: skip
    assert api.get("/odata/Tasks/$count").text == "0"
    answer = confirm(api, action)
    assert (answer.status_code, answer.json["status"]) == (200, "executed")
    key = answer.json["result"]["id"]
    task = api.get(f"/odata/Tasks({key})").json
    assert (task["title"], task["relatedId"]) == ("Call Eva", acme)
    again = confirm(api, action)
    assert (again.status_code, again.json["error"]["code"]) == (409, "INVALID_STATE")
    assert api.get("/odata/Tasks/$count").text == "1"
    names = session.scalars(select(Event.type)).all()
    assert {"ai.action_proposed", "ai.action_executed", "task.created"} <= set(names)
    made_by = select(AuditRecord.via).where(AuditRecord.action == "task.created")
    assert session.scalars(made_by).all() == ["ai"]


def test_a_rejected_action_does_nothing(api: Api) -> None:
    action = propose(api, "remind me to call Eva")
    answer = api.post(f"/api/ai/actions/{action['id']}/reject")
    assert (answer.status_code, answer.json["status"]) == (200, "rejected")
    assert confirm(api, action).status_code == 409
    assert api.get("/odata/Tasks/$count").text == "0"


def test_an_action_expires(api: Api, unit_of_work: Callable[..., Any]) -> None:
    action = propose(api, "remind me to call Eva")
    with unit_of_work() as session:
        session.execute(update(AiAction).values(expires_at=utc_now() - timedelta(seconds=1)))
    answer = confirm(api, action)
    assert answer.status_code == 409
    assert answer.json["error"]["details"] == [{"field": "status", "message": "expired"}]


def test_notes_are_added_to_records(api: Api, acme: int) -> None:
    action = propose(api, "Add a note that Eva moved to Berlin", context=about("clients", acme))
    assert confirm(api, action).status_code == 200
    notes = api.get(f"/odata/Clients({acme})").json["notes"]
    assert notes == f"Old.\n{today().isoformat()}: Eva moved to Berlin"
    ticket = made(api, "Tickets", subject="Noise")
    action = propose(api, "add note: oil ordered", context=about("tickets", ticket))
    assert confirm(api, action).status_code == 200
    comments = api.get(f"/odata/Tickets({ticket})/Comments").json["value"]
    assert [(row["body"], row["isInternal"]) for row in comments] == [("oil ordered", True)]


def test_a_mail_is_drafted_and_not_sent(api: Api, acme: int) -> None:
    action = propose(
        api, "Draft an email to the client about the new prices", context=about("crm", acme)
    )
    result = confirm(api, action).json["result"]
    assert (result["to"], result["subject"]) == ("eva@acme.example", "The new prices")
    assert result["url"].startswith("mailto:eva%40acme.example?subject=The%20new%20prices&body=")


def test_a_stage_is_changed_by_the_service_with_its_rules(api: Api, acme: int) -> None:
    sale = made(api, "Opportunities", name="Turbines", clientId=acme, amount=5000)
    where = about("opportunities", sale)
    action = propose(api, "Move it to Negotiation", context=where)
    assert action["summary"] == "Change the stage of Turbines to Negotiation."
    assert confirm(api, action).status_code == 200
    assert api.get(f"/odata/Opportunities({sale})").json["stage"] == "Negotiation"
    ticket = made(api, "Tickets", subject="Noise", clientId=acme)
    solved = propose(api, "set it to Solved", context=about("tickets", ticket))
    refused = confirm(api, solved)  # somebody has to be assigned
    assert (refused.status_code, refused.json["error"]["code"]) == (400, "VALIDATION_ERROR")
    assert api.get(f"/odata/Tickets({ticket})").json["status"] == "New"
    session_id = api.get("/api/ai/sessions").json["items"][0]["sessionId"]
    (shown,) = api.get(f"/api/ai/sessions/{session_id}").json["actions"]
    assert shown["status"] == "pending"
    answer = chat(api, "move it to Atlantis", context=where)
    assert answer["pendingActions"] == []
    assert answer["reply"].startswith("Atlantis is no stage. There are: Prospecting,")


def test_without_a_record_it_asks_for_one(api: Api) -> None:
    for message in ("add note: x", "draft a mail to the client", "move it to Negotiation"):
        answer = chat(api, message)
        assert answer["pendingActions"] == []
        assert "Say which record" in answer["reply"]


def test_nothing_is_proposed_that_the_caller_may_not_do(
    api: Api, acme: int, sign_in: Callable[..., Api]
) -> None:
    viewer = sign_in("Viewer")
    answer = chat(viewer, "create a task to call Eva")
    assert answer["pendingActions"] == []
    assert answer["toolCalls"][0]["status"] == "denied"
    action = propose(api, "remind me to call Eva")
    assert confirm(viewer, action).status_code == 403
    assert confirm(sign_in("Sales"), action).status_code == 404
    assert api.post("/api/ai/actions/act_unknown/confirm").status_code == 404


def test_rights_count_when_it_is_confirmed(api: Api, sign_in: Callable[..., Api]) -> None:
    other = made(api, "Opportunities", name="Mine", clientId=made(api, "Clients", name="A"))
    sales = sign_in("Sales")
    action = propose(sales, "Move it to Proposal", context=about("opportunities", other))
    assert confirm(sales, action).status_code == 403
    assert api.get(f"/odata/Opportunities({other})").json["stage"] == "Prospecting"


@pytest.mark.parametrize(
    ("text", "rest", "days"),
    [("call Eva tomorrow", "call Eva", 1), ("call Eva in 3 days", "call Eva", 3),
     ("call Eva by today", "call Eva", 0), ("call in 2 weeks Eva", "call Eva", 14),
     ("call Eva", "call Eva", None), ("call Eva on 2026-99-99", "call Eva on 2026-99-99", None)],
)  # fmt: skip
def test_dates_are_taken_out_of_texts(app: Flask, text: str, rest: str, days: int | None) -> None:
    expected = None if days is None else today() + timedelta(days=days)
    with app.app_context():
        said = read_text(f"remind me to {text}", "en", "task")
    assert said is not None
    assert (said.text, said.due.day) == (rest, expected)


def test_a_weekday_is_the_next_one(app: Flask) -> None:
    with app.app_context():
        said = read_text("remind me to call on friday", "en", "task")
    assert said is not None and said.due.day is not None
    assert said.due.day.weekday() == 4
    assert timedelta(0) < said.due.day - today() <= timedelta(days=7)


def test_a_mail_is_about_what_is_known_of_the_record(api: Api, acme: int) -> None:
    ticket = made(api, "Tickets", subject="Noise", requesterEmail="ada@acme.example")
    number = api.get(f"/odata/Tickets({ticket})").json["number"]
    action = propose(api, "write a reply to the requester", context=about("tickets", ticket))
    assert action["arguments"]["to"] == "ada@acme.example"
    assert f"This is about {number}: Noise." in action["arguments"]["body"]
    line = {"description": "Work", "unitPrice": 100, "taxRate": 0}
    invoice = made(api, "Invoices", clientId=acme, LineItems=[line])
    where = about("invoices", invoice)
    draft = propose(api, "draft a reminder about the bill", context=where)
    assert draft["arguments"]["to"] == "eva@acme.example"
    assert "This is about" not in draft["arguments"]["body"]
    api.patch(f"/odata/Clients({acme})", {"invoiceEmail": "bills@acme.example"})
    issued = api.patch(f"/odata/Invoices({invoice})", {"status": "Sent"}).json
    reminder = propose(api, "draft a reminder about the bill", context=where)
    assert reminder["arguments"]["to"] == "bills@acme.example"
    due = f"This is about invoice {issued['number']}: 100.00 EUR is due."
    assert due in reminder["arguments"]["body"]


@pytest.mark.parametrize(
    ("entity_set", "module", "message", "reply"),
    [
        ("Clients", "clients", "draft a mail to the client", "Silent has no e-mail address."),
        ("Projects", "projects", "draft a mail", "Silent has no e-mail address."),
        ("Projects", "projects", "add a note: late",
         "I cannot add notes to records of the type project."),
        ("Clients", "clients", "create a task tomorrow",
         "Say what the task is, such as: create a task to call Eva tomorrow."),
    ],
)  # fmt: skip
def test_what_cannot_be_proposed_is_said(
    api: Api, entity_set: str, module: str, message: str, reply: str
) -> None:
    key = made(api, entity_set, name="Silent")
    answer = chat(api, message, context=about(module, key))
    assert (answer["reply"], answer["pendingActions"]) == (reply, [])
