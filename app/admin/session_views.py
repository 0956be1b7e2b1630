"""Everybody's open sessions."""

from __future__ import annotations

from typing import Any

from app.admin.area import area
from app.admin.schemas import SessionQuerySchema
from app.auth.schemas import SessionSchema
from app.auth.session_lists import end_session, list_sessions
from app.http.lists import Page
from app.http.schema_parts import page_schema
from app.http.security import requires


@area.get("/sessions")
@area.arguments(SessionQuerySchema, location="query")
@area.response(200, page_schema(SessionSchema))
@requires("users:manage")
def list_all_sessions(query: dict[str, Any]) -> Page:
    """The open sessions, the one used last first."""
    return list_sessions(**query)


@area.delete("/sessions/<session_id>")
@area.response(204)
@requires("users:manage")
def end_any_session(session_id: str) -> None:
    """End a session at once."""
    end_session(session_id, "ended by an administrator")
