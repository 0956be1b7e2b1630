"""A merge of clients as the answer shows it."""

from __future__ import annotations

from typing import Any

from app.crm.clients import CLIENT, CLIENTS
from app.crm.merging import BALANCES, Merge

_SHOWN = ("id", "number", "name", "email", "tax_id", "status")
_MOVED = (
    "contacts", "opportunities", "leads", "tickets", "projects", "invoices", "payments", "tasks",
    "documents",
)  # fmt: skip


def describe_merge(merge: Merge) -> dict[str, Any]:
    """The client that stays, what it got, and what moved."""
    client = CLIENTS.stored(merge.client_id)
    return {
        "clientId": merge.client_id,
        "sourceId": merge.source_id,
        "client": {CLIENT.wire(name): getattr(client, name) for name in _SHOWN},
        "filled": list(merge.filled),
        "moved": {table: merge.moved.get(table, 0) for table in _MOVED},
        "balances": {CLIENT.wire(name): getattr(client, name) for name in BALANCES},
    }
