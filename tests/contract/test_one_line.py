"""A short text is one line wherever it is taken, and a name of a file is composed."""

from __future__ import annotations

import io
import unicodedata
from typing import Any

import pytest

from app.http.schema_bounds import LINE_REFUSED
from app.writing.fields import has_one_line
from app.writing.rules import RowRules
from app.writing.services import SERVICES
from app.writing.validation import validate
from tests.contract.conftest import Api, admin, sign_in

__all__ = ["admin", "sign_in"]


def all_rules() -> list[RowRules]:
    rules: list[RowRules] = [service.rules for service in SERVICES.values()]
    return [*rules, *(child for each in rules for child in each.children.values())]


def test_every_short_text_of_an_entity_is_one_line() -> None:
    asked = 0
    for rules in all_rules():
        for name in rules.all_writable:
            column = rules.table.c[name]
            if "allowed" in column.info or not has_one_line(column):
                continue
            problems = validate(rules, {name: "a\tb"}, partial=True)[1]
            assert LINE_REFUSED not in [problem.message for problem in problems], name
            for control in ("\n", "\x1f", "\x85", "\u2028"):
                asked += 1
                problems = validate(rules, {name: f"a{control}b"}, partial=True)[1]
                assert [problem.field for problem in problems] == [rules.wire(name)], name
    assert asked > 300


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/odata/Clients", {"name": "Acme\nGmbH"}, "name"),
        ("/odata/Clients", {"name": "Acme", "tags": ["a\vb"]}, "tags"),
        ("/odata/Tasks", {"title": "Call\r\nBcc: all"}, "title"),
        ("/api/admin/roles", {"name": "Sales\n2", "permissions": {}}, "name"),
        ("/api/admin/api-keys", {"name": "Key\x07", "role": "Viewer"}, "name"),
        ("/api/bi/reports", {"name": "All\x00", "odata": "/odata/Clients"}, "name"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_both_interfaces_name_the_field(admin: Api, path: str, body: Any, field: str) -> None:
    answer = admin.post(path, body)
    assert answer.status_code == 400, answer.text
    assert field in {detail["field"] for detail in answer.json["error"]["details"]}


def test_a_tab_is_kept_and_found(admin: Api) -> None:
    assert admin.post("/odata/Clients", {"name": "Tab\tName"}).status_code == 201
    for condition in ("name eq 'Tab\tName'", "contains(name,'\tN')"):
        found = admin.get("/odata/Clients", query_string={"$filter": condition}).json["value"]
        assert [each["name"] for each in found] == ["Tab\tName"], condition


def test_a_street_may_have_lines(admin: Api) -> None:
    body = {"name": "Acme", "billingAddress": {"street": "Hauptstr. 1\nHinterhaus"}}
    created = admin.post("/odata/Clients", body)
    assert created.status_code == 201, created.text
    assert created.json["billingAddress"]["street"] == "Hauptstr. 1\nHinterhaus"


def test_the_name_of_a_document_is_one_line_and_composed(admin: Api) -> None:
    composed = "Übersicht März.txt"
    decomposed = unicodedata.normalize("NFD", composed)
    form = {"file": (io.BytesIO(b"text"), "plain.txt"), "name": decomposed}
    made = admin.client.post("/api/documents/upload", data=form, headers=admin.headers)
    assert (made.status_code, made.json["name"]) == (201, composed)
    path = f"/odata/Documents({made.json['id']})"
    changed = admin.client.patch(path, json={"name": decomposed}, headers=admin.headers)
    assert (changed.status_code, changed.json["name"]) == (200, composed)
    refused = admin.client.patch(path, json={"name": "a\nb.txt"}, headers=admin.headers)
    details = refused.json["error"]["details"]
    assert [(each["field"], each["message"]) for each in details] == [("name", LINE_REFUSED)]


def test_lines_of_a_cell_are_run_together(admin: Api) -> None:
    text = 'Firma,Straße,Notiz\n"Acme\nGmbH","Hauptstr. 1\nHof","Ruft an\nam Montag"\n'
    form = {"type": "client", "file": (io.BytesIO(text.encode()), "clients.csv")}
    answer = admin.client.post("/api/crm/import", data=form, headers=admin.headers)
    assert answer.status_code == 200, answer.text
    client = admin.get("/odata/Clients?$filter=name eq 'Acme GmbH'").json["value"][0]
    assert client["billingAddress"]["street"] == "Hauptstr. 1\nHof"
    assert client["notes"] == "Ruft an\nam Montag"
