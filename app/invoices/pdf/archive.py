"""The file: reportlab's document objects, kept to what PDF/A-3 allows (ISO 19005-3), and its XMP.

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
from xml.etree.ElementTree import Element, SubElement, tostring

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

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_FACTUR_X = "urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#"
_NAMESPACES = {
    "dc": "http://purl.org/dc/elements/1.1/",
    "pdf": "http://ns.adobe.com/pdf/1.3/",
    "xmp": "http://ns.adobe.com/xap/1.0/",
    "pdfaid": "http://www.aiim.org/pdfa/ns/id/",
    "pdfaExtension": "http://www.aiim.org/pdfa/ns/extension/",
    "pdfaSchema": "http://www.aiim.org/pdfa/ns/schema#",
    "pdfaProperty": "http://www.aiim.org/pdfa/ns/property#",
    "fx": _FACTUR_X,
}
_FACTUR_X_PROPERTIES = (
    ("DocumentFileName", "The name of the embedded XML document"),
    ("DocumentType", "The type of the hybrid document in capital letters"),
    ("Version", "The version of the standard of the embedded XML document"),
    ("ConformanceLevel", "The conformance level of the embedded XML document"),
)


@dataclass(frozen=True, kw_only=True)
class Metadata:
    """Of one file. ``factur_x`` is (file name, conformance level) of the invoice inside."""

    title: str
    author: str
    subject: str
    language: str
    day: date
    creator: str = "Business Platform"
    producer: str = "ReportLab"
    factur_x: tuple[str, str] | None = None


def xmp_packet(metadata: Metadata) -> bytes:
    """The packet (ISO 16684-1), in UTF-8."""
    root = Element("x:xmpmeta", {"xmlns:x": "adobe:ns:meta/"})
    rdf = SubElement(root, "rdf:RDF", {"xmlns:rdf": _RDF})
    identity = _describe(rdf, "pdfaid")
    _say(identity, "pdfaid:part", "3")
    _say(identity, "pdfaid:conformance", "B")
    core = _describe(rdf, "dc")
    _say_in_default_language(core, "dc:title", metadata.title)
    _say(SubElement(SubElement(core, "dc:creator"), "rdf:Seq"), "rdf:li", metadata.author)
    _say_in_default_language(core, "dc:description", metadata.subject)
    _say(_describe(rdf, "pdf"), "pdf:Producer", metadata.producer)
    origin = _describe(rdf, "xmp")
    _say(origin, "xmp:CreatorTool", metadata.creator)
    for name in ("xmp:CreateDate", "xmp:ModifyDate"):
        _say(origin, name, f"{metadata.day.isoformat()}T00:00:00+00:00")
    if metadata.factur_x is not None:
        _add_factur_x(rdf, *metadata.factur_x)
    head = '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>'
    body = tostring(root, encoding="unicode")
    return f'{head}\n{body}\n<?xpacket end="w"?>'.encode()


def _describe(rdf: Element, *prefixes: str) -> Element:
    """A description that declares its own namespaces, where older readers look for them."""
    declared = {f"xmlns:{prefix}": _NAMESPACES[prefix] for prefix in prefixes}
    return SubElement(rdf, "rdf:Description", {"rdf:about": "", **declared})


def _say(parent: Element, name: str, text: str) -> None:
    SubElement(parent, name).text = text


def _say_in_default_language(parent: Element, name: str, text: str) -> None:
    alternatives = SubElement(SubElement(parent, name), "rdf:Alt")
    SubElement(alternatives, "rdf:li", {"xml:lang": "x-default"}).text = text


def _add_factur_x(rdf: Element, file_name: str, level: str) -> None:
    """What is inside, and the schema that explains it (ISO 19005-3, 6.6.2.3)."""
    inside = _describe(rdf, "fx")
    _say(inside, "fx:DocumentType", "INVOICE")
    _say(inside, "fx:DocumentFileName", file_name)
    _say(inside, "fx:Version", "1.0")
    _say(inside, "fx:ConformanceLevel", level)
    extension = _describe(rdf, "pdfaExtension", "pdfaSchema", "pdfaProperty")
    bag = SubElement(SubElement(extension, "pdfaExtension:schemas"), "rdf:Bag")
    schema = SubElement(bag, "rdf:li", {"rdf:parseType": "Resource"})
    _say(schema, "pdfaSchema:schema", "Factur-X PDFA Extension Schema")
    _say(schema, "pdfaSchema:namespaceURI", _FACTUR_X)
    _say(schema, "pdfaSchema:prefix", "fx")
    properties = SubElement(SubElement(schema, "pdfaSchema:property"), "rdf:Seq")
    for name, description in _FACTUR_X_PROPERTIES:
        entry = SubElement(properties, "rdf:li", {"rdf:parseType": "Resource"})
        _say(entry, "pdfaProperty:name", name)
        _say(entry, "pdfaProperty:valueType", "Text")
        _say(entry, "pdfaProperty:category", "external")
        _say(entry, "pdfaProperty:description", description)


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
