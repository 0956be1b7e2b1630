"""Values that a statement takes at the moment it runs: compiled plans are shared between callers.

A plan names such a value by ``dynamic("caller_id")``; whoever runs the plan fills it in.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BindParameter, Date, bindparam
from sqlalchemy.types import TypeEngine

from app.db.types import Identifier, UtcDateTime

DYNAMIC_TYPES: dict[str, TypeEngine[Any]] = {
    "caller_id": Identifier,
    "now": UtcDateTime(),
    "today": Date(),
}


def dynamic(name: str) -> BindParameter[Any]:
    """A parameter filled at execution: ``caller_id``, ``now`` or ``today``."""
    return bindparam(f"dyn_{name}", type_=DYNAMIC_TYPES[name], required=True)
