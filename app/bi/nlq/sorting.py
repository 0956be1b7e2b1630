"""What a list is sorted by: ``open deals by value``, ``unpaid invoices by due date``."""

from __future__ import annotations

from app.bi.nlq.asking import Asking
from app.bi.nlq.slots import Slot
from app.bi.plans.entities import Measure


class Sorting(Asking):
    """The part of a reading that is about lists, what they show and their order."""

    _by_at: int
    _open: dict[str, str]
    _has_period: bool

    def _is_of_each(self, at: int, slot: Slot) -> bool:
        """A figure that a list shows, or what it is sorted by: ``active projects by budget``."""
        measure: Measure | None = slot.meanings.get("measure")
        if measure is not None and self._is_figure_beside(at, measure):
            self.columns.append(measure.value)
        elif measure is not None and self._is_list_by(at) and self._is_summed(measure):
            self._sort_by(f"{measure.value} desc", slot.text)
        elif "date" in slot and self._is_dated_by(at):
            self._sort_by(slot["date"], slot.text)
            self.unsure += slot["date"] not in self.entity.data.get("ahead", ())
        elif "date" in slot and (self._is_dated_by(at, grouping=True) or self._is_one_more(at)):
            self.left.append(f"{self._slots[at - 1].text} {slot.text}")  # "invoices per due date"
        else:
            return False
        return True

    def _sort_by(self, order: str, words: str) -> None:
        self.order, self.order_words = order, f"by {words}"
        self._by = False
        self._open.pop("by", None)
        self.score += 2

    def _is_figure_beside(self, at: int, measure: Measure) -> bool:
        """``unpaid invoices with their amount due``: a column of each of them."""
        shown = at > 0 and "shows" in self._slots[at - 1] and self.noun_at is not None
        asked = self.flags & {"count", "how_much", "sum", "average", "share"} or self.rank
        grouped = any({"by", "grain"} & set(one.meanings) for one in self._slots)
        return shown and not asked and not grouped and self.entity.is_number(measure.value)

    def _is_sorted_by(self, at: int) -> bool:
        """``open deals by value``: each of them, and in what order."""
        return self._is_list_by(at) and self.amount is not None

    def _is_list_by(self, at: int, *, grouping: bool = False) -> bool:
        """Whether a list is asked for, and this says in what order; ``per`` makes groups."""
        is_by = at - self._by_at == 1
        is_by = is_by and (self._slots[at - 1].text.lower() == "by") != grouping
        return is_by and self._is_list()

    def _is_dated_by(self, at: int, *, grouping: bool = False) -> bool:
        """``open invoices by due date``: the noun stands before the ``by``, and no day behind."""
        is_noun = self.noun_at is not None and self._by_at - 1 == self.noun_at
        is_by = self._is_list_by(at, grouping=grouping)
        return is_noun and is_by and not self._has_period

    def _is_one_more(self, at: int) -> bool:
        """``by assignee and due date``: days are no groups."""
        linked = "or" in self._slots[at - 1] and "dimension" in self._slots[at - 2]
        return at > 1 and self._by and bool(self.dimensions) and linked and not self._has_period
