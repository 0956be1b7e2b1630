"""A document as a file: the PDF that people read, with the data for machines inside or beside it.

What draws is heavy and needed by few requests: a process beside this one does it, from nothing but
the document (docs/adr/0007).

Issue freezes the PDF: its bytes lie in the store of files, their SHA-256 in the row and chain. It
happens in the issuing transaction, after the number: a document whose file cannot be written is not
issued, and its number is given again (docs/adr/0030). Others wait for the number meanwhile, so
whatever needs none was read before.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

from app.blobs import blobs
from app.db import records
from app.invoices.chain import add_link, key_of, lock_chain
from app.invoices.document import InvoiceDocument
from app.invoices.einvoice.preflight import preflight
from app.invoices.reading import read_document
from app.jobs.processes import ChildProcess
from app.models.invoice import Invoice
from app.money import ZERO

PDF, XML = "application/pdf", "application/xml"
WITH_DATA = ("Auto", "FacturX")
# An invoice that names its form is not issued where the data allow none.
DEMANDED = ("FacturX", "Ubl")
# Numbers that were moved in from elsewhere may have what no file name has.
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 100
beside = ChildProcess()


def file_name(number: str | None, invoice_id: int, ending: str = "pdf") -> str:
    """``INV-2026-00007.pdf``; a draft has its key."""
    name = _UNSAFE.sub("-", number or "").strip("-.")[:_LONGEST_NAME]
    return f"{name or f'invoice-{invoice_id}'}.{ending}"


def start_drawing() -> None:
    """Start what draws, before a lock is taken that others would wait for meanwhile.

    Raises: ServiceUnavailableError, as does everything below that draws or writes.
    """
    beside.call("app.invoices.pdf.render:get_ready")


def draw_pdf(document: InvoiceDocument, e_invoice_format: str) -> bytes:
    """The PDF of a document; Factur-X where its format wants that and its data allow it."""
    with_data = e_invoice_format in WITH_DATA and document.number is not None
    if with_data and not preflight(document):
        return draw_facturx(document)
    return _file(beside.call("app.invoices.pdf.render:render_pdf", document))


def draw_facturx(document: InvoiceDocument) -> bytes:
    """The PDF with its data inside; ``document`` passes the pre-flight."""
    return _file(beside.call("app.invoices.pdf.render:render_facturx", document))


def write_ubl(document: InvoiceDocument) -> bytes:
    """UBL 2.1; ``document`` passes the pre-flight."""
    return _file(beside.call("app.invoices.einvoice.ubl:build_ubl", document))


def write_cii(document: InvoiceDocument) -> bytes:
    """The data that are inside of Factur-X, by themselves; ``document`` passes the pre-flight."""
    return _file(beside.call("app.invoices.einvoice.cii:build_cii", document))


def _file(answer: object) -> bytes:
    assert isinstance(answer, bytes)
    return answer


def freeze(document: InvoiceDocument, e_invoice_format: str) -> str:
    """Draw the document as it is issued, and keep the file.

    Returns: its SHA-256, hex.
    Raises: ServiceUnavailableError, the store of files does not answer.
    """
    return keep_file(draw_pdf(document, e_invoice_format), PDF)


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


def keep_file(content: bytes, content_type: str) -> str:
    """Put a file under the key that its SHA-256 gives; returns that."""
    sha256 = hashlib.sha256(content).hexdigest()
    blobs.current.put(key_of(sha256), content, headers={"Content-Type": content_type})
    return sha256
