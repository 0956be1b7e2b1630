"""PUT keeps states and responsible persons; payments and comments are added below their parents."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.conftest import Api


def sent_invoice(admin: Api) -> dict[str, Any]:
    client = admin.post("/odata/Clients", {"name": "ACME"}).json["id"]
    lines = [{"description": "Training", "unitPrice": 100, "taxRate": 19}]
    draft = admin.post("/odata/Invoices", {"clientId": client, "LineItems": lines}).json
    issued = admin.patch(f"/odata/Invoices({draft['id']})", {"status": "Sent"})
    assert issued.status_code == 200, issued.text
    return issued.json


def test_put_keeps_the_state_and_the_people(admin: Api) -> None:
    me = admin.get("/api/auth/me").json["id"]
    ticket = admin.post("/odata/Tickets", {"subject": "Printer", "assigneeId": me}).json
    path = f"/odata/Tickets({ticket['id']})"
    answer = admin.put(path, {"subject": "Scanner", "category": "Hardware"})
    assert answer.status_code == 200, answer.text
    kept = {name: answer.json[name] for name in ("status", "assigneeId", "ownerId")}
    assert kept == {"status": "Open", "assigneeId": me, "ownerId": me}


def test_a_payment_is_added_to_its_invoice(admin: Api) -> None:
    invoice = sent_invoice(admin)
    path = f"/odata/Invoices({invoice['id']})"
    paid = admin.post(
        f"{path}/Payments", {"amount": 119, "date": invoice["issueDate"], "method": "transfer"}
    )
    assert paid.status_code == 201, paid.text
    assert paid.json["number"] == "PAY-000001"
    assert admin.get(path).json["status"] == "Paid"
    assert admin.get(f"{path}/Payments/$count").text == "1"
    again = admin.post(
        f"{path}/Payments", {"amount": 1, "date": invoice["issueDate"], "method": "transfer"}
    )
    assert (again.status_code, again.json["error"]["code"]) == (409, "OVERPAYMENT")
    changed = admin.patch(f"{path}/Payments({paid.json['id']})", {"amount": 2})
    assert changed.status_code == 405


def test_a_comment_is_added_to_its_ticket(admin: Api) -> None:
    ticket = admin.post("/odata/Tickets", {"subject": "Printer"}).json
    path = f"/odata/Tickets({ticket['id']})"
    made = admin.post(f"{path}/Comments", {"body": "We are looking.", "isInternal": False})
    assert made.status_code == 201, made.text
    read = admin.get(f"{path}?$expand=Comments").json
    assert [comment["body"] for comment in read["Comments"]] == ["We are looking."]
    assert read["status"] == "Open"


# --- the place of a line --------------------------------------------------------------------------


def lines_of(api: Api, invoice: int) -> list[tuple[str, int]]:
    rows = api.get(f"/odata/Invoices({invoice})/LineItems").json["value"]
    return [(row["description"], row["position"]) for row in rows]


@pytest.mark.parametrize(
    ("index", "order"),
    [
        ("0", ["new", "a", "b", "c"]),
        ("1", ["a", "new", "b", "c"]),
        ("3", ["a", "b", "c", "new"]),
        ("-1", ["a", "b", "c", "new"]),
        ("-2", ["a", "b", "new", "c"]),
        ("-4", ["new", "a", "b", "c"]),
    ],
)
def test_a_line_is_put_where_it_is_wanted(admin: Api, index: str, order: list[str]) -> None:
    client = admin.post("/odata/Clients", {"name": "ACME"}).json["id"]
    lines = [{"description": name, "unitPrice": 1, "taxRate": 0} for name in "abc"]
    made = admin.post("/odata/Invoices", {"clientId": client, "LineItems": lines}).json["id"]
    answer = admin.post(
        f"/odata/Invoices({made})/LineItems?$index={index}&$select=description,position",
        {"description": "new", "unitPrice": 1, "taxRate": 0},
    )
    assert answer.status_code == 201, answer.text
    assert answer.json["description"] == "new"
    assert answer.json["position"] == order.index("new") + 1
    assert lines_of(admin, made) == [(name, place) for place, name in enumerate(order, start=1)]
    expanded = admin.get(f"/odata/Invoices({made})?$expand=LineItems($select=description)").json
    assert [line["description"] for line in expanded["LineItems"]] == order
    for wrong in ("9", "-6", "x"):
        refused = admin.post(f"/odata/Invoices({made})/LineItems?$index={wrong}", lines[0])
        assert refused.status_code == 400, refused.text
    assert len(lines_of(admin, made)) == 4


def test_only_what_has_an_order_takes_a_place(admin: Api) -> None:
    assert admin.post("/odata/Clients?$index=0", {"name": "x"}).status_code == 400
    document = admin.get("/odata/$metadata?$format=json").json["BusinessPlatform"]
    assert document["Invoice"]["LineItems"]["@Org.OData.Core.V1.Ordered"] is True
    assert "@Org.OData.Core.V1.Ordered" not in document["Client"]["Contacts"]


def test_a_line_that_is_replaced_keeps_only_its_place(admin: Api) -> None:
    client = admin.post("/odata/Clients", {"name": "ACME"}).json["id"]
    line = {"description": "a", "unitPrice": 5, "quantity": 3, "taxRate": 7, "productCode": "P"}
    body = {"clientId": client, "LineItems": [line, {**line, "position": 4}, line]}
    made = admin.post("/odata/Invoices", body).json["id"]
    second = admin.get(f"/odata/Invoices({made})/LineItems").json["value"][1]["id"]
    path = f"/odata/Invoices({made})/LineItems({second})"
    for given, missing in (({}, {"description", "unitPrice"}), ({"unitPrice": 1}, {"description"})):
        refused = admin.put(path, given)
        assert refused.status_code == 400, refused.text
        assert {detail["target"] for detail in refused.json["error"]["details"]} == missing
    new = {"description": "b", "unitPrice": 9}
    alone = admin.post("/odata/Invoices", {"clientId": client, "LineItems": [new]}).json["id"]
    replaced = admin.put(path, new)
    assert replaced.status_code == 200, replaced.text
    assert replaced.json["position"] == 4
    changing = ("id", "invoiceId", "position")
    expected = admin.get(f"/odata/Invoices({alone})/LineItems").json["value"][0]
    for name in changing:
        del expected[name]
    assert {name: replaced.json[name] for name in expected} == expected
