"""What an export writes: columns, rows that come page by page, sums, remarks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

from app.bi.query import Query, pages
from app.bi.reports.charting import Charting
from app.bi.reports.definition import Column, Report
from app.bi.reports.language import ReportLanguage
from app.bi.reports.totals import Totals
from app.db.engines import steady_read
from app.http.page_sizes import ODATA
from app.localisation.dates import happens_once

PAGE_ROWS = ODATA.largest
Progress = Callable[[int], None]


@dataclass
class ExportTable:
    """One export under way; ``sums`` and ``charted`` are filled while the rows pass.

    ``report`` has the words of ``language``; ``write_value`` makes what is written of a value of a
    column.
    """

    report: Report
    query: Query
    total: int
    most: int
    made_at: datetime
    parameters: dict[str, Any]
    progress: Progress = lambda done: None
    language: ReportLanguage = field(default_factory=ReportLanguage)
    write_value: Callable[[Column, Any], Any] = lambda column, value: value
    written: int = 0
    sums: Totals = field(init=False)
    charted: Charting = field(init=False)

    def __post_init__(self) -> None:
        self.sums = Totals(self.report)
        self.charted = Charting(self.report, self.language)

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.report.columns

    @property
    def is_truncated(self) -> bool:
        """Whether rows are left out; known before the first is written."""
        return self.total > self.most

    def remark(self) -> str | None:
        """What a reader has to know of rows that are missing."""
        if not self.is_truncated:
            return None
        return self.language.translated(
            "Truncated: the first %(most)s of %(total)s rows.",
            most=self.language.number(self.most), total=self.language.number(self.total),
        )  # fmt: skip

    def rows(self) -> Iterator[list[Any]]:
        """The values of each row in the order of the columns, all of one moment."""
        with steady_read() as connection:
            for page in pages(self.query, PAGE_ROWS, connection):
                for values in islice(page, max(0, self.most - self.written)):
                    row = self.report.row(values)
                    self.sums.add(row)
                    self.charted.add(row)
                    self.written += 1
                    yield [self.write_value(each, row.get(each.name)) for each in self.columns]
                self.progress(self.written)
                if self.written >= self.most:
                    return

    def currency_of(self, row: Sequence[Any]) -> str | None:
        """The currency of the amounts in a row, if one of the columns names it."""
        names = [column.name for column in self.columns]
        name = self.report.currency
        return row[names.index(name)] if name in names else None

    def total_rows(self) -> list[list[Any]]:
        """The sums, a row for each currency; none when rows are missing: they would be wrong."""
        if self.is_truncated:
            return []
        totals = []
        for sums in self.sums.rows():
            row: list[Any] = [sums.get(column.name) for column in self.columns]
            label = next((at for at, column in enumerate(self.columns) if not column.is_total
                          and column.name not in sums), None)  # fmt: skip
            if label is not None:
                row[label] = self.language.translated("Total")
            totals.append(row)
        return totals


def typed(column: Column, value: Any, zone: ZoneInfo) -> Any:
    """A value of JSON as Python's: dates and instants are such, the rest stays.

    An instant is the local time of ``zone``; a text with its offset where that happens twice.
    """
    if not isinstance(value, str):
        return value
    try:
        if column.type == "date":
            return date.fromisoformat(value)
        if column.type == "instant":
            moment = datetime.fromisoformat(value).astimezone(zone)
            local = moment.replace(tzinfo=None, fold=0)
            return local if happens_once(local, zone) else moment.isoformat()
    except ValueError:
        return value
    return value


def plain(value: Any) -> str:
    """A value as text: lists are joined."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "; ".join(plain(member) for member in value)
    return str(value)
