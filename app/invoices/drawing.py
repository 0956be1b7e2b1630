"""A document as a file: the PDF that people read, with the data for machines inside or beside it.

What draws is heavy and needed by few requests, so it is loaded at the first use.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from app.invoices.document import InvoiceDocument
from app.invoices.einvoice.preflight import preflight
from app.lazy import lazy

if TYPE_CHECKING:
    from app.invoices.einvoice import cii, facturx, ubl
    from app.invoices.pdf import render
else:
    facturx, render = lazy("app.invoices.einvoice.facturx"), lazy("app.invoices.pdf.render")
    cii, ubl = lazy("app.invoices.einvoice.cii"), lazy("app.invoices.einvoice.ubl")

WITH_DATA = ("Auto", "FacturX")
# Numbers that were moved in from elsewhere may have what no file name has.
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 100


def file_name(number: str | None, invoice_id: int, ending: str = "pdf") -> str:
    """``INV-2026-00007.pdf``; a draft has its key."""
    name = _UNSAFE.sub("-", number or "").strip("-.")[:_LONGEST_NAME]
    return f"{name or f'invoice-{invoice_id}'}.{ending}"


def load_drawing() -> None:
    """Load what draws, before a lock is taken that others would wait for meanwhile."""
    _ = render.render_pdf, facturx.render_facturx


def draw_pdf(document: InvoiceDocument, e_invoice_format: str) -> bytes:
    """The PDF of a document; Factur-X where its format wants that and its data allow it."""
    with_data = e_invoice_format in WITH_DATA and document.number is not None
    if with_data and not preflight(document):
        return draw_facturx(document)
    return render.render_pdf(document)


def draw_facturx(document: InvoiceDocument) -> bytes:
    """The PDF with its data inside; ``document`` passes the pre-flight."""
    return facturx.render_facturx(document)


def write_ubl(document: InvoiceDocument) -> bytes:
    """UBL 2.1; ``document`` passes the pre-flight."""
    return ubl.build_ubl(document)


def write_cii(document: InvoiceDocument) -> bytes:
    """The data that are inside of Factur-X, by themselves; ``document`` passes the pre-flight."""
    return cii.build_cii(document)
