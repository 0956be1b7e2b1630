"""``/api/documents``: what is done with documents besides keeping their properties."""

from __future__ import annotations

from app.documents import file_views, share_views
from app.documents.area import area
from app.documents.operations import OPERATIONS
from app.operations.rest import publish

__all__ = ["area", "file_views", "share_views"]

publish(area, *OPERATIONS)
