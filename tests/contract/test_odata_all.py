"""``$all``: the entities of every set that the caller may read, in one collection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.contract.conftest import Api


@pytest.fixture
def filled(admin: Api) -> Api:
    """Two clients and two contacts; the user that signed in is an entity, too."""
    for name in ("A", "B"):
        body = {"name": name, "Contacts": [{"lastName": f"of {name}"}]}
        assert admin.post("/odata/Clients", body).status_code == 201
    return admin


def rows(api: Api, query: str = "", **headers: str) -> Any:
    answer = api.get(f"/odata/$all{query}", headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json["value"]


def test_each_entity_tells_its_type_and_where_it_is(filled: Api) -> None:
    answer = filled.get("/odata/$all?$count=true")
    assert answer.json["@odata.context"].endswith("#Collection(Edm.EntityType)")
    found = answer.json["value"]
    assert answer.json["@odata.count"] == len(found) == 5
    assert [row["@odata.type"].rpartition(".")[2] for row in found] == [
        "Client", "Client", "Contact", "Contact", "User",
    ]  # fmt: skip
    for row in found:
        assert filled.get(f"/odata/{row['@odata.id']}").json["id"] == row["id"]


def test_pages_go_on_from_set_to_set(filled: Api) -> None:
    whole = [row["@odata.id"] for row in rows(filled)]
    for size in (1, 2, 3):
        prefer = {"Prefer": f"odata.maxpagesize={size}"}
        seen: list[str] = []
        address: str | None = "/odata/$all?$count=true"
        while address:
            answer = filled.get(address, headers=prefer)
            assert len(answer.json["value"]) <= size
            assert answer.json["@odata.count"] == 5
            assert answer.headers["Preference-Applied"] == f"odata.maxpagesize={size}"
            seen += [row["@odata.id"] for row in answer.json["value"]]
            address = answer.json.get("@odata.nextLink")
        assert seen == whole


def test_top_counts_over_pages(filled: Api) -> None:
    whole = [row["@odata.id"] for row in rows(filled)]
    answer = filled.get("/odata/$all?$top=3", headers={"Prefer": "maxpagesize=2"})
    assert [row["@odata.id"] for row in answer.json["value"]] == whole[:2]
    rest = filled.get(answer.json["@odata.nextLink"]).json
    assert [row["@odata.id"] for row in rest["value"]] == whole[2:3]
    assert "@odata.nextLink" not in rest
    assert rows(filled, "?$top=0") == []


def test_one_type_of_all(filled: Api) -> None:
    answer = filled.get("/odata/$all/BusinessPlatform.Contact")
    assert answer.json["@odata.context"].endswith("#Collection(BusinessPlatform.Contact)")
    assert [row["lastName"] for row in answer.json["value"]] == ["of A", "of B"]
    assert filled.get("/odata/$all/BusinessPlatform.Nothing").status_code == 404
    assert filled.get("/odata/$all/Contact").status_code == 404


def test_forms_of_the_answer(filled: Api) -> None:
    new = filled.get("/odata/$all?$top=1", headers={"OData-MaxVersion": "4.01"}).json
    assert new["@context"].endswith("#Collection(Edm.EntityType)")
    assert {"@type", "@id", "@etag"} <= new["value"][0].keys()
    bare = filled.get("/odata/$all?$top=1&$format=application/json;odata.metadata=none").json
    assert not any("@" in name for name in (*bare, *bare["value"][0]))
    spare = rows(filled, "?$top=1", Prefer="omit-values=nulls")
    assert "email" not in spare[0]


def test_only_what_the_caller_may_read_is_there(filled: Api, sign_in: Callable[..., Api]) -> None:
    assert filled.post("/odata/Leads", {"lastName": "Doe"}).status_code == 201
    accountant = sign_in("Accountant")
    shown = [{row["@odata.type"] for row in rows(api)} for api in (filled, accountant)]
    assert shown[0] - shown[1] == {"#BusinessPlatform.Lead"}
    assert rows(accountant, "/BusinessPlatform.Lead") == []


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("$all?$filter=true", 501),
        ("$all?$select=id", 501),
        ("$all?$expand=*", 501),
        ("$all?$top=-1", 400),
        ("$all?$nothing=1", 400),
        ("$all?$skiptoken=x", 400),
        ("$all/$count", 400),
        ("$all(1)", 400),
    ],
)
def test_what_has_no_meaning_for_any_entity_is_refused(
    admin: Api, address: str, status: int
) -> None:
    assert admin.get(f"/odata/{address}").status_code == status


def test_it_is_not_written(admin: Api) -> None:
    assert admin.post("/odata/$all", {}).status_code == 405


def test_a_token_is_good_for_its_own_query_alone(filled: Api) -> None:
    link = filled.get("/odata/$all", headers={"Prefer": "maxpagesize=1"}).json["@odata.nextLink"]
    token = link.partition("skiptoken=")[2]
    assert filled.get(f"/odata/Clients?$skiptoken={token}").status_code == 400
    assert filled.get(f"/odata/$all?$top=5&$skiptoken={token}").status_code == 400
    assert filled.get(f"/odata/$all?$skiptoken={token}").status_code == 200
