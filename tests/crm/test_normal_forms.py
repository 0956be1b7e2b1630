"""One customer written in two ways is one, wherever the service looks for what is there already."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.crm.normal_forms import fill_normal_forms
from tests.contract.conftest import Api, admin, sign_in
from tests.contract.test_rest_import import send
from tests.contract.test_rest_search import find, make

__all__ = ["admin", "sign_in"]
# Property of a client, as it stands, and as somebody else writes it.
WAYS = [
    ("email", "Info@Example.com", "info@example.COM"),
    ("email", "a@xn--bcher-kva.example", "A@bücher.example"),
    ("taxId", "DE 136 695 976", "DE136695976"),
    ("taxId", "be 0428.759.497", "BE0428759497"),
    ("phone", "+49 30 90 18 20", "030/901820"),
    ("phone", "030-901820", "+49 (0)30 901820"),
]
MATCHED = [way for way in WAYS if way[0] != "phone"]


@pytest.fixture
def german(admin: Api) -> Api:
    answer = admin.patch("/api/admin/settings/seller", {"country": "DE"})
    assert answer.status_code == 200, answer.text
    return admin


@pytest.mark.parametrize(("name", "stored", "written"), MATCHED)
def test_a_lead_is_converted_to_the_client_that_is_there(
    admin: Api, name: str, stored: str, written: str
) -> None:
    client = make(admin, "Clients", name="Acme", **{name: stored})
    lead = make(admin, "Leads", company="Acme", **{name: written})
    answer = admin.post(f"/api/crm/leads/{lead}/convert", {})
    assert (answer.json["clientId"], answer.json["matchedBy"]) == (client, name)


def test_the_contact_of_a_lead_is_the_one_that_is_there(admin: Api) -> None:
    client = make(admin, "Clients", name="Acme")
    contact = make(admin, "Contacts", lastName="Maier", clientId=client, email="eva@ACME.example")
    lead = make(admin, "Leads", lastName="Maier", email="Eva@acme.example")
    answer = admin.post(f"/api/crm/leads/{lead}/convert", {"clientId": client})
    assert (answer.json["contactId"], answer.json["contact"]["created"]) == (contact, False)


@pytest.mark.parametrize(("name", "stored", "written"), WAYS)
def test_two_spellings_are_possible_duplicates_and_both_are_found(
    german: Api, name: str, stored: str, written: str
) -> None:
    keys = [
        make(german, "Clients", name=f"Twin {title}", **{name: text})
        for title, text in (("Adler", stored), ("Zander", written))
    ]
    assert find(german, "Twin").json["possibleDuplicates"] == [keys]
    found = find(german, written).json["items"]
    assert {item["id"] for item in found} == set(keys)
    assert all(name in item["matchedFields"] for item in found)


@pytest.mark.parametrize("part", ["901820", "30 90", "30/90 18", "0049 30 901820", "90182"])
def test_a_part_of_a_number_finds_it(german: Api, part: str) -> None:
    expected = [
        make(german, entity, **{field: "A"}, phone=phone)
        for entity, field, phone in (
            ("Clients", "name", "030 901820"), ("Leads", "company", "+49-30-901820"),
            ("Contacts", "lastName", "(030) 90 18 20"),
        )
    ]  # fmt: skip
    found = find(german, part, type="all").json["items"]
    assert [item["type"] for item in found] == ["client", "contact", "lead"], part
    assert sorted(item["id"] for item in found) == sorted(expected)


def test_an_import_finds_by_an_address_however_it_is_written(admin: Api) -> None:
    make(admin, "Clients", name="Acme", email="Info@Example.com")
    answer = send(admin, "name,email\nAcme Works,info@EXAMPLE.com\n", update="email")
    assert (answer.json["created"], answer.json["updated"]) == (0, 1), answer.text


def _phones(api: Api, q: str) -> list[Any]:
    return [item["id"] for item in find(api, q).json["items"]]


def test_numbers_follow_the_organisation_to_another_country(german: Api, app: Flask) -> None:
    national = make(german, "Clients", name="A", phone="030 901820")
    abroad = make(german, "Clients", name="B", phone="+43 30 901820")
    assert _phones(german, "+49 30 901820") == [national]
    answer = german.patch("/api/admin/settings/seller", {"country": "AT"})
    assert answer.status_code == 200, answer.text
    with app.app_context():
        assert fill_normal_forms() == 1
        assert fill_normal_forms() == 0
    assert _phones(german, "+49 30 901820") == []
    assert _phones(german, "+43 30 901820") == [national, abroad]


def test_a_change_and_a_merger_bring_the_form_along(admin: Api) -> None:
    client = make(admin, "Clients", name="Acme")
    other = make(admin, "Clients", name="Acme Works", email="A@Example.com", taxId="DE136695976")
    assert admin.patch(f"/odata/Clients({other})", {"email": "B@Example.com"}).status_code == 200
    merged = admin.post(f"/api/crm/clients/{client}/merge", {"sourceId": other})
    assert merged.status_code == 200, merged.text
    lead = make(admin, "Leads", company="Acme", email="b@example.com", taxId="DE 136695976")
    answer = admin.post(f"/api/crm/leads/{lead}/convert", {})
    assert (answer.json["clientId"], answer.json["matchedBy"]) == (client, "email")


def test_the_forms_are_no_properties(admin: Api) -> None:
    client = make(admin, "Clients", name="Acme", email="A@Example.com")
    assert not [name for name in admin.get(f"/odata/Clients({client})").json if "Form" in name]
    assert admin.post("/odata/Clients", {"name": "A", "emailForm": "x"}).status_code == 400
    assert admin.delete(f"/odata/Clients({client})").status_code == 204
    audit = admin.get("/api/admin/audit?entity=Client").text
    assert "emailForm" not in audit
