"""The file: reportlab's document objects, kept to what PDF/A-3 allows (ISO 19005-3).

Nothing in it depends on the clock, so the same input gives the same bytes.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Any

from PIL import ImageCms
from reportlab.pdfbase.pdfdoc import (  # type: ignore[import-untyped]
    PDFArray,
    PDFDictionary,
    PDFDocument,
    PDFName,
    PDFObject,
    PDFPage,
    PDFString,
    format as pdf_format,
)

from app.invoices.pdf.metadata import Metadata, xmp_packet

_PROFILE_VERSION = slice(8, 10)
_OF_ISO_15076 = b"\x04\x30"  # 4.3, the newest that PDF/A-3 names (ISO 19005-3, 6.2.3)
_CREATED = slice(24, 36)  # date and time of creation: six numbers of two bytes (ICC.1, 7.2.8)
_SOME_DAY = b"".join(number.to_bytes(2, "big") for number in (2020, 1, 1, 0, 0, 0))
_VERSION = (1, 7)


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """A file inside the file; ``relationship`` is its AFRelationship."""

    name: str
    description: str
    media_type: str
    content: bytes
    relationship: str


class ArchiveStream(PDFObject):  # type: ignore[misc]
    """A stream whose end keyword stands on a line of its own (ISO 19005-3, 6.1.7.1)."""

    def __init__(self, entries: Mapping[str, Any], content: bytes) -> None:
        self._dictionary = PDFDictionary({**entries, "Length": len(content)})
        self._content = content

    def format(self, document: Any) -> bytes:
        head = bytes(pdf_format(self._dictionary, document))
        return head + b"\nstream\n" + self._content + b"\nendstream\n"


class ArchiveInfo(PDFObject):  # type: ignore[misc]
    """The information dictionary; it says what the XMP packet says."""

    def __init__(self, metadata: Metadata) -> None:
        self._metadata = metadata

    def format(self, document: Any) -> bytes:
        metadata = self._metadata
        day = PDFString(f"D:{metadata.day:%Y%m%d}000000+00'00'")
        return bytes(
            PDFDictionary(
                {
                    "Title": PDFString(metadata.title), "Author": PDFString(metadata.author),
                    "Subject": PDFString(metadata.subject), "Creator": PDFString(metadata.creator),
                    "Producer": PDFString(metadata.producer), "CreationDate": day, "ModDate": day,
                }
            ).format(document)
        )  # fmt: skip


def archive_stream(
    content: bytes, entries: Mapping[str, Any] | None = None, *, compress: bool = True
) -> ArchiveStream:
    """A stream with these dictionary entries."""
    known = dict(entries or {})
    if compress:
        content = zlib.compress(content, 9)
        known["Filter"] = PDFName("FlateDecode")
    return ArchiveStream(known, content)


class Archive:
    """A PDF/A-3b file in the making: metadata, output intent, attachments, then pages."""

    def __init__(self, metadata: Metadata, attachments: Iterable[Attachment]) -> None:
        self._document: Any = PDFDocument(invariant=1, pdfVersion=_VERSION)
        self._document.info = ArchiveInfo(metadata)
        packet = archive_stream(
            xmp_packet(metadata),
            {"Type": PDFName("Metadata"), "Subtype": PDFName("XML")},
            compress=False,  # so that other programs find it
        )
        intent = PDFDictionary(
            {
                "Type": PDFName("OutputIntent"), "S": PDFName("GTS_PDFA1"),
                "OutputConditionIdentifier": PDFString("sRGB"), "Info": PDFString("sRGB"),
                "DestOutputProfile": self.add(archive_stream(srgb_profile(), {"N": 3})),
            }
        )  # fmt: skip
        catalog: dict[str, Any] = {
            "Type": PDFName("Catalog"),
            "Pages": self.add(self._document.Pages),
            "PageMode": PDFName("UseNone"),
            "Lang": PDFString(metadata.language),
            "ViewerPreferences": PDFDictionary({"DisplayDocTitle": "true"}),
            "Metadata": self.add(packet),
            "OutputIntents": PDFArray([self.add(intent)]),
        }
        names: list[Any] = []
        for attachment in sorted(attachments, key=lambda attachment: attachment.name):
            names += [PDFString(attachment.name), self._attach(attachment, metadata.day)]
        if names:
            tree = PDFDictionary({"Names": PDFArray(names)})
            catalog |= {
                "AF": PDFArray(names[1::2]),
                "Names": PDFDictionary({"EmbeddedFiles": tree}),
            }
        self._document.Catalog = PDFDictionary(catalog)

    def add(self, thing: Any) -> Any:
        """Give an object a number; returns the reference to it."""
        return self._document.Reference(thing)

    def add_page(self, content: bytes, resources: Any, width: float, height: float) -> None:
        """Append a page of this size in points."""
        page: Any = PDFPage()
        page.MediaBox = PDFArray([0, 0, round(width, 2), round(height, 2)])
        page.Contents = self.add(archive_stream(content))
        page.Resources = resources
        self._document.updateSignature(content)
        self._document.addPage(page)

    def to_bytes(self) -> bytes:
        """The finished file."""
        return bytes(self._document.format())

    def _attach(self, attachment: Attachment, day: date) -> Any:
        content = attachment.content
        checksum = hashlib.md5(content, usedforsecurity=False).hexdigest().upper()
        parameters = PDFDictionary(
            {
                "ModDate": PDFString(f"D:{day:%Y%m%d}000000+00'00'"), "Size": len(content),
                "CheckSum": f"<{checksum}>",
            }
        )  # fmt: skip
        # reportlab leaves the slash of a name as it is, and it would begin another name.
        subtype = "/" + attachment.media_type.replace("/", "#2F")
        stream = archive_stream(
            content,
            {"Type": PDFName("EmbeddedFile"), "Subtype": subtype, "Params": parameters},
        )
        reference = self.add(stream)
        name = PDFString(attachment.name)
        specification = PDFDictionary(
            {
                "Type": PDFName("Filespec"), "F": name, "UF": name,
                "Desc": PDFString(attachment.description),
                "AFRelationship": PDFName(attachment.relationship),
                "EF": PDFDictionary({"F": reference, "UF": reference}),
            }
        )  # fmt: skip
        return self.add(specification)


@cache
def srgb_profile() -> bytes:
    """The bytes of the profile, without the moment they were made in."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    profile[_PROFILE_VERSION] = _OF_ISO_15076
    profile[_CREATED] = _SOME_DAY
    return bytes(profile)
