"""An invoice or credit note as the bytes of a PDF/A-3b file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from app.invoices.document import InvoiceDocument
from app.invoices.pdf.archive import Attachment
from app.invoices.pdf.layout import lay_out
from app.invoices.pdf.metadata import Metadata
from app.invoices.pdf.writer import write_pdf
from app.invoices.plain_text import one_line
from app.invoices.texts import language_of
from app.invoices.wording import title_of

_DRAFT_DAY = date(2000, 1, 1)  # stands for the day of a draft, which has none yet


def render_pdf(
    document: InvoiceDocument,
    attachments: Sequence[Attachment] = (),
    factur_x: tuple[str, str] | None = None,
) -> bytes:
    """Draw a document; the same document gives the same bytes.

    Args:
        attachments: files to put inside.
        factur_x: name and conformance level of the attachment that is the invoice as data.
    """
    title = title_of(document)
    seller = one_line(document.seller.legal_name or document.seller.name)
    buyer = one_line(document.buyer.legal_name or document.buyer.name)
    metadata = Metadata(
        title=title,
        author=seller,
        subject=f"{title}: {seller} / {buyer}",
        language=language_of(document.language),
        day=document.issue_date or _DRAFT_DAY,
        factur_x=factur_x,
    )
    return write_pdf(lay_out(document), metadata, attachments)
