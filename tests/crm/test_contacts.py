"""Contacts: one main contact for each client."""

from __future__ import annotations

import pytest

from app.errors import ValidationError
from app.http.security import Caller
from tests.factories import event_names, make_client, make_contact, stored, update


def primaries(*keys: int) -> list[bool]:
    return [stored("Contact", key)["is_primary"] for key in keys]


def test_a_new_main_contact_takes_the_place_of_the_old(admin: Caller) -> None:
    client_id, other_client = make_client(), make_client()
    first = make_contact(client_id=client_id, is_primary=True)
    elsewhere = make_contact(client_id=other_client, is_primary=True)
    second = make_contact(client_id=client_id, is_primary=True)
    assert primaries(first, second, elsewhere) == [False, True, True]
    update("Contact", first, is_primary=True)
    assert primaries(first, second, elsewhere) == [True, False, True]
    assert event_names("Contact", second) == ["contact.created", "contact.updated"]


def test_a_main_contact_that_moves_replaces_the_one_there(admin: Caller) -> None:
    client_id = make_client()
    resident = make_contact(client_id=client_id, is_primary=True)
    mover = make_contact(client_id=make_client(), is_primary=True)
    update("Contact", mover, client_id=client_id)
    assert primaries(resident, mover) == [False, True]


def test_a_main_contact_needs_a_client(admin: Caller) -> None:
    with pytest.raises(ValidationError) as refused:
        make_contact(is_primary=True)
    assert refused.value.details[0].field == "isPrimary"
    key = make_contact(client_id=make_client(), is_primary=True)
    update("Contact", key, client_id=None)
    assert primaries(key) == [False]
