"""The files of an invoice: the PDF that people read, with the data for machines inside.

A file is drawn when it is asked for: the same standing of a document gives the same bytes, so
its SHA-256 is a strong validator (docs/adr/0040).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from app import records
from app.errors import NotFoundError
from app.extensions import db
from app.invoices.document import InvoiceDocument
from app.invoices.einvoice.facturx import render_facturx
from app.invoices.einvoice.preflight import preflight
from app.invoices.pdf.render import render_pdf
from app.invoices.reading import read_document
from app.models.invoice import Invoice
from app.security import current_caller
from app.writing.references import is_readable

FACTUR_X = ("Auto", "FacturX")
# Numbers that were moved in from elsewhere may have what no file name has.
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class InvoiceFile:
    """A file as it is downloaded."""

    name: str
    content: bytes

    @property
    def sha256(self) -> str:
        """SHA-256 of the content, hex."""
        return hashlib.sha256(self.content).hexdigest()


def invoice_pdf(invoice_id: int) -> InvoiceFile:
    """The PDF of an invoice that the caller may read.

    Raises: NotFoundError.
    """
    invoice = records.read(Invoice.__table__, invoice_id, ("e_invoice_format",))
    if invoice is None or not is_readable(current_caller(), "invoices", invoice_id):
        raise NotFoundError(f"There is no invoice {invoice_id}.")
    document = read_document(invoice_id)
    # Nothing was written, and nobody is to wait for the transaction while the file is drawn.
    db.session.rollback()
    with_data = invoice["e_invoice_format"] in FACTUR_X
    return InvoiceFile(file_name(document, invoice_id), draw(document, with_data=with_data))


def file_name(document: InvoiceDocument, invoice_id: int) -> str:
    """``INV-2026-00007.pdf``; a draft has its key."""
    name = _UNSAFE.sub("-", document.number or "").strip("-.")
    return f"{name or f'invoice-{invoice_id}'}.pdf"


def draw(document: InvoiceDocument, *, with_data: bool) -> bytes:
    """The PDF of a document; Factur-X where that is wanted and the data allow it."""
    if with_data and document.number is not None and not preflight(document):
        return render_facturx(document)
    return render_pdf(document)
