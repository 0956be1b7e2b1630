"""An "or" between restrictions of different properties: ``blocked or overdue tasks``."""

from __future__ import annotations

from collections.abc import Sequence

from app.bi.nlq.slots import Slot
from app.bi.plans.plan import Condition

Placed = list[tuple[int, Condition]]
# What an "or" stands between, and what may stand beside it.
_SAID = {"state", "subset", "value"}
_SMALL = {"stop", "with", "or"}


def joined(slots: Sequence[Slot], conditions: Placed, *, has_period: bool) -> Placed:
    """The conditions, those with an "or" between them as one, at the place of the "or".

    Only where it is plain what it stands between: nothing negated, no number, no third one.
    """
    found = list(conditions)
    for at, slot in enumerate(slots):
        if slot.text.lower() != "or":
            continue
        before = next((one for one in reversed(found) if one[0] < at), None)
        behind = next((one for one in found if one[0] > at), None)
        if before is None or behind is None or not _are_beside(slots, before[0], at, behind[0]):
            continue
        pair = (before[1], behind[1])
        dated = has_period and any(one.date for one in pair)
        if is_same(*pair) or dated or any(one.negated for one in pair):
            continue
        found = [one for one in found if one not in (before, behind)]
        found = sorted([*found, (at, _either(*pair))], key=lambda one: one[0])
    return found


def is_either(slots: Sequence[Slot], conditions: Sequence[tuple[int, Condition]]) -> bool:
    """``overdue or over 5,000``: an "or" between restrictions that all have to hold."""
    places = {place for place, _ in conditions}
    for at, slot in enumerate(slots):
        if slot.text.lower() != "or" or at in places:
            continue
        before = [one for place, one in conditions if place < at]
        behind = [one for place, one in conditions if place > at]
        if before and behind and not is_same(before[-1], behind[0]):
            return not is_neither(before[-1], behind[0])
    return False


def is_neither(first: Condition, second: Condition) -> bool:
    """``without an email or a phone number``: both are missing."""
    return first.words.startswith("without ") and second.words.startswith("without ")


def _are_beside(slots: Sequence[Slot], before: int, at: int, behind: int) -> bool:
    """Whether nothing but small words stands between, and no third one in a list before."""
    if behind >= len(slots) or slots[before].apart:
        return False
    told = all(_SAID & set(slots[place].meanings) for place in (before, behind))
    between = [*slots[before + 1 : at], *slots[at + 1 : behind]]
    return told and all(_SMALL & set(one.meanings) for one in between)


def _either(first: Condition, second: Condition) -> Condition:
    amount = first.amount if first.amount == second.amount else None
    return Condition(
        f"({first.text} or {second.text})", f"{first.words} or {second.words}", amount=amount
    )


def is_same(first: Condition, second: Condition) -> bool:
    """Whether both are about one property: it has one of the values."""
    return _property(first) == _property(second)


def _property(condition: Condition) -> str:
    return condition.path or condition.text.partition(" ")[0]
