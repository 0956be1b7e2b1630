"""Options of the engines that read: no transaction round a statement."""

from __future__ import annotations

from typing import Any

# An autocommitting connection has nothing to roll back when it goes back to the pool.
AUTOCOMMIT: dict[str, Any] = {
    "isolation_level": "AUTOCOMMIT",
    "skip_autocommit_rollback": True,
    "pool_reset_on_return": None,
}
