"""Sums of the columns of a report, by currency."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from app.bi.query import Row
from app.bi.reports.definition import Report


def totals(report: Report, rows: Iterable[Row]) -> list[Row]:
    """The sums of the columns that have one: a row for each currency."""
    sums = Totals(report)
    for row in rows:
        sums.add(row)
    return sums.rows()


class Totals:
    """Sums that grow as rows pass by; amounts of two currencies never meet."""

    def __init__(self, report: Report) -> None:
        self._currency = report.currency
        self._summed = [column.name for column in report.columns if column.is_total]
        self._sums: dict[str | None, dict[str, Any]] = {}

    def add(self, row: Mapping[str, Any]) -> None:
        if not self._summed:
            return
        key = row.get(self._currency) if self._currency else None
        sums = self._sums.setdefault(key, dict.fromkeys(self._summed, 0))
        for name in self._summed:
            value = row.get(name)
            if isinstance(value, int | Decimal):
                sums[name] += value

    def rows(self) -> list[Row]:
        """One row for each currency, in their order."""
        summed = []
        for key in sorted(self._sums, key=str):
            row: Row = {} if self._currency is None else {self._currency: key}
            summed.append({**row, **self._sums[key]})
        return summed
