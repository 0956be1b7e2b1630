"""Units of line items are codes that an e-invoice can carry; what was stored before may stay."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update

from app.db.engines import transaction
from app.models.invoice import LineItem
from tests.contract.conftest import Api
from tests.contract.test_rest_money import draft

LINE = {"description": "Labels", "unitPrice": 10, "taxRate": 19}


def stored_before(app: Flask, api: Api) -> int:
    """A draft with a unit that was taken when nobody looked."""
    key: int = draft(api)["id"]
    with app.app_context(), transaction() as session:
        session.execute(update(LineItem).where(LineItem.invoice_id == key).values(unit_code="BX"))
    return key


def lines_of(api: Api, key: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get(f"/odata/Invoices({key})?$expand=LineItems").json[
        "LineItems"
    ]
    return found


def named(answer: Any) -> list[str]:
    assert answer.status_code == 400, answer.text
    assert answer.json["error"]["code"] == "VALIDATION_ERROR"
    return [one["target"] for one in answer.json["error"]["details"]]


@pytest.mark.parametrize("unit", ["BX", "PK", "PCE", "hur", "QQQ"])
def test_an_unknown_unit_is_named(admin: Api, unit: str) -> None:
    invoice = draft(admin)
    lines = [{**LINE, "unitCode": "XBX"}, {**LINE, "unitCode": unit}]
    made = admin.post("/odata/Invoices", {"clientId": invoice["clientId"], "LineItems": lines})
    assert named(made) == ["LineItems[1].unitCode"]
    changed = admin.patch(f"/odata/Invoices({invoice['id']})", {"LineItems": lines})
    assert named(changed) == ["LineItems[1].unitCode"]


@pytest.mark.parametrize("unit", ["C62", "HUR", "DAY", "MON", "XBX", "XPK", "KGM"])
def test_codes_of_both_recommendations_are_taken(admin: Api, unit: str) -> None:
    client = draft(admin)["clientId"]
    body = {"clientId": client, "LineItems": [{**LINE, "unitCode": unit}]}
    made = admin.post("/odata/Invoices", body)
    assert made.status_code == 201, made.text
    assert lines_of(admin, made.json["id"])[0]["unitCode"] == unit


def test_a_unit_that_is_there_stays_and_no_other_comes(app: Flask, admin: Api) -> None:
    key = stored_before(app, admin)
    assert admin.patch(f"/odata/Invoices({key})", {"notes": "Later"}).status_code == 200
    (line,) = lines_of(admin, key)
    kept = [{**line, "unitPrice": 11}, {**LINE, "unitCode": "XBX"}]
    assert admin.patch(f"/odata/Invoices({key})", {"LineItems": kept}).status_code == 200
    assert [one["unitCode"] for one in lines_of(admin, key)] == ["BX", "XBX"]
    more = [*kept, {**LINE, "unitCode": "PK"}]
    answer = admin.patch(f"/odata/Invoices({key})", {"LineItems": more})
    assert named(answer) == ["LineItems[2].unitCode"]


def test_what_was_issued_can_be_credited_and_preflight_names_it(app: Flask, admin: Api) -> None:
    key = stored_before(app, admin)
    problems = admin.get(f"/api/invoices/{key}/preflight").json["problems"]
    assert ("BR-CL-23", "lineItems[0].unitCode") in [(p["rule"], p["field"]) for p in problems]
    assert admin.post(f"/api/invoices/{key}/send", {"markOnly": True}).status_code == 200
    credit = admin.post(f"/api/invoices/{key}/credit-note", {})
    assert credit.status_code == 201, credit.text
    assert [line["unitCode"] for line in lines_of(admin, credit.json["id"])] == ["BX"]
