"""What happened: the outbox of events, the audit log, and the rows that delivery works from."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.db.partial_index import partial_index
from app.db.types import Identifier, JsonText, string, text
from app.extensions import Model
from app.models.columns import Record, column, foreign_key


class Event(Record):
    """A state change, written in the transaction that made it (contract section 12).

    ``payload`` is the text of the envelope's ``data`` object: it is delivered as it stands.
    """

    __tablename__ = "events"

    key: Mapped[str] = column("Public id, evt_...", string(40), unique=True)
    type: Mapped[str] = column("Name, such as invoice.paid.", string(60))
    entity: Mapped[str] = column("Type of the record.", string(20))
    entity_id: Mapped[int] = column("Key of the record.", Identifier)
    # The record's row version: what one change emitted has one sequence.
    sequence: Mapped[int] = column("Order within the record.", Identifier)
    payload: Mapped[Any] = column("data of the envelope.", JsonText())
    request_id: Mapped[str | None] = column("Request that made it.", string(64))
    # Ids are given before commits, so a smaller one may appear later; positions appear in order.
    position: Mapped[int | None] = column("Place in the journal, from 1.", Identifier)
    dispatched_at: Mapped[datetime | None] = column("When it was fanned out.")

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
    )  # fmt: skip


class AuditRecord(Record):
    """Who did what to which record, with the values before and after. Never changed."""

    __tablename__ = "audit_records"

    actor_id: Mapped[int | None] = foreign_key("users", "Who.")
    via: Mapped[str] = column("jwt, apiKey, ai, cli, job, system.", string(20))
    action: Mapped[str] = column("Such as client.updated, auth.login.", string(60))
    entity: Mapped[str | None] = column("Type of the record.", string(20))
    entity_id: Mapped[int | None] = column("Key of the record.", Identifier)
    before: Mapped[Any | None] = column("Changed values before.", JsonText())
    after: Mapped[Any | None] = column("Changed values after.", JsonText())
    ip: Mapped[str | None] = column("Address.", string(45))
    request_id: Mapped[str | None] = column("Request.", string(64))

    __table_args__ = (
        Index("ix_audit_records_entity_entity_id", "entity", "entity_id"),
        Index("ix_audit_records_action", "action"),
        Index("ix_audit_records_created_at", "created_at"),
    )


class Counter(Model):
    """A running number; its row is locked by the transaction that takes the next one."""

    __tablename__ = "counters"

    name: Mapped[str] = mapped_column(string(60), primary_key=True)
    value: Mapped[int] = column("Last number given.", Identifier, default=0)


class IdempotencyRecord(Record):
    """The first answer to a keyed POST, repeated for 24 hours (contract P13)."""

    __tablename__ = "idempotency_records"

    principal: Mapped[str] = column("Caller.", string(60))
    key: Mapped[str] = column("Idempotency-Key.", string(255))
    fingerprint: Mapped[str] = column("SHA-256 of method, path, body.", string(64))
    status: Mapped[int | None] = column("HTTP status; none while running.")
    headers: Mapped[Any | None] = column("Headers of the answer.", JsonText())
    body: Mapped[str | None] = column("Body of the answer, base64.", text())
    expires_at: Mapped[datetime] = column("Forgotten after.", index=True)

    __table_args__ = (UniqueConstraint("principal", "key"),)


class OutgoingMail(Record):
    """A message to send; written in the transaction that wants it sent."""

    __tablename__ = "outgoing_mail"

    message_id: Mapped[str] = column("Message-ID.", string(255), unique=True)
    to: Mapped[list[str]] = column("Addresses.", JsonText())
    cc: Mapped[list[str]] = column("Copies.", JsonText(), default=[])
    subject: Mapped[str] = column("Subject.", string(998))
    text_body: Mapped[str] = column("Plain text.", text())
    html_body: Mapped[str | None] = column("HTML.", text())
    # [{"name": "INV-2026-00007.pdf", "contentType": "application/pdf", "blobKey": "..."}]
    attachments: Mapped[Any] = column("Files, by key in the store.", JsonText(), default=[])
    entity: Mapped[str | None] = column("Type of the record it is about.", string(20))
    entity_id: Mapped[int | None] = column("Record it is about.", Identifier)
    status: Mapped[str] = column(
        "State.", default="queued", allowed=("queued", "sending", "sent", "failed")
    )
    attempts: Mapped[int] = column("Tries.", default=0)
    next_attempt_at: Mapped[datetime] = column("Next try.")
    leased_until: Mapped[datetime | None] = column("Held by a worker until.")
    sent_at: Mapped[datetime | None] = column("When the server took it.")
    error: Mapped[str | None] = column("Last error.", string(1000))
    # [{"recipient": "a@b.example", "status": "5.1.1", "reason": "550 ...", "at": "..."}]
    bounces: Mapped[Any | None] = column("Recipients that it did not reach after all.", JsonText())
    # {"a@b.example": {"status": "sent", "error": null, "at": "..."}}; none before the first try
    outcomes: Mapped[Any | None] = column("What servers said of each recipient.", JsonText())

    __table_args__ = (
        Index("ix_outgoing_mail_status_next_attempt_at", "status", "next_attempt_at"),
        Index("ix_outgoing_mail_entity_entity_id", "entity", "entity_id"),
    )


class Setting(Model):
    """A setting of the organisation: seller, bank, tax defaults, series, reminders, SLA hours."""

    __tablename__ = "settings"

    name: Mapped[str] = mapped_column(string(60), primary_key=True)
    value: Mapped[Any] = column("Value.", JsonText())
    updated_at: Mapped[datetime] = column("Last change.")
    updated_by_id: Mapped[int | None] = foreign_key("users", "Who changed it.", index=False)
