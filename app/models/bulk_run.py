"""Changes of many records at once: what is done, and what came of each record."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped

from app.db.types import Identifier, JsonText, string
from app.models.columns import Record, column, foreign_key


class BulkRun(Record):
    """One action on many records, asked for by one person."""

    __tablename__ = "bulk_runs"

    user_id: Mapped[int] = foreign_key("users", "With whose rights.")
    entity: Mapped[str] = column("Type of the records.", string(50))
    # {"name": "assign", "attribute": "assignee_id", "value": 7}
    action: Mapped[Any] = column("What is done.", JsonText())
    total: Mapped[int] = column("Records.")
    undo_of_id: Mapped[int | None] = foreign_key(
        "bulk_runs", "Run that this one undoes.", ondelete="SET NULL"
    )
    finished_at: Mapped[datetime | None] = column("End.", index=True)
    leased_until: Mapped[datetime | None] = column("Held by a worker until.")


class BulkItem(Record):
    """One record of a run; its change and what is noted here are one transaction.

    Of a run that undoes, ``before`` and ``after`` are there from the beginning.
    """

    __tablename__ = "bulk_items"

    run_id: Mapped[int] = foreign_key("bulk_runs", "Run.", ondelete="CASCADE", index=False)
    record_id: Mapped[int] = column("Key of the record.", Identifier)
    status: Mapped[str] = column(
        "What came of it.", string(10), default="waiting",
        allowed=("waiting", "done", "unchanged", "failed"),
    )  # fmt: skip
    error: Mapped[str | None] = column("Why it was refused.", string(500))
    before: Mapped[Any | None] = column("Values that the change took the place of.", JsonText())
    after: Mapped[Any | None] = column("Values that it wrote.", JsonText())

    __table_args__ = (Index("ix_bulk_items_run_id_status", "run_id", "status", "id"),)
