"""Reading pages back: the texts that a layout put on them, and what a file says of itself."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from pypdf import PdfReader
from pypdf.generic import DictionaryObject, IndirectObject, StreamObject

from app.invoices.pdf.drawing import Page, Text


def texts_on(page: Page) -> list[str]:
    """Every text of a page, in the order of drawing; right-to-left runs as they stand."""
    return [
        "".join(text for run in mark.shaped.runs for text in run.texts)
        for mark in page.marks
        if isinstance(mark, Text)
    ]


def text_of(content: bytes) -> str:
    """All text of a file, white space run together."""
    pages = PdfReader(io.BytesIO(content)).pages
    return " ".join(" ".join(page.extract_text() for page in pages).split())


def dictionaries(content: bytes) -> Iterator[DictionaryObject]:
    """Every dictionary and stream of a file."""
    reader = PdfReader(io.BytesIO(content))
    for number in range(1, int(reader.trailer["/Size"])):
        thing = IndirectObject(number, 0, reader).get_object()
        if isinstance(thing, DictionaryObject):
            yield thing


def fonts_of(content: bytes) -> list[DictionaryObject]:
    """The composite fonts of a file."""
    return [found for found in dictionaries(content) if found.get("/Subtype") == "/Type0"]


def stream_bytes(stream: Any) -> bytes:
    """The decoded content of a stream."""
    found = stream.get_object()
    assert isinstance(found, StreamObject)
    return bytes(found.get_data())
