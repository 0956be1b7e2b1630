"""Specification section 2: the ten entity sets, their navigation, the fields of a client."""

from __future__ import annotations

import pytest

from tests.contract.conftest import Api

SETS = (
    "Clients", "Contacts", "Leads", "Opportunities", "Tickets", "Invoices", "KbArticles",
    "Documents", "Tasks", "Projects",
)  # fmt: skip


@pytest.mark.parametrize("name", SETS)
def test_every_collection_answers(admin: Api, name: str) -> None:
    answer = admin.get(f"/odata/{name}")
    assert answer.status_code == 200
    assert answer.json["value"] == []
    assert answer.json["@odata.context"].endswith(f"$metadata#{name}")


def test_client_has_the_fields_of_section_2_2(admin: Api) -> None:
    body = {
        "name": "ACME GmbH",
        "email": "office@acme.example",
        "taxId": "DE136695976",
        "status": "Active",
        "revenue": 1234.5,
    }
    made = admin.post("/odata/Clients", body)
    assert made.status_code == 201
    read = admin.get(f"/odata/Clients({made.json['id']})").json
    assert {name: read[name] for name in body} == body
    assert read["createdAt"].endswith("Z")


def test_client_leads_to_contacts_and_invoices_and_invoice_to_line_items(admin: Api) -> None:
    client = admin.post("/odata/Clients", {"name": "ACME"}).json["id"]
    contact = admin.post("/odata/Contacts", {"lastName": "Lovelace", "clientId": client})
    assert contact.status_code == 201
    invoice = admin.post(
        "/odata/Invoices",
        {"clientId": client, "LineItems": [{"description": "Training", "unitPrice": 100}]},
    )
    assert invoice.status_code == 201
    expanded = admin.get(
        f"/odata/Clients({client})?$expand=Contacts,Invoices($expand=LineItems)"
    ).json
    assert [row["lastName"] for row in expanded["Contacts"]] == ["Lovelace"]
    assert expanded["Invoices"][0]["LineItems"][0]["description"] == "Training"
