"""A lead becomes a client that is there already, where the caller may read it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.crm.matching import Match, find_client, find_contact
from app.http.security import Caller
from tests import factories


@pytest.mark.parametrize(
    ("values", "by"),
    [
        ({"email": " INFO@Example.com "}, "email"),
        ({"tax_id": "de 811 907 980"}, "taxId"),
        ({"email": "info@example.com", "tax_id": "DE811907980"}, "email"),
        ({"email": "other@example.com", "tax_id": "DE811907980"}, "taxId"),
        ({"email": "other@example.com"}, None),
        ({}, None),
    ],
)
def test_the_oldest_client_is_found_however_it_is_written(
    admin: Caller, values: dict[str, Any], by: Any
) -> None:
    first = factories.make_client(email="info@example.com", tax_id="DE811907980")
    factories.make_client(email="info@example.com", tax_id="DE811907980")
    assert find_client(admin, values) == (Match(first, by) if by else None)


def test_what_the_caller_may_not_read_is_not_there(admin: Caller) -> None:
    factories.make_client(email="info@example.com")
    stranger = replace(admin, rights={"clients:read": "own"}, user_id=admin.user_id + 1)
    assert find_client(stranger, {"email": "info@example.com"}) is None


def test_a_contact_is_found_at_its_own_client(admin: Caller) -> None:
    client, other = factories.make_client(), factories.make_client()
    contact = factories.make_contact(client_id=client, email="ann@example.com")
    assert find_contact(admin, client, "Ann@Example.com") == contact
    assert find_contact(admin, other, "ann@example.com") is None
    assert find_contact(admin, client, None) is None
