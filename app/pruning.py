"""Rows that have served their time: they go in small steps, so that writers never wait long."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Table, delete, exists, or_, select

from app.clock import utc_now
from app.database import transaction
from app.extensions import Model
from app.loops import is_stopping

BATCH = 500
# An ended session is still listed this long, so that its owner can look back.
SESSIONS_KEPT = timedelta(days=30)
LOGIN_GUARDS_KEPT = timedelta(days=1)
# So long the journal goes back, and deliveries can be looked at, sent again and recovered.
EVENTS_KEPT = timedelta(days=30)
# The report of missing articles looks back so far.
SEARCHES_KEPT = timedelta(days=365)


def prune_expired() -> int:
    """Remove what has served its time; returns how many rows.

    Idempotency records, sessions, login guards, questions to the knowledge base, tickets of
    streams, events, deliveries with their attempts.
    """
    now = utc_now()
    tables = Model.metadata.tables
    records = tables["idempotency_records"]
    sessions = tables["sessions"]
    guards = tables["login_guards"]
    searches, tickets = tables["kb_searches"], tables["ai_stream_tickets"]
    unlocked = or_(guards.c.locked_until.is_(None), guards.c.locked_until < now)
    return (
        _prune(records, records.c.expires_at < now)
        + _prune(sessions, sessions.c.expires_at < now - SESSIONS_KEPT)
        + _prune(guards, (guards.c.window_started_at < now - LOGIN_GUARDS_KEPT) & unlocked)
        + _prune(searches, searches.c.created_at < now - SEARCHES_KEPT)
        + _prune(tickets, tickets.c.expires_at < now)
        + _prune_events(now - EVENTS_KEPT)
    )


def _prune_events(before: datetime) -> int:
    """Events that every receiver has taken, or that were given up for it."""
    tables = Model.metadata.tables
    events, deliveries = tables["events"], tables["webhook_deliveries"]
    pending = exists().where(deliveries.c.event_id == events.c.id, deliveries.c.status == "pending")
    return _prune(
        events, (events.c.created_at < before) & events.c.dispatched_at.is_not(None) & ~pending
    )


def _prune(table: Table, expired: ColumnElement[bool]) -> int:
    (key,) = table.primary_key.columns
    batch = select(key).where(expired).limit(BATCH)
    removed = 0
    while True:
        with transaction() as session:
            found = session.connection().execute(delete(table).where(key.in_(batch))).rowcount
        removed += found
        if found < BATCH or is_stopping():
            return removed
