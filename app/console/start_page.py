"""The first page: how the company stands, in figures that are queries anybody can send."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from flask import Response

from app.console import engine
from app.console.area import console, page
from app.extensions import db
from app.permissions import scope_of
from app.security import current_caller
from app.settings import organisation
from app.settings.days import start_of, today
from app.types import iso_instant


@dataclass(frozen=True)
class Bar:
    """A bar of a chart: its share of the longest one in percent, and where it leads."""

    name: str
    value: Decimal
    percent: int
    link: str
    note: str = ""


@dataclass(frozen=True)
class Chart:
    """A chart with the query behind it."""

    title: str
    unit: str
    bars: Sequence[Bar]
    query: str


@dataclass(frozen=True)
class Figure:
    """A number that matters, and the list it counts."""

    name: str
    value: Decimal
    unit: str
    link: str


@console.get("/")
def start() -> Response:
    """Figures and charts of what the caller may read."""
    currency = organisation().defaults.currency
    db.session.rollback()  # nothing was written, and the page must not hold the writers' lock
    figures: list[Figure] = []
    charts: list[Chart] = []
    if _may("invoices"):
        figures += _receivables(currency)
        charts.append(_revenue(currency))
    if _may("opportunities"):
        charts.append(_pipeline(currency))
    if _may("tickets"):
        charts.append(_ages())
        charts.append(_counts("Tickets", "tickets", "status", "Open tickets", _OPEN_TICKETS))
    if _may("leads"):
        charts.append(_conversion())
        charts.append(_counts("Leads", "leads", "status", "Leads", None))
    return page("start.html", figures=figures, charts=charts)


_OPEN_TICKETS = "status ne 'Closed' and status ne 'Solved'"


def _may(resource: str) -> bool:
    return scope_of(current_caller(), f"{resource}:read") is not None


def _receivables(currency: str) -> list[Figure]:
    owed = f"currency eq '{currency}' and amountDue gt 0 and status ne 'Draft'"
    found = []
    for name, view, condition in (
        ("Receivables", "Unpaid", owed),
        ("Overdue", "Overdue", f"{owed} and isOverdue eq true"),
    ):
        rows = engine.read(
            "Invoices", apply=f"filter({condition})/aggregate(amountDue with sum as total)"
        ).rows
        total = engine.as_number(rows[0].get("total") if rows else 0)
        found.append(Figure(name, total, currency, f"invoices/?view={view}"))
    return found


def _revenue(currency: str) -> Chart:
    """Issued in each of the last twelve months, tax left out."""
    first = today().replace(day=1)
    months = [_back(first.year, first.month, steps) for steps in range(11, -1, -1)]
    year, month = months[0]
    apply = (
        f"filter(currency eq '{currency}' and status ne 'Draft' and status ne 'Void'"
        f" and type eq 'Invoice' and issueDate ge {year}-{month:02d}-01)"
        "/compute(year(issueDate) as year,month(issueDate) as month)"
        "/groupby((year,month),aggregate(subtotal with sum as total))"
    )
    rows = engine.read("Invoices", apply=apply).rows
    totals = {(row["year"], row["month"]): engine.as_number(row["total"]) for row in rows}
    bars = _bars(
        [
            (f"{m:02d}/{y % 100:02d}", totals.get((y, m), Decimal(0)),
             f"invoices/?month={y}-{m:02d}", "")
            for y, m in months
        ]
    )  # fmt: skip
    return Chart("Invoiced by month", currency, bars, engine.address("Invoices", apply=apply))


def _pipeline(currency: str) -> Chart:
    apply = (
        f"filter(status eq 'Open' and currency eq '{currency}')"
        "/groupby((stage),aggregate(amount with sum as total,$count as number))"
    )
    rows = {row["stage"]: row for row in engine.read("Opportunities", apply=apply).rows}
    stages = engine.container().sets["Opportunities"].type.properties["stage"].allowed or ()
    bars = _bars(
        [
            (stage, engine.as_number(rows.get(stage, {}).get("total")),
             f"opportunities/?state={stage}", f"{rows.get(stage, {}).get('number', 0)} open")
            for stage in stages
            if not stage.startswith("Closed")
        ]
    )  # fmt: skip
    return Chart("Pipeline by stage", currency, bars, engine.address("Opportunities", apply=apply))


# Name -> days since an open ticket was made, the one of today 0: from, to.
_AGES = (
    ("today", 0, 1), ("up to 3 days", 1, 3), ("up to a week", 3, 7), ("up to a month", 7, 30),
    ("longer", 30, None),
)  # fmt: skip


def _ages() -> Chart:
    """How long open tickets have been waiting."""
    day = today()
    values = []
    for name, begin, end in _AGES:
        condition = f"{_OPEN_TICKETS} and createdAt lt {_start(day, begin)}"
        if end is not None:
            condition += f" and createdAt ge {_start(day, end)}"
        count = engine.read("Tickets", filter=condition, count="true", top=0).body["@odata.count"]
        values.append((name, Decimal(count), "tickets/?view=Open&sort=createdAt", ""))
    query = engine.address("Tickets", filter=_OPEN_TICKETS, orderby="createdAt")
    return Chart("Open tickets by age", "", _bars(values), query)


def _start(day: date, days: int) -> str:
    """When the day after the one that lies so many days back begins."""
    return iso_instant(start_of(day - timedelta(days=days - 1)))


def _conversion() -> Chart:
    """Of the leads of each source, how many became clients; in percent."""
    apply = "groupby((source,status),aggregate($count as number))"
    made: Counter[str] = Counter()
    converted: Counter[str] = Counter()
    for row in engine.read("Leads", apply=apply).rows:
        source = row["source"] or "Unknown"
        made[source] += row["number"]
        if row["status"] == "Converted":
            converted[source] += row["number"]
    values = [
        (source, Decimal(converted[source] * 100 // count), "leads/?state=Converted",
         f"{converted[source]} of {count}")
        for source, count in made.most_common(8)
    ]  # fmt: skip
    query = engine.address("Leads", apply=apply)
    return Chart("Leads converted by source", "%", _bars(values), query)


def _counts(set_name: str, path: str, name: str, title: str, condition: str | None) -> Chart:
    start = f"filter({condition})/" if condition else ""
    apply = f"{start}groupby(({name}),aggregate($count as number))"
    rows = {row[name]: row["number"] for row in engine.read(set_name, apply=apply).rows}
    known: Sequence[Any] = engine.container().sets[set_name].type.properties[name].allowed or ()
    bars = _bars(
        [
            (state, Decimal(rows[state]), f"{path}/?state={state}", "")
            for state in known
            if state in rows
        ]
    )
    return Chart(title, "", bars, engine.address(set_name, apply=apply))


def _bars(values: Sequence[tuple[str, Decimal, str, str]]) -> list[Bar]:
    longest = max((value for _, value, _, _ in values), default=Decimal(0)) or Decimal(1)
    return [
        Bar(name, value, int(value * 100 / longest), link, note)
        for name, value, link, note in values
    ]


def _back(year: int, month: int, steps: int) -> tuple[int, int]:
    index = year * 12 + month - 1 - steps
    return index // 12, index % 12 + 1
