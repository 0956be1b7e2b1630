"""``Prefer: include-annotations`` and ``handling``, and what the answer says of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.conftest import Api
from tests.contract.records import make

CURRENCY = "revenue@Measures.ISOCurrency"


@pytest.fixture
def key(admin: Api) -> int:
    body = {"name": "ACME", "revenue": 5, "currency": "CHF"}
    answer = admin.post("/odata/Clients", body)
    assert answer.status_code == 201
    made: int = answer.json["id"]
    return made


def shown(api: Api, query: str, prefer: str) -> tuple[Any, str | None]:
    answer = api.get(f"/odata/{query}", headers={"Prefer": prefer})
    assert answer.status_code == 200, answer.text
    return answer.json, answer.headers.get("Preference-Applied")


# --- include-annotations --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "included"),
    [
        ("*", True),
        ("Measures.*", True),
        ("Org.OData.Measures.V1.*", True),
        ("Measures.ISOCurrency", True),
        ("Org.OData.Measures.V1.ISOCurrency", True),
        ("*,-Measures.*", False),
        ("-*,Measures.ISOCurrency", True),
        ("Measures.*,-Measures.ISOCurrency", False),
        ("-*", False),
        ("-Measures.*", False),
        ("Core.*", False),
        ("*#Other", False),
    ],
)
def test_what_is_asked_for_is_included(admin: Api, key: int, wanted: str, included: bool) -> None:
    prefer = f'odata.include-annotations="{wanted}"'
    entity, applied = shown(admin, f"Clients({key})?$select=name,revenue", prefer)
    assert (entity.get(CURRENCY) == "CHF") is included
    assert applied is not None and applied.startswith("odata.include-annotations=")
    assert wanted in applied


def test_every_amount_of_every_row_has_its_currency(admin: Api, key: int) -> None:
    lines = [{"description": "Work", "unitPrice": 10, "taxRate": 0}]
    made = {"clientId": key, "currency": "USD", "LineItems": lines}
    assert admin.post("/odata/Invoices", made).status_code == 201
    prefer = 'include-annotations="Measures.*",maxpagesize=5'
    query = "Clients?$select=revenue&$expand=Invoices($select=total,amountDue)"
    found, applied = shown(admin, query, prefer)
    (client,) = found["value"]
    assert client[CURRENCY] == "CHF"
    (invoice,) = client["Invoices"]
    assert invoice["total@Measures.ISOCurrency"] == "USD"
    assert invoice["amountDue@Measures.ISOCurrency"] == "USD"
    assert applied == "maxpagesize=5, include-annotations=Measures.*"


def test_what_was_written_comes_back_with_them(admin: Api, key: int) -> None:
    prefer = {"Prefer": 'return=representation,include-annotations="*"'}
    answer = admin.patch(f"/odata/Clients({key})", {"currency": "EUR"}, headers=prefer)
    assert answer.json[CURRENCY] == "EUR"
    assert "return=representation" in answer.headers["Preference-Applied"]
    assert "include-annotations" in answer.headers["Preference-Applied"]


@pytest.mark.parametrize("wanted", ["Measures", "Measures.", "", "*.*", "a b"])
def test_what_is_no_filter_is_ignored(admin: Api, key: int, wanted: str) -> None:
    entity, applied = shown(admin, f"Clients({key})", f'include-annotations="{wanted}"')
    assert CURRENCY not in entity
    assert applied is None


def test_without_the_preference_there_are_none(admin: Api, key: int) -> None:
    assert CURRENCY not in admin.get(f"/odata/Clients({key})").json


# --- handling -------------------------------------------------------------------------------------


def test_lenient_leaves_out_what_is_unknown(admin: Api, key: int) -> None:
    lenient = {"Prefer": "handling=lenient"}
    body = {"name": "Globex", "colour": "red", "Contacts": [{"lastName": "Doe", "hat": 1}]}
    answer = admin.post("/odata/Clients", body, headers=lenient)
    assert answer.status_code == 201, answer.text
    assert answer.headers["Preference-Applied"] == "handling=lenient"
    assert answer.json["Contacts"][0]["lastName"] == "Doe"
    answer = admin.patch(f"/odata/Clients({key})", {"colour": "red", "name": "x"}, headers=lenient)
    assert (answer.status_code, answer.json["name"]) == (200, "x")
    wrong = admin.patch(f"/odata/Clients({key})", {"revenue": "much"}, headers=lenient)
    assert wrong.status_code == 400


def test_strict_refuses_what_would_be_ignored(admin: Api, key: int) -> None:
    strict = {"Prefer": "handling=strict"}
    answer = admin.patch(f"/odata/Clients({key})", {"number": "C-9", "name": "x"}, headers=strict)
    assert answer.status_code == 400
    assert answer.json["error"]["details"][0]["target"] == "number"
    assert admin.patch(f"/odata/Clients({key})", {"number": "C-9"}).status_code == 200
    answer = admin.patch(f"/odata/Clients({key})", {"name": "x"}, headers=strict)
    assert (answer.status_code, answer.headers["Preference-Applied"]) == (200, "handling=strict")
    assert admin.get("/odata/Clients?colour=red").status_code == 200
    assert admin.get("/odata/Clients?colour=red", headers=strict).status_code == 400
    found = admin.get("/odata/Clients?$top=1", headers=strict)
    assert found.headers["Preference-Applied"] == "handling=strict"


def test_what_changed_nothing_is_not_told(admin: Api, key: int) -> None:
    answer = admin.get(f"/odata/Clients({key})", headers={"Prefer": "handling=lenient"})
    assert "Preference-Applied" not in answer.headers
    answer = admin.get(f"/odata/Clients({key})", headers={"Prefer": "handling=whatever"})
    assert "Preference-Applied" not in answer.headers


# --- return, of single properties -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        ("industry", {"value": "Steel"}, "Steel"),
        ("tags", {"value": ["a", "b"]}, ["a", "b"]),
        ("billingAddress/city", {"value": "Bonn"}, "Bonn"),
    ],
)
def test_a_written_property_is_shown_where_it_is_preferred(
    admin: Api, key: int, path: str, body: Any, expected: Any
) -> None:
    address = f"/odata/Clients({key})/{path}"
    answer = admin.put(address, body, headers={"Prefer": "return=representation"})
    assert (answer.status_code, answer.json["value"]) == (200, expected)
    assert answer.headers["Preference-Applied"] == "return=representation"
    assert answer.headers["ETag"] == 'W/"2"'
    again = admin.put(address, body, headers={"Prefer": "return=minimal"})
    assert (again.status_code, again.data) == (204, b"")
    assert again.headers["Preference-Applied"] == "return=minimal"
    plain = admin.put(address, body)
    assert plain.status_code == 204 and "Preference-Applied" not in plain.headers


def test_an_emptied_property_has_nothing_to_show(admin: Api, key: int) -> None:
    address = f"/odata/Clients({key})/industry"
    answer = admin.delete(address, headers={"Prefer": "return=representation"})
    assert answer.status_code == 204 and "Preference-Applied" not in answer.headers


# --- what omit-values leaves in -------------------------------------------------------------------

NO_NULLS = {"Prefer": "return=representation, omit-values=nulls"}
SHOWN = "$select=id,industry,email"


@pytest.mark.parametrize("method", ["PATCH", "PUT"])
def test_what_a_change_made_null_is_shown(admin: Api, method: str) -> None:
    key = make(admin, "Clients", name="A", industry="Steel", email="a@b.example")
    send = admin.patch if method == "PATCH" else admin.put
    answer = send(
        f"/odata/Clients({key})?{SHOWN}", {"name": "A", "industry": None}, headers=NO_NULLS
    )
    assert answer.status_code == 200, answer.text
    assert answer.json["industry"] is None
    assert answer.headers["Preference-Applied"] == "return=representation"
    plain = admin.get(f"/odata/Clients({key})?{SHOWN}", headers=NO_NULLS)
    assert "industry" not in plain.json
    assert "omit-values=nulls" in plain.headers["Preference-Applied"]


def test_what_became_null_is_shown_in_a_delta(admin: Api) -> None:
    key = make(admin, "Clients", name="A", industry="Steel")
    prefer = {"Prefer": "track-changes,omit-values=nulls"}
    first = admin.get(f"/odata/Clients?{SHOWN}", headers=prefer)
    assert first.json["value"] == [
        {"@odata.etag": first.json["value"][0]["@odata.etag"], "id": key, "industry": "Steel"}
    ]
    admin.patch(f"/odata/Clients({key})", {"industry": None})
    link = first.json["@odata.deltaLink"]
    changed = admin.get(link[link.index("/odata") :], headers=prefer)
    assert changed.json["value"][0]["industry"] is None
    assert "omit-values" not in changed.headers.get("Preference-Applied", "")


def test_what_has_an_annotation_is_shown(admin: Api) -> None:
    key = make(admin, "Clients", name="A")
    prefer = {"Prefer": 'omit-values=nulls, include-annotations="Measures.*"'}
    row = admin.get(f"/odata/Clients({key})?$select=creditLimit,industry", headers=prefer).json
    assert (row["creditLimit@Measures.ISOCurrency"], row["creditLimit"]) == ("EUR", None)
    assert "industry" not in row


@pytest.mark.parametrize("preference", ["return=minimal", "return=representation"])
def test_a_batch_returns_nothing_itself(admin: Api, preference: str) -> None:
    body = {"requests": [{"id": "1", "method": "post", "url": "Clients", "body": {"name": "A"}}]}
    refused = admin.post("/odata/$batch", body, headers={"Prefer": preference})
    assert refused.status_code == 400
    assert "of one request" in refused.json["error"]["message"]
    assert admin.get("/odata/Clients/$count").text == "0"
    body["requests"][0]["headers"] = {"prefer": "return=minimal"}  # type: ignore[assignment]
    (answer,) = admin.post("/odata/$batch", body).json["responses"]
    assert answer["status"] == 204
