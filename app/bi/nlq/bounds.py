"""Numbers that restrict: ``over 5,000``, ``at least 50%``, ``more than 30 days overdue``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from decimal import Decimal

from app.bi.nlq.plan import Condition
from app.bi.nlq.slots import Slot
from app.bi.nlq.spans import Calendar, midnight, step
from app.bi.nlq.vocabulary import Entity, Measure, spoken

OPERATORS = {
    "more_than": "gt",
    "at_least": "ge",
    "less_than": "lt",
    "at_most": "le",
    "exactly": "eq",
}
_DAYS = {"day": 1, "week": 7, "month": 30, "quarter": 91, "year": 365}
SIGNS = {"gt": "over", "ge": "at least", "lt": "under", "le": "at most", "eq": "exactly"}


class Bounds:
    """The part of a reading that is about numbers."""

    entity: Entity
    now: Calendar
    conditions: list[tuple[int, Condition]]
    columns: list[str]
    measure: Measure | None
    flags: set[str]
    left: list[str]
    score: int
    unsure: int
    _slots: Sequence[Slot]

    @abstractmethod
    def _add(self, at: int, condition: Condition) -> None:
        """Take in a condition."""

    @abstractmethod
    def _currency(self, code: str) -> Condition:
        """The condition that amounts are in a currency."""

    def _bound(self, at: int, operator: str) -> int:
        """``over 5,000``, ``at least 50%``, ``more than 30 days``, ``more than 50 employees``."""
        behind = self._next(at, ("number", "duration"))
        if behind is None:
            self.left.append(self._slots[at].text)
            return at + 1
        slot = self._slots[behind]
        if "duration" in slot:
            self._duration(at, operator, *slot["duration"])
            return behind + 1
        after, currency = behind + 1, None
        if after < len(self._slots) and "currency" in self._slots[after]:
            currency, after = self._slots[after]["currency"], after + 1
        elif "currency" in self._slots[behind - 1]:
            currency = self._slots[behind - 1]["currency"]
        named = None
        if after < len(self._slots) and "property" in self._slots[after]:
            named, after = self._slots[after]["property"], after + 1
        path, words = self._bounded(at, named)
        if after < len(self._slots) and self._is_unit_of(path, self._slots[after]):
            after += 1  # "more than 80 hours"
        is_number_of = named is None and after < len(self._slots) and "noun" in self._slots[after]
        if path is None or is_number_of:  # "countries with more than 40 clients"
            self.left.append(f"{self._slots[at].text} {slot.text}")
            return after
        number = plain(slot["number"])
        self._add(at, Condition(f"{path} {operator} {number}", f"{words}{SIGNS[operator]} {number}",
                                date=None))  # fmt: skip
        if currency is not None:
            self._add(at, self._currency(currency))
        self.score += 1
        return after

    def _restrict_to(self, at: int, measure: Measure) -> None:
        """``with an outstanding amount over 500``: the figure restricts, it is not asked for."""
        self.measure = None
        if measure.filter is not None:
            self._add(at, Condition(measure.filter, measure.label.lower()))

    def _number_of(self, slot: Slot) -> str | None:
        """The property of a figure that each record has of itself."""
        measured = slot.meanings.get("measure")
        if measured is None or "property" in slot or not self.entity.is_number(measured.value):
            return None
        return str(measured.value)

    @staticmethod
    def _is_unit_of(path: str | None, slot: Slot) -> bool:
        """Whether a word behind a number is only what the property is counted in."""
        measured = slot.meanings.get("measure")
        return path is not None and measured is not None and measured.value == path

    def _duration(self, at: int, operator: str, count: int, unit: str) -> None:
        """``days in stage for more than 60 days``, else how old records are."""
        near = self._slots[max(0, at - 3) : at]
        named = [slot["property"] for slot in near if "property" in slot]
        if unit == "day" and any(path.startswith("days") for path in named):
            path, words = self._bounded(at, None)
            words = f"{words}{SIGNS[operator]} {count}"
            self._add(at, Condition(f"{path} {operator} {count}", words))
            self.score += 1
            return
        if unit in _DAYS and (path := self._lasting(at)) is not None:
            count *= _DAYS[unit]
            words = f"for {SIGNS[operator]} {count} days"
            self._add(at, Condition(f"{path} {operator} {count}", words))
            self.score += 1
            return
        self._age(at, operator, count, unit)

    def _lasting(self, at: int) -> str | None:
        """``in negotiation for more than 14 days``: how long it has been so, if that is known."""
        before = [one for one in self._slots[max(0, at - 3) : at] if set(one.meanings) != {"stop"}]
        is_for = any(one.text.lower() == "for" for one in self._slots[max(0, at - 2) : at])
        if not before or not is_for or "state" not in before[-1]:
            return None
        lasting = self.entity.data.get("lasting", {})
        state = before[-1]["state"]
        path: str | None = lasting.get(state.get("property") or state["text"].partition(" ")[0])
        # Since when it is so is known of nothing but what began with the record.
        first = self.entity.data.get("from_the_start", ())
        self.unsure += path is None and before[-1].text.lower() not in first
        return path

    def _next(self, at: int, kinds: Iterable[str]) -> int | None:
        """The place of the next slot of one of these kinds, small words between."""
        for place in range(at + 1, min(at + 4, len(self._slots))):
            slot = self._slots[place]
            if any(kind in slot for kind in kinds):
                return place
            if "stop" not in slot and "currency" not in slot and "with" not in slot:
                return None
        return None

    def _bounded(self, at: int, named: str | None) -> tuple[str | None, str]:
        """What a number is compared with: a property named beside it, or the usual amount."""
        if named is not None and self.entity.is_number(named):
            return named, f"{spoken(named)} "
        for place in (at - 1, at - 2, at - 3):
            slot = self._slots[place] if place >= 0 else None
            if slot is not None and (measured := self._number_of(slot)) is not None:
                if self.measure is slot.meanings["measure"]:
                    self._restrict_to(at, slot["measure"])
                return measured, f"{spoken(measured)} "
            if slot is not None and "property" in slot and self.entity.is_number(slot["property"]):
                if slot["property"] in self.columns:
                    self.columns.remove(slot["property"])
                if self.measure is not None and self.measure.value == slot["property"]:
                    self.measure = None
                self.flags -= {"sum", "amount"} & set(slot.meanings)  # "with a total over 5,000"
                return slot["property"], f"{spoken(slot['property'])} "
            if slot is None or not {"stop", "with"} & set(slot.meanings):
                break
        return self.amount, ""

    @property
    def amount(self) -> str | None:
        """The property of bare amounts, in the state that is asked for."""
        stated = [one.amount for _, one in self.conditions if one.amount]
        return stated[0] if stated else self.entity.amount

    @property
    def dimensions_only(self) -> bool:
        """Whether groups are asked for and no amount: a total of records is their number."""
        return self.entity.default_measure is None

    def _range(self, at: int, low: Decimal, high: Decimal) -> None:
        """``between 1000 and 2000``."""
        path, words = self._bounded(at, None)
        if path is None:
            self.left.append(self._slots[at].text)
            return
        first, last = plain(low), plain(high)
        words = f"{words}from {first} to {last}"
        self._add(at, Condition(f"{path} ge {first} and {path} le {last}", words))
        self.score += 1

    def _age(self, at: int, operator: str, count: int, unit: str) -> None:
        """Older than so many days: of what is overdue, counted from the due date."""
        day = step(self.now.today, unit, -count)
        around = [*self._slots[max(0, at - 3) : at], *self._slots[at : at + 5]]
        overdue = any("state" in s and "isOverdue" in s["state"]["text"] for s in around)
        paths = [p for p in ("dueDate", "dueAt", "endDate") if self.entity.prop(p)]
        path = paths[0] if overdue and paths else self.entity.date
        literal = str(day) if self.entity.is_date(path) else midnight(day, self.now.zone)
        turned = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge", "eq": "eq"}[operator]
        words = f"for {SIGNS[operator]} {count} {unit}s"
        self._add(at, Condition(f"{path} {turned} {literal}", words))
        self.score += 1


def plain(number: Decimal) -> str:
    """A number as OData writes it."""
    return f"{number.normalize():f}"
