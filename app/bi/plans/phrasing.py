"""Plans and rows in words: what was understood, and the answer in a sentence or two."""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

from app.bi.periods.spans import CYCLES, Period
from app.bi.plans.columns import Column, Compiled
from app.bi.plans.entities import spoken
from app.bi.plans.plan import Figure, Plan
from app.bi.plans.verdicts import is_of_two, verdict
from app.bi.query import Row
from app.money import plain, rounded

SHOWN = 3  # groups named in the sentence
GRAIN_WORDS = {"weekday": "day of the week", "hour": "hour of the day",
               "season": "month of the year"}  # fmt: skip


def interpretation(plan: Plan) -> str:
    """What the query asks, in plain words, assumptions included."""
    parts = [_subject(plan), *(f"and {figure_label(plan, one)}" for one in plan.figures)]
    parts += [f"- {' and '.join(one.words.lower() for one in plan.sides)}"] * bool(plan.sides)
    if plan.dimensions:
        parts.append("by " + " and ".join(one.label for one in plan.dimensions))
    if plan.grain:
        parts.append(f"by {GRAIN_WORDS.get(plan.grain, plan.grain)}")
    stated = [one.spoken for one in plan.conditions]
    if stated:
        parts.append("(" + "; ".join(stated) + ")")
    if plan.period is not None:
        told = f"in {plan.period.label} ({_span(plan.period)})"
        parts.append(told if plan.sides else _dated(plan, plan.period))
    if plan.compared is not None:
        parts.append("compared with " + _span(plan.compared))
    if plan.threshold is not None:
        parts.append(f"- {'how many have' if plan.is_counted else 'those with'} "
                     f"{plan.threshold.words}")  # fmt: skip
    if plan.is_within:
        parts.append(f"- the first {plan.limit} of each {plan.within_words}, {_way(plan)}")
    elif plan.order_words or plan.ranked or plan.sort:
        parts.append(f"- {_way(plan)}")
    text = " ".join(parts)
    if plan.limit is not None and not plan.is_within:
        text += f", the first {plan.limit}"
    notes = [*plan.assumptions, *(f"“{was}” read as “{now}”" for was, now in plan.repaired)]
    return text + "".join(f". {note[:1].upper()}{note[1:]}" for note in notes) + "."


def _way(plan: Plan) -> str:
    """In which order rows come."""
    ranked = {"desc": "largest first", "asc": "smallest first"}
    return plan.order_words or ranked.get(plan.ranked or plan.sort or "", "")


def _subject(plan: Plan) -> str:
    many = plan.entity.many
    if plan.kind == "list":
        return many.capitalize()
    if plan.kind == "share" and plan.share_of is not None:
        whole = plan.measure.label.lower() if plan.measure is not None else many
        return f"Share of {whole}: {plan.share_of.words}"
    if plan.kind == "distinct" and plan.distinct is not None:
        return f"Number of different values of {plan.distinct.label} among {many}"
    if plan.kind == "mean":
        return f"Average {f'number of {many}' if plan.measure is None else plan.measure.label}"
    if plan.kind == "measure" and plan.measure is not None:
        words = {"average": "Average of ", "max": "Largest ", "min": "Smallest "}
        return words.get(plan.method, "") + plan.measure.label
    return f"Number of {many}"


def figure_label(plan: Plan, figure: Figure) -> str:
    """What one more figure is called in the middle of a sentence."""
    if figure.measure is None:
        return f"number of {plan.entity.many}"
    words = {"average": "average of ", "max": "largest ", "min": "smallest "}
    label = figure.measure.label
    return words.get(figure.method, "") + label[:1].lower() + label[1:]


def _dated(plan: Plan, period: Period) -> str:
    path = (plan.date or "").rpartition("/")[2]
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in path)
    if period.start is None or period.end is None:
        return f"with {words.strip()} {period.label}"
    if period.label.startswith("from "):
        return f"with {words.strip()} {period.label}"
    return f"with {words.strip()} in {period.label} ({_span(period)})"


def _span(period: Period) -> str:
    if period.start is None:
        return f"before {period.end}"
    if period.end is None:
        return f"from {period.start}"
    return f"{period.start} to {period.end - timedelta(days=1)}"


def answer(plan: Plan, compiled: Compiled, rows: Sequence[Row], total: int | None) -> str:
    """The answer in words, from the rows alone; to a question of yes or no, that first."""
    text = _answer(plan, compiled, rows, total)
    if is_of_two(plan):
        decided = verdict(plan, compiled, rows)
        return text if decided is None else f"{decided}. {text}"
    if plan.asked != "yes" or plan.kind not in ("list", "count"):
        return text
    some = rows[0].get("count", 1) if rows else 0
    return f"{'Yes' if some else 'No'}. {text}"


