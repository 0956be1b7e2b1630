"""Fonts in the file: only the glyphs used, at one weight, addressed by glyph (Identity-H)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import uharfbuzz  # type: ignore[import-untyped]
from reportlab.pdfbase.pdfdoc import (  # type: ignore[import-untyped]
    PDFArray,
    PDFDictionary,
    PDFName,
    PDFString,
)

from app.invoices.pdf.archive import Archive, archive_stream
from app.invoices.pdf.fonts import BOLD, Face

# A reader only draws glyphs: the text was shaped here already.
_DROPPED_TABLES = (
    "BASE", "GDEF", "GPOS", "GSUB", "OS/2", "STAT", "VORG", "cmap", "gasp", "name", "post",
    "vhea", "vmtx",
)  # fmt: skip
_FLAGS_SYMBOLIC = 4
_MAP_CHUNK = 100  # entries of one bfchar block, at most (CMap specification)


class EmbeddedFont:
    """A face with the glyphs that a document uses; ``texts`` says what each stands for."""

    def __init__(self, face: Face, texts: Mapping[int, str], resource: str) -> None:
        self.face = face
        self.resource = resource
        subset = uharfbuzz.SubsetInput()
        subset.glyph_set.update(texts)
        subset.drop_table_tag_set.update(
            int.from_bytes(tag.encode(), "big") for tag in _DROPPED_TABLES
        )
        subset.pin_axis_location(face.hb_face, "wght", face.weight)
        flags = uharfbuzz.SubsetFlags
        subset.flags = (
            flags.NO_LAYOUT_CLOSURE | flags.NO_HINTING | flags.DESUBROUTINIZE
            | flags.DOWNGRADE_CFF2 | flags.CFF_IDENTITY_CHARSET
        )  # fmt: skip
        plan = uharfbuzz.SubsetPlan(face.hb_face, subset)
        codes = dict(plan.old_to_new_glyph_mapping)
        self._program = plan.execute()
        self._codes = {glyph: f"{code:04X}" for glyph, code in codes.items()}
        self._widths = {glyph: face.width_of(glyph) for glyph in codes}
        self._texts = texts

    def code_of(self, glyph: int) -> str:
        """The two bytes that show a glyph, in hexadecimal."""
        return self._codes[glyph]

    def width_of(self, glyph: int) -> float:
        """How far showing a glyph moves the pen."""
        return self._widths[glyph]

    def add_to(self, archive: Archive) -> Any:
        """Write the font and what it needs; returns a reference to it."""
        name = f"{self._tag()}+{self.face.name}"
        descendant = {
            "Type": PDFName("Font"),
            "Subtype": PDFName("CIDFontType0" if self.face.is_cff else "CIDFontType2"),
            "BaseFont": PDFName(name),
            "CIDSystemInfo": PDFDictionary(
                {"Registry": PDFString("Adobe"), "Ordering": PDFString("Identity"),
                 "Supplement": 0}
            ),
            "FontDescriptor": archive.add(self._descriptor(archive, name)),
            "DW": 0,
            "W": PDFArray([0, PDFArray(self._width_list())]),
        }  # fmt: skip
        if not self.face.is_cff:
            descendant["CIDToGIDMap"] = PDFName("Identity")
        font = {
            "Type": PDFName("Font"),
            "Subtype": PDFName("Type0"),
            "BaseFont": PDFName(name),
            "Encoding": PDFName("Identity-H"),
            "DescendantFonts": PDFArray([archive.add(PDFDictionary(descendant))]),
            "ToUnicode": archive.add(archive_stream(self._unicode_map())),
        }
        return archive.add(PDFDictionary(font))

    def _tag(self) -> str:
        """Six letters that tell subsets apart (ISO 32000-1, 9.6.4)."""
        digest = hashlib.sha256(repr(sorted(self._codes)).encode()).digest()
        return "".join(chr(65 + byte % 26) for byte in digest[:6])

    def _width_list(self) -> list[float]:
        by_code = sorted((code, self._widths[glyph]) for glyph, code in self._codes.items())
        return [round(width, 3) for _, width in by_code]

    def _descriptor(self, archive: Archive, name: str) -> Any:
        face, font = self.face, self.face.hb_font
        extents = font.get_font_extents("ltr")
        boxes = [font.get_glyph_extents(glyph) for glyph in self._codes]
        left = min((box.x_bearing for box in boxes if box), default=0)
        right = max((box.x_bearing + box.width for box in boxes if box), default=0)
        ascent, descent = extents.ascender * face.scale, extents.descender * face.scale
        descriptor = {
            "Type": PDFName("FontDescriptor"),
            "FontName": PDFName(name),
            "Flags": _FLAGS_SYMBOLIC,
            "FontBBox": PDFArray(
                [round(left * face.scale), round(descent), round(right * face.scale), round(ascent)]
            ),
            "ItalicAngle": 0,
            "Ascent": round(ascent),
            "Descent": round(descent),
            "CapHeight": round(ascent * 0.7),
            "StemV": 140 if face.weight == BOLD else 80,
        }
        if face.is_cff:
            program = bytes(self._program.reference_table("CFF ").data)
            stream = archive_stream(program, {"Subtype": PDFName("CIDFontType0C")})
            descriptor["FontFile3"] = archive.add(stream)
        else:
            program = bytes(self._program.blob.data)
            stream = archive_stream(program, {"Length1": len(program)})
            descriptor["FontFile2"] = archive.add(stream)
        return PDFDictionary(descriptor)

    def _unicode_map(self) -> bytes:
        """What to copy for each code: the ToUnicode CMap (ISO 32000-1, 9.10.3)."""
        entries = sorted(
            f"<{self._codes[glyph]}> <{text.encode('utf-16-be').hex().upper()}>"
            for glyph, text in self._texts.items()
            if text
        )
        blocks = (entries[at : at + _MAP_CHUNK] for at in range(0, len(entries), _MAP_CHUNK))
        lines = [
            "/CIDInit /ProcSet findresource begin",
            "12 dict begin",
            "begincmap",
            "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def",
            "/CMapName /Adobe-Identity-UCS def",
            "/CMapType 2 def",
            "1 begincodespacerange",
            "<0000> <FFFF>",
            "endcodespacerange",
            *_blocks(blocks),
            "endcmap",
            "CMapName currentdict /CMap defineresource pop",
            "end",
            "end",
        ]
        return "\n".join(lines).encode("ascii")


def _blocks(blocks: Iterable[list[str]]) -> Iterable[str]:
    for block in blocks:
        yield f"{len(block)} beginbfchar"
        yield from block
        yield "endbfchar"
