"""Leads: possible customers that nobody has qualified yet."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from sqlalchemy import CheckConstraint, Index
from sqlalchemy.orm import Mapped

from app.db.types import string
from app.models.columns import Entity, Money, column, entity_args, foreign_key, form_of
from app.models.indexes import nulls_first

LEAD_STATUSES = ("New", "Contacted", "Nurturing", "Qualified", "Converted", "Disqualified")
LEAD_SOURCES = (
    "Web", "Referral", "Email", "Phone", "Event", "Partner", "Campaign", "ColdCall",
    "ExistingCustomer", "Import", "Other",
)  # fmt: skip
LEAD_RATINGS = ("Hot", "Warm", "Cold")
DISQUALIFY_REASONS = ("NoBudget", "NoFit", "NoResponse", "Duplicate", "Junk", "Other")


class Lead(Entity):
    """A person or company that may become a client; ``last_name`` or ``company`` is set."""

    __tablename__ = "leads"

    first_name: Mapped[str | None] = column("Given name.", string(100))
    last_name: Mapped[str | None] = column(
        "Family name; this or company is required.", string(100), searchable=True
    )
    company: Mapped[str | None] = column(
        "Company; this or lastName is required.", string(200), searchable=True
    )
    job_title: Mapped[str | None] = column("Job title.", string(100))
    email: Mapped[str | None] = column(
        "E-mail address.", string(254), format="email", index=True, searchable=True
    )
    phone: Mapped[str | None] = column("Telephone number.", string(32), format="phone")
    website: Mapped[str | None] = column("Web address.", string(2048), format="url")
    tax_id: Mapped[str | None] = column("VAT or tax number.", string(32), format="tax_id")
    industry: Mapped[str | None] = column("Line of business.", string(100))
    country: Mapped[str | None] = column(
        "Country (ISO 3166-1 alpha-2).", string(2), format="country"
    )
    source: Mapped[str] = column("Where the lead came from.", default="Other", allowed=LEAD_SOURCES)
    status: Mapped[str] = column("State of the lead.", default="New", allowed=LEAD_STATUSES)
    rating: Mapped[str | None] = column("How promising it is.", allowed=LEAD_RATINGS)
    score: Mapped[int | None] = column("Score, 0 to 100.", minimum=0, maximum=100)
    estimated_value: Mapped[Decimal | None] = column("Expected value.", Money, minimum=0)
    currency: Mapped[str | None] = column(
        "Currency of the expected value.", string(3), format="currency"
    )
    description: Mapped[str | None] = column("What is known about it.", string(10000))
    next_activity_at: Mapped[datetime | None] = column("Next planned step.")
    do_not_contact: Mapped[bool] = column("No contact wanted.", default=False)
    consent_at: Mapped[datetime | None] = column("When consent was given.")
    disqualify_reason: Mapped[str | None] = column(
        "Why it was disqualified.", allowed=DISQUALIFY_REASONS
    )
    disqualify_notes: Mapped[str | None] = column("More on the reason.", string(1000))
    converted_at: Mapped[datetime | None] = column("When it was converted.", computed=True)
    converted_by_id: Mapped[int | None] = foreign_key(
        "users", "Who converted it.", index=False, computed=True
    )
    converted_client_id: Mapped[int | None] = foreign_key(
        "clients", "Client it became.", sparse=True, computed=True
    )
    converted_contact_id: Mapped[int | None] = foreign_key(
        "contacts", "Contact it became.", sparse=True, computed=True
    )
    converted_opportunity_id: Mapped[int | None] = foreign_key(
        "opportunities", "Opportunity it became.", sparse=True, computed=True
    )
    status_changed_at: Mapped[datetime] = column("When the status last changed.", computed=True)
    email_form: Mapped[str | None] = form_of("email", "email")
    tax_id_form: Mapped[str | None] = form_of("tax_id", "tax_id")
    phone_form: Mapped[str | None] = form_of("phone", "phone")

    __table_args__ = entity_args(
        CheckConstraint("last_name IS NOT NULL OR company IS NOT NULL", name="has_a_name"),
        Index("ix_leads_status_created_at", "status", "created_at"),
        Index("ix_leads_company", nulls_first("company")),
        Index("ix_leads_next_activity_at", nulls_first("next_activity_at")),
    )
