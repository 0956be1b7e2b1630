"""Many records at once: delta payloads, and every member of a filtered set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models.client import Client
from app.models.event import Event
from tests.contract.conftest import Api


def make(api: Api, **values: Any) -> int:
    answer = api.post("/odata/Clients", values)
    assert answer.status_code == 201, answer.text
    key: int = answer.json["id"]
    return key


def names(api: Api) -> list[str]:
    rows = api.get("/odata/Clients?$orderby=id&$select=name").json["value"]
    return [row["name"] for row in rows]


# --- delta payloads -------------------------------------------------------------------------------


def test_a_delta_makes_changes_and_removes(admin: Api) -> None:
    old, gone = make(admin, name="Old"), make(admin, name="Gone")
    make(admin, name="By other key", externalId="x-1")
    answer = admin.patch(
        "/odata/Clients",
        {
            "@context": "#$delta",
            "value": [
                {"name": "Made", "Contacts": [{"lastName": "Doe"}]},
                {"@id": f"Clients({old})", "name": "Changed"},
                {"externalId": "x-1", "name": "Found"},
                {"externalId": "x-2", "name": "Upserted"},
                {"@removed": {"reason": "deleted"}, "@id": f"Clients({gone})"},
            ],
        },
        headers={"OData-MaxVersion": "4.01"},
    )
    assert answer.status_code == 200, answer.text
    assert answer.json["@context"].endswith("/odata/$metadata#Clients/$delta")
    shown = answer.json["value"]
    assert [row.get("name") for row in shown] == ["Made", "Changed", "Found", "Upserted", None]
    assert shown[4] == {"@removed": {"reason": "deleted"}, "@id": f"Clients({gone})"}
    assert names(admin) == ["Changed", "Found", "Made", "Upserted"]
    assert admin.get(f"/odata/Clients({shown[0]['id']})/Contacts/$count").text == "1"


def test_a_delta_by_key_and_without_an_answer(admin: Api) -> None:
    key = make(admin, name="Old")
    body = {"value": [{"id": key, "name": "New"}, {"id": key, "@odata.removed": {}}]}
    answer = admin.patch("/odata/Clients", body, headers={"Prefer": "return=minimal"})
    assert (answer.status_code, answer.data) == (204, b"")
    assert answer.headers["Preference-Applied"] == "return=minimal"
    assert names(admin) == []


def test_a_delta_makes_what_an_address_by_external_id_names(admin: Api) -> None:
    """As a PATCH of that address does: a delta upserts (Protocol 11.4.12)."""
    address = "Clients(externalId='far-1')"
    for name, tag in (("Made", 'W/"1"'), ("Changed", 'W/"2"')):
        answer = admin.patch("/odata/Clients", {"value": [{"@id": address, "name": name}]})
        assert answer.status_code == 200, answer.text
        (shown,) = answer.json["value"]
        assert (shown["externalId"], shown["@odata.etag"]) == ("far-1", tag)
    assert names(admin) == ["Changed"]
    tagged = {"@id": "Clients(externalId='far-2')", "@etag": 'W/"1"', "name": "x"}
    assert admin.patch("/odata/Clients", {"value": [tagged]}).status_code == 412
    assert names(admin) == ["Changed"]


def test_a_delta_is_done_whole_or_not_at_all(admin: Api, session: Session) -> None:
    key = make(admin, name="Old")
    before = session.scalar(select(func.count()).select_from(Event))
    for last, target in (
        ({"nmae": "x"}, "value[2].nmae"),
        ({"name": 5}, "value[2].name"),
        ({"id": 999999, "name": "x"}, "value[2]"),
        ({"@id": "Clients(999999)", "name": "x"}, "value[2]"),
        ({"@id": "Contacts(1)", "name": "x"}, "value[2]"),
        ({"@removed": {}, "name": "x"}, "value[2]"),
        ({"@id": "Clients(number='C-000999')", "name": "x"}, "value[2]"),
        ({"@id": "Clients(externalId='none')", "@removed": {}}, "value[2]"),
        ({"@id": "Clients(externalId='none')"}, "value[2].name"),
        ({"@id": "Clients(externalId='a')", "externalId": "b", "name": "x"}, "value[2].externalId"),
        ({"name": "x", "email": "no address"}, "value[2].email"),
        (5, "value[2]"),
    ):
        body = {"value": [{"name": "Made"}, {"id": key, "name": "New"}, last]}
        answer = admin.patch("/odata/Clients", body)
        assert answer.status_code == 400, answer.text
        assert answer.json["error"]["details"][0]["target"] == target
    session.rollback()
    assert names(admin) == ["Old"]
    assert session.scalar(select(func.count()).select_from(Event)) == before


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        ({"name": "x"}, {}, 405),
        ([], {}, 400),
        ({"value": 5}, {}, 400),
        ({}, {}, 405),
        ({"name": "x"}, {"OData-Version": "4.0"}, 405),
        ({"value": [{}] * 501}, {}, 400),
        ({"value": []}, {"OData-Version": "4.0"}, 400),
        ({"value": []}, {"If-Match": "*"}, 400),
        ({"value": []}, {}, 200),
    ],
)
def test_bodies_that_are_no_delta(
    admin: Api, body: Any, headers: dict[str, str], status: int
) -> None:
    answer = admin.patch("/odata/Clients", body, headers=headers)
    assert answer.status_code == status, answer.text
    if not isinstance(body, dict) or not isinstance(body.get("value"), list):
        assert "the items of a delta" in answer.text


def test_sets_that_are_read_only_take_no_delta(admin: Api, sign_in: Callable[..., Api]) -> None:
    assert admin.patch("/odata/Users", {"value": []}).status_code == 405
    viewer = sign_in("Viewer")
    assert viewer.patch("/odata/Clients", {"value": [{"name": "x"}]}).status_code == 403


# --- every member ---------------------------------------------------------------------------------


def test_every_member_is_changed(admin: Api, session: Session) -> None:
    for name, industry in (("A", "Steel"), ("B", "Steel"), ("C", "Wood")):
        make(admin, name=name, industry=industry)
    address = "/odata/Clients/$filter(@f)/$each?@f=industry eq 'Steel'"
    answer = admin.patch(address, {"industry": "Iron", "status": "Inactive"})
    assert (answer.status_code, answer.data) == (204, b"")
    rows = admin.get("/odata/Clients?$orderby=name").json["value"]
    assert [row["industry"] for row in rows] == ["Iron", "Iron", "Wood"]
    session.rollback()
    events = select(func.count()).select_from(Event).where(Event.type == "client.updated")
    assert session.scalar(events) == 2
    answer = admin.patch(
        "/odata/Clients/$filter(industry eq 'Iron')/$each",
        {"industry": "Gold"},
        headers={"Prefer": "return=representation"},
    )
    assert answer.status_code == 200
    assert [row["industry"] for row in answer.json["value"]] == ["Gold", "Gold"]
    assert answer.json["@odata.context"].endswith("#Clients")


def test_every_member_is_deleted(admin: Api) -> None:
    for name in "ABC":
        make(admin, name=name)
    assert admin.delete("/odata/Clients/$filter(name ne 'B')/$each").status_code == 204
    assert names(admin) == ["B"]
    assert admin.delete("/odata/Clients/$filter(name eq 'X')/$each").status_code == 204
    assert admin.delete("/odata/Clients/$each").status_code == 204
    assert names(admin) == []


def test_related_members_are_changed_and_deleted(admin: Api) -> None:
    clients = [make(admin, name=name) for name in "AB"]
    for key, name in ((clients[0], "Ada"), (clients[0], "Bob"), (clients[1], "Cid")):
        body = {"lastName": name, "clientId": key}
        assert admin.post("/odata/Contacts", body).status_code == 201

    def contacts(name: str) -> list[str | None]:
        rows = admin.get("/odata/Contacts?$orderby=id").json["value"]
        return [row[name] for row in rows]

    members = f"/odata/Clients({clients[0]})/Contacts"
    body, shown = {"jobTitle": "Smith"}, {"Prefer": "return=representation"}
    some = admin.patch(f"{members}/$filter(@f)/$each?@f=lastName eq 'Ada'", body, headers=shown)
    assert [row["lastName"] for row in some.json["value"]] == ["Ada"], some.text
    assert some.json["@odata.context"].endswith("#Contacts")
    assert contacts("jobTitle") == ["Smith", None, None]
    assert admin.patch(f"{members}/$each", {"jobTitle": "Clerk"}).status_code == 204
    assert contacts("jobTitle") == ["Clerk", "Clerk", None]
    assert admin.delete(f"{members}/$filter(lastName eq 'Bob')/$each").status_code == 204
    assert contacts("lastName") == ["Ada", "Cid"]
    assert admin.delete("/odata/Contacts(1)/Client/Contacts/$each").status_code == 204
    assert contacts("lastName") == ["Cid"]
    allowed = admin.client.options(f"{members}/$each", headers=admin.headers).headers["Allow"]
    assert set(allowed.split(", ")) >= {"PATCH", "DELETE"}


def test_an_action_is_done_to_each_related_member(admin: Api) -> None:
    line = {"description": "x", "unitPrice": 1, "taxRate": 0}
    client, other = make(admin, name="A"), make(admin, name="B")
    for key in (client, client, other):
        body = {"clientId": key, "LineItems": [line]}
        assert admin.post("/odata/Invoices", body).status_code == 201
    sent = admin.post(f"/odata/Clients({client})/Invoices/$each/Send", {"markOnly": True})
    assert sent.status_code == 200, sent.text
    states = [row["status"] for row in admin.get("/odata/Invoices?$orderby=id").json["value"]]
    assert states == ["Sent", "Sent", "Draft"]


def test_one_refusal_undoes_all_and_names_the_member(admin: Api, session: Session) -> None:
    make(admin, name="A")
    key = make(admin, name="B")
    line = {"description": "x", "unitPrice": 1, "taxRate": 0}
    invoice = admin.post("/odata/Invoices", {"clientId": key, "LineItems": [line]}).json["id"]
    admin.post(f"/odata/Invoices({invoice})/BusinessPlatform.Send", {"markOnly": True})
    answer = admin.delete("/odata/Clients/$each")
    assert (answer.status_code, answer.json["error"]["code"]) == (409, "IN_USE")
    assert f"Clients({key})" in answer.json["error"]["message"]
    session.rollback()
    assert session.scalar(select(func.count()).select_from(Client)) == 2


@pytest.mark.parametrize(
    ("method", "address", "body", "status"),
    [
        ("patch", "Clients/$filter(nothing eq 1)/$each", {}, 400),
        ("patch", "Clients/$filter(name eq 'A')/$each", {"nmae": "x"}, 400),
        ("patch", "Clients/$filter(name eq 'A')/$each", {"name": None}, 400),
        ("patch", "Clients/$each?$filter=name eq 'A'", {"name": "x"}, 400),
        ("patch", "Clients(1)/$each", {"name": "x"}, 404),
        ("patch", "Nothing/$each", {"name": "x"}, 404),
        ("patch", "$each", {"name": "x"}, 400),
        ("patch", "Clients(1)/Contacts/$each", {"nmae": "x"}, 400),
        ("patch", "Clients(99)/Contacts/$each", {"lastName": "x"}, 404),
        ("patch", "Clients(1)/Contacts(1)/$each", {"lastName": "x"}, 404),
        ("patch", "Clients(1)/tags/$each", {"value": "x"}, 404),
        ("patch", "Clients(1)/Owner/$each", {"name": "x"}, 404),
        ("patch", "Invoices(1)/LineItems/$each", {"quantity": 1}, 405),
        ("delete", "Invoices(1)/Payments/$each", None, 405),
        ("post", "Invoices(1)/Payments/$each/Reverse", {"reason": "x"}, 405),
        ("post", "Clients/$each", {}, 405),
        ("put", "Clients/$each", {}, 405),
        ("patch", "Users/$each", {}, 405),
        ("delete", "Clients/$filter(name eq 'A')", None, 405),
    ],
)
def test_what_is_no_change_of_members(
    admin: Api, method: str, address: str, body: Any, status: int
) -> None:
    make(admin, name="A")
    arguments = [] if method == "delete" else [body]
    answer = getattr(admin, method)(f"/odata/{address}", *arguments)
    assert answer.status_code == status, answer.text
    assert names(admin) == ["A"]


def test_the_rights_of_each_member_are_asked_for(sign_in: Callable[..., Api], admin: Api) -> None:
    sales = sign_in("Sales")
    for api, name in ((sales, "Mine"), (admin, "Theirs")):
        assert api.post("/odata/Leads", {"lastName": name}).status_code == 201
    answer = sales.patch("/odata/Leads/$each", {"jobTitle": "x"})
    assert answer.status_code == 403
    assert admin.get("/odata/Leads/$count?$filter=jobTitle eq 'x'").text == "0"
    mine = "/odata/Leads/$filter(lastName eq 'Mine')/$each"
    assert sales.patch(mine, {"jobTitle": "x"}).status_code == 204
