"""The payment code: a SEPA credit transfer to scan (EPC069-12, version 2)."""

from __future__ import annotations

from decimal import Decimal

from segno import helpers
from stdnum import bic, iban

from app.invoices.document import InvoiceDocument
from app.invoices.plain_text import one_line

# Countries of the Single Euro Payments Area, by the first letters of the IBAN.
_SEPA = frozenset(
    (
        "AD", "AL", "AT", "BE", "BG", "CH", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GB",
        "GI", "GR", "HR", "HU", "IE", "IS", "IT", "LI", "LT", "LU", "LV", "MC", "MD", "ME", "MK",
        "MT", "NL", "NO", "PL", "PT", "RO", "RS", "SE", "SI", "SK", "SM", "VA",
    )
)  # fmt: skip
_LEAST, _MOST = Decimal("0.01"), Decimal("999999999.99")
_NAME_LENGTH, _TEXT_LENGTH = 70, 140


def payment_code(document: InvoiceDocument) -> tuple[bytes, ...] | None:
    """The modules row by row, 1 is dark; None where nothing can be paid this way.

    Only what is owed in euros on an issued invoice, to an account within SEPA.
    """
    bank = document.bank
    if (
        bank is None
        or document.is_credit_note
        or document.state != "Issued"
        or document.currency != "EUR"
        or not _LEAST <= document.amount_due <= _MOST
        or not iban.is_valid(bank.iban)
        or iban.compact(bank.iban)[:2] not in _SEPA
    ):
        return None
    payee = bank.account_holder or document.seller.legal_name or document.seller.name
    try:
        code = helpers.make_epc_qr(
            name=one_line(payee)[:_NAME_LENGTH],
            iban=iban.compact(bank.iban),
            amount=document.amount_due,
            text=one_line(document.number)[:_TEXT_LENGTH],
            bic=bic.compact(bank.bic) if bank.bic and bic.is_valid(bank.bic) else None,
            encoding="UTF-8",
        )
    except ValueError:  # a name that the standard does not take, or more text than fits
        return None
    return tuple(bytes(row) for row in code.matrix)
