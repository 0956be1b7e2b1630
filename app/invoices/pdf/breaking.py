"""Where a text may be cut into lines, and the lines that fit a width."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

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
