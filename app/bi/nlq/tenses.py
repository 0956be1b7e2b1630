"""What is over, what lies ahead, and how long it took from one to the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from app.bi.nlq.checking import UnclearError
from app.bi.nlq.pending import is_pending
from app.bi.nlq.reading import Reading
from app.bi.periods.spans import Period
from app.bi.plans.entities import Measure
from app.bi.plans.plan import Plan


def took_how_long(reading: Reading) -> Measure | None:
    """``how long do we take to solve tickets``: the duration that ends with what is done."""
    if "how_long" not in reading.flags:
        return None
    dates = [reading.date, *(one.date for _, one in reading.conditions)]
    durations = reading.entity.data.get("durations", {})
    label = next((durations[one] for one in dates if one in durations), None)
    return next((one for _, one in reading.entity.measures if one.label == label), None)


def of_stated(measure: Measure, reading: Reading) -> Measure:
    """``days to close of lost deals``: those that ended so, not the ones that usually count."""
    ended = [one.date for _, one in reading.conditions if one.date and not one.negated]
    is_duration = measure.date is not None and measure.unit == "days"
    return replace(measure, filter=None) if is_duration and measure.date in ended else measure


def check_to_come(plan: Plan, reading: Reading) -> None:
    """Figures of days that are all still to come are forecasts, but of what is planned.

    Raises: UnclearError.
    """
    if plan.period is not None and plan.period.hours and plan.entity.is_date(plan.date or ""):
        raise UnclearError("at what hour: there is a date and no time of it")
    _check_kept(plan, reading)
    data = plan.entity.data
    if any(is_pending(one.words) and one.negated for one in plan.conditions):
        raise UnclearError("what does not have to be done: only what is still to be done is known")
    waiting = any(is_pending(one.words) and one.date is None for one in plan.conditions)
    if waiting and plan.period is not None and not reading.date:
        raise UnclearError("by which day it is to be done: that is not kept")
    if plan.date in (*data.get("ahead", ()), *data.get("planned", ())):
        return
    today = reading.now.today
    start = plan.period.start if plan.period is not None else None
    end = plan.period.end if plan.period is not None else None
    if any("will" in one.text.lower().split() for one in reading.slots):
        raise UnclearError("what will be: nothing is forecast")
    # On a Monday "this week" begins today, and is not still to come.
    is_running = plan.period is not None and plan.period.grain is not None
    is_next = start == today and end is not None and (end - today).days > 1 and not is_running
    # "created within 2 days" may be about the last two.
    is_next = is_next and not any("within_time" in one for one in reading.slots)
    if is_next or (start is not None and start > today):
        raise UnclearError("what is still to come: nothing is forecast")


def _check_kept(plan: Plan, reading: Reading) -> None:
    """What is not kept by date: the state of records at an earlier time, how often they were read.

    Raises: UnclearError.
    """
    ago = [one for one in (plan.period, plan.compared) if one and one.label.endswith(" ago")]
    stated = [one for one in plan.conditions if one.path in ("status", "stage") and not one.date]
    if ago and stated and not reading.date and plan.date == plan.entity.date:
        words = stated[0].spoken
        raise UnclearError(f"what was {words} {ago[0].label}: only what is so today is kept")
    figure = (plan.order or "").removesuffix(" desc")
    figure = plan.measure.value if plan.measure is not None else figure
    counters: Mapping[str, str] = plan.entity.data.get("counters", {})
    of_making = plan.date == plan.entity.date and not reading.date
    if figure in counters and plan.period is not None and of_making:
        raise UnclearError(f"when that was: only how many {counters[figure]} there are is kept")


def of_making(plan: Plan) -> Plan:
    """``drafts since Monday``: what has no date of its own yet is of the day of its making."""
    undated = plan.entity.data.get("undated", ())
    made = any(one.text in undated and not one.negated for one in plan.conditions)
    if not made or plan.period is None or plan.date != plan.entity.date:
        return plan
    return replace(plan, date="createdAt").with_assumption("the day on which they were made counts")


def is_same_days(reading: Reading, period: Period) -> bool:
    """``this year vs the same period last year``: as much of it as is over."""
    same = {"period", "time", "days"}
    units = ("year", "quarter", "month", "week")
    said = any(same & set(one.text.lower().split()) for one in reading.slots
               if any(f"shift_{unit}" in one for unit in units))  # fmt: skip
    today = reading.now.today
    return (
        said
        and period.start is not None
        and period.end is not None
        and (period.start <= today and period.end > today + timedelta(days=1))
    )
