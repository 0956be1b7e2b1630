"""What stands on a page: marks at places, in points from the top left corner.

A layout makes pages of marks and knows no PDF; a writer draws them and knows no layout.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from app.invoices.pdf.shaping import Shaped

Color = tuple[float, float, float]  # red, green, blue from 0 to 1

MM = 72 / 25.4
PAGE_WIDTH, PAGE_HEIGHT = 210 * MM, 297 * MM


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text; ``y`` is its base line, ``angle`` in degrees against the clock."""

    x: float
    y: float
    shaped: Shaped
    size: float
    color: Color
    angle: float = 0.0


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line."""

    x1: float
    y1: float
    x2: float
    y2: float
    width: float
    color: Color


@dataclass(frozen=True, slots=True)
class Frame:
    """A rectangle, filled or drawn, turned about its lower left corner."""

    x: float
    y: float
    width: float
    height: float
    fill: Color | None = None
    stroke: Color | None = None
    line_width: float = 1.0
    angle: float = 0.0


@dataclass(frozen=True, slots=True)
class Picture:
    """An RGB picture, 8 bits a channel, row by row from the top."""

    x: float
    y: float
    width: float
    height: float
    pixels: bytes
    columns: int
    rows: int


@dataclass(frozen=True, slots=True)
class Modules:
    """The dark squares of a two-dimensional code, ``size`` points wide."""

    x: float
    y: float
    size: float
    matrix: tuple[bytes, ...]


Mark = Text | Rule | Frame | Picture | Modules


@dataclass(slots=True)
class Page:
    """The marks of one page, in the order of drawing; A4 upright unless said otherwise."""

    marks: list[Mark] = field(default_factory=list)
    width: float = PAGE_WIDTH
    height: float = PAGE_HEIGHT
