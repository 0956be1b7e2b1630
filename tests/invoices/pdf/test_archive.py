"""The file is PDF/A-3b as far as structure tells: everything embedded, declared and fixed."""

from __future__ import annotations

import io
import re
from xml.etree import ElementTree

import pytest
import uharfbuzz
from pypdf import PdfReader

from app.invoices.document import InvoiceDocument
from app.invoices.einvoice.cii import build_cii
from app.invoices.pdf.render import FILE_NAME, render_facturx, render_pdf
from tests.invoices.documents import make_document, make_line
from tests.invoices.pdf.generated_documents import ALL_SAMPLES as SAMPLES
from tests.invoices.pdf.reading import dictionaries, fonts_of, stream_bytes

MANY_SCRIPTS = make_document(
    [make_line(description="Łódź Привет שלום سلام 日本語 한국어 नमस्ते 😀 \U00012000")]
)
XMP = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "pdfaid": "http://www.aiim.org/pdfa/ns/id/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "xmp": "http://ns.adobe.com/xap/1.0/",
    "pdf": "http://ns.adobe.com/pdf/1.3/",
    "fx": "urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#",
    "pdfaProperty": "http://www.aiim.org/pdfa/ns/property#",
}


def packet_of(content: bytes) -> ElementTree.Element:
    root = PdfReader(io.BytesIO(content)).trailer["/Root"]
    return ElementTree.fromstring(stream_bytes(root["/Metadata"]).decode().lstrip("\ufeff"))


def said(packet: ElementTree.Element, name: str) -> str | None:
    found = packet.find(f".//{name}", XMP)
    assert found is not None, name
    inner = found.find(".//rdf:li", XMP)
    return found.text if inner is None else inner.text


@pytest.mark.costly(3)
@pytest.mark.parametrize("name", SAMPLES)
def test_the_same_document_gives_the_same_bytes(name: str) -> None:
    assert render_pdf(SAMPLES[name]()) == render_pdf(SAMPLES[name]())


def test_metadata_says_pdf_a_3b_and_what_the_information_dictionary_says() -> None:
    content = render_pdf(make_document(number="INV-(1) ü"))
    packet, info = packet_of(content), PdfReader(io.BytesIO(content)).metadata
    assert info is not None
    assert (said(packet, "pdfaid:part"), said(packet, "pdfaid:conformance")) == ("3", "B")
    assert said(packet, "dc:title") == info.title == "Invoice INV-(1) ü"
    assert said(packet, "dc:creator") == info.author == "Nordlicht Software GmbH"
    assert said(packet, "dc:description") == info.subject
    assert said(packet, "pdf:Producer") == info.producer
    assert said(packet, "xmp:CreatorTool") == info.creator
    assert said(packet, "xmp:CreateDate") == "2026-03-02T00:00:00+00:00"
    assert info["/CreationDate"] == "D:20260302000000+00'00'"


def test_an_output_intent_says_what_the_colours_mean() -> None:
    root = PdfReader(io.BytesIO(render_pdf(make_document()))).trailer["/Root"]
    (intent,) = root["/OutputIntents"]
    profile = intent.get_object()["/DestOutputProfile"]
    assert intent.get_object()["/S"] == "/GTS_PDFA1"
    assert profile["/N"] == 3
    assert stream_bytes(profile)[12:20] == b"mntrRGB "


