"""Batches and deltas that write the same records at once, each in an order of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.contract import batches
from tests.contract.conftest import Api, statuses

pytestmark = pytest.mark.both_databases

KEYS = 8
CALLERS = 12


def in_some_order(number: int) -> list[int]:
    """The same records for everybody: every second caller goes from the last to the first."""
    places = list(range(KEYS))
    return places[::-1] if number % 2 else places


def make(api: Api) -> int:
    key: int = api.post("/odata/Clients", {"name": "A"}).json["id"]
    return key


def group(requests: list[dict[str, Any]]) -> dict[str, Any]:
    numbered = [
        {"id": str(place), "atomicityGroup": "g", **one} for place, one in enumerate(requests)
    ]
    return {"requests": numbered}


def by_address(key: str, name: str) -> dict[str, Any]:
    return {"method": "PATCH", "url": f"Clients(externalId='{key}')", "body": {"name": name}}


def by_alias(key: str, name: str) -> dict[str, Any]:
    url = f"Clients(externalId=@key)?@key='{key}'"
    return {"method": "PUT", "url": url, "body": {"name": name}}


def by_delta(key: str, name: str) -> dict[str, Any]:
    body = {"value": [{"externalId": key, "name": name}]}
    return {"method": "PATCH", "url": "Clients", "body": body, "headers": {"OData-Version": "4.01"}}


def by_id(key: str, name: str) -> dict[str, Any]:
    body = {"value": [{"@id": f"Clients(externalId='{key}')", "name": name}]}
    return {"method": "PATCH", "url": "Clients", "body": body, "headers": {"OData-Version": "4.01"}}


@pytest.mark.parametrize("upsert", [by_address, by_alias, by_delta, by_id])
def test_groups_that_upsert_the_same_new_keys_all_succeed(
    admin: Api, at_once: Callable[..., list[Any]], upsert: Callable[[str, str], dict[str, Any]]
) -> None:
    def send(api: Api, number: int) -> Any:
        wanted = [upsert(f"erp-{place}", f"Name {number}") for place in in_some_order(number)]
        return api.post("/odata/$batch", group(wanted))

    answers = at_once(send, CALLERS)
    assert statuses(answers) == {200: CALLERS}, [answer.text for answer in answers]
    inner = {one["status"] for answer in answers for one in answer.json["responses"]}
    assert inner <= {200, 201}, [answer.text for answer in answers]
    assert admin.get("/odata/Clients/$count").text == str(KEYS)


def test_change_sets_too(admin: Api, at_once: Callable[..., list[Any]]) -> None:
    def send(api: Api, number: int) -> Any:
        parts = [
            batches.request(
                "PATCH", f"Clients(externalId='erp-{place}')", {"name": "A"}, content_id=str(place)
            )
            for place in in_some_order(number)
        ]
        return batches.post(api, batches.multipart(batches.change_set(*parts)))

    answers = at_once(send, CALLERS)
    assert statuses(answers) == {200: CALLERS}
    for answer in answers:
        (done,) = batches.read(answer.data, answer.headers["Content-Type"])
        assert {one.status for one in done.answers} <= {200, 201}
    assert admin.get("/odata/Clients/$count").text == str(KEYS)


def test_deltas_too(admin: Api, at_once: Callable[..., list[Any]]) -> None:
    def send(api: Api, number: int) -> Any:
        items = [{"externalId": f"erp-{place}", "name": "A"} for place in in_some_order(number)]
        return api.patch("/odata/Clients", {"value": items}, headers={"OData-Version": "4.01"})

    answers = at_once(send, CALLERS)
    assert statuses(answers) == {200: CALLERS}, [answer.text for answer in answers]
    assert admin.get("/odata/Clients/$count").text == str(KEYS)


def test_groups_that_change_the_same_records_all_succeed(
    admin: Api, at_once: Callable[..., list[Any]]
) -> None:
    made = [make(admin) for _ in range(KEYS)]

    def send(api: Api, number: int) -> Any:
        wanted = [
            {"method": "PATCH", "url": f"Clients({made[place]})", "body": {"name": f"B{number}"}}
            for place in in_some_order(number)
        ]
        return api.post("/odata/$batch", group(wanted))

    answers = at_once(send, CALLERS)
    assert statuses(answers) == {200: CALLERS}
    inner = {one["status"] for answer in answers for one in answer.json["responses"]}
    assert inner == {200}, [answer.text for answer in answers]
    names = {row["name"] for row in admin.get("/odata/Clients").json["value"]}
    assert len(names) == 1  # each group was done as a whole


def test_groups_that_make_numbered_records_of_several_types_all_succeed(
    admin: Api, at_once: Callable[..., list[Any]]
) -> None:
    """Each type has a counter, which is held to the end."""
    client = {"method": "POST", "url": "Clients", "body": {"name": "A"}}
    ticket = {"method": "POST", "url": "Tickets", "body": {"subject": "A"}}
    project = {"method": "POST", "url": f"Clients({make(admin)})/Projects", "body": {"name": "A"}}

    def send(api: Api, number: int) -> Any:
        wanted = [client, ticket, project]
        return api.post("/odata/$batch", group(wanted[number % 3 :] + wanted[: number % 3]))

    answers = at_once(send, CALLERS)
    assert statuses(answers) == {200: CALLERS}
    inner = {one["status"] for answer in answers for one in answer.json["responses"]}
    assert inner == {201}, [answer.text for answer in answers]


@pytest.fixture
def invoice(admin: Api) -> str:
    """A draft with two lines."""
    lines = [{"description": str(number), "unitPrice": 1} for number in range(2)]
    body = {"clientId": make(admin), "LineItems": lines}
    return f"/odata/Invoices({admin.post('/odata/Invoices', body).json['id']})"


def test_lines_that_are_added_at_once_are_all_there(
    admin: Api, at_once: Callable[..., list[Any]], invoice: str
) -> None:
    line = {"description": "More", "unitPrice": 2}
    answers = at_once(lambda api, number: api.post(f"{invoice}/LineItems", line), 24)
    assert statuses(answers) == {201: 24}
    assert len({answer.json["id"] for answer in answers}) == 24
    shown = admin.get(f"{invoice}?$expand=LineItems").json
    assert (len(shown["LineItems"]), shown["subtotal"]) == (26, 50)


def test_lines_are_added_while_others_write_the_invoice(
    admin: Api, at_once: Callable[..., list[Any]], invoice: str
) -> None:
    line = {"description": "More", "unitPrice": 2}
    whole = {"LineItems": [{"description": "Only", "unitPrice": 3}]}

    def write(api: Api, number: int) -> Any:
        if number % 2:
            return api.post(f"{invoice}/LineItems", line)
        return api.patch(invoice, whole)

    answers = at_once(write, 24)
    assert statuses(answers) == {200: 12, 201: 12}, [answer.text for answer in answers]
    shown = admin.get(f"{invoice}?$expand=LineItems").json
    assert shown["subtotal"] == sum(each["unitPrice"] for each in shown["LineItems"])


def test_lines_are_changed_by_deltas_while_others_write_the_invoice(
    admin: Api, at_once: Callable[..., list[Any]], invoice: str
) -> None:
    key = admin.get(f"{invoice}/LineItems").json["value"][0]["id"]
    newer = {"OData-Version": "4.01"}

    def write(api: Api, number: int) -> Any:
        if number % 3 == 0:
            return api.patch(invoice, {"notes": str(number)})
        if number % 3 == 1:
            return api.patch(f"{invoice}/LineItems({key})", {"unitPrice": number})
        delta = {"LineItems@delta": [{"description": "More", "unitPrice": 2}]}
        return api.patch(invoice, delta, headers=newer)

    answers = at_once(write, 24)
    assert statuses(answers) == {200: 24}, [answer.text for answer in answers]
    assert len(admin.get(f"{invoice}/LineItems").json["value"]) == 2 + 8


def test_a_bad_request_of_a_group_is_refused_in_its_place(admin: Api) -> None:
    wanted = [
        by_address("erp-1", "A"),
        {"method": "PATCH", "url": "Clients(nothing='x')", "body": {"name": "A"}},
        {"method": "PATCH", "url": "http://elsewhere.example/Clients(1)", "body": {"name": "A"}},
    ]
    answer = admin.post("/odata/$batch", group(wanted))
    told = {one["id"]: one["status"] for one in answer.json["responses"]}
    assert told == {"0": 424, "1": 400, "2": 424}
    assert admin.get("/odata/Clients/$count").text == "0"
