"""Members of a collection property and parts of a complex one, by addresses of their own."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.conftest import Api

TAGS = ["b", "a", "c"]


@pytest.fixture
def client(admin: Api) -> str:
    body = {"name": "Acme", "tags": TAGS, "billingAddress": {"city": "Bonn", "country": "DE"}}
    return f"/odata/Clients({admin.post('/odata/Clients', body).json['id']})"


@pytest.mark.parametrize(
    ("place", "member"), [("0", "b"), ("2", "c"), ("-1", "c"), ("-3", "b")],
)  # fmt: skip
def test_a_member_by_its_place(admin: Api, client: str, place: str, member: str) -> None:
    assert admin.get(f"{client}/tags/{place}").json["value"] == member
    assert admin.get(f"{client}/tags/{place}/$value").text == member


@pytest.mark.parametrize("place", ["3", "-4", "99999999999", "-99999999999", "abc", "1/1"])
def test_a_place_where_nothing_is(admin: Api, client: str, place: str) -> None:
    assert admin.get(f"{client}/tags/{place}").status_code == 404


@pytest.mark.parametrize(
    ("query", "members"),
    [
        ("$filter=$this ne 'a'", ["b", "c"]),
        ("$orderby=$this desc&$top=2", ["c", "b"]),
        ("$skip=1", ["a", "c"]),
        ("$filter=startswith($this,'x')", []),
        ("$filter=$it eq $this and $it gt 'b'", ["c"]),
    ],
)
def test_members_are_chosen_and_sorted(
    admin: Api, client: str, query: str, members: list[str]
) -> None:
    assert admin.get(f"{client}/tags?{query}").json["value"] == members


def test_members_are_counted(admin: Api, client: str) -> None:
    found = admin.get(f"{client}/tags?$count=true&$top=1&$filter=$this ne 'a'").json
    assert (found["@odata.count"], found["value"]) == (2, ["b"])
    assert admin.get(f"{client}/tags/$count").text == "3"
    assert admin.get(f"{client}/tags/$count?$filter=$this gt 'a'").text == "2"


@pytest.mark.parametrize(
    ("query", "word"),
    [("$filter=name eq 'x'", "$filter"), ("$select=x", "$select"), ("$expand=x", "$expand")],
)
def test_what_cannot_be_asked_of_members(admin: Api, client: str, query: str, word: str) -> None:
    refused = admin.get(f"{client}/tags?{query}")
    assert refused.status_code == 400
    assert word in refused.json["error"]["message"]


def test_parts_of_a_complex_property(admin: Api, client: str) -> None:
    found = admin.get(f"{client}/billingAddress?$select=city").json
    assert found.pop("@odata.context").endswith("/billingAddress(city)")
    assert found == {"city": "Bonn"}
    assert admin.get(f"{client}/billingAddress?$select=street,nothing").status_code == 400


def test_complex_members_have_parts_of_their_own(admin: Api, client: str) -> None:
    body = {
        "clientId": int(client.rpartition("(")[2][:-1]),
        "LineItems": [{"description": "x", "unitPrice": 10, "taxRate": rate} for rate in (7, 19)],
    }
    invoice = f"/odata/Invoices({admin.post('/odata/Invoices', body).json['id']})/taxBreakdown"
    assert admin.get(f"{invoice}?$select=taxable&$filter=taxRate gt 10").json["value"] == [
        {"taxable": 10}
    ]
    rates = [member["taxRate"] for member in admin.get(invoice).json["value"]]
    assert admin.get(f"{invoice}/-1/taxRate").json["value"] == rates[1]
    last = admin.get(f"{invoice}/-1?$select=taxRate").json
    assert {name for name in last if name[0] != "@"} == {"taxRate"}


@pytest.mark.parametrize(
    ("query", "tags"),
    [
        ("", [*TAGS, "d"]),
        ("?$index=0", ["d", *TAGS]),
        ("?$index=-1", [*TAGS, "d"]),
        ("?$index=-2", ["b", "a", "d", "c"]),
    ],
)
def test_a_member_is_added(admin: Api, client: str, query: str, tags: list[str]) -> None:
    before = admin.get(client).json["@odata.etag"]
    answer = admin.post(f"{client}/tags{query}", {"value": "d"})
    assert answer.status_code == 204
    found = admin.get(client)
    assert found.json["tags"] == tags
    assert before != found.headers["ETag"] == answer.headers["ETag"]


@pytest.mark.parametrize(
    ("query", "body", "status"),
    [("?$index=7", {"value": "d"}, 400), ("?$index=x", {"value": "d"}, 400),
     ("", {"value": 5}, 400), ("", {"value": None}, 400), ("", {}, 400), ("", ["d"], 400)],
)  # fmt: skip
def test_a_member_that_is_wrong(
    admin: Api, client: str, query: str, body: Any, status: int
) -> None:
    assert admin.post(f"{client}/tags{query}", body).status_code == status
    assert admin.get(f"{client}/tags").json["value"] == TAGS


def test_what_follows_a_property_or_a_record_is_never_another_record(
    admin: Api, client: str
) -> None:
    other = admin.post("/odata/Clients", {"name": "Other"}).json["id"]
    for path in (f"{client}/{other}", f"{client}/industry/{other}", f"{client}/industry({other})",
                 f"{client}/billingAddress/city({other})"):  # fmt: skip
        assert admin.get(path).status_code == 404, path
        for send in (admin.patch, admin.put):
            body = {"industry": "x", "value": "x"}
            assert send(path, body).status_code == 404, path
        assert admin.delete(path).status_code == 404, path
    found = admin.get(f"/odata/Clients({other})").json
    assert (found["name"], found["industry"], found["billingAddress"]) == ("Other", None, None)
    assert admin.put(f"{client}/tags/0", {"value": "x"}).status_code == 405
