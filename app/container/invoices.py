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
    refers,
    servers,
    tasks_about,
)
from app.db.late_values import dynamic
from app.invoices.payments import PAYMENTS
from app.models.invoice import Invoice, LineItem, Payment
from app.models.product import Product
from app.odata.model import edm
from app.odata.model.declare import by_name, prop, to_many
from app.odata.sql.dialect_sql import DialectSql

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


def _part(
    name: str, description: str, type_: edm.EdmType = edm.STRING, **facets: Any
) -> edm.Property:
    """A part of a complex value that is kept as JSON."""
    return edm.Property(name=name, type=type_, attribute=name, description=description, **facets)


TAX_BREAKDOWN_LINE = edm.ComplexType(
    name="TaxBreakdownLine",
    description="The tax of one category and rate.",
    properties=by_name(
        [
            _part("taxCategory", "Tax category (EN 16931)."),
            _part("taxRate", "Tax in percent.", edm.DECIMAL, precision=5, scale=2),
            _part("taxable", "Amount the tax is charged on.", edm.DECIMAL, precision=15, scale=2),
            _part("tax", "Tax.", edm.DECIMAL, precision=15, scale=2),
        ]
    ),
)

PARTY_SNAPSHOT = edm.ComplexType(
    name="PartySnapshot",
    description="Seller or buyer as they were when the document was issued.",
    is_open=True,
    properties=by_name(
        [
            _part("name", "Name."),
            _part("legalName", "Registered name."),
            _part("taxId", "VAT or tax number."),
            _part("registrationNumber", "Number in the register of companies."),
            _part("email", "E-mail address."),
            _part("phone", "Telephone number."),
            _part("website", "Web address of the seller."),
            _part("contactName", "Person addressed at the buyer."),
            _part("address", "Postal address.", ADDRESS),
            _part("accountHolder", "Holder of the seller's account."),
            _part("iban", "IBAN of the seller's account."),
            _part("bic", "BIC of the seller's bank."),
            _part("bankName", "Name of the seller's bank."),
            _part("eInvoiceScheme", "Scheme of the electronic address (EAS)."),
            _part("eInvoiceId", "Electronic address."),
            _part("number", "Number of the buyer."),
            _part("language", "Language of the buyer."),
        ]
    ),
)

INVOICE = business_type(
    Invoice,
    [
        "number", "client_id", "type", "status", "contact_id", "issue_date", "due_date",
        "service_date", "currency", "reference", "purchase_order", "buyer_reference",
        "prices_include_tax", "discount_percent", "notes", "terms", "internal_notes", "series",
        "credited_invoice_id", "opportunity_id", "project_id", "e_invoice_format", "subtotal",
        "discount_total", "tax_total", "total", "amount_paid", "amount_credited", "amount_due",
        prop(Invoice.__table__.c.tax_breakdown, type=edm.CollectionType(TAX_BREAKDOWN_LINE)),
        expressed(
            "is_overdue", edm.BOOLEAN, _is_overdue, "Issued, not settled and past the due date."
        ),
        "exchange_rate", "base_total", "sent_at", "viewed_at", "paid_at", "voided_at",
        "void_reason", "reminders_sent", "last_reminder_at",
        prop(Invoice.__table__.c.seller, type=PARTY_SNAPSHOT),
        prop(Invoice.__table__.c.buyer, type=PARTY_SNAPSHOT),
        "pdf_sha256",
    ],
    [
        refers("client_id", partner="Invoices", searched=True),
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
        refers("credited_invoice_id", partner="CreditNotes"),
        refers("contact_id"),
        refers("project_id", partner="Invoices"),
        refers("opportunity_id"),
        documents_of("Invoice"),
        tasks_about("Invoice"),
    ],
    filled=("currency",),
    resource="invoices",
    alternate_keys=(("number",),),
    description="A bill to one client, or a credit note.",
)  # fmt: skip

LINE_ITEM = business_type(
    LineItem,
    [
        *servers(LineItem, "invoice_id"),
        "position", "description", "quantity", "unit_price", "unit_code", "discount_percent",
        "tax_rate", "tax_category", "tax_exemption_reason", "product_code", "period_start",
        "period_end", "task_id", "product_id",
        *servers(
            LineItem, "line_subtotal", "discount_amount", "line_net", "tax_amount", "line_total",
        ),
    ],
    [
        refers("invoice_id", partner="LineItems"),
        refers("product_id"),
    ],
    filled=("position", "description", "unit_price", "tax_rate"),
    resource="invoices",
    ordered_by="position",
    description="One line of an invoice.",
)  # fmt: skip

PAYMENT = business_type(
    Payment,
    [
        *servers(Payment, "number", "invoice_id", "client_id"),
        "amount",
        *servers(Payment, "currency"),
        prop(Payment.__table__.c.paid_on, "date"),
        "method", "reference", "notes",
        *servers(
            Payment, "status", "reversed_at", "reversal_reason", "created_by_id", "created_at",
        ),
    ],
    [
        refers("invoice_id", partner="Payments")
    ],
    resource="invoices",
    etag="version",
    description="Money received for an invoice.",
)  # fmt: skip

PRODUCT = business_type(
    Product,
    [
        "sku", "name", "description", "unit_code",
        prop(Product.__table__.c.unit_price, currency_property="currency"),
        "currency", "prices_include_tax", "tax_rate", "tax_category", "tax_exemption_reason",
        "is_active",
    ],
    filled=("currency",),
    resource="products",
    alternate_keys=(("sku",),),
    description="An entry of the price list.",
)  # fmt: skip
