"""Plans and rows in words: what was understood, and the answer in a sentence or two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from app.bi.periods.spans import CYCLES, Period
from app.bi.plans.columns import Column, Compiled, measure_label, method_words
from app.bi.plans.entities import spoken
from app.bi.plans.plan import Figure, Plan
from app.bi.query import Row
from app.bi.words.speech import Speech, capital
from app.container.words import options_of
from app.money import plain, rounded

if TYPE_CHECKING:
    from app.bi.questions.algebra import Threshold

SHOWN = 3  # groups or records named in the sentence
SIGNS = {"gt": "over {limit}", "ge": "at least {limit}", "lt": "under {limit}",
         "le": "at most {limit}", "eq": "exactly {limit}", "ne": "not {limit}"}  # fmt: skip
# What a period begins with that has no "in" before it.
_WHEN = frozenset(("this", "last", "next", "today", "yesterday", "tomorrow"))
GRAIN_WORDS = {"weekday": "day of the week", "hour": "hour of the day",
               "season": "month of the year"}  # fmt: skip


def interpretation(plan: Plan) -> str:
    """What the query asks, in plain words, assumptions included."""
    say = plan.say
    read = (say("“{was}” read as “{now}”", was=was, now=now) for was, now in plan.repaired)
    return (
        restated(plan) + "".join(f". {capital(note)}" for note in (*plan.assumptions, *read)) + "."
    )


def restated(plan: Plan) -> str:
    """What the query asks, as a question that asks the same."""
    say = plan.say
    parts = [_subject(plan)]
    parts += [say("and {figure}", figure=figure_label(plan, figure)) for figure in plan.figures]
    groups = [say.named(dimension.label) for dimension in plan.dimensions]
    grain = [say.named(GRAIN_WORDS.get(plan.grain, plan.grain))] if plan.grain else []
    for names in (groups, grain):
        if names:
            parts.append(say("by {groups}", groups=_all_of(say, names)))
    is_records = plan.kind in ("list", "count") and plan.period is not None
    event = _event(plan) if is_records else ""
    stated = dict.fromkeys(plan.words_of(condition) for condition in plan.conditions)
    if conditions := [words for words in stated if words != event]:  # "solved yesterday" says it
        parts.append("(" + "; ".join(conditions) + ")")
    if plan.period is not None:
        parts.append(_dated(plan, plan.period))
    if plan.compared is not None:
        parts.append(say("compared with {period}", period=say.span(plan.compared)))
    if plan.threshold is not None:
        limit = threshold_words(say, plan.threshold)
        parts.append(say("- those with {limit}", limit=limit))
    if plan.is_within and plan.kind == "list":
        parts.append(say("of each {group}", group=_within_words(plan)))
    elif plan.is_within:
        each = ("- the first of each {group}, {order}" if plan.limit == 1
                else "- the first {limit} of each {group}, {order}")  # fmt: skip
        parts.append(say(each, limit=plan.limit, group=_within_words(plan), order=order(plan)))
    elif plan.ranked and plan.limit is not None:
        end = "- top {limit}" if plan.ranked == "desc" else "- bottom {limit}"
        parts.append(say(end, limit=plan.limit))
    elif (plan.order_words and plan.limit is None) or plan.sort:
        parts.append(f"- {order(plan)}")
    return " ".join(parts)


def offered(plan: Plan) -> str:
    """A plan as a question that is offered: without what is understood by itself."""
    is_dated = plan.period is not None and plan.date == plan.entity.date
    if is_dated or any(measure.issued for measure in plan.measures):
        conditions = (each for each in plan.conditions if each.text != plan.entity.issued)
        plan = replace(plan, conditions=tuple(conditions), date="" if is_dated else plan.date)
    return f"{restated(plan)}."


def order(plan: Plan) -> str:
    """In which order rows come."""
    if plan.ranked_by:
        return plan.say("{most} first", most=most(plan))
    ranked = {"desc": "largest first", "asc": "smallest first"}
    words = plan.order_words or ranked.get(plan.ranked or plan.sort or "", "")
    return plan.say(words)


def most(plan: Plan) -> str:
    """What the first of a list have: ``most views``, ``lowest score``."""
    entity, say, path = plan.entity, plan.say, (plan.order or "").removesuffix(" desc")
    adds_up = entity.is_number(path) and path not in entity.data.get("levels", ())
    figure = say.inside(plan.ranked_by)
    if plan.order_words == "largest first":
        return say("most {figure}" if adds_up else "highest {figure}", figure=figure)
    return say("fewest {figure}" if adds_up else "lowest {figure}", figure=figure)


def _all_of(say: Speech, parts: Sequence[str]) -> str:
    return say(" and ").join(parts)


def _within_words(plan: Plan) -> str:
    """What each has its own ranking."""
    grain = [plan.grain] if plan.within_grain and plan.grain else []
    names = [*(dimension.label for dimension in plan.within), *grain]
    return _all_of(plan.say, [plan.say.named(name) for name in names])


def threshold_words(say: Speech, threshold: Threshold) -> str:
    """``over 40 hours``."""
    unit = f" {say.named(threshold.unit)}" if threshold.unit else ""
    return say(SIGNS[threshold.sign], limit=f"{say.limit(threshold.number)}{unit}")


def _subject(plan: Plan) -> str:
    say, many = plan.say, plan.entity.many
    if plan.kind == "list" and plan.limit is not None and plan.ranked_by:
        few = (
            "The {one} with the {most}" if plan.limit == 1 else "The {limit} {many} with the {most}"
        )
        return say(few, limit=plan.limit, one=say.named(plan.entity.one), many=say.named(many),
                   most=most(plan))  # fmt: skip
    if plan.kind == "list" and plan.limit is not None and plan.order_words:
        few = "The {order} {one}" if plan.limit == 1 else "The {limit} {order} {many}"
        return say(few, limit=plan.limit, order=say(plan.order_words.removesuffix(" first")),
                   one=say.named(plan.entity.one), many=say.named(many))  # fmt: skip
    if plan.kind == "list":
        return say.capital(many)
    if plan.kind == "share" and plan.share_of is not None:
        whole = say.lower(plan.measure.label) if plan.measure is not None else say.named(many)
        return say("Share of {whole}: {part}", whole=whole, part=plan.words_of(plan.share_of))
    if plan.kind == "distinct" and plan.distinct is not None:
        value = say.named(plan.distinct.label)
        return say("Number of different values of {value} among {many}", value=value,
                   many=say.named(many))  # fmt: skip
    if plan.kind == "mean" and plan.measure is not None:
        return measure_label(say, plan.measure, "average")
    if plan.kind == "mean":
        return say("Average number of {many}", many=say.named(many))
    if plan.kind == "measure" and plan.measure is not None:
        return measure_label(say, plan.measure, plan.method)
    return plan.number_of


def figure_label(plan: Plan, figure: Figure) -> str:
    """What one more figure is called in the middle of a sentence."""
    say = plan.say
    if figure.measure is None:
        return say("number of {many}", many=say.named(plan.entity.many))
    return method_words(say, figure.method, say.inside(figure.measure.label))


def _dated(plan: Plan, period: Period) -> str:
    dates = plan.say.period(period)
    is_open = period.start is None or period.end is None
    if not (is_open or period.label.startswith("from ")):
        dates = _within(plan.say, period)
    if not plan.date:
        return dates
    if event := _event(plan):
        return f"{event} {dates}"
    date = plan.say.named(spoken(plan.date or ""))
    return plan.say("with {date} {period}", date=date, period=dates)


def _event(plan: Plan) -> str:
    """``created``, as people say it; empty of other dates, which are nouns: ``issue date``."""
    date = plan.say.named(spoken(plan.date or ""))
    event = date.removesuffix(" at")
    return event if event != date else ""


def _within(say: Speech, period: Period) -> str:
    """``last month (2026-05-01 to 2026-05-31)``, ``in May 2026 (...)``, ``on 2026-05-03``."""
    label, span = say.period(period), say.span(period)
    if label == span and period.grain != "day":
        return label
    if period.grain == "year":
        dates = say("in {year}", year=label)
    elif period.grain == "day":
        dates = say("on {period}", period=label)
    else:
        dates = say("in {period}", period=label)
    if label.partition(" ")[0] in _WHEN:
        dates = label
    return dates if span in label else f"{dates} ({span})"


def decided(plan: Plan, compiled: Compiled, rows: Sequence[Row]) -> str:
    """``Yes. `` or ``No. `` to what is asked so; empty of other questions."""
    verdict_words = verdict(plan, compiled, rows)
    return "" if verdict_words is None else f"{plan.say(verdict_words)}. "


def answer(plan: Plan, compiled: Compiled, rows: Sequence[Row], total: int | None) -> str:
    """Figures in words, from the rows alone."""
    say = plan.say
    if not rows:
        return say("There is nothing to count: no {what}.", what=described(plan))
    total = len(rows) if total is None else total
    if plan.compared is not None:
        return _compared(plan, compiled, rows, total)
    groups = compiled.group_columns
    if not groups and plan.figures:
        return _several(plan, compiled, rows)
    if not groups:
        return _single(plan, compiled, rows)
    return _grouped(plan, compiled, rows, groups, total)


def _several(plan: Plan, compiled: Compiled, rows: Sequence[Row]) -> str:
    """Several figures of the same records, in each currency."""
    parts = [_figures(plan, compiled, row) for row in rows]
    return plan.say("Of {what}: {figures}.", what=described(plan), figures="; ".join(parts))


def _figures(plan: Plan, compiled: Compiled, row: Row) -> str:
    """``number of opportunities 5, value of opportunities 71,800.00 CHF``."""
    say, parts = plan.say, []
    for figure in compiled.figure_columns:
        value, label = _value(say, figure, row, compiled.currency), say.inside(figure.label)
        # "Value of deals in EUR" says the currency already.
        code = f" {figure.currency}"
        parts.append(f"{label} {value.removesuffix(code) if label.endswith(code) else value}")
    return ", ".join(parts)


def described(plan: Plan, noun: str = "") -> str:
    """What the records are: ``tickets (open)``."""
    return f"{plan.say.named(noun or plan.entity.many)}{_stated(plan)}"


def first_few(rows: Sequence[Row], total: int) -> Sequence[Row]:
    """The rows that a sentence names; one more rather than that one is left."""
    return rows[: SHOWN + (total == SHOWN + 1)]


def and_more(say: Speech, more: int) -> str:
    """`` and 5 more``; empty for none."""
    return say(" and {count} more", count=number(say, more)) if more > 0 else ""


def _stated(plan: Plan) -> str:
    parts = [*dict.fromkeys(
        plan.words_of(condition) for condition in plan.conditions if condition.words != "issued"
    )]  # fmt: skip
    if plan.period is not None and plan.compared is None:
        parts.append(plan.say.period(plan.period))
    if plan.threshold is not None:
        parts.append(threshold_words(plan.say, plan.threshold))
    return f" ({', '.join(parts)})" if parts else ""


def _single(plan: Plan, compiled: Compiled, rows: Sequence[Row]) -> str:
    say = plan.say
    if plan.kind == "distinct" and plan.distinct is not None:
        return say("{count} different values of {value}, each counted once, of {what}.",
                   count=number(say, rows[0]["count"]), value=say.named(plan.distinct.label),
                   what=described(plan))  # fmt: skip
    if plan.kind == "count":
        count = rows[0]["count"]
        sentence = "There is {count} {what}." if count == 1 else "There are {count} {what}."
        noun = say.named(plan.entity.one if count == 1 else plan.entity.many)
        return say(sentence, count=number(say, count), what=f"{noun}{_stated(plan)}")
    if plan.kind == "share" and plan.share_of is not None:
        if plan.measure is not None:
            return _shares(plan, compiled, rows)
        row = rows[0]
        head = f"{_share_label(plan)}: {_percent(say, row['percent'])}"
        part, whole = (number(say, row[name] or 0) for name in ("hits", "count"))
        of_all = say("{part} of {whole}", part=part, whole=whole)
        return f"{head}, {of_all} {described(plan)}."
    figure = compiled.figure_columns[0]
    values = [_value(say, figure, row, compiled.currency) for row in rows]
    if all(row[figure.name] is None for row in rows):
        return say("There is nothing to compute it from: no {what}.", what=described(plan))
    unit = f" {say.named(plan.measure.unit)}" if plan.measure and plan.measure.unit else ""
    return f"{figure.label}{_stated(plan)}: {', '.join(values)}{unit}."


def _shares(plan: Plan, compiled: Compiled, rows: Sequence[Row]) -> str:
    """What part of an amount it is, in each currency."""
    assert plan.share_of is not None
    say = plan.say
    hits, total = (column for column in compiled.columns if column.name in ("hits", "total"))
    parts = []
    for row in rows:
        part, whole = (_value(say, column, row, compiled.currency) for column in (hits, total))
        of_all = say("{part} of {whole}", part=part, whole=whole)
        parts.append(f"{_percent(say, row['percent'])} ({of_all})")
    return f"{_share_label(plan)}{_stated(plan)}: {', '.join(parts)}."


def _share_label(plan: Plan) -> str:
    """``Won``, ``Overdue, share of gross receivables``."""
    assert plan.share_of is not None
    part = plan.words_of(plan.share_of)
    if plan.measure is None:
        return capital(part)
    whole = plan.say.lower(plan.measure.label)
    return capital(plan.say("{part}, share of {whole}", part=part, whole=whole))


def _grouped(
    plan: Plan, compiled: Compiled, rows: Sequence[Row], groups: Sequence[Column], total: int
) -> str:
    say, figure = plan.say, _main_figure(compiled)
    apart = [row for row in rows if plan.grain is None and _is_nameless(groups, row)]
    named = [row for row in rows if row not in apart]
    known = total - len(apart)
    first = first_few(named, known)
    listed = "; ".join(group_words(plan, compiled, row) for row in first)
    rest = and_more(say, known - len(first))
    for row in apart:  # what has no name comes last, however much it is
        rest += f"; {group_words(plan, compiled, row)}" if listed else ""
        listed = listed or group_words(plan, compiled, row)
    if plan.figures:
        return f"{capital(described(plan))}: {listed}{rest}."
    label = _share_label(plan) if plan.share_of is not None else figure.label
    unit = say.named(plan.measure.unit) if plan.measure and plan.measure.unit else ""
    label = f"{label}{_stated(plan)}"
    if unit and unit.lower() not in label.lower().split():  # "Hours until solved" says it
        label = say("{figure} in {unit}", figure=label, unit=unit)
    return f"{label}: {listed}{rest}."


def _main_figure(compiled: Compiled) -> Column:
    """What groups are told by."""
    figures = compiled.figure_columns
    return next((column for column in figures if column.type == "percent"), figures[0])


def _is_nameless(groups: Sequence[Column], row: Row) -> bool:
    return all(row.get(column.name) is None for column in groups)


def group_words(plan: Plan, compiled: Compiled, row: Row) -> str:
    """A group and its figures: ``Public sector 12.00 EUR``, ``without competitor 48``."""
    name = group_name_of(plan, compiled, row)
    if plan.figures:
        return f"{name} {_figures(plan, compiled, row)}"
    figures, main = compiled.figure_columns, _main_figure(compiled)
    return f"{name} {_with_worth(plan.say, figures, main, row, compiled)}"


def group_name_of(plan: Plan, compiled: Compiled, row: Row) -> str:
    """What a group is called."""
    groups = compiled.group_columns
    if len(groups) == 1 and plan.grain is None and _is_nameless(groups, row):
        return plan.say("without {property}", property=plan.say.inside(groups[0].label))
    return _name(plan, groups, row)


def _with_worth(
    say: Speech, figures: Sequence[Column], figure: Column, row: Row, compiled: Compiled
) -> str:
    """The figure of a group; of an amount in another currency also what it is worth."""
    text = _value(say, figure, row, compiled.currency)
    worth = next(
        (column for column in figures if column.name == "worth" and column is not figure), None
    )
    if worth is None or row.get(compiled.currency or "") == worth.currency:
        return text
    return f"{text} ({_value(say, worth, row, None)})"


def _name(plan: Plan, groups: Sequence[Column], row: Row) -> str:
    say = plan.say
    names = {column.name: row.get(column.name) for column in groups}
    if names.get("week") is not None:
        names["week"] = say("week of {day}", day=text_of(plan, names["week"]))
    for grain in CYCLES:
        if grain in names:
            names[grain] = cycle_name(say, grain, names[grain])
    if "year" in names and len(names) > 1:
        year = names.pop("year")
        grain = next(
            name for name in ("month", "quarter", "half") if name in names or name == "half"
        )
        part = names.pop(grain, None)
        stamp = say("no date")
        if year is not None and part is not None:
            stamp = say.stamp(grain, year, part)
        return " ".join([stamp, *(text_of(plan, value, name) for name, value in names.items())])
    return " / ".join(text_of(plan, value, name) for name, value in names.items())


def cycle_name(say: Speech, grain: str, number: Any) -> str | None:
    """``Monday`` for weekday 1, ``March`` for month 3, ``14:00-14:59`` for hour 14."""
    if number is None:
        return None
    at = int(number)
    if grain == "hour":
        return f"{at:02d}:00-{at:02d}:59"
    return say.weekday(at) if grain == "weekday" else say.month(at)


def text_of(plan: Plan, value: Any, path: str = "") -> str:
    """A value in words; a member of an enumeration as it is called."""
    if isinstance(value, bool):
        return plan.say("yes" if value else "no")
    if value is None:
        return plan.say("(none)")
    if path.endswith("country"):
        return plan.say.country(str(value))
    prop = plan.entity.prop(path) if path else None
    if prop is not None and options_of(prop):
        return plan.say.member(str(value))
    return plan.say.dated(str(value))


def _compared(plan: Plan, compiled: Compiled, rows: Sequence[Row], total: int) -> str:
    """``Net revenue: this month 5 EUR, last month 4 EUR (+25 %).``"""
    figure = _share_label(plan) if plan.share_of is not None else _subject(plan)
    named = first_few(rows, total)
    listed = "; ".join(_compared_row(plan, compiled, row) for row in named)
    return f"{figure}{_stated(plan)}: {listed}{and_more(plan.say, total - len(named))}."


def _compared_row(plan: Plan, compiled: Compiled, row: Row) -> str:
    say, who = plan.say, _name(plan, compiled.group_columns, row)
    values = [
        f"{say.period(period)} {_value(say, column, row, compiled.currency)}"
        for name, period in (("current", plan.period), ("previous", plan.compared))
        for column in compiled.columns if column.name == name and period is not None
    ]  # fmt: skip
    return f"{f'{who}: ' if who else ''}{', '.join(values)} ({_moved(say, row)})"


def _moved(say: Speech, row: Row) -> str:
    """How a figure changed, in percent; of shares in percentage points."""
    sentence, name = "{change} %", "changePercent"
    if name not in row:
        sentence, name = "{change} points", "change"
    if row[name] is None:
        return say("no figure before to compare with")
    return say(sentence, change=say.digits(f"{row[name]:+}"))


def _value(say: Speech, column: Column, row: Row, currency: str | None) -> str:
    value = row.get(column.name)
    if value is None:
        return "-"
    if column.type == "percent":
        return _percent(say, value)
    if column.type == "money":
        code = column.currency or row.get(currency or "", "") or ""
        return money(say, Decimal(value), code)
    return number(say, value)


def money(say: Speech, amount: Decimal, code: str) -> str:
    """An amount with its currency, as people read it."""
    return say.digits(plain(rounded(amount, code), code) if code else f"{amount:,.2f}")


def _percent(say: Speech, value: Any) -> str:
    return "-" if value is None else say.digits(f"{Decimal(value):.1f} %")


def number(say: Speech, value: Any) -> str:
    """A number as people read it."""
    return say.digits(f"{value:,}" if isinstance(value, int) else f"{round(Decimal(value), 2):,}")


def verdict(plan: Plan, compiled: Compiled, rows: Sequence[Row]) -> str | None:
    """Yes or no; None where the figures of several currencies or groups say both."""
    pairs = _pairs(plan, compiled, rows)
    if plan.asked not in ("more", "less") or not pairs:
        return None
    verdicts = {
        first > second if plan.asked == "more" else first < second for first, second in pairs
    }
    return None if len(verdicts) > 1 else "Yes" if verdicts.pop() else "No"


def _pairs(plan: Plan, compiled: Compiled, rows: Sequence[Row]) -> list[tuple[Decimal, Decimal]]:
    if plan.compared is not None:
        values = [(row.get("current"), row.get("previous")) for row in rows]
        pairs = [(Decimal(left), Decimal(other)) for left, other in values
                 if left is not None and other is not None]  # fmt: skip
        return [(other, left) for left, other in pairs] if plan.is_reversed else pairs
    pair = _pair(plan)
    if pair is None or compiled.currency is not None:
        return []
    name = "percent" if plan.kind == "share" else compiled.figures[0]
    path, values_of = pair
    figures = [_figure(rows, path, value, name) for value in values_of]
    return [(figures[0], figures[1])]


def _pair(plan: Plan) -> tuple[str, tuple[str, ...]] | None:
    """By which property there are two groups, and the values of it as they were named."""
    if len(plan.dimensions) != 1 or plan.grain is not None:
        return None
    group = plan.dimensions[0]
    for condition in plan.conditions:
        if (
            len(condition.values) == 2
            and not condition.negated
            and condition.path in (group.key, group.path)
        ):
            return condition.path or "", condition.values
    return None


def _figure(rows: Sequence[Row], path: str, value: str, name: str) -> Decimal:
    """The figure of a group; one that is not there has nothing."""
    figure: Any = next((row[name] for row in rows if str(row.get(path)) == value.strip("'")), 0)
    return Decimal(figure or 0)
