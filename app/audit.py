"""The audit log: who did what to which record, written in the transaction of the change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict, Unpack

from app.clock import utc_now
from app.db import records
from app.http.request_context import client_address, current_request_id
from app.http.security import find_caller
from app.models.event import AuditRecord


class Details(TypedDict, total=False):
    """What a line tells besides the deed and its record.

    ``before`` and ``after`` are the changed values in wire spelling, never a secret; ``actor_id``
    who did it where no caller is authenticated yet (a login); ``ip`` the address where no request
    runs any more.
    """

    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    actor_id: int | None
    ip: str | None


def record(
    action: str, entity: str | None = None, entity_id: int | None = None, **details: Unpack[Details]
) -> None:
    """Add a line to the audit log; ``action`` is such as ``client.updated`` or ``auth.login``."""
    records.append(AuditRecord, row_of(action, entity, entity_id, **details))


def row_of(
    action: str, entity: str | None = None, entity_id: int | None = None, **details: Unpack[Details]
) -> dict[str, Any]:
    """The row that ``record`` writes, for whoever writes many."""
    caller = find_caller()
    return {
        "created_at": utc_now(),
        # 0 stands for no user: jobs and commands.
        "actor_id": details.get("actor_id") or (caller.user_id if caller else 0) or None,
        "via": caller.via if caller else "system",
        "action": action,
        "entity": entity,
        "entity_id": entity_id,
        "before": details.get("before"),
        "after": details.get("after"),
        "ip": details.get("ip") or client_address(),
        "request_id": current_request_id(),
    }
