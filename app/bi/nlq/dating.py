"""By which date records are of a period, and with which other period that one is compared."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta

from app.bi.nlq.checking import UnclearError
from app.bi.nlq.reading import Reading
from app.bi.nlq.tenses import is_same_days
from app.bi.periods.spans import Period, step, unit_start
from app.bi.plans.plan import Plan

# What records are now, and have not been since a day that is kept.
_NOW = re.compile(r"\b(?:status in|isOverdue|amountDue|slaStatus eq 'AtRisk')")


def with_period(plan: Plan, reading: Reading) -> Plan:
    """The plan of the period that is asked about, and of the one that it is compared with.

    Raises: UnclearError.
    """
    stated = [one.date for one in plan.conditions if one.date and not one.negated]
    measured = reading.measure.date if reading.measure is not None else None
    rated = reading.rate.date if reading.rate is not None else None
    if _is_of_two_dates(reading):
        stated, plan = [], replace(plan, unsure=plan.unsure + 1)
    if is_of_records(reading):
        rated, stated = None, []
    date = reading.date or (stated[0] if stated else None) or measured or rated or plan.entity.date
    plan = replace(plan, date=date)
    periods = reading.periods
    several = len(reading.periods) > 1 or reading.shift is not None
    wants_compared = bool(reading.flags & {"change", "previous"}) or (
        "compare" in reading.flags and (several or not plan.dimensions)
    )
    wants_compared = wants_compared or reading.shift is not None
    only = wants_compared and not several and not reading.flags & {"change", "previous"}
    if only and reading.sets_against:
        raise UnclearError("what is to be set against what")
    if len(periods) > 2:
        raise UnclearError("which of the periods is meant")
    if len(periods) == 2:
        if not wants_compared:
            raise UnclearError("which of the two periods is meant")
        first, second = periods
        if (second.start or first.start) and first.start and second.start:
            first, second = sorted((first, second), key=_start, reverse=True)
        left = periods[_is_turned_round(reading)]
        return replace(plan, period=first, compared=second, is_reversed=left is not first)
    if not periods:
        if reading.shift is not None:
            return _to_date(plan, reading)
        if wants_compared:
            raise UnclearError("which periods are to be compared")
        return plan
    period = periods[0]
    if wants_compared and reading.shift is None and _is_other(reading):
        return _with_running(plan, period, reading.now.today)
    plan = replace(plan, period=period)
    whole = None if wants_compared else period.whole(plan.grain or "day", reading.now.today)
    if whole is not None:
        plan = replace(plan, period=whole, unsure=plan.unsure + 1)
        plan = plan.with_assumption(f"whole {plan.grain}s count, without the one that runs")
    named = reading.date or stated or measured or rated
    if not named and "date_note" in reading.entity.data:
        plan = plan.with_assumption(reading.entity.data["date_note"])
    if wants_compared:
        _check_shift(plan, reading, period)
        if is_same_days(reading, period):
            end = reading.now.today + timedelta(days=1)
            period = replace(period, end=end, label=f"{period.label} to date", grain=None)
            plan = replace(plan, period=period)
        before = period.before() if reading.shift is None else period.earlier(reading.shift)
        if before is None:
            raise UnclearError("which period is to be compared with")
        plan = replace(plan, compared=before)
    return plan


def _check_shift(plan: Plan, reading: Reading, period: Period) -> None:
    """``month over month in 2026``: each month with the one before it, which one row cannot say.

    Raises: UnclearError.
    """
    units = ("day", "week", "month", "quarter", "half", "year")
    shift, whole = reading.shift, period.grain
    if shift in units and whole in units and units.index(shift) < units.index(whole):
        figure = plan.measure.label if plan.measure is not None else f"Number of {plan.entity.many}"
        raise UnclearError("which periods are to be compared",
                           (f"{figure} by {shift} {period.label}",))  # fmt: skip


def _to_date(plan: Plan, reading: Reading) -> Plan:
    """``year over year`` with no period: this year so far, and the same days a year before."""
    unit, today = reading.shift or "year", reading.now.today
    if (whole := reading.shift_of) not in (None, unit, "half") and whole:
        start = unit_start(today, whole)
        period = Period(start, step(start, whole, 1), f"this {whole}", whole)
        note = f"this {whole}, which is not over yet"
        return replace(plan, period=period, compared=period.earlier(unit)).with_assumption(note)
    start = unit_start(today, unit)
    period = Period(start, today + timedelta(days=1), f"this {unit} to date")
    note = f"this {unit} to date is compared with the same days of the {unit} before"
    compared = period.earlier(unit)
    return replace(plan, period=period, compared=compared).with_assumption(note)


def _start(period: Period) -> str:
    return str(period.start)


def _is_turned_round(reading: Reading) -> bool:
    """``compared to May, is June better?``: what it is compared with is named first."""
    at = [at for at, one in enumerate(reading.slots) if "period" in one][:2]
    compares = [at for at, one in enumerate(reading.slots) if "compare" in one]
    between = any(at[0] < one < at[-1] for one in compares)
    return not between and any(one < at[0] for one in compares)


def _is_of_two_dates(reading: Reading) -> bool:
    """``paid vs unpaid invoices this month``: only one of them has a date of its own."""
    if "compare" not in reading.flags or not reading.periods:
        return False
    dates: dict[str, set[str | None]] = {}
    for _, one in reading.conditions:
        if one.path is not None:
            dates.setdefault(one.path, set()).add(one.date)
    return any(len(found) > 1 for found in dates.values())


def is_of_records(reading: Reading) -> bool:
    """``this month's tickets``, ``invoices from May that are paid``: those made then."""
    slots = reading.slots
    if not reading.entity.data.get("made_in_period"):
        return False
    own = [at for at, one in enumerate(slots[:-1]) if "period" in one]
    for at in own:
        is_from = slots[at].text.lower().startswith("from ") and slots[at]["period"].grain
        done = at and {"date", "state"} & set(slots[at - 1].meanings)
        if is_from and not done and reading.noun_at is not None and reading.noun_at < at:
            return True
    return any(slots[at + 1].meanings.get("noun") == reading.entity.key for at in own)


def _is_other(reading: Reading) -> bool:
    """``revenue compared to last month``: the only period is the one to compare with."""
    slots = reading.slots
    at = next((at for at, one in enumerate(slots) if "period" in one), 0)
    before = [one for one in slots[:at] if set(one.meanings) != {"stop"}]
    return len(before) > 1 and "compare" in before[-1] and "previous" not in reading.flags


def _with_running(plan: Plan, period: Period, today: date) -> Plan:
    """The running month against an earlier one, and so on; what is so now is of no earlier day.

    Raises: UnclearError.
    """
    now = next((one for one in plan.conditions if _NOW.search(one.own_text) and not one.date), None)
    if now is not None or (plan.measure is not None and plan.measure.snapshot):
        words = now.words if now is not None else plan.measure.label.lower()  # type: ignore[union-attr]
        many, unit = plan.entity.many, period.grain or "month"
        made = f"Number of {many} created this {unit} compared with last {unit}"
        raise UnclearError(
            f"what was {words} then: only what is so now is known",
            (f"Number of {words} {many}", made),
        )
    start = None if period.grain is None else unit_start(today, period.grain)
    if start is None or period.grain is None or period.end is None or period.end > start:
        raise UnclearError(f"what is to be compared with {period.label}")
    running = Period(start, step(start, period.grain, 1), f"this {period.grain}", period.grain)
    note = f"this {period.grain}, which is not over yet, is compared"
    return replace(plan, period=running, compared=period).with_assumption(note)
