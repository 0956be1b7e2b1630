"""The letters of printed reports: Noto Sans, embedded; Chinese, Japanese and Korean by the reader's
own fonts. A letter that neither has is shown as a box.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING, Any

from app.lazy import lazy

if TYPE_CHECKING:
    import uharfbuzz  # type: ignore[import-untyped]
    from reportlab.pdfbase import cidfonts, pdfmetrics, ttfonts  # type: ignore[import-untyped]
else:
    uharfbuzz = lazy("uharfbuzz")
    cidfonts, pdfmetrics = lazy("reportlab.pdfbase.cidfonts"), lazy("reportlab.pdfbase.pdfmetrics")
    ttfonts = lazy("reportlab.pdfbase.ttfonts")

_FILE = "NotoSans[wght].ttf"
_HAN = "STSong-Light"
_HAN_RANGES = ((0x2E80, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0xFF00, 0xFFEF))
_MISSING = "\u25a1"
Piece = tuple[str, str]


def fonts_for(canvas: Any) -> Fonts:
    """The fonts, drawing on a canvas."""
    return Fonts(canvas, {False: _face(400), True: _face(700)})


@cache
def _face(weight: int) -> Any:
    """A weight of the variable font, registered under a name of its own."""
    content = files("manimgx_fonts").joinpath(_FILE).read_bytes()
    face = uharfbuzz.Face(content)
    wanted = uharfbuzz.SubsetInput()
    wanted.keep_everything()
    wanted.pin_axis_location(face, "wght", weight)
    made = uharfbuzz.subset(face, wanted)
    font = ttfonts.TTFont(f"Report{weight}", BytesIO(made.blob.data))
    # Both weights come from one file and say one name: a reader would take one for the other.
    font.face.name = f"NotoSans-{weight}".encode()
    pdfmetrics.registerFont(font)
    pdfmetrics.registerFont(cidfonts.UnicodeCIDFont(_HAN))
    return font


class Fonts:
    """Measures and draws text; each letter in a font that has it."""

    def __init__(self, canvas: Any, faces: dict[bool, Any]) -> None:
        self._canvas = canvas
        self._faces = faces
        self._known: dict[tuple[str, bool], tuple[Piece, ...]] = {}

    def width(self, text: str, size: float, bold: bool) -> float:
        """The width in points."""
        return sum(
            float(pdfmetrics.stringWidth(part, font, size))
            for part, font in self._pieces(text, bold)
        )

    def cut(self, text: str, width: float, size: float, bold: bool) -> str:
        """The text, or as much of it as fits with an ellipsis behind."""
        text = " ".join(text.split())[:400]
        if self.width(text, size, bold) <= width:
            return text
        low, high = 0, len(text)
        while low < high:
            middle = (low + high + 1) // 2
            if self.width(text[:middle] + "…", size, bold) <= width:
                low = middle
            else:
                high = middle - 1
        return text[:low] + "…"

    def draw(self, x: float, y: float, text: str, size: float, bold: bool) -> None:
        """Draw from left to right, its base line at ``y``."""
        for part, font in self._pieces(text, bold):
            self._canvas.setFont(font, size)
            self._canvas.drawString(x, y, part)
            x += pdfmetrics.stringWidth(part, font, size)

    def _pieces(self, text: str, bold: bool) -> tuple[Piece, ...]:
        """Runs of letters with the name of their font."""
        key = (text, bold)
        if key not in self._known:
            if len(self._known) > 5000:
                self._known.clear()
            self._known[key] = tuple(self._split(text, bold))
        return self._known[key]

    def _split(self, text: str, bold: bool) -> list[Piece]:
        face = self._faces[bold]
        glyphs = face.face.charToGlyph
        found: list[Piece] = []
        for letter in text:
            code = ord(letter)
            if code in glyphs:
                piece = (letter, face.fontName)
            elif any(low <= code <= high for low, high in _HAN_RANGES):
                piece = (letter, _HAN)
            else:
                piece = (_MISSING if ord(_MISSING) in glyphs else "?", face.fontName)
            if found and found[-1][1] == piece[1]:
                found[-1] = (found[-1][0] + piece[0], piece[1])
            else:
                found.append(piece)
        return found
