"""Merging two clients that are the same one: the second goes into the first (docs/adr/0032)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import select

from app import audit
from app.clock import utc_now
from app.crm.clients import ADDRESS, BALANCES, CLIENT, CLIENTS, CONTACTS, has_turnover
from app.crm.matching import has_primary_contact
from app.db import records
from app.db.transactions import advisory_lock
from app.db.types import json_text
from app.errors import InvalidStateError, NotFoundError, ValidationError
from app.http.security import current_caller
from app.models.client import Client, Contact
from app.permissions import require
from app.writing.deletion import lock_dependents, move_references
from app.writing.fields import MAXIMUM_CUSTOM_FIELDS_BYTES, MAXIMUM_TAGS

# What every client has from the start says nothing about it; labels and own fields come together.
_NOT_FILLED = frozenset(
    ("status", "type", "currency", "language", "payment_terms_days", "tags", "custom_fields")
)
_FILLED = tuple(
    name for name in (*CLIENT.all_writable, "origin_lead_id") if name not in _NOT_FILLED
)
# Half of one address and half of another are none.
_TOGETHER = (
    tuple(f"billing_{part}" for part in ADDRESS),
    tuple(f"shipping_{part}" for part in ADDRESS),
    ("e_invoice_scheme", "e_invoice_id"),
)


@dataclass(frozen=True, kw_only=True)
class Merge:
    """What a merge did; ``filled`` by their names on the wire, ``moved`` rows by table."""

    client_id: int
    source_id: int
    filled: tuple[str, ...]
    moved: Mapping[str, int]


def merge_clients(client_id: int, source_id: int) -> Merge:
    """Move everything of the client ``source_id`` to ``client_id``, and delete it.

    What is empty in the client that stays is filled; balances add up; issued invoices keep the
    buyer that is printed on them. It cannot be undone.

    Raises: NotFoundError; ForbiddenError, the caller may not change the one or delete the other;
        ValidationError, they are the same; InvalidStateError, they have balances in two currencies.
    """
    if client_id == source_id:
        raise ValidationError([("sourceId", "is the client that it would be merged into")])
    caller = current_caller()
    # One merge after the other: what one locks the other moves.
    advisory_lock("merge of clients")
    # What refers to clients before them, the lower key first: as payments lock them, too.
    for key in sorted((client_id, source_id)):
        lock_dependents(CLIENT, key)
    for key in sorted((client_id, source_id)):
        records.read(Client, key, lock=True)
    client = CLIENTS.locked(client_id, caller)
    require(caller, "clients:update", client)
    source = _source(source_id)
    require(caller, "clients:delete", source)
    _check_currency(client, source)
    filled = _filled(client, source)
    _make_way(client_id, source_id)
    moved = move_references(CLIENT, source_id, client_id)
    balances = {name: getattr(client, name) + getattr(source, name) for name in BALANCES}
    # The balances have gone over: nothing is lost with the row.
    CLIENTS.roll_up(CLIENTS.stored(source_id), dict.fromkeys(BALANCES, Decimal(0)))
    CLIENTS.remove(source_id, CLIENTS.stored(source_id))
    CLIENTS.roll_up(CLIENTS.stored(client_id), balances)
    # There may be nothing to fill, and without a change there would be no event.
    CLIENTS.apply(client_id, {**filled, "last_activity_at": utc_now()}, "client.merged")
    names = tuple(dict.fromkeys(CLIENT.wire(name).partition(".")[0] for name in filled))
    lost = {"id": source_id, "number": source.number, "name": source.name}
    audit.record(
        "client.merged", "Client", client_id, before={"source": lost},
        after={"filled": list(names), "moved": moved},
    )  # fmt: skip
    return Merge(client_id=client_id, source_id=source_id, filled=names, moved=moved)


def _source(source_id: int) -> Client:
    """The client to merge, named in the body: one that is not there is a problem of that field.

    Raises: ValidationError.
    """
    try:
        return CLIENTS.locked(source_id, current_caller(), ending=True)
    except NotFoundError:
        raise ValidationError([("sourceId", f"there is no client {source_id}")]) from None


def _check_currency(client: Client, source: Client) -> None:
    if client.currency != source.currency and has_turnover(source):
        raise InvalidStateError(
            f"The balances of the client are in {source.currency}, those of the other in"
            f" {client.currency}: they cannot be added up.",
            [("currency", f"is {client.currency} and {source.currency}")],
        )


def _filled(client: Client, source: Client) -> dict[str, Any]:
    """What the client that stays gets from the other: everything that is empty there."""
    parts = {name for group in _TOGETHER for name in group}
    groups = [*_TOGETHER, *((name,) for name in _FILLED if name not in parts)]
    filled = {
        name: value
        for group in groups
        if not any(getattr(client, name) for name in group)
        for name in group
        if (value := getattr(source, name))
    }
    tags = list(dict.fromkeys((*client.tags, *source.tags)))[:MAXIMUM_TAGS]
    if tags != client.tags:
        filled["tags"] = tags
    fields = {**source.custom_fields, **client.custom_fields}
    if fields != client.custom_fields and len(json_text(fields)) <= MAXIMUM_CUSTOM_FIELDS_BYTES:
        filled["custom_fields"] = fields
    return filled


def _make_way(client_id: int, source_id: int) -> None:
    """The main contact of the client that stays remains the main one."""
    if not has_primary_contact(client_id):
        return
    statement = select(Contact.id).where(Contact.client_id == source_id, Contact.is_primary)
    for contact_id in records.connection().execute(statement).scalars().all():
        CONTACTS.apply(contact_id, {"is_primary": False})
