"""A plan made an OData query."""

from __future__ import annotations

from dataclasses import replace

from app.bi.periods.spans import CYCLES, clock_shifts, duration
from app.bi.plans.columns import (
    Column,
    Compiled,
    exact,
    group_name,
    measure_label,
    measure_type,
    rounded,
    rounded_apart,
)
from app.bi.plans.entities import Measure
from app.bi.plans.filtering import all_of, condition_text, span, steps_of
from app.bi.plans.listing import listed
from app.bi.plans.plan import Figure, Plan
from app.bi.query import Query
from app.bi.words.speech import capital
from app.container.model import NAMESPACE
from app.money import USUAL_DIGITS, digits

# Methods of ours (docs/odata.md): OData asks for them by their qualified names.
OWN_METHODS = frozenset(("median", *(f"percentile{percent}" for percent in range(1, 100))))


def compiled(plan: Plan) -> Compiled:
    """The query of a plan."""
    return listed(plan) if plan.kind == "list" else _Grouping(plan).compiled()


class _Grouping:
    """Groups and figures as ``$apply``."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.computed: list[str] = []
        self.aggregates: list[str] = []
        self.after: list[str] = []
        self.rounded: list[str] = []  # averages, by the name of the figure
        self.figures: list[Column] = []
        self.clock: list[str] = []  # computed first
        self.keys: list[str] = []
        self.columns: list[Column] = []
        self.orders: list[str] = []

    def compiled(self) -> Compiled:
        plan = self.plan
        self._groups()
        currency = self._currency()
        self._figures()
        named = [key for key in self.keys if key not in (*self.orders, currency)]
        known = [f"{key} ne null" for key in named] if plan.kind == "mean" else self._known()
        where = all_of([condition_text(plan), *known])
        steps = steps_of(plan.entity, where, self.clock, self.computed)
        inner = f"aggregate({','.join(self.aggregates)})"
        steps.append(f"groupby(({','.join(self.keys)}),{inner})" if self.keys else inner)
        if self.rounded and plan.kind != "mean":
            steps.append(
                f"compute({','.join(self._rounded(name, currency) for name in self.rounded)})"
            )
        steps += self.after
        if plan.threshold is not None:
            main = self._compared_by
            steps.append(f"filter({main} {plan.threshold.sign} {plan.threshold.number})")
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
        if plan.kind == "mean" or not self.keys:
            return []
        main, money = self._main, [plan.money] if plan.money else []
        if plan.is_within:
            outer = [group_name(dimension) for dimension in plan.within]
            ranked = f"{main} desc" if plan.ranked == "desc" else main
            first = [*self.orders, *outer, *money, ranked]
            return [*first, *[key for key in self.keys if key not in first]]
        if plan.ranked is not None:
            ranked = main if plan.ranked == "asc" else f"{main} desc"
            shown_names = [column.name for column in self.columns]
            return [ranked, *shown_names, *[key for key in self.keys if key not in shown_names]]
        if plan.sort is not None:
            return [*money, main if plan.sort == "asc" else f"{main} desc", *self.orders]
        if self.orders:
            return [*self.orders, *[key for key in self.keys if key not in self.orders]]
        return [*money, f"{main} desc"]

    # --- figures: counts, sums, averages, shares, comparisons

    def _figures(self) -> None:
        plan = self.plan
        if plan.compared is not None:
            self._compared()
        elif plan.kind == "share":
            self._share()
        elif plan.kind == "distinct":
            self._distinct()
        elif plan.kind == "measure":
            assert plan.measure is not None
            self._measured(plan.measure, "value", "worth" if plan.measure.worth else "amount")
            if plan.own is not None:
                self._measured(plan.own, "own", "amount")
        elif plan.kind == "mean":
            self._mean()
        else:
            self.aggregates.append("$count as count")
            self._figure("count", plan.number_of, "number")
        for at, figure in enumerate(plan.figures, start=2):
            self._one_more(figure, at)

    def _one_more(self, figure: Figure, at: int) -> None:
        """A figure beside the first."""
        if figure.measure is None:
            if any(column.name == "count" for column in self.figures):
                return  # the number of records is there already
            self._count()
            self._figure("count", self.plan.number_of, "number")
            return
        self._measured(figure.measure, f"value{at}", f"figure{at}", figure.method)

    def _count(self) -> None:
        """How many records, without those that only a figure beside it is of."""
        if not self.plan.is_whole:
            self.aggregates.append("$count as count")
            return
        self.computed.append(f"case({self.plan.entity.base}:1,true:0) as countOne")
        self.aggregates.append("countOne with sum as count")

    def _measured(self, measure: Measure, alias: str, name: str, method: str = "") -> None:
        """A figure that is measured, by the method of the plan if no other is given."""
        method = method or self.plan.method
        if self.plan.is_whole and not (measure.is_whole and method == "sum"):
            none = "0" if method == "sum" else "null"
            own = f"case({self.plan.entity.base}:{measure.value},true:{none})"
            measure = replace(measure, value=own)
        is_converted = measure.worth is not None and " " in measure.value
        is_long = is_converted or " div" in measure.value
        self._aggregate(self._value(measure, alias), method, name, is_long)
        self._figure(name, measure_label(self.plan.say, measure, method), measure_type(measure))

    def _aggregate(self, value: str, method: str, name: str, is_long: bool = False) -> None:
        """One figure of many values; what may lie between them, and what is converted or divided,
        has the two decimals that amounts have."""
        is_long = is_long or method == "average" or method in OWN_METHODS
        self.rounded += [name] if is_long else []
        as_name = exact(name) if is_long else name
        if method in OWN_METHODS:
            method = f"{NAMESPACE}.{method}"
        self.aggregates.append(f"{value} with {method} as {as_name}")

    def _distinct(self) -> None:
        wanted = self.plan.distinct
        assert wanted is not None
        path = wanted.key or wanted.path
        if path.count("/") > 0:
            self.computed.append(f"{path} as different")
            path = "different"
        self.aggregates.append(f"{path} with countdistinct as count")
        self._figure(
            "count",
            self.plan.say("Different {value} values", value=self.plan.say.named(wanted.label)),
            "number",
        )

    def _mean(self) -> None:
        """The average over groups of how many records each has, or of what they sum up to."""
        plan, measure = self.plan, self.plan.measure
        if measure is None:
            self.aggregates.append("$count as count")
        else:
            self.aggregates.append(f"{self._value(measure, 'value')} with sum as amount")
        of = "count" if measure is None else "amount"
        mean = f"aggregate({of} with average as {exact('average')})"
        self.after.append(f"groupby(({plan.money}),{mean})" if plan.money else mean)
        self.rounded.append("average")
        self.after.append(f"compute({rounded('average')})")
        group = plan.dimensions[0].label if plan.dimensions else plan.grain
        say = plan.say
        what = say.named(plan.entity.many) if measure is None else say.lower(measure.label)
        type_ = "number" if measure is None else measure_type(measure)
        label = say("Average {figure} per {group}", figure=what, group=say.named(group or ""))
        self._figure("average", label, type_)

    def _share(self) -> None:
        share = self.plan.share_of
        assert share is not None
        if self.plan.measure is not None:
            self._share_of_sum(self.plan.measure, share.text)
            return
        self.computed.append(f"case({share.text}:1,true:0) as hit")
        self.aggregates += ["hit with sum as hits", "$count as count"]
        self.after.append("compute(round(hits mul 1000 divby count) divby 10 as percent)")
        self._figure("hits", self.plan.say.capital(share.words), "number")
        self._figure("count", self.plan.number_of, "number")
        self._figure("percent", self.plan.say("Share"), "percent")

    def _share_of_sum(self, measure: Measure, text: str) -> None:
        """What part of an amount some of the records make up."""
        type_ = measure_type(measure)
        ratio = self.plan.ratio
        part = f"case({text}:{measure.value},true:0)" if ratio is None else ratio.part
        self.computed.append(f"{part} as hit")
        value = self._value(measure, "value")
        is_long = (measure.worth is not None or ratio is not None) and " " in measure.value
        self._aggregate("hit", "sum", "hits", is_long)
        self._aggregate(value, "sum", "total", is_long)
        self.after.append("compute(round(hits mul 1000 divby total) divby 10 as percent)")
        hits = self.plan.words_of(self.plan.share_of) if self.plan.share_of else ""
        self._figure("hits", capital(hits), type_)
        self._figure("total", capital(self.plan.say.named(measure.label)), type_)
        self._figure("percent", self.plan.say("Share"), "percent")

    def _compared(self) -> None:
        plan = self.plan
        assert plan.period is not None and plan.compared is not None
        if plan.kind == "share":
            self._compared_shares()
            return
        type_ = self._figure_type() if plan.kind == "measure" else "number"
        value = plan.measure.value if plan.kind == "measure" and plan.measure else "1"
        zero = "0" if plan.method == "sum" or plan.kind == "count" else "null"
        for name, period in (("current", plan.period), ("previous", plan.compared)):
            dates = span(plan, period)
            self.computed.append(f"case({dates}:{value},true:{zero}) as {name}Value")
            method = plan.method if plan.kind == "measure" else "sum"
            self._aggregate(f"{name}Value", method, name, plan.worth is not None)
            self._figure(name, capital(plan.say.period(period)), type_)
        self.after.append(
            "compute(current sub previous as change,"
            "round((current sub previous) mul 1000 divby previous) divby 10 as changePercent)"
        )
        self._figure("change", plan.say("Change"), type_)
        self._figure("changePercent", plan.say("Change in %"), "percent")

    def _compared_shares(self) -> None:
        plan, share = self.plan, self.plan.share_of
        assert plan.period is not None and plan.compared is not None and share is not None
        for name, period in (("current", plan.period), ("previous", plan.compared)):
            dates = span(plan, period)
            self.computed.append(f"case({dates}:1,true:0) as {name}One")
            self.computed.append(f"case({dates} and ({share.text}):1,true:0) as {name}Hit")
            self.aggregates.append(f"{name}One with sum as {name}Count")
            self.aggregates.append(f"{name}Hit with sum as {name}Hits")
            self._figure(name, capital(plan.say.period(period)), "percent")
        percents = [
            f"round({name}Hits mul 1000 divby {name}Count) divby 10 as {name}"
            for name in ("current", "previous")
        ]
        self.after.append(f"compute({','.join(percents)})")
        self.after.append("compute(current sub previous as change)")
        self._figure("change", plan.say("Change in percentage points"), "number")

    def _value(self, measure: Measure, alias: str) -> str:
        """The measured value, as a name that can be aggregated."""
        value = measure.value
        if " " not in value and "(" not in value:
            return value
        self.computed.append(f"{value} as {alias}")
        return alias

    def _figure(self, name: str, label: str, type_: str) -> None:
        is_worth = type_ == "money" and not (self.plan.own and name == "amount")
        self.figures.append(Column(name, label, type_, self.plan.worth if is_worth else None))

    def _figure_type(self) -> str:
        return "money" if self.plan.money or self.plan.worth else "number"
