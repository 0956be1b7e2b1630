"""Putting text on a page: aligned, broken into lines, made to fit."""

from __future__ import annotations

from typing import Literal

from app.invoices.pdf.breaking import break_lines
from app.invoices.pdf.drawing import Page, Text
from app.invoices.pdf.shaping import Shaper
from app.invoices.pdf.style import Style

Align = Literal["left", "right", "center"]

_BASE_LINE = 0.76  # of the leading, from the top of a line to its base line
_SMALLEST = 0.55  # how far a text may be scaled down before it is cut instead


class Typesetter:
    """Sets the texts of one document."""

    def __init__(self, shaper: Shaper) -> None:
        self._shaper = shaper

    def width(self, text: str, style: Style) -> float:
        """The width of one line."""
        return self._shaper.width(text, style.size, style.weight)

    def put(
        self, page: Page, x: float, top: float, text: str, style: Style, align: Align = "left"
    ) -> None:
        """One line at ``x``, which is its left, its right or its middle."""
        if not text:
            return
        shaped = self._shaper.shape(text, style.weight)
        shift = {"left": 0.0, "right": 1.0, "center": 0.5}[align]
        left = x - shift * shaped.width_at(style.size)
        base = top + style.leading * _BASE_LINE
        page.marks.append(Text(left, base, shaped, style.size, style.color))

    def put_turned(
        self, page: Page, x: float, base: float, text: str, style: Style, angle: float
    ) -> None:
        """One line from ``x`` and its base line, turned against the clock."""
        shaped = self._shaper.shape(text, style.weight)
        page.marks.append(Text(x, base, shaped, style.size, style.color, angle))

    def lines(self, text: str, style: Style, width: float) -> list[str]:
        """The text in lines that fit the width."""
        return break_lines(text, width, lambda piece: self.width(piece, style))

    def paragraph(
        self, page: Page, x: float, top: float, text: str, style: Style, width: float
    ) -> float:
        """The text in lines that fit; returns where it ends."""
        for line in self.lines(text, style, width):
            self.put(page, x, top, line, style)
            top += style.leading
        return top

    def fit(
        self,
        page: Page,
        x: float,
        top: float,
        text: str,
        style: Style,
        width: float,
        align: Align = "left",
    ) -> None:
        """One line that may not be wider than ``width``.

        A longer one is set smaller on the same base line, and cut if that is not enough.
        """
        needed = self.width(text, style)
        if needed > width:
            smaller = style.scaled(max(width / needed, _SMALLEST))
            text = self.shortened(text, smaller, width)
            top += (style.leading - smaller.leading) * _BASE_LINE
            style = smaller
        self.put(page, x, top, text, style, align)

    def shortened(self, text: str, style: Style, width: float) -> str:
        """The text, cut with an ellipsis where it does not fit."""
        if self.width(text, style) <= width * 1.001:
            return text
        first, *_ = self.lines(text, style, width - self.width("…", style)) or [""]
        return first.rstrip() + "…"
