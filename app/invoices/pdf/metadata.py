"""What the file says of itself: the XMP packet of PDF/A-3, with Factur-X's part if it is one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from xml.etree.ElementTree import Element, SubElement, tostring

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
