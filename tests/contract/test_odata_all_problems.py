"""A body with many faults is told of all of them at once: every set, every kind of write.

Sets, properties and their bounds are those of the model (see test_odata_bad_fields.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from app.errors import MOST_DETAILS
from app.odata.model.edm import Property
from tests.architecture.test_wording import STYLE
from tests.contract.conftest import Api
from tests.contract.records import make
from tests.contract.test_odata_bad_fields import (
    PATHS,
    Target,
    bad_values,
    body_of,
    targets,
)

__all__ = ["targets"]


def faults(properties: dict[str, Property], turn: int) -> dict[str, Any]:
    """A wrong value of each property: of another kind for its neighbour, and in another turn."""
    found: dict[str, Any] = {"noSuchThing": 1}
    for at, (name, prop) in enumerate(properties.items()):
        values = [value for value in bad_values(prop) if is_small_text(value)]
        if name in ("entityId", "relatedId"):  # of which set, only a good type would say
            values = [value for value in values if value not in (987_654_321, 2**63 - 1)]
        if values:
            found[name] = values[(at + turn * 3) % len(values)]
        if prop.required and (at + turn) % 3 == 0:
            found[name] = ...
    return found


def is_small_text(value: Any) -> bool:
    """Whether it is JSON that is read at all: no NUL, no half of a surrogate pair."""
    text = json.dumps(value)
    return len(text) < 10_000 and "\\u0000" not in text and "\\ud800" not in text


def given(faulty: dict[str, Any]) -> bytes:
    return body_of({name: value for name, value in faulty.items() if value is not ...})


def missed(answer: Any, faulty: dict[str, Any], place: str = "") -> list[str]:
    if answer.status_code != 400:
        return [f"{answer.status_code} {answer.text[:300]}"]
    details = answer.json["error"]["details"]
    told = {detail["target"] for detail in details}
    return [
        *(str(detail) for detail in details if not STYLE.fullmatch(detail["message"])),
        *(
            f"{place}{name} = {value!r:.40}"
            for name, value in faulty.items()
            if not any(one.startswith(f"{place}{name}") for one in told)
        ),
    ]


@pytest.mark.parametrize("path", PATHS)
def test_every_fault_of_an_entity_is_told(
    admin: Api, targets: dict[str, Target], path: str
) -> None:
    target = targets[path]
    for turn in range(3):
        faulty = faults(target.properties, turn)
        answer = raw(admin, "POST", f"/odata/{target.path}", given(faulty))
        assert missed(answer, faulty) == [], answer.text
        if "(" not in path:
            there = {name: value for name, value in faulty.items() if value is not ...}
            for method in ("PATCH", "PUT"):
                wrong = {
                    name: value
                    for name, value in (there if method == "PATCH" else faulty).items()
                    if name == "noSuchThing" or not target.properties[name].immutable
                }
                answer = raw(admin, method, f"/odata/{target.path}(1)", given(wrong))
                assert missed(answer, wrong) == [], (method, answer.text)


def raw(api: Api, method: str, path: str, body: bytes) -> Any:
    headers = {**api.headers, "Content-Type": "application/json"}
    return api.client.open(path, method=method, data=body, headers=headers)


@pytest.mark.parametrize(
    ("method", "path", "body", "fields"),
    [
        (
            "POST", "Clients", {"email": "nobody@", "status": 5, "nope": 1},
            ["email", "name", "nope", "status"],
        ),
        (
            "POST", "Invoices({i})/Payments", {"amount": -1, "date": "31.12.2026"},
            ["amount", "date", "method"],
        ),
        (
            "POST", "Clients",
            {"status": 5, "Contacts": [{"email": "x", "lastName": 1}, {"birthDate": "today"}]},
            ["Contacts[0].email", "Contacts[0].lastName", "Contacts[1].lastName", "name", "status"],
        ),
        (
            "POST", "Contacts", {"lastName": " ", "Client": {"email": "x", "taxId": 5}},
            ["Client.email", "Client.name", "Client.taxId", "lastName"],
        ),
        (
            "POST", "Contacts", {"lastName": " ", "Client": {"email": "x"}},
            ["Client.email", "Client.name", "lastName"],
        ),
        (
            "POST", "Invoices",
            {"dueDate": "x", "LineItems": [{"quantity": "1", "taxRate": 900}, {"unit": 5}]},
            ["LineItems[0].description", "LineItems[0].quantity", "LineItems[0].taxRate",
             "LineItems[1].description", "LineItems[1].unit", "clientId", "dueDate"],
        ),
        (
            "POST", "Invoices({i})/LineItems", {"quantity": "1", "taxRate": 900},
            ["description", "quantity", "taxRate"],
        ),
        ("PATCH", "Invoices({i})/LineItems({l})", {"unit": 5, "taxRate": 900}, ["taxRate", "unit"]),
        ("PATCH", "Clients({c})", {"email": "x", "status": 5}, ["email", "status"]),
        ("PUT", "Clients({c})", {"email": "x", "status": 5}, ["email", "name", "status"]),
        ("PUT", "Clients({c})", {"email": "x", "phone": "y"}, ["email", "name", "phone"]),
        (
            "PATCH", "Clients", {"value": [{"id": 1, "email": "x"}, {"status": 5, "phone": "?"}]},
            ["value[0].email", "value[1].phone", "value[1].name", "value[1].status"],
        ),
        ("PATCH", "Clients/$each", {"email": "x", "status": 5}, ["email", "status"]),
        ("POST", "Tickets({t})/Comments", {"isInternal": 5}, ["body", "isInternal"]),
    ],
)  # fmt: skip
def test_each_of_some_bodies(
    admin: Api, method: str, path: str, body: dict[str, Any], fields: list[str]
) -> None:
    client = make(admin, "Clients", name="ACME")
    line = {"description": "A", "unitPrice": 1, "taxRate": 19}
    invoice = make(admin, "Invoices", clientId=client, LineItems=[line])
    row = admin.get(f"/odata/Invoices({invoice})/LineItems").json["value"][0]["id"]
    ticket = make(admin, "Tickets", subject="S", description="D")
    place = path.format(c=client, i=invoice, l=row, t=ticket)
    answer = raw(admin, method, f"/odata/{place}", json.dumps(body).encode())
    assert answer.status_code == 400, answer.text
    details = answer.json["error"]["details"]
    named = sorted(detail["target"] for detail in details)
    assert set(fields) <= set(named)
    assert len(named) == len(set(named))


def test_an_endless_body_has_a_bounded_answer(admin: Api) -> None:
    contacts = [{"email": "x", "nope": 1} for _ in range(200)]
    for body in ({"Contacts": contacts}, {f"nope{at}": 1 for at in range(5000)}):
        answer = admin.post("/odata/Clients", body)
        assert answer.status_code == 400
        assert len(answer.json["error"]["details"]) == MOST_DETAILS


# What is wrong by itself stands beside what is told of rows and of several fields.
JOINED = (
    (
        "POST", "Contacts", {"lastName": 5, "clientId": 987654321, "ownerId": 987654321},
        {"lastName": "must be a string", "clientId": "there is no client 987654321",
         "ownerId": "there is no active user 987654321"},
    ),
    (
        "PATCH", "Contacts({k})", {"email": 5, "clientId": 987654321, "isPrimary": True},
        {"email": "must be a string", "clientId": "there is no client 987654321"},
    ),
    (
        "PATCH", "Contacts({k})", {"email": 5, "isPrimary": True},
        {"email": "must be a string",
         "isPrimary": "needs a clientId: it is one contact for each client"},
    ),
    (
        "PUT", "Contacts({k})", {"lastName": "x", "nope": 5, "isPrimary": True},
        {"nope": "is not a property of Contact",
         "isPrimary": "needs a clientId: it is one contact for each client"},
    ),
    # A rule over fields one of which is no value is not told.
    ("POST", "Contacts", {"lastName": "x", "isPrimary": True, "clientId": "1"},
     {"clientId": "must be a whole number"}),
    ("POST", "Leads", {"company": 5, "email": "x"},
     {"company": "must be a string", "email": "must be an e-mail address"}),
    ("POST", "Leads", {"email": 5},
     {"email": "must be a string", "lastName": "is required where there is no company"}),
    ("POST", "Leads", {"company": "x", "status": 5, "disqualifyReason": "Junk"},
     {"status": "must be a string"}),
    (
        "POST", "Opportunities",
        {"name": 5, "clientId": 987654321, "stage": "ClosedLost", "closeDate": "soon"},
        {"name": "must be a string", "clientId": "there is no client 987654321",
         "lostReason": "is required to close an opportunity as lost",
         "closeDate": "must be a date such as 2024-01-31"},
    ),
    (
        "POST", "Opportunities",
        {"name": "x", "clientId": 987654321, "stage": "Nowhere", "lostReason": "Price"},
        {"clientId": "there is no client 987654321", "stage": "must be one of"},
    ),
    (
        "POST", "Projects",
        {"name": 5, "startDate": "2026-02-01", "endDate": "2026-01-01", "managerId": 987654321},
        {"name": "must be a string", "endDate": "must not be before startDate",
         "managerId": "there is no active user 987654321"},
    ),
    (
        "POST", "Projects", {"name": 5, "startDate": "x", "endDate": "2026-01-01"},
        {"name": "must be a string", "startDate": "must be a date such as 2024-01-31"},
    ),
    (
        "POST", "Tasks", {"title": 5, "relatedType": "Client", "relatedId": 987654321},
        {"title": "must be a string", "relatedId": "there is no client 987654321"},
    ),
    ("POST", "Tasks", {"title": "x", "relatedType": "Nobody", "relatedId": 1, "dueAt": 5},
     {"relatedType": "must be one of", "dueAt": "must be a date and time"}),
    (
        "POST", "Invoices",
        {
            "clientId": 987654321, "issueDate": "2026-02-01", "dueDate": "2026-01-01", "notes": 5,
            "LineItems": [
                {"description": "A", "unitPrice": 1, "taxRate": 0, "taxCategory": "S",
                 "taskId": 987654321},
                {"description": "A", "unitPrice": 1, "taxRate": 0, "taxCategory": "Q"},
            ],
        },
        {
            "clientId": "there is no client 987654321", "dueDate": "must not be before issueDate",
            "notes": "must be a string",
            "LineItems[0].taskId": "there is no task 987654321",
            "LineItems[0].taxRate": "must be more than 0 in category S",
            "LineItems[1].taxCategory": "must be one of",
        },
    ),
    (
        "POST", "Contacts", {"lastName": 5, "Client": {"name": 5, "ownerId": 987654321}},
        {"lastName": "must be a string", "Client.name": "must be a string",
         "Client.ownerId": "there is no active user 987654321"},
    ),
)  # fmt: skip


@pytest.mark.parametrize(("method", "path", "body", "told"), JOINED)
def test_what_rows_and_several_fields_say_is_told_beside_what_is_no_value(
    admin: Api, method: str, path: str, body: dict[str, Any], told: dict[str, str]
) -> None:
    place = path.format(k=make(admin, "Contacts", lastName="Doe")) if "{k}" in path else path
    answer = raw(admin, method, f"/odata/{place}", json.dumps(body).encode())
    assert answer.status_code == 400, answer.text
    details = {one["target"]: one["message"] for one in answer.json["error"]["details"]}
    assert details.keys() == told.keys(), details
    for name, message in told.items():
        assert details[name].startswith(message), details


def test_what_may_not_be_read_is_told_as_what_is_not_there(
    admin: Api, sign_in: Callable[..., Api]
) -> None:
    """A body that is refused anyway is no way to ask who there is."""
    lead = make(admin, "Leads", company="ACME")
    support = sign_in("Accountant")
    for key in (lead, 987_654_321):
        body = {"title": 5, "relatedType": "Lead", "relatedId": key}
        answer = raw(support, "POST", "/odata/Tasks", json.dumps(body).encode())
        told = {one["target"]: one["message"] for one in answer.json["error"]["details"]}
        assert told == {"title": "must be a string", "relatedId": f"there is no lead {key}"}
