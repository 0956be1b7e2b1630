"""Clients, who are billed, and contacts, the people at a client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select

from app.db import records
from app.errors import Detail, InvalidStateError
from app.http.security import current_caller
from app.models.client import Client, Contact
from app.models.columns import Entity
from app.models.invoice import Invoice
from app.models.lead import Lead
from app.models.ticket import Ticket
from app.odata.names import camel
from app.permissions import allowed
from app.writing.change import Change
from app.writing.operations import DELETE, require_operation
from app.writing.pipeline import EntityService
from app.writing.rules import EntityRules

ADDRESS = ("street", "city", "state", "postal_code", "country")
BALANCES = ("invoiced_total", "outstanding_balance", "credit_balance")

CLIENT = EntityRules(
    model=Client,
    wire_names={
        f"{kind}_{part}": f"{kind}Address.{camel(part)}"
        for kind in ("billing", "shipping")
        for part in ADDRESS
    },
)


class ClientService(EntityService[Client]):
    """Writes of clients."""

    rules = CLIENT
    numbered = ("number", "C")

    def defaults(self, change: Change[Client]) -> None:
        """Bill in the organisation's currency and write in its language."""
        if "currency" not in change.values or "language" not in change.values:
            defaults = change.settings.defaults
            change.default("currency", defaults.currency)
            change.default("language", defaults.language)

    def prepare(self, change: Change[Client]) -> None:
        """The balances are amounts in the client's currency: it stays once there are some."""
        if change.before is None:
            return
        if "currency" in change.values and has_turnover(change.before):
            raise InvalidStateError(
                "The currency of a client cannot change once invoices were issued.",
                [("currency", f"is {change.was('currency')}, the currency of issued invoices")],
            )
        if "status" in change.values:
            change.events.append("client.status_changed")

    def deleting(self, client: Client) -> None:
        """Credit that a client still has is owed to somebody."""
        require_operation("Client", "client", DELETE, client)


def usual_currency(change: Change[Entity]) -> str:
    """The currency of the client of a record; that of the organisation without a client."""
    client = change.related(Client, change.get("client_id"))
    return str(client.currency) if client else change.settings.defaults.currency


def touch_client(client_id: int | None, now: datetime) -> None:
    """Note that something happened around a client.

    The row keeps its version: whoever edits the client is not to fail because a ticket came in.
    """
    if client_id is not None:
        records.update(Client, client_id, {"last_activity_at": now})


def has_turnover(client: Client) -> bool:
    """Whether something counts in the balances of a client, be it against something else."""
    issued = select(Invoice.id).where(
        Invoice.client_id == client.id, Invoice.status.not_in(("Draft", "Void"))
    )
    return bool(client.credit_balance) or records.connection().scalar(issued.limit(1)) is not None


CLIENTS = ClientService()


CONTACT = EntityRules(
    model=Contact,
)

_OTHER_PRIMARY = (
    select(Contact.id)
    .where(Contact.client_id == bindparam("client_id"))
    .where(Contact.is_primary)
    .where(Contact.id != bindparam("key"))
)


# Those that a change locks before the row of the client, as whoever ends or merges a client does.
_CONCERNED = (
    select(Contact)
    .where(
        (Contact.id == bindparam("key"))
        | (Contact.client_id == bindparam("client_id")) & Contact.is_primary
    )
    .order_by(Contact.id)
    .with_for_update(key_share=True)
)


class ContactService(EntityService[Contact]):
    """Writes of contacts."""

    rules = CONTACT

    def revision(
        self,
        key: int,
        values: Mapping[str, Any],
        problems: Sequence[Detail] = (),
        version: int | None = None,
    ) -> Change[Contact]:
        """As of every record; of two that change main contacts crosswise one waits."""
        if values.keys() & {"is_primary", "client_id"} and values.get("is_primary", True):
            before = records.read(Contact, key)
            client_id = values.get("client_id", before and before.client_id)
            if allowed(current_caller(), self.rules.permissions["update"]):
                _lock_concerned(client_id, key)
        return super().revision(key, values, problems, version)

    def defaults(self, change: Change[Contact]) -> None:
        """A new main contact waits for the one there is before anything refers to the client."""
        if change.get("is_primary") and change.history is None:
            _lock_concerned(change.get("client_id"), None)

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


def _lock_concerned(client_id: int | None, key: int | None) -> None:
    """Lock a contact and the main one of a client, the lower key first (on PostgreSQL)."""
    if client_id is not None and records.is_served():
        records.read_all(_CONCERNED, {"key": key, "client_id": client_id})


CONTACTS = ContactService()


def contact_of(record: Invoice | Ticket) -> int | None:
    """The contact of a record that another one is to follow; not one who went to another client."""
    contact = records.read(Contact, record.contact_id)
    is_there = contact is not None and contact.client_id in (None, record.client_id)
    return record.contact_id if is_there else None


def full_name(person: Contact | Lead) -> str:
    """Given and family name, as far as they are known."""
    return " ".join(part for part in (person.first_name, person.last_name) if part)
