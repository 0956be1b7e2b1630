"""Imports of large files, which run in the worker; and what people said of columns of files."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, Integer
from sqlalchemy.orm import Mapped

from app.db.types import JsonText, UtcDateTime, string
from app.models.columns import Record, column, foreign_key

IMPORT_STATUSES = ("Queued", "Checking", "Writing", "Completed", "Failed")


class ImportJob(Record):
    """One import of one file; ``done`` rows are behind it for good, in the present pass."""

    __tablename__ = "import_jobs"

    user_id: Mapped[int] = foreign_key("users", "Who imports.")
    type: Mapped[str] = column(string(20), "What the rows are.")
    file_name: Mapped[str | None] = column(string(255), "Name of the file.")
    file_key: Mapped[str | None] = column(string(100), "Where the file lies until the end.")
    # {"mapping": {...}, "dryRun": false, "mode": "skipBad", "update": null}
    options: Mapped[Any] = column(JsonText(), "How to import.")
    status: Mapped[str] = column(
        string(20), "How far it is.", default="Queued", allowed=IMPORT_STATUSES
    )
    done: Mapped[int] = column(Integer, "Rows done in this pass.", default=0)
    # {"rows", "created", "updated", "skipped", "problems", "problemCount"}
    outcome: Mapped[Any | None] = column(JsonText(), "What came of it so far.")
    message: Mapped[str | None] = column(string(500), "Why it failed.")
    finished_at: Mapped[datetime | None] = column(UtcDateTime(), "When it ended.")
    leased_until: Mapped[datetime | None] = column(UtcDateTime(), "Taken by a worker until then.")

    __table_args__ = (Index("ix_import_jobs_status", "status", "id"),)


class NamedColumns(Record):
    """What the columns of files with the same headings were said to be, the last time."""

    __tablename__ = "named_columns"

    type: Mapped[str] = column(string(20), "What the rows are.")
    headings: Mapped[str] = column(string(64), "SHA-256 of the headings.")
    # {"Partner": "name", "Rang": null}
    mapping: Mapped[Any] = column(JsonText(), "Heading to property, null to ignore.")

    __table_args__ = (Index("ix_named_columns_type_headings", "type", "headings", unique=True),)
