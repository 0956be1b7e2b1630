"""What lies in the trash, for those who may bring it back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import select

from app.clock import utc_now
from app.db.types import AnyRow
from app.documents.service import TRASH_DAYS
from app.http.lists import Page, each, read_page
from app.http.security import current_caller
from app.models.document import Document
from app.permissions import require


def list_trash(*, limit: int, offset: int) -> Page:
    """The documents that can be restored, the last deleted first.

    Raises: ForbiddenError.
    """
    require(current_caller(), "settings:update")
    since = utc_now() - timedelta(days=TRASH_DAYS)
    statement = (
        select(Document.__table__)
        .where(Document.status == "Deleted", Document.deleted_at >= since)
        .order_by(Document.deleted_at.desc(), Document.id.desc())
    )
    return read_page(statement, each(_describe), limit=limit, offset=offset)


def _describe(row: AnyRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "fileName": row.file_name,
        "size": row.size,
        "category": row.category,
        "deletedAt": row.deleted_at,
        "until": row.deleted_at + timedelta(days=TRASH_DAYS),
    }
