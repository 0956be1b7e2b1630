"""Tickets: what customers ask for, with the clocks of the service level and the comments."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, UniqueConstraint
from sqlalchemy.orm import Mapped

from app.db.types import OrdinalEnum, string
from app.models.columns import Entity, Record, column, entity_args, foreign_key
from app.models.indexes import nulls_first

PRIORITIES = ("Low", "Normal", "High", "Urgent")
Priority = OrdinalEnum("Priority", PRIORITIES)
TICKET_STATUSES = ("New", "Open", "Pending", "OnHold", "Solved", "Closed")
TICKET_TYPES = ("Question", "Incident", "Problem", "Request")
TICKET_CHANNELS = ("Email", "Web", "Phone", "Chat", "Api")
SLA_STATUSES = ("OnTrack", "AtRisk", "Breached", "Paused", "Met")


class Ticket(Entity):
    """A request of a customer."""

    __tablename__ = "tickets"

    number: Mapped[str | None] = column(
        'Running number, "T-000001".', string(40), unique=True, searchable=True, computed=True
    )
    subject: Mapped[str] = column("What it is about.", string(255), searchable=True)
    description: Mapped[str | None] = column("What was asked.", string(20000))
    status: Mapped[str] = column("State of the ticket.", default="New", allowed=TICKET_STATUSES)
    priority: Mapped[str] = column("Urgency.", Priority, default="Normal")
    type: Mapped[str] = column("Kind of request.", default="Question", allowed=TICKET_TYPES)
    channel: Mapped[str] = column("Where it came in.", default="Api", allowed=TICKET_CHANNELS)
    client_id: Mapped[int | None] = foreign_key("clients", "Client who asks.")
    contact_id: Mapped[int | None] = foreign_key("contacts", "Person who asks.")
    requester_email: Mapped[str | None] = column(
        "Address to answer to.", string(254), format="email", index=True
    )
    assignee_id: Mapped[int | None] = foreign_key("users", "Agent who works on it.")
    category: Mapped[str | None] = column("Category.", string(100))
    language: Mapped[str | None] = column("Language.", string(10), format="language")
    pending_until: Mapped[datetime | None] = column("When a pause ends.")
    resolution: Mapped[str | None] = column("How it was solved.", string(10000))
    satisfaction_rating: Mapped[int | None] = column(
        "Rating of the customer, 1 to 5.", minimum=1, maximum=5
    )
    first_response_due_at: Mapped[datetime | None] = column(
        "When the first answer is due.", computed=True
    )
    first_responded_at: Mapped[datetime | None] = column("First answer.", computed=True)
    resolution_due_at: Mapped[datetime | None] = column("When the solution is due.", computed=True)
    sla_status: Mapped[str] = column(
        "State of the service level.", default="OnTrack", allowed=SLA_STATUSES, computed=True
    )
    # Since when the clocks stand still (Pending, OnHold).
    sla_paused_at: Mapped[datetime | None] = column("When the clocks stopped.", computed=True)
    solved_at: Mapped[datetime | None] = column("When it was solved.", computed=True)
    closed_at: Mapped[datetime | None] = column("When it was closed.", computed=True)
    reopen_count: Mapped[int] = column("Times reopened.", default=0, computed=True)
    merged_into_id: Mapped[int | None] = foreign_key(
        "tickets", "Ticket it was merged into.", sparse=True, computed=True
    )
    last_customer_reply_at: Mapped[datetime | None] = column(
        "Last answer of the customer.", computed=True
    )
    last_agent_reply_at: Mapped[datetime | None] = column("Last answer of an agent.", computed=True)

    __table_args__ = entity_args(
        Index("ix_tickets_status_priority", "status", "priority"),
        Index("ix_tickets_status_solved_at", "status", nulls_first("solved_at")),
        Index("ix_tickets_pending_until", nulls_first("pending_until")),
        Index("ix_tickets_first_response_due_at", nulls_first("first_response_due_at")),
        Index("ix_tickets_resolution_due_at", nulls_first("resolution_due_at")),
    )


class TicketComment(Record):
    """An answer on a ticket, or an internal note of the agents."""

    __tablename__ = "ticket_comments"

    ticket_id: Mapped[int] = foreign_key("tickets", "Ticket.", ondelete="CASCADE")
    body: Mapped[str] = column("Text.", string(20000))
    is_internal: Mapped[bool] = column("A note that the customer does not see.", default=False)
    # None when the customer wrote it.
    author_id: Mapped[int | None] = foreign_key("users", "Agent who wrote it.")


class TicketArticle(Record):
    """A knowledge base article linked to a ticket."""

    __tablename__ = "ticket_articles"
    __table_args__ = (UniqueConstraint("ticket_id", "article_id"),)

    ticket_id: Mapped[int] = foreign_key("tickets", "Ticket.", ondelete="CASCADE", index=False)
    article_id: Mapped[int] = foreign_key("kb_articles", "Article.", ondelete="CASCADE")
