"""Settings over HTTP: read, replaced, changed, refused by field, kept from others."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from flask import Flask

from app.extensions import db
from app.settings.store import organisation
from tests.contract.conftest import Api

SETTINGS = "/api/admin/settings"
GROUPS = (
    "seller", "bank", "defaults", "invoicing", "reminders", "serviceLevel", "mail",
    "helpDesk", "console", "exchangeRates",
)  # fmt: skip


def problems(answer: Any) -> list[str]:
    assert answer.status_code == 400, answer.text
    assert answer.json["error"]["code"] == "VALIDATION_ERROR"
    return [detail["field"] for detail in answer.json["error"]["details"]]


def test_everything_is_shown_with_its_default(admin: Api) -> None:
    settings = admin.get(SETTINGS).json
    assert set(settings) == {*GROUPS, "logo"}
    assert settings["defaults"] == {
        "currency": "EUR", "language": "en", "timeZone": "UTC", "taxRate": 19,
        "fiscalYearStart": 1,
    }  # fmt: skip
    assert settings["reminders"] == {"enabled": True, "steps": [-3, 3, 14]}
    assert settings["serviceLevel"]["firstResponseHours"]["Urgent"] == 1
    assert settings["logo"] is None
    for group in GROUPS:
        assert admin.get(f"{SETTINGS}/{group}").json == settings[group]


def test_reading_begins_no_transaction(admin: Api, app: Flask) -> None:
    admin.patch(f"{SETTINGS}/seller", {"name": "Acme GmbH"})
    with app.app_context():
        assert organisation().seller.name == "Acme GmbH"
        assert not db.session().in_transaction()


def test_patch_merges_and_put_replaces(admin: Api) -> None:
    path = f"{SETTINGS}/seller"
    assert admin.put(path, {"name": "Acme", "city": "Berlin", "country": "de"}).status_code == 200
    changed = admin.patch(path, {"city": " Hamburg ", "phone": "+49 40 123456"}).json
    assert (changed["name"], changed["city"], changed["country"]) == ("Acme", "Hamburg", "DE")
    assert admin.patch(path, {"city": None}).json["city"] is None
    assert admin.patch(path, {"name": ""}).json["name"] == "My Company"
    replaced = admin.put(path, {"name": "Acme"}).json
    assert (replaced["name"], replaced["phone"], replaced["country"]) == ("Acme", None, None)
    assert admin.get(SETTINGS).json["seller"] == replaced
    refused = admin.put(path, None)
    assert (refused.status_code, refused.json["error"]["code"]) == (400, "VALIDATION_ERROR")
    assert admin.get(SETTINGS).json["seller"] == replaced


@pytest.mark.parametrize("path", [SETTINGS, f"{SETTINGS}/seller"])
def test_a_change_of_somebody_else_is_not_overwritten(admin: Api, path: str) -> None:
    def body(city: str) -> dict[str, Any]:
        return {"seller": {"city": city}} if path == SETTINGS else {"city": city}

    first = admin.get(path)
    tag = {"If-Match": first.headers["ETag"]}
    assert admin.get(path, headers={"If-None-Match": first.headers["ETag"]}).status_code == 304
    tried = admin.patch(f"{path}?dryRun=true", body("Bonn"), headers=tag)
    assert (tried.status_code, "ETag" in tried.headers) == (200, False)
    changed = admin.patch(path, body("Ulm"), headers=tag)
    assert changed.status_code == 200
    assert changed.headers["ETag"] == admin.get(path).headers["ETag"] != first.headers["ETag"]
    for write in (admin.patch, admin.put):
        refused = write(path, body("Bonn"), headers=tag)
        assert refused.status_code == 412
        assert refused.json["error"]["code"] == "PRECONDITION_FAILED"
    assert admin.get(f"{SETTINGS}/seller").json["city"] == "Ulm"
    both = {"If-Match": f'"other", {changed.headers["ETag"]}'}
    assert admin.put(path, body("Kiel"), headers=both).status_code == 200
    assert admin.put(path, body("Jena"), headers={"If-Match": "*"}).status_code == 200
    assert admin.put(path, body("Gera")).status_code == 200


def test_what_was_read_can_be_sent_back(admin: Api) -> None:
    before = admin.get(SETTINGS).json
    assert admin.put(SETTINGS, before).json == before
    assert admin.patch(SETTINGS, before).json == before


def test_several_groups_are_changed_together_or_not_at_all(admin: Api) -> None:
    before = admin.get(SETTINGS).json
    refused = admin.patch(SETTINGS, {"seller": {"city": "Ulm"}, "bank": {"iban": "DE00", "bic": 5}})
    assert problems(refused) == ["bank.iban", "bank.bic"]
    assert admin.get(SETTINGS).json == before
    body = {"seller": {"city": "Ulm"}, "exchangeRates": {"USD": 0.91234567}}
    after = admin.patch(SETTINGS, body).json
    assert (after["seller"]["city"], after["exchangeRates"]) == (
        "Ulm", {"USD": Decimal("0.91234567")},
    )  # fmt: skip
    assert problems(admin.patch(SETTINGS, {"colours": {}})) == ["colours"]


@pytest.mark.parametrize(("given", "kept"), [("0204", "0204"), ("em", "EM")])
def test_a_scheme_of_electronic_addresses_is_kept_as_its_list_writes_it(
    admin: Api, given: str, kept: str
) -> None:
    answer = admin.patch(f"{SETTINGS}/seller", {"eInvoiceScheme": given})
    assert (answer.status_code, answer.json["eInvoiceScheme"]) == (200, kept)


def test_a_dry_run_leaves_nothing(admin: Api) -> None:
    before = admin.get(SETTINGS).json
    assert admin.put(f"{SETTINGS}/bank?dryRun=true", {"bankName": "B"}).json["bankName"] == "B"
    assert admin.patch(f"{SETTINGS}?dryRun=true", {"bank": {"bankName": "B"}}).status_code == 200
    assert admin.get(SETTINGS).json == before


@pytest.mark.parametrize(
    ("group", "name", "value"),
    [
        ("seller", "taxId", "DE123456789"),
        ("seller", "taxId", "FR1"),
        ("seller", "taxId", "none yet"),
        ("invoicing", "closedUntil", "9999-12-31"),
        ("seller", "country", "XX"),
        ("seller", "email", "a@b\r\nBcc: c@d.example"),
        ("seller", "phone", "call me"),
        ("seller", "website", "javascript:alert(1)"),
        ("seller", "name", "x" * 201),
        ("seller", "name", "One\nTwo"),
        ("seller", "name", 7),
        ("seller", "eInvoiceScheme", "12345"),
        ("seller", "eInvoiceScheme", "\u0660\u0662\u0660\u0664"),  # digits of another script
        ("seller", "eInvoiceScheme", "XX"),
        ("bank", "iban", "DE02120300000000202052"),
        ("bank", "iban", "0" * 43),
        ("bank", "bic", "NOTABIC"),
        ("defaults", "currency", "XYZ"),
        ("defaults", "language", "no language"),
        ("defaults", "timeZone", "Berlin"),
        ("defaults", "taxRate", 101),
        ("defaults", "taxRate", -1),
        ("defaults", "taxRate", 19.001),
        ("defaults", "taxRate", True),
        ("invoicing", "series", "IN V"),
        ("invoicing", "series", "../../etc"),
        ("reminders", "enabled", "yes"),
        ("reminders", "steps", [3, 3]),
        ("reminders", "steps", [14, 3]),
        ("reminders", "steps", 3),
        ("reminders", "steps", list(range(11))),
        ("serviceLevel", "autoCloseDays", 0),
        ("serviceLevel", "firstResponseHours", []),
        ("mail", "senderAddress", "billing"),
        ("mail", "senderName", "A\r\nB"),
        ("mail", "templates", "hello"),
    ],
)
def test_a_bad_value_is_refused_by_field(admin: Api, group: str, name: str, value: Any) -> None:
    before = admin.get(SETTINGS).json
    for write in (admin.put, admin.patch):
        assert problems(write(f"{SETTINGS}/{group}", {name: value})) == [name]
    assert admin.get(SETTINGS).json == before


@pytest.mark.parametrize(
    ("group", "body", "field"),
    [
        ("serviceLevel", {"resolutionHours": {"Urgent": 0}}, "resolutionHours.Urgent"),
        ("serviceLevel", {"resolutionHours": {"Soon": 1}}, "resolutionHours.Soon"),
        ("reminders", {"steps": [3, 400]}, "steps[1]"),
        ("exchangeRates", {"USD": 0}, "USD"),
        ("exchangeRates", {"XYZ": 1}, "XYZ"),
        ("exchangeRates", {"usd": 1}, "usd"),
        ("mail", {"templates": {"letter": {}}}, "templates.letter"),
        ("mail", {"templates": {"invoice": {"??": {}}}}, "templates.invoice.??"),
        (
            "mail",
            {"templates": {"invoice": {"en": {"subject": "{secret}"}}}},
            "templates.invoice.en.subject",
        ),
        (
            "mail",
            {"templates": {"invoice": {"en": {"subject": "a\nb"}}}},
            "templates.invoice.en.subject",
        ),
    ],
)
def test_a_bad_member_is_named(admin: Api, group: str, body: Any, field: str) -> None:
    assert problems(admin.put(f"{SETTINGS}/{group}", body)) == [field]


def test_unknown_settings_and_groups_are_refused(admin: Api) -> None:
    assert problems(admin.put(f"{SETTINGS}/seller", {"colour": "red"})) == ["colour"]
    assert admin.get(f"{SETTINGS}/colours").status_code == 404
    assert admin.put(f"{SETTINGS}/seller", []).status_code == 400


def test_hours_not_given_stay(admin: Api) -> None:
    path = f"{SETTINGS}/serviceLevel"
    after = admin.patch(path, {"firstResponseHours": {"High": 2}}).json
    assert after["firstResponseHours"] == {"Low": 24, "Normal": 8, "High": 2, "Urgent": 1}


def test_spaces_in_bank_data_are_taken_out(admin: Api) -> None:
    body = {"iban": "DE02 1203 0000 0000 2020 51", "bic": "byladem1001"}
    after = admin.put(f"{SETTINGS}/bank", body).json
    assert (after["iban"], after["bic"]) == ("DE02120300000000202051", "BYLADEM1001")


def test_the_series_of_new_documents_is_that_of_the_settings(admin: Api) -> None:
    body = {"series": "RE", "creditNoteSeries": "GS"}
    assert admin.put(f"{SETTINGS}/invoicing", body).status_code == 200
    client = admin.post("/odata/Clients", {"name": "Acme"}).json["id"]
    line = {"description": "Work", "unitPrice": 100}
    invoice = admin.post("/odata/Invoices", {"clientId": client, "LineItems": [line]}).json
    assert invoice["series"] == "RE"
    admin.patch(f"/odata/Invoices({invoice['id']})", {"status": "Sent"})
    credit = admin.post(f"/api/invoices/{invoice['id']}/credit-note", {"issue": True}).json
    assert credit["number"].startswith("GS-")


def test_the_currency_stays_once_documents_are_issued(admin: Api) -> None:
    path = f"{SETTINGS}/defaults"
    assert admin.patch(path, {"currency": "CHF"}).status_code == 200
    client = admin.post("/odata/Clients", {"name": "Acme"}).json["id"]
    line = {"description": "Work", "unitPrice": 100}
    invoice = admin.post("/odata/Invoices", {"clientId": client, "LineItems": [line]}).json
    admin.patch(f"/odata/Invoices({invoice['id']})", {"status": "Sent"})
    refused = admin.patch(path, {"currency": "EUR"})
    assert (refused.status_code, refused.json["error"]["code"]) == (409, "INVALID_STATE")
    assert admin.put(path, {"taxRate": 7}).status_code == 409
    assert admin.patch(path, {"taxRate": 7.7}).json["taxRate"] == Decimal("7.7")


def test_changes_are_audited(admin: Api) -> None:
    admin.put(f"{SETTINGS}/bank", {"bankName": "Old"})
    admin.patch(f"{SETTINGS}/bank", {"bankName": "New"})
    items = admin.get("/api/admin/audit?action=settings.updated").json["items"]
    assert [(item["before"], item["after"]) for item in items] == [
        ({"bank": {"bankName": "Old"}}, {"bank": {"bankName": "New"}}),
        ({"bank": None}, {"bank": {"bankName": "Old"}}),
    ]


def test_only_administrators_see_and_change_them(sign_in: Callable[..., Api]) -> None:
    for role in ("Manager", "Sales", "Accountant", "Support", "Viewer"):
        user = sign_in(role)
        for path in (SETTINGS, f"{SETTINGS}/seller"):
            assert user.get(path).status_code == 403, role
            assert user.put(path, {}).status_code == 403
            assert user.patch(path, {}).status_code == 403
