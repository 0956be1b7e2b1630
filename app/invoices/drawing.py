"""A document as a file: the PDF that people read, with the data for machines inside or beside it.

What draws is heavy and needed by few requests: a process beside this one does it, from nothing but
the document (docs/adr/0007).
"""

from __future__ import annotations

import re

from app.invoices.document import InvoiceDocument
from app.invoices.einvoice.preflight import preflight
from app.jobs.processes import ChildProcess

WITH_DATA = ("Auto", "FacturX")
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
    beside.call("app.invoices.einvoice.facturx:get_ready")


def draw_pdf(document: InvoiceDocument, e_invoice_format: str) -> bytes:
    """The PDF of a document; Factur-X where its format wants that and its data allow it."""
    with_data = e_invoice_format in WITH_DATA and document.number is not None
    if with_data and not preflight(document):
        return draw_facturx(document)
    return _file(beside.call("app.invoices.pdf.render:render_pdf", document))


def draw_facturx(document: InvoiceDocument) -> bytes:
    """The PDF with its data inside; ``document`` passes the pre-flight."""
    return _file(beside.call("app.invoices.einvoice.facturx:render_facturx", document))


def write_ubl(document: InvoiceDocument) -> bytes:
    """UBL 2.1; ``document`` passes the pre-flight."""
    return _file(beside.call("app.invoices.einvoice.ubl:build_ubl", document))


def write_cii(document: InvoiceDocument) -> bytes:
    """The data that are inside of Factur-X, by themselves; ``document`` passes the pre-flight."""
    return _file(beside.call("app.invoices.einvoice.cii:build_cii", document))


def _file(answer: object) -> bytes:
    assert isinstance(answer, bytes)
    return answer
