"""What stands beside a word and says how it is meant."""

from __future__ import annotations

from app.bi.nlq.asking import Asking
from app.bi.nlq.bounds import OPERATORS
from app.bi.nlq.slots import Slot
from app.bi.nlq.vocabulary import Dimension

SHIFTS = ("day", "week", "month", "quarter", "half", "year")
# Slots between a "by" and what it is about, at most.
NEAR = 3


class Beside(Asking):
    """The part of a reading that looks at the words around one."""

    flags: set[str]
    dimensions: list[Dimension]
    subjects: list[Dimension]
    grain: str | None
    rank: str | None
    _by_at: int

    def _is_doer(self, at: int) -> bool:
        """Whether a verb stands before the ``by`` and a name behind whom it is about."""
        by_at = self._by_at if 0 < self._by_at < at <= self._by_at + NEAR else None
        if by_at is None or not {"date", "with"} & set(self._slots[by_at - 1].meanings):
            return False
        around = [*self._slots[by_at + 1 : at], *self._slots[at + 1 : at + 4]]
        return any("value" in slot for slot in around)

    def _qualified(self, at: int) -> Dimension | None:
        """The group that an "of" says more of: it is not one more group."""
        place = at - 1
        while place > 0 and set(self._slots[place].meanings) == {"stop"}:
            place -= 1
        between = [one.text.lower() for one in self._slots[place + 1 : at]]
        is_group = self.dimensions and self._slots[place].meanings.get("dimension")
        return self.dimensions[-1] if is_group and "of" in between else None

    def _is_attribute(self, at: int) -> bool:
        """``outstanding invoices``: the word says which records, it is no figure of them."""
        behind = self._slots[at + 1] if at + 1 < len(self._slots) else None
        return behind is not None and behind.meanings.get("noun") == self.entity.key

    def _is_since_when(self, at: int) -> bool:
        """``tasks blocked since May``: since when they are so is not what is known of them."""
        before = self._slots[at - 1] if at else None
        begins = self._slots[at]["period"].end is None and self._slots[at]["period"].start
        stated = before is not None and "state" in before and "date" not in before
        return bool(begins and stated and before and before["state"].get("date") is None)

    def _is_sorted_by(self, at: int) -> bool:
        """``open deals by value``: each of them, and in what order."""
        grouped = self.dimensions or self.grain or self.rank or self.subjects
        is_list = self.noun_at is not None and not self.flags & {"sum", "average", "count", "share"}
        return at - self._by_at == 1 and is_list and not grouped and self.amount is not None

    def _is_before_period(self, at: int) -> bool:
        times = {"period", "grain", "previous", "unit", *(f"shift_{unit}" for unit in SHIFTS)}
        behind = [one for one in self._slots[at + 1 : at + 5] if set(one.meanings) != {"stop"}]
        return bool(behind) and bool(times & set(behind[0].meanings))

    def _is_bounded(self, at: int) -> bool:
        rest = [one for one in self._slots[at + 1 : at + 4] if set(one.meanings) != {"stop"}]
        behind = rest[0] if rest else None
        if behind is None or self._next(at + 1, ("duration",)) is not None:
            return False  # "the overdue amount older than 90 days"
        return bool({*OPERATORS, "range"} & set(behind.meanings))

    def _is_unit(self, slot: Slot) -> bool:
        """``in hours``, of a figure that is in hours."""
        return self.measure is not None and slot.text.lower() == self.measure.unit

    def _is_value_of(self, slot: Slot, other: Slot) -> bool:
        """``high priority``, ``status paid``: the word names the property of the value."""
        return "state" in other and other["state"].get("property") == slot["dimension"].path
