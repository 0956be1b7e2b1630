"""Clients (the companies and persons that are billed) and their contacts."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from sqlalchemy import Boolean, Index, Integer, text as sql
from sqlalchemy.orm import Mapped

from app.db.partial_index import partial_index
from app.db.types import UtcDateTime, string
from app.models.columns import Entity, Money, column, entity_args, foreign_key

CLIENT_STATUSES = ("Prospect", "Active", "Inactive", "Blocked")
CLIENT_TYPES = ("Company", "Individual")
CONTACT_ROLES = ("DecisionMaker", "Evaluator", "Influencer", "Billing", "Technical", "Other")


class Client(Entity):
    """A customer. Amounts: ``currency`` (ISO 4217), major units."""

    __tablename__ = "clients"

    number: Mapped[str | None] = column(
        string(40), 'Running number, "C-000001".', unique=True, searchable=True, computed=True
    )
    name: Mapped[str] = column(string(200), "Name the client is known by.", searchable=True)
    email: Mapped[str | None] = column(
        string(254), "Main e-mail address.", format="email", searchable=True
    )
    tax_id: Mapped[str | None] = column(
        string(32), "VAT or tax number.", format="tax_id", searchable=True
    )
    status: Mapped[str] = column(
        string(20), "Standing of the client.", default="Active", allowed=CLIENT_STATUSES
    )
    revenue: Mapped[Decimal] = column(
        Money, "Yearly revenue with this client.", default=Decimal(0), minimum=0
    )
    type: Mapped[str] = column(
        string(20), "Company or private person.", default="Company", allowed=CLIENT_TYPES
    )
    legal_name: Mapped[str | None] = column(
        string(200), "Registered name, used on invoices.", searchable=True
    )
    phone: Mapped[str | None] = column(string(32), "Telephone number.", format="phone")
    website: Mapped[str | None] = column(string(2048), "Web address.", format="url")
    registration_number: Mapped[str | None] = column(string(50), "Commercial register number.")
    industry: Mapped[str | None] = column(string(100), "Line of business.")
    employee_count: Mapped[int | None] = column(Integer, "Number of employees.", minimum=0)
    currency: Mapped[str] = column(
        string(3), "Currency of invoices (ISO 4217).", default="EUR", format="currency"
    )
    language: Mapped[str] = column(
        string(10), "Language of invoices and mail.", default="en", format="language"
    )
    payment_terms_days: Mapped[int] = column(
        Integer, "Days from issue to due date.", default=30, minimum=0, maximum=365
    )
    credit_limit: Mapped[Decimal | None] = column(Money, "Limit of open invoices.", minimum=0)
    billing_street: Mapped[str | None] = column(string(255), "Street and number.")
    billing_city: Mapped[str | None] = column(string(100), "City.")
    billing_state: Mapped[str | None] = column(string(100), "State or region.")
    billing_postal_code: Mapped[str | None] = column(string(20), "Postal code.")
    billing_country: Mapped[str | None] = column(
        string(2), "Country (ISO 3166-1 alpha-2).", format="country"
    )
    shipping_street: Mapped[str | None] = column(string(255), "Street and number.")
    shipping_city: Mapped[str | None] = column(string(100), "City.")
    shipping_state: Mapped[str | None] = column(string(100), "State or region.")
    shipping_postal_code: Mapped[str | None] = column(string(20), "Postal code.")
    shipping_country: Mapped[str | None] = column(
        string(2), "Country (ISO 3166-1 alpha-2).", format="country"
    )
    invoice_email: Mapped[str | None] = column(
        string(254), "Where invoices are sent.", format="email"
    )
    e_invoice_scheme: Mapped[str | None] = column(string(4), "Scheme of the e-invoice address.")
    e_invoice_id: Mapped[str | None] = column(string(50), "E-invoice address.")
    buyer_reference: Mapped[str | None] = column(string(100), "Reference the buyer asks for.")
    source: Mapped[str | None] = column(string(50), "Where the client came from.")
    do_not_contact: Mapped[bool] = column(Boolean, "No marketing contact wanted.", default=False)
    notes: Mapped[str | None] = column(string(10000), "Internal notes.")
    invoiced_total: Mapped[Decimal] = column(
        Money, "Sum of issued invoices less credit notes.", default=Decimal(0), computed=True
    )
    outstanding_balance: Mapped[Decimal] = column(
        Money, "What the client still owes.", default=Decimal(0), computed=True
    )
    credit_balance: Mapped[Decimal] = column(
        Money, "Credit in the client's favour.", default=Decimal(0), computed=True
    )
    origin_lead_id: Mapped[int | None] = foreign_key(
        "leads", "Lead it was converted from.", sparse=True, closes_circle=True, computed=True
    )
    last_activity_at: Mapped[datetime | None] = column(
        UtcDateTime(), "Last change around it.", computed=True
    )
    email_form: Mapped[str | None] = column(
        string(600),
        "Normal form of the e-mail address.",
        normal_form=("email", "email"),
        index=True,
    )
    tax_id_form: Mapped[str | None] = column(
        string(100), "Normal form of the tax number.", normal_form=("tax_id", "tax_id"), index=True
    )
    phone_form: Mapped[str | None] = column(
        string(64), "Normal form of the telephone number.", normal_form=("phone", "phone")
    )

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

    first_name: Mapped[str | None] = column(string(100), "Given name.", searchable=True)
    last_name: Mapped[str] = column(string(100), "Family name.", searchable=True)
    client_id: Mapped[int | None] = foreign_key("clients", "Client the person works for.")
    email: Mapped[str | None] = column(
        string(254), "E-mail address.", format="email", index=True, searchable=True
    )
    phone: Mapped[str | None] = column(string(32), "Telephone number.", format="phone")
    mobile: Mapped[str | None] = column(string(32), "Mobile number.", format="phone")
    job_title: Mapped[str | None] = column(string(100), "Job title.")
    department: Mapped[str | None] = column(string(100), "Department.")
    role: Mapped[str | None] = column(
        string(20), "Part the person plays in a purchase.", allowed=CONTACT_ROLES
    )
    is_primary: Mapped[bool] = column(Boolean, "Main contact; one for each client.", default=False)
    receives_invoices: Mapped[bool] = column(Boolean, "Gets invoices by mail.", default=False)
    language: Mapped[str | None] = column(string(10), "Language.", format="language")
    do_not_contact: Mapped[bool] = column(Boolean, "No marketing contact wanted.", default=False)
    notes: Mapped[str | None] = column(string(10000), "Internal notes.")
    email_form: Mapped[str | None] = column(
        string(600),
        "Normal form of the e-mail address.",
        normal_form=("email", "email"),
        index=True,
    )
    phone_form: Mapped[str | None] = column(
        string(64), "Normal form of the telephone number.", normal_form=("phone", "phone")
    )
    mobile_form: Mapped[str | None] = column(
        string(64), "Normal form of the mobile number.", normal_form=("mobile", "phone")
    )

    __table_args__ = entity_args(
        Index("ix_contacts_last_name_first_name", "last_name", "first_name"),
        partial_index(
            "uq_contacts_primary", "client_id",
            where="is_primary", on_sqlite="is_primary = 1", unique=True,
        ),
    )  # fmt: skip
