"""The piece of an article that answers a question: a paragraph, or a list with its introduction.

Pieces are taken as they stand; nothing is joined across them, so that a quotation reads as its
author wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from app.search.embedding import find_model

# More of an article is not looked through.
MOST_PIECES = 30
# A quotation: a paragraph or two, or a list of a few steps.
LONG_ENOUGH_WORDS = 25
EARLY_BONUS = 0.08
MOST_WORDS = 130
# A code in the question, ``E401``: the piece that has it is meant, whatever else is near.
# The number of a record is none: ``INV-2026-00042`` has nothing in common with another invoice.
_CODE = re.compile(r"(?<![\w-])(?:[a-z]{1,10}\d\w{0,10}|\d{3})(?![\w-])")
CODE_BONUS = 0.3
_BEFORE_MARK = re.compile(r" ([:,])")
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_BLOCKS = frozenset(("p", "li", "pre", "blockquote", "dd", "dt", "tr", "figcaption", "summary"))


@dataclass
class Piece:
    """A paragraph, with the list that follows it; ``heading`` is that of its section."""

    heading: str
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All its words."""
        return " ".join(self.lines)


def pieces_of(html: str) -> list[Piece]:
    """The pieces of an article that was made by ``to_html``; without those that say nothing."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return [piece for piece in reader.pieces if piece.text][:MOST_PIECES]


def best_extract(question: str, title: str, html: str) -> list[str]:
    """The lines of the piece that fits a question best, and of the next where that is short."""
    pieces = pieces_of(html)
    if not pieces:
        return []
    values = _fitness(question, title, pieces)
    start = max(range(len(pieces)), key=lambda index: (values[index], -index))
    return list(_quoted(pieces, start))


def _quoted(pieces: Sequence[Piece], start: int) -> Iterator[str]:
    words = 0
    for piece in pieces[start:]:
        if words and (words >= LONG_ENOUGH_WORDS or piece.heading != pieces[start].heading):
            return
        for line in piece.lines:
            words += len(line.split())
            if words > MOST_WORDS and words > len(line.split()):
                return
            yield line


def _fitness(question: str, title: str, pieces: Sequence[Piece]) -> Any:
    model = find_model()
    if model is None:
        words = set(question.lower().split())
        return [len(words & set(piece.text.lower().split())) for piece in pieces]
    import numpy  # large, as the model

    texts = [". ".join(filter(None, (title, piece.heading, piece.text))) for piece in pieces]
    vectors = model.embed([question, *texts])
    lengths = numpy.array([len(piece.text.split()) for piece in pieces])
    # A piece of a few words is near everything that has the same title; and what an article is
    # for stands at its beginning, so that a later piece must fit clearly better.
    early = EARLY_BONUS * (1 - numpy.arange(len(pieces)) / len(pieces))
    codes = codes_of(question)
    coded = numpy.array([len(codes & codes_of(piece.text)) for piece in pieces])
    return vectors[1:] @ vectors[0] + early - 0.1 * (lengths < 8) + CODE_BONUS * coded


def codes_of(text: str) -> set[str]:
    """``E401 of an Aurora S40, INV-2026-00042`` -> ``{"e401", "s40"}``."""
    return set(_CODE.findall(text.lower()))


class _Reader(HTMLParser):
    """Collects pieces; the HTML was cleaned before, so that it is well formed enough."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[Piece] = []
        self._heading = ""
        self._text: list[str] = []
        self._kind = ""
        self._numbers: list[int | None] = []
        self._cells = 0
        self._is_header = False

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag in ("ol", "ul"):
            self._end()
            self._numbers.append(1 if tag == "ol" else None)
        elif tag in _HEADINGS or tag in _BLOCKS:
            if not (tag == "p" and self._kind in ("li", "blockquote")):
                self._end()
                self._kind = tag
                self._cells = 0
        elif tag in ("td", "th"):
            self._is_header = tag == "th"
            self._text.append(": " if self._cells == 1 else ", " if self._cells else "")
            self._cells += 1
        elif tag == "br":
            self._text.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag == "p" and self._kind in ("li", "blockquote"):
            self._text.append(" ")
        elif tag in ("ol", "ul"):
            self._end()
            if self._numbers:
                self._numbers.pop()
        elif tag in _HEADINGS or tag in _BLOCKS:
            self._end()

    def handle_data(self, data: str) -> None:
        self._text.append(data)

    def close(self) -> None:
        super().close()
        self._end()

    def _end(self) -> None:
        text = " ".join("".join(self._text).split())
        kind, self._kind = self._kind, ""
        self._text.clear()
        if not text:
            return
        if kind in _HEADINGS:
            self._heading = text
        elif kind == "li":
            self._add(f"{self._mark()} {text}", joined=True)
        elif kind == "tr":
            if not self._is_header:
                self._add("- " + _BEFORE_MARK.sub(r"\1", text), joined=True)
        else:
            self._add(text, joined=False)

    def _mark(self) -> str:
        number = self._numbers[-1] if self._numbers else None
        if number is None:
            return "-"
        self._numbers[-1] = number + 1
        return f"{number}."

    def _add(self, line: str, *, joined: bool) -> None:
        last = self.pieces[-1] if self.pieces else None
        if joined and last is not None and last.heading == self._heading:
            last.lines.append(line)
        else:
            self.pieces.append(Piece(self._heading, [line]))
