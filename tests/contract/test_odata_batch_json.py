"""``$batch`` as JSON: groups, conditions, dependencies, values taken from earlier answers."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy.orm import Session

from app.models.client import Client
from tests.contract.batches import send_json
from tests.contract.conftest import Api
from tests.contract.records import count_rows, make


def one(name: str, method: str, url: str, body: Any = None, **more: Any) -> dict[str, Any]:
    members = {} if body is None else {"body": body}
    headers = {"content-type": "application/json"} if body is not None else {}
    return {"id": name, "method": method, "url": url, "headers": headers, **members, **more}


def test_json_requests_are_answered_once_each(admin: Api) -> None:
    key = make(admin, "Clients", name="ACME")
    found = send_json(
        admin,
        one("r1", "get", f"Clients({key})"),
        one("r2", "POST", "/odata/Clients", {"name": "Globex", "revenue": 10.50}),
        one("r3", "patch", f"http://localhost/odata/Clients({key})", {"name": "Changed"}),
        one("r4", "get", "Clients/$count"),
        one("r5", "delete", f"Clients({key})"),
        {"id": "r6", "method": "put", "url": "$r2/industry", "body": {"value": "Steel"},
         "dependsOn": ["r2"]},
    )  # fmt: skip
    assert {name: item["status"] for name, item in found.items()} == {
        "r1": 200, "r2": 201, "r3": 200, "r4": 200, "r5": 204, "r6": 204,
    }  # fmt: skip
    assert found["r2"]["body"]["name"] == "Globex"
    assert all(name == name.lower() for item in found.values() for name in item["headers"])
    assert found["r2"]["headers"]["location"].endswith(f"Clients({key + 1})")
    assert found["r4"]["body"] == "2"
    assert "body" not in found["r5"]


def test_json_money_stays_exact(admin: Api) -> None:
    answer = admin.post(
        "/odata/$batch",
        {"requests": [one("1", "post", "Clients", {"name": "Exact", "revenue": 0.1})]},
    )
    assert '"revenue":0.10,' in answer.text


def test_json_groups_are_done_whole_or_not_at_all(admin: Api, session: Session) -> None:
    found = send_json(
        admin,
        one("1", "post", "Clients", {"name": "Alone"}),
        one("2", "post", "Clients", {"name": "Together"}, atomicityGroup="g"),
        one("3", "delete", "Clients(999999)", atomicityGroup="g"),
        one("4", "post", "Clients", {"name": "Never"}, atomicityGroup="g"),
        one("5", "get", "Clients", dependsOn=["g"]),
        one("6", "get", "Clients", dependsOn=["2"]),
        one("7", "get", "Clients/$count"),
    )
    assert {name: item["status"] for name, item in found.items()} == {
        "1": 201, "2": 424, "3": 404, "4": 424, "5": 424, "6": 424, "7": 200,
    }  # fmt: skip
    assert [found[name].get("atomicityGroup") for name in "1234"] == [None, "g", "g", "g"]
    assert found["7"]["body"] == "1"
    assert count_rows(session, Client) == 1
    done = send_json(
        admin,
        one("2", "post", "Clients", {"name": "Together"}, atomicityGroup="g"),
        one("3", "post", "$2/Contacts", {"lastName": "Too"}, atomicityGroup="g", dependsOn=["2"]),
        one("4", "get", "$2/Contacts/$count", dependsOn=["g"]),
    )
    assert [item["status"] for item in done.values()] == [201, 201, 200]
    assert done["4"]["body"] == "1"


def test_json_goes_on_unless_told_otherwise(admin: Api) -> None:
    requests = (
        one("1", "get", "Clients(999999)"),
        one("2", "get", "Clients", dependsOn=["1"]),
        one("3", "get", "Clients"),
    )
    assert {n: r["status"] for n, r in send_json(admin, *requests).items()} == {
        "1": 404, "2": 424, "3": 200,
    }  # fmt: skip
    stopped = send_json(admin, *requests, Prefer="continue-on-error=false")
    assert {name: item["status"] for name, item in stopped.items()} == {"1": 404, "2": 424}


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        ("$1/$succeeded", 200),
        ("not $1/$succeeded", 424),
        ("$2/$succeeded or $1/name eq 'ACME'", 200),
        ("$1/revenue gt 5 and $1/industry eq null", 200),
        ("$1/name in ('x','y')", 424),
        ("'$1/$succeeded' eq 'x'", 424),
        ("$1/name", 400),
        ("$1/nothing eq 1", 400),
        ("length('x') eq 1", 400),
        ("$1/name gt 5", 400),
        ("((", 400),
    ],
)
def test_a_condition_decides(admin: Api, condition: str, status: int) -> None:
    key = make(admin, "Clients", name="ACME", revenue=10)
    found = send_json(
        admin,
        one("1", "get", f"Clients({key})"),
        one("2", "get", "Clients(999999)"),
        {**one("3", "get", "Clients", dependsOn=["1", "2"]), "if": condition},
    )
    assert found["3"]["status"] == status, found["3"]


def test_values_are_taken_into_bodies_where_they_are_depended_on(admin: Api) -> None:
    key = make(admin, "Clients", name="ACME", industry="Steel", revenue=12.34)
    found = send_json(
        admin,
        one("1", "get", f"Clients({key})"),
        one("2", "post", "Clients", {"name": "$1/industry", "revenue": "$1/revenue"},
            dependsOn=["1"]),
        one("3", "post", "Clients", {"name": "$1/industry"}),
        one("4", "post", "Clients", {"name": "$1/nothing"}, dependsOn=["1"]),
        one("5", "get", "Clients?$filter=industry eq $1/industry", dependsOn=["1"]),
    )  # fmt: skip
    assert found["2"]["body"]["name"] == "Steel"
    assert found["2"]["body"]["revenue"] == Decimal("12.34")
    assert found["3"]["body"]["name"] == "$1/industry"
    assert found["4"]["status"] == 400
    assert len(found["5"]["body"]["value"]) == 1


@pytest.mark.requirement("SEC-115")
@pytest.mark.parametrize(
    ("requests", "field"),
    [
        (None, "requests"),
        ({}, "requests"),
        (["x"], "requests[0]"),
        ([{}], "requests[0].id"),
        ([one("", "get", "x")], "requests[0].id"),
        ([{"id": 1, "method": "get", "url": "x"}], "requests[0].id"),
        ([one("1", "merge", "x")], "requests[0].method"),
        ([one("1", "get", "")], "requests[0].url"),
        ([one("1", "get", "x", header={})], "requests[0].header"),
        ([one("1", "get", "x"), one("1", "get", "x")], "requests[1].id"),
        ([one("1", "get", "x", dependsOn=["2"]), one("2", "get", "x")], "requests[0].dependsOn[0]"),
        ([one("1", "get", "x", dependsOn=["1"])], "requests[0].dependsOn[0]"),
        ([one("1", "get", "x", dependsOn="1")], "requests[0].dependsOn"),
        ([one("1", "get", "x", atomicityGroup="g"), one("2", "get", "x"),
          one("3", "get", "x", atomicityGroup="g")], "requests[2].atomicityGroup"),
        ([one("g", "get", "x"), one("2", "get", "x", atomicityGroup="g")],
         "requests[1].atomicityGroup"),
        ([one("1", "get", "x", atomicityGroup="g"), one("g", "get", "x")], "requests[1].id"),
        ([{**one("1", "get", "x"), "headers": {"a": 1}}], "requests[0].headers.a"),
        ([{**one("1", "get", "x"), "headers": {"a": "b\r\nc: d"}}], "requests[0].headers.a"),
        ([one("1", "get", "x", {})], "requests[0].body"),
        ([{**one("1", "post", "x"), "headers": {"content-type": "image/png"}, "body": "?"}],
         "requests[0].body"),
        ([{**one("1", "get", "x"), "if": 5}], "requests[0].if"),
    ],
)  # fmt: skip
def test_a_json_batch_that_is_wrong_is_refused_whole(admin: Api, requests: Any, field: str) -> None:
    body = {} if requests is None else {"requests": requests}
    answer = admin.post("/odata/$batch", body)
    assert answer.status_code == 400, answer.text
    assert answer.json["error"]["details"][0]["target"] == field


def test_an_empty_json_batch_has_no_answers(admin: Api) -> None:
    assert admin.post("/odata/$batch", {"requests": []}).json == {"responses": []}


def test_json_batches_are_of_version_4_01(admin: Api) -> None:
    body = {"requests": [one("1", "get", "Clients")]}
    for version, status in (("4.0", 400), ("4.01", 200)):
        answer = admin.post("/odata/$batch", body, headers={"OData-MaxVersion": version})
        assert answer.status_code == status


def test_a_json_batch_can_be_answered_as_multipart(admin: Api) -> None:
    answer = admin.post(
        "/odata/$batch",
        {"requests": [one("1", "get", "Clients")]},
        headers={"Accept": "multipart/mixed"},
    )
    assert answer.mimetype == "multipart/mixed"
    assert "Content-ID: 1" in answer.text
