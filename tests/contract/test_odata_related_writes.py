"""Writes through OData along relations: bindings, references, deep bodies, lines of invoices."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.conftest import Api
from tests.contract.records import address, fields, make, read

ODATA_401 = {"OData-Version": "4.01", "OData-MaxVersion": "4.01"}


@pytest.fixture
def acme(admin: Api) -> int:
    return make(admin, "Clients", name="ACME", email="office@acme.example", externalId="erp-1")


# --- relations ------------------------------------------------------------------------------------


def test_binding_in_both_forms(admin: Api, acme: int) -> None:
    for body in (
        {"Client@odata.bind": f"Clients({acme})"},
        {"Client@odata.bind": "Clients(externalId='erp-1')"},
        {"Client": {"@id": f"Clients({acme})"}},
        {"Client": {"@odata.id": f"http://localhost/odata/Clients({acme})"}},
    ):
        answer = admin.post("/odata/Contacts", {"lastName": "x", **body}, headers=ODATA_401)
        assert answer.json["clientId"] == acme, answer.text


def test_along_navigation(admin: Api, acme: int) -> None:
    made = admin.post(f"/odata/Clients({acme})/Contacts", {"lastName": "Lovelace"})
    assert (made.status_code, made.json["clientId"]) == (201, acme)
    contact = f"/odata/Clients({acme})/Contacts({made.json['id']})"
    assert admin.patch(contact, {"lastName": "Byron"}).json["lastName"] == "Byron"
    assert (
        admin.patch(f"/odata/Contacts({made.json['id']})/Client", {"notes": "x"}).json["notes"]
        == "x"
    )
    assert admin.post("/odata/Clients(999999)/Contacts", {"lastName": "x"}).status_code == 404
    assert admin.post("/odata/Invoices(999999)/LineItems", {}).status_code == 404
    other = make(admin, "Clients", name="Other")
    elsewhere = f"/odata/Clients({other})/Contacts({made.json['id']})"
    assert admin.patch(elsewhere, {"lastName": "x"}).status_code == 404
    assert admin.delete(elsewhere).status_code == 404
    assert admin.delete(contact).status_code == 204


@pytest.mark.parametrize("address", ["Contacts({})/Client/name", "Clients(externalId='no')/name"])
def test_a_property_of_nothing_is_404(admin: Api, address: str) -> None:
    alone = make(admin, "Contacts", lastName="Alone")
    for send in (admin.put, admin.patch):
        answer = send("/odata/" + address.format(alone), {"value": "x"})
        found = (answer.status_code, answer.json["error"]["message"])
        assert found == (404, "There is no such Client.")


def test_a_body_cannot_lead_out_of_its_place(admin: Api, acme: int) -> None:
    other = make(admin, "Clients", name="Other")
    bind = {"Client@odata.bind": f"Clients({other})"}
    answer = admin.post(f"/odata/Clients({acme})/Contacts", {"lastName": "Lovelace", **bind})
    assert (answer.status_code, fields(answer)) == (400, {"Client"}), answer.text
    fresh = {"lastName": "Lovelace", "Client": {"name": "Made on the way"}}
    assert admin.post(f"/odata/Clients({acme})/Contacts", fresh).status_code == 400
    assert admin.get("/odata/Clients/$count?$filter=startswith(name,'Made')").text == "0"
    deep = {"name": "Third", "Contacts": [{"lastName": "Byron", **bind}]}
    answer = admin.post("/odata/Clients", deep)
    assert (answer.status_code, fields(answer)) == (400, {"Contacts[0].Client"}), answer.text
    assert admin.get("/odata/Contacts/$count").text == "0"
    same = {"lastName": "Lovelace", "Client@odata.bind": f"Clients({acme})"}
    made = admin.post(f"/odata/Clients({acme})/Contacts", same)
    assert (made.status_code, made.json["clientId"]) == (201, acme)


def test_what_the_place_overrules_is_looked_at_too(admin: Api) -> None:
    lead = make(admin, "Leads", lastName="Lovelace")
    body = {"name": "a.txt", "fileName": "a.txt", "entityType": "AAA"}
    answer = admin.post(f"/odata/Leads({lead})/Documents", body)
    assert answer.status_code == 400, answer.text
    (detail,) = answer.json["error"]["details"]
    assert (detail["target"], detail["message"][:16]) == ("entityType", "must be one of C")
    nested = {"lastName": "Hopper", "Documents": [body]}
    details = admin.post("/odata/Leads", nested).json["error"]["details"]
    assert [one["target"] for one in details] == ["Documents[0].entityType"]


def test_the_place_overrules_what_a_body_says(admin: Api) -> None:
    lead = make(admin, "Leads", lastName="Lovelace")
    body = {"name": "a.txt", "fileName": "a.txt", "entityType": "Client", "entityId": 7}
    made = admin.post(f"/odata/Leads({lead})/Documents", body)
    assert (made.json["entityType"], made.json["entityId"]) == ("Lead", lead), made.text


@pytest.mark.parametrize("key", ["abc", 2**63, 1.5, True, [1]])
def test_a_key_that_is_none_makes_no_entity(admin: Api, acme: int, key: Any) -> None:
    make(admin, "Contacts", lastName="Lovelace", clientId=acme)
    item = {"id": key, "lastName": "Byron"}
    for path, body, place in (
        (f"Clients({acme})", {"Contacts": [item]}, "Contacts[0].id"),
        (f"Clients({acme})", {"Contacts@delta": [item]}, "Contacts[0].id"),
        ("Contacts", {"value": [item]}, "value[0].id"),
    ):
        answer = admin.patch(f"/odata/{path}", body, headers=ODATA_401)
        assert answer.status_code == 400, answer.text
        assert [one["target"] for one in answer.json["error"]["details"]] == [place]
    assert [one["lastName"] for one in read(admin, "Contacts")["value"]] == ["Lovelace"]


def test_null_is_the_key_of_what_is_new(admin: Api, acme: int) -> None:
    first, second = ({"id": None, "lastName": name} for name in ("Lovelace", "Byron"))
    changed = admin.patch(f"/odata/Clients({acme})", {"Contacts": [first]}, headers=ODATA_401)
    assert changed.status_code == 200, changed.text
    assert admin.patch("/odata/Contacts", {"value": [second]}).status_code == 200
    found = read(admin, "Contacts?$orderby=id")["value"]
    assert [(one["lastName"], one["clientId"]) for one in found] == [
        ("Lovelace", acme), ("Byron", None)
    ]  # fmt: skip


def test_keys_of_what_is_nested_may_be_text_where_numbers_may(admin: Api, acme: int) -> None:
    contact = make(admin, "Contacts", lastName="Lovelace", clientId=acme)
    headers = {"Content-Type": "application/json;IEEE754Compatible=true"}
    for path, name, body in (
        (f"Clients({acme})", "Byron", {"Contacts": [{"id": str(contact), "lastName": "Byron"}]}),
        ("Contacts", "King", {"value": [{"id": str(contact), "lastName": "King"}]}),
    ):
        answer = admin.patch(f"/odata/{path}", body, headers=headers)
        assert answer.status_code == 200, answer.text
        found = read(admin, "Contacts")["value"]
        assert [(one["id"], one["lastName"]) for one in found] == [(contact, name)]


def test_references(admin: Api, acme: int) -> None:
    contact = make(admin, "Contacts", lastName="Lovelace")
    add = f"/odata/Clients({acme})/Contacts/$ref"
    single = f"/odata/Contacts({contact})/Client/$ref"
    link = {"@odata.id": f"Contacts({contact})"}

    def client_of_contact() -> Any:
        return read(admin, f"Contacts({contact})")["clientId"]

    for remove in (
        f"/odata/Clients({acme})/Contacts({contact})/$ref",
        f"{add}?$id=Contacts({contact})",
        f"{add}?$id=http://localhost/odata/Contacts({contact})",
        single,
    ):
        assert admin.post(add, link).status_code == 204
        assert client_of_contact() == acme
        assert admin.delete(remove).status_code == 204
        assert client_of_contact() is None
    assert admin.put(single, {"@odata.id": f"Clients({acme})"}).status_code == 204
    assert client_of_contact() == acme
    assert admin.post(add, {"@odata.id": "Contacts(999999)"}).status_code in (400, 404)
    assert admin.post("/odata/Clients(999999)/Contacts/$ref", link).status_code == 404
    invoice = make(admin, "Invoices", clientId=acme)
    needed = f"/odata/Invoices({invoice})/Client/$ref"
    assert fields(admin.delete(needed)) == {"clientId"}


def test_single_properties(admin: Api, acme: int) -> None:
    path = f"/odata/Clients({acme})"
    assert admin.put(f"{path}/name", {"value": "Other"}).status_code == 204
    assert admin.delete(f"{path}/email").status_code == 204
    assert admin.put(f"{path}/billingAddress", {"city": "Bonn"}).status_code == 204
    assert admin.put(f"{path}/billingAddress/street", {"value": "Main 1"}).status_code == 204
    assert admin.put(f"{path}/tags", {"value": ["a"]}).status_code == 204
    raw = admin.client.put(
        f"{path}/revenue/$value",
        data="12.5",
        headers={**admin.headers, "Content-Type": "text/plain"},
    )
    assert raw.status_code == 204, raw.text
    found = read(admin, f"Clients({acme})")
    assert (found["name"], found["email"], found["tags"]) == ("Other", None, ["a"])
    assert (found["billingAddress"]["city"], found["billingAddress"]["street"]) == (
        "Bonn",
        "Main 1",
    )
    assert found["revenue"] == 12.5
    assert admin.delete(f"{path}/name").status_code == 405
    assert fields(admin.put(f"{path}/name", {"value": None})) == {"name"}


def test_deep_update_replaces_the_related_set(admin: Api, acme: int) -> None:
    first = make(admin, "Contacts", lastName="First", clientId=acme)
    second = make(admin, "Contacts", lastName="Second", clientId=acme)
    answer = admin.patch(
        f"/odata/Clients({acme})",
        {"Contacts": [{"id": first, "firstName": "Ada"}, {"lastName": "Third"}]},
        headers=ODATA_401,
    )
    assert answer.status_code == 200, answer.text
    contacts = read(admin, f"Clients({acme})/Contacts?$orderby=id")["value"]
    names = [(row["firstName"], row["lastName"]) for row in contacts]
    assert names == [("Ada", "First"), (None, "Third")]
    assert read(admin, f"Contacts({second})")["clientId"] is None


def test_a_deep_insert_is_all_or_nothing(admin: Api) -> None:
    body = {"name": "ACME", "Contacts": [{"lastName": "x"}, {"lastName": "y", "email": "nonsense"}]}
    assert fields(admin.post("/odata/Clients", body)) == {"Contacts[1].email"}
    for name in ("Clients", "Contacts"):
        assert admin.get(f"/odata/{name}/$count").text == "0"


def test_deep_insert_over_three_levels(admin: Api) -> None:
    answer = admin.post(
        "/odata/Clients",
        {
            "name": "ACME",
            "Projects": [
                {
                    "name": "Shop",
                    "Tasks": [{"title": "Plan", "Subtasks": [{"title": "Ask"}, {"title": "Draw"}]}],
                }
            ],
        },
    )
    assert answer.status_code == 201, answer.text
    (task,) = answer.json["Projects"][0]["Tasks"]
    assert [row["title"] for row in task["Subtasks"]] == ["Ask", "Draw"]


# --- lines of an invoice --------------------------------------------------------------------------


@pytest.fixture
def invoice(admin: Api, acme: int) -> int:
    lines = [
        {"description": "A", "quantity": 2, "unitPrice": 10, "taxRate": 19},
        {"description": "B", "unitPrice": 5, "taxRate": 19},
    ]
    return make(admin, "Invoices", clientId=acme, LineItems=lines)


def lines_of(admin: Api, invoice: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = read(admin, f"Invoices({invoice})/LineItems?$orderby=id")["value"]
    return rows


def test_lines_are_replaced_as_a_whole(admin: Api, invoice: int) -> None:
    answer = admin.patch(
        f"/odata/Invoices({invoice})",
        {"LineItems": [{"description": "C", "unitPrice": 7, "taxRate": 19}]},
        headers={"OData-Version": "4.0"},
    )
    assert answer.status_code == 200, answer.text
    assert answer.json["subtotal"] == 7
    assert [line["description"] for line in lines_of(admin, invoice)] == ["C"]


def test_a_line_named_by_its_key_keeps_what_is_left_out(admin: Api, invoice: int) -> None:
    first, second = lines_of(admin, invoice)
    admin.patch(
        f"/odata/Invoices({invoice})",
        {"LineItems": [{"id": first["id"], "quantity": 3}, {"id": second["id"]}]},
    )
    found = [
        (line["description"], line["quantity"], line["unitPrice"])
        for line in lines_of(admin, invoice)
    ]
    assert found == [("A", 3, 10), ("B", 1, 5)]


def test_a_delta_of_lines_keeps_the_others(admin: Api, invoice: int) -> None:
    address = f"/odata/Invoices({invoice})"
    lines = admin.get(f"{address}/LineItems").json["value"]
    delta = [{"description": "New", "quantity": 1, "unitPrice": 7}]
    delta.append({"@removed": {"reason": "deleted"}, "id": lines[0]["id"]})
    answer = admin.patch(f"{address}?$expand=LineItems", {"LineItems@delta": delta})
    assert answer.status_code == 200, answer.text
    expected = [line["description"] for line in lines[1:]] + ["New"]
    assert [line["description"] for line in answer.json["LineItems"]] == expected


def test_lines_that_stay_keep_their_keys(admin: Api, invoice: int) -> None:
    address = f"/odata/Invoices({invoice})/LineItems"
    first, second = (line["id"] for line in lines_of(admin, invoice))
    third = admin.post(address, {"description": "C", "unitPrice": 1, "taxRate": 19}).json["id"]
    changed = admin.patch(f"{address}({second})", {"quantity": 3})
    assert (changed.status_code, changed.json["id"]) == (200, second)
    admin.patch(f"/odata/Invoices({invoice})", {"discountPercent": 10})
    assert [line["id"] for line in lines_of(admin, invoice)] == [first, second, third]
    assert admin.delete(f"{address}({second})").status_code == 204
    fourth = admin.post(address, {"description": "D", "unitPrice": 2, "taxRate": 19}).json["id"]
    found = {
        line["id"]: (line["description"], line["position"]) for line in lines_of(admin, invoice)
    }
    assert found == {first: ("A", 1), third: ("C", 3), fourth: ("D", 4)}
    assert read(admin, f"Invoices({invoice})")["subtotal"] == 23
    put = {"description": "E", "unitPrice": 0, "taxRate": 19}
    assert admin.post(f"{address}?$index=1", put).status_code == 201
    kept, *new = (line["id"] for line in lines_of(admin, invoice))
    assert (kept, len(new)) == (first, 3)
    assert min(new) > fourth  # no number names another line than before
    # 10 % off, and 19 % on it.
    assert str(read(admin, f"Invoices({invoice})")["total"]) == "24.63"


def test_single_lines(admin: Api, invoice: int) -> None:
    made = admin.post(
        f"/odata/Invoices({invoice})/LineItems", {"description": "C", "unitPrice": 1, "taxRate": 19}
    )
    assert made.status_code == 201, made.text
    assert admin.get(address(made)).json["description"] == "C"
    changed = admin.patch(address(made), {"quantity": 4})
    assert (changed.status_code, changed.json["lineNet"]) == (200, 4)
    assert read(admin, f"Invoices({invoice})")["subtotal"] == 29
    last = lines_of(admin, invoice)[-1]
    assert admin.delete(f"/odata/Invoices({invoice})/LineItems({last['id']})").status_code == 204
    assert read(admin, f"Invoices({invoice})")["subtotal"] == 25
    bad = admin.post(f"/odata/Invoices({invoice})/LineItems", {"unitPrice": 1})
    assert fields(bad) == {"description"}


def test_a_line_has_no_tag_of_its_own(admin: Api, invoice: int) -> None:
    path = f"/odata/Invoices({invoice})/LineItems"
    before = lines_of(admin, invoice)
    line = f"{path}({before[0]['id']})"
    for condition in ({"If-Match": 'W/"1"'}, {"If-None-Match": "*"}):
        refused = admin.patch(line, {"quantity": 9}, headers=condition)
        assert refused.status_code == 412, refused.text
    assert admin.delete(line, headers={"If-Match": 'W/"1"'}).status_code == 412
    new = {"description": "C", "unitPrice": 1, "taxRate": 19}
    assert admin.post(path, new, headers={"If-Match": 'W/"1"'}).status_code == 412
    assert lines_of(admin, invoice) == before
    assert admin.patch(line, {"quantity": 9}, headers={"If-Match": "*"}).status_code == 200


# --- comments -------------------------------------------------------------------------------------


def closed_ticket(api: Api) -> int:
    key = make(api, "Tickets", subject="Printer", requesterEmail="a@b.example")
    me = read(api, "Me")["id"]
    for change in ({"assigneeId": me}, {"status": "Solved"}, {"status": "Closed"}):
        answer = api.patch(f"/odata/Tickets({key})", change)
        assert answer.status_code == 200, answer.text
    return key


@pytest.mark.parametrize("preference", [{}, {"Prefer": "return=minimal"}])
def test_a_comment_on_a_closed_ticket_is_told_where_it_is(
    admin: Api, preference: dict[str, str]
) -> None:
    closed = closed_ticket(admin)
    made = admin.post(f"/odata/Tickets({closed})/Comments", {"body": "Again!"}, headers=preference)
    assert made.status_code == (204 if preference else 201), made.text
    assert made.headers["OData-EntityId"] == made.headers["Location"]
    shown = admin.get(address(made))
    assert (shown.status_code, shown.json["body"]) == (200, "Again!")
    assert shown.json["ticketId"] != closed
    if not preference:
        assert {**made.json, "@odata.context": ""} == {**shown.json, "@odata.context": ""}
        assert f"Tickets({shown.json['ticketId']})" in made.json["@odata.context"]
    assert read(admin, f"Tickets({closed})/Comments")["value"] == []


def test_a_batch_finds_a_comment_on_a_closed_ticket(admin: Api) -> None:
    closed = closed_ticket(admin)
    body = {"requests": [
        {"id": "1", "method": "post", "url": f"Tickets({closed})/Comments", "body": {"body": "x"}},
        {"id": "2", "dependsOn": ["1"], "method": "get", "url": "$1"},
    ]}  # fmt: skip
    first, second = admin.post("/odata/$batch", body).json["responses"]
    assert (first["status"], second["status"]) == (201, 200)
    assert second["body"]["id"] == first["body"]["id"]
