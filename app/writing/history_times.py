"""When a record of a history was made and last changed, and the rows inside it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time

from app.clock import utc_now
from app.models.columns import Entity
from app.writing.change import Change


def date_past(change: Change[Entity]) -> None:
    """Fill the instants that the record leaves out; ``change.now`` is its last change."""
    values = change.values
    created = values.get("created_at") or change.now
    change.stamp(created_at=created)
    change.stamp(updated_at=max(_instants(change), default=created))
    change.now = values["updated_at"]
    for attribute in change.rules.children:
        for row in values.setdefault(attribute, []):
            day = row.get("at") or row.get("paid_on") or created
            row["created_at"] = row.get("created_at") or _instant(day)


def _instants(change: Change[Entity]) -> Iterator[datetime]:
    """What the record says of when something happened to it."""
    now = utc_now()
    for name, value in change.values.items():
        is_past = isinstance(value, datetime) and (value <= now or name == "created_at")
        if is_past and name.endswith("_at") and "due" not in name:
            yield value


def _instant(value: date) -> datetime:
    """An instant as it is; noon of a day."""
    return value if isinstance(value, datetime) else datetime.combine(value, time(12), UTC)
