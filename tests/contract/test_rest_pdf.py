"""The PDF of an invoice over HTTP: its headers, its name, its bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from flask import Flask

from app.importing.history import import_records
from app.invoices.chain import verify_chain
from tests.contract.conftest import Api
from tests.contract.test_put_and_children import sent_invoice
from tests.contract.test_rest_money import draft, pay
from tests.invoices.pdf.reading import text_of


def test_an_issued_invoice_is_a_pdf_with_its_number_as_name(admin: Api) -> None:
    invoice = sent_invoice(admin)
    path = f"/api/invoices/{invoice['id']}/pdf"
    answer = admin.get(path)
    assert answer.status_code == 200, answer.text
    assert answer.mimetype == "application/pdf"
    assert answer.data.startswith(b"%PDF-1.7")
    assert answer.headers["Content-Disposition"] == f'inline; filename="{invoice["number"]}.pdf"'
    assert answer.headers["ETag"] == f'"{hashlib.sha256(answer.data).hexdigest()}"'
    saved = admin.get(f"{path}?download=1")
    assert saved.headers["Content-Disposition"].startswith("attachment;")
    assert saved.data == answer.data
    known = admin.get(path, headers={"If-None-Match": answer.headers["ETag"]})
    assert (known.status_code, known.data) == (304, b"")


def test_issue_freezes_the_bytes(admin: Api) -> None:
    invoice = sent_invoice(admin)
    path = f"/api/invoices/{invoice['id']}/pdf"
    before = admin.get(path)
    digest = hashlib.sha256(before.data).hexdigest()
    assert admin.get(f"/odata/Invoices({invoice['id']})").json["pdfSha256"] == digest
    assert pay(admin, invoice["id"]).status_code == 201
    admin.put("/api/admin/settings/seller", {"name": "Another name"})
    after = admin.get(path)
    assert (after.data, after.headers["ETag"]) == (before.data, before.headers["ETag"])


def test_a_document_that_was_moved_in_is_frozen_when_first_asked_for(
    admin: Api, app: Flask
) -> None:
    line = {"description": "Work", "quantity": 2, "unitPrice": 50, "taxRate": 19}
    payment = {"amount": 119, "date": "2021-06-20", "method": "transfer"}
    old = {
        "id": 40, "clientId": 7, "number": "OLD-31", "status": "Paid", "issueDate": "2021-06-02",
        "sentAt": "2021-06-02T10:00:00Z", "paidAt": "2021-06-20T10:00:00Z",
        "LineItems": [line], "Payments": [payment],
    }  # fmt: skip
    records = {"Clients": [{"id": 7, "name": "Acme"}], "Invoices": [old]}
    with app.app_context():
        import_records(records)
    (key,) = (one["id"] for one in admin.get("/odata/Invoices?$select=id").json["value"])
    before = admin.get(f"/odata/Invoices({key})").json
    assert before["pdfSha256"] is None
    first = admin.get(f"/api/invoices/{key}/pdf")
    assert "PAID" not in text_of(first.data)
    assert "PAID" in text_of(admin.get(f"/api/invoices/{key}/pdf?current=1").data)
    after = admin.get(f"/odata/Invoices({key})").json
    assert after["pdfSha256"] == hashlib.sha256(first.data).hexdigest()
    # Looking at it changed nothing else: nobody's change is refused because somebody looked.
    assert after == {**before, "pdfSha256": after["pdfSha256"]}
    admin.put("/api/admin/settings/seller", {"name": "Another name"})
    assert admin.get(f"/api/invoices/{key}/pdf").data == first.data
    with app.app_context():
        verified = verify_chain()
    assert (verified.links, verified.broken) == (1, None)


def test_a_copy_shows_payments(admin: Api) -> None:
    invoice = sent_invoice(admin)
    path = f"/api/invoices/{invoice['id']}/pdf?current=1"
    before = admin.get(path)
    assert admin.get(path).data == before.data
    assert pay(admin, invoice["id"]).status_code == 201
    after = admin.get(path, headers={"If-None-Match": before.headers["ETag"]})
    assert after.status_code == 200
    assert after.data != before.data


def test_a_change_of_the_client_does_not_show_on_an_issued_invoice(admin: Api) -> None:
    invoice, other = sent_invoice(admin), draft(admin)
    paths = [f"/api/invoices/{found['id']}/pdf" for found in (invoice, other)]
    before = [admin.get(path).data for path in paths]
    for found in (invoice, other):
        client = f"/odata/Clients({found['clientId']})"
        assert admin.patch(client, {"name": "Renamed Ltd"}).status_code == 200
    issued, waiting = (admin.get(path).data for path in paths)
    assert issued == before[0]
    assert waiting != before[1]


def test_a_draft_has_its_key_as_name(admin: Api) -> None:
    key = draft(admin)["id"]
    answer = admin.get(f"/api/v1/invoices/{key}/pdf")
    assert answer.status_code == 200
    assert answer.headers["Content-Disposition"] == f'inline; filename="invoice-{key}.pdf"'


def test_what_lacks_an_address_has_no_data_inside(admin: Api) -> None:
    invoice = sent_invoice(admin)
    path = f"/api/invoices/{invoice['id']}/pdf"
    assert b"factur-x.xml" not in admin.get(path).data


def test_who_may_read_it(admin: Api, sign_in: Callable[..., Api]) -> None:
    path = f"/api/invoices/{sent_invoice(admin)['id']}/pdf"
    for role in ("Manager", "Sales", "Accountant", "Support", "Viewer"):
        assert sign_in(role).get(path).status_code == 200, role
    assert admin.get("/api/invoices/999/pdf").status_code == 404
    assert admin.get(f"{path}?download=perhaps").status_code == 400
