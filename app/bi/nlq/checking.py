"""What a question says must show in its plan: what is left over makes it unclear or unsure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.bi.nlq.plan import Plan
from app.bi.nlq.reading import Reading
from app.bi.nlq.vocabulary import Dimension


class UnclearError(Exception):
    """The words were understood, what they ask for together was not; ``choices`` may settle it."""

    def __init__(self, text: str, choices: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.choices = tuple(choices)


def checked(plan: Plan, reading: Reading) -> Plan:
    """Words that say what is wanted must show in the plan; where they hardly do, it is unsure.

    Raises: UnclearError.
    """
    flags = reading.flags
    totals = reading.entity.data.get("totals")
    if (
        "average" in flags
        and totals
        and plan.dimensions
        and reading.measure_word in totals["words"]
    ):
        by = f"by {plan.dimensions[0].label}" + (f" {plan.period.label}" if plan.period else "")
        choices = (f"{reading.measure_word.capitalize()} {by}", f"Average {totals['single']} {by}")
        raise UnclearError("whether totals or single amounts are averaged", choices)
    if "average" in flags and plan.method != "average" and plan.kind != "mean":
        raise UnclearError("of what the average is wanted")
    if flags & {"change", "previous"} and plan.compared is None:
        raise UnclearError("what is to be compared")
    if "share" in flags and plan.kind != "share":
        raise UnclearError("the share of what is wanted")
    if reading.rank and not (plan.ranked or plan.order or plan.method in ("max", "min")):
        raise UnclearError(f"what is meant by {reading.rank_word}")
    if "how_much" in flags and plan.kind not in ("measure", "share"):
        raise UnclearError("what amount is meant")
    if "when" in flags and (plan.order is None or plan.kind != "list"):
        raise UnclearError("whose date is wanted")
    timed = reading.periods or reading.grain or reading.rank or reading.sort or reading.unit
    implied = reading.entity.date_filters.get(reading.date or "")
    if (
        reading.date
        and not (timed or implied or "when" in flags)
        and plan.kind in ("list", "count")
    ):
        plan = replace(plan, unsure=plan.unsure + 1)  # "which invoices does ACME pay"
    figures = {
        "how_much",
        "sum",
        "average",
        "amount",
        "compare",
        "trend",
        *reading.flags & {"list"},
    }
    said = flags & figures or plan.dimensions or plan.grain or plan.ranked or reading.rank
    named = reading.noun_at is not None and reading.measure_at is not None
    if (
        plan.kind == "measure"
        and named
        and not said
        and (reading.noun_at or 0) < (reading.measure_at or 0)
    ):
        return replace(plan, unsure=plan.unsure + 1)  # "invoices with a discount"
    return plan


def check_ranks(reading: Reading, dimensions: Sequence[Dimension]) -> None:
    """What looks like a ranking and is none that one query gives.

    Raises: UnclearError.
    """
    ranked = reading.rank in ("desc", "asc")
    if ranked and len(dimensions) > 1 and reading.subjects:
        inner, outer = reading.subjects[0].label, dimensions[0].label
        raise UnclearError(f"how to rank the {inner} within each {outer}: ask for one {outer}")
    if ranked and dimensions and reading.grain:
        raise UnclearError(f"how to rank the {dimensions[0].label} within each {reading.grain}")
    figure = reading.measure or reading.rate
    if ranked and dimensions and reading.order and not reading.order_words.startswith("by "):
        label = dimensions[0].label
        raise UnclearError(f"how to rank {reading.entity.many} within each {label}: ask for one")
    if reading.rank_word in ("best", "worst") and figure is None:
        raise UnclearError(f"by what the {reading.rank_word} is chosen")
    if reading.unit and reading.rank is None:
        raise UnclearError(f"which {reading.unit} is wanted")


def has_head(reading: Reading) -> bool:
    """Whether a word says what is asked for: records of a kind, or a figure of them."""
    figures = reading.measure or reading.rate or reading.order
    amount = {"amount", "how_much"} & reading.flags and reading.entity.default_measure
    owed = any(one.amount for _, one in reading.conditions)
    grouped = reading.dimensions or reading.grain or (reading.subjects and reading.rank)
    stated = bool(reading.conditions and grouped)
    said = reading.noun_at is not None or reading.is_record
    return bool(said or figures or amount or owed or stated)


def has_needs(reading: Reading) -> bool:
    """Whether records that nobody asks for by themselves are what the question is about."""
    needed = reading.entity.data.get("needs")
    if needed is None or reading.noun_at is not None:
        return True
    path = reading.entity.dimensions[needed].path
    named = any(one.path == path for _, one in reading.conditions)
    counted = reading.measure is not None and reading.measure.money is None
    return (
        named
        or counted
        or any(one.name == needed for one in (*reading.dimensions, *reading.subjects))
    )
