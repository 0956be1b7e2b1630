"""Where changes are read from: the rows themselves, and the audit log for deletions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Select, Table, select

from app.models.event import AuditRecord

_audit: Any = AuditRecord.__table__


class RowChanges:
    """Changes of a table whose rows say when they were changed, and have a version."""

    def __init__(self, entity: str, table: Table) -> None:
        self._entity = entity
        self._table = table

    def changed(self, since: datetime) -> Select[Any]:
        """Key, version and instant of the rows changed after ``since``."""
        columns = self._table.c
        return select(columns.id, columns.version, columns.updated_at).where(
            columns.updated_at > since
        )

    def removed(self, since: datetime) -> Select[Any]:
        """Keys of the rows deleted after ``since``."""
        return select(_audit.c.entity_id).where(
            _audit.c.created_at > since,
            _audit.c.entity == self._entity,
            _audit.c.action.like("%.deleted"),
        )

    def broken(self, since: datetime) -> Select[Any]:
        """A row where records were imported after ``since``: they keep their own times."""
        return select(_audit.c.id).where(
            _audit.c.created_at > since, _audit.c.action == "import.completed"
        )
