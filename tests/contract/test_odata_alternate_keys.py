"""Records addressed by an alternate key: what is put at an address stays there (P8, P9)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.conftest import Api
from tests.contract.records import make, read

BODIES: dict[str, dict[str, Any]] = {
    "Clients": {"name": "ACME"},
    "Contacts": {"firstName": "Ada", "lastName": "Lovelace"},
    "Leads": {"firstName": "Ada", "lastName": "Lovelace"},
    "Tickets": {"subject": "Printer"},
    "KbArticles": {"title": "Printers", "body": "Text."},
    "Projects": {"name": "Rollout"},
    "Products": {"name": "Advice", "unitPrice": 128},
}


@pytest.mark.parametrize("name", BODIES)
def test_a_put_can_be_repeated(admin: Api, name: str) -> None:
    body = dict(BODIES[name])
    if name == "Contacts":
        body["clientId"] = make(admin, "Clients", name="ACME")
    path = f"/odata/{name}(externalId='put-1')"
    answers = [admin.put(path, body) for _ in range(3)]
    assert [one.status_code for one in answers] == [201, 200, 200], answers[-1].text
    assert {one.json["externalId"] for one in answers} == {"put-1"}
    assert admin.get(f"/odata/{name}/$count").text == "1"
    assert admin.put(path, body, headers={"If-None-Match": "*"}).status_code == 412
    stale = admin.put(path, body, headers={"If-Match": 'W/"999"'})
    assert stale.status_code == 412
    other = admin.put(f"/odata/{name}(externalId='put-2')", {**body, "externalId": "put-3"})
    assert other.status_code == 400
    assert other.json["error"]["details"][0]["target"] == "externalId"


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("key", ["externalId=''", "externalId='%20%09'"])
def test_a_blank_text_is_no_key(admin: Api, name: str, key: str) -> None:
    for send in (admin.put, admin.patch):
        answer = send(f"/odata/{name}({key})", BODIES[name])
        assert answer.status_code == 404, answer.text
    item = {"@id": f"{name}({key})", **BODIES[name]}
    assert admin.patch(f"/odata/{name}", {"value": [item]}).status_code == 400
    assert admin.get(f"/odata/{name}/$count").text == "0"


def test_a_batch_repeats_it_too(admin: Api) -> None:
    request = {
        "method": "PUT", "url": "Clients(externalId='b-1')", "body": {"name": "ACME"},
        "headers": {"Content-Type": "application/json"},
    }  # fmt: skip
    requests = [{**request, "id": str(number)} for number in range(3)]
    answer = admin.post("/odata/$batch", {"requests": requests})
    assert [one["status"] for one in answer.json["responses"]] == [201, 200, 200]
    body = {"value": [{"externalId": "b-1", "name": "Changed"}]}
    assert admin.patch("/odata/Clients", body).status_code == 200
    assert admin.get("/odata/Clients/$count").text == "1"
    assert read(admin, "Clients(externalId='b-1')")["name"] == "Changed"


def test_through_a_relation(admin: Api) -> None:
    client = make(admin, "Clients", name="ACME")
    contact = {"firstName": "Ada", "lastName": "Lovelace"}
    make(admin, f"Clients({client})/Contacts", **contact, externalId="c-1")
    path = f"Clients({client})/Contacts(externalId='c-1')"
    answer = admin.put(f"/odata/{path}", {**contact, "clientId": client, "lastName": "Byron"})
    assert answer.status_code == 200, answer.text
    assert read(admin, path)["lastName"] == "Byron"
