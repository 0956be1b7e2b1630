"""Which clients and contacts are there already for what a lead says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, select

from app.db import records
from app.db.transactions import advisory_lock
from app.http.security import Caller
from app.models.client import Client, Contact
from app.permissions import allowed
from app.writing.normal_forms import email_form, tax_id_form

MatchedBy = Literal["email", "taxId", "explicit"]


@dataclass(frozen=True, slots=True)
class Match:
    """A client that is there already, and what told so."""

    client_id: int
    by: MatchedBy


def lock_matches(values: Mapping[str, Any]) -> None:
    """Wait until nobody else makes a client of the same e-mail address or tax number.

    Two leads of one customer that are converted at once become one client: the second looks for it
    when the first has ended.
    """
    # In one order for everybody, so that two never wait for each other.
    for name, form in (("email", email_form), ("tax_id", tax_id_form)):
        if values.get(name) is not None:
            advisory_lock(f"{name} {form(values[name])}")


def find_client(caller: Caller, values: Mapping[str, Any]) -> Match | None:
    """The oldest client that the caller may read with this e-mail address or tax number.

    Source: contract section 2, decision 7.
    """
    email, tax_id = values.get("email"), values.get("tax_id")
    if email is not None:
        condition = Client.email_form == email_form(email)
        client_id = _first(caller, Client, "clients:read", condition)
        if client_id is not None:
            return Match(client_id, "email")
    if tax_id is not None:
        condition = Client.tax_id_form == tax_id_form(tax_id)
        client_id = _first(caller, Client, "clients:read", condition)
        if client_id is not None:
            return Match(client_id, "taxId")
    return None


def find_contact(caller: Caller, client_id: int, email: str | None) -> int | None:
    """The oldest contact of a client with this e-mail address."""
    if email is None:
        return None
    condition = (Contact.client_id == client_id) & (Contact.email_form == email_form(email))
    return _first(caller, Contact, "contacts:read", condition)


def has_primary_contact(client_id: int) -> bool:
    """Whether the client has a main contact."""
    statement = (
        select(Contact.id).where(Contact.client_id == client_id).where(Contact.is_primary).limit(1)
    )
    return records.connection().execute(statement).first() is not None


def _first(
    caller: Caller, model: type[Client | Contact], permission: str, condition: ColumnElement[bool]
) -> int | None:
    statement = select(model.id, model.owner_id).where(condition).order_by(model.id)
    rows = records.connection().execute(statement)
    return next((row.id for row in rows if allowed(caller, permission, row)), None)
