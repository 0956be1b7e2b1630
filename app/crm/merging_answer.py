"""A merge of clients as the answer shows it."""

from __future__ import annotations

from typing import Any

from app.crm.clients import CLIENTS
from app.crm.merging import Merge
from app.crm.schemas import BalancesSchema, MergedClientSchema, MergedRowsSchema
from app.http.schema_parts import shown


def describe_merge(merge: Merge) -> dict[str, Any]:
    """The client that stays, what it got, and what moved."""
    client = CLIENTS.stored(merge.client_id)
    return {
        "clientId": merge.client_id,
        "sourceId": merge.source_id,
        "client": shown(MergedClientSchema, client),
        "filled": list(merge.filled),
        "moved": {table: merge.moved.get(table, 0) for table in MergedRowsSchema().fields},
        "balances": shown(BalancesSchema, client),
    }
