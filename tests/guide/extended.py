"""What a copy of the tree can do in which every change of docs/extending.md was made.

No part of the tests of this tree: tests/guide/test_extending.py starts it in the copy.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

import pytest
from flask import Flask
from pypdf import PdfReader

from app.console.steps import Step, steps_of
from app.webhooks.fan_out import fan_out
from tests.ai.provider.conftest import ModelServer, ai, calls, server, short_pauses
from tests.bi.conftest import business
from tests.contract.conftest import Api, admin, sign_in

__all__ = ["admin", "ai", "business", "server", "short_pauses", "sign_in"]
pytestmark = pytest.mark.only_on("sqlite")
FILTER_FUNCTIONS = "Org.OData.Capabilities.V1.FilterFunctions"


@pytest.fixture
def client_id(admin: Api) -> int:
    """A client in a segment of the market."""
    answer = admin.post("/odata/Clients", {"name": "Hooli-Nucleus", "segment": "Public sector"})
    assert answer.status_code == 201, answer.text
    key: int = answer.json["id"]
    return key


def test_a_field_is_written_read_filtered_and_described(admin: Api, client_id: int) -> None:
    address = f"/odata/Clients({client_id})"
    assert admin.get(address).json["segment"] == "Public sector"
    assert admin.patch(address, {"segment": "Retail"}).status_code == 200
    clients = admin.get("/odata/Clients?$filter=segment eq 'Retail'&$select=id,segment").json[
        "value"
    ]
    assert [(client["id"], client["segment"]) for client in clients] == [(client_id, "Retail")]
    metadata = admin.get("/odata/$metadata").text
    assert '<Property Name="segment" Type="Edm.String" MaxLength="50"' in metadata
    assert '"segment"' in admin.get("/openapi.json").text
    refused = admin.patch(address, {"segment": "x" * 51})
    assert refused.status_code == 400 and "segment" in refused.text


def test_a_function_is_answered_and_offered(admin: Api, client_id: int) -> None:
    query = "$filter=replace(name,'-',' ') eq 'Hooli Nucleus'&$select=id"
    clients = admin.get(f"/odata/Clients?{query}").json["value"]
    assert [client["id"] for client in clients] == [client_id]
    metadata = admin.get("/odata/$metadata").text
    offered = metadata.partition(FILTER_FUNCTIONS)[2].partition("</Annotation>")[0]
    assert "<String>replace</String>" in offered
    refused = admin.get("/odata/Clients?$filter=replace(name,'-') eq 'Hooli'")
    assert refused.status_code == 400 and "3 arguments" in refused.text


def test_an_event_is_emitted_and_can_be_subscribed_to(
    app: Flask, admin: Api, client_id: int
) -> None:
    assert admin.patch(f"/odata/Clients({client_id})", {"status": "Blocked"}).status_code == 200
    assert "client.blocked" in event_types(app, admin)
    endpoint = {"url": "https://hooks.example/in", "events": ["client.blocked"]}
    answer = admin.post("/api/webhooks", endpoint)
    assert answer.status_code == 201, answer.text


def test_an_operation_is_offered_everywhere_with_its_permission(
    app: Flask, admin: Api, sign_in: Callable[..., Api], client_id: int
) -> None:
    address = f"/api/v1/crm/clients/{client_id}/block"
    sales = sign_in("Sales")
    refused = sales.post(address)
    assert refused.status_code == 403 and "clients:block" in refused.text
    assert admin.get(f"/odata/Clients({client_id})").json["status"] == "Active"
    assert sign_in("Manager").post(address).status_code == 204
    assert admin.get(f"/odata/Clients({client_id})").json["status"] == "Blocked"
    assert event_types(app, admin).count("client.blocked") == 1
    paths = admin.get("/openapi.json").json["paths"]
    assert {
        "/api/v1/crm/clients/{client_id}/block", "/odata/Clients({id})/BusinessPlatform.Block"
    } <= paths.keys()  # fmt: skip
    answer = admin.get(f"/odata/Clients({client_id})?$select=allowedActions")
    assert "block" in answer.json["allowedActions"]
    assert Step("block", "Block", dangerous=True) in steps_of(
        "Client", answer.json["allowedActions"]
    )
    again = admin.post(f"/odata/Clients({client_id})/Block")
    assert (again.status_code, again.json["status"]) == (200, "Blocked")
    assert sales.post(f"/odata/Clients({client_id})/Block").status_code == 403


def test_the_assistant_proposes_an_operation_and_does_it_when_that_is_confirmed(
    ai: Api, server: ModelServer, sign_in: Callable[..., Api]
) -> None:
    manager = sign_in("Manager")
    client_id = ai.post("/odata/Clients", {"name": "Hooli-Nucleus"}).json["id"]
    wanted = calls(("block_client", {"id": client_id}))
    server.says(wanted, "I propose it.")
    proposed = manager.post("/api/ai/chat", {"message": "Block the client Hooli-Nucleus"}).json
    (action,) = proposed["pendingActions"]
    assert (action["tool"], action["summary"]) == ("block_client", "Block (Hooli-Nucleus).")
    assert ai.get(f"/odata/Clients({client_id})").json["status"] == "Active"
    assert manager.post(f"/api/ai/actions/{action['id']}/confirm").status_code == 200
    assert ai.get(f"/odata/Clients({client_id})").json["status"] == "Blocked"
    for caller, message in (
        (manager, "Who is that client?"), (sign_in("Sales"), "Block the client Hooli-Nucleus"),
    ):  # fmt: skip
        server.says(wanted, "I propose it.")
        answer = caller.post("/api/ai/chat", {"message": message}).json
        assert answer["pendingActions"] == []


def event_types(app: Flask, api: Api) -> list[str]:
    """The events of the journal, which the worker fills."""
    with app.app_context():
        fan_out()
    answer = api.get("/api/events")
    assert answer.status_code == 200, answer.text
    return [event["type"] for event in answer.json["items"]]


@pytest.mark.parametrize(("language", "label"), [("en", "Currency"), ("de", "Währung")])
def test_a_label_is_printed(admin: Api, client_id: int, language: str, label: str) -> None:
    admin.patch(f"/odata/Clients({client_id})", {"language": language})
    lines = [{"description": "Work", "unitPrice": 100, "taxRate": 19}]
    invoice = admin.post("/odata/Invoices", {"clientId": client_id, "LineItems": lines})
    assert invoice.status_code == 201, invoice.text
    answer = admin.get(f"/api/invoices/{invoice.json['id']}/pdf")
    text = PdfReader(io.BytesIO(answer.data)).pages[0].extract_text()
    assert label in text and ("Rechnung" in text) == (language == "de")


def test_an_export_comes_in_the_format(admin: Api, business: None) -> None:
    report = admin.post(
        "/api/bi/reports", {"name": "Tickets", "odata": "/odata/Tickets?$select=id,subject"}
    ).json
    answer = admin.post(f"/api/bi/reports/{report['id']}/export", {"format": "tsv"})
    assert answer.status_code == 200, answer.text
    assert answer.mimetype == "text/tab-separated-values"
    head, *rows = csv.reader(io.StringIO(answer.text), csv.excel_tab)
    assert head == ["Id", "Subject"] and len(rows) == 4
    assert '"tsv"' in admin.get("/openapi.json").text


def test_a_synonym_is_understood(admin: Api, business: None) -> None:
    answer = admin.post("/api/bi/nlq", {"question": "Open grievances by priority"})
    assert answer.status_code == 200, answer.text
    assert answer.json["status"] == "answered"
    assert answer.json["query"]["entity"] == "Tickets"
    assert [(row["priority"], row["count"]) for row in answer.json["rows"]] == [
        ("Normal", 3),
        ("Urgent", 1),
    ]


def test_a_page_has_as_many_rows_as_is_set(
    app: Flask, admin: Api, make_app: Callable[..., Flask], sign_in: Callable[..., Api]
) -> None:
    assert app.config["ODATA_PAGE_SIZE"] == 500
    for name in ("Acme", "Globex", "Initech"):
        assert admin.post("/odata/Clients", {"name": name}).status_code == 201
    page = sign_in("Viewer", make_app(ODATA_PAGE_SIZE=2)).get("/odata/Clients").json
    assert len(page["value"]) == 2 and "@odata.nextLink" in page
