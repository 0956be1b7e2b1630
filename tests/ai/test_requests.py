"""Requests as hurried people say them: what is proposed or summed up, of which record, for when.

The labelled requests are in ``requests``, a file a language, each with the answer that a person
would expect. How many are answered so is held exactly.
"""

from __future__ import annotations

from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.ai.conftest import about, chat, made
from tests.conftest import Once
from tests.contract.conftest import Api
from tests.factories import today

FOLDER = Path(__file__).parent / "requests"
RIGHT = {"en": 60, "de": 60}
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
Records = dict[str, Any]


@pytest.fixture
def records(api: Api, once: Once) -> Records:
    """A client with a contact, a deal, a ticket, an invoice; another client; a project."""
    records: Records = once("records that requests are about", partial(_make_records, api))
    return records


def _make_records(api: Api) -> Records:
    client = made(api, "Clients", name="Acme Works", email="eva@acme.example")
    made(api, "Clients", name="Globex", email="bo@globex.example")
    contact = made(api, "Contacts", firstName="Eva", lastName="Roth", clientId=client,
                   email="eva.roth@acme.example")  # fmt: skip
    ticket = made(api, "Tickets", subject="Noise", clientId=client,
                  requesterEmail="ada@acme.example")  # fmt: skip
    line = {"description": "Work", "unitPrice": 100, "taxRate": 0}
    invoice = made(api, "Invoices", clientId=client, LineItems=[line])
    sent = api.patch(f"/odata/Invoices({invoice})", {"status": "Sent"}).json
    keys = {"client": client, "contact": contact, "ticket": ticket, "invoice": invoice,
            "deal": made(api, "Opportunities", name="Turbines", clientId=client, amount=5000),
            "project": made(api, "Projects", name="Move")}  # fmt: skip
    number = api.get(f"/odata/Tickets({ticket})").json["number"]
    return {"keys": keys, "ticket": number, "invoice": sent["number"]}


SETS = {"client": "clients", "ticket": "tickets", "invoice": "invoices", "deal": "opportunities",
        "project": "projects"}  # fmt: skip
KINDS = {"create_task": "task", "add_note": "note", "draft_mail": "mail"}
TYPES = {"Client": "client", "Contact": "contact", "Ticket": "ticket", "Invoice": "invoice",
         "Opportunity": "deal", "Project": "project"}  # fmt: skip


@pytest.mark.parametrize("language", RIGHT)
def test_requests_are_understood(api: Api, records: Records, language: str) -> None:
    lines = (FOLDER / f"{language}.txt").read_text(encoding="utf-8").splitlines()[1:]
    wrong = []
    for line in lines:
        beside, message, *expected = (part.strip() for part in line.format(**records).split(" | "))
        context = {} if beside == "-" else {"context": about(SETS[beside], records["keys"][beside])}
        answer = chat(api, message, **context)
        got = _understood(answer)
        if got != _normal(expected):
            wrong.append(f"{message}: {got} {answer['reply'][:80]!r}")
    assert len(lines) == 60
    assert len(lines) - len(wrong) == RIGHT[language], "\n".join(wrong)


def _normal(expected: list[str]) -> tuple[str, ...]:
    """A label with the day that its words mean, and the text without case."""
    kind, record, when, text = expected
    day, _, hour = when.partition(" ")
    if day.startswith("+"):
        day = str(today() + timedelta(days=int(day[1:])))
    elif day in DAYS:
        ahead = (DAYS.index(day) - today().weekday() - 1) % 7 + 1
        day = str(today() + timedelta(days=ahead))
    return kind, record, f"{day} {hour or '12:00'}" if day != "-" else "-", text.lower()


def _understood(answer: dict[str, Any]) -> tuple[str, ...]:
    """What an answer proposes or sums up, as the labels say it."""
    if not answer["pendingActions"]:
        calls = [call for call in answer["toolCalls"] if call["name"] == "read_record"]
        is_summary = bool(calls) and set(calls[0]["arguments"]) == {"record"}
        record = TYPES[answer["citations"][0]["type"]] if is_summary else "-"
        return ("summary" if is_summary else "-", record, "-", "-")
    (action,) = answer["pendingActions"]
    arguments = action["arguments"]
    kind = KINDS.get(action["tool"], "state")
    record = _record_of(action, answer["context"])
    due = arguments.get("dueAt")
    when = f"{date.fromisoformat(due[:10])} {due[11:16]}" if due else "-"
    texts = [arguments[name] for name in ("title", "subject", "text", "stage", "status")
             if name in arguments]  # fmt: skip
    return kind, record, when, texts[0].lower()


def _record_of(action: dict[str, Any], context: dict[str, Any] | None) -> str:
    arguments = action["arguments"]
    if action["tool"].startswith("update_"):
        return TYPES[action["tool"].removeprefix("update_").capitalize()]
    if "type" in arguments or "relatedType" in arguments:
        return TYPES[arguments.get("type") or arguments["relatedType"]]
    if action["tool"] != "draft_mail":
        return "-"
    recipients = {"eva@acme.example": "client", "eva.roth@acme.example": "contact",
                  "ada@acme.example": "ticket"}  # fmt: skip
    is_beside_one = context is not None and context["module"].lower() == "invoices"
    is_about_it = is_beside_one and "INV-" in arguments["subject"] + arguments["body"]
    return "invoice" if is_about_it else recipients[arguments["to"]]
