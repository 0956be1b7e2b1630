"""The payment code: a SEPA credit transfer to scan (EPC069-12, version 2)."""

from __future__ import annotations

from decimal import Decimal

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
_MOST_BYTES = 331
# Any of the eight masks can be read. Trying all of them for the most even picture costs as much as
# drawing the page does, while others wait for the next number.
_MASK = 2


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
    payee = one_line(document.payee)
    payload = _payload(
        name=payee[:_NAME_LENGTH],
        iban=iban.compact(bank.iban),
        bic=bic.compact(bank.bic) if bank.bic and bic.is_valid(bank.bic) else "",
        amount=document.amount_due,
        text=one_line(document.number)[:_TEXT_LENGTH],
    )
    if not payee or len(payload) > _MOST_BYTES:
        return None
    import segno  # loaded by who draws a code

    code = segno.make_qr(payload, error="m", boost_error=False, mask=_MASK)
    return tuple(bytes(row) for row in code.matrix)


def _payload(*, name: str, iban: str, bic: str, amount: Decimal, text: str) -> bytes:
    """The lines of the standard: version 2, UTF-8, no purpose, no structured reference."""
    euros = f"EUR{amount:.2f}".rstrip("0").rstrip(".")
    return "\n".join(("BCD", "002", "1", "SCT", bic, name, iban, euros, "", "", text)).encode()
