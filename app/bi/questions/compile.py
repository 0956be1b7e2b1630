"""A meaning made a plan, which compiles to one OData query (``app/bi/plans/compiling.py``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from itertools import product

from app.bi.periods.spans import Period, step, unit_start
from app.bi.plans.entities import Measure, spoken
from app.bi.plans.filtering import all_of, bounds_of
from app.bi.plans.plan import Condition, Figure as PlanFigure, Plan
from app.bi.plans.qualifying import is_own_state, qualified
from app.bi.plans.tax_groups import by_tax_group
from app.bi.questions.algebra import (
    COUNT,
    OR,
    All,
    Compares,
    Dated,
    Either,
    Equals,
    Figure,
    Group,
    Has,
    Is,
    Known,
    Meaning,
    Mentions,
    Not,
    Of,
    Restriction,
    Tagged,
    When,
    alternatives_of,
    positive,
)
from app.bi.questions.contradictions import is_possible
from app.bi.questions.lexicon import Lexicon
from app.bi.questions.model import Kind, Model, TypeMismatchError
from app.bi.questions.periods import Periods
from app.bi.questions.realise import Saying
from app.odata.syntax.literals import quoted

_LETTERS = "abcdefghjklm"  # of lambda variables, by depth


@dataclass(frozen=True)
class Compiler:
    """Makes plans on a day, in the words of a language."""

    lexicon: Lexicon
    periods: Periods

    @property
    def model(self) -> Model:
        return self.lexicon.model

    @cached_property
    def _saying(self) -> Saying:
        return Saying(self.lexicon, self.periods)

    def plan(self, meaning: Meaning) -> Plan:
        """The plan of a meaning.

        Raises: TypeMismatchError, what the model has no query for.
        """
        kind = self.model.kinds[meaning.kind]
        plan = Plan(
            entity=kind, kind="list", zone=self.periods.now.zone, today=self.periods.now.today,
            chart=meaning.chart or None, asked=meaning.asked, is_converted=meaning.is_converted,
            say=self.lexicon.say,
        )  # fmt: skip
        meaning = self._stepwise(meaning, kind)
        plan = self._figured(plan, kind, meaning)
        conditions = [self._condition(kind, restriction) for restriction in _merged(meaning.where)]
        texts = {restriction.text for restriction in conditions}
        implied = tuple(
            restriction for restriction in plan.conditions if restriction.text not in texts
        )
        plan = replace(plan, conditions=(*conditions, *implied))
        plan = self._grouped(plan, kind, meaning)
        plan = self._dated(plan, kind, meaning)
        plan = self._issued(plan, kind, meaning)
        plan = self._ranked(plan, kind, meaning)
        if meaning.threshold is not None:
            plan = replace(plan, threshold=meaning.threshold)
        # "When was it paid" asks for the day of that, not for the usual one.
        own = plan.date if plan.date and plan.period is None else kind.date
        asked_columns = tuple(own if path == kind.date else path for path in meaning.columns)
        extra = (*plan.extra_columns, *self._columns(kind, meaning))
        so = {part.text for part in plan.conditions if not part.negated}
        plan = replace(plan, extra_columns=extra, asked_columns=asked_columns,
                       amount=kind.amount_where(so))  # fmt: skip
        return by_tax_group(plan)

    def _stepwise(self, meaning: Meaning, kind: Kind) -> Meaning:
        """``month over month in 2026``: each of the units that a longer period has."""
        unit = meaning.against.shift if meaning.against is not None else ""
        if not unit or meaning.dated is None or any(group.grain for group in meaning.groups):
            return meaning
        period = self._period(meaning.dated.when, kind, meaning.dated.date or kind.date)
        if period.start is None or period.end is None or step(period.start, unit, 1) >= period.end:
            return meaning
        return meaning.changed(against=None, groups=(Group(grain=unit), *meaning.groups))

    # --- figures

    def _figured(self, plan: Plan, kind: Kind, meaning: Meaning) -> Plan:
        if meaning.distinct:
            return replace(plan, kind="distinct", distinct=kind.dimensions[meaning.distinct])
        if meaning.is_mean:
            measure, _ = self._measure(kind, meaning.figures[0])
            return replace(plan, kind="mean", measure=measure)
        if not meaning.figures:
            return plan
        first, *more = meaning.figures
        if first.is_rate:
            plan = self._rated(plan, kind, first.measure)
        elif meaning.part is not None:
            plan = self._shared(plan, kind, first, meaning.part)
        else:
            plan = self._measured(plan, kind, first)
        others = tuple(PlanFigure(*self._measure(kind, figure)) for figure in more)
        return replace(plan, figures=others)

    def _measured(self, plan: Plan, kind: Kind, figure: Figure) -> Plan:
        measure, method = self._measure(kind, figure)
        if measure is None:
            return replace(plan, kind="count")
        plan = replace(plan, kind="measure", measure=measure, method=method)
        return plan if measure.note is None else plan.with_assumption(measure.note)

    @staticmethod
    def _measure(kind: Kind, figure: Figure) -> tuple[Measure | None, str]:
        if figure.measure == COUNT:
            return None, "sum"
        measure = kind.figures.get(figure.measure) or kind.lasts(figure.measure)
        measure = measure or kind.measure_of(figure.measure)
        return measure, figure.method or ("average" if measure.average else "sum")

    @staticmethod
    def _rated(plan: Plan, kind: Kind, name: str) -> Plan:
        rate = kind.rates[name]
        label = kind.labels.get(name, name)
        if (ratio := rate.ratio) is not None:
            plan = plan if ratio.note is None else plan.with_assumption(ratio.note)
            of = Measure(label=ratio.label, value=ratio.whole, issued=kind.issued is not None)
            return replace(plan, kind="share", share_of=Condition("", label), measure=of,
                           ratio=ratio)  # fmt: skip
        among = (Condition(rate.among, "decided"),) if rate.among else ()
        return replace(plan, kind="share", share_of=Condition(rate.hits, label), conditions=among)

    def _shared(self, plan: Plan, kind: Kind, figure: Figure, part: Restriction) -> Plan:
        measure, _ = self._measure(kind, figure)
        hit = self._condition(kind, part)
        hit = replace(hit, text=hit.odata, negated=False)
        return replace(plan, kind="share", share_of=hit, measure=measure)

    # --- groups, ranking

    def _grouped(self, plan: Plan, kind: Kind, meaning: Meaning) -> Plan:
        grains = [group.grain for group in meaning.groups if group.grain]
        if len(grains) > 1:
            raise TypeMismatchError("one unit of time at a time")
        named = dict.fromkeys(group.dimension for group in meaning.groups if group.dimension)
        dimensions = [kind.dimensions[name] for name in named]
        if plan.kind == "list" and (dimensions or grains) and not meaning.ranking:
            raise TypeMismatchError("groups have figures")
        return replace(plan, dimensions=tuple(dimensions), grain=grains[0] if grains else None)

    def _ranked(self, plan: Plan, kind: Kind, meaning: Meaning) -> Plan:
        ranking = meaning.ranking
        if ranking is None:
            return plan
        down = ranking.descending
        if plan.kind != "list":
            if not (plan.dimensions or plan.grain):
                raise TypeMismatchError("what is ranked are groups")
            if not ranking.limit:
                return replace(plan, sort="desc" if down else "asc")
            plan = replace(plan, ranked="desc" if down else "asc", limit=ranking.limit)
            if not ranking.within:
                return plan
            outer = plan.dimensions[1:]
            return replace(plan, within=outer, within_grain=plan.grain is not None)
        path = ranking.path or plan.date or kind.date
        words = ("largest" if down else "smallest") + " first"
        if kind.is_date(path) or kind.is_dated(path):
            words = ("newest" if down else "oldest") + " first"
        prop = kind.prop(path) if kind.join is None else None
        known: tuple[Condition, ...] = ()
        if prop is not None and prop.nullable and ranking.limit:
            known = (Condition(f"{path} ne null", self._saying.restriction(kind, Known(path))),)
        plan = replace(
            plan, order=f"{path} desc" if down else path, order_words=words,
            ranked_by=self._ranked_by(kind, path),
            limit=ranking.limit or None, conditions=(*plan.conditions, *known),
        )  # fmt: skip
        if ranking.within and plan.grain:
            raise TypeMismatchError("the first records of a time")
        within = plan.dimensions if ranking.within else ()
        extra = tuple(dimension.path for dimension in within if "/" not in dimension.path)
        return replace(plan, within=within, dimensions=(),
                       extra_columns=(*plan.extra_columns, *extra))  # fmt: skip

    def _ranked_by(self, kind: Kind, path: str) -> str:
        """The number that records are ranked by; empty for a date, and for what makes them big."""
        is_size = path == kind.data.get("largest") or kind.currency_of(path)
        if is_size or kind.is_date(path) or kind.is_dated(path):
            return ""
        measure = next((each for each in kind.figures.values() if each.value == path), None)
        return measure.label if measure is not None else spoken(path)

    # --- periods

    def _dated(self, plan: Plan, kind: Kind, meaning: Meaning) -> Plan:
        dated = meaning.dated
        date = dated.date if dated is not None else ""
        date = date or self._implied_date(kind, meaning)
        plan = replace(plan, date=date)
        if dated is not None:
            period = self._period(dated.when, kind, date)
            if not dated.date and self._is_level(plan, kind, meaning) and self._is_today(period):
                return plan  # "receivables as of today": as they are now
            if self._is_ahead(period):  # what is still to come has only dates that are planned
                states = kind.stated(meaning.where)
                is_done = any(state.date == date for state in states)
                if is_done and date in kind.data.get("planned", {}):
                    raise TypeMismatchError("what is done lies not ahead")
                date = kind.data.get("planned", {}).get(date, date)
                plan = replace(plan, date=date)
            counts = (Figure(COUNT),) if kind.data.get("to_come") else ()  # how many of what is due
            is_listed = not dated.date and all(figure in counts for figure in meaning.figures)
            ahead = kind.data.get("ahead", ()) if is_listed else ()
            implied = kind.dates.get(dated.date)
            if ahead and date == kind.date and self._is_to_come(period, kind):
                date = ahead[0]  # what is to come is not done
                # "Due for review next month": not those that are due by now.
                by_now = (f"{date} le ", f"{date} lt ")
                rest = tuple(each for each in plan.conditions if not each.text.startswith(by_now))
                plan, is_open = replace(plan, date=date, conditions=rest), kind.states.get("open")
                implied = kind.dates.get(date) or (is_open.filter if is_open is not None else None)
            self._check_known(kind, date, period, meaning)
            whole = None if meaning.against is not None else period.whole(
                plan.grain or "day", self.periods.now.today
            )  # fmt: skip
            if whole is not None:
                grains = plan.say.named(f"{plan.grain}s")
                plan = plan.with_assumption("whole {grains} count, without the one that runs",
                                            grains=grains)  # fmt: skip
            plan = replace(plan, period=whole or period)
            if implied:
                plan = self._with_implied(plan, kind, implied)
        return plan if meaning.against is None else self._against(plan, kind, meaning)

    @staticmethod
    def _is_level(plan: Plan, kind: Kind, meaning: Meaning) -> bool:
        """Whether it is told how much something is, whenever it is told, and not what happened."""
        is_alone = meaning.against is None and not any(group.grain for group in meaning.groups)
        measure = plan.measure
        is_level = measure is not None and (
            measure.snapshot or kind.state_with(measure.filter) == "status.Open"
        )
        return is_alone and is_level

    def _is_today(self, period: Period) -> bool:
        return period.start == self.periods.now.today and period.end == step(
            self.periods.now.today, "day", 1
        )

    def _is_ahead(self, period: Period) -> bool:
        """Whether a period is still to come; ``the next 7 days`` begin today, as this week may."""
        today = self.periods.now.today
        if period.start is None or period.start < today:
            return False
        is_counted = period.grain is None and period.end != step(today, "day", 1)
        return period.start > today or is_counted

    def _is_to_come(self, period: Period, kind: Kind) -> bool:
        """Whether records of a period are those that are planned for it; of what is to be done also
        those of a period that runs: ``tasks this week``."""
        if self._is_ahead(period) or period.start is None or period.end is None:
            return self._is_ahead(period)
        today = self.periods.now.today  # "the last 7 days" end with it
        runs = period.start == today or period.start < today < period.end - timedelta(days=1)
        return runs and bool(kind.data.get("to_come"))

    def _check_known(self, kind: Kind, date: str, period: Period, meaning: Meaning) -> None:
        """What is still to come has only dates that are planned; what is to be done has no date."""
        if self._is_ahead(period) and date not in kind.data.get("ahead", ()):
            raise TypeMismatchError("what is still to come")
        states = [restriction.state for restriction in meaning.where if isinstance(restriction, Is)]
        is_undated = any(name.startswith("to.") and not kind.states[name].date for name in states)
        if meaning.dated is not None and not meaning.dated.date and is_undated:
            raise TypeMismatchError("when something is to be done")

    @staticmethod
    def _is_stated(plan: Plan) -> bool:
        """Whether a state is named that the records are in."""
        return any(is_own_state(part.text) and not part.negated for part in plan.conditions)

    def _with_implied(self, plan: Plan, kind: Kind, implied: str) -> Plan:
        """What a date alone says of the records: what is due is not paid."""
        stated = self._is_stated(plan)
        part = [] if plan.share_of is None or not plan.share_of.text else [plan.share_of.text]
        if stated or not is_possible(plan.entity.type, [implied, *part]):
            return plan
        words = spoken((kind.state_with(implied) or "issued").rpartition(".")[2])
        return replace(plan, conditions=(*plan.conditions, Condition(implied, words)))

    def _implied_date(self, kind: Kind, meaning: Meaning) -> str:
        """The date of the group or the state that is asked about, of the figure, or the usual."""
        grouped = next((group.date for group in meaning.groups if group.date), "")
        if grouped:
            return grouped
        restrictions = (part for restriction in meaning.where for part in positive(restriction))
        then = {part.date for part in meaning.where if isinstance(part, Dated)}
        # "May invoices that were paid in June" are those of May.
        if dates := [
            state.date for state in kind.stated(restrictions) if state.date not in ("", *then)
        ]:
            return dates[0]
        for figure in meaning.figures:
            if figure.is_rate and kind.rates[figure.measure].date:
                return kind.rates[figure.measure].date
            measure = kind.figures.get(figure.measure) or kind.lasts(figure.measure)
            if measure is not None and measure.date:
                return measure.date
        return kind.date

    def _period(self, when: When, kind: Kind, date: str) -> Period:
        period = self.periods.resolve(when)
        if period is None:
            raise TypeMismatchError("no such period")
        ahead = kind.data.get("ahead", ())
        return period.this_year(self.periods.now.today) if date in ahead else period

    def _against(self, plan: Plan, kind: Kind, meaning: Meaning) -> Plan:
        against, today = meaning.against, self.periods.now.today
        assert against is not None
        if plan.grain in ("day", "week") or plan.kind in ("mean", "distinct", "list"):
            raise TypeMismatchError("what is compared")
        if plan.period is not None and plan.grain == plan.period.grain is not None:
            raise TypeMismatchError("months stand side by side by themselves")
        if plan.measure is not None and plan.measure.snapshot:
            raise TypeMismatchError("only what is so now is known")
        period = plan.period
        if period is None and against.when is not None:
            other = self._period(against.when, kind, plan.date or "")
            if other.grain is None:
                raise TypeMismatchError("what is compared with it")
            start = unit_start(today, other.grain)
            if other.end is None or other.end > start:
                raise TypeMismatchError("what is compared with it")
            label = f"this {other.grain}"
            period = Period(start, step(start, other.grain, 1), label, other.grain)
            plan = plan.with_assumption("{period}, which is not over yet, is compared",
                                        period=plan.say.period(period))  # fmt: skip
        elif period is None:
            unit = against.unit or against.shift or "month"
            start = unit_start(today, unit)
            to_date = Period(start, step(today, "day", 1), f"this {unit} to date")
            whole = Period(start, step(start, unit, 1), f"this {unit}", unit)
            period = whole if against.unit else to_date
        if against.when is not None:
            earlier: Period | None = self._period(against.when, kind, plan.date or "")
        else:
            earlier = period.earlier(against.shift) if against.shift else period.before()
        if earlier is None:
            raise TypeMismatchError("what is before it, or a unit earlier")
        other = earlier
        is_reversed = bool(period.start and other.start and period.start < other.start)
        first, second = (other, period) if is_reversed else (period, other)
        return replace(plan, period=first, compared=second, is_reversed=is_reversed)

    def _issued(self, plan: Plan, kind: Kind, meaning: Meaning) -> Plan:
        """Figures and periods of invoices are about those issued, unless another state is named."""
        if kind.issued is None:
            return plan
        figured = plan.kind in ("measure", "share") and bool(plan.measure and plan.measure.issued)
        dated = plan.period is not None and plan.date == kind.date
        stated = self._is_stated(plan)
        if plan.share_of is not None and plan.measure is None and meaning.part is not None:
            # Paid is a share of what was issued, a draft one of all.
            other = [plan.share_of.text, f"not ({kind.issued})"]
            figured, dated = not is_possible(kind.type, other), False
        if (figured or dated) and not stated:
            issued = Condition(kind.issued, "issued")
            return replace(plan, conditions=(*plan.conditions, issued))
        return plan

    def _columns(self, kind: Kind, meaning: Meaning) -> list[str]:
        columns = kind.columns if kind.join is None else (*kind.columns, *meaning.columns)
        composed = kind.data.get("composed", {})
        wanted = [part for name in meaning.columns for part in composed.get(name, (name,))]
        return [column for column in wanted if column not in columns]

    # --- restrictions

    def _condition(self, kind: Kind, restriction: Restriction) -> Condition:
        words, path, values = self._saying.restriction(kind, restriction), "", tuple[str, ...]()
        match restriction:
            case Not(of):
                inside = self._condition(kind, of)
                return replace(inside, negated=not inside.negated, words=words)
            case Is(name):
                state = kind.states[name]
                path, values = state.path, (state.value,) if state.value else ()
            case Equals(path, values):
                pass
        return Condition(self.text(kind, restriction), words, path or None, values)

    def text(self, kind: Kind, restriction: Restriction, depth: int = 0) -> str:
        """The OData filter of a restriction."""
        match restriction:
            case Is(name):
                return self._filled(kind.states[name].filter)
            case Equals(path, values):
                return _equal(path, values)
            case Compares():
                return self._compares(kind, restriction)
            case Known(path):
                return f"{path} ne null"
            case Mentions(text, path):
                places = (path,) if path else kind.data["about"]
                wanted = quoted(text.lower())
                return " or ".join(f"contains(tolower({at}),{wanted})" for at in places)
            case Tagged(tag):
                return f"tags/any(t:t eq {quoted(tag)})"
            case Dated(when, date):
                return self._dates(kind, when, date or kind.date)
            case Not(of):
                return f"not ({self.text(kind, of, depth)})"
            case Either(parts):
                return " or ".join(_bracketed(self.text(kind, part, depth)) for part in parts)
            case All(parts):
                return all_of(self.text(kind, part, depth) for part in parts)
            case Of(other, where):
                inside = self.model.kinds[other]
                texts = [self.text(inside, part, depth) for part in where]
                navigation = kind.to_one[other]
                return all_of(qualified(text, navigation) for text in texts)
            case Has():
                return self._has(kind, restriction, depth)

    def _compares(self, kind: Kind, comparison: Compares) -> str:
        value = kind.path_of(comparison.subject)
        value = f"({value})" if " " in value else value
        if comparison.factor:
            factor = _plain_share(comparison.factor)
            return f"{value} {comparison.sign} {comparison.number} mul {factor}"
        return f"{value} {comparison.sign} {comparison.number}"

    def _dates(self, kind: Kind, when: When, date: str) -> str:
        period, zone = self._period(when, kind, date), self.periods.now.zone
        return all_of(bounds_of(kind, date, period, zone))

    def _has(self, kind: Kind, relation: Has, depth: int) -> str:
        inside = self.model.kinds[relation.kind]
        texts = [inside.base] if inside.base else []
        own = [self.text(inside, part, depth + 1) for part in _merged(relation.where)]
        dates = [part.date for part in relation.where if isinstance(part, Dated)]
        counts_issued = inside.issued and dates and not any(map(is_own_state, own))
        if counts_issued and inside.date in [date or inside.date for date in dates]:
            texts.append(str(inside.issued))
        texts += own
        navigation, letter = kind.related[relation.kind], _LETTERS[depth]
        if inside.join is not None:
            return self._has_joined(inside, texts, navigation, depth, relation)
        if relation.sign is not None:
            where = f"($filter={all_of(texts)})" if texts else ""
            return f"{navigation}/$count{where} {relation.sign} {relation.number}"
        if not texts:
            return f"{navigation}/any()"
        return f"{navigation}/any({letter}:{all_of(qualified(text, letter) for text in texts)})"

    @staticmethod
    def _has_joined(
        inside: Kind, texts: Sequence[str], navigation: str, depth: int, relation: Has
    ) -> str:
        """Payments and lines are parts of the invoices that clients have."""
        if relation.sign is not None:
            raise TypeMismatchError("parts of parts are not counted")
        part, _, alias = str(inside.join).partition(" as ")
        outer, letter = _LETTERS[depth], _LETTERS[depth + 1]
        mine = [text.replace(f"{alias}/", f"{letter}/") for text in texts if f"{alias}/" in text]
        whole = [qualified(text, outer) for text in texts if f"{alias}/" not in text]
        some = f"{letter}:{all_of(mine)}" if mine else ""
        return f"{navigation}/any({outer}:{all_of([*whole, f'{outer}/{part}/any({some})'])})"

    def _filled(self, text: str) -> str:
        return text.replace("{today}", str(self.periods.now.today)).replace("{now}", "now()")


def _merged(where: Iterable[Restriction]) -> list[Restriction]:
    """Values of one property are alternatives: a record has but one of them."""
    merged: list[Restriction] = []
    for restriction in where:
        for at, other in enumerate(merged):
            match restriction, other:
                case Equals(path, more, name), Equals(same, values, label) if path == same:
                    either = tuple(dict.fromkeys((*values, *more)))
                    merged[at] = Equals(path, either, f"{label}{OR}{name}")
                    break
            if _same_property(restriction, other):
                parts = dict.fromkeys((*alternatives_of(other), *alternatives_of(restriction)))
                merged[at] = Either(tuple(parts)) if len(parts) > 1 else other
                break
        else:
            merged.append(restriction)
    return merged


def _same_property(restriction: Restriction, other: Restriction) -> bool:
    """Whether both are members of one enumeration, or some of them."""
    if isinstance(restriction, Either) or isinstance(other, Either):
        pairs = product(alternatives_of(restriction), alternatives_of(other))
        return all(first == second or _same_property(first, second) for first, second in pairs)
    if not (isinstance(restriction, Is) and isinstance(other, Is)):
        return False
    mine, _, member = restriction.state.rpartition(".")
    theirs, _, another = other.state.rpartition(".")
    return bool(mine) and mine != "to" and mine == theirs and member != another


def _equal(path: str, values: Sequence[str]) -> str:
    if len(values) == 1:
        return f"{path} eq {values[0]}"
    return f"{path} in ({','.join(values)})"


def _bracketed(text: str) -> str:
    return f"({text})" if " and " in text or " or " in text else text


def _plain_share(percent: str) -> str:
    digits = f"{float(percent) / 100:.6f}".rstrip("0")
    return f"{digits}0" if digits.endswith(".") else digits
