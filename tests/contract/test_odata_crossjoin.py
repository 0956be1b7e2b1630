"""``$crossjoin``."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.conftest import Once
from tests.contract.conftest import Api

pytestmark = pytest.mark.both_databases


@pytest.fixture
def filled(admin: Api, once: Once) -> Api:
    """Three clients, two of them with contacts: A has Ada and Abe, B has Bob."""
    once("clients to be crossed with contacts", partial(_fill, admin))
    return admin


def _fill(admin: Api) -> None:
    for name, contacts in (("A", ("Ada", "Abe")), ("B", ("Bob",)), ("C", ())):
        body = {"name": name, "Contacts": [{"lastName": last} for last in contacts]}
        assert admin.post("/odata/Clients", body).status_code == 201


def rows(api: Api, query: str, sets: str = "Clients,Contacts") -> Any:
    answer = api.get(f"/odata/$crossjoin({sets})?{query}")
    assert answer.status_code == 200, answer.text
    return answer.json["value"]


def test_every_combination_is_a_row(filled: Api) -> None:
    answer = filled.get("/odata/$crossjoin(Clients,Contacts)?$count=true")
    assert answer.json["@odata.context"].endswith("#Collection(Edm.ComplexType)")
    assert answer.json["@odata.count"] == 9
    found = answer.json["value"]
    assert len(found) == 9
    for row in found:
        assert set(row) == {"Clients@odata.navigationLink", "Contacts@odata.navigationLink"}
        for link in row.values():
            assert filled.get(f"/odata/{link}").status_code == 200
    assert found == sorted(found, key=lambda row: list(row.values()))


def test_a_filter_joins(filled: Api) -> None:
    found = rows(
        filled,
        "$filter=Contacts/clientId eq Clients/id and startswith(Contacts/lastName,'A')"
        "&$expand=Clients($select=name),Contacts($select=lastName;$expand=Client($select=name))"
        "&$orderby=Contacts/lastName desc",
    )
    assert [row["Contacts"]["lastName"] for row in found] == ["Ada", "Abe"]
    assert {row["Clients"]["name"] for row in found} == {"A"}
    assert found[0]["Contacts"]["Client"]["name"] == "A"
    assert set(found[0]) == {"Clients", "Contacts"}


def test_one_set_expanded_and_the_other_not(filled: Api) -> None:
    (row,) = rows(filled, "$filter=Contacts/clientId eq Clients/id and Clients/name eq 'B'"
                  "&$expand=Contacts($select=lastName)")  # fmt: skip
    assert row["Contacts"]["lastName"] == "Bob"
    assert row["Clients@odata.navigationLink"].startswith("Clients(")


def test_pages_of_combinations(filled: Api) -> None:
    assert len(rows(filled, "$top=4&$skip=7")) == 2
    seen = []
    link = "/odata/$crossjoin(Clients,Contacts)?$orderby=Clients/name desc"
    while link:
        answer = filled.get(link, headers={"Prefer": "maxpagesize=2"})
        assert answer.status_code == 200, answer.text
        seen += [tuple(row.values()) for row in answer.json["value"]]
        link = answer.json.get("@odata.nextLink", "").partition("http://localhost")[2]
    assert len(seen) == len(set(seen)) == 9


GROUPS = (
    "$apply=filter(Contacts/clientId eq Clients/id)/groupby((Clients/name),aggregate($count as n))"
)


def test_groups_of_combinations_are_in_order_and_lead_to_no_entity(filled: Api) -> None:
    found = rows(filled, GROUPS)
    assert [set(row) for row in found] == [{"Clients", "n", "n@odata.type"}] * len(found)
    names = [row["Clients"]["name"] for row in found]
    assert names == sorted(names) and len(names) > 1
    seen, link = [], f"/odata/$crossjoin(Clients,Contacts)?{GROUPS}&$orderby=n desc"
    whole = filled.get(link).json["value"]
    while link:
        answer = filled.get(link, headers={"Prefer": "maxpagesize=1"})
        assert answer.status_code == 200, answer.text
        seen += answer.json["value"]
        link = answer.json.get("@odata.nextLink", "").partition("http://localhost")[2]
    assert seen == whole
    (total,) = rows(filled, "$apply=aggregate($count as n)")
    assert total == {"n@odata.type": "#Int64", "n": 9}


def test_combinations_that_a_filter_leaves_lead_to_their_entities(filled: Api) -> None:
    found = rows(filled, "$apply=filter(Contacts/clientId eq Clients/id)")
    assert found
    for row in found:
        assert set(row) == {"Clients@odata.navigationLink", "Contacts@odata.navigationLink"}


def test_an_empty_set_leaves_nothing(filled: Api) -> None:
    assert rows(filled, "", "Clients,Leads") == []
    assert rows(filled, "$top=0") == []


def test_an_outer_row_filter_leaves_no_nulls(filled: Api, sign_in: Callable[..., Api]) -> None:
    filled.post("/odata/KbArticles", {"title": "Draft", "body": "x"})
    viewer = sign_in("Viewer")
    assert rows(viewer, "", "Clients,KbArticles") == []
    assert len(rows(filled, "", "Clients,KbArticles")) == 3


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("$crossjoin(Clients,Nothing)", 404),
        ("$crossjoin(Clients,Clients)", 400),
        ("$crossjoin()", 400),
        ("$crossjoin", 400),
        ("$crossjoin(Clients,Contacts", 400),
        ("$crossjoin(Clients,Contacts)/$count", 400),
        ("$crossjoin(Clients,Contacts)?$filter=name eq 'x'", 400),
        ("$crossjoin(Clients,Contacts)?$filter=Clients eq 5", 400),
        ("$crossjoin(Clients,Contacts)?$expand=Leads", 400),
        ("$crossjoin(Clients,Contacts)?$select=name", 400),
        ("$crossjoin(Clients,Contacts)(1)", 400),
        ("$crossjoin(Clients,Contacts)?$skiptoken=x", 400),
        ("$crossjoin(Clients,Contacts,Leads,Tickets,Tasks,Projects,Users,Documents,Invoices)", 400),
    ],
)
def test_what_is_no_cross_join(filled: Api, address: str, status: int) -> None:
    answer = filled.get(f"/odata/{address}")
    assert answer.status_code == status, answer.text
    assert answer.json["error"]["message"]


def test_every_set_needs_its_right(sign_in: Callable[..., Api]) -> None:
    accountant = sign_in("Accountant")
    assert accountant.get("/odata/$crossjoin(Clients,Leads)").status_code == 403
    assert accountant.post("/odata/$crossjoin(Clients,Contacts)", {}).status_code == 405


def test_full_metadata_names_each_member_once(filled: Api) -> None:
    answer = filled.get(
        "/odata/$crossjoin(Clients,Contacts)?$top=1&$expand=Clients($select=name)",
        headers={"Accept": "application/json;odata.metadata=full"},
    )
    (row,) = json.loads(answer.text, object_pairs_hook=list)[-1][1]
    names = [name for name, _ in row]
    assert names == ["Clients", "Contacts@odata.navigationLink"]
    assert filled.get(f"/odata/{dict(row)[names[1]]}").status_code == 200
