"""Questions beside a record, in the words of people in a hurry: what the answer says, and not.

The labelled messages are in ``beside.txt``, by the kind of the record. How many are answered as a
person would expect is held exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.ai.wording import day_text
from tests.ai.conftest import about, chat, made
from tests.conftest import Once
from tests.contract.conftest import Api
from tests.factories import today

RIGHT = {"Client": 62, "Invoice": 24, "Ticket": 21, "Opportunity": 18, "Project": 15, "Task": 8,
         "Lead": 14, "Contact": 11}  # fmt: skip
OTHER = "Globex"
Records = dict[str, Any]


def labelled() -> Iterator[tuple[str, str, str]]:
    """The kind of the record, the messages, and what the last answer says."""
    kind = ""
    for line in Path(__file__).with_name("beside.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            kind = line.removeprefix("# ")
        elif line:
            messages, _, expected = line.rpartition(" = ")
            yield kind, messages, expected


@pytest.fixture
def records(api: Api, once: Once) -> Records:
    """A client with one or two of each kind, beside another client with an invoice."""
    records: Records = once("records that questions are beside", partial(_make_records, api))
    return records


def _make_records(api: Api) -> Records:
    client = made(
        api, "Clients", name="Nordwind Pumpen GmbH", email="office@nordwind.example",
        phone="+49 381 5550", website="https://nordwind.example", taxId="DE123456789",
        creditLimit=5000, paymentTermsDays=14, industry="Engineering", language="de",
        billingAddress={"street": "Am Kai 1", "city": "Rostock", "country": "DE"},
    )  # fmt: skip
    other = made(api, "Clients", name=OTHER, email="bo@globex.example", language="en")
    admin = api.get(f"/odata/Clients({client})?$select=ownerId").json["ownerId"]
    late = _issued(api, client, 1200, dueDate="2026-01-10", issueDate="2025-12-27")
    paid = _issued(api, client, 500, dueDate="2026-02-10", issueDate="2026-01-27")
    _issued(api, other, 100, dueDate="2030-01-31")
    for key, amount, day in ((late["id"], 300, "2026-01-05"), (paid["id"], 500, "2026-02-09")):
        payment = {"amount": amount, "date": day, "method": "transfer"}
        assert api.post(f"/api/invoices/{key}/payments", payment).status_code == 201
    contact = made(api, "Contacts", firstName="Eva", lastName="Roth", clientId=client,
                   isPrimary=True, jobTitle="Buyer", department="Purchasing",
                   email="eva@nordwind.example", phone="+49 381 5551")  # fmt: skip
    made(api, "Contacts", firstName="Tom", lastName="Berg", clientId=client)
    deal = made(api, "Opportunities", name="Turbines", clientId=client, amount=5000,
                closeDate="2030-06-30", nextStep="Send offer", competitor="Wilo")  # fmt: skip
    lost = made(api, "Opportunities", name="Valves", clientId=client, amount=800)
    _changed(api, f"Opportunities({lost})", stage="ClosedLost", lostReason="Price")
    ticket = made(api, "Tickets", subject="Noise", clientId=client, contactId=contact,
                  description="It hums.", priority="High", category="Hardware",
                  assigneeId=admin)  # fmt: skip
    said = api.post(f"/odata/Tickets({ticket})/Comments", {"body": "It still hums."})
    assert said.status_code == 201, said.text
    solved = made(api, "Tickets", subject="Leak", clientId=client, assigneeId=admin)
    _changed(api, f"Tickets({solved})", status="Solved", resolution="A new seal.")
    project = made(api, "Projects", name="Move", clientId=client, status="Active", managerId=admin,
                   budgetHours=100, budgetAmount=10000, endDate="2030-12-31")  # fmt: skip
    made(api, "Tasks", title="Pack", projectId=project)
    measured = made(api, "Tasks", title="Measure", projectId=project, actualHours=12)
    _changed(api, f"Tasks({measured})", status="Done")
    task = made(api, "Tasks", title="Call Eva", relatedType="Client", relatedId=client,
                priority="High", dueAt="2030-02-01T12:00:00Z", assigneeId=admin)  # fmt: skip
    lead = made(
        api, "Leads", firstName="Ada", lastName="Lind", company="Lind Works", rating="Hot",
        phone="+46 8 123 456", email="ada@lind.example", score=70, estimatedValue=7000,
        source="Referral", currency="EUR", nextActivityAt="2030-01-31T09:00:00Z",
    )  # fmt: skip
    keys = {"Client": client, "Invoice": late["id"], "Ticket": ticket, "Opportunity": deal,
            "Project": project, "Task": task, "Lead": lead, "Contact": contact}  # fmt: skip
    return {"keys": keys, "late": late["number"], "paid": paid["number"]}


def _issued(api: Api, client: int, price: int, **values: Any) -> Records:
    """A sent invoice of one line."""
    lines = [{"description": "Work", "unitPrice": price, "taxRate": 0}]
    key = made(api, "Invoices", clientId=client, LineItems=lines, **values)
    return _changed(api, f"Invoices({key})", status="Sent")


def _changed(api: Api, path: str, **values: Any) -> Records:
    answer = api.patch(f"/odata/{path}", values)
    assert answer.status_code == 200, answer.text
    changed: Records = answer.json
    return changed


@pytest.mark.parametrize("kind", RIGHT)
def test_questions_beside_a_record_are_answered(
    app: Flask, api: Api, records: Records, kind: str
) -> None:
    with app.app_context():
        named = {**records, "today": day_text(str(today()))}
    asked = [each for each in labelled() if each[0] == kind]
    wrong = []
    for _, messages, expected in asked:
        reply = last_reply(api, about(kind, records["keys"][kind]), messages)
        if not is_right(reply, expected.format(**named)):
            wrong.append(f"{messages} = {expected}\n    {reply!r}")
    assert len(asked) - len(wrong) == RIGHT[kind], "\n".join(wrong)


def last_reply(api: Api, context: Records, messages: str) -> str:
    """The answer to the last message of a conversation that begins beside a record."""
    first, *following = messages.split(" > ")
    answer = chat(api, first, context=context)
    for message in following:
        answer = chat(api, message, sessionId=answer["sessionId"])
    reply: str = answer["reply"]
    return reply


def is_right(reply: str, expected: str) -> bool:
    """Whether an answer says all that it has to, and nothing that it must not."""
    parts = expected.split("; ")
    barred = [part[1:] for part in parts if part.startswith("!")]
    wanted = [part for part in parts if not part.startswith("!")]
    if OTHER not in wanted:
        barred.append(OTHER)
    says = [part.lower() in reply.lower() for part in wanted]
    return all(says) and not any(part in reply for part in barred)
