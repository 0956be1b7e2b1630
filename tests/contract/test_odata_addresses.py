"""Addresses beyond sets and keys: the caller, links of many to many, children along a reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.contract.conftest import Api


def make(api: Api, path: str, body: Any) -> Any:
    answer = api.post(f"/odata/{path}", body)
    assert answer.status_code == 201, answer.text
    return answer.json["id"]


def test_me_is_the_caller(admin: Api, sign_in: Callable[..., Api]) -> None:
    sales = sign_in("Sales")
    me = sales.get("/odata/Me")
    assert me.status_code == 200, me.text
    assert me.json["@odata.context"].endswith("/odata/$metadata#Me")
    assert me.json["email"] == "sales@example.com"
    assert admin.get("/odata/Me?$select=email").json["email"] == "admin@example.com"
    assert sales.get("/odata/Me/displayName/$value").text == "Sales"
    assert {"name": "Me", "kind": "Singleton", "url": "Me"} in admin.get("/odata/").json["value"]


def test_what_is_mine_is_read_through_me(admin: Api, sign_in: Callable[..., Api]) -> None:
    sales = sign_in("Sales")
    lead = make(sales, "Leads", {"lastName": "Mine"})
    make(admin, "Leads", {"lastName": "Theirs"})
    mine = sales.get("/odata/Me/Leads?$select=lastName").json["value"]
    assert [row["lastName"] for row in mine] == ["Mine"]
    assert sales.get(f"/odata/Me/Leads({lead})").status_code == 200
    assert sales.get("/odata/Me/Leads/$count").text == "1"
    shown = sales.get("/odata/Me?$expand=Leads($select=lastName)").json
    assert [row["lastName"] for row in shown["Leads"]] == ["Mine"]


def test_me_is_not_written(admin: Api) -> None:
    for method in ("post", "delete"):
        assert getattr(admin, method)("/odata/Me").status_code == 405
    assert admin.patch("/odata/Me", {"displayName": "x"}).status_code == 405
    assert admin.get("/odata/Me(1)").status_code == 400


def test_articles_are_linked_to_tickets_from_both_ends(admin: Api) -> None:
    ticket = make(admin, "Tickets", {"subject": "Help"})
    first = make(admin, "KbArticles", {"title": "One", "body": "x"})
    second = make(admin, "KbArticles", {"title": "Two", "body": "x"})
    body = {"@odata.id": f"KbArticles({first})"}
    for _ in range(2):
        answer = admin.post(f"/odata/Tickets({ticket})/KbArticles/$ref", body)
        assert answer.status_code == 204, answer.text
    answer = admin.post(
        f"/odata/KbArticles({second})/Tickets/$ref", {"@odata.id": f"Tickets({ticket})"}
    )
    assert answer.status_code == 204
    linked = admin.get(f"/odata/Tickets({ticket})/KbArticles/$ref").json["value"]
    assert [one["@odata.id"] for one in linked] == [f"KbArticles({first})", f"KbArticles({second})"]
    answer = admin.delete(f"/odata/Tickets({ticket})/KbArticles({first})/$ref")
    assert answer.status_code == 204
    assert admin.get(f"/odata/KbArticles({first})/Tickets/$count").text == "0"
    assert admin.get(f"/odata/KbArticles({second})/Tickets/$count").text == "1"
    for wrong in ("KbArticles(999)", "Clients(1)", "nonsense"):
        answer = admin.post(f"/odata/Tickets({ticket})/KbArticles/$ref", {"@odata.id": wrong})
        assert answer.status_code == 400


def test_children_are_made_along_a_reference(admin: Api) -> None:
    client = make(admin, "Clients", {"name": "ACME"})
    project = make(admin, "Projects", {"name": "Build", "clientId": client})
    about = admin.post(f"/odata/Clients({client})/Tasks", {"title": "Call"})
    assert about.status_code == 201, about.text
    assert (about.json["relatedType"], about.json["relatedId"]) == ("Client", client)
    part = admin.post(f"/odata/Projects({project})/Tasks", {"title": "Plan"})
    assert (part.status_code, part.json["projectId"]) == (201, project)
    file = admin.post(f"/odata/Clients({client})/Documents", {"name": "a.txt", "fileName": "a.txt"})
    assert file.status_code == 201, file.text
    assert admin.post("/odata/Clients(999999)/Tasks", {"title": "x"}).status_code == 404
    answer = admin.post("/odata/Leads", {"lastName": "Doe", "Tasks": [{"title": "Ring"}]})
    assert answer.status_code == 201, answer.text
    assert answer.json["Tasks"][0]["relatedType"] == "Lead"


def test_a_child_is_moved_and_let_go_by_its_reference(admin: Api) -> None:
    client, other = (make(admin, "Clients", {"name": name}) for name in ("ACME", "Globex"))
    task = make(admin, f"Clients({client})/Tasks", {"title": "Call"})
    answer = admin.post(f"/odata/Clients({other})/Tasks/$ref", {"@odata.id": f"Tasks({task})"})
    assert answer.status_code == 204, answer.text
    assert admin.get(f"/odata/Tasks({task})/relatedId").json["value"] == other
    answer = admin.delete(f"/odata/Clients({other})/Tasks({task})/$ref")
    assert answer.status_code == 204, answer.text
    shown = admin.get(f"/odata/Tasks({task})").json
    assert (shown["relatedType"], shown["relatedId"]) == (None, None)


def test_an_id_leads_to_one_entity_also_as_a_type(admin: Api) -> None:
    key = make(admin, "Clients", {"name": "ACME"})
    for address in (
        f"$entity?$id=Clients({key})&$select=name",
        f"$entity/BusinessPlatform.Client?$id=Clients({key})&$select=name",
        f"$entity/BusinessPlatform.Client?$id=http://localhost/odata/Clients({key})&$select=name",
    ):
        answer = admin.get(f"/odata/{address}")
        assert (answer.status_code, answer.json.get("name")) == (200, "ACME"), answer.text
    refused = {
        "$entity?$id=Clients": 400,
        f"$entity?$id=Clients({key})/name": 400,
        f"$entity?$id=Clients({key})/Contacts": 400,
        "$entity?$id=Clients(": 400,
        "$entity?$id=Clients(0)": 404,
        f"$entity/BusinessPlatform.Contact?$id=Clients({key})": 404,
    }
    for address, status in refused.items():
        answer = admin.get(f"/odata/{address}")
        assert answer.status_code == status, (address, answer.text)


def test_query_options_in_a_body(admin: Api) -> None:
    make(admin, "Clients", {"name": "A & B"})
    make(admin, "Clients", {"name": "C"})
    for media_type, text in (
        ("text/plain", "$filter=name eq 'A %26 B'&$select=name"),
        ("Text/Plain;charset=utf-8", "$filter=name%20eq%20'A%20%26%20B'"),
        ("application/x-www-form-urlencoded", "%24filter=name+eq+%27A+%26+B%27&%24select=name"),
    ):
        body = {"data": text, "content_type": media_type}
        answer = admin.client.post("/odata/Clients/$query", headers=admin.headers, **body)
        assert answer.status_code == 200, answer.text
        assert [row["name"] for row in answer.json["value"]] == ["A & B"]
    assert admin.post("/odata/Clients/$query", {"$filter": "id eq 1"}).status_code == 415


# --- what the context URL says of them


@pytest.mark.parametrize(
    ("address", "context"),
    [
        ("Invoices({i})/LineItems({l})", "Invoices({i})/LineItems/$entity"),
        ("Invoices/{i}/LineItems/{l}?$select=id", "Invoices({i})/LineItems(id)/$entity"),
        ("$entity?$id=Invoices({i})/LineItems({l})", "Invoices({i})/LineItems/$entity"),
        ("Clients({c})/Invoices({i})/LineItems({l})", "Invoices({i})/LineItems/$entity"),
        ("Invoices({i})/LineItems", "Invoices({i})/LineItems"),
        ("Invoices/{i}/LineItems?$select=id", "Invoices({i})/LineItems(id)"),
        ("Invoices(id={i})/LineItems?$top=1", "Invoices({i})/LineItems"),
        ("Invoices(@i)/LineItems?@i={i}", "Invoices({i})/LineItems"),
        ("invoices({i})/lineitems", "Invoices({i})/LineItems"),
        ("Clients({c})/Invoices({i})/LineItems?$select=id", "Invoices({i})/LineItems(id)"),
        ("Clients({c})/Invoices({i})/LineItems?$filter=id lt 0", "Invoices({i})/LineItems"),
        ("Invoices({i})/LineItems({l})/Invoice/LineItems", "Invoices({i})/LineItems"),
        ("Invoices({i})/LineItems/$filter(quantity gt 0)?$top=1", "Invoices({i})/LineItems"),
        ("Clients({c})/Invoices({i})/LineItems({l})/unitPrice",
         "Invoices({i})/LineItems({l})/unitPrice"),
        ("Invoices({i})/Client/name", "Clients({c})/name"),
        ("Clients(externalId='con-1')/name", "Clients({c})/name"),
        ("clients/{c}/BILLINGADDRESS/City", "Clients({c})/billingAddress/city"),
        ("Me/displayName", "Me/displayName"),
    ],
)  # fmt: skip
def test_a_context_has_the_canonical_url(admin: Api, address: str, context: str) -> None:
    body = {"name": "C", "externalId": "con-1", "billingAddress": {"city": "Bonn"}}
    client = make(admin, "Clients", body)
    line = {"description": "a", "unitPrice": 1, "taxRate": 0}
    invoice = make(admin, "Invoices", {"clientId": client, "LineItems": [line]})
    lines = admin.get(f"/odata/Invoices({invoice})/LineItems").json["value"]
    ids = {"c": client, "i": invoice, "l": lines[0]["id"]}
    answer = admin.get(f"/odata/{address.format(**ids)}")
    assert answer.status_code == 200, answer.text
    wanted = f"/odata/$metadata#{context.format(**ids)}"
    assert answer.json["@odata.context"].endswith(wanted), answer.text


@pytest.mark.parametrize("path", ["Clients(1)()", "Clients(1)(1)", "Me()()"])
def test_a_second_key_is_a_mistake_of_the_caller(admin: Api, path: str) -> None:
    answer = admin.get(f"/odata/{path}")
    assert answer.status_code == 400, answer.text
    assert answer.json["error"]["code"] == "INVALID_QUERY"
    assert "position" in answer.json["error"]
