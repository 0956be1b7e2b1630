"""What is over, what lies ahead, and how long it took from one to the other."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from app.bi.nlq.checking import UnclearError
from app.bi.nlq.pending import is_pending
from app.bi.nlq.plan import Plan
from app.bi.nlq.reading import Reading
from app.bi.nlq.spans import Period
from app.bi.nlq.vocabulary import Measure


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
    is_next = start == today and end is not None and (end - today).days > 1
    # "created within 2 days" may be about the last two.
    is_next = is_next and not any("within_time" in one for one in reading.slots)
    if is_next or (start is not None and start > today):
        raise UnclearError("what is still to come: nothing is forecast")


def is_same_days(reading: Reading, period: Period) -> bool:
    """``this year vs the same period last year``: as much of it as is over."""
    same = {"period", "time", "days"}
    said = any(same & set(one.text.lower().split()) for one in reading.slots
               if any(f"shift_{unit}" in one for unit in ("year", "quarter", "month")))  # fmt: skip
    today = reading.now.today
    return (
        said
        and period.start is not None
        and period.end is not None
        and (period.start <= today and period.end > today + timedelta(days=1))
    )
