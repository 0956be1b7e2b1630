"""Specification section 4.9: operations and query options of an entity collection."""

from __future__ import annotations

import pytest

from tests.contract.conftest import Api

ROWS = [
    {"name": "Acme", "status": "Active", "revenue": 300},
    {"name": "Beta O'Neill", "status": "Active", "revenue": 100},
    {"name": "acme two", "status": "Inactive", "revenue": 200.5},
    {"name": "Gamma", "status": "Active", "revenue": 200},
]


@pytest.fixture
def clients(admin: Api) -> list[int]:
    return [admin.post("/odata/Clients", row).json["id"] for row in ROWS]


def names(admin: Api, query: str) -> list[str]:
    answer = admin.get(f"/odata/Clients?{query}")
    assert answer.status_code == 200, answer.text
    return [row["name"] for row in answer.json["value"]]


def test_single_record_and_count(admin: Api, clients: list[int]) -> None:
    assert admin.get(f"/odata/Clients({clients[0]})").json["name"] == "Acme"
    count = admin.get("/odata/Clients/$count")
    assert (count.text, count.content_type.split(";")[0]) == ("4", "text/plain")


def test_patch_changes_only_the_named_fields(admin: Api, clients: list[int]) -> None:
    path = f"/odata/Clients({clients[0]})"
    assert admin.patch(path, {"email": "a@acme.example"}).status_code == 200
    read = admin.get(path).json
    assert (read["email"], read["name"], read["revenue"]) == ("a@acme.example", "Acme", 300)


def test_put_resets_what_it_leaves_out(admin: Api, clients: list[int]) -> None:
    path = f"/odata/Clients({clients[0]})"
    assert admin.put(path, {"name": "Acme Ltd"}).status_code == 200
    read = admin.get(path).json
    assert (read["name"], read["revenue"], read["id"]) == ("Acme Ltd", 0, clients[0])


def test_delete_removes_the_record(admin: Api, clients: list[int]) -> None:
    path = f"/odata/Clients({clients[0]})"
    assert admin.delete(path).status_code == 204
    assert admin.get(path).status_code == 404
    assert admin.delete(path).status_code == 404


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("$filter=status eq 'Active'", ["Acme", "Beta O'Neill", "Gamma"]),
        ("$filter=revenue gt 200", ["Acme", "acme two"]),
        ("$filter=contains(name, 'acme')", ["acme two"]),
        ("$filter=contains(name,'O''Neill')", ["Beta O'Neill"]),
        ("$filter=status eq 'Active' and revenue gt 100", ["Acme", "Gamma"]),
        ("$filter=createdAt gt 2024-01-01&$top=1", ["Acme"]),
        ("$filter=createdAt lt 2024-01-01", []),
        ("$orderby=revenue desc", ["Acme", "acme two", "Gamma", "Beta O'Neill"]),
        ("$orderby=status,name desc", ["Gamma", "Beta O'Neill", "Acme", "acme two"]),
        ("$orderby=name&$top=2&$skip=1", ["Beta O'Neill", "Gamma"]),
    ],
)
def test_query_options(admin: Api, clients: list[int], query: str, expected: list[str]) -> None:
    assert names(admin, query) == expected


def test_select_restricts_the_fields(admin: Api, clients: list[int]) -> None:
    rows = admin.get("/odata/Clients?$select=name,revenue&$top=1").json["value"]
    assert {key for key in rows[0] if not key.startswith("@")} == {"name", "revenue"}


def test_count_gives_the_total(admin: Api, clients: list[int]) -> None:
    answer = admin.get("/odata/Clients?$count=true&$top=1&$filter=status eq 'Active'").json
    assert answer["@odata.count"] == 3
    assert len(answer["value"]) == 1


def test_expand_nests(admin: Api, clients: list[int]) -> None:
    admin.post(
        "/odata/Invoices",
        {"clientId": clients[0], "LineItems": [{"description": "x", "unitPrice": 1}]},
    )
    rows = admin.get(
        "/odata/Clients?$filter=name eq 'Acme'&$expand=Invoices($expand=LineItems)"
    ).json["value"]
    assert len(rows[0]["Invoices"][0]["LineItems"]) == 1


def test_all_options_together(admin: Api, clients: list[int]) -> None:
    answer = admin.get(
        "/odata/Clients?$filter=status eq 'Active'&$orderby=name&$skip=1&$top=1"
        "&$count=true&$select=name&$expand=Contacts"
    ).json
    assert answer["@odata.count"] == 3
    assert [(row["name"], row["Contacts"]) for row in answer["value"]] == [("Beta O'Neill", [])]
