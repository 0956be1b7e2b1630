"""What the knowledge base lacks: questions that led to no article, and tickets solved without."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import and_, case, exists, func, select

from app.clock import utc_now
from app.container import engine
from app.db.engines import read_engine
from app.db.types import iso_instant
from app.http.schema_parts import answer_body
from app.kb.schemas import MissingSearchSchema
from app.models.kb_use import KbSearch


def missing_articles(days: int, limit: int) -> dict[str, Any]:
    """Searches without a click and solved tickets without an article, of the last ``days``.

    Questions of the same words count as one; the most frequent are first.
    """
    since = utc_now() - timedelta(days=days)
    return {
        "since": since,
        "searches": _searches(since, limit),
        "tickets": _tickets(since, limit),
    }


def _searches(since: datetime, limit: int) -> list[dict[str, Any]]:
    opened = KbSearch.__table__.alias("opened")
    topic = KbSearch.topic
    times = func.count().label("times")
    statement = (
        select(
            func.max(KbSearch.question).label("question"),
            times,
            func.sum(case((KbSearch.found == 0, 1), else_=0)).label("without_result"),
            func.count(KbSearch.principal.distinct()).label("askers"),
            func.max(KbSearch.created_at).label("last_asked_at"),
        )
        .where(KbSearch.created_at >= since, topic != "")
        .where(
            ~exists().where(
                and_(
                    opened.c.topic == topic,
                    opened.c.created_at >= since,
                    opened.c.opened_id.is_not(None),
                )
            )
        )
        .group_by(topic)
        .order_by(times.desc(), topic)
        .limit(limit)
    )
    with read_engine().connect() as connection:
        return [
            answer_body(MissingSearchSchema, row, without_result=int(row.without_result))
            for row in connection.execute(statement)
        ]


def _tickets(since: datetime, limit: int) -> list[dict[str, Any]]:
    """Read by the engine: only tickets that the caller may read."""
    return engine.read_many(
        "Tickets",
        filter=f"solvedAt ge {iso_instant(since)} and not KbArticles/any()",
        select="id,number,subject,category,solvedAt",
        orderby="solvedAt desc,id desc",
        top=limit,
    )
