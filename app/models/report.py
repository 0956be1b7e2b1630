"""Sessions of questions, saved reports with their schedules, exports and their files."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, Index, Integer
from sqlalchemy.orm import Mapped

from app.db.types import Identifier, JsonText, UtcDateTime, string
from app.models.columns import Record, column, foreign_key


class QuestionSession(Record):
    """Questions that somebody asks one after the other: what the next one goes on from."""

    __tablename__ = "question_sessions"

    key: Mapped[str] = column(string(40), "Public id, bis_...", unique=True)
    user_id: Mapped[int] = foreign_key("users", "Who asks.")
    # The version before reads and writes it; it goes in the one after this.
    questions: Mapped[Any] = column(JsonText(), "Unused.", default=[])
    standing: Mapped[Any | None] = column(JsonText(), "What was meant, see bi.questions.stored.")
    updated_at: Mapped[datetime] = column(UtcDateTime(), "Last question.", index=True)


class SavedReport(Record):
    """An OData query under a name, for its owner or for everybody who may read its records."""

    __tablename__ = "saved_reports"

    name: Mapped[str] = column(string(200), "Name.")
    description: Mapped[str | None] = column(string(1000), "What it shows.")
    owner_id: Mapped[int] = foreign_key("users", "Who saved it.")
    is_shared: Mapped[bool] = column(Boolean, "Others see it.", default=False)
    question: Mapped[str | None] = column(string(1000), "Question it came from.")
    # {"entity": "Invoices", "options": {"apply": "..."}, "columns": [...], "chart": {...} | null}
    definition: Mapped[Any] = column(JsonText(), "Query, columns, chart.")
    updated_at: Mapped[datetime] = column(UtcDateTime(), "Last change.")
    # {"every": "weekly", "weekday": 1, "time": "07:00", "format": "xlsx", "to": [...]}; besides
    # "language", where it was asked for on a page
    schedule: Mapped[Any | None] = column(JsonText(), "When it is mailed, and to whom.")
    next_run_at: Mapped[datetime | None] = column(UtcDateTime(), "Next mail.", index=True)
    last_run_at: Mapped[datetime | None] = column(UtcDateTime(), "Last mail.")
    leased_until: Mapped[datetime | None] = column(UtcDateTime(), "Held by a worker until.")

    __table_args__ = ({"sqlite_autoincrement": True},)


class ReportExport(Record):
    """An export made by the worker: its progress, then its file."""

    __tablename__ = "report_exports"

    key: Mapped[str] = column(string(40), "Public id, exp_...", unique=True)
    user_id: Mapped[int] = foreign_key("users", "For whom, with whose rights.")
    api_key_id: Mapped[int | None] = foreign_key("api_keys", "Key it was asked with.")
    report: Mapped[str] = column(string(20), "Id of the report.")
    format: Mapped[str] = column(string(10), "Format of the file.")
    filters: Mapped[Any] = column(JsonText(), "Values of its parameters.")
    language: Mapped[str | None] = column(string(10), "Language of its words; else English.")
    status: Mapped[str] = column(
        string(20), "State.", default="queued", allowed=("queued", "running", "done", "failed")
    )
    rows_done: Mapped[int] = column(Identifier, "Rows written.", default=0)
    rows_total: Mapped[int | None] = column(Identifier, "Rows to write.")
    is_truncated: Mapped[bool] = column(Boolean, "Rows left out.", default=False)
    file_name: Mapped[str | None] = column(string(255), "Name of the file.")
    blob_key: Mapped[str | None] = column(string(100), "Where the file lies.")
    size: Mapped[int | None] = column(Identifier, "Bytes.")
    error: Mapped[str | None] = column(string(1000), "Why it failed.")
    attempts: Mapped[int] = column(Integer, "Tries.", default=0)
    finished_at: Mapped[datetime | None] = column(UtcDateTime(), "End.")
    leased_until: Mapped[datetime | None] = column(UtcDateTime(), "Held by a worker until.")

    __table_args__ = (Index("ix_report_exports_status", "status"),)
