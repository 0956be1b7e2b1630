"""Sessions of questions, saved reports with their schedules, exports and their files."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped

from app.db.types import Identifier, JsonText, string
from app.models.columns import Record, column, foreign_key


class QuestionSession(Record):
    """Questions that somebody asks one after the other: what the next one goes on from."""

    __tablename__ = "question_sessions"

    key: Mapped[str] = column("Public id, bis_...", string(40), unique=True)
    user_id: Mapped[int] = foreign_key("users", "Who asks.")
    # The version before reads and writes it; it goes in the one after this.
    questions: Mapped[Any] = column("Unused.", JsonText(), default=[])
    standing: Mapped[Any | None] = column("What was meant, see bi.questions.stored.", JsonText())
    updated_at: Mapped[datetime] = column("Last question.", index=True)


class SavedReport(Record):
    """An OData query under a name, for its owner or for everybody who may read its records."""

    __tablename__ = "saved_reports"

    name: Mapped[str] = column("Name.", string(200))
    description: Mapped[str | None] = column("What it shows.", string(1000))
    owner_id: Mapped[int] = foreign_key("users", "Who saved it.")
    is_shared: Mapped[bool] = column("Others see it.", default=False)
    question: Mapped[str | None] = column("Question it came from.", string(1000))
    # {"entity": "Invoices", "options": {"apply": "..."}, "columns": [...], "chart": {...} | null}
    definition: Mapped[Any] = column("Query, columns, chart.", JsonText())
    updated_at: Mapped[datetime] = column("Last change.")
    # {"every": "weekly", "weekday": 1, "time": "07:00", "format": "xlsx", "to": [...]}; besides
    # "language", where it was asked for on a page
    schedule: Mapped[Any | None] = column("When it is mailed, and to whom.", JsonText())
    next_run_at: Mapped[datetime | None] = column("Next mail.", index=True)
    last_run_at: Mapped[datetime | None] = column("Last mail.")
    leased_until: Mapped[datetime | None] = column("Held by a worker until.")


class ReportExport(Record):
    """An export made by the worker: its progress, then its file."""

    __tablename__ = "report_exports"

    key: Mapped[str] = column("Public id, exp_...", string(40), unique=True)
    user_id: Mapped[int] = foreign_key("users", "For whom, with whose rights.")
    # Of version 1.0, which may write it until its last process has ended; the next one drops it.
    api_key_id: Mapped[int | None] = foreign_key("api_keys", "Key it was asked with.")
    report: Mapped[str] = column("Id of the report.", string(20))
    format: Mapped[str] = column("Format of the file.", string(10))
    filters: Mapped[Any] = column("Values of its parameters.", JsonText())
    language: Mapped[str | None] = column("Language of its words; else English.", string(10))
    status: Mapped[str] = column(
        "State.", default="queued", allowed=("queued", "running", "done", "failed")
    )
    rows_done: Mapped[int] = column("Rows written.", Identifier, default=0)
    rows_total: Mapped[int | None] = column("Rows to write.", Identifier)
    is_truncated: Mapped[bool] = column("Rows left out.", default=False)
    file_name: Mapped[str | None] = column("Name of the file.", string(255))
    blob_key: Mapped[str | None] = column("Where the file lies.", string(100))
    size: Mapped[int | None] = column("Bytes.", Identifier)
    error: Mapped[str | None] = column("Why it failed.", string(1000))
    attempts: Mapped[int] = column("Tries.", default=0)
    finished_at: Mapped[datetime | None] = column("End.")
    leased_until: Mapped[datetime | None] = column("Held by a worker until.")

    __table_args__ = (Index("ix_report_exports_status", "status"),)
