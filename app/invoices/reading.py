"""An invoice as it lies in the database, as the document that is drawn and sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from sqlalchemy import Text, cast, select

from app.db import records
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

_INVOICES: Any = Invoice.__table__
_LINES: Any = LineItem.__table__
_PAYMENTS: Any = Payment.__table__
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
    invoice = records.read(Invoice.__table__, invoice_id)
    if invoice is None:
        raise NotFoundError(f"There is no invoice {invoice_id}.")
    client = _row(Client, invoice["client_id"])
    contact = _row(Contact, invoice["contact_id"]) if invoice["contact_id"] else None
    settings = organisation()
    seller = invoice["seller"] or seller_snapshot(settings)
    buyer = invoice["buyer"] or buyer_snapshot(client, contact)
    same = {name: invoice[name] for name in _SAME}
    if invoice["status"] == "Draft":
        # As issue takes it.
        same["exchange_rate"] = rate_of(invoice["currency"], invoice["credited_invoice_id"])
    return InvoiceDocument(
        **same,
        accounting_currency=settings.defaults.currency,
        state=_STATES.get(invoice["status"], "Issued"),
        # Documents that were moved in from elsewhere have what their client has now.
        language=buyer.get("language") or client["language"],
        logo=logo_file(settings),
        seller=_party(seller),
        buyer=_party(buyer, number=buyer.get("number") or client["number"]),
        bank=_bank(seller),
        lines=_lines(invoice_id),
        tax_breakdown=_breakdown(invoice_id),
        payments=_payments(invoice_id),
        credited=_credited(invoice["credited_invoice_id"]),
    )


def _row(model: type[Client] | type[Contact], key: int) -> Mapping[str, Any]:
    row = records.read(model.__table__, key)
    assert row is not None  # the foreign key holds
    return row


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
        select(_LINES)
        .where(_LINES.c.invoice_id == invoice_id)
        .order_by(_LINES.c.position, _LINES.c.id)
    )
    return tuple(
        DocumentLine(**{name: row[name] for name in _LINE})
        for row in records.connection().execute(statement).mappings()
    )


def _breakdown(invoice_id: int) -> tuple[TaxSubtotal, ...]:
    """From the text that is kept: a column of JSON gives floats."""
    text = select(cast(_INVOICES.c.tax_breakdown, Text)).where(_INVOICES.c.id == invoice_id)
    kept = records.connection().execute(text).scalar_one()
    return tuple(
        TaxSubtotal(
            tax_category=group["taxCategory"],
            tax_rate=Decimal(group["taxRate"]),
            taxable=Decimal(group["taxable"]),
            tax=Decimal(group["tax"]),
        )
        for group in json.loads(kept, parse_float=Decimal)
    )


def _payments(invoice_id: int) -> tuple[PaymentEntry, ...]:
    statement = (
        select(_PAYMENTS)
        .where(_PAYMENTS.c.invoice_id == invoice_id, _PAYMENTS.c.status == "Completed")
        .order_by(_PAYMENTS.c.paid_on, _PAYMENTS.c.id)
    )
    return tuple(
        PaymentEntry(
            paid_on=row["paid_on"],
            amount=row["amount"],
            method=row["method"],
            reference=row["reference"],
        )
        for row in records.connection().execute(statement).mappings()
    )


def _credited(invoice_id: int | None) -> CreditedInvoice | None:
    row = records.read(Invoice.__table__, invoice_id) if invoice_id is not None else None
    return CreditedInvoice(number=row["number"], issue_date=row["issue_date"]) if row else None
