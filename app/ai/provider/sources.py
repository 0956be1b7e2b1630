"""What the model was given to speak from: numbered sources, and every figure in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from app.ai.parts import Citation

_NUMBER = re.compile(r"(?<![\w.,])-?\d[\d.,' \u00a0\u202f]*\d(?!\w)|(?<![\w.,])-?\d(?![\w])")
# One to twelve count things that are in sight, or number the lines of a list.
SMALL = 12


class Sources:
    """The sources of one answer; their numbers begin at 1."""

    def __init__(self) -> None:
        self._citations: list[Citation] = []
        self._texts: list[str] = []
        self._figures: set[str] = set()

    def __len__(self) -> int:
        return len(self._citations)

    def add(self, citation: Citation, text: str) -> int:
        """The number of a source; the same one keeps its number, and has one more text.

        Args:
            text: what the model is given of it.
        """
        for index, known in enumerate(self._citations):
            if (known.type, known.id, known.url) == (citation.type, citation.id, citation.url):
                if text not in self._texts[index]:
                    self._texts[index] += f"\n{text}"
                return index + 1
        self._citations.append(citation)
        self._texts.append(f"{citation.title}\n{text}")
        return len(self._citations)

    def text_of(self, number: int) -> str:
        """What the model was given of a source, its title first."""
        return self._texts[number - 1]

    def find(self, number: int) -> Citation | None:
        """The source of a number; None for one that was never given."""
        return self._citations[number - 1] if 0 < number <= len(self._citations) else None

    def learn(self, text: str) -> None:
        """Take in the figures of a text that the model may repeat."""
        for written in _numbers(text):
            for reading in _readings(written):
                # Rounded figures count: 1234.50 EUR may be said as 1234, or as 1235.
                whole, dot, _ = reading.partition(".")
                self._figures |= {reading, whole}
                if dot and whole.isdigit():
                    self._figures.add(str(int(whole) + 1))

    def unknown_figures(self, text: str) -> list[str]:
        """Figures that the model said and nobody gave it, in their order."""
        figures = dict.fromkeys(_numbers(text))
        return [
            written
            for written in figures
            if not _is_small(written) and not _readings(written) & self._figures
        ]


def _numbers(text: str) -> Iterator[str]:
    for match in _NUMBER.finditer(text):
        yield match.group().strip(" .,'")


def _readings(written: str) -> set[str]:
    """A figure in one notation: ``1,234.50`` is ``1234.5``, and may be ``1.234,50`` elsewhere."""
    bare = re.sub(r"[ '\u00a0\u202f]", "", written).lstrip("-")
    readings = {bare.replace(",", ""), bare.replace(".", "").replace(",", ".")}
    values = set()
    for reading in readings:
        try:
            values.add(format(Decimal(reading).normalize(), "f"))
        except InvalidOperation:
            values.add(reading)  # a date, a version: as it is written
    return values


def _is_small(written: str) -> bool:
    return written.isdigit() and int(written) <= SMALL
