"""What a page or a button names and is not there: 404, whatever was typed beside it."""

from __future__ import annotations

import pytest

from tests.console.conftest import SignIn

FORMS: dict[str, dict[str, str]] = {
    "documents/987/restore": {},
    "documents/987/shares": {"permission": "view"},
    "documents/987/shares/1/revoke": {},
    "invoices/987/mails/1": {},
    "invoices/987/send": {"to": "a@example.com"},
    "knowledge/987": {"helpful": "yes"},
    "leads/987/convert": {},
    "mail/987": {},
    "reports/987": {"name": "Mine"},
    "reports/987/export": {"format": "csv"},
    "reports/987/schedule": {"step": "stop"},
    "users/987": {"step": "unlock"},
    "users/987/change": {"displayName": "Ada", "roles": "Sales"},
    "webhooks/987": {"url": "https://example.com/hook", "events": "client.*"},
    "webhooks/987/deliveries/1": {},
}


@pytest.mark.parametrize("path", FORMS)
def test_a_form_about_what_is_not_there_is_404(sign_in: SignIn, path: str) -> None:
    answer = sign_in("Admin").submit(path, **FORMS[path])
    assert answer.status_code == 404
    assert "<h1" in answer.text


@pytest.mark.parametrize(
    "path",
    ["documents/987/download", "documents/987/preview", "documents/987/shares", "exports/nothing",
     "exports/nothing/file", "imports/987", "invoices/987/einvoice/ubl", "invoices/987/mails",
     "invoices/987/pdf", "invoices/987/picture", "invoices/987/send", "knowledge/987",
     "leads/987/convert", "reports/987", "tickets/987/suggestions", "users/987", "webhooks/987"],
)  # fmt: skip
def test_a_page_of_what_is_not_there_is_404(sign_in: SignIn, path: str) -> None:
    assert sign_in("Admin").get(path).status_code == 404
