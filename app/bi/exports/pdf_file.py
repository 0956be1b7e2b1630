"""PDF: the table on as many pages as it needs, its head on each, with the chart before it.

Letters are those of the invoices: every script shaped and embedded, right-to-left ones too. What
draws is as heavy as theirs, and is a process beside this one as well (docs/adr/0007).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from app import money
from app.bi.chart_pictures import draw
from app.bi.charts import vega_lite
from app.bi.exports.printed import MOST_SECONDS, Printed
from app.bi.exports.table import ExportTable, plain
from app.bi.query import run
from app.bi.reports.charting import chart_of
from app.bi.reports.definition import Column
from app.bi.reports.language import ReportLanguage
from app.errors import ServiceUnavailableError
from app.http.page_sizes import REPORT
from app.jobs.processes import ChildProcess
from app.settings import organisation
from app.settings.days import day_of

LONGEST = 400  # letters of a cell that are looked at
_OF_API = ReportLanguage()
_NUMBERS = ("integer", "number", "money", "percent")
# A chart as wide as a page lies, in the form of the room above the table.
ACROSS = {"width": 1080, "height": 300}
# Not that of the invoices: nobody waits for one while a report of many pages is drawn.
beside = ChildProcess(seconds=MOST_SECONDS)


def write_pdf(table: ExportTable, path: Path) -> None:
    """Write the export, page after page.

    Raises: ServiceUnavailableError, as app/jobs/processes.py does.
    """
    columns = table.columns
    rows = [_texts(table, row) for row in table.rows()]
    totals = [_texts(table, row) for row in table.total_rows()]
    owner = organisation()
    language = table.language
    parameters = ", ".join(f"{name}: {value}" for name, value in table.parameters.items())
    as_of = language.translated("As of %(made_at)s", made_at=language.moment(table.made_at))
    note = f"{as_of}. {language.translated_count('%(num)s row', '%(num)s rows', len(rows))}."
    printed = Printed(
        name=table.report.name,
        note=f"{parameters}. {note}" if parameters else note,
        labels=tuple(column.label for column in columns),
        numbers=tuple(column.type in _NUMBERS for column in columns),
        rows=tuple(rows),
        totals=tuple(totals),
        remark=table.remark(),
        chart=_chart(table),
        author=owner.seller.name,
        language=language.code,
        day=day_of(table.made_at),
        subject=language.translated("Report"),
        empty=language.translated("There are no rows."),
        page=language.translated("Page %(number)s"),
    )
    answer = beside.call("app.bi.exports.pdf_pages:render", printed)
    assert isinstance(answer, bytes)
    path.write_bytes(answer)


def _chart(table: ExportTable) -> bytes | None:
    """The chart as a PNG; a report whose chart cannot be drawn now comes without."""
    if table.report.chart is None:
        return None
    charted = chart_of(table.report, run(table.query, REPORT.largest).rows, table.language)
    if charted is None:
        return None
    signs = table.language.signs
    spec = vega_lite(charted.chart, charted.rows, remark=charted.remark, signs=signs)
    if charted.chart.type != "arc":
        spec |= ACROSS
    try:
        return draw(spec, "png")
    except ServiceUnavailableError:
        return None


def _texts(table: ExportTable, row: Sequence[Any]) -> list[str]:
    currency = table.currency_of(row)
    return [
        printed_text(column, value, currency, table.language)
        for column, value in zip(table.columns, row, strict=True)
    ]


def printed_text(
    column: Column, value: Any, currency: str | None = None, language: ReportLanguage = _OF_API
) -> str:
    """A value as it is printed, money with the decimals of its currency."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | Decimal):
        if column.type == "money":
            return language.number(money.rounded(Decimal(value), currency or ""), ",f")
        if column.type == "percent":
            return language.number(value, ",.1f")
        return str(value) if column.type == "integer" else language.number(value)
    text = " ".join(plain(value)[:LONGEST].split())
    return text[:16].replace("T", " ") if column.type == "instant" and language.is_of_api else text
