"""What waits for the worker: rows of the outbox tables, by the name of the queue."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select

from app.models.event import Event, OutgoingMail
from app.models.import_job import ImportJob
from app.models.kb_article import KbArticle
from app.models.report import ReportExport
from app.models.webhook import WebhookDelivery

_EVENTS: Any = Event.__table__
_DELIVERIES: Any = WebhookDelivery.__table__
_MAIL: Any = OutgoingMail.__table__
_IMPORTS: Any = ImportJob.__table__
_EXPORTS: Any = ReportExport.__table__
_ARTICLES: Any = KbArticle.__table__
# Name of the queue -> its rows, and which of them wait.
_WAITING: Mapping[str, tuple[Any, Any]] = {
    "events": (_EVENTS, _EVENTS.c.dispatched_at.is_(None)),
    "webhooks": (_DELIVERIES, _DELIVERIES.c.status == "pending"),
    "mail": (_MAIL, _MAIL.c.status.in_(("queued", "sending"))),
    "imports": (_IMPORTS, _IMPORTS.c.finished_at.is_(None)),
    "exports": (_EXPORTS, _EXPORTS.c.status.in_(("queued", "running"))),
    "search": (_ARTICLES, (_ARTICLES.c.status == "Published") & _ARTICLES.c.indexed_at.is_(None)),
}
# Rows that were there before they began to wait: nothing says since when they do.
_AGELESS = ("search",)


def waiting(connection: Connection, queue: str) -> tuple[int, datetime | None]:
    """How many rows of a queue wait, and since when the oldest does where that is known.

    Raises: KeyError, there is no such queue.
    """
    table, condition = _WAITING[queue]
    depth, oldest = connection.execute(
        select(func.count(), func.min(table.c.created_at)).where(condition)
    ).one()
    if queue in _AGELESS:
        return depth, None
    return depth, datetime.fromisoformat(oldest) if isinstance(oldest, str) else oldest
