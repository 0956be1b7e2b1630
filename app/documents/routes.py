"""``/api/documents``: what is done with documents besides keeping their properties."""

from __future__ import annotations

from typing import Any

from app.documents import file_views, share_views
from app.documents.area import area
from app.documents.schemas import RestoredSchema
from app.documents.service import DOCUMENTS
from app.http.dry_run import DryRunSchema, undo_if_dry
from app.http.security import requires

__all__ = ["area", "file_views", "share_views"]


@area.post("/<int:document_id>/restore")
@area.arguments(DryRunSchema, location="query")
@area.response(200, RestoredSchema)
@requires("settings:update")
def restore(query: dict[str, Any], document_id: int) -> dict[str, Any]:
    """Bring a document back that was deleted within the last 30 days."""
    DOCUMENTS.restore(document_id)
    document = DOCUMENTS.stored(document_id)
    undo_if_dry(query)
    return {"id": document.id, "name": document.name, "status": document.status}
