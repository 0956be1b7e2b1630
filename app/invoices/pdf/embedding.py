"""Fonts in the file: only the glyphs used, at one weight, addressed by glyph (Identity-H)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
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


Shown = tuple[int, str]  # a glyph, and the text that it stands for


class EmbeddedFont:
    """A face with the glyphs that a document uses, each with what it stands for.

    A glyph has a code for every text that it stands for: without its dots a letter of Arabic is the
    same as others. Glyphs of CFF have one code each, so there ``spells`` says which text it gives.
    """

    def __init__(self, face: Face, glyphs: Iterable[Shown], resource: str) -> None:
        self.face = face
        self.resource = resource
        glyph_list = list(glyphs)
        subset = uharfbuzz.SubsetInput()
        subset.glyph_set.update(glyph for glyph, _ in glyph_list)
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
        self._places = dict(plan.old_to_new_glyph_mapping)
        self._program = plan.execute()
        self._widths = {glyph: face.width_of(glyph) for glyph in self._places}
        # By code: the glyph that it shows. Further texts of a glyph have the codes after the last.
        self._glyphs = {position: glyph for glyph, position in self._places.items()}
        self._codes: dict[Shown, int] = {}
        self._texts: dict[int, str] = {}
        following = max(self._glyphs, default=0) + 1
        for glyph, text in glyph_list:
            code = self._places[glyph]
            if code in self._texts and not face.is_cff:
                code, following = following, following + 1
            self._codes[glyph, text] = code
            self._glyphs[code] = glyph
            self._texts.setdefault(code, text)

    def code_of(self, glyph: int, text: str) -> str:
        """The two bytes that show a glyph that stands for a text, in hexadecimal."""
        return f"{self._codes[glyph, text]:04X}"

    def spells(self, glyph: int, text: str) -> bool:
        """Whether a reader gets the text from the code of the glyph."""
        return self._texts[self._codes[glyph, text]] == text

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
            descendant["CIDToGIDMap"] = self._glyph_map(archive)
        font = {
            "Type": PDFName("Font"),
            "Subtype": PDFName("Type0"),
            "BaseFont": PDFName(name),
            "Encoding": PDFName("Identity-H"),
            "DescendantFonts": PDFArray([archive.add(PDFDictionary(descendant))]),
            "ToUnicode": archive.add(archive_stream(self._unicode_map())),
        }
        return archive.add(PDFDictionary(font))

    def _glyph_map(self, archive: Archive) -> Any:
        """Where the glyph of each code stands in the program (ISO 32000-1, table 117)."""
        if len(self._glyphs) == len(self._places):
            return PDFName("Identity")
        places = [self._places[self._glyphs[code]] for code in range(max(self._glyphs) + 1)]
        return archive.add(archive_stream(b"".join(glyph.to_bytes(2, "big") for glyph in places)))

    def _tag(self) -> str:
        """Six letters that tell subsets apart (ISO 32000-1, 9.6.4)."""
        digest = hashlib.sha256(repr(sorted(self._places)).encode()).digest()
        return "".join(chr(65 + byte % 26) for byte in digest[:6])

    def _width_list(self) -> list[float]:
        return [round(self._widths[glyph], 3) for _, glyph in sorted(self._glyphs.items())]

    def _descriptor(self, archive: Archive, name: str) -> Any:
        face, font = self.face, self.face.hb_font
        extents = font.get_font_extents("ltr")
        boxes = [font.get_glyph_extents(glyph) for glyph in self._places]
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
            f"<{code:04X}> <{text.encode('utf-16-be').hex().upper()}>"
            for code, text in self._texts.items()
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