def _answer(plan: Plan, compiled: Compiled, rows: Sequence[Row], total: int | None) -> str:
    if plan.kind == "list":
        return _listed(plan, rows, total)
    if not rows:
        return f"There is nothing to count: no {_described(plan)}."
    if plan.compared is not None:
        return " ".join(_compared(plan, compiled, row) for row in rows[:SHOWN])
    groups = [column for column in compiled.columns if column.name not in compiled.figures]
    groups = [column for column in groups if column.name != compiled.currency]
    if plan.is_counted:
        return f"{interpretation(plan).split('. ')[0].rstrip('.')}: {rows[0]['count']:,}."
    if not groups and (plan.figures or plan.sides):
        return _several(plan, compiled, rows)
    if not groups:
        return _single(plan, compiled, rows)
    return _grouped(plan, compiled, rows, groups, len(rows) if total is None else total)


def _several(plan: Plan, compiled: Compiled, rows: Sequence[Row]) -> str:
    """Several figures of the same records, in each currency."""
    parts = [_figures(compiled, row) for row in rows]
    return f"Of {_described(plan)}: {'; '.join(parts)}."


def _figures(compiled: Compiled, row: Row) -> str:
    figures = [column for column in compiled.columns if column.name in compiled.figures]
    return ", ".join(
        f"{one.label[:1].lower()}{one.label[1:]} {_value(one, row, compiled.currency)}"
        for one in figures
    )


def _listed(plan: Plan, rows: Sequence[Row], total: int | None) -> str:
    number = len(rows) if total is None else total
    if number == 0:
        return f"There are no {_described(plan)}."
    noun = plan.entity.one if number == 1 else plan.entity.many
    known = f" of {number:,}" if len(rows) < number else ""
    names = [_named(plan, row) for row in rows[:SHOWN]]
    more = number - len(names)
    rest = f" and {more:,} more" if more > 0 else ""
    stated = _stated(plan)
    count = f"{len(rows):,}{known}"
    return f"{count} {noun}{stated}: {', '.join(names)}{rest}."


def _named(plan: Plan, row: Row) -> str:
    """The name of a record, and what the list is ordered by."""
    name = str(row.get(plan.entity.name) or f"no. {row.get('id')}")
    ordered = _shown_order(plan)
    value = row.get(ordered)
    if plan.entity.join is not None and plan.limit == 1 and row.get("Client/name"):
        name += f", {row['Client/name']}"  # whose it is
    told = [
        f"{_label(path)}: {_with_currency(plan, path, row)}"
        for path in plan.extra_columns
        if path != ordered
    ]
    if told:
        name += f" ({', '.join(told)})"
    if isinstance(value, str) and plan.limit == 1:
        return f"{name} ({value[:10]})"
    if not isinstance(value, int | Decimal):
        return name
    return f"{name} ({_with_currency(plan, ordered, row)})"


def _with_currency(plan: Plan, path: str, row: Row) -> str:
    """A value of a record, an amount with its currency."""
    value = row.get(path)
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return _text(value)
    code = plan.entity.currency_of(path)
    currency = row.get(code) if code else None
    return plain(Decimal(value), currency) if currency else number(value)


def _shown_order(plan: Plan) -> str:
    """What a list is ordered by; of an amount that is ranked by its worth, the amount itself."""
    ordered = (plan.order or "").removesuffix(" desc").partition(" mul ")[0]
    own = f"{ordered[4:5].lower()}{ordered[5:]}"
    return own if ordered.startswith("base") and plan.entity.prop(own) is not None else ordered


def _label(path: str) -> str:
    return spoken(path.removesuffix("/displayName").removesuffix("/name")) or path


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _described(plan: Plan) -> str:
    return f"{plan.entity.many}{_stated(plan)}"


def _stated(plan: Plan) -> str:
    parts = [one.spoken for one in plan.conditions if one.words != "issued"]
    if plan.period is not None:
        parts.append(plan.period.label)
    if plan.threshold is not None:
        parts.append(plan.threshold.words)
    return f" ({', '.join(parts)})" if parts else ""


def _single(plan: Plan, compiled: Compiled, rows: Sequence[Row]) -> str:
    if plan.kind == "distinct" and plan.distinct is not None:
        what = f"{plan.distinct.label}, each counted once, of {_described(plan)}"
        return f"{rows[0]['count']:,} different values of {what}."
    if plan.kind == "count":
        number = rows[0]["count"]
        noun, verb = (plan.entity.one, "is") if number == 1 else (plan.entity.many, "are")
        return f"There {verb} {number:,} {noun}{_stated(plan)}."
    if plan.kind == "share" and plan.share_of is not None:
        if plan.measure is not None:
            return _shares(plan, compiled, rows)
        row = rows[0]
        head = f"{plan.share_of.words.capitalize()}: {_percent(row['percent'])}"
        of_all = f"{row['hits'] or 0:,} of {row['count']:,} {plan.entity.many}"
        return f"{head}, {of_all}{_stated(plan)}."
    figure = next(column for column in compiled.columns if column.name in compiled.figures)
    values = [_value(figure, row, compiled.currency) for row in rows]
    if all(row[figure.name] is None for row in rows):
        return f"There is nothing to compute it from: no {_described(plan)}."
    unit = f" {plan.measure.unit}" if plan.measure is not None and plan.measure.unit else ""
    return f"{figure.label}{_stated(plan)}: {', '.join(values)}{unit}."


