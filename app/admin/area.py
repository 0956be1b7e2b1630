"""The area of the administration; its views are in the modules beside."""

from __future__ import annotations

from app.http.areas import Area

area = Area("admin", __name__, description="Users, roles, API keys, sessions, audit log")
