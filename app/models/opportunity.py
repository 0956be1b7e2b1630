"""Opportunities: sales that may be won, and the history of their stages."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from sqlalchemy import Index
from sqlalchemy.orm import Mapped

from app.db.types import ExactDecimal, string
from app.models.columns import Entity, Money, Record, column, entity_args, foreign_key
from app.models.indexes import nulls_first

# Stage -> win probability in percent.
STAGES = {
    "Prospecting": 10, "Qualification": 20, "Proposal": 50, "Negotiation": 80,
    "ClosedWon": 100, "ClosedLost": 0,
}  # fmt: skip
OPPORTUNITY_TYPES = ("NewBusiness", "Expansion", "Renewal")
OPPORTUNITY_STATUSES = ("Open", "Won", "Lost")
LOST_REASONS = ("Price", "Competitor", "Timing", "NoBudget", "NoDecision", "ProductFit", "Other")


class Opportunity(Entity):
    """A possible sale to one client. Amounts: ``currency``, major units."""

    __tablename__ = "opportunities"

    name: Mapped[str] = column("Name of the opportunity.", string(200), searchable=True)
    client_id: Mapped[int] = foreign_key("clients", "Client who may buy.")
    contact_id: Mapped[int | None] = foreign_key("contacts", "Person to talk to.")
    amount: Mapped[Decimal] = column("Expected amount.", Money, default=Decimal(0), minimum=0)
    currency: Mapped[str] = column(
        "Currency (ISO 4217); the client's when not given.", string(3), format="currency"
    )
    stage: Mapped[str] = column("Stage in the pipeline.", default="Prospecting", allowed=STAGES)
    pipeline: Mapped[str] = column("Pipeline.", string(50), default="Sales")
    probability: Mapped[int] = column(
        "Win probability in percent; the stage's when not given.", minimum=0, maximum=100
    )
    close_date: Mapped[date | None] = column("Expected close.")
    type: Mapped[str] = column(
        "Kind of business.", default="NewBusiness", allowed=OPPORTUNITY_TYPES
    )
    source: Mapped[str | None] = column("Where it came from.", string(50))
    next_step: Mapped[str | None] = column("Next step.", string(255))
    competitor: Mapped[str | None] = column("Competitor.", string(200))
    lost_reason: Mapped[str | None] = column(
        "Why it was lost; required to close as lost.", allowed=LOST_REASONS
    )
    lost_notes: Mapped[str | None] = column("More on the reason; required for Other.", string(1000))
    description: Mapped[str | None] = column("Description.", string(10000))
    status: Mapped[str] = column(
        "Open, Won or Lost.", default="Open", allowed=OPPORTUNITY_STATUSES, computed=True
    )
    weighted_amount: Mapped[Decimal] = column(
        "Amount times probability.", Money, default=Decimal(0), computed=True
    )
    exchange_rate: Mapped[Decimal] = column(
        "Units of the organisation's currency for one of its own.", ExactDecimal(18, 8),
        default=Decimal(1), computed=True,
    )  # fmt: skip
    base_amount: Mapped[Decimal] = column(
        "Amount in the organisation's currency.", Money, default=Decimal(0), computed=True
    )
    lead_id: Mapped[int | None] = foreign_key(
        "leads", "Lead it came from.", sparse=True, closes_circle=True, computed=True
    )
    stage_changed_at: Mapped[datetime] = column("When the stage last changed.", computed=True)
    previous_stage: Mapped[str | None] = column("Stage before.", allowed=STAGES, computed=True)
    closed_at: Mapped[datetime | None] = column("When it was won or lost.", computed=True)

    __table_args__ = entity_args(
        Index("ix_opportunities_stage_close_date", "stage", nulls_first("close_date")),
        Index("ix_opportunities_status_closed_at", "status", nulls_first("closed_at")),
        Index("ix_opportunities_close_date", nulls_first("close_date")),
        Index("ix_opportunities_amount", "amount"),
    )


class StageChange(Record):
    """One step of an opportunity from a stage to another; ``seconds`` spent in the one it left."""

    __tablename__ = "stage_changes"

    opportunity_id: Mapped[int] = foreign_key("opportunities", "Opportunity.", ondelete="CASCADE")
    from_stage: Mapped[str | None] = column("Stage it left.", allowed=STAGES)
    to_stage: Mapped[str] = column("Stage it entered.", allowed=STAGES)
    at: Mapped[datetime] = column("When.")
    by_id: Mapped[int | None] = foreign_key("users", "Who moved it.", index=False)
    seconds: Mapped[int | None] = column("Seconds spent in the stage it left.")
