"""The audit log."""

from __future__ import annotations

from functools import partial
from typing import Any

from sqlalchemy import select

from app.admin.area import area
from app.admin.schemas import AuditQuerySchema, AuditRecordSchema
from app.http.lists import Page, each_of, read_page
from app.http.schema_parts import answer_body, page_schema
from app.http.security import requires
from app.models.event import AuditRecord


@area.get("/audit")
@area.arguments(AuditQuerySchema, location="query")
@area.response(200, page_schema(AuditRecordSchema))
@requires("audit:read")
def list_audit_records(query: dict[str, Any]) -> Page:
    """Who did what, the latest first."""
    statement = select(AuditRecord).order_by(AuditRecord.id.desc())
    for name in ("entity", "entity_id", "actor_id"):
        if name in query:
            statement = statement.where(getattr(AuditRecord, name) == query[name])
    action = query.get("action", "")
    if action.endswith(".*"):
        statement = statement.where(AuditRecord.action.startswith(action[:-1], autoescape=True))
    elif action:
        statement = statement.where(AuditRecord.action == action)
    if "begin" in query:
        statement = statement.where(AuditRecord.created_at >= query["begin"])
    if "end" in query:
        statement = statement.where(AuditRecord.created_at < query["end"])
    shape = each_of(AuditRecord, partial(answer_body, AuditRecordSchema))
    return read_page(statement, shape, limit=query["limit"], offset=query["offset"])
