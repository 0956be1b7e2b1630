"""Putting text on a page: aligned, broken into lines where it may be cut, made to fit."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Literal

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


# Han, kana and their punctuation break between any two letters, but closing marks stay behind.
_HAN = "\u2e80-\u312f\u31a0-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uff9f\U00020000-\U0003ffff"
_CLOSING = (
    "\u3001\u3002\u3009\u300b\u300d\u300f\u3011\u3015\u30fc"
    "\uff01\uff09\uff0c\uff0e\uff1a\uff1b\uff1f"
)
_OPENING = "\u3008\u300a\u300c\u300e\u3010\u3014\uff08"
_BREAKS = re.compile(
    f"(?<=[{_HAN}])(?<![{_OPENING}])(?![{_CLOSING}])(?=.)"
    f"|(?<=[^{_HAN}])(?=[{_HAN}])(?![{_CLOSING}])"
    r"|(?<=[^\W\d_][-/\u2013])(?=\w)"
    "|(?<=\u200b)"
)
_SPACES = re.compile("[ \u2000-\u2006\u2008-\u200a\u205f\u3000]+")  # not the hard ones
_ONE_LINE_AT_MOST = 250  # letters; longer texts are not measured in one piece
_JOINED = frozenset("\u200c\u200d\ufe0e\ufe0f")

Measure = Callable[[str], float]


def break_lines(text: str, width: float, measure: Measure) -> list[str]:
    """``text`` as lines no wider than ``width``; ``measure`` gives the width of a piece of it.

    A word that is wider than a line is cut between letters.
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        if len(paragraph) <= _ONE_LINE_AT_MOST and measure(paragraph) <= width:
            lines.append(paragraph)
        else:
            lines.extend(_fill(paragraph, width, measure))
    return lines


def _fill(paragraph: str, width: float, measure: Measure) -> Iterator[str]:
    space = measure(" ")
    line, used = "", 0.0
    for gap, piece in _pieces(paragraph, width, measure):
        taken = measure(piece)
        step = taken + (space if gap and line else 0.0)
        if line and used + step > width:
            yield line
            line, used = piece, taken
        else:
            line, used = line + (" " if gap and line else "") + piece, used + step
    if line:
        yield line


def _pieces(paragraph: str, width: float, measure: Measure) -> Iterator[tuple[bool, str]]:
    """(whether a space stands before it, piece) of everything that must not be cut."""
    for word in filter(None, _SPACES.split(paragraph)):
        for part_index, part in enumerate(_BREAKS.split(word)):
            cut = [part] if measure(part) <= width else _cut(part, width, measure)
            for index, piece in enumerate(cut):
                yield part_index == 0 and index == 0, piece


def _cut(word: str, width: float, measure: Measure) -> Iterator[str]:
    """A word in pieces that fit, whole letters each."""
    piece, used = "", 0.0
    for letter in letters(word):
        step = measure(letter)
        if piece and used + step > width:
            yield piece
            piece, used = "", 0.0
        piece, used = piece + letter, used + step
    if piece:
        yield piece


def letters(word: str) -> Iterator[str]:
    """The letters as a reader sees them: marks, joiners and flags stay with their base."""
    current = ""
    for letter in word:
        follows = (
            letter in _JOINED
            or unicodedata.category(letter)[0] == "M"
            or current[-1:] == "\u200d"
            or "\U0001f3fb" <= letter <= "\U0001f3ff"
            or (_is_flag(letter) and _is_flag(current))
        )
        if current and not follows:
            yield current
            current = ""
        current += letter
    if current:
        yield current


def _is_flag(text: str) -> bool:
    """Whether the text is one regional indicator; two of them make a flag."""
    return len(text) == 1 and "\U0001f1e6" <= text <= "\U0001f1ff"
