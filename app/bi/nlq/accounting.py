"""Every word of a question accounted for: one that shows nowhere in the plan makes it unsure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from app.bi.nlq.checking import UnclearError
from app.bi.nlq.either import is_either
from app.bi.nlq.ordering import RANKS
from app.bi.nlq.reading import Reading
from app.bi.nlq.slots import Slot
from app.bi.plans.plan import Condition, Plan

# What says how a question is put, or is looked for in the plan elsewhere (checking.py).
_GRAMMAR = {
    "stop", "list", "and_then", "noun", "count", "how_much", "sum", "average", "share", "trend",
    "compare", "change", "previous", "amount", "listed", "when", "how_long", "with", "or", "by",
    "distinct", "of_person", "me", "shows", "ago", "times", "after_due",
}  # fmt: skip
# Longer questions are not gone through word by word.
_MOST_SLOTS = 40


def without_effect(
    slots: Sequence[Slot], plan: Plan, again: Callable[[Sequence[Slot]], Plan | None]
) -> tuple[str, ...]:
    """Words without which the same would be asked, and that the plan does not have either.

    Args:
        again: the plan of other slots; None where they give none.
    """
    if len(slots) > _MOST_SLOTS:
        return ()
    found = []
    for at, slot in enumerate(slots):
        if _GRAMMAR & set(slot.meanings) or _shows(slot, plan):
            continue
        other = again([*slots[:at], *slots[at + 1 :]])
        if other is not None and asked(other) == asked(plan):
            found.append(slot.text)
    return tuple(found)


def asked(plan: Plan) -> Plan:
    """What of a plan is asked of the data."""
    conditions = tuple(
        Condition(text, "") for text in dict.fromkeys(one.odata for one in plan.conditions)
    )
    date = plan.date if plan.period is not None else None
    measure = None if _only_counts(plan) else plan.measure
    return replace(plan, conditions=conditions, date=date, measure=measure, assumptions=(),
                   repaired=(), doubts=(), unsure=0, asked="", order_words="", zone="UTC",
                   today=None)  # fmt: skip


def _only_counts(plan: Plan) -> bool:
    """Whether a figure that a word named has no part in what is asked for."""
    return plan.kind == "count" and not plan.figures and plan.limit is None


def _shows(slot: Slot, plan: Plan) -> bool:
    """Whether what the words mean is somewhere in the plan."""
    if "number" in slot and slot["number"] == plan.limit:
        return True
    if {"grain", "unit"} & set(slot.meanings) and (plan.grain or plan.compared):
        return True
    if "period" in slot and slot["period"] in (plan.period, plan.compared):
        return True
    if plan.measure is not None and slot.text.lower() == plan.measure.unit:
        return True
    wanted = [slot.meanings[kind] for kind in ("state", "subset") if kind in slot]
    texts = [one.text for one in (*plan.conditions, *_hits(plan))]
    if any(state["text"] in text for state in wanted for text in texts):
        return True
    if set(RANKS) & set(slot.meanings) and (plan.ranked or plan.order):
        return True
    paths = [*texts, *plan.extra_columns, plan.order or "", plan.date or ""]
    paths += [plan.measure.value if plan.measure is not None and not _only_counts(plan) else ""]
    paths += [one.path for one in (*plan.dimensions, *plan.within)]
    return any(value in path for value in _paths(slot) for path in paths)


def _hits(plan: Plan) -> tuple[Condition, ...]:
    return () if plan.share_of is None else (plan.share_of,)


def _paths(slot: Slot) -> list[str]:
    found: list[str] = [slot.meanings[kind] for kind in ("date", "property") if kind in slot]
    if "dimension" in slot:
        found += [slot["dimension"].path, slot["dimension"].key or slot["dimension"].path]
    return [*found, slot["measure"].value] if "measure" in slot else found


def unaccounted(
    reading: Reading, plan: Plan, again: Callable[[Sequence[Slot]], Plan | None]
) -> int:
    """How many words show nowhere in the plan.

    Raises: UnclearError.
    """
    if is_either(reading.slots, reading.conditions):
        raise UnclearError("whether both have to hold, or one of them")
    return len(without_effect(reading.slots, plan, again))
