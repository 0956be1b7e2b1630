"""Clients (the companies and persons that are billed) and their contacts."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from sqlalchemy import Index, text as sql
from sqlalchemy.orm import Mapped

from app.db.partial_index import partial_index
from app.db.types import string
from app.models.columns import Entity, Money, column, entity_args, foreign_key, form_of

CLIENT_STATUSES = ("Prospect", "Active", "Inactive", "Blocked")
CLIENT_TYPES = ("Company", "Individual")
CONTACT_ROLES = ("DecisionMaker", "Evaluator", "Influencer", "Billing", "Technical", "Other")


class Client(Entity):
    """A customer. Amounts: ``currency`` (ISO 4217), major units."""

    __tablename__ = "clients"

    number: Mapped[str | None] = column(
        'Running number, "C-000001".', string(40), unique=True, searchable=True, computed=True
    )
    name: Mapped[str] = column("Name the client is known by.", string(200), searchable=True)
    email: Mapped[str | None] = column(
        "Main e-mail address.", string(254), format="email", searchable=True
    )
    tax_id: Mapped[str | None] = column(
        "VAT or tax number.", string(32), format="tax_id", searchable=True
    )
    status: Mapped[str] = column(
        "Standing of the client.", default="Active", allowed=CLIENT_STATUSES
    )
    revenue: Mapped[Decimal] = column(
        "Yearly revenue with this client.", Money, default=Decimal(0), minimum=0
    )
    type: Mapped[str] = column(
        "Company or private person.", default="Company", allowed=CLIENT_TYPES
    )
    legal_name: Mapped[str | None] = column(
        "Registered name, used on invoices.", string(200), searchable=True
    )
    phone: Mapped[str | None] = column("Telephone number.", string(32), format="phone")
    website: Mapped[str | None] = column("Web address.", string(2048), format="url")
    registration_number: Mapped[str | None] = column("Commercial register number.", string(50))
    industry: Mapped[str | None] = column("Line of business.", string(100))
    employee_count: Mapped[int | None] = column("Number of employees.", minimum=0)
    currency: Mapped[str] = column(
        "Currency of invoices (ISO 4217).", string(3), default="EUR", format="currency"
    )
    language: Mapped[str] = column(
        "Language of invoices and mail.", string(10), default="en", format="language"
    )
    payment_terms_days: Mapped[int] = column(
        "Days from issue to due date.", default=30, minimum=0, maximum=365
    )
    credit_limit: Mapped[Decimal | None] = column("Limit of open invoices.", Money, minimum=0)
    billing_street: Mapped[str | None] = column("Street and number.", string(255), lines=True)
    billing_city: Mapped[str | None] = column("City.", string(100))
    billing_state: Mapped[str | None] = column("State or region.", string(100))
    billing_postal_code: Mapped[str | None] = column("Postal code.", string(20))
    billing_country: Mapped[str | None] = column(
        "Country (ISO 3166-1 alpha-2).", string(2), format="country"
    )
    shipping_street: Mapped[str | None] = column("Street and number.", string(255), lines=True)
    shipping_city: Mapped[str | None] = column("City.", string(100))
    shipping_state: Mapped[str | None] = column("State or region.", string(100))
    shipping_postal_code: Mapped[str | None] = column("Postal code.", string(20))
    shipping_country: Mapped[str | None] = column(
        "Country (ISO 3166-1 alpha-2).", string(2), format="country"
    )
    invoice_email: Mapped[str | None] = column(
        "Where invoices are sent.", string(254), format="email"
    )
    e_invoice_scheme: Mapped[str | None] = column("Scheme of the e-invoice address.", string(4))
    e_invoice_id: Mapped[str | None] = column("E-invoice address.", string(50))
    buyer_reference: Mapped[str | None] = column("Reference the buyer asks for.", string(100))
    source: Mapped[str | None] = column("Where the client came from.", string(50))
    do_not_contact: Mapped[bool] = column("No marketing contact wanted.", default=False)
    notes: Mapped[str | None] = column("Internal notes.", string(10000))
    invoiced_total: Mapped[Decimal] = column(
        "Sum of issued invoices less credit notes.", Money, default=Decimal(0), computed=True
    )
    outstanding_balance: Mapped[Decimal] = column(
        "What the client still owes.", Money, default=Decimal(0), computed=True
    )
    credit_balance: Mapped[Decimal] = column(
        "Credit in the client's favour.", Money, default=Decimal(0), computed=True
    )
    origin_lead_id: Mapped[int | None] = foreign_key(
        "leads", "Lead it was converted from.", sparse=True, closes_circle=True, computed=True
    )
    last_activity_at: Mapped[datetime | None] = column("Last change around it.", computed=True)
    email_form: Mapped[str | None] = form_of("email", "email", index=True)
    tax_id_form: Mapped[str | None] = form_of("tax_id", "tax_id", index=True)
    phone_form: Mapped[str | None] = form_of("phone", "phone")

    __table_args__ = entity_args(
        Index("ix_clients_status_revenue_name", "status", sql("revenue DESC"), "name", "id"),
        Index("ix_clients_name_id", "name", "id"),
        Index("ix_clients_revenue", "revenue"),
        Index("ix_clients_email", "email"),
        Index("ix_clients_tax_id", "tax_id"),
    )


class Contact(Entity):
    """A person, usually at a client."""

    __tablename__ = "contacts"

    first_name: Mapped[str | None] = column("Given name.", string(100), searchable=True)
    last_name: Mapped[str] = column("Family name.", string(100), searchable=True)
    client_id: Mapped[int | None] = foreign_key("clients", "Client the person works for.")
    email: Mapped[str | None] = column(
        "E-mail address.", string(254), format="email", index=True, searchable=True
    )
    phone: Mapped[str | None] = column("Telephone number.", string(32), format="phone")
    mobile: Mapped[str | None] = column("Mobile number.", string(32), format="phone")
    job_title: Mapped[str | None] = column("Job title.", string(100))
    department: Mapped[str | None] = column("Department.", string(100))
    role: Mapped[str | None] = column("Part the person plays in a purchase.", allowed=CONTACT_ROLES)
    is_primary: Mapped[bool] = column("Main contact; one for each client.", default=False)
    receives_invoices: Mapped[bool] = column("Gets invoices by mail.", default=False)
    language: Mapped[str | None] = column("Language.", string(10), format="language")
    do_not_contact: Mapped[bool] = column("No marketing contact wanted.", default=False)
    notes: Mapped[str | None] = column("Internal notes.", string(10000))
    email_form: Mapped[str | None] = form_of("email", "email", index=True)
    phone_form: Mapped[str | None] = form_of("phone", "phone")
    mobile_form: Mapped[str | None] = form_of("mobile", "phone")

    __table_args__ = entity_args(
        Index("ix_contacts_last_name_first_name", "last_name", "first_name"),
        partial_index(
            "uq_contacts_primary", "client_id",
            where="is_primary", on_sqlite="is_primary = 1", unique=True,
        ),
    )  # fmt: skip
