"""The figures of a plan as OData computes them: counts, sums, averages, shares, comparisons."""

from __future__ import annotations

from dataclasses import replace

from app.bi.plans.columns import Column, exact, measure_label, measure_type, rounded
from app.bi.plans.entities import Measure
from app.bi.plans.filtering import span
from app.bi.plans.plan import Figure, Plan
from app.bi.words.speech import capital


class Figuring:
    """The part of a query that is about figures."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.computed: list[str] = []
        self.aggregates: list[str] = []
        self.after: list[str] = []
        self.rounded: list[str] = []  # averages, by the name of the figure
        self.figures: list[Column] = []

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
        self._aggregate(self._value(measure, alias), method, name, is_converted)
        self._figure(name, measure_label(self.plan.say, measure, method), measure_type(measure))

    def _aggregate(self, value: str, method: str, name: str, is_long: bool = False) -> None:
        """One figure of many values; an average, and what is converted, has the two decimals that
        amounts have."""
        is_long = is_long or method == "average"
        self.rounded += [name] if is_long else []
        as_name = exact(name) if is_long else name
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
        hits = self.plan.told(self.plan.share_of) if self.plan.share_of else ""
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
