"""An invoice as it lies in the database, as the document that is drawn and sent.

The row of an issued one keeps copies of its parties as they were then, in the form of the wire.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Text, cast, select

from app.crm.clients import full_name
from app.db import records
from app.db.types import json_text
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
    of_same_names,
)
from app.invoices.logo import logo_file
from app.invoices.settlement import rate_of
from app.models.client import Client, Contact
from app.models.invoice import Invoice, LineItem, Payment
from app.odata.names import camel
from app.settings import Organisation, organisation
from app.writing.change import Change

Kind = TypeVar("Kind", Address, BankAccount, Party, TaxSubtotal)
_ADDRESS = tuple(part.name for part in fields(Address))
_E_INVOICE = ("e_invoice_scheme", "e_invoice_id")
# What a document has from the row of its invoice as it is.
_SAME = tuple(each.name for each in fields(InvoiceDocument) if each.name in Invoice.__table__.c)
_STATES: Mapping[str, DocumentState] = {"Draft": "Draft", "Void": "Void", "Paid": "Paid"}


def seller_snapshot(settings: Organisation) -> dict[str, Any]:
    """Who invoices, and where to pay."""
    seller, bank = settings.seller, settings.bank
    legal_name = seller.legal_name or seller.name
    return {
        "name": seller.name,
        "legalName": legal_name,
        **_on_wire(seller, "tax_id", "registration_number", "email", "phone", "website"),
        "address": _on_wire(seller, *_ADDRESS),
        "accountHolder": bank.account_holder or legal_name,
        **_on_wire(bank, "iban", "bic", "bank_name"),
        **_on_wire(seller, *_E_INVOICE),
    }


def buyer_snapshot(client: Client, contact: Contact | None) -> dict[str, Any]:
    """Who is billed, and the person addressed."""
    return {
        "name": client.name,
        "legalName": client.legal_name or client.name,
        **_on_wire(client, "tax_id", "registration_number"),
        "email": client.invoice_email or client.email,
        "phone": client.phone,
        "contactName": contact and (full_name(contact) or None),
        "address": {camel(name): getattr(client, f"billing_{name}") for name in _ADDRESS},
        **_on_wire(client, *_E_INVOICE, "number", "language"),
    }


def _on_wire(record: Any, *names: str) -> dict[str, Any]:
    return {camel(name): getattr(record, name) for name in names}


def read_document(invoice_id: int) -> InvoiceDocument:
    """The document of an invoice as it stands: a draft with its parties as they are now.

    Raises: NotFoundError.
    """
    invoice = records.get(Invoice, invoice_id, f"There is no invoice {invoice_id}.")
    return document_of(invoice, kept_breakdowns(Invoice.id == invoice_id)[0])


def issued_document(change: Change[Invoice]) -> InvoiceDocument:
    """The document that a change issues, but for its number; its lines are written."""
    return document_of(change.after(), breakdown_of(change))


def breakdown_of(change: Change[Invoice]) -> tuple[TaxSubtotal, ...]:
    """The tax of the document of a change, by category and rate."""
    computed = change.values.get("tax_breakdown")
    if computed is None:
        return kept_breakdowns(Invoice.id == change.key)[0]
    return _breakdown(json_text(computed))


def document_of(invoice: Invoice, tax_breakdown: tuple[TaxSubtotal, ...]) -> InvoiceDocument:
    """The document of an invoice as it is, or will be, whose lines are in the database."""
    client = records.get(Client, invoice.client_id)
    contact = records.read(Contact, invoice.contact_id)
    settings = organisation()
    seller = invoice.seller or seller_snapshot(settings)
    buyer = invoice.buyer or buyer_snapshot(client, contact)
    values: dict[str, Any] = {name: getattr(invoice, name) for name in _SAME}
    if invoice.status == "Draft":
        # As issue takes it.
        values["exchange_rate"] = rate_of(invoice.currency, invoice.credited_invoice_id)
    values.update(
        accounting_currency=settings.defaults.currency,
        state=_STATES.get(invoice.status, "Issued"),
        # Documents that were moved in from elsewhere have what their client has now.
        language=buyer.get("language") or client.language,
        logo=logo_file(settings),
        seller=_party(seller),
        buyer=_party(buyer, number=buyer.get("number") or client.number),
        bank=_from_wire(BankAccount, seller) if seller["iban"] else None,
        lines=_lines(invoice.id),
        tax_breakdown=tax_breakdown,
        payments=_payments(invoice.id),
        credited=_credited(invoice.credited_invoice_id),
    )
    return InvoiceDocument(**values)


def _party(snapshot: Mapping[str, Any], number: str | None = None) -> Party:
    """A party from the copy that was made of it."""
    address = _from_wire(Address, snapshot["address"])
    return replace(_from_wire(Party, snapshot), address=address, number=number)


def _from_wire(kind: type[Kind], values: Mapping[str, Any]) -> Kind:
    members: dict[str, Any] = {each.name: values.get(camel(each.name)) for each in fields(kind)}
    return kind(**members)


def _lines(invoice_id: int) -> tuple[DocumentLine, ...]:
    statement = (
        select(LineItem)
        .where(LineItem.invoice_id == invoice_id)
        .order_by(LineItem.position, LineItem.id)
    )
    return tuple(of_same_names(DocumentLine, line) for line in records.read_all(statement))


def kept_breakdowns(*conditions: ColumnElement[bool]) -> list[tuple[TaxSubtotal, ...]]:
    """The tax of each document that fulfils all ``conditions``, by category and rate.

    Read as text: what is read of a column of JSON are floats.
    """
    texts = select(cast(Invoice.tax_breakdown, Text)).where(*conditions)
    return [_breakdown(text) for text in records.connection().execute(texts).scalars()]


def _breakdown(stored: str) -> tuple[TaxSubtotal, ...]:
    groups = json.loads(stored, parse_float=Decimal, parse_int=Decimal)
    return tuple(_from_wire(TaxSubtotal, group) for group in groups)


def _payments(invoice_id: int) -> tuple[PaymentEntry, ...]:
    statement = (
        select(Payment)
        .where(Payment.invoice_id == invoice_id, Payment.status == "Completed")
        .order_by(Payment.paid_on, Payment.id)
    )
    return tuple(of_same_names(PaymentEntry, each) for each in records.read_all(statement))


def _credited(invoice_id: int | None) -> CreditedInvoice | None:
    credited = records.read(Invoice, invoice_id)
    if credited is None:
        return None
    return CreditedInvoice(number=credited.number or "", issue_date=credited.issue_date)
