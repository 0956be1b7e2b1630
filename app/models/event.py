"""What happened: the outbox of events, the audit log, and the rows that delivery works from."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, Integer, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.partial_index import partial_index
from app.db.types import Identifier, JsonText, UtcDateTime, string, text
from app.extensions import Model
from app.models.columns import Record, column, foreign_key


class Event(Record):
    """A state change, written in the transaction that made it (contract section 12).

    ``payload`` is the text of the envelope's ``data`` object: it is delivered as it stands.
    """

    __tablename__ = "events"

    key: Mapped[str] = column(string(40), "Public id, evt_...", unique=True)
    type: Mapped[str] = column(string(60), "Name, such as invoice.paid.")
    entity: Mapped[str] = column(string(20), "Type of the record.")
    entity_id: Mapped[int] = column(Identifier, "Key of the record.")
    # The record's row version: what one change emitted has one sequence.
    sequence: Mapped[int] = column(Identifier, "Order within the record.")
    payload: Mapped[Any] = column(JsonText(), "data of the envelope.")
    request_id: Mapped[str | None] = column(string(64), "Request that made it.")
    # Ids are given before commits, so a smaller one may appear later; positions appear in order.
    position: Mapped[int | None] = column(Identifier, "Place in the journal, from 1.")
    dispatched_at: Mapped[datetime | None] = column(UtcDateTime(), "When it was fanned out.")

    # Every change writes one or two events: an index is here only if a query needs it, and what
    # only the worker asks for is entered by the worker.
    __table_args__ = (
        partial_index(
            "ix_events_position", "position",
            where="position IS NOT NULL", unique=True,
        ),
        partial_index(
            "ix_events_created_at", "created_at",
            where="dispatched_at IS NOT NULL",
        ),
        partial_index(
            "ix_events_undispatched", "id",
            where="dispatched_at IS NULL",
        ),
        {"sqlite_autoincrement": True},
    )  # fmt: skip


class AuditRecord(Record):
    """Who did what to which record, with the values before and after. Never changed."""

    __tablename__ = "audit_records"

    actor_id: Mapped[int | None] = foreign_key("users", "Who.")
    via: Mapped[str] = column(string(20), "jwt, apiKey, ai, cli, job, system.")
    action: Mapped[str] = column(string(60), "Such as client.updated, auth.login.")
    entity: Mapped[str | None] = column(string(20), "Type of the record.")
    entity_id: Mapped[int | None] = column(Identifier, "Key of the record.")
    before: Mapped[Any | None] = column(JsonText(), "Changed values before.")
    after: Mapped[Any | None] = column(JsonText(), "Changed values after.")
    ip: Mapped[str | None] = column(string(45), "Address.")
    request_id: Mapped[str | None] = column(string(64), "Request.")

    __table_args__ = (
        Index("ix_audit_records_entity_entity_id", "entity", "entity_id"),
        Index("ix_audit_records_action", "action"),
        Index("ix_audit_records_created_at", "created_at"),
        {"sqlite_autoincrement": True},
    )


class Counter(Model):
    """A running number; its row is locked by the transaction that takes the next one."""

    __tablename__ = "counters"

    name: Mapped[str] = mapped_column(string(60), primary_key=True)
    value: Mapped[int] = column(Identifier, "Last number given.", default=0)


class IdempotencyRecord(Record):
    """The first answer to a keyed POST, repeated for 24 hours (contract P13)."""

    __tablename__ = "idempotency_records"

    principal: Mapped[str] = column(string(60), "Caller.")
    key: Mapped[str] = column(string(255), "Idempotency-Key.")
    fingerprint: Mapped[str] = column(string(64), "SHA-256 of method, path, body.")
    status: Mapped[int | None] = column(Integer, "HTTP status; none while running.")
    headers: Mapped[Any | None] = column(JsonText(), "Headers of the answer.")
    body: Mapped[str | None] = column(text(), "Body of the answer, base64.")
    expires_at: Mapped[datetime] = column(UtcDateTime(), "Forgotten after.", index=True)

    __table_args__ = (UniqueConstraint("principal", "key"),)


class OutgoingMail(Record):
    """A message to send; written in the transaction that wants it sent."""

    __tablename__ = "outgoing_mail"

    message_id: Mapped[str] = column(string(255), "Message-ID.", unique=True)
    to: Mapped[list[str]] = column(JsonText(), "Addresses.")
    cc: Mapped[list[str]] = column(JsonText(), "Copies.", default=[])
    subject: Mapped[str] = column(string(998), "Subject.")
    text_body: Mapped[str] = column(text(), "Plain text.")
    html_body: Mapped[str | None] = column(text(), "HTML.")
    # [{"name": "INV-2026-00007.pdf", "contentType": "application/pdf", "blobKey": "..."}]
    attachments: Mapped[Any] = column(JsonText(), "Files, by key in the store.", default=[])
    entity: Mapped[str | None] = column(string(20), "Type of the record it is about.")
    entity_id: Mapped[int | None] = column(Identifier, "Record it is about.")
    status: Mapped[str] = column(
        string(20), "State.", default="queued", allowed=("queued", "sending", "sent", "failed")
    )
    attempts: Mapped[int] = column(Integer, "Tries.", default=0)
    next_attempt_at: Mapped[datetime] = column(UtcDateTime(), "Next try.")
    leased_until: Mapped[datetime | None] = column(UtcDateTime(), "Held by a worker until.")
    sent_at: Mapped[datetime | None] = column(UtcDateTime(), "When the server took it.")
    error: Mapped[str | None] = column(string(1000), "Last error.")
    # [{"recipient": "a@b.example", "status": "5.1.1", "reason": "550 ...", "at": "..."}]
    bounces: Mapped[Any | None] = column(JsonText(), "Recipients that it did not reach after all.")
    # {"a@b.example": {"status": "sent", "error": null, "at": "..."}}; none before the first try
    outcomes: Mapped[Any | None] = column(JsonText(), "What servers said of each recipient.")

    __table_args__ = (
        Index("ix_outgoing_mail_status_next_attempt_at", "status", "next_attempt_at"),
        Index("ix_outgoing_mail_entity_entity_id", "entity", "entity_id"),
    )


class Setting(Model):
    """A setting of the organisation: seller, bank, tax defaults, series, reminders, SLA hours."""

    __tablename__ = "settings"

    name: Mapped[str] = mapped_column(string(60), primary_key=True)
    value: Mapped[Any] = column(JsonText(), "Value.")
    updated_at: Mapped[datetime] = column(UtcDateTime(), "Last change.")
    updated_by_id: Mapped[int | None] = foreign_key("users", "Who changed it.", index=False)
