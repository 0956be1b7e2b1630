"""Money over HTTP: payments, reversal, credit notes, void and write-off."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask

from tests.contract.conftest import Api
from tests.contract.test_put_and_children import sent_invoice

pytestmark = pytest.mark.both_databases

PAYMENT = {"amount": 119, "date": "2026-01-31", "method": "Transfer", "reference": "SEPA 1"}


def draft(admin: Api) -> dict[str, Any]:
    client = admin.post("/odata/Clients", {"name": "ACME"}).json["id"]
    lines = [{"description": "Training", "unitPrice": 100, "taxRate": 19}]
    made: dict[str, Any] = admin.post(
        "/odata/Invoices", {"clientId": client, "LineItems": lines}
    ).json
    return made


def pay(api: Api, invoice_id: int, query: str = "", **values: Any) -> Any:
    return api.post(f"/api/invoices/{invoice_id}/payments{query}", PAYMENT | values)


def refusal(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json["error"]["code"]


def test_a_payment_has_the_shape_of_the_contract(admin: Api) -> None:
    invoice = sent_invoice(admin)
    answer = pay(admin, invoice["id"])
    assert answer.status_code == 201, answer.text
    read = admin.get(answer.headers["Location"])
    assert read.status_code == 200, answer.headers["Location"]
    standing = admin.get(f"/odata/Invoices({invoice['id']})").json
    assert answer.json == {
        "id": read.json["id"], "invoiceId": invoice["id"], "amount": 119, "currency": "EUR",
        "date": "2026-01-31", "method": "transfer", "reference": "SEPA 1", "status": "Completed",
        "createdAt": read.json["createdAt"],
        "invoice": {
            "id": invoice["id"], "number": invoice["number"], "status": "Paid", "total": 119,
            "amountPaid": 119, "amountDue": 0, "paidAt": standing["paidAt"],
        },
    }  # fmt: skip
    assert standing["status"] == "Paid"


def test_a_payment_issues_a_draft_first(admin: Api) -> None:
    body = pay(admin, draft(admin)["id"], amount=19).json
    assert body["invoice"]["number"].startswith("INV-")
    assert (body["invoice"]["status"], body["invoice"]["amountDue"]) == ("PartiallyPaid", 100)


def test_too_much_is_refused_unless_it_is_to_be_credit(admin: Api) -> None:
    invoice = sent_invoice(admin)
    assert refusal(pay(admin, invoice["id"], amount=120)) == (409, "OVERPAYMENT")
    assert pay(admin, invoice["id"], amount=120, allowOverpayment=True).status_code == 201
    assert admin.get(f"/odata/Clients({invoice['clientId']})").json["creditBalance"] == 1


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"amount": 0}, "amount"), ({"amount": -5}, "amount"), ({"amount": 1.00001}, "amount"),
        ({"amount": "much"}, "amount"), ({"date": "2099-01-01"}, "date"),
        ({"date": "31.01.2026"}, "date"), ({"method": "barter"}, "method"),
        ({"reference": "x" * 101}, "reference"), ({"currency": "USD"}, "currency"),
    ],
)  # fmt: skip
def test_bad_payments_are_refused_by_field(admin: Api, given: Any, field: str) -> None:
    answer = pay(admin, sent_invoice(admin)["id"], **given)
    assert refusal(answer) == (400, "VALIDATION_ERROR")
    assert [detail["field"] for detail in answer.json["error"]["details"]] == [field]


def test_what_is_missing_is_named(admin: Api) -> None:
    answer = admin.post(f"/api/invoices/{sent_invoice(admin)['id']}/payments", {})
    assert answer.status_code == 400
    fields = {detail["field"] for detail in answer.json["error"]["details"]}
    assert fields == {"amount", "date", "method"}
    assert pay(admin, 999).status_code == 404


def test_a_dry_run_of_a_payment_leaves_nothing(admin: Api) -> None:
    invoice = sent_invoice(admin)
    tried = pay(admin, invoice["id"], "?dryRun=true")
    assert (tried.status_code, tried.json["id"], tried.json["invoice"]["status"]) == (
        201, None, "Paid",
    )  # fmt: skip
    assert "Location" not in tried.headers
    assert admin.get(f"/odata/Invoices({invoice['id']})").json["status"] == "Sent"


def test_a_payment_is_reversed_once(admin: Api) -> None:
    invoice = sent_invoice(admin)
    payment_id = pay(admin, invoice["id"]).json["id"]
    path = f"/api/payments/{payment_id}/reverse"
    assert refusal(admin.post(path, {"reason": "x" * 5000})) == (400, "VALIDATION_ERROR")
    answer = admin.post(path, {"reason": "Bounced"})
    assert answer.status_code == 200, answer.text
    body = answer.json
    assert (body["status"], body["reversalReason"]) == ("Reversed", "Bounced")
    assert (body["invoice"]["status"], body["invoice"]["amountDue"]) == ("Sent", 119)
    assert refusal(admin.post(path, {})) == (409, "INVALID_STATE")
    assert admin.post("/api/payments/999/reverse", {}).status_code == 404


def test_void_needs_a_reason_and_no_payment(admin: Api) -> None:
    invoice = sent_invoice(admin)
    path = f"/api/invoices/{invoice['id']}/void"
    assert refusal(admin.post(path, {})) == (400, "VALIDATION_ERROR")
    payment_id = pay(admin, invoice["id"], amount=1).json["id"]
    assert refusal(admin.post(path, {"reason": "Wrong"})) == (409, "INVALID_STATE")
    admin.post(f"/api/payments/{payment_id}/reverse", {})
    answer = admin.post(path, {"reason": "Wrong"})
    assert answer.status_code == 200, answer.text
    body = answer.json
    assert (body["status"], body["amountDue"], body["voidReason"]) == ("Void", 0, "Wrong")
    assert body["number"] == invoice["number"]
    assert refusal(pay(admin, invoice["id"])) == (409, "INVALID_STATE")
    assert refusal(admin.post(path, {"reason": "Again"})) == (409, "INVALID_STATE")


def issued(admin: Api, client_id: int) -> int:
    """An invoice over 119 for a client who has others; its key."""
    lines = [{"description": "Training", "unitPrice": 100, "taxRate": 19}]
    answer = admin.post("/odata/Invoices", {"clientId": client_id, "LineItems": lines})
    key: int = answer.json["id"]
    assert admin.patch(f"/odata/Invoices({key})", {"status": "Sent"}).status_code == 200
    return key


@pytest.mark.parametrize("gave", ["overpayment", "credit note"])
def test_credit_is_taken_back_when_nothing_is_paid_by_it(admin: Api, gave: str) -> None:
    invoice = sent_invoice(admin)
    client = f"/odata/Clients({invoice['clientId']})"
    if gave == "overpayment":
        paid = pay(admin, invoice["id"], amount=238, allowOverpayment=True).json["id"]
        undo = f"/api/payments/{paid}/reverse"
    else:
        pay(admin, invoice["id"])
        note = admin.post(f"/api/invoices/{invoice['id']}/credit-note", {}).json["id"]
        undo = f"/api/invoices/{note}/void"
    other = issued(admin, invoice["clientId"])
    used = [pay(admin, other, method="credit", amount=amount).json["id"] for amount in (60, 0.01)]
    for payment, lacking in zip(used, ("60.01", "0.01"), strict=True):
        addresses = (client, f"/odata/Invoices({invoice['id']})")
        before = [admin.get(address).json for address in addresses]
        answer = admin.post(undo, {"reason": "Wrong"})
        assert refusal(answer) == (409, "INVALID_STATE")
        assert f"by credit of {lacking} EUR first" in answer.json["error"]["message"]
        assert [admin.get(address).json for address in addresses] == before
        assert admin.post(f"/api/payments/{payment}/reverse", {}).status_code == 200
    assert admin.get(client).json["creditBalance"] == 119
    assert admin.post(undo, {"reason": "Wrong"}).status_code == 200
    assert admin.get(client).json["creditBalance"] == 0


def test_a_payment_by_credit_is_reversed_though_its_invoice_gave_the_credit_again(
    admin: Api,
) -> None:
    invoice = sent_invoice(admin)
    client_id = invoice["clientId"]
    pay(admin, invoice["id"], amount=238, allowOverpayment=True)
    other = issued(admin, client_id)
    used = pay(admin, other, method="credit").json["id"]
    assert admin.post(f"/api/invoices/{other}/credit-note", {}).status_code == 201
    assert pay(admin, issued(admin, client_id), method="credit").status_code == 201
    assert admin.post(f"/api/payments/{used}/reverse", {}).status_code == 200
    assert admin.get(f"/odata/Clients({client_id})").json["creditBalance"] == 0
    assert admin.get(f"/odata/Invoices({other})").json["status"] == "Paid"


def test_a_written_off_invoice_can_still_be_paid(admin: Api) -> None:
    invoice = sent_invoice(admin)
    path = f"/api/invoices/{invoice['id']}/uncollectible"
    assert admin.post(path, {}).json["status"] == "Uncollectible"
    assert refusal(admin.post(path, {})) == (409, "INVALID_STATE")
    assert pay(admin, invoice["id"]).json["invoice"]["status"] == "Paid"


def test_a_credit_note_lowers_what_is_left(admin: Api) -> None:
    invoice = sent_invoice(admin)
    path = f"/api/invoices/{invoice['id']}/credit-note"
    part = {"lineItems": [{"description": "Half", "unitPrice": 50, "taxRate": 19}]}
    answer = admin.post(path, part)
    assert answer.status_code == 201, answer.text
    body = answer.json
    assert (body["type"], body["status"], body["total"]) == ("CreditNote", "Sent", 59.5)
    assert body["creditedInvoiceId"] == invoice["id"]
    assert admin.get(answer.headers["Location"]).json["number"] == body["number"]
    standing = admin.get(f"/odata/Invoices({invoice['id']})").json
    assert (standing["status"], standing["amountDue"]) == ("PartiallyPaid", 59.5)
    assert refusal(admin.post(path, {})) == (400, "VALIDATION_ERROR")
    wrong = {"lineItems": [{"description": "x", "unitPrice": 1, "colour": "red"}]}
    details = admin.post(path, wrong).json["error"]["details"]
    assert [detail["field"] for detail in details] == ["lineItems[0].colour"]


def test_a_whole_credit_closes_the_invoice_and_a_draft_waits(admin: Api) -> None:
    invoice = sent_invoice(admin)
    path = f"/api/invoices/{invoice['id']}/credit-note"
    waiting = admin.post(path, {"issue": False}).json
    assert (waiting["status"], waiting["number"]) == ("Draft", None)
    assert admin.post(path, {}).json["total"] == 119
    standing = admin.get(f"/odata/Invoices({invoice['id']})").json
    assert (standing["status"], standing["amountDue"]) == ("Paid", 0)
    for again in (
        admin.post(path, {}),
        admin.post(path, {"lineItems": [{"description": "Bit", "unitPrice": 1, "taxRate": 19}]}),
        admin.patch(f"/odata/Invoices({waiting['id']})", {"status": "Sent"}),
    ):
        assert refusal(again) == (409, "INVALID_STATE")
    note_path = f"/api/invoices/{waiting['id']}/credit-note"
    assert refusal(admin.post(note_path, {})) == (409, "INVALID_STATE")
    draft_path = f"/api/invoices/{draft(admin)['id']}/credit-note"
    assert refusal(admin.post(draft_path, {})) == (409, "INVALID_STATE")


OPERATIONS = {
    "invoices/{invoice}/payments": ("payments:create", {"Admin", "Manager", "Accountant"}),
    "invoices/{invoice}/void": ("invoices:void", {"Admin", "Accountant"}),
    "invoices/{invoice}/uncollectible": ("invoices:uncollectible", {"Admin", "Accountant"}),
    "invoices/{invoice}/credit-note": ("invoices:credit", {"Admin", "Accountant"}),
    "payments/{payment}/reverse": ("payments:reverse", {"Admin", "Accountant"}),
}


@pytest.mark.parametrize("role", ["Manager", "Sales", "Accountant", "Support", "Viewer"])
def test_who_may_do_what(admin: Api, sign_in: Callable[..., Api], role: str) -> None:
    invoice = sent_invoice(admin)
    payment_id = pay(admin, invoice["id"], amount=1).json["id"]
    user = sign_in(role)
    bodies = {"payments:create": PAYMENT | {"amount": 1}, "invoices:void": {"reason": "x"}}
    for path, (permission, roles) in OPERATIONS.items():
        address = path.format(invoice=invoice["id"], payment=payment_id)
        answer = user.post(f"/api/{address}?dryRun=true", bodies.get(permission, {}))
        assert (answer.status_code != 403) == (role in roles), (path, answer.text)
        if answer.status_code == 403:
            assert answer.json["error"]["details"][0]["message"] == permission


def test_a_repeated_key_pays_once(admin: Api) -> None:
    invoice = sent_invoice(admin)
    path = f"/api/invoices/{invoice['id']}/payments"
    headers = {"Idempotency-Key": "pay-1"}
    first = admin.post(path, PAYMENT | {"amount": 19}, headers=headers)
    again = admin.post(path, PAYMENT | {"amount": 19}, headers=headers)
    assert (again.status_code, again.json) == (201, first.json)
    assert again.headers["Location"] == first.headers["Location"]
    other = admin.post(path, PAYMENT | {"amount": 20}, headers=headers)
    assert refusal(other) == (409, "IDEMPOTENCY_CONFLICT")
    assert admin.get(f"/odata/Invoices({invoice['id']})").json["amountDue"] == 100


def test_two_full_payments_at_once_are_one(app: Flask, admin: Api) -> None:
    invoice_id = sent_invoice(admin)["id"]

    def send(_: int) -> int:
        status: int = pay(Api(app.test_client(), admin.headers), invoice_id).status_code
        return status

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(send, range(4))) == [201, 409, 409, 409]
