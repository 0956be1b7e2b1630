"""Factur-X: the PDF that people read with the XML that machines read inside."""

from __future__ import annotations

from app.invoices.document import InvoiceDocument
from app.invoices.einvoice.cii import build_cii
from app.invoices.einvoice.codes import check_schema
from app.invoices.pdf.archive import Attachment
from app.invoices.pdf.render import render_pdf

FILE_NAME = "factur-x.xml"  # fixed by the standard
_LEVEL = "EN 16931"


def get_ready() -> None:
    """Nothing: whoever can call this has loaded what draws."""


def render_facturx(document: InvoiceDocument) -> bytes:
    """A PDF/A-3 with the invoice in CII inside; the same document gives the same bytes.

    ``document`` must pass ``preflight``. Raises: lxml.etree.DocumentInvalid, the XML does not fit
    its schema, which would be an error of ours.
    """
    xml = build_cii(document)
    check_schema(xml)
    attachment = Attachment(
        name=FILE_NAME,
        description="Factur-X invoice",
        media_type="text/xml",
        content=xml,
        relationship="Alternative",
    )
    return render_pdf(document, [attachment], factur_x=(FILE_NAME, _LEVEL))
