"""How the pages look: the grid, the sizes and the colours. Lengths in points."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.invoices.pdf.drawing import MM, PAGE_WIDTH, Color
from app.invoices.pdf.fonts import BOLD, REGULAR

INK: Color = (0.13, 0.15, 0.18)
MUTED: Color = (0.40, 0.43, 0.47)
ACCENT: Color = (0.10, 0.24, 0.40)
HAIRLINE: Color = (0.82, 0.84, 0.87)
TINT: Color = (0.955, 0.965, 0.978)
WATERMARK: Color = (0.925, 0.93, 0.94)
VOID_MARK: Color = (0.97, 0.88, 0.87)
STAMP: Color = (0.16, 0.52, 0.30)

LEFT = 25 * MM
RIGHT = PAGE_WIDTH - 20 * MM
WIDTH = RIGHT - LEFT

# First page: the window of a DIN 5008 envelope, the facts beside it.
LOGO_TOP = 13 * MM
LOGO_WIDTH, LOGO_HEIGHT = 75 * MM, 24 * MM
ADDRESS_TOP = 45 * MM
ADDRESS_WIDTH = 80 * MM
FACTS_LEFT = 122 * MM
BODY_TOP = 98 * MM

# Following pages, and the foot of every page.
HEAD_TOP = 15 * MM
FOLLOWING_TOP = 27 * MM
FOOT_TOP = 270 * MM
BODY_BOTTOM = FOOT_TOP - 6 * MM


@dataclass(frozen=True, slots=True)
class Style:
    """How a text is set; ``leading`` is the height of a line."""

    size: float
    leading: float
    color: Color = INK
    weight: int = REGULAR

    def scaled(self, factor: float) -> Style:
        """The same at another size."""
        return replace(self, size=self.size * factor, leading=self.leading * factor)


TITLE = Style(20, 24, ACCENT, BOLD)
NUMBER = Style(11, 15, INK)
SELLER = Style(17, 21, ACCENT, BOLD)
BODY = Style(9, 12.5)
ADDRESS = Style(10, 13.5)
ADDRESS_STRONG = Style(10, 13.5, INK, BOLD)
RETURN_LINE = Style(6.5, 9, MUTED)
LABEL = Style(8.5, 12.5, MUTED)
SMALL = Style(7.5, 10.5, MUTED)
COLUMN = Style(7.5, 10, ACCENT, BOLD)
CARRY = Style(8.5, 12, MUTED)
TOTAL = Style(11.5, 16, INK, BOLD)
DUE = Style(11.5, 16, ACCENT, BOLD)
HEADING = Style(9, 13, ACCENT, BOLD)
FOOT = Style(7, 9.6, MUTED)
FOOT_STRONG = Style(7, 9.6, MUTED, BOLD)
STAMP_TEXT = Style(21, 26, STAMP, BOLD)
STAMP_DAY = Style(9, 12, STAMP)
