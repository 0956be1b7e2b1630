"""An invoice or credit note as the bytes of a PDF/A-3b file, with its data inside or not."""

from __future__ import annotations

from datetime import date
from math import atan2, degrees, hypot

from app.invoices.document import InvoiceDocument
from app.invoices.einvoice.cii import build_cii
from app.invoices.einvoice.codes import check_schema
from app.invoices.pdf import letterhead, style
from app.invoices.pdf.archive import Attachment, Metadata
from app.invoices.pdf.closing import draw_closing
from app.invoices.pdf.drawing import MM, PAGE_HEIGHT, PAGE_WIDTH, Page
from app.invoices.pdf.fonts import BOLD
from app.invoices.pdf.paper import Paper
from app.invoices.pdf.style import Style
from app.invoices.pdf.summary import draw_summary, entries, height_of
from app.invoices.pdf.table import draw_table
from app.invoices.pdf.writer import write_pdf
from app.invoices.plain_text import one_line
from app.invoices.texts import language_of
from app.invoices.wording import correction_of, title_of

FILE_NAME = "factur-x.xml"  # fixed by the standard
_LEVEL = "EN 16931"
_WATERMARKS = {"Draft": ("marks.draft", style.WATERMARK), "Void": ("marks.void", style.VOID_MARK)}
_WATERMARK_SHARE = 0.62  # of the diagonal
_LARGEST_WATERMARK = 150
_DRAFT_DAY = date(2000, 1, 1)  # stands for the day of a draft, which has none yet


def get_ready() -> None:
    """Nothing: whoever can call this has loaded what draws."""


def render_facturx(document: InvoiceDocument) -> bytes:
    """The PDF that people read with the invoice in CII inside, which machines read.

    ``document`` must pass ``preflight``. Raises: lxml.etree.DocumentInvalid, the XML does not fit
    its schema, which would be an error of ours.
    """
    xml = build_cii(document)
    check_schema(xml)
    return render_pdf(document, xml)


def render_pdf(document: InvoiceDocument, xml: bytes | None = None) -> bytes:
    """Draw a document; the same document gives the same bytes. ``xml``: the invoice in CII."""
    title = title_of(document)
    seller = one_line(document.seller.registered_name)
    buyer = one_line(document.buyer.registered_name)
    metadata = Metadata(
        title=title,
        author=seller,
        subject=f"{title}: {seller} / {buyer}",
        language=language_of(document.language),
        day=document.issue_date or _DRAFT_DAY,
        factur_x=None if xml is None else (FILE_NAME, _LEVEL),
    )
    attachments = [] if xml is None else [_factur_x(xml)]
    return write_pdf(lay_out(document), metadata, attachments)


def _factur_x(xml: bytes) -> Attachment:
    return Attachment(
        name=FILE_NAME,
        description="Factur-X invoice",
        media_type="text/xml",
        content=xml,
        relationship="Alternative",
    )


def lay_out(document: InvoiceDocument) -> list[Page]:
    """The pages of a document."""
    paper = Paper(document)
    paper.start_page = _draw_watermark
    paper.new_page()
    letterhead.draw_first_head(paper)
    paper.start_page = _start_following_page
    _draw_opening(paper)
    totals = entries(paper)
    draw_table(paper, height_of(totals))
    draw_summary(paper, totals)
    draw_closing(paper)
    letterhead.draw_feet(paper)
    return paper.pages


def _draw_opening(paper: Paper) -> None:
    """What a credit note corrects, and in which money the table is."""
    document, texts = paper.document, paper.texts
    if correction := correction_of(document):
        paper.top = paper.set.paragraph(
            paper.page, style.LEFT, paper.top, correction, style.BODY, style.WIDTH
        ) + 2 * MM  # fmt: skip
    about = texts("table.amounts_in", currency=document.currency)
    if document.prices_include_tax:
        about = f"{about}  ·  {texts('table.prices_include_tax')}"
    paper.set.put(paper.page, style.RIGHT, paper.top, about, style.SMALL, "right")
    paper.top += style.SMALL.leading + 1 * MM


def _start_following_page(paper: Paper) -> None:
    _draw_watermark(paper)
    letterhead.draw_following_head(paper)


def _draw_watermark(paper: Paper) -> None:
    """DRAFT or VOID across the page, before everything else is drawn over it."""
    if paper.document.state not in _WATERMARKS:
        return
    name, color = _WATERMARKS[paper.document.state]
    word = paper.texts(name)
    angle = degrees(atan2(PAGE_HEIGHT, PAGE_WIDTH))
    length = hypot(PAGE_WIDTH, PAGE_HEIGHT)
    width_at_one = paper.set.width(word, Style(1, 1, color, BOLD))
    size = min(length * _WATERMARK_SHARE / width_at_one, _LARGEST_WATERMARK)
    start = (length - width_at_one * size) / 2 / length
    # Half of the letters' height below the diagonal, so that they stand on both sides of it.
    drop = size * 0.36
    x = PAGE_WIDTH * start + drop * PAGE_HEIGHT / length
    base = PAGE_HEIGHT * (1 - start) + drop * PAGE_WIDTH / length
    paper.set.put_turned(paper.page, x, base, word, Style(size, size, color, BOLD), angle)
