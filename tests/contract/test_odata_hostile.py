"""Bodies that are large for nothing: refused with one clear answer, whatever is in them."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson
import pytest

from app.odata.payload import values as payload_values
from tests.contract.conftest import Api


@pytest.fixture
def hints(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names for which a nearest one was looked for."""
    asked: list[str] = []
    find = payload_values.suggestion

    def counted(name: str, *known: Any) -> str:
        asked.append(name)
        return find(name, *known)

    monkeypatch.setattr(payload_values, "suggestion", counted)
    return asked


@pytest.mark.parametrize(
    "body",
    [
        {f"a{number}": 1 for number in range(20_000)},
        {"name": "x", "billingAddress": {f"a{number}": 1 for number in range(20_000)}},
        {"name": "x", "Contacts": [{f"a{number}": 1} for number in range(400)]},
    ],
    ids=["names", "members", "related"],
)
def test_of_many_mistakes_a_hundred_are_told(admin: Api, hints: list[str], body: Any) -> None:
    answer = admin.post("/odata/Clients", body)
    assert answer.status_code == 400
    assert len(answer.json["error"]["details"]) == 100
    assert len(hints) == 100


@pytest.mark.parametrize("query", ["$top", "$skip", "$filter=revenue eq ", "$filter=id eq "])
@pytest.mark.parametrize("digits", [19, 100, 5000])
def test_numbers_of_thousands_of_digits_are_no_fault_of_ours(
    admin: Api, query: str, digits: int
) -> None:
    number = "9" * digits
    address = f"{query}{number}" if query.endswith(" ") else f"{query}={number}"
    assert admin.get(f"/odata/Clients?{address}").status_code in (200, 400)
    prefer = {"Prefer": f"odata.maxpagesize={number}"}
    assert admin.get("/odata/Clients", headers=prefer).status_code == 200


def test_parameters_of_an_action(admin: Api, hints: list[str]) -> None:
    made = admin.post("/odata/Leads", {"lastName": "Doe"}).json["id"]
    body = {f"a{number}": 1 for number in range(20_000)}
    answer = admin.post(f"/odata/Leads({made})/Convert", body)
    assert (answer.status_code, len(hints)) == (400, 100)


def test_members_of_a_request_in_a_batch(admin: Api, hints: list[str]) -> None:
    wrong = {"method": "get", "url": "Clients", **{f"a{at}": 1 for at in range(2_000)}}
    answer = admin.post(
        "/odata/$batch", {"requests": [{"id": str(at), **wrong} for at in range(50)]}
    )
    found = answer.json["responses"]
    assert [one["status"] for one in found] == [400] * 50
    told = [len(one["body"]["error"]["details"]) for one in found]
    assert told == [100, *[1] * 49] and len(hints) == 149


def test_a_query_in_a_body_has_a_limit(admin: Api) -> None:
    for count, status in ((20, 200), (5_000, 400), (50_000, 413)):
        text = "$filter=" + " or ".join(["id eq 1"] * count)
        answer = admin.client.post(
            "/odata/Clients/$query", data=text, headers=admin.headers, content_type="text/plain"
        )
        assert answer.status_code == status, answer.text
        json.loads(answer.text)


def test_a_cycle_is_not_followed_into_millions(admin: Api) -> None:
    contacts = [{"lastName": f"Doe {number}"} for number in range(60)]
    made = admin.post("/odata/Clients", {"name": "ACME", "Contacts": contacts})
    assert made.status_code == 201, made.text
    answer = admin.get("/odata/Contacts?$expand=Client($levels=max)")
    assert answer.status_code == 400
    assert "more than 50000 related entities" in answer.json["error"]["message"]
    assert admin.get("/odata/Contacts?$expand=Client($levels=2)").status_code == 200


@pytest.mark.parametrize("body", [[], 5, "text", None, [{}]])
@pytest.mark.parametrize("path", ["Clients", "$batch", "Leads(1)/BusinessPlatform.Convert"])
def test_what_is_said_of_a_whole_body_is_a_sentence(admin: Api, path: str, body: Any) -> None:
    admin.post("/odata/Leads", {"lastName": "Doe"})
    headers = {**admin.headers, "Content-Type": "application/json"}
    answer = admin.client.post(f"/odata/{path}", data=orjson.dumps(body), headers=headers)
    assert answer.status_code == 400, answer.text
    for detail in answer.json["error"]["details"]:
        assert detail["field"] or re.fullmatch(r"[A-Z].*\.", detail["message"])
