"""An invoice as it lies in the database, as the document that is drawn and sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from sqlalchemy import Text, cast, select

from app.db import records
from app.db.types import json_text
from app.errors import NotFoundError
from app.invoices.document import (
    Address,
    BankAccount,
    CreditedInvoice,
    DocumentLine,
    DocumentState,
    InvoiceDocument,
    Party,
    PaymentEntry,
    TaxSubtotal,
)
from app.invoices.logo import logo_file
from app.invoices.posting import rate_of
from app.invoices.snapshots import buyer_snapshot, seller_snapshot
from app.models.client import Client, Contact
from app.models.invoice import Invoice, LineItem, Payment
from app.settings import organisation
from app.writing.change import Change

_LINE = (
    "description", "quantity", "unit_price", "line_net", "line_total", "tax_rate",
    "tax_category", "unit_code", "discount_percent", "tax_exemption_reason", "product_code",
    "period_start", "period_end",
)  # fmt: skip
_SAME = (
    "type", "number", "issue_date", "due_date", "service_date", "currency", "prices_include_tax",
    "discount_percent", "subtotal", "discount_total", "tax_total", "total", "amount_credited",
    "amount_due", "exchange_rate", "reference", "purchase_order", "buyer_reference", "notes",
    "terms",
)  # fmt: skip
_STATES: Mapping[str, DocumentState] = {"Draft": "Draft", "Void": "Void", "Paid": "Paid"}


def read_document(invoice_id: int) -> InvoiceDocument:
    """The document of an invoice as it stands: a draft with its parties as they are now.

    Raises: NotFoundError.
    """
    invoice = records.read(Invoice, invoice_id)
    if invoice is None:
        raise NotFoundError(f"There is no invoice {invoice_id}.")
    return document_of(invoice, _kept_breakdown(invoice_id))


def issued_document(change: Change[Invoice]) -> InvoiceDocument:
    """The document that a change issues, but for its number; its lines are written."""
    computed = change.values.get("tax_breakdown")
    kept = _kept_breakdown(change.key) if computed is None else json_text(computed)
    return document_of(change.after(), kept)


def document_of(invoice: Invoice, tax_breakdown: str) -> InvoiceDocument:
    """The document of an invoice as it is, or will be, whose lines are in the database.

    Args:
        tax_breakdown: as it is kept: what is read of a column of JSON are floats.
    """
    client = records.get(Client, invoice.client_id)
    contact = records.read(Contact, invoice.contact_id)
    settings = organisation()
    seller = invoice.seller or seller_snapshot(settings)
    buyer = invoice.buyer or buyer_snapshot(client, contact)
    same = {name: getattr(invoice, name) for name in _SAME}
    if invoice.status == "Draft":
        # As issue takes it.
        same["exchange_rate"] = rate_of(invoice.currency, invoice.credited_invoice_id)
    return InvoiceDocument(
        **same,
        accounting_currency=settings.defaults.currency,
        state=_STATES.get(invoice.status, "Issued"),
        # Documents that were moved in from elsewhere have what their client has now.
        language=buyer.get("language") or client.language,
        logo=logo_file(settings),
        seller=_party(seller),
        buyer=_party(buyer, number=buyer.get("number") or client.number),
        bank=_bank(seller),
        lines=_lines(invoice.id),
        tax_breakdown=_breakdown(tax_breakdown),
        payments=_payments(invoice.id),
        credited=_credited(invoice.credited_invoice_id),
    )


def _party(snapshot: Mapping[str, Any], number: str | None = None) -> Party:
    """A party from the copy that app/invoices/snapshots.py made of it."""
    address = snapshot["address"]
    return Party(
        name=snapshot["name"],
        legal_name=snapshot["legalName"],
        tax_id=snapshot["taxId"],
        registration_number=snapshot["registrationNumber"],
        email=snapshot["email"],
        phone=snapshot["phone"],
        website=snapshot.get("website"),
        contact_name=snapshot.get("contactName"),
        endpoint_scheme=snapshot.get("eInvoiceScheme"),
        endpoint_id=snapshot.get("eInvoiceId"),
        number=number,
        address=Address(
            street=address["street"],
            city=address["city"],
            state=address["state"],
            postal_code=address["postalCode"],
            country=address["country"],
        ),
    )


def _bank(seller: Mapping[str, Any]) -> BankAccount | None:
    if not seller["iban"]:
        return None
    return BankAccount(
        iban=seller["iban"],
        bic=seller["bic"],
        bank_name=seller["bankName"],
        account_holder=seller["accountHolder"],
    )


def _lines(invoice_id: int) -> tuple[DocumentLine, ...]:
    statement = (
        select(LineItem)
        .where(LineItem.invoice_id == invoice_id)
        .order_by(LineItem.position, LineItem.id)
    )
    return tuple(
        DocumentLine(**{name: getattr(line, name) for name in _LINE})
        for line in records.read_all(statement)
    )


def _kept_breakdown(invoice_id: int) -> str:
    text = select(cast(Invoice.tax_breakdown, Text)).where(Invoice.id == invoice_id)
    return str(records.connection().execute(text).scalar_one())


def _breakdown(stored: str) -> tuple[TaxSubtotal, ...]:
    return tuple(
        TaxSubtotal(
            tax_category=group["taxCategory"],
            tax_rate=Decimal(group["taxRate"]),
            taxable=Decimal(group["taxable"]),
            tax=Decimal(group["tax"]),
        )
        for group in json.loads(stored, parse_float=Decimal)
    )


def _payments(invoice_id: int) -> tuple[PaymentEntry, ...]:
    statement = (
        select(Payment)
        .where(Payment.invoice_id == invoice_id, Payment.status == "Completed")
        .order_by(Payment.paid_on, Payment.id)
    )
    return tuple(
        PaymentEntry(
            paid_on=payment.paid_on,
            amount=payment.amount,
            method=payment.method,
            reference=payment.reference,
        )
        for payment in records.read_all(statement)
    )


def _credited(invoice_id: int | None) -> CreditedInvoice | None:
    credited = records.read(Invoice, invoice_id)
    if credited is None:
        return None
    return CreditedInvoice(number=credited.number or "", issue_date=credited.issue_date)
