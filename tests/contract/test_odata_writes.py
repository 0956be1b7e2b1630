"""Writes through OData as the contract has them (P4, P8, P9, P10, section 9), over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from tests.contract.conftest import Api, statuses
from tests.contract.records import address, fields, make, read


@pytest.fixture
def acme(admin: Api) -> int:
    return make(admin, "Clients", name="ACME", email="office@acme.example", externalId="erp-1")


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
    changed = admin.patch(f"{address(answer)}?$select=status", {"status": "Inactive"})
    assert {name for name in changed.json if not name.startswith("@")} == {"status"}


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
    assert admin.get(address(created)).json["name"] == "x"


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
    assert fields(answer) == {"LineItems[0].quantity", "LineItems[1].x"}


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
        ("POST", f"Clients({acme})"), ("PUT", "Clients"), ("PATCH", "Clients"), ("DELETE", ""),
        ("POST", "$metadata"), ("PATCH", "Users(1)"), ("PUT", f"Clients({acme})/number"),
        ("POST", "Users"),
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
    for missing in ("Clients(999999)", "Clients(number='C-999999')"):
        assert admin.patch(f"/odata/{missing}", {"name": "x"}).status_code == 404
    assert admin.get("/odata/Clients/$count").text == "2"


@pytest.mark.parametrize("as_delta", [False, True], ids=["by address", "in a delta"])
def test_upserts_at_once_make_one(
    admin: Api, at_once: Callable[..., list[Any]], as_delta: bool
) -> None:
    """None of them is told that the key is taken: it was to be made or changed, whichever."""
    newer = {"OData-Version": "4.01"}

    def upsert(api: Api, number: int) -> Any:
        key, name = f"erp-{number % 4}", f"Name {number}"
        if as_delta:
            items = {"value": [{"externalId": key, "name": name}]}
            return api.patch("/odata/Clients", items, headers=newer)
        return api.patch(f"/odata/Clients(externalId='{key}')", {"name": name})

    answers = at_once(upsert, 32)
    expected = {200: 32} if as_delta else {201: 4, 200: 28}
    assert statuses(answers) == expected, answers[-1].text
    assert admin.get("/odata/Clients/$count").text == "4"


def test_custom_fields_are_merged(admin: Api, acme: int) -> None:
    path = f"/odata/Clients({acme})"
    admin.patch(path, {"customFields": {"a": 1.10, "b": {"c": [1, None]}}})
    answer = admin.patch(path, {"customFields": {"a": None, "d": "x"}})
    assert answer.json["customFields"] == {"b": {"c": [1, None]}, "d": "x"}
    inside = f"{path}/customFields/b/c"
    assert admin.get(inside).json["value"] == [1, None]
    for refused in (admin.put(inside, {"value": 1}), admin.delete(inside)):
        assert (refused.status_code, "GET" in refused.headers["Allow"]) == (405, True)
    assert (
        admin.client.options(inside, headers=admin.headers).headers["Allow"] == "GET, HEAD, OPTIONS"
    )
    assert admin.put(path, {"name": "ACME"}).json["customFields"] == {}


def _nested(depth: int) -> Any:
    value: Any = 1
    for number in range(depth):
        value = {"a": value} if number % 2 else [value]
    return {"a": value}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "must be an object"),
        (_nested(25), "must be nested at most 20 deep"),
        ({"a": "x" * 21_000}, "must have at most 20 KB as JSON"),
        ({"a": "x\0y"}, None),
        ({"a\0": "x"}, None),
    ],
    ids=["list", "deep", "long", "NUL", "NUL in a name"],
)
def test_custom_fields_that_cannot_be_kept_are_refused(
    admin: Api, given: Any, words: str | None
) -> None:
    answer = admin.post("/odata/Clients", {"name": "ACME", "customFields": given})
    assert answer.status_code == 400, answer.text
    (detail,) = answer.json["error"]["details"]
    assert detail["field"].startswith("customFields")
    assert words is None or detail["message"] == words


@pytest.mark.parametrize(
    ("number", "status"),
    [("1" + "0" * 30, 201), ("1e99", 201), ("-1e-90", 201), ("1e100", 400), ("-1e-400", 400),
     ("1" + "0" * 400, 400)],
    ids=lambda value: str(value)[:8],
)  # fmt: skip
def test_a_number_in_custom_fields_can_be_sent_back(admin: Api, number: str, status: int) -> None:
    body = f'{{"name":"ACME","customFields":{{"a":{number}}}}}'
    headers = {**admin.headers, "Content-Type": "application/json"}
    answer = admin.client.post("/odata/Clients", data=body, headers=headers)
    assert answer.status_code == status, answer.text
    if status == 201:
        path = f"/odata/Clients({answer.json['id']})"
        read_back = admin.get(path)
        assert read_back.json["customFields"]["a"] == Decimal(number)
        again = admin.client.put(path, data=read_back.data, headers=headers)
        assert again.status_code == 200, again.text
        assert again.json["customFields"]["a"] == Decimal(number)


def test_priority_by_name_number_and_prefix(admin: Api) -> None:
    for value in ("High", 2, "2", "BusinessPlatform.Priority'High'"):
        answer = admin.post("/odata/Tasks", {"title": "x", "priority": value})
        assert answer.json["priority"] == "High", answer.text
    assert fields(admin.post("/odata/Tasks", {"title": "x", "priority": "high"})) == {"priority"}


# --- options that a write does not take -----------------------------------------------------------


@pytest.mark.parametrize("option", ["$filter=false", "$top=1", "$select=id", "FILTER=1"])
def test_a_deletion_takes_no_options(admin: Api, acme: int, option: str) -> None:
    contact = make(admin, "Contacts", lastName="x", clientId=acme)
    for path in (
        f"Clients({acme})",
        f"Clients({acme})/phone",
        f"Contacts({contact})/Client/$ref",
        f"Clients({acme})/Contacts/$ref?$id=Contacts({contact})",
    ):
        answer = admin.delete(f"/odata/{path}{'&' if '?' in path else '?'}{option}")
        assert answer.status_code == 400, answer.text
        error = answer.json["error"]
        assert (error["code"], error["position"]) == ("INVALID_QUERY", 0)
        assert "is not allowed on this resource" in error["message"]
    assert admin.get(f"/odata/Clients({acme})/Contacts/$count").text == "1"
    assert admin.delete(f"/odata/Contacts({contact})?$format=json&mine=1").status_code == 204


@pytest.mark.parametrize("minimal", [True, False])
def test_a_change_takes_only_what_shapes_its_answer(admin: Api, acme: int, minimal: bool) -> None:
    headers = {"Prefer": "return=minimal"} if minimal else {}
    path = f"/odata/Clients({acme})"
    body = {"name": "other"}
    for answer in (
        admin.patch(f"{path}?$filter=false", body, headers=headers),
        admin.put(f"{path}?$top=1", body, headers=headers),
        admin.post("/odata/Clients?$count=true", body, headers=headers),
        admin.put(f"{path}/name?$filter=false", {"value": "other"}, headers=headers),
        admin.patch("/odata/Clients?$filter=false", {"value": [body]}, headers=headers),
    ):
        assert answer.status_code == 400, answer.text
    assert admin.get("/odata/Clients?$select=name").json["value"][0]["name"] == "ACME"
    assert admin.get("/odata/Clients/$count").text == "1"
    shaped = admin.patch(f"{path}?$select=name&$expand=Contacts", body, headers=headers)
    assert shaped.status_code == (204 if minimal else 200)


@pytest.mark.parametrize("name", ["@type", "@odata.type"])
def test_the_type_of_a_complex_value_is_the_declared_one(admin: Api, name: str) -> None:
    right = {name: "#BusinessPlatform.Address", "city": "Bonn"}
    assert admin.post("/odata/Clients", {"name": "x", "billingAddress": right}).status_code == 201
    wrong = {name: "#BusinessPlatform.PartySnapshot", "city": "Bonn"}
    answer = admin.post("/odata/Clients", {"name": "x", "billingAddress": wrong})
    assert answer.status_code == 400, answer.text
    assert fields(answer) == {f"billingAddress.{name}"}


def test_a_single_property_has_nothing_beside_its_value(admin: Api, acme: int) -> None:
    path = f"/odata/Clients({acme})"
    body = {"value": "x", "@odata.context": "y", "more": 1}
    for answer in (admin.put(f"{path}/industry", body), admin.post(f"{path}/tags", body)):
        assert answer.status_code == 400, answer.text
        assert fields(answer) == {"more"}
    lenient = admin.put(f"{path}/industry", body, headers={"Prefer": "handling=lenient"})
    assert lenient.status_code == 204
    assert admin.get(f"{path}?$select=industry,tags").json["industry"] == "x"


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


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("type", "#BusinessPlatform.Contact"),
        ("id", "Contacts(1)"),
        ("etag", 'W/"1"'),
        ("context", "$metadata#Contacts/$entity"),
        ("editLink", "Contacts(1)"),
    ],
)
def test_a_body_of_4_0_has_control_information_by_its_names(
    admin: Api, name: str, value: str, nested: bool
) -> None:
    """JSON Format 4.5: the names without ``odata.`` came with 4.01."""
    admin.post("/odata/Contacts", {"lastName": "Doe"})
    for prefix in ("@", "@odata."):
        contact = {f"{prefix}{name}": value, "lastName": "Doe"}
        body = {"name": "ACME", "Contacts": [contact]} if nested else contact
        path = "/odata/Clients" if nested else "/odata/Contacts"
        for version, status in (("4.0", 201 if "odata" in prefix else 400), ("4.01", 201)):
            headers = {"OData-Version": version}
            answer = admin.post(path, body, headers=headers)
            if nested and name in ("id", "etag") and answer.status_code != 400:
                continue  # what they mean there is tried elsewhere
            assert answer.status_code == status, answer.text


def test_a_relation_is_bound_by_the_name_of_its_version(admin: Api) -> None:
    admin.post("/odata/Clients", {"name": "ACME"})
    for version, name, status in (
        ("4.0", "Client@odata.bind", 201), ("4.0", "Client@bind", 400),
        ("4.01", "Client@odata.bind", 201), ("4.01", "Client@bind", 201),
    ):  # fmt: skip
        body = {"lastName": "Doe", name: "Clients(1)"}
        answer = admin.post("/odata/Contacts", body, headers={"OData-Version": version})
        assert answer.status_code == status, answer.text
