"""Rows that are multiplied with each other are counted without, or given little time."""

from __future__ import annotations

from functools import partial
from time import monotonic

import pytest

from app.odata.reading import statement
from tests.conftest import Once
from tests.contract.conftest import Api

_MANY = 40


@pytest.fixture
def filled(admin: Api, once: Once) -> Api:
    """Forty clients with two contacts each."""
    once("clients with two contacts each", partial(_fill, admin))
    return admin


def _fill(admin: Api) -> None:
    contacts = [{"lastName": "x"}, {"lastName": "y"}]
    requests = [
        {"id": str(at), "method": "POST", "url": "Clients",
         "body": {"name": f"C{at}", "Contacts": contacts}}
        for at in range(_MANY)
    ]  # fmt: skip
    answer = admin.post("/odata/$batch", {"requests": requests})
    assert answer.status_code == 200, answer.text


def test_the_number_of_all_combinations_is_a_product(filled: Api) -> None:
    began = monotonic()
    sets = "Clients,Contacts,Users,Leads"
    answer = filled.get("/odata/$crossjoin(Clients,Contacts)?$count=true&$top=1")
    assert answer.json["@odata.count"] == _MANY * 2 * _MANY
    assert filled.get(f"/odata/$crossjoin({sets})?$count=true&$top=1").json["@odata.count"] == 0
    assert monotonic() - began < 20


def test_a_filter_counts_what_it_leaves(filled: Api) -> None:
    address = (
        "/odata/$crossjoin(Clients,Contacts)?$count=true&$top=0"
        "&$filter=Clients/id eq Contacts/clientId"
    )
    assert filled.get(address).json["@odata.count"] == 2 * _MANY


@pytest.mark.parametrize(
    "address",
    [
        "$crossjoin(Clients,Contacts)?$count=true&$top=1&$filter=not matchesPattern("
        "concat(toupper(Clients/name),tolower(Contacts/lastName)),'^(a|b)+[0-9]*c$')",
        "Clients?$count=true&$top=1&$apply=join(Contacts as a)/join(Contacts as b)/join(Contacts as"
        " c)",
    ],
)
def test_it_ends_when_its_time_is_over(
    filled: Api, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    assert filled.get(f"/odata/{address}").status_code == 200
    monkeypatch.setattr(statement, "LONGEST_MULTIPLIED_SECONDS", 0)
    monkeypatch.setattr(statement, "OPCODES", 100)
    answer = filled.get(f"/odata/{address}")
    assert answer.status_code == 400
    assert "takes too long" in answer.json["error"]["message"]
    monkeypatch.undo()
    assert filled.get(f"/odata/{address}").status_code == 200
    assert filled.get("/odata/Clients?$top=1").status_code == 200


def test_no_more_than_four_are_multiplied(filled: Api) -> None:
    error = filled.get("/odata/$crossjoin(Clients,Contacts,Leads,Users,Tasks)").json["error"]
    assert "at most 4 sets" in error["message"]
    assert error["position"] >= 0
    joins = "/".join(f"join(Contacts as c{at})" for at in range(20))
    error = filled.get(f"/odata/Clients?$count=true&$apply={joins}").json["error"]
    assert "at most 4 collections" in error["message"]
    assert error["position"] == joins.index("join(Contacts as c4)")
