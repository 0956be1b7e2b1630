"""Reading inside the service."""

from __future__ import annotations

import pytest

from app.container import engine
from app.errors import NotFoundError
from app.http.security import Caller
from tests.business import admin
from tests.factories import make_client, make_contact, make_task

__all__ = ["admin"]


def test_what_a_navigation_property_leads_to_is_found(admin: Caller) -> None:
    client = make_client(name="Acme")
    contact = make_contact(client_id=client)
    row = engine.find_one(f"Contacts({contact})/Client", select="id,name")
    assert row == {"id": client, "name": "Acme"}


@pytest.mark.parametrize(
    "path",
    ["Contacts({contact})/Client", "Tasks({task})/ParentTask", "Contacts(99)", "Clients(99)"],
)
def test_where_nothing_is_nothing_is_found(admin: Caller, path: str) -> None:
    path = path.format(contact=make_contact(client_id=None), task=make_task())
    assert engine.find_one(path) is None
    with pytest.raises(NotFoundError):
        engine.read_one(path)
