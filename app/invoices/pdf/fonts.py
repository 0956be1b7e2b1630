"""The fonts of invoices: Noto, as the packages manimgx-fonts and manimgx-fonts-cjk ship it.

A text is set in the first font that has its letters. Files are mapped into memory when a letter
first needs them: a page in Latin, Greek and Cyrillic opens one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

import uharfbuzz  # type: ignore[import-untyped]

REGULAR, BOLD = 400, 700

_SCRIPTS = (
    "NotoSans[wght].ttf",
    "NotoSansHebrew[wght].ttf",
    "NotoSansArabic[wght].ttf",
    "NotoSansArmenian[wght].ttf",
    "NotoSansGeorgian[wght].ttf",
    "NotoSansThai[wght].ttf",
    "NotoSansDevanagari[wght].ttf",
    "NotoSansBengali[wght].ttf",
    "NotoSansTamil[wght].ttf",
    "NotoSansTelugu[wght].ttf",
    "NotoSansKannada[wght].ttf",
    "NotoSansMalayalam[wght].ttf",
    "NotoSansGujarati[wght].ttf",
    "NotoSansGurmukhi[wght].ttf",
    "NotoSansOriya[wght].ttf",
    "NotoSansSinhala[wght].ttf",
    "NotoSansKhmer[wght].ttf",
    "NotoSansLao[wght].ttf",
    "NotoSansMyanmar[wght].ttf",
    "NotoSansEthiopic[wght].ttf",
)
_HAN = "NotoSansCJK-VF.otf.ttc"
_SYMBOLS = ("NotoSansSymbols[wght].ttf", "NotoEmoji[wght].ttf")

# The faces of the CJK file: the same letters, drawn as each country writes them.
JAPANESE, KOREAN, SIMPLIFIED, TRADITIONAL, HONG_KONG = range(5)
_HAN_OF_LANGUAGE = {"ja": JAPANESE, "ko": KOREAN, "zh": SIMPLIFIED}
_HAN_OF_COUNTRY = {
    "JP": JAPANESE, "KR": KOREAN, "TW": TRADITIONAL, "MO": HONG_KONG, "HK": HONG_KONG,
}  # fmt: skip

# Shown for a letter that no font has: .notdef may not be shown in PDF/A (ISO 19005-3, 6.2.11.8).
SUBSTITUTE = "\ufffd"


class Face:
    """One font at one weight; all lengths in thousandths of the font size."""

    def __init__(self, path: Path, index: int, weight: int) -> None:
        self.weight = weight
        self.hb_face = uharfbuzz.Face(uharfbuzz.Blob.from_file_path(str(path)), index)
        self.hb_font = uharfbuzz.Font(self.hb_face)
        self.hb_font.set_variations({"wght": weight})
        self.scale: float = 1000 / self.hb_face.upem
        family = path.name.partition("[")[0].partition("-")[0]
        self.name = f"{family}{index or ''}-{'Bold' if weight == BOLD else 'Regular'}"
        self.is_cff = "CFF2" in self.hb_face.table_tags
        self.blank: int | None = self.hb_font.get_nominal_glyph(ord(" "))
        self._glyphs: dict[int, bool] = {}

    def covers(self, letter: str) -> bool:
        """Whether the font has a glyph for the letter."""
        code = ord(letter)
        glyph = self._glyphs.get(code)
        if glyph is None:
            glyph = self._glyphs[code] = bool(self.hb_font.get_nominal_glyph(code))
        return glyph

    def width_of(self, glyph: int) -> float:
        """The advance width that the font states for a glyph."""
        return float(self.hb_font.get_glyph_h_advance(glyph)) * self.scale


def faces(weight: int, han: int) -> Iterator[Face]:
    """The faces to look for a letter in, in order; ``han`` is the CJK face that fits best."""
    for name in _SCRIPTS:
        yield _open("manimgx_fonts", name, 0, weight)
    yield _open("manimgx_fonts_cjk", _HAN, han, weight)
    for name in _SYMBOLS:
        yield _open("manimgx_fonts", name, 0, weight)


def han_face(language: str, *countries: str | None) -> int:
    """The CJK face for a document: by its language, else by the parties' countries."""
    primary, _, region = language.replace("_", "-").partition("-")
    if primary == "zh" and region[:4].lower() in ("hant", "tw"):
        return TRADITIONAL
    if primary == "zh" and region.lower() == "hk":
        return HONG_KONG
    if primary in _HAN_OF_LANGUAGE:
        return _HAN_OF_LANGUAGE[primary]
    fonts = (_HAN_OF_COUNTRY[country] for country in countries if country in _HAN_OF_COUNTRY)
    return next(fonts, SIMPLIFIED)


@cache
def _open(package: str, name: str, index: int, weight: int) -> Face:
    return Face(Path(str(files(package).joinpath(name))), index, weight)
