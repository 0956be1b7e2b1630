"""The files of an invoice, as a caller may have them: the PDF of issue, a copy, an e-invoice."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from app.blobs import blobs
from app.errors import InvalidStateError, ValidationError
from app.extensions import db
from app.invoices.chain import key_of
from app.invoices.document import InvoiceDocument
from app.invoices.einvoice.preflight import Problem, preflight, refuse_incomplete
from app.invoices.files import (
    PDF,
    WITH_DATA,
    XML,
    draw_facturx,
    draw_pdf,
    file_name,
    frozen_file,
    write_cii,
    write_ubl,
)
from app.invoices.issuing import due_of_draft
from app.invoices.reading import read_document
from app.invoices.steps import readable
from app.models.invoice import Invoice

E_INVOICE_FORMS = ("ubl", "facturx", "cii")


@dataclass(frozen=True, slots=True)
class InvoiceFile:
    """A file as it is downloaded."""

    name: str
    content: bytes
    media_type: str = PDF

    @property
    def sha256(self) -> str:
        """SHA-256 of the content, hex."""
        return hashlib.sha256(self.content).hexdigest()


def pdf_of(invoice: Invoice, *, current: bool = False) -> InvoiceFile:
    """The PDF of an invoice that may be shown: the one of issue, the same ever after.

    Args:
        current: a copy as the document stands now, with payments, credits and its mark.
    """
    name = file_name(invoice.number, invoice.id)
    if current or invoice.status == "Draft":
        return InvoiceFile(name, draw_pdf(_document(invoice.id), invoice.e_invoice_format))
    sha256 = invoice.pdf_sha256
    if sha256 is None:
        sha256 = frozen_file(invoice.id)
    else:
        db.session.rollback()
    return InvoiceFile(name, blobs.current.read(key_of(sha256)))


def data_of(invoice: Invoice, form: str) -> InvoiceFile:
    """An issued document as data: ``ubl``, ``facturx`` (inside of its PDF) or ``cii`` by itself.

    Raises: InvalidStateError, it is a draft; ValidationError, with the rules of EN 16931 that its
        data break.
    """
    if invoice.status == "Draft":
        raise InvalidStateError(
            "A draft has no electronic form: issue it first.", [("status", "is Draft")]
        )
    document = _document(invoice.id)
    refuse_incomplete(document)
    number = invoice.number
    if form == "ubl":
        return InvoiceFile(file_name(number, invoice.id, "xml"), write_ubl(document), XML)
    if form == "cii":
        return InvoiceFile(file_name(number, invoice.id, "cii.xml"), write_cii(document), XML)
    if invoice.e_invoice_format in WITH_DATA:
        return pdf_of(invoice)
    return InvoiceFile(file_name(number, invoice.id), draw_facturx(document))


def check_e_invoice(invoice_id: int) -> tuple[Invoice, tuple[Problem, ...]]:
    """An invoice that the caller may read, and the rules that an e-invoice would break.

    Raises: NotFoundError.
    """
    invoice = readable(invoice_id)
    document = read_document(invoice_id)
    problems = preflight(document)
    if invoice.status == "Draft" and document.due_date is None:
        problems += _problems_of_term(document, invoice.client_id)
    return invoice, problems


def _problems_of_term(document: InvoiceDocument, client_id: int) -> tuple[Problem, ...]:
    """Whether a draft would be due on a day of the calendar if it were issued today."""
    try:
        due_of_draft(document.issue_date, client_id)
    except ValidationError as error:
        return tuple(Problem("BR-CO-25", detail.field, detail.message) for detail in error.details)
    return ()


def _document(invoice_id: int) -> InvoiceDocument:
    document = read_document(invoice_id)
    # Nothing was written, and nobody is to wait for the transaction while the file is drawn.
    db.session.rollback()
    return document
