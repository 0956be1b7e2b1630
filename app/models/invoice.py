"""Invoices and credit notes, their line items and the payments against them."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import CheckConstraint, Index, UniqueConstraint
from sqlalchemy.orm import Mapped

from app.db.types import ExactDecimal, Identifier, JsonText, string
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
    type: Mapped[str] = column("Invoice or credit note.", default="Invoice", allowed=INVOICE_TYPES)
    contact_id: Mapped[int | None] = foreign_key("contacts", "Person addressed.")
    issue_date: Mapped[date | None] = column("Date of issue; the day of issue by default.")
    due_date: Mapped[date | None] = column("Payable until; issue date plus terms by default.")
    service_date: Mapped[date | None] = column("Date of supply.")
    currency: Mapped[str] = column(
        "Currency (ISO 4217); the client's by default.", string(3), format="currency"
    )
    reference: Mapped[str | None] = column("Your own reference.", string(100), searchable=True)
    purchase_order: Mapped[str | None] = column("Purchase order of the buyer.", string(50))
    buyer_reference: Mapped[str | None] = column("Reference the buyer asked for.", string(100))
    prices_include_tax: Mapped[bool] = column("Unit prices contain the tax.", default=False)
    discount_percent: Mapped[Decimal] = column(
        "Discount on the whole document.", Percent, default=Decimal(0), minimum=0, maximum=100
    )
    notes: Mapped[str | None] = column("Text printed on the document.", string(2000))
    terms: Mapped[str | None] = column("Payment terms printed on the document.", string(2000))
    internal_notes: Mapped[str | None] = column("Notes that are not printed.", string(10000))
    series: Mapped[str] = column("Number series.", string(10), default="INV")
    credited_invoice_id: Mapped[int | None] = foreign_key(
        "invoices", "Invoice that a credit note corrects.", sparse=True
    )
    opportunity_id: Mapped[int | None] = foreign_key(
        "opportunities", "Opportunity it came from.", sparse=True
    )
    project_id: Mapped[int | None] = foreign_key("projects", "Project it bills.")
    e_invoice_format: Mapped[str] = column(
        "Electronic form of the document.", default="Auto", allowed=E_INVOICE_FORMATS
    )
    number: Mapped[str | None] = column(
        "Number, given at issue.", string(40), unique=True, searchable=True, computed=True
    )
    status: Mapped[str] = column(
        "State of the document.", default="Draft", allowed=INVOICE_STATUSES
    )
    subtotal: Mapped[Decimal] = column(
        "Sum of the lines, net.", Money, default=Decimal(0), computed=True
    )
    discount_total: Mapped[Decimal] = column(
        "Discount on the document.", Money, default=Decimal(0), computed=True
    )
    tax_total: Mapped[Decimal] = column("Tax.", Money, default=Decimal(0), computed=True)
    total: Mapped[Decimal] = column(
        "Amount to pay, with tax.", Money, default=Decimal(0), minimum=0, computed=True
    )
    amount_paid: Mapped[Decimal] = column(
        "Sum of payments.", Money, default=Decimal(0), minimum=0, computed=True
    )
    amount_credited: Mapped[Decimal] = column(
        "Sum of credit notes.", Money, default=Decimal(0), minimum=0, computed=True
    )
    amount_due: Mapped[Decimal] = column(
        "What is left to pay.", Money, default=Decimal(0), computed=True
    )
    tax_breakdown: Mapped[list[dict[str, Any]]] = column(
        "Tax by category and rate.", JsonText(), default=[], computed=True
    )
    exchange_rate: Mapped[Decimal] = column(
        "Units of the organisation's currency for one of its own.", ExactDecimal(18, 8),
        default=Decimal(1), computed=True,
    )  # fmt: skip
    client_rate: Mapped[Decimal | None] = column(
        "Units of the organisation's currency for one of the client's; none: those of now.",
        ExactDecimal(18, 8), computed=True,
    )  # fmt: skip
    base_total: Mapped[Decimal] = column(
        "Total in the organisation's currency.", Money, default=Decimal(0), computed=True
    )
    sent_at: Mapped[datetime | None] = column("When it was issued.", computed=True)
    viewed_at: Mapped[datetime | None] = column("When the client opened it.", computed=True)
    link_version: Mapped[int | None] = column(
        "How many of its links were withdrawn; none: 0.", computed=True
    )
    paid_at: Mapped[datetime | None] = column("When it was paid in full.", computed=True)
    voided_at: Mapped[datetime | None] = column("When it was voided.", computed=True)
    void_reason: Mapped[str | None] = column("Why it was voided.", string(500), computed=True)
    reminders_sent: Mapped[int] = column("Reminders sent.", default=0, computed=True)
    last_reminder_at: Mapped[datetime | None] = column("Last reminder.", computed=True)
    overdue_told_for: Mapped[date | None] = column("Due date for which it was told.", computed=True)
    seller: Mapped[dict[str, Any] | None] = column(
        "Seller as it was at issue.", JsonText(), computed=True
    )
    buyer: Mapped[dict[str, Any] | None] = column(
        "Buyer as it was at issue.", JsonText(), computed=True
    )
    pdf_sha256: Mapped[str | None] = column(
        "SHA-256 of the PDF frozen at issue.", string(64), computed=True
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

    # Lines of an invoice are found by the beginning of the index that has their order.
    invoice_id: Mapped[int] = foreign_key("invoices", "Invoice.", ondelete="CASCADE", index=False)
    position: Mapped[int] = column("Place on the invoice, from 1.")
    description: Mapped[str] = column("What was sold.", string(1000))
    quantity: Mapped[Decimal] = column(
        "Quantity, more than 0.", ExactDecimal(12, 4), default=Decimal(1), minimum=0
    )
    unit_price: Mapped[Decimal] = column("Price of one unit.", ExactDecimal(15, 4), minimum=0)
    unit_code: Mapped[str] = column(
        "Unit: a code of UN/ECE Recommendation 20 or 21 such as C62, HUR or XBX.", string(3),
        default="C62",
    )  # fmt: skip
    discount_percent: Mapped[Decimal] = column(
        "Discount on the line.", Percent, default=Decimal(0), minimum=0, maximum=100
    )
    tax_rate: Mapped[Decimal] = column(
        "Tax in percent; the organisation's by default.", Percent, minimum=0, maximum=100
    )
    tax_category: Mapped[str] = column(
        "Tax category (EN 16931); Z by default where the rate is 0.",
        string(2),
        default="S",
        allowed=TAX_CATEGORIES,
    )
    tax_exemption_reason: Mapped[str | None] = column(
        "Why no tax is charged; required for E, AE, K, G, O.", string(255)
    )
    product_code: Mapped[str | None] = column("Article number.", string(64))
    period_start: Mapped[date | None] = column("Start of the period billed.")
    period_end: Mapped[date | None] = column("End of the period billed.")
    task_id: Mapped[int | None] = foreign_key("tasks", "Task billed by the line.", sparse=True)
    product_id: Mapped[int | None] = foreign_key(
        "products", "Product whose values the line took over.", sparse=True
    )
    line_subtotal: Mapped[Decimal] = column("Quantity x unit price.", Money, default=Decimal(0))
    discount_amount: Mapped[Decimal] = column("Discount of the line.", Money, default=Decimal(0))
    line_net: Mapped[Decimal] = column("Net amount.", Money, default=Decimal(0))
    tax_amount: Mapped[Decimal] = column(
        "Tax of the line, for information.", Money, default=Decimal(0)
    )
    line_total: Mapped[Decimal] = column("Net plus tax.", Money, default=Decimal(0))

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

    number: Mapped[str] = column('Running number, "PAY-000001".', string(40), unique=True)
    invoice_id: Mapped[int] = foreign_key("invoices", "Invoice paid.")
    client_id: Mapped[int] = foreign_key("clients", "Client who paid.")
    amount: Mapped[Decimal] = column("Amount, more than 0.", Money)
    currency: Mapped[str] = column("Currency of the invoice.", string(3))
    paid_on: Mapped[date] = column("Day of the payment.", index=True)
    method: Mapped[str] = column("How it was paid.", allowed=PAYMENT_METHODS, any_case=True)
    reference: Mapped[str | None] = column("Reference of the payment.", string(100))
    notes: Mapped[str | None] = column("Notes.", string(500))
    status: Mapped[str] = column(
        "Completed or reversed.", default="Completed", allowed=PAYMENT_STATUSES
    )
    created_by_id: Mapped[int | None] = foreign_key("users", "Who entered it.", index=False)
    reversed_at: Mapped[datetime | None] = column("When it was reversed.")
    reversal_reason: Mapped[str | None] = column("Why it was reversed.", string(500))
    version: Mapped[int] = column("Row version.", Identifier, default=1)

    __table_args__ = (
        CheckConstraint("amount > 0", name="amount_positive"),
        Index("ix_payments_status", "status"),
    )


class IssueRecord(Record):
    """One link of the chain of issued documents: nothing was altered or removed after issue."""

    __tablename__ = "issue_records"
    __table_args__ = (UniqueConstraint("invoice_id"),)

    invoice_id: Mapped[int] = foreign_key("invoices", "Document issued.", index=False)
    number: Mapped[str] = column("Its number.", string(40))
    total: Mapped[Decimal] = column("Its total.", Money)
    currency: Mapped[str] = column("Its currency.", string(3))
    pdf_sha256: Mapped[str | None] = column("SHA-256 of its PDF.", string(64))
    content_sha256: Mapped[str] = column("SHA-256 of its frozen content.", string(64))
    previous_hash: Mapped[str] = column("Hash of the link before.", string(64))
    hash: Mapped[str] = column("Hash of this link.", string(64), unique=True)
    form: Mapped[int | None] = column("What the hash is over; none is the first form.")
    issue_date: Mapped[date | None] = column("The date that the document bears.")
    issued_on: Mapped[date | None] = column(
        "The organisation's day of issue; none where the document was moved in."
    )
    backdated_from: Mapped[date | None] = column(
        "The date of the last document of its series, where the document bears an earlier one."
    )
