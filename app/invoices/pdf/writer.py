"""Pages of marks to a file: fonts cut down to what is used, pages drawn, everything in one pass."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from reportlab.pdfbase.pdfdoc import (  # type: ignore[import-untyped]
    PDFArray,
    PDFDictionary,
    PDFName,
)

from app.invoices.pdf.archive import Archive, Attachment, archive_stream
from app.invoices.pdf.content import ContentWriter
from app.invoices.pdf.drawing import Page, Picture, Text
from app.invoices.pdf.embedding import EmbeddedFont, Shown
from app.invoices.pdf.fonts import Face
from app.invoices.pdf.metadata import Metadata


def write_pdf(
    pages: Iterable[Page], metadata: Metadata, attachments: Sequence[Attachment] = ()
) -> bytes:
    """The bytes of a PDF/A-3b file; the same input gives the same bytes.

    ``pages`` are gone through twice, and may be laid out anew each time.
    """
    archive = Archive(metadata, attachments)
    glyphs: dict[Face, dict[Shown, None]] = {}
    pictures: dict[bytes, tuple[str, Any]] = {}
    for page in pages:
        _note_glyphs(page, glyphs)
        _add_pictures(archive, page, pictures)
    fonts = {
        face: EmbeddedFont(face, known, f"F{number}")
        for number, (face, known) in enumerate(glyphs.items(), start=1)
    }
    resources = archive.add(
        PDFDictionary(
            {
                "Font": PDFDictionary(
                    {font.resource: font.add_to(archive) for font in fonts.values()}
                ),
                "XObject": PDFDictionary(dict(pictures.values())),
                "ProcSet": PDFArray([PDFName("PDF"), PDFName("Text"), PDFName("ImageC")]),
            }
        )
    )
    writer = ContentWriter(fonts, lambda picture: pictures[_key(picture)][0])
    for page in pages:
        archive.add_page(writer.page(page), resources, page.width, page.height)
    return archive.to_bytes()


def _note_glyphs(page: Page, glyphs: dict[Face, dict[Shown, None]]) -> None:
    """The faces that a page uses, in the order of first use, and what their glyphs stand for."""
    for mark in page.marks:
        if not isinstance(mark, Text):
            continue
        for run in mark.shaped.runs:
            glyphs_of_face = glyphs.setdefault(run.face, {})
            for glyph, advance, text in zip(run.glyphs, run.advances, run.texts, strict=True):
                if text or advance:
                    glyphs_of_face[glyph, text] = None


def _add_pictures(archive: Archive, page: Page, pictures: dict[bytes, tuple[str, Any]]) -> None:
    """Resource name and reference of each picture; one that is shown twice is stored once."""
    for mark in page.marks:
        if isinstance(mark, Picture) and _key(mark) not in pictures:
            entries = {
                "Type": PDFName("XObject"), "Subtype": PDFName("Image"),
                "Width": mark.columns, "Height": mark.rows, "BitsPerComponent": 8,
                "ColorSpace": PDFName("DeviceRGB"),
            }  # fmt: skip
            reference = archive.add(archive_stream(mark.pixels, entries))
            pictures[_key(mark)] = (f"Im{len(pictures) + 1}", reference)


def _key(picture: Picture) -> bytes:
    return hashlib.sha256(picture.pixels).digest()
