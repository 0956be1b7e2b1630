"""Entity types Invoice, LineItem and Payment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, and_, case

from app.container.common import (
    ADDRESS,
    business_type,
    documents_of,
    expressed,
    money,
    preserved,
    props,
    server,
    servers,
    tasks_about,
)
from app.db.late_values import dynamic
from app.invoices.payments import PAYMENTS
from app.models.invoice import Invoice, LineItem, Payment
from app.models.product import Product
from app.odata.model import edm
from app.odata.model.declare import by_name, prop, to_many, to_one
from app.odata.sql.dialect_sql import DialectSql

_invoice = Invoice.__table__
_line = LineItem.__table__
_payment = Payment.__table__
_product = Product.__table__

# Issued and not settled: past the due date these are overdue (contract section 2, decision 6).
OPEN_STATUSES = ("Sent", "PartiallyPaid")


def _is_late(columns: Any, day: ColumnElement[Any]) -> ColumnElement[Any]:
    return and_(
        columns.type == "Invoice",
        columns.status.in_(OPEN_STATUSES),
        columns.due_date.is_not(None),
        columns.due_date < day,
    )


def _is_overdue(columns: Any, rights: Any) -> ColumnElement[Any]:
    return _is_late(columns, dynamic("today"))


def days_overdue(columns: Any, arguments: Mapping[str, ColumnElement[Any]]) -> ColumnElement[Any]:
    """Days since the due date of what is open; 0 where nothing is, or not yet."""
    day = arguments.get("asOf", dynamic("today"))
    days = DialectSql(
        BigInteger(),
        "CAST(julianday({0}) - julianday({1}) AS INTEGER)",
        "CAST({0} - {1} AS BIGINT)",
        day,
        columns.due_date,
    )
    return case((_is_late(columns, day), days), else_=0)


def _text(name: str, description: str, attribute: str | None = None) -> edm.Property:
    return edm.Property(
        name=name, type=edm.STRING, attribute=attribute or name, description=description
    )


TAX_BREAKDOWN_LINE = edm.ComplexType(
    name="TaxBreakdownLine",
    description="The tax of one category and rate.",
    properties=by_name(
        [
            _text("taxCategory", "Tax category (EN 16931)."),
            edm.Property(
                name="taxRate", type=edm.DECIMAL, attribute="taxRate", precision=5, scale=2,
                description="Tax in percent.",
            ),
            edm.Property(
                name="taxable", type=edm.DECIMAL, attribute="taxable", precision=15, scale=2,
                description="Amount the tax is charged on.",
            ),
            edm.Property(
                name="tax", type=edm.DECIMAL, attribute="tax", precision=15, scale=2,
                description="Tax.",
            ),
        ]
    ),
)  # fmt: skip
PARTY_SNAPSHOT = edm.ComplexType(
    name="PartySnapshot",
    description="Seller or buyer as they were when the document was issued.",
    is_open=True,
    properties=by_name(
        [
            _text("name", "Name."),
            _text("legalName", "Registered name."),
            _text("taxId", "VAT or tax number."),
            _text("registrationNumber", "Number in the register of companies."),
            _text("email", "E-mail address."),
            _text("phone", "Telephone number."),
            _text("website", "Web address of the seller."),
            _text("contactName", "Person addressed at the buyer."),
            edm.Property(
                name="address", type=ADDRESS, attribute="address", description="Postal address."
            ),
            _text("accountHolder", "Holder of the seller's account."),
            _text("iban", "IBAN of the seller's account."),
            _text("bic", "BIC of the seller's bank."),
            _text("bankName", "Name of the seller's bank."),
            _text("eInvoiceScheme", "Scheme of the electronic address (EAS)."),
            _text("eInvoiceId", "Electronic address."),
            _text("number", "Number of the buyer."),
            _text("language", "Language of the buyer."),
        ]
    ),
)

INVOICE = business_type(
    "Invoice",
    _invoice,
    [
        *props(_invoice, "number", "client_id", "type"),
        preserved(_invoice.c.status),
        *props(_invoice, "contact_id", "issue_date", "due_date", "service_date"),
        prop(_invoice.c.currency, required=False, filled=True),
        *props(
            _invoice, "reference", "purchase_order", "buyer_reference", "prices_include_tax",
            "discount_percent", "notes", "terms", "internal_notes", "series", "credited_invoice_id",
            "opportunity_id", "project_id", "e_invoice_format",
        ),
        money(_invoice.c.subtotal),
        money(_invoice.c.discount_total),
        money(_invoice.c.tax_total),
        money(_invoice.c.total),
        money(_invoice.c.amount_paid),
        money(_invoice.c.amount_credited),
        money(_invoice.c.amount_due),
        prop(_invoice.c.tax_breakdown, type=edm.CollectionType(TAX_BREAKDOWN_LINE)),
        expressed(
            "is_overdue", edm.BOOLEAN, _is_overdue, "Issued, not settled and past the due date."
        ),
        *props(
            _invoice, "exchange_rate", "base_total", "sent_at", "viewed_at", "paid_at", "voided_at",
            "void_reason", "reminders_sent", "last_reminder_at",
        ),
        prop(_invoice.c.seller, type=PARTY_SNAPSHOT),
        prop(_invoice.c.buyer, type=PARTY_SNAPSHOT),
        prop(_invoice.c.pdf_sha256),
    ],
    [
        to_one(
            "Client", "Client", "client_id", partner="Invoices", nullable=False, searched=True,
            description="Client who is billed.",
        ),
        to_many(
            "LineItems", "LineItem", "invoice_id", partner="Invoice", contained=True, owned=True,
            description="Lines.",
        ),
        to_many(
            "Payments", "Payment", "invoice_id", partner="Invoice", contained=True,
            service=PAYMENTS, description="Payments received.",
        ),
        to_many(
            "CreditNotes", "Invoice", "credited_invoice_id", partner="CreditedInvoice",
            description="Credit notes for it.",
        ),
        to_one(
            "CreditedInvoice", "Invoice", "credited_invoice_id", partner="CreditNotes",
            description="Invoice that a credit note corrects.",
        ),
        to_one("Contact", "Contact", "contact_id", description="Person addressed."),
        to_one("Project", "Project", "project_id", partner="Invoices", description="Project."),
        to_one("Opportunity", "Opportunity", "opportunity_id", description="Opportunity."),
        documents_of("Invoice"),
        tasks_about("Invoice"),
    ],
    resource="invoices",
    alternate_keys=(("number",),),
    description="A bill to one client, or a credit note.",
)  # fmt: skip

LINE_ITEM = business_type(
    "LineItem",
    _line,
    [
        server(_line.c.invoice_id),
        prop(_line.c.position, required=False, filled=True),
        prop(_line.c.description, required=False, filled=True),
        prop(_line.c.quantity),
        prop(_line.c.unit_price, required=False, filled=True),
        *props(_line, "unit_code", "discount_percent"),
        prop(_line.c.tax_rate, required=False, filled=True),
        *props(
            _line, "tax_category", "tax_exemption_reason", "product_code", "period_start",
            "period_end", "task_id", "product_id",
        ),
        *servers(_line, "line_subtotal", "discount_amount", "line_net", "tax_amount", "line_total"),
    ],
    [
        to_one(
            "Invoice", "Invoice", "invoice_id", partner="LineItems", nullable=False,
            description="Invoice.",
        ),
        to_one(
            "Product", "Product", "product_id",
            description="Product whose values the line took over.",
        ),
    ],
    resource="invoices",
    ordered_by="position",
    description="One line of an invoice.",
)  # fmt: skip

PAYMENT = business_type(
    "Payment",
    _payment,
    [
        *servers(_payment, "number", "invoice_id", "client_id"),
        money(_payment.c.amount),
        server(_payment.c.currency),
        prop(_payment.c.paid_on, "date"),
        *props(_payment, "method", "reference", "notes"),
        *servers(
            _payment, "status", "reversed_at", "reversal_reason", "created_by_id", "created_at",
        ),
    ],
    [
        to_one(
            "Invoice", "Invoice", "invoice_id", partner="Payments", nullable=False,
            description="Invoice paid.",
        )
    ],
    resource="invoices",
    etag="version",
    description="Money received for an invoice.",
)  # fmt: skip

PRODUCT = business_type(
    "Product",
    _product,
    [
        *props(_product, "sku", "name", "description", "unit_code"),
        money(_product.c.unit_price),
        prop(_product.c.currency, required=False, filled=True),
        *props(
            _product, "prices_include_tax", "tax_rate", "tax_category", "tax_exemption_reason",
            "is_active",
        ),
    ],
    resource="products",
    alternate_keys=(("sku",),),
    description="An entry of the price list.",
)  # fmt: skip
