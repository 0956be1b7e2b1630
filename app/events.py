"""Events: the list of their names, and the outbox row that one becomes (contract section 12)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson

from app.clock import utc_now
from app.db import records
from app.db.types import json_text
from app.extensions import Extension
from app.http.request_context import current_request_id
from app.http.security import find_caller
from app.models.event import Event

NAMES: Mapping[str, tuple[str, ...]] = {
    "client": ("created", "updated", "deleted", "status_changed", "merged"),
    "contact": ("created", "updated", "deleted"),
    "lead": ("created", "updated", "deleted", "status_changed", "assigned", "disqualified",
             "converted"),
    "opportunity": ("created", "updated", "deleted", "stage_changed", "assigned", "won", "lost",
                    "reopened"),
    "ticket": ("created", "updated", "deleted", "status_changed", "assigned", "comment_added",
               "solved", "closed", "reopened", "merged", "sla_at_risk", "sla_breached"),
    "invoice": ("created", "updated", "deleted", "issued", "sent", "send_failed", "viewed",
                "partially_paid", "paid", "overdue", "reminder_sent", "voided", "uncollectible",
                "credited"),
    "payment": ("created", "reversed"),
    "kb_article": ("created", "updated", "deleted", "submitted", "published", "unpublished",
                   "archived", "feedback_received"),
    "document": ("uploaded", "updated", "version_added", "deleted", "restored", "shared",
                 "share_revoked", "share_accessed", "downloaded", "quarantined"),
    "task": ("created", "updated", "deleted", "assigned", "status_changed", "completed", "overdue"),
    "product": ("created", "updated", "deleted"),
    "project": ("created", "updated", "deleted", "status_changed", "completed"),
    "ai": ("action_proposed", "action_executed"),
    "report": ("exported",),
    "webhook": ("ping", "disabled"),
    "api_key": ("created", "revoked"),
    "user": ("created", "disabled", "locked"),
}  # fmt: skip
EVENT_NAMES = frozenset(f"{object_}.{verb}" for object_, verbs in NAMES.items() for verb in verbs)

# A larger object is replaced by its id and address: receivers are promised at most 20 KB, the
# envelope around it included.
MAX_PAYLOAD_BYTES = 19_800

# (entity type name, keys) -> key -> the JSON text as OData shows it
Represent = Callable[[str, Sequence[int]], Mapping[int, str]]
representations: Extension[Represent] = Extension("representations")
addresses: Extension[Callable[[str, int], str]] = Extension("entity_url")


def emit(
    name: str,
    entity: str,
    entity_id: int,
    *,
    sequence: int | None = None,
    representation: str | None = None,
    previous: Mapping[str, Any] | None = None,
    details: Mapping[str, Any] | None = None,
) -> None:
    """Write an event into the outbox, in the transaction of the change.

    Args:
        entity: name of the entity type, such as ``Invoice``.
        sequence: the record's row version after the change; two events of one change share it.
            What has no row version (an account) is counted by the clock.
        representation: the JSON text of the entity when the caller has it; else it is read.
        previous: the changed properties as they were, in wire spelling.
        details: what the event tells besides the record, in wire spelling.
    Raises: KeyError, ``name`` is not an event.
    """
    row = row_of(
        name, entity, entity_id,
        sequence=sequence, representation=representation, previous=previous, details=details,
    )  # fmt: skip
    records.append(Event, row)


def row_of(
    name: str,
    entity: str,
    entity_id: int,
    *,
    sequence: int | None = None,
    representation: str | None = None,
    previous: Mapping[str, Any] | None = None,
    details: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The row that ``emit`` writes, for whoever needs its key.

    Raises: KeyError, ``name`` is not an event.
    """
    if name not in EVENT_NAMES:
        raise KeyError(name)
    if representation is None:
        representation = represent(entity, entity_id)
    caller = find_caller()
    actor = (
        {"id": caller.user_id or None, "via": caller.via}
        if caller
        else {"id": None, "via": "system"}
    )
    now = utc_now()
    if sequence is None:
        sequence = int(now.timestamp() * 1000)
    rest: dict[str, Any] = {"actor": actor, "sequence": sequence, **(details or {})}
    if previous is not None:
        rest = {"previous": previous, **rest}
    payload = '{"object":' + representation + "," + json_text(rest)[1:]
    if len(payload.encode()) > MAX_PAYLOAD_BYTES:
        reference = json_text({"id": entity_id, "url": entity_url(entity, entity_id)})
        payload = '{"object":' + reference + "," + json_text(rest)[1:]
        if len(payload.encode()) > MAX_PAYLOAD_BYTES:
            payload = '{"object":' + reference + "," + json_text({**rest, "previous": None})[1:]
    return {
        "key": _event_key(now),
        "created_at": now,
        "type": name,
        "entity": entity,
        "entity_id": entity_id,
        "sequence": sequence,
        "payload": orjson.Fragment(payload),
        "request_id": current_request_id(),
    }


def _event_key(now: datetime) -> str:
    """``evt_`` and 32 hexadecimal digits, 12 of the time: the index of keys grows at its end."""
    return f"evt_{int(now.timestamp() * 1000):012x}{os.urandom(10).hex()}"


def represent(entity: str, entity_id: int) -> str:
    """The JSON text of an entity as OData shows it, as the running transaction leaves it."""
    return represent_all(entity, (entity_id,))[entity_id]


def represent_all(entity: str, keys: Sequence[int]) -> Mapping[int, str]:
    """Key -> what ``represent`` gives."""
    return representations.current(entity, keys)


def entity_url(entity: str, entity_id: int) -> str:
    """The address of an entity, relative to the service."""
    return addresses.current(entity, entity_id)
