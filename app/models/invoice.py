"""Invoices and credit notes, their line items and the payments against them."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Boolean, CheckConstraint, Date, Index, Integer, UniqueConstraint
from sqlalchemy.orm import Mapped

from app.db.types import ExactDecimal, Identifier, JsonText, UtcDateTime, string
from app.models.columns import (
    Entity,
    Money,
    Percent,
    Record,
    column,
    entity_args,
    foreign_key,
)
from app.models.indexes import nulls_first

INVOICE_TYPES = ("Invoice", "CreditNote")
INVOICE_STATUSES = ("Draft", "Sent", "PartiallyPaid", "Paid", "Void", "Uncollectible")
E_INVOICE_FORMATS = ("Auto", "None", "FacturX", "Ubl")
TAX_CATEGORIES = ("S", "Z", "E", "AE", "K", "G", "O")
PAYMENT_METHODS = (
    "transfer", "card", "cash", "cheque", "directDebit", "paypal", "credit", "other",
)  # fmt: skip
PAYMENT_STATUSES = ("Completed", "Reversed")


class Invoice(Entity):
    """A bill to one client, or a credit note for one. Amounts: ``currency``, major units."""

    __tablename__ = "invoices"

    client_id: Mapped[int] = foreign_key("clients", "Client who is billed.")
    type: Mapped[str] = column(
        string(20), "Invoice or credit note.", default="Invoice", allowed=INVOICE_TYPES
    )
    contact_id: Mapped[int | None] = foreign_key("contacts", "Person addressed.")
    issue_date: Mapped[date | None] = column(Date, "Date of issue; the day of issue by default.")
    due_date: Mapped[date | None] = column(Date, "Payable until; issue date plus terms by default.")
    service_date: Mapped[date | None] = column(Date, "Date of supply.")
    currency: Mapped[str] = column(
        string(3), "Currency (ISO 4217); the client's by default.", format="currency"
    )
    reference: Mapped[str | None] = column(string(100), "Your own reference.", searchable=True)
    purchase_order: Mapped[str | None] = column(string(50), "Purchase order of the buyer.")
    buyer_reference: Mapped[str | None] = column(string(100), "Reference the buyer asked for.")
    prices_include_tax: Mapped[bool] = column(
        Boolean, "Unit prices contain the tax.", default=False
    )
    discount_percent: Mapped[Decimal] = column(
        Percent, "Discount on the whole document.", default=Decimal(0), minimum=0, maximum=100
    )
    notes: Mapped[str | None] = column(string(2000), "Text printed on the document.")
    terms: Mapped[str | None] = column(string(2000), "Payment terms printed on the document.")
    internal_notes: Mapped[str | None] = column(string(10000), "Notes that are not printed.")
    series: Mapped[str] = column(string(10), "Number series.", default="INV")
    credited_invoice_id: Mapped[int | None] = foreign_key(
        "invoices", "Invoice that a credit note corrects.", sparse=True
    )
    opportunity_id: Mapped[int | None] = foreign_key(
        "opportunities", "Opportunity it came from.", sparse=True
    )
    project_id: Mapped[int | None] = foreign_key("projects", "Project it bills.")
    e_invoice_format: Mapped[str] = column(
        string(20), "Electronic form of the document.", default="Auto", allowed=E_INVOICE_FORMATS
    )
    number: Mapped[str | None] = column(
        string(40), "Number, given at issue.", unique=True, searchable=True, computed=True
    )
    status: Mapped[str] = column(
        string(20), "State of the document.", default="Draft", allowed=INVOICE_STATUSES
    )
    subtotal: Mapped[Decimal] = column(
        Money, "Sum of the lines, net.", default=Decimal(0), computed=True
    )
    discount_total: Mapped[Decimal] = column(
        Money, "Discount on the document.", default=Decimal(0), computed=True
    )
    tax_total: Mapped[Decimal] = column(Money, "Tax.", default=Decimal(0), computed=True)
    total: Mapped[Decimal] = column(
        Money, "Amount to pay, with tax.", default=Decimal(0), minimum=0, computed=True
    )
    amount_paid: Mapped[Decimal] = column(
        Money, "Sum of payments.", default=Decimal(0), minimum=0, computed=True
    )
    amount_credited: Mapped[Decimal] = column(
        Money, "Sum of credit notes.", default=Decimal(0), minimum=0, computed=True
    )
    amount_due: Mapped[Decimal] = column(
        Money, "What is left to pay.", default=Decimal(0), computed=True
    )
    tax_breakdown: Mapped[list[dict[str, Any]]] = column(
        JsonText(), "Tax by category and rate.", default=[], computed=True
    )
    exchange_rate: Mapped[Decimal] = column(
        ExactDecimal(18, 8), "Units of the organisation's currency for one of its own.",
        default=Decimal(1), computed=True,
    )  # fmt: skip
    base_total: Mapped[Decimal] = column(
        Money, "Total in the organisation's currency.", default=Decimal(0), computed=True
    )
    sent_at: Mapped[datetime | None] = column(UtcDateTime(), "When it was issued.", computed=True)
    viewed_at: Mapped[datetime | None] = column(
        UtcDateTime(), "When the client opened it.", computed=True
    )
    link_version: Mapped[int | None] = column(
        Integer, "How many of its links were withdrawn; none: 0.", computed=True
    )
    paid_at: Mapped[datetime | None] = column(
        UtcDateTime(), "When it was paid in full.", computed=True
    )
    voided_at: Mapped[datetime | None] = column(UtcDateTime(), "When it was voided.", computed=True)
    void_reason: Mapped[str | None] = column(string(500), "Why it was voided.", computed=True)
    reminders_sent: Mapped[int] = column(Integer, "Reminders sent.", default=0, computed=True)
    last_reminder_at: Mapped[datetime | None] = column(
        UtcDateTime(), "Last reminder.", computed=True
    )
    overdue_told_for: Mapped[date | None] = column(
        Date, "Due date for which it was told.", computed=True
    )
    seller: Mapped[dict[str, Any] | None] = column(
        JsonText(), "Seller as it was at issue.", computed=True
    )
    buyer: Mapped[dict[str, Any] | None] = column(
        JsonText(), "Buyer as it was at issue.", computed=True
    )
    pdf_sha256: Mapped[str | None] = column(
        string(64), "SHA-256 of the PDF frozen at issue.", computed=True
    )

    __table_args__ = entity_args(
        CheckConstraint("status = 'Draft' OR number IS NOT NULL", name="issued_has_number"),
        CheckConstraint(
            "type = 'Invoice' OR credited_invoice_id IS NOT NULL", name="credit_note_names_invoice"
        ),
        CheckConstraint("due_date IS NULL OR issue_date IS NULL OR due_date >= issue_date",
                        name="due_after_issue"),
        Index("ix_invoices_status_due_date", "status", nulls_first("due_date")),
        Index("ix_invoices_issue_date", nulls_first("issue_date")),
        Index("ix_invoices_series_issue_date", "series", "issue_date"),
        Index("ix_invoices_due_date", nulls_first("due_date")),
        Index("ix_invoices_total", "total"),
        Index("ix_invoices_amount_due", "amount_due"),
        Index("ix_invoices_paid_at", nulls_first("paid_at")),
    )  # fmt: skip


class LineItem(Record):
    """One line of an invoice. Net: quantity x unit price less discount, rounded half up."""

    __tablename__ = "line_items"

    invoice_id: Mapped[int] = foreign_key("invoices", "Invoice.", ondelete="CASCADE")
    position: Mapped[int] = column(Integer, "Place on the invoice, from 1.")
    description: Mapped[str] = column(string(1000), "What was sold.")
    quantity: Mapped[Decimal] = column(
        ExactDecimal(12, 4), "Quantity, more than 0.", default=Decimal(1), minimum=0
    )
    unit_price: Mapped[Decimal] = column(ExactDecimal(15, 4), "Price of one unit.", minimum=0)
    unit_code: Mapped[str] = column(
        string(3), "Unit: a code of UN/ECE Recommendation 20 or 21 such as C62, HUR or XBX.",
        default="C62",
    )  # fmt: skip
    discount_percent: Mapped[Decimal] = column(
        Percent, "Discount on the line.", default=Decimal(0), minimum=0, maximum=100
    )
    tax_rate: Mapped[Decimal] = column(
        Percent, "Tax in percent; the organisation's by default.", minimum=0, maximum=100
    )
    tax_category: Mapped[str] = column(
        string(2),
        "Tax category (EN 16931); Z by default where the rate is 0.",
        default="S",
        allowed=TAX_CATEGORIES,
    )
    tax_exemption_reason: Mapped[str | None] = column(
        string(255), "Why no tax is charged; required for E, AE, K, G, O."
    )
    product_code: Mapped[str | None] = column(string(64), "Article number.")
    period_start: Mapped[date | None] = column(Date, "Start of the period billed.")
    period_end: Mapped[date | None] = column(Date, "End of the period billed.")
    task_id: Mapped[int | None] = foreign_key("tasks", "Task billed by the line.", sparse=True)
    product_id: Mapped[int | None] = foreign_key(
        "products", "Product whose values the line took over.", sparse=True
    )
    line_subtotal: Mapped[Decimal] = column(Money, "Quantity x unit price.", default=Decimal(0))
    discount_amount: Mapped[Decimal] = column(Money, "Discount of the line.", default=Decimal(0))
    line_net: Mapped[Decimal] = column(Money, "Net amount.", default=Decimal(0))
    tax_amount: Mapped[Decimal] = column(
        Money, "Tax of the line, for information.", default=Decimal(0)
    )
    line_total: Mapped[Decimal] = column(Money, "Net plus tax.", default=Decimal(0))

    __table_args__ = (
        CheckConstraint("quantity > 0", name="quantity_positive"),
        CheckConstraint(
            "period_start IS NULL OR period_end IS NULL OR period_end >= period_start",
            name="period_in_order",
        ),
        Index("ix_line_items_invoice_id_position", "invoice_id", "position"),
    )


class Payment(Record):
    """Money received for an invoice, in the invoice's currency."""

    __tablename__ = "payments"

    number: Mapped[str] = column(string(40), 'Running number, "PAY-000001".', unique=True)
    invoice_id: Mapped[int] = foreign_key("invoices", "Invoice paid.")
    client_id: Mapped[int] = foreign_key("clients", "Client who paid.")
    amount: Mapped[Decimal] = column(Money, "Amount, more than 0.")
    currency: Mapped[str] = column(string(3), "Currency of the invoice.")
    paid_on: Mapped[date] = column(Date, "Day of the payment.", index=True)
    method: Mapped[str] = column(
        string(20), "How it was paid.", allowed=PAYMENT_METHODS, any_case=True
    )
    reference: Mapped[str | None] = column(string(100), "Reference of the payment.")
    notes: Mapped[str | None] = column(string(500), "Notes.")
    status: Mapped[str] = column(
        string(20), "Completed or reversed.", default="Completed", allowed=PAYMENT_STATUSES
    )
    created_by_id: Mapped[int | None] = foreign_key("users", "Who entered it.", index=False)
    reversed_at: Mapped[datetime | None] = column(UtcDateTime(), "When it was reversed.")
    reversal_reason: Mapped[str | None] = column(string(500), "Why it was reversed.")
    version: Mapped[int] = column(Identifier, "Row version.", default=1)

    __table_args__ = (
        CheckConstraint("amount > 0", name="amount_positive"),
        Index("ix_payments_status", "status"),
    )


class IssueRecord(Record):
    """One link of the chain of issued documents: nothing was altered or removed after issue."""

    __tablename__ = "issue_records"
    __table_args__ = (UniqueConstraint("invoice_id"),)

    invoice_id: Mapped[int] = foreign_key("invoices", "Document issued.", index=False)
    number: Mapped[str] = column(string(40), "Its number.")
    total: Mapped[Decimal] = column(Money, "Its total.")
    currency: Mapped[str] = column(string(3), "Its currency.")
    pdf_sha256: Mapped[str | None] = column(string(64), "SHA-256 of its PDF.")
    content_sha256: Mapped[str] = column(string(64), "SHA-256 of its frozen content.")
    previous_hash: Mapped[str] = column(string(64), "Hash of the link before.")
    hash: Mapped[str] = column(string(64), "Hash of this link.", unique=True)
    form: Mapped[int | None] = column(Integer, "What the hash is over; none is the first form.")
    issue_date: Mapped[date | None] = column(Date, "The date that the document bears.")
    issued_on: Mapped[date | None] = column(
        Date, "The organisation's day of issue; none where the document was moved in."
    )
    backdated_from: Mapped[date | None] = column(
        Date,
        "The date of the last document of its series, where the document bears an earlier one.",
    )
