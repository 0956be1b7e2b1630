"""The page of canned answers; tests/console/test_tickets.py has what becomes of them."""

from __future__ import annotations

from app.console.settings import ADDRESS
from tests.console.conftest import SignIn


def test_its_form_leads_to_itself(sign_in: SignIn) -> None:
    assert f'action="{ADDRESS}/answers"' in sign_in("Admin").get("settings/answers").text
