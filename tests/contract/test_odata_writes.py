"""Writes through OData as the contract has them (P4, P8, P9, P10, section 9), over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.conftest import Api

ODATA_401 = {"OData-Version": "4.01", "OData-MaxVersion": "4.01"}


@pytest.fixture
def acme(admin: Api) -> int:
    return make(admin, "Clients", name="ACME", email="office@acme.example", externalId="erp-1")


def make(api: Api, path: str, **body: Any) -> int:
    answer = api.post(f"/odata/{path}", body)
    assert answer.status_code == 201, answer.text
    key: int = answer.json["id"]
    return key


def read(api: Api, path: str) -> dict[str, Any]:
    answer = api.get(f"/odata/{path}")
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json
    return body


def fields(answer: Any) -> set[str]:
    assert answer.status_code == 400, answer.text
    error = answer.json["error"]
    assert error["code"] == "VALIDATION_ERROR"
    for detail in error["details"]:
        assert set(detail) == {"code", "target", "field", "message"}
    return {detail["target"] for detail in error["details"]}


# --- create ---------------------------------------------------------------------------------------


def test_create_answers_with_the_entity_and_its_address(admin: Api) -> None:
    answer = admin.post("/odata/Clients", {"name": "ACME"})
    assert answer.status_code == 201
    assert answer.headers["OData-Version"] == "4.0"
    assert answer.json["@odata.context"].endswith("$metadata#Clients/$entity")
    assert answer.headers["ETag"] == answer.json["@odata.etag"]
    location = answer.headers["Location"]
    assert location == answer.headers["OData-EntityId"]
    assert location.endswith(f"/odata/Clients({answer.json['id']})")
    again = admin.get(location[location.index("/odata") :])
    assert again.json == answer.json
    assert again.headers["ETag"] == answer.headers["ETag"]


def test_the_answer_is_shaped_by_select_and_expand(admin: Api) -> None:
    answer = admin.post(
        "/odata/Clients?$select=name&$expand=Contacts($select=lastName)",
        {"name": "ACME", "Contacts": [{"lastName": "Lovelace"}]},
    )
    assert answer.status_code == 201
    named = {name for name in answer.json if not name.startswith("@")}
    assert named == {"name", "Contacts"}
    (contact,) = answer.json["Contacts"]
    assert contact["lastName"] == "Lovelace"
    changed = admin.patch(f"{_path(answer)}?$select=status", {"status": "Inactive"})
    assert {name for name in changed.json if not name.startswith("@")} == {"status"}


def _path(answer: Any) -> str:
    location: str = answer.headers["Location"]
    return location[location.index("/odata") :]


def test_a_bad_shape_creates_nothing(admin: Api) -> None:
    for query in ("$select=nothing", "$expand=Nothing", "$filtre=x", "$top=1"):
        answer = admin.post(f"/odata/Clients?{query}", {"name": "ACME"})
        assert (answer.status_code, answer.json["error"]["code"]) == (400, "INVALID_QUERY"), query
    assert admin.get("/odata/Clients/$count").text == "0"


@pytest.mark.parametrize("prefer", ["return=minimal", "odata.continue-on-error, return=minimal"])
def test_minimal_answers(admin: Api, acme: int, prefer: str) -> None:
    headers = {"Prefer": prefer}
    created = admin.post("/odata/Clients", {"name": "x"}, headers=headers)
    changed = admin.patch(f"/odata/Clients({acme})", {"name": "x"}, headers=headers)
    for answer in (created, changed):
        assert (answer.status_code, answer.data) == (204, b"")
        assert answer.headers["Preference-Applied"] == "return=minimal"
        assert answer.headers["OData-EntityId"].startswith("http")
    assert admin.get(_path(created)).json["name"] == "x"


def test_names_of_control_information_follow_the_version(admin: Api) -> None:
    answer = admin.post("/odata/Clients", {"name": "x"}, headers={"OData-MaxVersion": "4.01"})
    assert answer.headers["OData-Version"] == "4.01"
    assert "@context" in answer.json
    assert "@odata.context" not in answer.json


def test_what_was_read_can_be_sent_back(admin: Api, acme: int) -> None:
    make(admin, "Contacts", lastName="Lovelace", clientId=acme)
    whole = read(admin, f"Clients({acme})?$expand=Contacts,Owner,Invoices,Tasks")
    for method in (admin.put, admin.patch):
        answer = method(f"/odata/Clients({acme})", whole)
        assert answer.status_code == 200, answer.text
        assert read(admin, f"Clients({acme})?$expand=Contacts,Owner,Invoices,Tasks") == whole


# --- bad bodies -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, {"name"}),
        ({"name": None}, {"name"}),
        ({"name": 5}, {"name"}),
        ({"name": "x", "revenue": "1"}, {"revenue"}),
        ({"name": "x", "revenue": 1.005}, {"revenue"}),
        ({"name": "x", "employeeCount": 1.5}, {"employeeCount"}),
        ({"name": "x", "nothing": 1, "Name": 2}, {"nothing", "Name"}),
        ({"name": "x", "billingAddress": {"country": "Nowhere"}}, {"billingAddress.country"}),
        ({"name": "x", "billingAddress": {"planet": "x"}}, {"billingAddress.planet"}),
        ({"name": "x", "tags": ["a", 5]}, {"tags[1]"}),
        ({"name": "x", "Contacts": [{"firstName": "y"}]}, {"Contacts[0].lastName"}),
        ({"name": "x", "Contacts": [{"lastName": "y", "role": "Z"}]}, {"Contacts[0].role"}),
        ({"name": "x", "Contacts": {"lastName": "y"}}, {"Contacts"}),
        ({"name": "x", "Owner@odata.bind": "Users(999)"}, {"ownerId"}),
        ({"name": "x", "Owner@odata.bind": "Nothing(1)"}, {"Owner@odata.bind"}),
        ({"name": "x", "ownerId": 2**63}, {"ownerId"}),
    ],
)
def test_every_problem_has_its_place(admin: Api, body: Any, expected: set[str]) -> None:
    assert fields(admin.post("/odata/Clients", body)) == expected
    assert admin.get("/odata/Clients/$count").text == "0"
    assert admin.get("/odata/Contacts/$count").text == "0"


def test_problems_of_lines_have_the_names_of_the_body(admin: Api, acme: int) -> None:
    lines = [{"description": "x", "unitPrice": 1}, {"description": "y", "quantity": 0}]
    answer = admin.post("/odata/Invoices", {"clientId": acme, "LineItems": lines})
    assert "LineItems[1].unitPrice" in fields(answer)
    answer = admin.post(
        "/odata/Invoices",
        {"clientId": acme, "LineItems": [{**lines[0], "quantity": 0}, {**lines[0], "x": 1}]},
    )
    assert fields(answer) == {"LineItems[1].x"}


@pytest.mark.parametrize(
    "raw", [b"{", b"[]", b"5", b'"x"', b"null", b"", b'{"name":"a","name":"b"}']
)
def test_no_object(admin: Api, raw: bytes) -> None:
    headers = {**admin.headers, "Content-Type": "application/json"}
    answer = admin.client.post("/odata/Clients", data=raw, headers=headers)
    assert answer.status_code == 400
    assert answer.json["error"]["message"]


@pytest.mark.parametrize(
    ("kind", "status"), [("text/plain", 415), ("application/xml", 415), ("", 415)]
)
def test_media_types(admin: Api, kind: str, status: int) -> None:
    headers = {**admin.headers, "Content-Type": kind}
    answer = admin.client.post("/odata/Clients", data=b'{"name":"x"}', headers=headers)
    assert answer.status_code == status
    assert "Content-Type" in answer.json["error"]["message"]


def test_unknown_versions(admin: Api) -> None:
    for headers in ({"OData-Version": "5.0"}, {"OData-MaxVersion": "3.0"}):
        answer = admin.post("/odata/Clients", {"name": "x"}, headers=headers)
        assert answer.status_code == 400
    assert admin.get("/odata/Clients/$count").text == "0"


def test_methods_that_an_address_does_not_take(admin: Api, acme: int) -> None:
    for method, path in (
        ("POST", f"Clients({acme})"), ("PATCH", "Clients"), ("DELETE", ""), ("POST", "$metadata"),
        ("PATCH", "Users(1)"), ("PUT", f"Clients({acme})/number"), ("POST", "Users"),
    ):  # fmt: skip
        answer = admin.client.open(f"/odata/{path}", method=method, headers=admin.headers, json={})
        assert answer.status_code == 405, (method, path)
        assert answer.headers["Allow"]
        assert answer.json["error"]["code"] == "METHOD_NOT_ALLOWED"


# --- change ---------------------------------------------------------------------------------------


def test_numbers_as_strings_by_agreement(admin: Api) -> None:
    headers = {"Content-Type": "application/json;IEEE754Compatible=true",
               "Accept": "application/json;IEEE754Compatible=true"}  # fmt: skip
    answer = admin.client.post(
        "/odata/Clients", data='{"name":"x","revenue":"1234567890123.45"}',
        headers={**admin.headers, **headers},
    )  # fmt: skip
    assert answer.status_code == 201, answer.text
    assert answer.json["revenue"] == "1234567890123.45"


def test_concurrency(admin: Api, acme: int) -> None:
    path = f"/odata/Clients({acme})"
    tag = read(admin, f"Clients({acme})")["@odata.etag"]
    changed = admin.patch(path, {"notes": "x"}, headers={"If-Match": tag})
    assert changed.status_code == 200
    assert changed.headers["ETag"] != tag
    for send in (admin.patch, admin.put):
        stale = send(path, {"name": "y"}, headers={"If-Match": tag})
        assert (stale.status_code, stale.json["error"]["code"]) == (412, "PRECONDITION_FAILED")
    assert admin.delete(path, headers={"If-Match": tag}).status_code == 412
    assert read(admin, f"Clients({acme})")["name"] == "ACME"
    assert admin.delete(path, headers={"If-Match": "*"}).status_code == 204


def test_an_unchanged_record_keeps_its_tag(admin: Api, acme: int) -> None:
    tag = read(admin, f"Clients({acme})")["@odata.etag"]
    assert admin.patch(f"/odata/Clients({acme})", {"name": "ACME"}).headers["ETag"] == tag
    answer = admin.get(f"/odata/Clients({acme})", headers={"If-None-Match": tag})
    assert (answer.status_code, answer.data) == (304, b"")


def test_upsert_by_external_id(admin: Api, acme: int) -> None:
    path = "/odata/Clients(externalId='new')"
    for headers, status in (
        ({"If-Match": "*"}, 412), ({"If-None-Match": "*"}, 201), ({"If-None-Match": "*"}, 412),
        ({}, 200),
    ):  # fmt: skip
        assert admin.patch(path, {"name": "New"}, headers=headers).status_code == status
    assert read(admin, "Clients(externalId='new')")["externalId"] == "new"
    for address in ("Clients(999999)", "Clients(number='C-999999')"):
        assert admin.patch(f"/odata/{address}", {"name": "x"}).status_code == 404
    assert admin.get("/odata/Clients/$count").text == "2"


def test_custom_fields_are_merged(admin: Api, acme: int) -> None:
    path = f"/odata/Clients({acme})"
    admin.patch(path, {"customFields": {"a": 1.10, "b": {"c": [1, None]}}})
    answer = admin.patch(path, {"customFields": {"a": None, "d": "x"}})
    assert answer.json["customFields"] == {"b": {"c": [1, None]}, "d": "x"}
    assert admin.put(path, {"name": "ACME"}).json["customFields"] == {}


def test_priority_by_name_number_and_prefix(admin: Api) -> None:
    for value in ("High", 2, "2", "BusinessPlatform.Priority'High'"):
        answer = admin.post("/odata/Tasks", {"title": "x", "priority": value})
        assert answer.json["priority"] == "High", answer.text
    assert fields(admin.post("/odata/Tasks", {"title": "x", "priority": "high"})) == {"priority"}


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


def test_single_lines(admin: Api, invoice: int) -> None:
    made = admin.post(
        f"/odata/Invoices({invoice})/LineItems", {"description": "C", "unitPrice": 1, "taxRate": 19}
    )
    assert made.status_code == 201, made.text
    assert admin.get(_path(made)).json["description"] == "C"
    changed = admin.patch(_path(made), {"quantity": 4})
    assert (changed.status_code, changed.json["lineNet"]) == (200, 4)
    assert read(admin, f"Invoices({invoice})")["subtotal"] == 29
    last = lines_of(admin, invoice)[-1]
    assert admin.delete(f"/odata/Invoices({invoice})/LineItems({last['id']})").status_code == 204
    assert read(admin, f"Invoices({invoice})")["subtotal"] == 25
    bad = admin.post(f"/odata/Invoices({invoice})/LineItems", {"unitPrice": 1})
    assert fields(bad) == {"description"}


# --- permission -----------------------------------------------------------------------------------


def test_writes_ask_for_permission(sign_in: Any, admin: Api, acme: int) -> None:
    viewer = sign_in("Viewer")
    for answer in (
        viewer.post("/odata/Clients", {"name": "x"}),
        viewer.patch(f"/odata/Clients({acme})", {"name": "x"}),
        viewer.delete(f"/odata/Clients({acme})"),
        viewer.put(f"/odata/Clients({acme})/name", {"value": "x"}),
        viewer.post(f"/odata/Clients({acme})/Contacts", {"lastName": "x"}),
    ):
        assert (answer.status_code, answer.json["error"]["code"]) == (403, "FORBIDDEN")
    support = sign_in("Support")
    body = {"Contacts": [{"lastName": "x"}]}  # may change clients, not make contacts
    assert support.patch(f"/odata/Clients({acme})", body).status_code == 403
    assert admin.get("/odata/Contacts/$count").text == "0"
