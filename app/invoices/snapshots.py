"""The parties of an invoice as they were at issue, in the wire form that the row keeps."""

from __future__ import annotations

from typing import Any

from app.models.client import Client, Contact
from app.settings import Organisation


def seller_snapshot(organisation: Organisation) -> dict[str, Any]:
    """Who invoices, and where to pay."""
    seller, bank = organisation.seller, organisation.bank
    return {
        "name": seller.name,
        "legalName": seller.legal_name or seller.name,
        "taxId": seller.tax_id,
        "registrationNumber": seller.registration_number,
        "email": seller.email,
        "phone": seller.phone,
        "website": seller.website,
        "address": {
            "street": seller.street,
            "city": seller.city,
            "state": seller.state,
            "postalCode": seller.postal_code,
            "country": seller.country,
        },
        "accountHolder": bank.account_holder or seller.legal_name or seller.name,
        "iban": bank.iban,
        "bic": bank.bic,
        "bankName": bank.bank_name,
        "eInvoiceScheme": seller.e_invoice_scheme,
        "eInvoiceId": seller.e_invoice_id,
    }


def buyer_snapshot(client: Client, contact: Contact | None) -> dict[str, Any]:
    """Who is billed, and the person addressed."""
    names = (contact.first_name, contact.last_name) if contact else ()
    return {
        "name": client.name,
        "legalName": client.legal_name or client.name,
        "taxId": client.tax_id,
        "registrationNumber": client.registration_number,
        "email": client.invoice_email or client.email,
        "phone": client.phone,
        "contactName": " ".join(name for name in names if name) or None,
        "address": {
            "street": client.billing_street,
            "city": client.billing_city,
            "state": client.billing_state,
            "postalCode": client.billing_postal_code,
            "country": client.billing_country,
        },
        "eInvoiceScheme": client.e_invoice_scheme,
        "eInvoiceId": client.e_invoice_id,
        "number": client.number,
        "language": client.language,
    }