def test_every_font_is_embedded_and_its_widths_are_those_of_the_program() -> None:
    content = render_pdf(MANY_SCRIPTS)
    fonts = fonts_of(content)
    assert len(fonts) == 7
    for font in fonts:
        assert font["/Encoding"] == "/Identity-H"
        assert re.fullmatch(r"/[A-Z]{6}\+NotoS?\w*-(Regular|Bold)", str(font["/BaseFont"]))
        inner = font["/DescendantFonts"][0].get_object()
        descriptor = inner["/FontDescriptor"]
        start, widths = inner["/W"]
        assert start == 0
        if inner["/Subtype"] == "/CIDFontType0":
            assert stream_bytes(descriptor["/FontFile3"])[:1] == b"\x01"  # CFF, version 1
            continue
        assert inner["/CIDToGIDMap"] == "/Identity"
        face = uharfbuzz.Face(stream_bytes(descriptor["/FontFile2"]))
        program = uharfbuzz.Font(face)
        advances = [program.get_glyph_h_advance(glyph) for glyph in range(face.glyph_count)]
        expected = [advance * 1000 / face.upem for advance in advances]
        assert [float(width) for width in widths] == pytest.approx(expected, abs=0.5)


def test_no_glyph_shown_is_the_missing_one() -> None:
    reader = PdfReader(io.BytesIO(render_pdf(MANY_SCRIPTS)))
    content = reader.pages[0].get_contents()
    assert content is not None
    shown = re.findall(rb"<([0-9A-F]+)>", content.get_data())
    assert shown
    codes = {part[at : at + 4] for part in shown for at in range(0, len(part), 4)}
    assert b"0000" not in codes


def test_streams_end_on_a_line_of_their_own_and_have_the_length_they_say() -> None:
    content = render_pdf(make_document())
    places = [found.start() for found in re.finditer(rb"endstream\nendobj", content)]
    assert places
    assert all(content[place - 1 : place] == b"\n" for place in places)
    starts = [found.end() for found in re.finditer(rb">>\nstream\n", content)]
    assert len(starts) == len(places)
    for start, end in zip(starts, places, strict=True):
        told = content.rindex(b"/Length ", 0, start) + len(b"/Length ")
        assert end - 1 - start == int(content[told : told + 12].split()[0])


@pytest.mark.requirement("SEC-73")
def test_the_file_does_nothing_by_itself() -> None:
    document = make_document(notes="/JavaScript /OpenAction (app.alert(1))")
    for found in dictionaries(render_facturx(document)):
        assert not {"/OpenAction", "/AA", "/JS", "/URI", "/Annots", "/Launch", "/Encrypt"} & set(
            found
        )


def test_factur_x_holds_the_xml_and_declares_it() -> None:
    document = make_document()
    content = render_facturx(document)
    root = PdfReader(io.BytesIO(content)).trailer["/Root"]
    (reference,) = root["/AF"]
    specification = reference.get_object()
    assert root["/Names"]["/EmbeddedFiles"]["/Names"] == [FILE_NAME, reference]
    assert (specification["/F"], specification["/UF"]) == (FILE_NAME, FILE_NAME)
    assert specification["/AFRelationship"] == "/Alternative"
    file = specification["/EF"]["/F"]
    assert stream_bytes(file) == build_cii(document)
    assert file["/Subtype"] == "/text/xml"
    assert file["/Params"]["/Size"] == len(build_cii(document))
    packet = packet_of(content)
    assert said(packet, "fx:ConformanceLevel") == "EN 16931"
    assert said(packet, "fx:DocumentFileName") == FILE_NAME
    assert said(packet, "fx:DocumentType") == "INVOICE"
    declared = {found.text for found in packet.iterfind(".//pdfaProperty:name", XMP)}
    assert declared == {"DocumentFileName", "DocumentType", "Version", "ConformanceLevel"}


def test_without_xml_nothing_is_attached() -> None:
    root = PdfReader(io.BytesIO(render_pdf(make_document()))).trailer["/Root"]
    assert "/AF" not in root and "/Names" not in root


@pytest.mark.parametrize(
    "document", [make_document(), make_document(number=None, issue_date=None, state="Draft")],
    ids=["issued", "draft"],
)  # fmt: skip
def test_a_page_is_a4(document: InvoiceDocument) -> None:
    page = PdfReader(io.BytesIO(render_pdf(document))).pages[0]
    assert (float(page.mediabox.width), float(page.mediabox.height)) == (595.28, 841.89)
