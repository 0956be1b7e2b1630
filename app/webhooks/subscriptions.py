"""Which events an endpoint wants, and what of them its owner may see.

A payload shows a record, so whoever receives it must be allowed to read that record: the same
function decides as for every other way to it (app/permissions.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from flask import current_app
from sqlalchemy import Table, Text, select, type_coerce

from app.auth.rights import is_administrator
from app.db.engines import primary_engine
from app.errors import ForbiddenError, ValidationError, gathered, refuse_any
from app.events import EVENT_NAMES, NAMES
from app.extensions import Model
from app.http.security import Caller
from app.models.event import Event
from app.models.invoice import Invoice
from app.outbound.addresses import UrlError, read_url
from app.permissions import ALL, allowed, scope_of
from app.writing.services import SERVICES

# ``data`` of an event, as its text.
PAYLOAD = type_coerce(Event.payload, Text).label("payload")
# The object of an event -> what one needs to read such records.
PERMISSIONS: Mapping[str, str] = {
    **{each.rules.event: each.rules.permissions["read"] for each in SERVICES.values()},
    "payment": "invoices:read",
    "ai": "ai:act",
    "report": "bi:export",
}
# Events about the administration itself: for administrators only (contract section 12).
FOR_ADMINISTRATORS = ("webhook", "api_key", "user")

_OWNING = {"ownerId": "owner_id", "assigneeId": "assignee_id", "managerId": "manager_id",
           "status": "status"}  # fmt: skip
# What lies in another record is seen by those who see that: its table, and the property of its key.
_CONTAINED: Mapping[str, tuple[type[Model], str]] = {"payment": (Invoice, "invoiceId")}
_MODELS: Mapping[str, type[Model]] = {
    each.rules.event: each.rules.model for each in SERVICES.values()
}


def matches(patterns: Iterable[str], name: str) -> bool:
    """Whether one of ``patterns`` (exact names, ``invoice.*``, ``*``) means the event ``name``."""
    group = name.partition(".")[0]
    return any(pattern in (name, f"{group}.*", "*") for pattern in patterns)


def names_of(patterns: Iterable[str]) -> frozenset[str]:
    """All events that ``patterns`` mean."""
    wanted = tuple(patterns)
    return frozenset(name for name in EVENT_NAMES if matches(wanted, name))


def check_patterns(patterns: Iterable[str], field: str) -> None:
    """Refuse what means no event.

    Raises: ValidationError, naming each.
    """
    problems = [
        (f"{field}[{index}]", f"{pattern[:80]!r} is no event: /docs/guide/events lists them")
        for index, pattern in enumerate(patterns)
        if not names_of((pattern,))
    ]
    refuse_any(problems)


def check_url(url: str) -> None:
    """Refuse an address that would not be called.

    Raises: ValidationError, naming ``url``.
    """
    config = current_app.config
    try:
        read_url(
            url, allow_private=config["WEBHOOK_ALLOW_PRIVATE"], https_only=config["PRODUCTION"]
        )
    except UrlError as error:
        raise ValidationError([("url", str(error))]) from error


def check_endpoint(body: Mapping[str, Any]) -> None:
    """Refuse an address that would not be called, and names that are no events.

    Raises: ValidationError, with each.
    """
    checks = {
        "url": lambda: check_url(body["url"]),
        "events": lambda: check_patterns(body["events"], "events"),
    }
    gathered(*(check for name, check in checks.items() if name in body))


def require_readable(caller: Caller, patterns: Iterable[str]) -> None:
    """Refuse subscriptions to events of which ``caller`` could never see one.

    ``*`` is taken: it means what the owner may see.
    Raises: ForbiddenError.
    """
    for pattern in patterns:
        group = pattern.partition(".")[0]
        if group in NAMES and not may_read_group(caller, group):
            needed = PERMISSIONS.get(group)
            message = (
                f"Your role may not read what {pattern} tells: {needed} is needed."
                if needed
                else f"Only administrators may subscribe to {pattern}."
            )
            raise ForbiddenError(message, [("permission", needed or "Admin")])


def may_see(caller: Caller, name: str, data: str) -> bool:
    """Whether ``caller`` may see an event; ``data`` is read where the record itself decides."""
    group = name.partition(".")[0]
    if not may_read_group(caller, group):
        return False
    if _sees_all(caller, group):
        return True
    return _may_read(caller, group, orjson.loads(data)["object"])


def data_for(caller: Caller | None, name: str, data: str) -> str:
    """``data`` of an event that the caller may see, as the text that he may see.

    What a record was is told to those who could read it then: who reads published articles only
    is not told the draft that came before. ``caller`` is None when the account is gone.
    """
    group = name.partition(".")[0]
    if caller is not None and _sees_all(caller, group):
        return data
    read = orjson.loads(data)
    if not read.get("previous"):
        return data
    before = {**read["object"], **read["previous"]}
    if caller is not None and _may_read(caller, group, before):
        return data
    return orjson.dumps({**read, "previous": None}).decode()


def _sees_all(caller: Caller, group: str) -> bool:
    """Whether no record of an event decides: the caller may read all such records."""
    return group in FOR_ADMINISTRATORS or scope_of(caller, PERMISSIONS[group]) == ALL


def _may_read(caller: Caller, group: str, representation: Mapping[str, Any]) -> bool:
    """Whether the caller may read a record as ``representation``, in the names of the API.

    Of a record that is too large to be told, and of what lies in another, the row decides.
    """
    record: Mapping[str, Any]
    if group in _CONTAINED:
        model, property_ = _CONTAINED[group]
        record = _owning(model, representation.get(property_))
    elif representation.keys() == {"id", "url"}:
        record = _owning(_MODELS[group], representation["id"])
    else:
        record = {column: representation.get(property_) for property_, column in _OWNING.items()}
    return allowed(caller, PERMISSIONS[group], record)


def _owning(model: type[Model], key: Any) -> Mapping[str, Any]:
    """What decides who may read a record: its owners and its state."""
    table: Table = Model.metadata.tables[model.__tablename__]
    columns = [table.c[name] for name in _OWNING.values() if name in table.c]
    with primary_engine().connect() as reading:
        row = reading.execute(select(*columns).where(table.c.id == key)).first()
    return {} if row is None else dict(row._mapping)


def may_read_group(caller: Caller, group: str) -> bool:
    """Whether ``caller`` may see any event about such an object (``invoice``)."""
    if group in FOR_ADMINISTRATORS:
        return is_administrator(caller)
    return allowed(caller, PERMISSIONS[group])
