"""Issue freezes the PDF: its bytes lie in the store of files, their SHA-256 in the row and chain.

It happens in the issuing transaction, after the number: a document whose file cannot be written is
not issued, and its number is given again (docs/adr/0030). Others wait for the number meanwhile, so
whatever needs none was read before.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

from app.blobs import blobs
from app.db import records
from app.invoices.chain import add_link, lock_chain
from app.invoices.document import InvoiceDocument
from app.invoices.drawing import draw_pdf
from app.invoices.reading import read_document
from app.models.invoice import Invoice
from app.money import ZERO

PDF_HEADERS = {"Content-Type": "application/pdf"}


def freeze(document: InvoiceDocument, e_invoice_format: str) -> str:
    """Draw the document as it is issued, and keep the file.

    Returns: its SHA-256, hex.
    Raises: ServiceUnavailableError, the store of files does not answer.
    """
    return keep_file(draw_pdf(document, e_invoice_format), PDF_HEADERS)


def frozen_file(invoice_id: int) -> str:
    """The file of an issued document.

    One that was moved in has none before somebody first asks for it: then it is drawn as it was
    issued, kept, and added to the chain. The invoice is the same: its row version and the time of
    its last change stay.

    Returns: the SHA-256 of the file, hex.
    Raises: ServiceUnavailableError, the store of files does not answer.
    """
    invoice = records.get(Invoice, invoice_id, lock=True)
    if invoice.pdf_sha256 is not None:
        return invoice.pdf_sha256
    document = _as_issued(read_document(invoice_id))
    sha256 = freeze(document, invoice.e_invoice_format)
    records.update(Invoice, invoice_id, {"pdf_sha256": sha256})
    lock_chain()
    add_link(invoice_id)
    return sha256


def _as_issued(document: InvoiceDocument) -> InvoiceDocument:
    """Without what came after: payments, credits, the mark."""
    return replace(
        document, state="Issued", payments=(), amount_credited=ZERO, amount_due=document.total
    )


def keep_file(content: bytes, headers: dict[str, str]) -> str:
    """Put a file under the key that its SHA-256 gives; returns that."""
    sha256 = hashlib.sha256(content).hexdigest()
    blobs.current.put(key_of(sha256), content, headers=headers)
    return sha256


def key_of(sha256: str) -> str:
    """Where the file of a document lies: by its content, so that it can be written twice."""
    return f"invoices/{sha256[:2]}/{sha256}"
