"""What is over, what lies ahead, and how long it took from one to the other."""

from __future__ import annotations

from datetime import date

from app.bi.nlq.checking import UnclearError
from app.bi.nlq.plan import Plan
from app.bi.nlq.reading import Reading
from app.bi.nlq.vocabulary import Measure


def took_how_long(reading: Reading) -> Measure | None:
    """``how long do we take to solve tickets``: the duration that ends with what is done."""
    if "how_long" not in reading.flags:
        return None
    dates = [reading.date, *(one.date for _, one in reading.conditions)]
    durations = reading.entity.data.get("durations", {})
    label = next((durations[one] for one in dates if one in durations), None)
    return next((one for _, one in reading.entity.measures if one.label == label), None)


def check_to_come(plan: Plan, today: date) -> None:
    """Figures of days that are all still to come are forecasts, but of what is planned.

    Raises: UnclearError.
    """
    data = plan.entity.data
    if plan.date in (*data.get("ahead", ()), *data.get("planned", ())):
        return
    start = plan.period.start if plan.period is not None else None
    if start is not None and start > today:
        raise UnclearError("what is still to come: nothing is forecast")
