"""The text of a file, its beginning: as much as a search looks at."""

from __future__ import annotations

import email.policy
import re
import zipfile
from collections.abc import Iterator
from email.parser import BytesParser
from html.parser import HTMLParser
from pathlib import Path
from xml.parsers import expat

MAXIMUM_CHARACTERS = 200_000
MAXIMUM_PAGES = 300
# So much is unpacked of one archive, whatever it says of itself.
UNPACKED_BYTES = 40 * 1024 * 1024
_CHUNK = 64 * 1024
_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN = "application/vnd.oasis.opendocument."
_PLAIN = (
    "text/plain", "text/csv", "text/tab-separated-values", "text/markdown", "application/json",
    "application/xml", "application/yaml", "text/calendar", "text/vcard", "text/css",
)  # fmt: skip
# Which entries of an archive have text, by the beginning of its type.
_ENTRIES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (_OFFICE + "word", re.compile(r"word/(document|footnotes|header\d*)\.xml")),
    (_OFFICE + "spread", re.compile(r"xl/(sharedStrings|worksheets/sheet\d+)\.xml")),
    (_OFFICE + "pres", re.compile(r"ppt/slides/slide\d+\.xml")),
    ("application/vnd.ms-word", re.compile(r"word/document\.xml")),
    ("application/vnd.ms-excel.sheet", re.compile(r"xl/sharedStrings\.xml")),
    (_OPEN, re.compile(r"content\.xml")),
)
# Elements behind which a new line begins.
_BREAKS = frozenset(("p", "h", "br", "tr", "si", "row", "tab", "c", "table-cell"))


def is_plain(media_type: str) -> bool:
    """Whether the text is the file itself: reading it needs no reader."""
    return media_type in _PLAIN


def has_text(media_type: str) -> bool:
    """Whether texts are taken out of files of the type."""
    return (
        media_type in (*_PLAIN, "application/pdf", "text/html", "image/svg+xml", "message/rfc822")
        or _entries(media_type) is not None
    )


def extract_text(path: Path, media_type: str) -> str:
    """The text of a file, at most ``MAXIMUM_CHARACTERS``; empty for types without one.

    Raises: whatever the readers raise.
    """
    if media_type == "application/pdf":
        parts = _pages(path)
    elif media_type in _PLAIN:
        parts = iter((decode(_first(path, MAXIMUM_CHARACTERS * 4)),))
    elif media_type in ("text/html", "image/svg+xml"):
        parts = iter((_markup(decode(_first(path, MAXIMUM_CHARACTERS * 8))),))
    elif media_type == "message/rfc822":
        parts = _letter(path)
    else:
        parts = _unpacked(path, media_type)
    return _beginning(parts)


def _first(path: Path, count: int) -> bytes:
    with path.open("rb") as file:
        return file.read(count)


def decode(content: bytes) -> str:
    """Bytes as text: what they are marked as, UTF-8, or the one-byte encoding of Windows."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start > len(content) - 4:  # cut within a character
            return content[: error.start].decode("utf-8-sig")
        return content.decode("cp1252", "replace")


def _beginning(parts: Iterator[str]) -> str:
    pieces: list[str] = []
    size = 0
    for part in parts:
        pieces.append(part[: MAXIMUM_CHARACTERS - size])
        size += len(pieces[-1])
        if size >= MAXIMUM_CHARACTERS:
            break
    text = "".join(pieces).replace("\0", " ")
    # In this order, each pass is linear, whatever runs of blanks a file has.
    return re.sub(r" ?\n[ \n]*", "\n", re.sub(r"[^\S\n]+", " ", text)).strip()


def _pages(path: Path) -> Iterator[str]:
    import pypdfium2  # type: ignore[import-untyped]  # loaded by who reads a PDF

    with pypdfium2.PdfDocument(path) as document:
        for number in range(min(len(document), MAXIMUM_PAGES)):
            yield document[number].get_textpage().get_text_bounded() + "\n"


def _letter(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        letter = BytesParser(policy=email.policy.default).parse(file)
    for name in ("Subject", "From", "To"):
        yield f"{letter.get(name, '')}\n"
    body = letter.get_body(("plain", "html"))
    if body is not None:
        content = body.get_content()
        yield _markup(content) if body.get_content_subtype() == "html" else content


class _Markup(HTMLParser):
    """Collects what a page shows."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden += tag in ("script", "style")
        self.parts.append("\n" if tag in ("p", "br", "div", "tr", "li", "h1", "h2", "h3") else " ")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._hidden = max(0, self._hidden - 1)

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)


def _markup(text: str) -> str:
    page = _Markup()
    page.feed(text)
    page.close()
    return "".join(page.parts)


def _entries(media_type: str) -> re.Pattern[str] | None:
    return next((entry for begin, entry in _ENTRIES if media_type.startswith(begin)), None)


def _unpacked(path: Path, media_type: str) -> Iterator[str]:
    """The texts in the entries of an archive, unpacked piece by piece up to a bound."""
    pattern = _entries(media_type)
    if pattern is None:
        return
    left = UNPACKED_BYTES
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if pattern.fullmatch(info.filename) and not info.flag_bits & 1:  # not encrypted
                with archive.open(info) as entry:
                    reading = _Words()
                    while left > 0 and (chunk := entry.read(min(_CHUNK, left))):
                        left -= len(chunk)
                        yield reading.feed(chunk)
                yield "\n"


class _Words:
    """Collects the text between the elements of XML; a document type is refused, entities too."""

    def __init__(self) -> None:
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._parts: list[str] = []
        self._skipping = False
        self._in_string = False

    def feed(self, chunk: bytes) -> str:
        """The text that ``chunk`` brings."""
        self._parser.Parse(chunk, False)
        text = "".join(self._parts)
        self._parts.clear()
        return text

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        if local == "c":  # a cell whose value is the number of a shared string
            self._in_string = attributes.get("t") == "s"
        self._skipping = local == "f" or (local == "v" and self._in_string)

    def _end(self, name: str) -> None:
        self._skipping = False
        if name.rpartition(" ")[2] in _BREAKS:
            self._parts.append("\n")

    def _characters(self, text: str) -> None:
        if not self._skipping:
            self._parts.append(text)

    def _refuse(self, *declaration: object) -> None:
        raise ValueError("a document type in an office file")
