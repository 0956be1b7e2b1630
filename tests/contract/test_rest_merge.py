"""Two clients or two tickets that are the same become one, over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models.event import AuditRecord, Event
from tests.contract.conftest import Api


def make(api: Api, entity: str, **values: Any) -> int:
    answer = api.post(f"/odata/{entity}", values)
    assert answer.status_code == 201, answer.text
    key: int = answer.json["id"]
    return key


def get(api: Api, entity: str, key: int) -> Any:
    answer = api.get(f"/odata/{entity}({key})")
    assert answer.status_code == 200, answer.text
    return answer.json


def merge(api: Api, client_id: int, source_id: Any, query: str = "", **options: Any) -> Any:
    path = f"/api/crm/clients/{client_id}/merge{query}"
    return api.post(path, {"sourceId": source_id}, **options)


def make_pair(api: Api, **source: Any) -> tuple[int, int]:
    return make(api, "Clients", name="Acme GmbH", email="a@acme.example"), make(
        api, "Clients", name="ACME", **source
    )


def issue(api: Api, client_id: int, price: float) -> int:
    invoice = make(
        api, "Invoices", clientId=client_id,
        LineItems=[{"description": "Work", "unitPrice": price, "taxRate": 19}],
    )  # fmt: skip
    assert api.patch(f"/odata/Invoices({invoice})", {"status": "Sent"}).status_code == 200
    return invoice


def test_everything_of_the_other_client_moves(admin: Api, session: Session) -> None:
    client, source = make_pair(admin, phone="+49 30 1234567")
    contact = make(admin, "Contacts", lastName="Roth", clientId=source, isPrimary=True)
    make(admin, "Contacts", lastName="Main", clientId=client, isPrimary=True)
    sale = make(admin, "Opportunities", name="Pumps", clientId=source)
    ticket = make(admin, "Tickets", subject="Noise", clientId=source)
    project = make(admin, "Projects", name="Move", clientId=source)
    task = make(admin, "Tasks", title="Call", relatedType="Client", relatedId=source)
    document = make(
        admin, "Documents", name="a.pdf", entityType="Client", entityId=source, clientId=source
    )
    lead = make(admin, "Leads", company="ACME", email="l@acme.example")
    converted = admin.post(f"/api/crm/leads/{lead}/convert", {"clientId": source})
    assert converted.status_code == 200, converted.text
    draft = make(admin, "Invoices", clientId=source)
    issued = issue(admin, source, 100)
    own = issue(admin, client, 10)
    paid = admin.post(
        f"/api/invoices/{issued}/payments",
        {"amount": 150, "date": "2026-01-31", "method": "transfer", "allowOverpayment": True},
    )
    assert paid.status_code == 201, paid.text

    answer = merge(admin, client, source)
    assert answer.status_code == 200, answer.text
    body = answer.json
    assert body["moved"] == {
        "contacts": 1, "opportunities": 1, "leads": 1, "tickets": 1, "projects": 1,
        "invoices": 2, "payments": 1, "tasks": 1, "documents": 1,
    }  # fmt: skip
    assert body["filled"] == ["phone", "source"]
    assert (body["clientId"], body["sourceId"], body["client"]["name"]) == (
        client, source, "Acme GmbH",
    )  # fmt: skip
    assert {name: float(value) for name, value in body["balances"].items()} == {
        "invoicedTotal": 130.9, "outstandingBalance": 11.9, "creditBalance": 31,
    }  # fmt: skip
    assert admin.get(f"/odata/Clients({source})").status_code == 404
    for entity, key in (
        ("Contacts", contact), ("Opportunities", sale), ("Tickets", ticket),
        ("Projects", project), ("Invoices", draft), ("Invoices", issued), ("Invoices", own),
        ("Documents", document),
    ):  # fmt: skip
        assert get(admin, entity, key)["clientId"] == client, entity
    assert get(admin, "Contacts", contact)["isPrimary"] is False
    assert get(admin, "Tasks", task)["relatedId"] == client
    assert get(admin, "Documents", document)["entityId"] == client
    assert get(admin, "Leads", lead)["convertedClientId"] == client
    # What is printed on an issued invoice stays.
    assert get(admin, "Invoices", issued)["buyer"]["name"] == "ACME"
    kept = get(admin, "Clients", client)
    assert (kept["phone"], kept["creditBalance"]) == ("+49 30 1234567", 31)
    payments = admin.get(f"/odata/Invoices({issued})/Payments").json["value"]
    assert [payment["clientId"] for payment in payments] == [client]
    names = session.scalars(
        select(Event.type).where(Event.entity == "Client", Event.entity_id == client)
    ).all()
    assert names.count("client.merged") == 1
    gone = (
        select(Event.type)
        .where(Event.entity == "Client", Event.entity_id == source)
        .order_by(Event.id)
    )
    assert session.scalars(gone).all()[-1] == "client.deleted"
    assert session.scalars(
        select(AuditRecord.entity_id).where(AuditRecord.action == "client.merged")
    ).all() == [client]


def test_only_what_is_empty_is_filled_and_addresses_stay_whole(admin: Api) -> None:
    client = make(admin, "Clients", name="Acme", industry="Steel", tags=["a"],
                  billingAddress={"street": "Am Markt 1"}, customFields={"x": 1})  # fmt: skip
    source = make(
        admin, "Clients", name="ACME", industry="Wood", website="https://acme.example",
        externalId="erp-9", tags=["a", "b"], customFields={"x": 2, "y": 3}, revenue=5,
        billingAddress={"city": "Ulm"}, shippingAddress={"city": "Bonn", "country": "DE"},
        doNotContact=True, status="Prospect", paymentTermsDays=14, notes="Old friend.",
    )  # fmt: skip
    body = merge(admin, client, source).json
    assert sorted(body["filled"]) == [
        "customFields", "doNotContact", "externalId", "notes", "revenue", "shippingAddress",
        "tags", "website",
    ]  # fmt: skip
    kept = get(admin, "Clients", client)
    assert (kept["industry"], kept["status"], kept["paymentTermsDays"]) == ("Steel", "Active", 30)
    assert (kept["externalId"], kept["tags"]) == ("erp-9", ["a", "b"])
    assert kept["customFields"] == {"x": 1, "y": 3}
    assert kept["billingAddress"]["city"] is None
    assert kept["shippingAddress"]["city"] == "Bonn"


def test_a_dry_run_tells_all_and_leaves_everything(admin: Api, session: Session) -> None:
    client, source = make_pair(admin, phone="+49 30 1234567")
    contact = make(admin, "Contacts", lastName="Roth", clientId=source)
    before = get(admin, "Clients", client)
    tried = merge(admin, client, source, "?dryRun=true")
    assert tried.status_code == 200, tried.text
    assert (tried.json["moved"]["contacts"], tried.json["filled"]) == (1, ["phone"])
    assert get(admin, "Clients", client) == before
    assert get(admin, "Contacts", contact)["clientId"] == source
    assert (
        session.connection().execute(select(Event).where(Event.type == "client.merged")).all() == []
    )
    assert merge(admin, client, source).json == tried.json


@pytest.mark.parametrize(
    ("source", "message"),
    [(999, "there is no client 999"), (None, "required"), ("2", "integer"), (0, "between"),
     (2**63, "between"), (True, "integer")],
)  # fmt: skip
def test_a_source_that_is_none_names_the_field(admin: Api, source: Any, message: str) -> None:
    client = make(admin, "Clients", name="Acme")
    answer = admin.post(
        f"/api/crm/clients/{client}/merge", {} if source is None else {"sourceId": source}
    )
    assert answer.status_code == 400, answer.text
    (detail,) = answer.json["error"]["details"]
    assert detail["field"] == "sourceId"


def test_a_client_is_not_merged_into_itself_or_into_none(admin: Api) -> None:
    client = make(admin, "Clients", name="Acme")
    assert merge(admin, client, client).status_code == 400
    assert merge(admin, 999, client).status_code == 404
    assert get(admin, "Clients", client)["name"] == "Acme"


def test_balances_in_two_currencies_are_not_added_up(admin: Api) -> None:
    client = make(admin, "Clients", name="Acme", currency="EUR")
    empty = make(admin, "Clients", name="Acme US", currency="USD")
    assert merge(admin, client, empty).status_code == 200
    billed = make(admin, "Clients", name="Acme CH", currency="CHF")
    issue(admin, billed, 100)
    answer = merge(admin, client, billed)
    assert (answer.status_code, answer.json["error"]["code"]) == (409, "INVALID_STATE")
    assert float(get(admin, "Clients", billed)["outstandingBalance"]) == 119


def test_who_may_merge_clients(admin: Api, sign_in: Callable[..., Api]) -> None:
    client, source = make_pair(admin)
    for role in ("Sales", "Accountant", "Support", "Viewer"):
        answer = merge(sign_in(role), client, source)
        assert answer.status_code == 403, role
        assert answer.json["error"]["details"][0]["field"] == "permission"
    assert merge(sign_in("Manager"), client, source).status_code == 200


def test_a_repeated_key_has_the_first_answer(admin: Api) -> None:
    client, source = make_pair(admin)
    headers = {"Idempotency-Key": "merge-1"}
    first = merge(admin, client, source, headers=headers)
    again = merge(admin, client, source, headers=headers)
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json == again.json


def test_two_merges_at_once_leave_one_client(app: Flask, admin: Api) -> None:
    client, source = make_pair(admin)

    def send(pair: tuple[int, int]) -> int:
        status: int = merge(Api(app.test_client(), admin.headers), *pair).status_code
        return status

    with ThreadPoolExecutor(8) as pool:
        statuses = sorted(pool.map(send, [(client, source), (source, client)] * 4))
    assert statuses[0] == 200
    assert set(statuses[1:]) <= {400, 404}
    assert len(admin.get("/odata/Clients").json["value"]) == 1


# --- tickets


def merge_tickets(api: Api, ticket: int, **body: Any) -> Any:
    return api.post(f"/api/tickets/{ticket}/merge", body)


def comment(api: Api, ticket: int, **body: Any) -> Any:
    return api.post(f"/api/tickets/{ticket}/comments", body)


@pytest.mark.parametrize("status", ["New", "Open", "Pending", "OnHold", "Solved"])
@pytest.mark.parametrize("way", ["targetId", "sourceId"])
def test_a_ticket_is_merged_from_every_state_but_closed(admin: Api, status: str, way: str) -> None:
    user = admin.get("/api/auth/me").json["id"]
    source = make(admin, "Tickets", subject="Twice")
    target = make(admin, "Tickets", subject="Once")
    assert comment(admin, source, body="It is loud.", byCustomer=True).status_code == 201
    assert comment(admin, target, body="We look.", isInternal=True).status_code == 201
    if status != "New":
        change = {"status": status, "assigneeId": user}
        assert admin.patch(f"/odata/Tickets({source})", change).status_code == 200
    pair = (source, target) if way == "targetId" else (target, source)
    answer = merge_tickets(admin, pair[0], **{way: pair[1]})
    assert answer.status_code == 200, answer.text
    assert answer.json["moved"] == {"comments": 1, "tasks": 0, "documents": 0}
    assert answer.json["source"]["mergedIntoId"] == target
    closed = get(admin, "Tickets", source)
    assert (closed["status"], closed["mergedIntoId"]) == ("Closed", target)
    assert closed["closedAt"] is not None
    comments = admin.get(f"/odata/Tickets({target})/Comments").json["value"]
    assert [one["body"] for one in comments] == ["It is loud.", "We look."]
    assert get(admin, "Tickets", target)["lastCustomerReplyAt"] is not None
    again = merge_tickets(admin, source, targetId=target)
    assert (again.status_code, again.json["error"]["code"]) == (409, "INVALID_STATE")
    assert "Closed" in again.json["error"]["message"]
    assert merge_tickets(admin, target, targetId=source).status_code == 409


def test_a_merge_of_tickets_takes_tasks_and_documents_along(admin: Api, session: Session) -> None:
    source = make(admin, "Tickets", subject="Twice")
    target = make(admin, "Tickets", subject="Once")
    task = make(admin, "Tasks", title="Look", relatedType="Ticket", relatedId=source)
    answer = merge_tickets(admin, source, targetId=target)
    assert answer.json["moved"]["tasks"] == 1
    assert get(admin, "Tasks", task)["relatedId"] == target
    events = session.scalars(
        select(Event.type).where(Event.entity == "Ticket", Event.entity_id == source)
    ).all()
    assert {"ticket.merged", "ticket.closed", "ticket.status_changed"} <= set(events)


def test_a_bad_merge_of_tickets_names_the_field(admin: Api, sign_in: Callable[..., Api]) -> None:
    ticket = make(admin, "Tickets", subject="Twice")
    other = make(admin, "Tickets", subject="Once")
    wrong: list[tuple[dict[str, Any], str]] = [
        ({}, "targetId"), ({"targetId": ticket}, "targetId"), ({"targetId": 999}, "targetId"),
        ({"sourceId": 999}, "sourceId"), ({"targetId": other, "sourceId": other}, "targetId"),
        ({"targetId": "x"}, "targetId"), ({"into": 1}, "into"),
    ]  # fmt: skip
    for body, field in wrong:
        answer = merge_tickets(admin, ticket, **body)
        assert answer.status_code == 400, (body, answer.text)
        assert field in [detail["field"] for detail in answer.json["error"]["details"]]
    assert merge_tickets(admin, 999, targetId=ticket).status_code == 404
    for role in ("Sales", "Accountant", "Viewer"):
        assert merge_tickets(sign_in(role), ticket, targetId=other).status_code == 403, role
    assert merge_tickets(sign_in("Support"), ticket, targetId=other).status_code == 200


def test_comments_are_added_and_a_closed_ticket_is_followed_up(admin: Api) -> None:
    ticket = make(admin, "Tickets", subject="Noise")
    first = comment(admin, ticket, body="We look at it.")
    assert first.status_code == 201, first.text
    assert first.json["ticket"] == {
        "id": ticket, "number": "T-000001", "status": "Open", "mergedIntoId": None,
    }  # fmt: skip
    assert first.headers["Location"] == f"/odata/Tickets({ticket})/Comments({first.json['id']})"
    assert admin.get(first.headers["Location"]).json["body"] == "We look at it."
    user = admin.get("/api/auth/me").json["id"]
    for status in ("Solved", "Closed"):
        change = (
            {"status": status, "assigneeId": user} if status == "Solved" else {"status": status}
        )
        assert admin.patch(f"/odata/Tickets({ticket})", change).status_code == 200
    assert comment(admin, ticket, body="note", isInternal=True).status_code == 409
    reply = comment(admin, ticket, body="It is loud again.", byCustomer=True).json
    assert reply["ticketId"] != ticket
    assert (reply["authorId"], reply["ticket"]["number"]) == (None, "T-000002")
    assert get(admin, "Tickets", reply["ticketId"])["subject"] == "Noise"
    assert get(admin, "Tickets", ticket)["status"] == "Closed"


@pytest.mark.parametrize(
    ("body", "field"),
    [({}, "body"), ({"body": ""}, "body"), ({"body": 5}, "body"), ({"body": "x" * 20001}, "body"),
     ({"body": "x", "isInternal": "yes"}, "isInternal"), ({"body": "x", "author": 1}, "author"),
     ({"body": "x", "isInternal": True, "byCustomer": True}, "isInternal")],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_a_bad_comment_names_the_field(admin: Api, body: Any, field: str) -> None:
    ticket = make(admin, "Tickets", subject="Noise")
    answer = comment(admin, ticket, **body)
    assert answer.status_code == 400, answer.text
    assert [detail["field"] for detail in answer.json["error"]["details"]] == [field]
