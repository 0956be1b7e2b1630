"""How the knowledge base is used: questions, articles opened, what readers say, what is missing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import structlog
from flask import has_request_context
from sqlalchemy import ColumnElement, case, exists, func, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import aliased

from app import audit
from app.clock import utc_now
from app.container import engine
from app.db import records
from app.db.engines import read_engine, transaction
from app.db.types import iso_instant
from app.errors import NotFoundError
from app.events import emit
from app.http.request_context import running_app, when_answered
from app.http.schema_parts import answer_body
from app.http.security import acting_as, current_caller
from app.kb.schemas import FeedbackSchema, MissingSearchSchema
from app.kb.search import SearchResult
from app.kb.service import KB_ARTICLES
from app.models.kb_article import KbArticle, KbFeedback, KbSearch
from app.permissions import OWN, require, scope_of
from app.search.analysis import terms

# An article that is opened so long after it was found was opened for something else.
OPENED_WITHIN = timedelta(minutes=30)
LONGEST_QUESTION = 300

_log = structlog.get_logger()


def note_search(question: str, result: SearchResult, language: str | None = None) -> None:
    """Keep a question for the report of missing articles; written when the answer is out."""
    topic = " ".join(sorted(set(terms(question, "en"))))
    row = {
        "created_at": utc_now(),
        "principal": current_caller().principal,
        "question": question[:LONGEST_QUESTION],
        "topic": topic[:LONGEST_QUESTION],
        "language": language,
        "found": result.total,
        "shown": [match.article["id"] for match in result.found],
    }
    _later(partial(records.insert, KbSearch, row))


def note_view(article_id: int) -> None:
    """Count that the caller reads an article, and that a search led to it."""
    _later(partial(_count_view, article_id, current_caller().principal))


def rate_article(article_id: int, *, is_helpful: bool, comment: str | None) -> dict[str, Any]:
    """What the caller says of an article; the last word of each caller counts.

    Returns: ``articleId``, ``helpful``, ``comment`` and both counts.
    Raises: NotFoundError, there is none that the caller may read.
    """
    caller = current_caller()
    article = KB_ARTICLES.locked(article_id, caller)
    if article.status != "Published":
        raise NotFoundError(f"There is no published article {article_id}.")
    mine = (KbFeedback.article_id == article_id) & (KbFeedback.principal == caller.principal)
    connection = records.connection()
    known = records.find(select(KbFeedback).where(mine))
    now = utc_now()
    rating = {"is_helpful": is_helpful, "comment": comment, "updated_at": now}
    if known is None:
        key = {"article_id": article_id, "principal": caller.principal, "created_at": now}
        records.insert(KbFeedback, key | rating)
    else:
        connection.execute(update(KbFeedback).where(mine).values(rating))
    counts = {
        "helpful_count": article.helpful_count,
        "not_helpful_count": article.not_helpful_count,
    }
    if known is not None:
        counts[_counter(known.is_helpful)] -= 1
    counts[_counter(is_helpful)] += 1
    version = KB_ARTICLES.roll_up(article, counts)
    _note_opened(article_id, caller.principal)
    after = {"helpful": is_helpful, "comment": comment}
    audit.record("kb_article.feedback_received", "KbArticle", article_id, after=after)
    emit(
        "kb_article.feedback_received", "KbArticle", article_id,
        sequence=version,
        previous={
            "helpfulCount": article.helpful_count,
            "notHelpfulCount": article.not_helpful_count,
        },
    )  # fmt: skip
    return answer_body(
        FeedbackSchema, counts, article_id=article_id, helpful=is_helpful, comment=comment
    )


def list_feedback(article_id: int) -> list[dict[str, Any]]:
    """What readers said of an article, newest first, for those who may change it.

    Raises: NotFoundError; ForbiddenError.
    """
    caller = current_caller()
    require(caller, "kb:update", KB_ARTICLES.locked(article_id, caller))
    statement = (
        select(KbFeedback)
        .where(KbFeedback.article_id == article_id)
        .order_by(KbFeedback.updated_at.desc(), KbFeedback.id.desc())
        .limit(200)
    )
    return [
        {"helpful": row.is_helpful, "comment": row.comment, "at": row.updated_at}
        for row in records.read_all(statement)
    ]


def _counter(is_helpful: bool) -> str:
    return "helpful_count" if is_helpful else "not_helpful_count"


def _count_view(article_id: int, principal: str) -> None:
    """No new version: a view is no change of the article."""
    records.connection().execute(
        update(KbArticle)
        .where(KbArticle.id == article_id)
        .values(view_count=KbArticle.view_count + 1)
    )
    _note_opened(article_id, principal)


def _note_opened(article_id: int, principal: str) -> None:
    """The searches of a moment ago that showed the article have led to it."""
    connection = records.connection()
    recent = (
        select(KbSearch.id, KbSearch.shown)
        .where(KbSearch.principal == principal, KbSearch.opened_id.is_(None))
        .where(KbSearch.created_at > utc_now() - OPENED_WITHIN)
    )
    led = [row.id for row in connection.execute(recent) if article_id in row.shown]
    if led:
        opened = {"opened_id": article_id, "opened_at": utc_now()}
        connection.execute(update(KbSearch).where(KbSearch.id.in_(led)).values(opened))


def _later(write: Callable[[], object]) -> None:
    """Write in a transaction of its own, when the caller has its answer: reading waits for none."""
    app = running_app()
    caller = current_caller()

    def run() -> None:
        try:
            with app.app_context(), transaction(), acting_as(caller):
                write()
        except SQLAlchemyError:
            _log.warning("the use of the knowledge base was not written")

    if has_request_context():
        when_answered(run)
    else:
        run()


def missing_articles(days: int, limit: int) -> dict[str, Any]:
    """Searches without a click and solved tickets without an article, of the last ``days``.

    Questions of the same words count as one; the most frequent are first. To whom a role shows own
    records only, own questions are shown.
    """
    since = utc_now() - timedelta(days=days)
    return {
        "since": since,
        "searches": _searches(since, limit),
        "tickets": _tickets(since, limit),
    }


def _searches(since: datetime, limit: int) -> list[dict[str, Any]]:
    opened = aliased(KbSearch)
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
        .where(*_visible_searches(KbSearch, since), topic != "")
        .where(
            ~exists().where(
                opened.topic == topic,
                opened.opened_id.is_not(None),
                *_visible_searches(opened, since),
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


def _visible_searches(searches: type[KbSearch], since: datetime) -> list[ColumnElement[bool]]:
    """The searches that the caller may know of."""
    caller = current_caller()
    is_narrowed = scope_of(caller, "kb:read") == OWN
    by_caller = [searches.principal == caller.principal] if is_narrowed else []
    return [searches.created_at >= since, *by_caller]


def _tickets(since: datetime, limit: int) -> list[dict[str, Any]]:
    """Read by the engine: only tickets that the caller may read."""
    if scope_of(current_caller(), "tickets:read") is None:
        return []
    return engine.read_many(
        "Tickets",
        filter=f"solvedAt ge {iso_instant(since)} and not KbArticles/any()",
        select="id,number,subject,category,solvedAt",
        orderby="solvedAt desc,id desc",
        top=limit,
    )
