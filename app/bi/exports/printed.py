"""What the process beside is given of a report that it draws as a PDF: texts only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

# Ten thousand rows of ten columns take one minute of a busy machine.
MOST_SECONDS = 600.0


@dataclass(frozen=True, kw_only=True)
class Printed:
    """A table of texts; ``numbers`` tells which columns stand to the right, ``chart`` is a PNG.

    ``empty`` is said where there are no rows, ``page`` at the foot with its ``number``.
    """

    name: str
    note: str
    labels: tuple[str, ...]
    numbers: tuple[bool, ...]
    rows: tuple[Sequence[str], ...]
    totals: tuple[Sequence[str], ...]
    remark: str | None
    chart: bytes | None
    author: str
    language: str
    day: date
    subject: str
    empty: str
    page: str
