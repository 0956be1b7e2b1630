"""The journal: every event in the order in which it was committed, to pull what was missed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from sqlalchemy import func, select

from app.db.engines import primary_engine
from app.db.types import AnyRow
from app.errors import ValidationError
from app.http.schema_parts import answer_body
from app.http.security import Caller, current_caller
from app.models.event import Event
from app.webhooks.schemas import EventSchema
from app.webhooks.subscriptions import PAYLOAD, data_for, may_read_group, may_see, names_of


def read_journal(after: str | None, patterns: Sequence[str], limit: int) -> dict[str, Any]:
    """The events behind ``after`` that the caller may see, oldest first.

    Args:
        after: ``next`` of the last page, or the id of an event; None for the beginning.
        patterns: which events: exact names, ``invoice.*``, ``*``; none for all.
    Returns: ``{items, next, hasMore, gap}``; a page may be shorter than ``limit`` although there
        is more, where the rest of it is not for the caller. ``gap``: events right behind ``after``
        are not kept any more, or were lost when a backup was restored.
    Raises: ValidationError, ``after`` is neither.
    """
    caller = current_caller()
    begin = _position(after)
    wanted = names_of(patterns or ("*",))
    names = sorted(name for name in wanted if may_read_group(caller, name.partition(".")[0]))
    statement = (
        select(
            Event.position, Event.key, Event.type, Event.created_at,
            Event.entity, Event.entity_id, Event.request_id,
            PAYLOAD,
        )
        .where(Event.position > begin, Event.type.in_(names))
        .order_by(Event.position)
        .limit(limit + 1)
    )  # fmt: skip
    with primary_engine().connect() as connection:
        first = select(func.min(Event.position)).where(Event.position > begin)
        next_position: int | None = connection.execute(first).scalar()
        rows = connection.execute(statement).all()
    page = rows[:limit]
    return {
        "items": [item for row in page if (item := _item(caller, row)) is not None],
        "next": str(page[-1].position if page else begin),
        "hasMore": len(rows) > limit,
        "gap": after is not None and next_position is not None and begin + 1 < next_position,
    }


def _item(caller: Caller, row: AnyRow) -> dict[str, Any] | None:
    """An event as it is shown; None when the caller may not see it."""
    if not may_see(caller, row.type, row.payload):
        return None
    data = orjson.Fragment(data_for(caller, row.type, row.payload))
    return answer_body(
        EventSchema, row, id=row.key, cursor=str(row.position), timestamp=row.created_at, data=data
    )


def _position(after: str | None) -> int:
    if after is None:
        return 0
    if after.isascii() and after.isdigit() and len(after) <= 18:
        return int(after)
    if after.startswith("evt_"):
        with primary_engine().connect() as connection:
            statement = select(Event.position).where(Event.key == after[:40])
            position: int | None = connection.execute(statement).scalar()
        if position is not None:
            return position
    raise ValidationError(
        [("after", "must be next of an earlier answer, or the id of an event that is still kept")]
    )
