"""How far a "not" reaches: ``not in retail and hospitality``, ``never viewed and overdue``."""

from __future__ import annotations

from collections.abc import Sequence

from app.bi.nlq.either import Placed, is_same
from app.bi.nlq.slots import Slot
from app.bi.plans.plan import Condition

_AND = ("and", "&", "but")
# A verb behind an "and" begins to say something else of the records.
_VERBS = ("are", "is", "were", "was", "be", "been", "have", "has", "had", "that", "which", "who",
          "still", "already")  # fmt: skip
# What leaves out all that is in the list behind it, whatever each is about.
_LEAVING_OUT = ("except", "excluding", "exclude", "other than", "outside", "outside of", "neither",
                "nor", "apart from", "leaving out", "leave out", "not counting", "not including",
                "disregarding", "without", "without counting", "except for")  # fmt: skip


def goes_on(slots: Sequence[Slot], at: int) -> bool:
    """Whether a list such as ``neither A nor B`` goes on behind this place."""
    behind = slots[at + 1] if at + 1 < len(slots) else None
    if behind is None:
        return False
    listed = behind.apart and "state" in behind  # "not won, lost or open"
    return listed or "not" in behind or ("or" in behind and not _begins_anew(slots, at + 1))


def reaches(slots: Sequence[Slot], conditions: Placed, at: int, condition: Condition) -> bool:
    """Whether a "not" before the condition at the end is also one of the next.

    Behind an "and" it is one of another value of the same property; ``never viewed and overdue``
    says of the second that it is so.
    """
    if not conditions:
        return True
    place, last = conditions[-1]
    between = slots[place + 1 : at]
    if not any(one.text.lower() in _AND for one in between) or is_same(last, condition):
        return True
    said = next((one for one in reversed(slots[:at]) if {"not", "without"} & set(one.meanings)),
                None)  # fmt: skip
    told_again = any("not" in one for one in between)
    return told_again or said is None or said.text.lower() in _LEAVING_OUT


def _begins_anew(slots: Sequence[Slot], at: int) -> bool:
    """``and are overdue``, ``and due next week``."""
    behind = slots[at + 1] if at + 1 < len(slots) else None
    if behind is None or slots[at].text.lower() not in _AND:
        return False
    return behind.text.lower() in _VERBS or ("date" in behind and "state" not in behind)
