"""Contacts: the people at a client."""

from __future__ import annotations

from sqlalchemy import bindparam, select

from app.db import records
from app.models.client import Client, Contact
from app.writing.change import Change
from app.writing.pipeline import EntityService
from app.writing.rules import EntityRules

CONTACT = EntityRules(
    model=Contact,
)

_OTHER_PRIMARY = (
    select(Contact.id)
    .where(Contact.client_id == bindparam("client_id"))
    .where(Contact.is_primary)
    .where(Contact.id != bindparam("key"))
)


class ContactService(EntityService[Contact]):
    """Writes of contacts."""

    rules = CONTACT

    def check(self, change: Change[Contact]) -> None:
        """Only a contact of a client can be the main one."""
        if change.concerns("is_primary", "client_id") and change.get("is_primary"):
            if change.get("client_id") is not None:
                return
            if "is_primary" in change.named:
                change.refuse("is_primary", "needs a clientId: it is one contact for each client")
            else:
                change.values["is_primary"] = False

    def prepare(self, change: Change[Contact]) -> None:
        """Make way: the contact that was the main one until now is so no more."""
        if not change.changes("is_primary", "client_id") or not change.get("is_primary"):
            return
        if change.history is not None:  # two main contacts of one client are refused there
            return
        client_id = change.get("client_id")
        # Two requests that each make a main contact take turns at the client's row.
        records.read(Client, client_id, lock=True)
        others = records.connection().execute(
            _OTHER_PRIMARY, {"client_id": client_id, "key": change.key}
        )
        for other in others.scalars().all():
            self.apply(other, {"is_primary": False})


CONTACTS = ContactService()
