"""What a write answers is what a GET shows, byte for byte, whichever way it was made."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.odata.service import odata_service
from app.odata.writing.answers import is_plain
from tests.contract.conftest import Api

CLIENT = {
    "name": 'Ümläut "GmbH" & Söhne',
    "email": "a@b.example",
    "revenue": 12.5,
    "billingAddress": {"city": "Ulm"},
    "tags": ["x"],
    "customFields": {"a": {"b": [1, 2.50]}},
}
MADE: dict[str, dict[str, Any]] = {
    "Clients": CLIENT,
    "Contacts": {"lastName": "Ada"},
    "Leads": {"lastName": "Ada", "company": "Acme"},
    "Opportunities": {"name": "Deal", "closeDate": "2030-01-01", "amount": 5},
    "Projects": {"name": "Move"},
    "Tasks": {"title": "Call"},
    "Tickets": {"subject": "Broken", "description": "It broke."},
    "KbArticles": {"title": "How", "body": "So."},
}
HEADERS: dict[str, dict[str, str]] = {
    "plain": {},
    "4.01": {"OData-MaxVersion": "4.01"},
    "no metadata": {"Accept": "application/json;odata.metadata=none"},
    "all metadata": {"Accept": "application/json;odata.metadata=full"},
    "numbers as text": {"Accept": "application/json;IEEE754Compatible=true"},
    "preferring": {"Prefer": "return=representation, omit-values=nulls"},
}
KEPT = ("Content-Type", "OData-Version", "ETag")


@pytest.mark.parametrize("entity_set", MADE)
@pytest.mark.parametrize("headers", HEADERS.values(), ids=HEADERS.keys())
def test_a_write_answers_what_a_get_shows(
    admin: Api, entity_set: str, headers: dict[str, str]
) -> None:
    body = dict(MADE[entity_set])
    if entity_set == "Opportunities":
        body["clientId"] = admin.post("/odata/Clients", CLIENT).json["id"]
    if entity_set == "Tickets":
        body["clientId"] = admin.post("/odata/Clients", CLIENT).json["id"]
    made = admin.post(f"/odata/{entity_set}", body)
    assert made.status_code == 201, made.text
    key = made.json["id"]
    path = f"/odata/{entity_set}({key})"
    # A change shows its nulls whatever is preferred.
    reading = {} if "Prefer" in headers else headers
    for change in ({"externalId": "e-1"}, {"externalId": "e-1"}, {"tags": ["y", "z"]}):
        written = admin.patch(path, change, headers=headers)
        assert written.status_code == 200, written.text
        read = admin.get(path, headers=reading)
        assert written.data == read.data
        assert [written.headers[name] for name in KEPT] == [read.headers[name] for name in KEPT]


@pytest.mark.parametrize("headers", HEADERS.values(), ids=HEADERS.keys())
def test_what_was_made_is_answered_as_a_get_shows_it(admin: Api, headers: dict[str, str]) -> None:
    made = admin.post("/odata/Clients", CLIENT, headers=headers)
    assert made.status_code == 201, made.text
    read = admin.get(made.headers["Location"].partition("localhost")[2], headers=headers)
    assert made.data == read.data
    assert [made.headers[name] for name in KEPT] == [read.headers[name] for name in KEPT]


@pytest.mark.only_on("sqlite")
def test_what_depends_on_the_caller_is_read_for_the_caller(app: Flask) -> None:
    container = odata_service.of(app).container
    assert is_plain(container, container.types["Client"])
    assert not is_plain(container, container.types["Document"])


def test_a_part_of_a_batch_is_not_answered_with_what_an_undone_part_wrote(admin: Api) -> None:
    key = admin.post("/odata/Clients", {**CLIENT, "externalId": "old"}).json["id"]
    requests = [
        {"id": "1", "atomicityGroup": "g", "method": "PATCH", "url": f"Clients({key})",
         "headers": {"Content-Type": "application/json"}, "body": {"externalId": "new"}},
        {"id": "2", "atomicityGroup": "g", "method": "PATCH", "url": "Clients(999999)",
         "headers": {"Content-Type": "application/json"}, "body": {"externalId": "x"}},
        {"id": "3", "method": "PATCH", "url": f"Clients({key})",
         "headers": {"Content-Type": "application/json"}, "body": {"externalId": "old"}},
    ]  # fmt: skip
    answer = admin.post("/odata/$batch", {"requests": requests},
                        headers={"Prefer": "odata.continue-on-error"})  # fmt: skip
    last = next(part for part in answer.json["responses"] if part["id"] == "3")
    assert last["body"]["externalId"] == "old"
