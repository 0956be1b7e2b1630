"""From the rows of a report to the bars or points of its chart.

A chart has a place for each value of its column ``x``, and shows each row once: places that only
look alike (two clients of one name) are told apart, rows that share a place (the rates of a month)
are added up where their column has a sum, and what does not fit is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from app.bi.charts import MOST_BARS, MOST_POINTS, Chart
from app.bi.query import Row
from app.bi.reports.definition import Column, Report
from app.bi.reports.language import ReportLanguage
from app.localisation.catalogue import marked

# Bars or points that are kept to choose from; a report with more of them is no picture.
MOST_KEPT = 5000
# Parts of a year: the same number comes back every year.
_PARTS = {"month": "{0}-{1:02d}", "quarter": "{0} Q{1}", "half": "{0} H{1}"}
# What tells records of one name apart, the first that a row has.
_NUMBERS = ("number", "code", "id")
_LATEST = marked("The latest; %(number)s earlier ones are not shown.")
_LARGEST = marked("The largest; %(number)s others are not shown.")
_LARGEST_OF_EACH = marked("The largest of each colour; %(number)s others are not shown.")
_OF_API = ReportLanguage()


@dataclass(frozen=True)
class Charted:
    """A chart with the rows that it shows, the text of each place in them; ``remark``: what not."""

    chart: Chart
    rows: list[Row]
    remark: str = ""


@dataclass
class _Bar:
    position: Any
    text: str
    series: Any
    value: Any


@dataclass
class Charting:
    """The bars of a chart, made while the rows of the report pass by."""

    report: Report
    language: ReportLanguage = _OF_API
    _bars: dict[Any, _Bar] = field(default_factory=dict)
    _missed: int = 0

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a row, as the report shows it."""
        chart = self.report.chart
        if chart is None:
            return
        row = self.language.row(self.report, row)
        position = _position(chart, row)
        series = self._series(chart, row)
        value = row.get(chart.y)
        key: Any = (position, series)
        known = self._bars.get(key)
        figure = self._figure(chart)
        is_summed = figure is not None and figure.is_total
        if known is not None and is_summed and _is_number(value):
            known.value = value if known.value is None else known.value + value
            return
        if len(self._bars) >= MOST_KEPT:
            self._missed += 1
            return
        if known is not None:  # a figure that has no sum: a bar of its own
            position = (*position, len(self._bars))
            key = (position, series)
        self._bars[key] = _Bar(position, _text(chart, row), series, value)

    def result(self, more: int = 0) -> Charted | None:
        """What the chart shows; None where there is no chart, or nothing to be shown.

        Args:
            more: rows of the report that it was not told.
        """
        chart = self.report.chart
        if chart is None or not self._bars:
            return None
        figure = self._figure(chart)
        label = chart.y if figure is None else figure.label
        texts = _unique_texts(self._bars.values())
        bars = self._bars_drawn(chart)
        left = len(self._bars) - len(bars) + self._missed + more
        chart = replace(chart, series=chart.series or self._currency(chart), y_label=label)
        if chart.type == "arc" and (left or len({bar.series for bar in bars}) > 1):
            chart = replace(chart, type="bar")  # slices of several currencies make no whole
        rows: list[Row] = []
        for bar in bars:
            row: Row = {chart.x: texts[bar.position], chart.y: bar.value}
            if chart.series:
                row[chart.series] = bar.series
            rows.append(row)
        return Charted(chart, rows, self._remark(chart, left))

    def _series(self, chart: Chart, row: Mapping[str, Any]) -> Any:
        """What the colour of a bar stands for; amounts of two currencies are never one bar."""
        own = row.get(chart.series) if chart.series else None
        currency = self._currency(chart)
        if currency is None:
            return own
        return f"{own}, {row.get(currency)}" if chart.series else row.get(currency)

    def _currency(self, chart: Chart) -> str | None:
        """The column with the currency of the figures, where the chart does not show it itself."""
        figure, currency = self._figure(chart), self.report.currency
        is_money = figure is not None and figure.type == "money" and figure.currency is None
        return currency if is_money and currency not in (chart.x, chart.series) else None

    def _figure(self, chart: Chart) -> Column | None:
        """The column that says how long the bars are."""
        return next((column for column in self.report.columns if column.name == chart.y), None)

    def _bars_drawn(self, chart: Chart) -> list[_Bar]:
        """More bars than that cannot be told apart, and take long to draw."""
        bars = list(self._bars.values())
        if chart.type == "line":
            return bars[-MOST_POINTS:]
        places = dict.fromkeys(bar.position for bar in bars)
        if len(places) <= MOST_BARS:
            return bars
        is_time = chart.x in _PARTS
        positions = set(list(places)[-MOST_BARS:]) if is_time else _largest_places(bars)
        return [bar for bar in bars if bar.position in positions]

    def _remark(self, chart: Chart, left: int) -> str:
        if not left:
            return ""
        if chart.type == "line" or chart.x in _PARTS:
            text = _LATEST
        else:
            text = _LARGEST_OF_EACH if chart.series else _LARGEST
        return self.language.translated(text, number=self.language.number(left))


def chart_of(
    report: Report, rows: Iterable[Row], language: ReportLanguage = _OF_API
) -> Charted | None:
    """The chart of a report over the rows of its query."""
    charting = Charting(report, language)
    for row in rows:
        charting.add(row)
    return charting.result()


def _position(chart: Chart, row: Mapping[str, Any]) -> tuple[Any, ...]:
    """What stands at one place of the axis: the value of ``x``, and what tells its like apart."""
    if chart.x in _PARTS:
        return (row.get("year"), row.get(chart.x))
    return (row.get(chart.x), _number_of(chart, row))


def _number_of(chart: Chart, row: Mapping[str, Any]) -> Any:
    """The number of the record whose name the axis shows; None where it shows no name."""
    navigation, is_related, name = chart.x.rpartition("/")
    if name not in ("name", "displayName", "title", "subject"):
        return None
    if is_related:
        return row.get(f"{navigation[:1].lower()}{navigation[1:]}Id")
    return next((row[name] for name in _NUMBERS if row.get(name) is not None), None)


def _text(chart: Chart, row: Mapping[str, Any]) -> str:
    value = row.get(chart.x)
    if chart.x in _PARTS and isinstance(value, int) and row.get("year") is not None:
        return _PARTS[chart.x].format(row["year"], value)
    return "(none)" if value is None else str(value)


def _unique_texts(bars: Iterable[_Bar]) -> dict[Any, str]:
    """Place -> its text; where two places would have one text, their numbers are added."""
    texts = {bar.position: bar.text for bar in bars}
    having: dict[str, int] = {}
    for text in texts.values():
        having[text] = having.get(text, 0) + 1
    return {
        position: text if having[text] == 1 else f"{text} ({position[-1]})"
        for position, text in texts.items()
    }


def _largest_places(bars: list[_Bar]) -> set[Any]:
    """The places with the largest bars of each series, so that every series is seen."""
    by_series: dict[Any, list[_Bar]] = {}
    for bar in bars:
        by_series.setdefault(bar.series, []).append(bar)
    share = max(1, MOST_BARS // len(by_series))
    positions: dict[Any, None] = {}
    for part in by_series.values():
        part.sort(key=lambda bar: bar.value if _is_number(bar.value) else 0, reverse=True)
        positions.update(dict.fromkeys(bar.position for bar in part[:share]))
    return set(list(positions)[:MOST_BARS])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)
