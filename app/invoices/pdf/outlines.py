"""Glyphs as shapes: their outlines as PDF path operators (ISO 32000-1, 8.5.2)."""

from __future__ import annotations

from collections.abc import Sequence

from app.invoices.pdf.fonts import Face

Point = tuple[float, float]


def outline(face: Face, glyph: int, across: float, up: float) -> Sequence[str]:
    """The path of a glyph whose origin is moved; lengths in thousandths of the font size."""
    pen = _PathPen(face.scale, across, up)
    face.hb_font.draw_glyph_with_pen(glyph, pen)
    return pen.operators


class _PathPen:
    """A pen as ``uharfbuzz`` wants it, named by its protocol."""

    def __init__(self, scale: float, across: float, up: float) -> None:
        self.operators: list[str] = []
        self._scale = scale
        self._shift = across, up
        self._last: Point = (0.0, 0.0)

    def moveTo(self, point: Point) -> None:
        """Begin a contour."""
        self._add("m", point)

    def lineTo(self, point: Point) -> None:
        """A straight line."""
        self._add("l", point)

    def curveTo(self, first: Point, second: Point, end: Point) -> None:
        """A cubic curve."""
        self._add("c", first, second, end)

    def qCurveTo(self, control: Point, end: Point) -> None:
        """A quadratic curve, as the cubic one that it is."""
        start = self._last
        self._add("c", _between(start, control), _between(end, control), end)

    def closePath(self) -> None:
        """End a contour."""
        self.operators.append("h")

    def _add(self, operator: str, *points: Point) -> None:
        across, up = self._shift
        numbers = (f"{x * self._scale + across:.1f} {y * self._scale + up:.1f}" for x, y in points)
        self.operators.append(f"{' '.join(numbers)} {operator}")
        self._last = points[-1]


def _between(end: Point, control: Point) -> Point:
    """Two thirds of the way from an end of a quadratic curve to its control."""
    return end[0] + (control[0] - end[0]) * 2 / 3, end[1] + (control[1] - end[1]) * 2 / 3
