"""Groups chosen by their figure, and amounts converted: what a reading makes of a plan."""

from __future__ import annotations

from dataclasses import replace

from app.bi.nlq.checking import UnclearError
from app.bi.nlq.reading import Reading
from app.bi.plans.plan import Plan
from app.settings import organisation


def group_kind(reading: Reading) -> str | None:
    """What is compared with the threshold: a number of records, or a figure; None without one."""
    if reading.threshold is None:
        return None
    if reading.rate is not None:
        return "share"
    return "count" if reading.threshold.counted else "measure"


def with_threshold(plan: Plan, reading: Reading) -> Plan:
    """The plan, with those of its groups only whose figure is as wanted.

    Raises: UnclearError.
    """
    threshold = reading.threshold
    if threshold is None:
        return plan
    if not (plan.dimensions or plan.grain):
        raise UnclearError("of what groups the figure is compared")
    if plan.compared is not None or plan.is_within or (plan.kind == "measure" and not plan.measure):
        raise UnclearError("what is compared with what")
    counts = reading.distinct is not None
    plan = replace(plan, threshold=threshold, is_counted=counts)
    if plan.money is not None and not threshold.counted:
        given = any(one.path == plan.money for one in plan.conditions)
        if not given and not counts:
            return plan.with_assumption("amounts of each currency are compared by themselves")
        if not given:
            raise UnclearError("in which currency the amounts are compared")
    return plan


def with_conversion(plan: Plan, reading: Reading) -> Plan:
    """The plan, its amounts converted into one currency where that is asked for.

    Raises: UnclearError.
    """
    if "one_currency" not in reading.flags:
        return plan
    own = organisation().defaults.currency
    if reading.converted not in (None, own):
        raise UnclearError(f"at what rates: amounts are converted into {own} alone")
    if plan.kind != "measure" or plan.money is None or plan.threshold is not None:
        raise UnclearError("what amounts are to be converted")
    return replace(plan, is_converted=True)
