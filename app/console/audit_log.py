"""The audit log: who did what to which record, with what it was and what it became."""

from __future__ import annotations

from urllib.parse import urlencode

from flask import Response, request
from sqlalchemy import select

from app.console.area import console, page
from app.console.choices import page_rows
from app.console.sets import PAGES, page_of_type
from app.console.typed import key_in
from app.db.engines import primary_engine
from app.http.security import requires
from app.models.event import AuditRecord
from app.models.user import User


@console.get("/audit")
@requires("audit:read")
def show_audit() -> Response:
    """The latest first; older ones below the last that was shown."""
    size = page_rows()
    arguments = request.args
    statement = (
        select(AuditRecord, User.username)
        .outerjoin(User, User.id == AuditRecord.actor_id)
        .order_by(AuditRecord.id.desc())
        .limit(size + 1)
    )
    if action := arguments.get("action", "").strip():
        statement = statement.where(AuditRecord.action.startswith(action, autoescape=True))
    if entity := arguments.get("entity", ""):
        statement = statement.where(AuditRecord.entity == entity)
    if (key := key_in(arguments.get("key", ""))) is not None:
        statement = statement.where(AuditRecord.entity_id == key)
    if (below := key_in(arguments.get("below", ""))) is not None:
        statement = statement.where(AuditRecord.id < below)
    with primary_engine().connect() as connection:
        rows = connection.execute(statement).all()
    more = rows[:size][-1].id if len(rows) > size else None
    return page(
        "audit.html",
        rows=rows[:size],
        entities=[entry.entity_set.type.name for entry in PAGES.values()],
        chosen=arguments,
        page_of_type=page_of_type,
        older=f"?{urlencode({**arguments.to_dict(), 'below': more})}" if more else None,
    )
