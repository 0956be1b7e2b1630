"""OPTIONS names the methods that an address takes: those, and no others, are not 405."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import orjson
import pytest
from flask import Flask

from app.openapi.routes import openapi
from tests.conftest import Once
from tests.contract.conftest import Api
from tests.contract.records import make

METHODS = ("GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "TRACE")
READ = "GET, HEAD, OPTIONS"
ADDRESSES = {
    "": READ,
    "$metadata": READ,
    "$all": READ,
    "$entity?$id=Clients(1)": READ,
    "$batch": "POST, OPTIONS",
    "$crossjoin(Clients,Contacts)": READ,
    "Clients": "GET, HEAD, POST, PATCH, OPTIONS",
    "Clients/$count": READ,
    "Clients/$query": "POST, OPTIONS",
    "Clients/$each": "PATCH, DELETE, OPTIONS",
    "Clients/$filter(name eq 'A')": READ,
    "Clients/$filter(name eq 'A')/$each": "PATCH, DELETE, OPTIONS",
    "Clients(1)": "GET, HEAD, PATCH, PUT, DELETE, OPTIONS",
    "Clients/1": "GET, HEAD, PATCH, PUT, DELETE, OPTIONS",
    "Clients(@k)?@k=1": "GET, HEAD, PATCH, PUT, DELETE, OPTIONS",
    "Clients(1)/name": "GET, HEAD, PUT, PATCH, OPTIONS",
    "Clients(1)/phone": "GET, HEAD, PUT, PATCH, DELETE, OPTIONS",
    "Clients(1)/number": READ,
    "Clients(1)/phone/$value": "GET, HEAD, PUT, DELETE, OPTIONS",
    "Clients(1)/tags": "GET, HEAD, POST, PUT, PATCH, OPTIONS",
    "Clients(1)/tags/$count": READ,
    "Clients(1)/billingAddress/city": "GET, HEAD, PUT, PATCH, DELETE, OPTIONS",
    "Clients(1)/Contacts": "GET, HEAD, POST, OPTIONS",
    "Clients(1)/Contacts/$ref": "GET, HEAD, POST, PUT, DELETE, OPTIONS",
    "Contacts(1)/Client/$ref": "GET, HEAD, PUT, DELETE, OPTIONS",
    "Clients(1)/$ref": READ,
    # The service sets what leads there, as the property of its key tells.
    "Leads(1)/convertedClientId": READ,
    "Leads(1)/ConvertedClient/$ref": READ,
    "Opportunities(1)/Lead/$ref": READ,
    "Users": READ,
    "Users(1)": READ,
    "Users/$each": "OPTIONS",
    "Me": READ,
    "Invoices(1)/LineItems": "GET, HEAD, POST, OPTIONS",
    "Documents(1)/$value": "GET, HEAD, PUT, OPTIONS",
    "Leads(1)/BusinessPlatform.Convert": "POST, OPTIONS",
    "Leads/$each/BusinessPlatform.Convert": "POST, OPTIONS",
}


@pytest.fixture
def records(admin: Api, once: Once) -> Api:
    """A record with the key 1 in each set that the addresses name."""
    once("records of the addresses", partial(_make_records, admin))
    return admin


def _make_records(admin: Api) -> None:
    make(admin, "Clients", name="ACME", phone="+49 30 123456", tags=["a"])
    make(admin, "Contacts", lastName="X", clientId=1)
    make(admin, "Leads", lastName="X")
    line = {"description": "Training", "unitPrice": 100, "taxRate": 19}
    make(admin, "Invoices", clientId=1, LineItems=[line])
    make(admin, "Documents", name="a.txt", fileName="a.txt")


def send(api: Api, method: str, address: str) -> Any:
    path, _, query = address.partition("?")
    # A set is changed by a delta; it takes no other PATCH.
    body = {"value": []} if method == "PATCH" else {}
    return api.client.open(
        f"/odata/{path}", method=method, query_string=query, headers=api.headers, json=body
    )


@pytest.mark.parametrize(("address", "allowed"), ADDRESSES.items(), ids=lambda value: value[:40])
def test_what_is_told_is_what_is_taken(records: Api, address: str, allowed: str) -> None:
    told = send(records, "OPTIONS", address)
    assert (told.status_code, told.headers["Allow"], told.data) == (204, allowed, b"")
    assert told.headers["OData-Version"] == "4.0"
    for method in METHODS:
        if method not in allowed.split(", "):
            answer = send(records, method, address)
            assert (answer.status_code, answer.headers["Allow"]) == (405, allowed), method
    for method in METHODS:  # changes come last
        if method in allowed.split(", "):
            assert send(records, method, address).status_code not in (405, 501), method


def test_every_address_of_the_description_takes_its_methods(records: Api, app: Flask) -> None:
    payment = {"amount": 10, "date": "2026-01-31", "method": "transfer"}
    assert records.post("/api/invoices/1/payments", payment).status_code == 201
    paths = orjson.loads(openapi.of(app).text())["paths"]
    described = [(path, item) for path, item in paths.items() if path.startswith("/odata/")]
    assert len(described) > 50
    for path, item in described:
        told = send(records, "OPTIONS", re.sub(r"{\w+}", "1", path.removeprefix("/odata/")))
        assert told.status_code == 204, (path, told.text)
        methods = {name.upper() for name in item} & set(METHODS)
        allowed = set(told.headers["Allow"].split(", ")) - {"HEAD", "OPTIONS"}
        assert methods == allowed, path


@pytest.mark.parametrize(
    ("address", "status"),
    [("Nothing", 404), ("Clients(1)/nothing", 404), ("Clients('x')", 400), ("Clients(", 400),
     ("Clients/BusinessPlatform.Convert", 404), ("Clients(1)/$nothing", 400)],
)  # fmt: skip
def test_what_is_no_address_has_no_methods(records: Api, address: str, status: int) -> None:
    assert send(records, "OPTIONS", address).status_code == status


def test_methods_are_told_to_callers_alone(anonymous: Api) -> None:
    assert send(anonymous, "OPTIONS", "Clients").status_code == 401


def test_kept_answers_tell_theirs(records: Api) -> None:
    kept = records.get("/odata/Clients", headers={"Prefer": "respond-async"})
    address = kept.headers["Location"].rpartition("/odata/")[2]
    allowed = "GET, HEAD, DELETE, OPTIONS"
    assert send(records, "OPTIONS", address).headers["Allow"] == allowed
    assert send(records, "POST", address).headers["Allow"] == allowed


def test_what_a_body_cannot_make_is_a_mistake_of_the_body(records: Api) -> None:
    answer = records.post("/odata/Tasks", {"title": "X", "Assignee": {"displayName": "Y"}})
    assert answer.status_code == 400, answer.text
    assert [one["target"] for one in answer.json["error"]["details"]] == ["Assignee"]