def _shares(plan: Plan, compiled: Compiled, rows: Sequence[Row]) -> str:
    """What part of an amount it is, in each currency."""
    assert plan.share_of is not None
    hits, total = (one for one in compiled.columns if one.name in ("hits", "total"))
    parts = [
        f"{_percent(row['percent'])} ({_value(hits, row, compiled.currency)} of "
        f"{_value(total, row, compiled.currency)})" for row in rows
    ]  # fmt: skip
    label = f"{plan.share_of.words}, share of {total.label.lower()}"
    return f"{label[:1].upper()}{label[1:]}{_stated(plan)}: {', '.join(parts)}."


def _grouped(
    plan: Plan, compiled: Compiled, rows: Sequence[Row], groups: Sequence[Column], total: int
) -> str:
    figures = [column for column in compiled.columns if column.name in compiled.figures]
    figure = next((one for one in figures if one.type == "percent"), figures[0])
    several = plan.figures or plan.sides
    values = [
        _figures(compiled, row) if several else _with_worth(figures, figure, row, compiled)
        for row in rows[:SHOWN]
    ]
    shown = [f"{_name(groups, row)} {value}" for row, value in zip(rows, values, strict=False)]
    more = total - len(shown)
    rest = f" and {more:,} more" if more > 0 else ""
    if several:
        return f"{_capitalised(_described(plan))}: {'; '.join(shown)}{rest}."
    unit = f" {plan.measure.unit}" if plan.measure is not None and plan.measure.unit else ""
    return f"{figure.label}{_stated(plan)}{unit and f' in{unit}'}: {'; '.join(shown)}{rest}."


def _with_worth(figures: Sequence[Column], figure: Column, row: Row, compiled: Compiled) -> str:
    """The figure of a group; of an amount in another currency also what it is worth."""
    text = _value(figure, row, compiled.currency)
    worth = next((one for one in figures if one.name == "worth" and one is not figure), None)
    if worth is None or row.get(compiled.currency or "") == worth.currency:
        return text
    return f"{text} ({_value(worth, row, None)})"


def _name(groups: Sequence[Column], row: Row) -> str:
    names = {column.name: row.get(column.name) for column in groups}
    if names.get("week") is not None:
        names["week"] = f"week of {names['week']}"
    for grain in CYCLES:
        if grain in names:
            names[grain] = cycle_name(grain, names[grain])
    if "year" in names and len(names) > 1:
        year = names.pop("year")
        grain = next(
            name for name in ("month", "quarter", "half") if name in names or name == "half"
        )
        part = names.pop(grain, None)
        if year is None or part is None:
            stamp = "no date"
        else:
            stamp = f"{year}-{part:02d}" if grain == "month" else f"{grain[0].upper()}{part} {year}"
        return " ".join([stamp, *(_text(value) for value in names.values())])
    return " / ".join(_text(value) for value in names.values())


def cycle_name(grain: str, number: Any) -> str | None:
    """``Monday`` for weekday 1, ``March`` for month 3, ``14:00-14:59`` for hour 14."""
    if number is None:
        return None
    at = int(number)
    if grain == "hour":
        return f"{at:02d}:00-{at:02d}:59"
    return calendar.day_name[at - 1] if grain == "weekday" else calendar.month_name[at]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "(none)" if value is None else str(value)


def _compared(plan: Plan, compiled: Compiled, row: Row) -> str:
    now, before = (column for column in compiled.columns if column.name in ("current", "previous"))
    moved = _moved(row)
    labels = [column for column in compiled.columns if column.name not in compiled.figures]
    who = _name([one for one in labels if one.name != compiled.currency], row)
    head = f"{who}: " if who else ""
    later = f"{now.label} {_value(now, row, compiled.currency)}"
    earlier = f"{before.label.lower()} {_value(before, row, compiled.currency)}"
    return f"{head}{later}, {earlier}: {moved}."


def _moved(row: Row) -> str:
    """How a figure changed, in percent; of shares in percentage points."""
    unit, name = ("%", "changePercent") if "changePercent" in row else ("points", "change")
    change = row[name]
    return "no figure before to compare with" if change is None else f"{change:+} {unit}"


def _value(column: Column, row: Row, currency: str | None) -> str:
    value = row.get(column.name)
    if value is None:
        return "-"
    if column.type == "percent":
        return _percent(value)
    if column.type == "money":
        code = column.currency or row.get(currency or "", "") or ""
        amount = Decimal(value)
        return plain(rounded(amount, code), code) if code else f"{amount:,.2f}"
    return number(value)


def _percent(value: Any) -> str:
    return "-" if value is None else f"{Decimal(value):.1f} %"


def number(value: Any) -> str:
    """A number as people read it."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{round(Decimal(value), 2):,}"


def sentences(parts: Iterable[str]) -> str:
    """Parts as one text."""
    return " ".join(part for part in parts if part)
