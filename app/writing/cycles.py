"""Records that follow one another: no chain of them comes back to where it began."""

from __future__ import annotations

from app.db.transactions import advisory_lock
from app.models.columns import Entity
from app.writing.change import Change

# A chain longer than this is a mistake, and every step of it is a query.
DEEPEST = 50


def refuse_ring(change: Change[Entity], attribute: str, message: str) -> None:
    """Refuse the record that ``attribute`` names where its chain comes back to the one written."""
    following = change.get(attribute)
    if following is None or not change.concerns(attribute):
        return
    if not change.is_new:
        # Two records, each made to follow the other at the same time, do not see it otherwise.
        advisory_lock(f"{change.rules.name} {attribute}")
    seen = 0
    while following is not None:
        seen += 1
        if following == change.key or seen > DEEPEST:
            change.refuse(attribute, message)
            return
        following = getattr(change.related(change.rules.model, following), attribute, None)
