"""``/api/admin``: every view of the administration, one module a kind of record."""

from __future__ import annotations

from app.admin import api_key_views, audit_views, role_views, setting_views, user_views
from app.admin.area import area

__all__ = ["api_key_views", "area", "audit_views", "role_views", "setting_views", "user_views"]
