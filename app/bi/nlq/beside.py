"""What stands beside a word and says how it is meant."""

from __future__ import annotations

from typing import Any

from app.bi.nlq.asking import Asking
from app.bi.nlq.bounds import OPERATORS
from app.bi.nlq.ordering import RANKS
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
    measure_at: int | None
    _by: bool
    _not: bool
    _open: dict[str, str]
    _has_period: bool

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

    def _is_helping(self, at: int) -> bool:
        """``got solved``: the verb behind it says what was done."""
        behind = [one for one in self._slots[at + 1 : at + 3] if set(one.meanings) != {"stop"}]
        return bool(behind) and bool({"state", "date"} & set(behind[0].meanings))

    @property
    def counts_measure(self) -> bool:
        """``how many reminders did we send for invoices``: the figure is meant, not the records."""
        if self.noun_at is None or self.measure_at is None or self.noun_at < self.measure_at:
            return self.noun_at is None
        before = [one for one in self._slots[: self.measure_at] if set(one.meanings) != {"stop"}]
        return bool(before) and "count" in before[-1]

    def _is_ranked(self, at: int) -> bool:
        """Whether a rank was named, or is behind this place."""
        return self.rank is not None or any(set(RANKS) & set(one.meanings)
                                            for one in self._slots[at + 1 :])  # fmt: skip

    def _is_named(self, at: int) -> bool:
        """Whether a property stands here and no value of it behind."""
        found = [one for one in self._slots[at : at + 4] if set(one.meanings) != {"stop"}]
        behind = set(found[1].meanings) if len(found) > 1 else set()
        named = {"property", "dimension", "date"} & set(found[0].meanings) if found else set()
        return bool(named) and not {"state", "value", "number"} & behind

    def _is_per_record(self, at: int) -> bool:
        """``amount per invoice``: of each of them on average."""
        figured = self.measure is not None or self.flags & {"amount", "average"}
        behind = self._slots[at + 1] if at + 1 < len(self._slots) else None
        if behind is not None and "dimension" in behind:
            return False  # "per article category"
        return at - self._by_at <= 2 and bool(figured) and "count" not in self.flags

    def _milestone(self, at: int, slot: Slot) -> dict[str, Any] | None:
        """``invoices that we sent``: done once, whatever became of them since.

        Before the noun, or behind the name of the property, it is the state that they are in.
        """
        done = self.entity.data.get("milestones", {}).get(slot.text.lower())
        if done is None or "state" not in slot or self._is_attribute(at):
            return None
        before = [one for one in self._slots[max(0, at - 3) : at] if set(one.meanings) != {"stop"}]
        is_dated = self._has_period and "date" in slot
        if is_dated or (before and self._is_value_of(before[-1], slot)):
            return None
        positive, negative = done
        if self._not:
            self._not = False
            self._open.pop("not", None)
            words = f"not {slot.text.lower()}"
            return {**slot["state"], "text": negative, "property": None, "words": words}
        return {**slot["state"], "text": positive, "property": None} if positive else None

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
        if "dimension" not in slot:
            return False
        return "state" in other and other["state"].get("property") == slot["dimension"].path
