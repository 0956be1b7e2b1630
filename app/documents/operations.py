"""The operations on documents."""

from __future__ import annotations

from typing import Any

from app.documents.schemas import RestoredSchema
from app.documents.service import DOCUMENTS
from app.http.schema_parts import answer_body
from app.operations.declaration import Operation


def describe_restored(document_id: int) -> dict[str, Any]:
    """The document as the answer shows it."""
    return answer_body(RestoredSchema, DOCUMENTS.stored(document_id))


RESTORE = Operation(
    name="Restore",
    bound_to="Document",
    path="/<int:document_id>/restore",
    permissions=("settings:update",),
    description="Bring a document back that was deleted within the last 30 days.",
    run=DOCUMENTS.restore,
    answer=describe_restored,
    answers=RestoredSchema,
    returns="Document",
    binds_hidden=True,
    asked_by=("undelete", "bring back", "stelle wieder", "restaure", "restaura", "ripristina"),
)
OPERATIONS = (RESTORE,)
