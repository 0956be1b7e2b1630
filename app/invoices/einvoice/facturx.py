"""Factur-X: the PDF that people read with the XML that machines read inside."""

from __future__ import annotations

from facturx import xml_check_xsd  # type: ignore[import-untyped]

from app.invoices.document import InvoiceDocument
from app.invoices.einvoice.cii import build_cii
from app.invoices.pdf.archive import Attachment
from app.invoices.pdf.render import render_pdf

FILE_NAME = "factur-x.xml"  # fixed by the standard
_LEVEL = "EN 16931"


def render_facturx(document: InvoiceDocument) -> bytes:
    """A PDF/A-3 with the invoice in CII inside; the same document gives the same bytes.

    ``document`` must pass ``preflight``. Raises: whatever factur-x says if the XML does not fit
    its schema, which would be an error of ours.
    """
    xml = build_cii(document)
    xml_check_xsd(xml, flavor="factur-x", level="en16931")
    attachment = Attachment(
        name=FILE_NAME,
        description="Factur-X invoice",
        media_type="text/xml",
        content=xml,
        relationship="Alternative",
    )
    return render_pdf(document, [attachment], factur_x=(FILE_NAME, _LEVEL))
