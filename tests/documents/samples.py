"""Small files of many types, each with the words "Turbine Übergröße" where it can have them."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from functools import cache

import openpyxl
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

WORDS = "Turbine Übergröße 4711"
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
_OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"


def pdf(text: str = WORDS, pages: int = 1) -> bytes:
    memory = io.BytesIO()
    canvas = Canvas(memory)
    for _ in range(pages):
        canvas.drawString(72, 720, text)
        canvas.showPage()
    canvas.save()
    return memory.getvalue()


def picture(kind: str = "PNG", size: tuple[int, int] = (1600, 400)) -> bytes:
    memory = io.BytesIO()
    Image.new("RGB", size, "teal").save(memory, kind)
    return memory.getvalue()


def archive(entries: Mapping[str, bytes], mimetype: str | None = None) -> bytes:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as packed:
        if mimetype is not None:
            packed.writestr(zipfile.ZipInfo("mimetype"), mimetype)
        for name, content in entries.items():
            packed.writestr(name, content)
    return memory.getvalue()


def docx(body: str = f"<w:p><w:r><w:t>{WORDS}</w:t></w:r></w:p>", head: str = "") -> bytes:
    document = f'{head}<w:document xmlns:w="{_W}"><w:body>{body}</w:body></w:document>'
    entries = {"[Content_Types].xml": b"<x/>", "word/document.xml": document.encode()}
    return archive(entries)


def xlsx() -> bytes:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.append([WORDS, 12])
    memory = io.BytesIO()
    book.save(memory)
    return memory.getvalue()


def odt() -> bytes:
    text = (
        f'<office:document-content xmlns:office="{_OFFICE}" xmlns:text="{_TEXT}">'
        f"<text:p>{WORDS}</text:p></office:document-content>"
    )
    return archive({"content.xml": text.encode()}, "application/vnd.oasis.opendocument.text")


def huge_png() -> bytes:
    """60,000 x 60,000 pixels in a few bytes."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        checksum = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + checksum

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    rows = zlib.compress(bytes(1_000_000), 9)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    )


@cache
def zip_bomb(megabytes: int = 400) -> bytes:
    """A .docx whose document is unpacked to very many blanks."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("[Content_Types].xml", "<x/>")
        with packed.open("word/document.xml", "w") as entry:
            entry.write(b"<a>")
            for _ in range(megabytes):
                entry.write(b"<p> </p>" * (1024 * 1024 // 8))
    return memory.getvalue()


TEXTS: Mapping[str, bytes] = {
    "a.pdf": pdf(),
    "a.docx": docx(),
    "a.xlsx": xlsx(),
    "a.odt": odt(),
    "a.txt": WORDS.encode(),
    "latin.txt": WORDS.encode("cp1252"),
    "wide.txt": WORDS.encode("utf-16"),
    "a.md": f"# {WORDS}\n".encode(),
    "a.csv": f"a;b\n{WORDS};1\n".encode(),
    "a.html": f"<!doctype html><p>{WORDS}</p><script>hidden</script>".encode(),
    "a.svg": f"<svg xmlns='http://www.w3.org/2000/svg'><text>{WORDS}</text></svg>".encode(),
    "a.eml": f"Subject: {WORDS}\nFrom: a@b.example\nContent-Type: text/plain\n\nHello\n".encode(),
}
PICTURES: Mapping[str, bytes] = {
    "a.pdf": pdf(),
    **{f"a.{kind}": picture(kind) for kind in ("png", "jpeg", "gif", "webp", "tiff", "bmp")},
}
