"""Numbers that restrict: ``over 5,000``, ``at least 50%``, ``more than 30 days overdue``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

from app.bi.nlq.lasting import Lasting
from app.bi.nlq.slots import Slot
from app.bi.nlq.thresholds import plain
from app.bi.plans.entities import Measure, spoken
from app.bi.plans.plan import SIGNS, Condition, Threshold

OPERATORS = {
    "more_than": "gt",
    "at_least": "ge",
    "less_than": "lt",
    "at_most": "le",
    "exactly": "eq",
}
# Nobody means an amount of a client by less, if no currency is said.
_SMALL = 1000
# How properties end that are percentages.
_PERCENTAGES = ("Percent", "Rate", "probability")


class Bounds(Lasting):
    """The part of a reading that is about numbers."""

    columns: list[str]
    left: list[str]
    doubts: list[tuple[str, str]]

    def _bound(self, at: int, operator: str) -> int:
        """``over 5,000``, ``at least 50%``, ``more than 30 days``, ``more than 50 employees``."""
        behind = self._next(at, ("number", "duration"))
        if behind is None:
            self.left.append(self._slots[at].text)
            return at + 1
        slot = self._slots[behind]
        if "percent" in slot and (rated := self._next(behind, ("rate",))) is not None:
            self.rate = self.rate or self._slots[rated]["rate"]  # "below a 45% win rate"
            self.threshold = Threshold(operator, plain(slot["number"]), counted=False)
            self.score += 3
            return rated + 1
        if "percent" in slot and self.rate is not None and not self._is_of_groups(at, behind):
            self.threshold = Threshold(operator, plain(slot["number"]), counted=False)
            return behind + 1  # "win rate under 40% by source"
        if "percent" in slot and self.rate is None and self._is_of_groups(at, behind):
            self.left.append(f"{self._slots[at].text} {slot.text}")
            return behind + 1
        if "percent" in slot and (limit := self._limit(behind)) is not None:
            return self._part_of(at, operator, slot["number"], *limit)
        if self._is_of_groups(at, behind):
            return self._of_groups(at, behind, operator)
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
            if doubt := self.entity.doubts.get(self._slots[after - 1].text.lower()):
                self.doubts.append(doubt)  # "with more than 100k revenue"
        elif after < len(self._slots) and (named := self._number_of(self._slots[after])):
            after += 1  # "with more than one reminder"
        path, words = self._bounded(at, named)
        if named is None and (computed := self._computed(after)) is not None:
            path, words, after = f"({computed.value})", f"{computed.label.lower()} ", after + 1
        if "percent" in slot and not (path or "").endswith(_PERCENTAGES):
            # "80 % of their hours" is no number of hours, and "at 50 %" is how likely it is.
            path = self._percentage(path) or (None if named else self.entity.data.get("percent"))
            words = f"{spoken(path)} " if path else ""
        small = self.entity.data.get("unranked") and slot["number"] < _SMALL and currency is None
        if (self.threshold is not None or small) and named is None and not words:
            self.left.append(f"{self._slots[at].text} {slot.text}")
            return after  # "... and fewer than 10 lost deals": groups are chosen by one figure
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

    def _limit(self, at: int) -> tuple[int, str] | None:
        """``50 % of their credit limit``: where that stands, and the property."""
        limits = self.entity.data.get("limits", {})
        for place in range(at + 1, min(at + 5, len(self._slots))):
            slot = self._slots[place]
            named = slot.meanings.get("property") or self._number_of(slot)
            named = self.entity.data.get("limited", {}).get(named, named)
            if named in limits:
                return place, str(named)
            if not {"stop", "shows"} & set(slot.meanings):
                return None
        return None

    def _part_of(self, at: int, operator: str, percent: Decimal, place: int, limit: str) -> int:
        """Take in what is compared with a part of its limit; returns the place of the next slot."""
        path = self.entity.data["limits"][limit]
        for column in [one for one in self.columns if one == path]:
            self.columns.remove(column)  # "used more than 80 % of ..."
        if self.measure is not None and self.measure.value == path:
            self.measure = None
        words = f"{spoken(path)} {SIGNS[operator]} {plain(percent)} % of {spoken(limit)}"
        self._add(at, Condition(f"{path} {operator} {limit} mul {plain(percent / 100)}", words))
        self.score += 2
        return place + 1

    def _percentage(self, path: str | None) -> str | None:
        """``a discount of more than 5 %``: the property that has it as a percentage."""
        about = re.match(r"[a-z]+", path or "")
        names = [name for name in self.entity.type.properties if name.endswith(_PERCENTAGES)]
        return next((one for one in names if about and one.startswith(about[0])), None)

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

    def _computed(self, at: int) -> Measure | None:
        """``under 1000 net``, ``more than 5 lines``: a figure of each record that is computed."""
        slot = self._slots[at] if at < len(self._slots) else None
        measured: Measure | None = None if slot is None else slot.meanings.get("measure")
        if measured is None:
            return None
        is_amount = measured.money is not None and " sub " in measured.value
        return measured if is_amount or "/$count" in measured.value else None

    @staticmethod
    def _is_unit_of(path: str | None, slot: Slot) -> bool:
        """Whether a word behind a number is only what the property is counted in."""
        measured = slot.meanings.get("measure")
        return path is not None and measured is not None and measured.value == path

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
        """``between 1000 and 2000``, whichever stands first."""
        path, words = self._bounded(at, None)
        if "percent" in self._slots[at] and not (path or "").endswith(_PERCENTAGES):
            path = self._percentage(path) or (None if words else self.entity.data.get("percent"))
            words = f"{spoken(path)} " if path else ""
        if path is None:
            self.left.append(self._slots[at].text)
            return
        first, last = plain(min(low, high)), plain(max(low, high))
        words = f"{words}from {first} to {last}"
        self._add(at, Condition(f"{path} ge {first} and {path} le {last}", words))
        self.score += 1
