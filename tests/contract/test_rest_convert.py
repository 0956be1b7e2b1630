"""Leads become clients: over HTTP, once, completely, and with the shape of the contract."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models.client import Client
from app.models.event import AuditRecord, Event
from tests.architecture.modules import ROOT
from tests.contract.conftest import Api

LEAD = {
    "firstName": "Eva", "lastName": "Maier", "company": "Acme GmbH", "email": "eva@acme.example",
    "phone": "+49 30 1234567", "country": "DE", "estimatedValue": 1500.5, "currency": "EUR",
}  # fmt: skip


def make_lead(api: Api, **values: Any) -> int:
    answer = api.post("/odata/Leads", LEAD | values)
    assert answer.status_code == 201, answer.text
    key: int = answer.json["id"]
    return key


def make(api: Api, entity: str, **values: Any) -> dict[str, Any]:
    answer = api.post(f"/odata/{entity}", values)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json
    return made


def convert(api: Api, lead_id: int, body: Any = None, query: str = "", **options: Any) -> Any:
    return api.post(f"/api/crm/leads/{lead_id}/convert{query}", body or {}, **options)


def test_a_lead_becomes_a_client_and_a_contact(admin: Api) -> None:
    lead_id = make_lead(admin)
    answer = convert(admin, lead_id)
    assert answer.status_code == 200, answer.text
    body = answer.json
    lead = admin.get(f"/odata/Leads({lead_id})").json
    assert body == {
        "leadId": lead_id,
        "status": "Converted",
        "convertedAt": lead["convertedAt"],
        "clientId": lead["convertedClientId"],
        "contactId": lead["convertedContactId"],
        "opportunityId": None,
        "client": {
            "id": lead["convertedClientId"], "name": "Acme GmbH", "email": "eva@acme.example",
            "status": "Active", "created": True,
        },
        "contact": {"id": lead["convertedContactId"], "fullName": "Eva Maier", "created": True},
        "opportunity": None,
        "matchedBy": None,
        "moved": {"tasks": 0, "documents": 0},
    }  # fmt: skip
    client = admin.get(f"/odata/Clients({body['clientId']})").json
    assert client["originLeadId"] == lead_id
    assert client["billingAddress"]["country"] == "DE"
    contact = admin.get(f"/odata/Contacts({body['contactId']})").json
    assert (contact["clientId"], contact["isPrimary"]) == (body["clientId"], True)
    assert lead["status"] == "Converted"


def test_a_request_without_a_body_converts(admin: Api) -> None:
    lead_id = make_lead(admin)
    assert admin.post(f"/api/v1/crm/leads/{lead_id}/convert").status_code == 200


def test_a_second_conversion_is_refused(admin: Api) -> None:
    lead_id = make_lead(admin)
    assert convert(admin, lead_id).status_code == 200
    again = convert(admin, lead_id)
    assert (again.status_code, again.json["error"]["code"]) == (409, "ALREADY_CONVERTED")
    assert convert(admin, lead_id, query="?dryRun=true").status_code == 409


@pytest.mark.parametrize(
    ("given", "matched"),
    [({"email": "eva@acme.example"}, "email"), ({"taxId": "DE136695976"}, "taxId")],
)
def test_a_known_client_is_linked_and_only_empty_fields_are_filled(
    admin: Api, given: dict[str, str], matched: str
) -> None:
    known = make(admin, "Clients", name="Acme", phone="+49 30 999", industry=None, **given)
    lead_id = make_lead(admin, taxId="DE136695976", industry="Steel")
    body = convert(admin, lead_id, {"client": {"website": "https://acme.example"}}).json
    assert (body["matchedBy"], body["clientId"], body["client"]["created"]) == (
        matched, known["id"], False,
    )  # fmt: skip
    client = admin.get(f"/odata/Clients({known['id']})").json
    assert (client["name"], client["phone"]) == ("Acme", known["phone"])
    assert (client["industry"], client["email"]) == ("Steel", "eva@acme.example")
    assert client["website"] == "https://acme.example"
    assert client["originLeadId"] is None


def test_an_address_is_given_as_one(admin: Api) -> None:
    wishes = {"client": {"billingAddress": {"city": "Ulm", "country": "DE"}}}
    body = convert(admin, make_lead(admin), wishes).json
    client = admin.get(f"/odata/Clients({body['clientId']})").json
    assert client["billingAddress"]["city"] == "Ulm"
    wrong = {"client": {"billingAddress": {"planet": "Mars"}}}
    answer = convert(admin, make_lead(admin, email="other@x.example", company="Other"), wrong)
    assert answer.status_code == 400
    fields = [detail["field"] for detail in answer.json["error"]["details"]]
    assert fields == ["client.billingAddress.planet"]


def test_a_known_contact_of_the_client_is_linked(admin: Api) -> None:
    client = make(admin, "Clients", name="Acme", email="eva@acme.example")
    known = make(admin, "Contacts", lastName="M.", clientId=client["id"], email="eva@acme.example")
    body = convert(admin, make_lead(admin, jobTitle="Buyer")).json
    assert body["contact"] == {"id": known["id"], "fullName": "Eva M.", "created": False}
    contact = admin.get(f"/odata/Contacts({known['id']})").json
    assert (contact["lastName"], contact["jobTitle"]) == ("M.", "Buyer")


def test_what_to_do_with_a_duplicate_is_the_callers_choice(admin: Api, session: Session) -> None:
    known = make(admin, "Clients", name="Acme", email="eva@acme.example")
    lead_id = make_lead(admin)
    refused = convert(admin, lead_id, {"onDuplicate": "fail"})
    assert (refused.status_code, refused.json["error"]["code"]) == (409, "DUPLICATE")
    assert refused.json["error"]["details"] == [
        {"field": "email", "message": f"is that of the client {known['id']}"}
    ]
    assert admin.get(f"/odata/Leads({lead_id})").json["status"] == "New"
    made = convert(admin, lead_id, {"onDuplicate": "create"}).json
    assert (made["matchedBy"], made["client"]["created"]) == (None, True)
    assert session.scalar(select(func.count()).select_from(Client)) == 2


def test_explicit_ids_are_linked(admin: Api) -> None:
    client = make(admin, "Clients", name="Acme")
    contact = make(admin, "Contacts", lastName="Roth", clientId=client["id"])
    sale = make(admin, "Opportunities", name="Steel", clientId=client["id"])
    wishes = {"contactId": contact["id"], "opportunityId": sale["id"]}
    body = convert(admin, make_lead(admin), wishes).json
    assert (body["matchedBy"], body["clientId"]) == ("explicit", client["id"])
    assert (body["contactId"], body["opportunityId"]) == (contact["id"], sale["id"])
    linked = admin.get(f"/odata/Opportunities({sale['id']})").json
    assert linked["contactId"] == contact["id"]


def test_ids_must_be_there_and_fit_together(admin: Api) -> None:
    client = make(admin, "Clients", name="Acme")
    other = make(admin, "Clients", name="Other")
    contact = make(admin, "Contacts", lastName="Roth", clientId=other["id"])
    sale = make(admin, "Opportunities", name="Steel", clientId=client["id"])
    lead_id = make_lead(admin)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"clientId": 999}, "clientId"),
        ({"clientId": client["id"], "contactId": contact["id"]}, "contactId"),
        ({"ownerId": 999}, "ownerId"),
        ({"opportunityId": sale["id"], "createOpportunity": True}, "opportunityId"),
        ({"clientId": "1"}, "clientId"),
        ({"onDuplicate": "merge"}, "onDuplicate"),
        ({"client": {"colour": "red"}}, "client.colour"),
        ({"client": {"revenue": -1}}, "client.revenue"),
        ({"opportunity": {"amount": -1}}, "opportunity.amount"),
        ({"opportunity": {"closeDate": "soon"}}, "opportunity.closeDate"),
        ({"unknown": 1}, "unknown"),
    ]
    for body, field in wrong:
        answer = convert(admin, lead_id, body)
        assert answer.status_code == 400, (body, answer.text)
        assert [detail["field"] for detail in answer.json["error"]["details"]] == [field]
    assert admin.get(f"/odata/Leads({lead_id})").json["status"] == "New"
    assert convert(admin, 999).status_code == 404


def test_the_only_name_of_a_person_is_that_of_the_contact(admin: Api) -> None:
    lead_id = make_lead(admin, lastName=None, estimatedValue=None)
    body = convert(admin, lead_id, {"createOpportunity": True}).json
    contact = admin.get(f"/odata/Contacts({body['contactId']})").json
    assert (contact["firstName"], contact["lastName"]) == (None, "Eva")
    assert body["opportunity"]["amount"] == 0


def test_an_opportunity_is_made_on_request(admin: Api) -> None:
    body = convert(admin, make_lead(admin), {"createOpportunity": True}).json
    made = admin.get(f"/odata/Opportunities({body['opportunityId']})").json
    assert body["opportunity"] == {
        "id": made["id"], "name": "Acme GmbH", "stage": "Prospecting", "amount": 1500.5,
    }  # fmt: skip
    assert (made["clientId"], made["contactId"]) == (body["clientId"], body["contactId"])
    assert made["leadId"] == body["leadId"]
    wishes = {"opportunity": {"name": "Big", "stage": "Proposal", "closeDate": "2027-01-31"}}
    described = convert(admin, make_lead(admin, email=None), wishes).json["opportunity"]
    assert (described["name"], described["stage"]) == ("Big", "Proposal")


def test_a_contact_only_where_one_is_wanted_and_there_is_a_person(admin: Api) -> None:
    assert convert(admin, make_lead(admin), {"createContact": False}).json["contact"] is None
    company = make_lead(admin, firstName=None, lastName=None, email=None)
    assert convert(admin, company).json["contact"] is None
    person = make_lead(admin, company=None, email="eva@home.example")
    body = convert(admin, person).json
    assert body["client"]["name"] == body["contact"]["fullName"] == "Eva Maier"
    assert admin.get(f"/odata/Clients({body['clientId']})").json["type"] == "Individual"


def test_tasks_and_documents_move_to_the_client(admin: Api) -> None:
    lead_id = make_lead(admin)
    task = make(admin, "Tasks", title="Call", relatedType="Lead", relatedId=lead_id)
    other = make(admin, "Tasks", title="Stay", relatedType="Lead", relatedId=make_lead(admin))
    file = make(admin, "Documents", name="offer.pdf", entityType="Lead", entityId=lead_id)
    body = convert(admin, lead_id).json
    assert body["moved"] == {"tasks": 1, "documents": 1}
    moved = admin.get(f"/odata/Tasks({task['id']})").json
    assert (moved["relatedType"], moved["relatedId"]) == ("Client", body["clientId"])
    assert admin.get(f"/odata/Tasks({other['id']})").json["relatedType"] == "Lead"
    document = admin.get(f"/odata/Documents({file['id']})").json
    assert (document["entityType"], document["entityId"], document["clientId"]) == (
        "Client", body["clientId"], body["clientId"],
    )  # fmt: skip


def test_a_dry_run_says_the_same_and_leaves_nothing(admin: Api, session: Session) -> None:
    lead_id = make_lead(admin)
    tried = convert(admin, lead_id, {"createOpportunity": True}, "?dryRun=true")
    assert tried.status_code == 200, tried.text
    body = tried.json
    assert (body["status"], body["client"]["name"]) == ("Converted", "Acme GmbH")
    assert (body["clientId"], body["contactId"], body["opportunityId"]) == (None, None, None)
    assert admin.get(f"/odata/Leads({lead_id})").json["status"] == "New"
    assert session.scalar(select(func.count()).select_from(Client)) == 0
    assert convert(admin, lead_id).json["client"]["created"] is True


def test_a_disqualified_lead_is_not_converted(admin: Api) -> None:
    lead_id = make_lead(admin)
    lost = {"status": "Disqualified", "disqualifyReason": "NoFit"}
    assert admin.patch(f"/odata/Leads({lead_id})", lost).status_code == 200
    answer = convert(admin, lead_id)
    assert (answer.status_code, answer.json["error"]["code"]) == (409, "INVALID_STATE")
    assert "in state Disqualified" in answer.json["error"]["message"]
    assert answer.json["error"]["message"].endswith("allowed from here: New.")


def test_events_and_audit_tell_of_the_conversion(admin: Api, session: Session) -> None:
    lead_id = make_lead(admin)
    convert(admin, lead_id)
    events = select(Event.type).where(Event.entity == "Lead").order_by(Event.id)
    assert session.scalars(events).all() == [
        "lead.created", "lead.converted", "lead.status_changed", "lead.updated",
    ]  # fmt: skip
    actions = select(AuditRecord.action).where(AuditRecord.entity.in_(("Client", "Contact")))
    assert set(session.scalars(actions)) == {"client.created", "contact.created"}


def test_who_may_convert(admin: Api, sign_in: Callable[..., Api]) -> None:
    foreign = make_lead(admin)
    for role in ("Accountant", "Support", "Viewer"):
        answer = convert(sign_in(role), foreign)
        assert answer.status_code == 403, role
        assert answer.json["error"]["details"][0]["message"] == "leads:convert"
    sales = sign_in("Sales")
    assert convert(sales, foreign).status_code == 403
    assert convert(sales, make_lead(sales, email="own@acme.example")).status_code == 200
    assert convert(sign_in("Manager"), foreign).status_code == 200


def test_a_repeated_key_has_the_first_answer(admin: Api) -> None:
    lead_id = make_lead(admin)
    headers = {"Idempotency-Key": "convert-1"}
    first = convert(admin, lead_id, headers=headers)
    again = convert(admin, lead_id, headers=headers)
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json == again.json
    assert again.headers["Idempotency-Replayed"] == "true"


@pytest.mark.requirement("RACE-08")
def test_twenty_at_once_convert_once(app: Flask, admin: Api, session: Session) -> None:
    lead_id = make_lead(admin)

    def send(_: int) -> int:
        status: int = convert(Api(app.test_client(), admin.headers), lead_id).status_code
        return status

    with ThreadPoolExecutor(20) as pool:
        statuses = sorted(pool.map(send, range(20)))
    assert statuses == [200] + [409] * 19
    assert session.scalar(select(func.count()).select_from(Client)) == 1


def test_leads_of_one_customer_converted_at_once_make_one_client(
    app: Flask, admin: Api, session: Session
) -> None:
    """Each is another lead, so none waits for the row of another."""
    leads = [make_lead(admin, lastName=f"Maier {number}") for number in range(10)]
    leads += [make_lead(admin, email=f"x{n}@other.example", taxId="DE136695976") for n in range(10)]

    def send(lead_id: int) -> str | None:
        answer = convert(Api(app.test_client(), admin.headers), lead_id)
        assert answer.status_code == 200, answer.text
        matched: str | None = answer.json["matchedBy"]
        return matched

    with ThreadPoolExecutor(20) as pool:
        matched = list(pool.map(send, leads))
    assert sorted(map(str, matched)) == ["None"] * 2 + ["email"] * 9 + ["taxId"] * 9
    assert session.scalar(select(func.count()).select_from(Client)) == 2


KILLED = """
import os, signal, sys
from app.config import Config
from app.crm.conversion import Wishes, convert_lead
from app.factory import create_app
from app.http.security import acting_as, system_caller

app = create_app(Config.from_env(os.environ))
with app.app_context(), acting_as(system_caller()):
    convert_lead(int(sys.argv[1]), Wishes(create_opportunity=True))
    print("converted, not committed", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.costly(0)
@pytest.mark.requirement("DUR-08")
def test_a_conversion_that_is_killed_leaves_nothing(
    app: Flask, admin: Api, session: Session, tmp_path: Path
) -> None:
    lead_id = make_lead(admin)
    environment = {
        **os.environ,
        "DATABASE_URL": app.config["SQLALCHEMY_DATABASE_URI"],
        "SECRET_KEY": "not-a-secret-only-for-the-tests-of-this-run",
        "DATA_DIR": str(tmp_path),
    }
    command = [sys.executable, "-c", KILLED, str(lead_id)]
    ended = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert "converted, not committed" in ended.stdout
    assert admin.get(f"/odata/Leads({lead_id})").json["status"] == "New"
    assert session.scalar(select(func.count()).select_from(Client)) == 0
    made = select(Event.type).where(Event.entity.in_(("Client", "Contact", "Opportunity")))
    assert session.scalars(made).all() == []
    assert convert(admin, lead_id).json["client"]["created"] is True
