"""Imports of large files, which run in the worker; and what people said of columns of files."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped

from app.db.types import JsonText, string
from app.models.columns import Record, column, foreign_key

IMPORT_STATUSES = ("Queued", "Checking", "Writing", "Completed", "Failed")


class ImportJob(Record):
    """One import of one file; ``done`` rows are behind it for good, in the present pass."""

    __tablename__ = "import_jobs"

    user_id: Mapped[int] = foreign_key("users", "Who imports.")
    type: Mapped[str] = column("What the rows are.", string(20))
    file_name: Mapped[str | None] = column("Name of the file.", string(255))
    file_key: Mapped[str | None] = column("Where the file lies until the end.", string(100))
    # {"mapping": {...}, "dryRun": false, "mode": "skipBad", "update": null}
    options: Mapped[Any] = column("How to import.", JsonText())
    status: Mapped[str] = column("How far it is.", default="Queued", allowed=IMPORT_STATUSES)
    done: Mapped[int] = column("Rows done in this pass.", default=0)
    # {"rows", "created", "updated", "skipped", "problems", "problemCount"}
    outcome: Mapped[Any | None] = column("What came of it so far.", JsonText())
    message: Mapped[str | None] = column("Why it failed.", string(500))
    finished_at: Mapped[datetime | None] = column("When it ended.")
    leased_until: Mapped[datetime | None] = column("Taken by a worker until then.")

    __table_args__ = (Index("ix_import_jobs_status", "status", "id"),)


class NamedColumns(Record):
    """What the columns of files with the same headings were said to be, the last time."""

    __tablename__ = "named_columns"

    type: Mapped[str] = column("What the rows are.", string(20))
    headings: Mapped[str] = column("SHA-256 of the headings.", string(64))
    # {"Partner": "name", "Rang": null}
    mapping: Mapped[Any] = column("Heading to property, null to ignore.", JsonText())

    __table_args__ = (Index("ix_named_columns_type_headings", "type", "headings", unique=True),)
