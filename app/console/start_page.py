"""The first page: what waits for the caller, and how the company stands, by queries to send."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from urllib.parse import urlencode

from flask import Response
from markupsafe import Markup
from sqlalchemy import ColumnElement, exists, select
from werkzeug.datastructures import MultiDict

from app.bi.periods.spans import add_months
from app.console import engine, session
from app.console.area import console, page, see_other
from app.console.columns import Column, cells
from app.console.filters import WHERE
from app.console.language import marked, translated
from app.console.list_query import read_query
from app.console.sets import page_of
from app.console.svg_charts import Axis, Bar, BarGroup, axis_of, share
from app.console.wording import amount, words
from app.container.engine import query_address
from app.container.measures import INVOICE, MEASURES, OWED, WRITTEN_OFF, Measure, converted, figures
from app.container.model import container
from app.db.engines import read_engine
from app.db.types import iso_instant
from app.http.security import current_caller, requires
from app.localisation.data_files import data_beside
from app.models.invoice import Invoice
from app.models.user import ApiKey, User
from app.models.webhook import WebhookEndpoint
from app.money import ZERO, rounded
from app.odata.model import edm
from app.permissions import allowed, scope_of
from app.settings import Organisation, Seller, change_settings, organisation
from app.settings.days import start_of, today


@dataclass(frozen=True)
class Chart:
    """A chart with the query behind it, what it counts, and what it could not convert."""

    title: str
    unit: str
    bars: Sequence[BarGroup]
    query: str
    means: str = ""
    apart: Mapping[str, Decimal] = field(default_factory=dict)  # currencies without a rate


@dataclass(frozen=True)
class Month:
    """A column of a chart over months: where it stands in the picture, of 100 by 40."""

    day: date
    value: Decimal
    top: float
    height: float
    link: str


@dataclass(frozen=True)
class Timeline:
    """A measure by month, on an axis of time, with the axis of its values."""

    title: str
    unit: str
    months: Sequence[Month]
    axis: Axis
    query: str
    means: str
    apart: Mapping[str, Decimal]


@dataclass(frozen=True)
class Before:
    """A figure in the same days of the month before, and the list it is of."""

    value: Decimal
    link: str
    first: date
    last: date


@dataclass(frozen=True)
class Figure:
    """A measure, the list it is of, and its amounts in currencies without an exchange rate.

    ``unit`` is the currency of an amount, empty for a number of records.
    """

    measure: Measure
    value: Decimal
    unit: str
    link: str
    apart: Mapping[str, Decimal]
    before: Before | None = None

    @property
    def is_standing(self) -> bool:
        """Whether it is how things stand, and not of a period."""
        return self.before is None


@console.get("/")
def start() -> Response:
    """First steps, what waits, and figures and charts of what the caller may read."""
    settings = organisation()
    currency = settings.defaults.currency
    figures_shown: list[Figure] = []
    charts: list[Chart] = []
    revenue = None
    if _may("invoices"):
        figures_shown += _receivables(currency)
        revenue = _revenue(currency)
    for name in _THIS_MONTH:
        home = container().set_of_type[MEASURES[name].of]
        if _may(home.type.resource):
            figures_shown.append(_this_month(MEASURES[name], home, currency))
    if _may("opportunities"):
        charts.append(_pipeline(currency))
    if _may("tickets"):
        charts.append(_ages())
        charts.append(
            _counts("Tickets", "tickets", "status", translated("Open tickets"), _OPEN_TICKETS)
        )
    if _may("leads"):
        charts.append(_conversion())
        charts.append(_counts("Leads", "leads", "status", translated("Leads"), None))
    return page(
        "start.html",
        first_steps=first_steps(settings),
        waiting=list(mine_and_due()),
        figures=figures_shown,
        revenue=revenue,
        charts=charts,
    )


# What is compared with the same days of the month before.
_THIS_MONTH = ("Revenue", "Won", "NewClients", "NewLeads")
_OPEN_TICKETS = MEASURES["OpenTickets"].condition


def _may(resource: str | None) -> bool:
    return scope_of(current_caller(), f"{resource}:read") is not None


def _receivables(currency: str) -> list[Figure]:
    """What is owed, what of it is late, and what was given up where there is any."""
    figures_owed = []
    views = {"Receivables": "Unpaid", "Overdue": "Overdue", "WrittenOff": None}
    first, *more = measures = [MEASURES[name] for name in views]
    where = f"{INVOICE} and ({OWED} or {WRITTEN_OFF})"
    rows = engine.read("Invoices", apply=converted(first, where, more=more)).rows
    for measure in measures:
        result, view = figures(measure, rows), views[measure.name]
        total = rounded(result.rows[0][measure.base_name], currency)
        link = f"invoices/?view={view}" if view else "invoices/?state=Uncollectible"
        if view or total or result.apart:
            figures_owed.append(Figure(measure, total, currency, link, result.apart))
    return figures_owed


def _this_month(measure: Measure, home: edm.EntitySet, currency: str) -> Figure:
    """A figure of this month up to today, with that of as many days of the month before."""
    last = today()
    first = last.replace(day=1)
    first_before = add_months(first, -1)
    last_before = min(first_before + timedelta(days=last.day - 1), first - timedelta(days=1))
    periods = ((first, last), (first_before, last_before))
    is_day = home.type.properties[measure.date].type == edm.DATE
    path, unit = home.name.lower(), ""
    apart: Mapping[str, Decimal] = {}
    within = [
        f"{measure.date} ge {_bound(begin, is_day)}"
        f" and {measure.date} lt {_bound(end + timedelta(days=1), is_day)}"
        for begin, end in periods
    ]
    if measure.is_money:
        where = " or ".join(f"({each})" for each in within)
        computed = f"{measure.date} ge {_bound(first, is_day)} as isNow"
        apply = converted(measure, where, "isNow", computed)
        result = figures(measure, engine.read(home.name, apply=apply).rows)
        values = {row["isNow"]: Decimal(str(row[measure.base_name])) for row in result.rows}
        now, before = (rounded(values.get(is_now, ZERO), currency) for is_now in (True, False))
        unit, apart = currency, result.apart
    else:  # two counts read an index, groups would read each record
        counts = (
            engine.read(f"{home.name}/$count", filter=" and ".join((*measure.where, each))).body
            for each in within
        )
        now, before = map(Decimal, counts)
    link, link_before = (f"{path}/?{urlencode(_listed(measure, *each))}" for each in periods)
    return Figure(
        measure, now, unit, link, apart, Before(before, link_before, first_before, last_before)
    )


def _listed(measure: Measure, first: date, last: date) -> list[tuple[str, str]]:
    """The address of the records that a figure is of, below their list."""
    conditions = [(WHERE, f"{measure.date}:from:{first}"), (WHERE, f"{measure.date}:until:{last}")]
    if measure.name == "Won":
        conditions.append(("state", "ClosedWon"))
    return conditions


def _bound(day: date, is_day: bool) -> str:
    """When a day begins, as a literal of a day or of an instant."""
    return day.isoformat() if is_day else iso_instant(start_of(day))


def _revenue(currency: str) -> Timeline:
    """Net revenue of each of the last twelve months, by one query."""
    measure = MEASURES["Revenue"]
    days = [add_months(today().replace(day=1), -steps) for steps in range(11, -1, -1)]
    apply = converted(
        measure, f"{measure.date} ge {days[0]}", "year,month",
        f"year({measure.date}) as year,month({measure.date}) as month",
    )  # fmt: skip
    result = figures(measure, engine.read("Invoices", apply=apply).rows)
    totals = {(row["year"], row["month"]): row[measure.base_name] for row in result.rows}
    values = [rounded(totals.get((day.year, day.month), ZERO), currency) for day in days]
    axis = axis_of(values)
    zero = axis.offset(ZERO)
    return Timeline(
        translated("%(label)s by month", label=translated(measure.label)),
        currency,
        [
            Month(
                day,
                value,
                min(axis.offset(value), zero),
                round(abs(axis.offset(value) - zero), 2),
                f"invoices/?where={measure.date}:in:{day}",
            )
            for day, value in zip(days, values, strict=True)
        ],
        axis,
        query_address("Invoices", {"apply": apply}),
        translated(measure.description),
        result.apart,
    )


def _pipeline(currency: str) -> Chart:
    measure = MEASURES["Pipeline"]
    apply = converted(measure, measure.condition, "stage", beside="$count as number")
    result = figures(measure, engine.read("Opportunities", apply=apply).rows)
    rows = {row["stage"]: row for row in result.rows}
    stages = container().sets["Opportunities"].type.properties["stage"].allowed or ()
    bars = _bars(
        [
            (
                stage,
                rounded(rows[stage][measure.base_name] if stage in rows else ZERO, currency),
                f"opportunities/?state={stage}",
                translated("%(number)s open", number=rows.get(stage, {}).get("number", 0)),
            )
            for stage in stages
            if rows and not stage.startswith("Closed")
        ],
        currency,
    )
    title = translated("%(label)s by stage", label=translated(measure.label))
    query = query_address("Opportunities", {"apply": apply})
    return Chart(title, currency, bars, query, translated(measure.description), result.apart)


# Name -> days since an open ticket was made from which it is of that age, the one of today 0.
_AGES = (
    (marked("today"), 0),
    (marked("up to 3 days"), 1),
    (marked("up to a week"), 3),
    (marked("up to a month"), 7),
    (marked("longer"), 30),
)


def _ages() -> Chart:
    """How long open tickets have been waiting, by one query."""
    day = today()
    names = [f"from{begin}" for _, begin in _AGES]
    since = ",".join(
        f"createdAt lt {iso_instant(start_of(day - timedelta(days=begin - 1)))} as {name}"
        for name, (_, begin) in zip(names, _AGES, strict=True)
    )
    apply = (
        f"filter({_OPEN_TICKETS})/compute({since})"
        f"/groupby(({','.join(names)}),aggregate($count as number))"
    )
    # A ticket is of the last age that it has reached.
    counts = dict.fromkeys(names, 0)
    for row in engine.read("Tickets", apply=apply).rows:
        reached = [name for name in names if row[name]]
        if reached:
            counts[reached[-1]] += row["number"]
    values = [
        (age, Decimal(counts[name]), "tickets/?view=Open&sort=createdAt", "")
        for name, (age, _) in zip(names, _AGES, strict=True)
        if any(counts.values())
    ]
    query = query_address("Tickets", {"apply": apply})
    return Chart(translated("Open tickets by age"), "", _bars(values), query)


def _conversion() -> Chart:
    """Of the leads of each source, how many became clients; in percent."""
    apply = "groupby((source),aggregate(NewLeads,ConvertedLeads))"
    rows = sorted(engine.read("Leads", apply=apply).rows, key=lambda row: -row["NewLeads"])
    values = [
        (
            row["source"] or marked("Unknown"),
            (Decimal(row["ConvertedLeads"] * 100) / row["NewLeads"]).quantize(1, ROUND_HALF_UP),
            "leads/?state=Converted",
            translated("%(done)s of %(total)s", done=row["ConvertedLeads"], total=row["NewLeads"]),
        )
        for row in rows[:8]
    ]
    query = query_address("Leads", {"apply": apply})
    return Chart(translated("Leads converted by source"), "%", _bars(values), query)


def _counts(set_name: str, path: str, name: str, title: str, condition: str | None) -> Chart:
    start = f"filter({condition})/" if condition else ""
    apply = f"{start}groupby(({name}),aggregate($count as number))"
    rows = {row[name]: row["number"] for row in engine.read(set_name, apply=apply).rows}
    states: Sequence[Any] = container().sets[set_name].type.properties[name].allowed or ()
    values = [
        (state, Decimal(rows[state]), f"{path}/?state={state}", "")
        for state in states
        if state in rows
    ]
    return Chart(title, "", _bars(values), query_address(set_name, {"apply": apply}))


def _bars(
    values: Sequence[tuple[str, Decimal, str, str]], currency: str | None = None
) -> list[BarGroup]:
    """A bar for each (name, value, link, note)."""
    numbers = [value for _, value, _, _ in values]
    return [
        BarGroup(words(name), [Bar(0, share(value, numbers), amount(value, currency), note)], link)
        for name, value, link, note in values
    ]


# --- what waits for the caller: own tasks, tickets and deals, and tickets that nobody has

SHOWN = 5
# Days ahead in which what is due is shown.
AHEAD = 7


@dataclass(frozen=True)
class Waiting:
    """Records that wait; ``link`` is the list of all ``total`` of them, below the console."""

    title: str
    total: int
    link: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Markup | str]]


def mine_and_due() -> Iterator[Waiting]:
    """The lists that have something for the caller, what is due first at the top."""
    until = (today() + timedelta(days=AHEAD)).isoformat()
    for path, right, title, columns, address in (
        (
            "tasks", "read", marked("My tasks that are due"), "title,dueAt",
            [("view", "Mine"), ("sort", "dueAt"), (WHERE, f"dueAt:until:{until}")],
        ),
        (
            "tickets", "read", marked("My open tickets"), "subject,resolutionDueAt",
            [("view", "Mine"), ("sort", "resolutionDueAt")],
        ),
        (
            "tickets", "update", marked("Unassigned open tickets"), "subject,resolutionDueAt",
            [("view", "Unassigned"), ("sort", "resolutionDueAt")],
        ),
        (
            "opportunities", "read", marked("My deals without a next step"), "name,amount",
            [("view", "Mine"), ("sort", "closeDate"), (WHERE, "nextStep:empty")],
        ),
    ):  # fmt: skip
        set_page = page_of(path)
        if not allowed(current_caller(), f"{set_page.entity_set.type.resource}:{right}"):
            continue
        query = read_query(set_page, MultiDict([*address, ("columns", columns)]))
        result = engine.read(set_page.set_name, count="true", top=SHOWN, **query.options())
        if result.rows:
            yield Waiting(
                translated(title),
                int(result.body["@odata.count"]),
                f"{path}/?{urlencode(address)}",
                query.columns,
                cells(set_page, query.columns, result.rows),
            )


# --- first steps of an organisation: seen from what is there, until all are done or closed

_GROUP = "console"
# What makes the list whole, and may close it.
_RIGHT = "settings:update"


@dataclass(frozen=True)
class FirstStep:
    """Something to begin with: what it is for, where it is done and by whom, and whether it is."""

    title: str
    why: str
    link: str
    right: str
    is_done: bool = False


FIRST_STEPS: Mapping[str, FirstStep] = {
    name: FirstStep(**declared)
    for name, declared in data_beside(__file__, "first_steps.toml").items()
}


def first_steps(settings: Organisation) -> Sequence[FirstStep]:
    """What the caller may do of them; empty where they are closed, or all done."""
    caller = current_caller()
    if not settings.console.first_steps or not allowed(caller, _RIGHT):
        return ()
    done = _done(settings)
    steps = [
        replace(step, is_done=done[name])
        for name, step in FIRST_STEPS.items()
        if allowed(caller, step.right)
    ]
    return () if all(step.is_done for step in steps) else steps


def _done(settings: Organisation) -> dict[str, bool]:
    seller = settings.seller
    there: dict[str, ColumnElement[bool]] = {
        # The second, beside the account that came with the product.
        "users": exists(
            select(User.id).where(User.kind == "person", User.status == "active").offset(1).limit(1)
        ),
        "invoice": exists(select(Invoice.id).where(Invoice.number.is_not(None))),
        "key": exists(select(ApiKey.id).where(ApiKey.revoked_at.is_(None))),
        "webhook": exists(select(WebhookEndpoint.id)),
    }
    statement = select(*(counts.label(name) for name, counts in there.items()))
    with read_engine().connect() as connection:
        counts = connection.execute(statement).mappings().one()
    return {
        "seller": seller.name != Seller().name
        and all((seller.street, seller.city, seller.country))
        and any((seller.tax_id, seller.registration_number)),
        "logo": settings.logo.sha256 is not None,
        "bank": settings.bank.iban is not None,
        **{name: bool(value) for name, value in counts.items()},
    }


@console.post("/first-steps")
@requires(_RIGHT)
def close_first_steps() -> Response:
    """Leave the list out of the first page, for everybody."""
    change_settings(_GROUP, {"firstSteps": False})
    message = translated("The first steps are closed. Organisation, Console shows them again.")
    return see_other(f"{session.ROOT}/", message)
