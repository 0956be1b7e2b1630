"""The audit log: who did what to which record, written in the transaction of the change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app import records
from app.clock import utc_now
from app.models.event import AuditRecord
from app.request_context import client_address, current_request_id
from app.security import find_caller


def record(
    action: str,
    entity: str | None = None,
    entity_id: int | None = None,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    actor_id: int | None = None,
    ip: str | None = None,
) -> None:
    """Add a line to the audit log.

    Args:
        action: such as ``client.updated`` or ``auth.login``.
        before, after: the changed values in wire spelling; never a secret.
        actor_id: who did it where no caller is authenticated yet (a login).
        ip: the address where no request runs any more.
    """
    caller = find_caller()
    records.insert(
        AuditRecord.__table__,
        {
            "created_at": utc_now(),
            # 0 stands for no user: jobs and commands.
            "actor_id": actor_id or (caller.user_id if caller else 0) or None,
            "via": caller.via if caller else "system",
            "action": action,
            "entity": entity,
            "entity_id": entity_id,
            "before": before,
            "after": after,
            "ip": ip or client_address(),
            "request_id": current_request_id(),
        },
    )
