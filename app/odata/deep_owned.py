"""Collections that an entity owns (the lines of an invoice): values for the owner's service.

The service takes the whole list. A member that a body names by its key keeps what the body leaves
out, so a client can send the lines back with one of them changed.
"""

from __future__ import annotations

from typing import Any

from app.odata import edm
from app.odata.write_rows import kept_values
from app.odata.write_values import is_changeable


def kept_item(type_: edm.EntityType, key: Any) -> dict[str, Any]:
    """What a client could have given for a member, as it stands; empty when it is gone."""
    attributes: list[str] = []
    for prop in type_.properties.values():
        if is_changeable(type_, prop):
            attributes += prop.columns.values() if prop.columns else [prop.attribute]
    return dict(kept_values(type_, key, tuple(attributes)) or {})
