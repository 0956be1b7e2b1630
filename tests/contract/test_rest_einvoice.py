"""Electronic forms of issued documents, and what keeps one from being made."""

from __future__ import annotations

from typing import Any

import pytest
from facturx import get_xml_from_pdf, xml_check_xsd
from lxml import etree

from app.models.invoice import E_INVOICE_FORMATS
from tests.contract.conftest import Api
from tests.contract.test_rest_money import refusal

SELLER = {
    "name": "Acme", "legalName": "Acme GmbH", "taxId": "DE136695976", "street": "Hauptstr. 1",
    "city": "Berlin", "postalCode": "10115", "country": "DE", "email": "office@acme.example",
}  # fmt: skip
BUYER = {
    "name": "Dupont", "billingAddress": {"street": "Rue 1", "city": "Paris", "country": "FR"},
}  # fmt: skip


@pytest.fixture
def seller(admin: Api) -> Api:
    """An administrator of a company whose data are complete."""
    assert admin.put("/api/admin/settings/seller", SELLER).status_code == 200
    assert admin.put("/api/admin/settings/bank", {"iban": "DE02120300000000202051"}).json
    return admin


def draft(api: Api, **values: Any) -> int:
    client = api.post("/odata/Clients", BUYER).json["id"]
    line = {"description": "Work", "unitPrice": 100, "taxRate": 19}
    body = {"clientId": client, "LineItems": [line], **values}
    key: int = api.post("/odata/Invoices", body).json["id"]
    return key


def issue(api: Api, key: int) -> Any:
    answer = api.patch(f"/odata/Invoices({key})", {"status": "Sent"})
    assert answer.status_code == 200, answer.text
    return answer.json


def test_an_issued_invoice_is_ubl_cii_and_facturx(seller: Api) -> None:
    key = draft(seller)
    number = issue(seller, key)["number"]
    path = f"/api/invoices/{key}/einvoice"
    ubl = seller.get(f"{path}?format=ubl")
    assert (ubl.status_code, ubl.mimetype) == (200, "application/xml")
    assert ubl.headers["Content-Disposition"] == f'attachment; filename="{number}.xml"'
    assert etree.fromstring(ubl.data).tag.endswith("}Invoice")
    cii = seller.get(f"{path}?format=cii")
    assert xml_check_xsd(cii.data, flavor="factur-x", level="en16931")
    pdf = seller.get(f"{path}?format=facturx")
    assert pdf.mimetype == "application/pdf"
    assert pdf.data == seller.get(f"/api/invoices/{key}/pdf").data
    assert get_xml_from_pdf(pdf.data)[1] == cii.data
    for form in ("ubl", "cii", "facturx"):
        again = seller.get(
            f"{path}?format={form}",
            headers={"If-None-Match": seller.get(f"{path}?format={form}").headers["ETag"]},
        )
        assert again.status_code == 304, form


def test_a_credit_note_has_its_own_form(seller: Api) -> None:
    key = draft(seller)
    issue(seller, key)
    credit = seller.post(f"/api/invoices/{key}/credit-note", {"issue": True}).json
    found = seller.get(f"/api/invoices/{credit['id']}/einvoice?format=ubl")
    assert etree.fromstring(found.data).tag.endswith("}CreditNote")


def test_an_invoice_without_data_inside_gets_them_on_demand(seller: Api) -> None:
    key = draft(seller, eInvoiceFormat="None")
    issue(seller, key)
    plain = seller.get(f"/api/invoices/{key}/pdf").data
    assert get_xml_from_pdf(plain)[1] in (False, None)
    assert get_xml_from_pdf(seller.get(f"/api/invoices/{key}/einvoice?format=facturx").data)[1]


def test_the_preflight_names_rule_field_and_reason(admin: Api) -> None:
    key = draft(admin)
    body = admin.get(f"/api/invoices/{key}/preflight").json
    assert (body["id"], body["number"], body["status"], body["ready"]) == (
        key,
        None,
        "Draft",
        False,
    )
    found = {problem["rule"]: problem["field"] for problem in body["problems"]}
    assert found["BR-09"] == "seller.address.country"
    assert found["BR-S-02"] == "seller.taxId"
    issue(admin, key)
    refused = admin.get(f"/api/invoices/{key}/einvoice?format=ubl")
    assert refusal(refused) == (400, "VALIDATION_ERROR")
    messages = {at["field"]: at["message"] for at in refused.json["error"]["details"]}
    assert "BR-09" in messages["seller.address.country"]


@pytest.mark.parametrize("form", E_INVOICE_FORMATS)
@pytest.mark.parametrize("step", ["status", "send", "send many", "payment"])
def test_only_a_form_that_is_asked_for_by_name_is_needed_for_issue(
    admin: Api, form: str, step: str
) -> None:
    key = draft(admin, eInvoiceFormat=form)
    paid = {"amount": 1, "date": "2024-01-31", "method": "card"}
    answer = {
        "status": lambda: admin.patch(f"/odata/Invoices({key})", {"status": "Sent"}),
        "send": lambda: admin.post(f"/api/invoices/{key}/send", {"markOnly": True}),
        "send many": lambda: admin.post(
            "/api/invoices/send", {"invoiceIds": [key], "markOnly": True}
        ),
        "payment": lambda: admin.post(f"/api/invoices/{key}/payments", paid),
    }[step]()
    kept = admin.get(f"/odata/Invoices({key})?$select=status,number").json
    if form in ("Auto", "None"):
        assert answer.status_code in (200, 201), answer.text
        assert kept["status"] != "Draft"
        return
    assert (kept["status"], kept["number"]) == ("Draft", None)
    if step == "send many":
        assert answer.json["results"][0]["error"]["code"] == "VALIDATION_ERROR"
        return
    assert refusal(answer) == (400, "VALIDATION_ERROR")
    messages = {at["field"]: at["message"] for at in answer.json["error"]["details"]}
    assert "BR-09" in messages["seller.address.country"]


@pytest.mark.parametrize("form", E_INVOICE_FORMATS)
def test_a_complete_draft_is_issued_in_every_form(seller: Api, form: str) -> None:
    assert issue(seller, draft(seller, eInvoiceFormat=form))["status"] == "Sent"


def test_a_complete_draft_passes_the_preflight(seller: Api) -> None:
    body = seller.get(f"/api/invoices/{draft(seller)}/preflight").json
    assert (body["ready"], body["problems"]) == (True, [])


def test_what_is_refused(seller: Api, sign_in: Any) -> None:
    key = draft(seller)
    path = f"/api/invoices/{key}/einvoice"
    assert refusal(seller.get(f"{path}?format=ubl")) == (409, "INVALID_STATE")
    assert refusal(seller.get(f"{path}?format=edifact")) == (400, "VALIDATION_ERROR")
    assert refusal(seller.get(path)) == (400, "VALIDATION_ERROR")
    for name in ("einvoice?format=ubl", "preflight"):
        assert seller.get(f"/api/invoices/999/{name}").status_code == 404
    issue(seller, key)
    assert sign_in("Viewer").get(f"{path}?format=ubl").status_code == 200
