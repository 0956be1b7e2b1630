"""A plan made an OData query."""

from __future__ import annotations

from app.bi.periods.spans import CYCLES, clock_shifts, duration
from app.bi.plans.columns import (
    Column,
    Compiled,
    exact,
    group_name,
    plural,
    rounded,
    rounded_apart,
)
from app.bi.plans.figuring import Figuring
from app.bi.plans.filtering import condition_text
from app.bi.plans.listing import listed
from app.bi.plans.plan import Plan
from app.bi.query import Query
from app.money import USUAL_DIGITS, digits


def compiled(plan: Plan) -> Compiled:
    """The query of a plan."""
    return listed(plan) if plan.kind == "list" else _Grouping(plan).compiled()


class _Grouping(Figuring):
    """Groups and figures as ``$apply``."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.clock: list[str] = []  # computed first
        self.keys: list[str] = []
        self.columns: list[Column] = []
        self.orders: list[str] = []

    def compiled(self) -> Compiled:
        plan = self.plan
        self._groups()
        currency = self._currency()
        self._figures()
        steps = [f"join({plan.entity.join})"] if plan.entity.join else []
        where = condition_text(plan)
        if plan.kind == "mean":
            where = " and ".join(
                [
                    *([f"({where})"] if where else []),
                    *(f"{k} ne null" for k in self.keys if k not in (*self.orders, currency)),
                ]
            )
        known = self._known()
        if known:
            where = " and ".join([*([f"({where})" if " or " in where else where] if where else []),
                                  *known])  # fmt: skip
        if where:
            steps.append(f"filter({where})")
        if self.clock:
            steps.append(f"compute({','.join(self.clock)})")
        if self.computed:
            steps.append(f"compute({','.join(self.computed)})")
        inner = f"aggregate({','.join(self.aggregates)})"
        steps.append(f"groupby(({','.join(self.keys)}),{inner})" if self.keys else inner)
        if self.rounded and plan.kind != "mean":
            steps.append(
                f"compute({','.join(self._rounded(name, currency) for name in self.rounded)})"
            )
        steps += self.after
        if plan.threshold is not None:
            main = self._compared_by
            steps.append(f"filter({main} {plan.threshold.operator} {plan.threshold.number})")
        if plan.is_counted:
            return self._counted(steps)
        if plan.is_within:
            steps += self._first_of_each()
        if plan.kind == "mean":
            self.columns = [column for column in self.columns if column.name == currency]
        options = {"apply": "/".join(steps)}
        order = self._order()
        if order:
            options["orderby"] = ",".join(order)
        if plan.limit is not None and plan.kind != "mean" and not plan.is_within:
            options["top"] = str(plan.limit)
        figures = sorted(
            self.figures, key=lambda figure: plan.own is not None and figure.name == "worth"
        )
        columns = (*self.columns, *figures)
        if self.rounded:
            keys = [*filter(None, [currency])] if plan.kind == "mean" else self.keys
            options["select"] = ",".join([*keys, *(figure.name for figure in self.figures)])
        names = tuple(column.name for column in self.figures)
        return Compiled(Query(plan.entity.set, options), columns, names, currency)

    def _rounded(self, name: str, currency: str | None) -> str:
        """A figure with the decimals of its currency, at least two."""
        figure = next((column for column in self.figures if column.name == name), None)
        if figure is None or figure.type != "money":
            return rounded(name)
        if figure.currency is not None:
            return rounded(name, max(USUAL_DIGITS, digits(figure.currency)))
        return rounded_apart(name, currency) if currency else rounded(name)

    def _counted(self, steps: list[str]) -> Compiled:
        """How many of the groups there are."""
        label = self.plan.dimensions[0].label
        options = {"apply": "/".join([*steps, "aggregate($count as count)"])}
        say = self.plan.say
        many = say("Number of {many}", many=say.named(plural(label)))
        counted = Column("count", many, "number")
        return Compiled(Query(self.plan.entity.set, options), (counted,), ("count",), None)

    @property
    def _main(self) -> str:
        """The figure that groups are ranked and chosen by."""
        return "percent" if self.plan.kind == "share" else self.figures[0].name

    @property
    def _compared_by(self) -> str:
        """The same before it is rounded."""
        return exact(self._main) if self._main in self.rounded else self._main

    def _known(self) -> list[str]:
        """What has no name has no place in a ranking, and among groups that are chosen."""
        plan, entity = self.plan, self.plan.entity
        if plan.ranked is None and plan.threshold is None:
            return []
        if plan.is_within or plan.kind == "mean":
            return []
        paths = [dimension.key or dimension.path for dimension in plan.dimensions]
        props = {path: entity.prop(path) for path in paths if entity.join is None}
        return [f"{path} ne null" for path, prop in props.items() if prop and prop.nullable]

    def _first_of_each(self) -> list[str]:
        """The first groups within each of the outer ones; what has no figure has no place."""
        plan = self.plan
        outer = [*self.orders] if plan.within_grain else []
        for dimension in plan.within:
            outer += [dimension.key] if dimension.key and dimension.key in self.keys else []
            outer.append(group_name(dimension))
        outer += [plan.money] if plan.money else []
        kind = "topcount" if plan.ranked == "desc" else "bottomcount"
        main = self._compared_by
        keys = ",".join(dict.fromkeys(outer))
        known = [] if plan.kind == "count" else [f"filter({main} ne null)"]
        return [*known, f"groupby(({keys}),{kind}({plan.limit},{main}))"]

    def _groups(self) -> None:
        plan = self.plan
        if plan.grain is not None:
            self._grain(plan.grain)
        for dimension in plan.dimensions:
            if dimension.key and dimension.key != dimension.path and plan.kind != "mean":
                self.keys.append(dimension.key)
            path = dimension.path
            if path.count("/") > 1 or path.startswith("case("):
                alias = group_name(dimension)
                self.computed.append(f"{path} as {alias}")
                path = alias
            if plan.kind == "mean":
                path = dimension.key or path
            self.keys.append(path)
            self.columns.append(Column(path, plan.say.capital(dimension.label), "text"))

    def _grain(self, grain: str) -> None:
        date = self._local(self.plan.date or self.plan.entity.date)
        if grain == "day":
            path = date
            if not self._is_day(date):
                self.computed.append(f"date({date}) as day")
                path = "day"
            self._time(path, "Day", "date")
            return
        if grain == "week":
            first = "1970-01-05" if self._is_day(date) else "1970-01-05T00:00:00Z"
            weeks = f"floor(totalseconds({date} sub {first}) div 604800)"
            self.computed.append(f"1970-01-05 add duration'P7D' mul {weeks} as week")
            self._time("week", "Week", "date")
            return
        if grain in CYCLES:
            self._cycle(grain, date)
            return
        if self.plan.compared is None or grain == "year":  # else May stands beside May
            self.computed.append(f"year({date}) as year")
            self._time("year", "Year", "number")
        parts = {"month": f"month({date})", "quarter": f"(month({date}) add 2) div 3",
                 "half": f"(month({date}) add 5) div 6"}  # fmt: skip
        if grain in parts:
            self.computed.append(f"{parts[grain]} as {grain}")
            self._time(grain, grain.capitalize(), "number")

    def _cycle(self, grain: str, date: str) -> None:
        """Days of the week (1 is Monday), hours of the day, months whatever their year."""
        monday = "1970-01-05" if self._is_day(date) else "1970-01-05T00:00:00Z"
        day = f"floor(totalseconds({date} sub {monday}) div 86400)"
        text = {"weekday": f"{day} mod 7 add 1", "hour": f"hour({date})",
                "season": f"month({date})"}[grain]  # fmt: skip
        self.computed.append(f"{text} as {grain}")
        self._time(grain, {"season": "Month of the year"}.get(grain, grain.capitalize()), "number")

    def _is_day(self, path: str) -> bool:
        return path != "local" and self.plan.entity.is_date(path)

    def _local(self, path: str) -> str:
        """The date of a record as the clocks of the organisation show it (docs/adr/0016)."""
        plan = self.plan
        if plan.entity.is_date(path) or plan.zone == "UTC" or plan.today is None:
            return path
        bounds = [period for period in (plan.period, plan.compared) if period is not None]
        starts, ends = [period.start for period in bounds], [period.end for period in bounds]
        first = None if not bounds or None in starts else min(d for d in starts if d)
        last = None if not bounds or None in ends else max(d for d in ends if d)
        shifts = clock_shifts(plan.zone, plan.today, first, last)
        moved = [f"{path} {duration(shift.minutes)}" for shift in shifts]
        if len(shifts) == 1:
            text = moved[0]
        else:
            cases = [f"{path} lt {shift.until}:{text}"
                     for shift, text in zip(shifts[:-1], moved[:-1], strict=True)]  # fmt: skip
            text = f"case({','.join(cases)},true:{moved[-1]})"
        self.clock.append(f"{text} as local")
        return "local"

    def _time(self, name: str, label: str, type_: str) -> None:
        self.keys.append(name)
        self.columns.append(Column(name, self.plan.say.capital(label), type_))
        self.orders.append(name)

    def _currency(self) -> str | None:
        money = self.plan.money if self.plan.own is None else self.plan.own.money
        if money is None:
            return None
        if money not in self.keys:
            self.keys.append(money)
            self.columns.append(Column(money, self.plan.say.named("Currency"), "text"))
        return money

    def _order(self) -> list[str]:
        plan = self.plan
        main = self._main
        if plan.kind == "mean" or not self.keys:
            return []
        if plan.is_within:
            outer = [group_name(dimension) for dimension in plan.within]
            money = [plan.money] if plan.money else []
            first = [
                *self.orders,
                *outer,
                *money,
                main + (" desc" if plan.ranked == "desc" else ""),
            ]
            return [*first, *[key for key in self.keys if key not in first]]
        if plan.ranked is not None:
            ranked = main if plan.ranked == "asc" else f"{main} desc"
            shown_names = [column.name for column in self.columns]
            return [ranked, *shown_names, *[key for key in self.keys if key not in shown_names]]
        if plan.sort is not None:
            currency = [plan.money] if plan.money else []
            return [*currency, main if plan.sort == "asc" else f"{main} desc", *self.orders]
        if self.orders:
            return [*self.orders, *[key for key in self.keys if key not in self.orders]]
        currencies = [plan.money] if plan.money else []
        return [*[currency for currency in currencies if currency], f"{main} desc"]
