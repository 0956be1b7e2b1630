"""Numbers that choose groups: ``countries with more than 40 clients``, ``customers we billed 20k``.

A number restricts records where it is one of theirs; what only a group has is compared behind
``groupby``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from decimal import Decimal

from app.bi.nlq.rates import Rate
from app.bi.nlq.slots import Slot
from app.bi.nlq.vocabulary import Entity
from app.bi.plans.entities import Dimension, Measure
from app.bi.plans.plan import Condition, Threshold

# Between a number and the records that it counts.
_ATTRIBUTES = {"stop", "state", "value", "subset", "or", "date", "currency"}
# Between a figure and the number that it is compared with.
_LINKS = {"stop", "with", "noun", "state", "period", "date", "average", "amount", "sum", "measure",
          "rate"}  # fmt: skip
FIGURES = {"measure", "average", "amount", "sum", "rate", "share"}
_HOURS = {"minute": Decimal(1) / 60, "hour": Decimal(1), "day": Decimal(24), "week": Decimal(168),
          "month": Decimal(720), "quarter": Decimal(2184), "half": Decimal(4380),
          "year": Decimal(8760)}  # fmt: skip


class Thresholds:
    """The part of a reading that is about figures of groups."""

    entity: Entity
    measure: Measure | None
    rate: Rate | None
    flags: set[str]
    noun_at: int | None
    dimensions: list[Dimension]
    subjects: list[Dimension]
    distinct: Dimension | None
    unit: str | None
    threshold: Threshold | None
    score: int
    unsure: int
    _slots: Sequence[Slot]

    @abstractmethod
    def _add(self, at: int, condition: Condition) -> None:
        """Take in a condition."""

    @abstractmethod
    def _currency(self, code: str) -> Condition:
        """The condition that amounts are in a currency."""

    def _is_of_groups(self, at: int, behind: int) -> bool:
        """Whether the number at ``behind`` is compared with what groups have."""
        has_group = self.subjects or self.dimensions or self.distinct or self.unit
        if not has_group or self.threshold is not None:
            return False
        return self._is_counting(behind) or self._is_measuring(at, behind)

    def _is_counting(self, behind: int) -> bool:
        """``more than 50 open opportunities``, ``used more than 10 times``."""
        if "number" not in self._slots[behind]:
            return False
        if behind + 1 == len(self._slots):  # "tickets per client, only those with more than 5"
            # "number of invoices per client, at least 5": of each client, not of each invoice.
            apart = "count" in self.flags and self._slots[behind - 1].apart
            counted = (self.entity.default_measure is None or apart) and self.noun_at is not None
            return counted and self.measure is None and bool(self.dimensions)
        for slot in self._slots[behind + 1 : behind + 7]:
            if slot.meanings.get("noun") == self.entity.key or "times" in slot:
                return self.noun_at is None or self._is_compound(self.noun_at)
            if "property" in slot or not _ATTRIBUTES & set(slot.meanings):
                return False
        return False

    def _is_compound(self, at: int) -> bool:
        """``ticket categories``: the noun says of what the groups are."""
        behind = self._slots[at + 1] if at + 1 < len(self._slots) else None
        return behind is not None and behind.meanings.get("dimension") in self.subjects

    def _is_measuring(self, at: int, behind: int) -> bool:
        """``with an average deal size over 10,000``, ``billed more than 20k``."""
        place, figured, is_near = at - 1, False, False
        while place >= 0 and not is_near:
            slot = self._slots[place]
            groups = (*self.subjects, *self.dimensions)
            is_near = "dimension" in slot and slot["dimension"] in groups
            if is_near or not _LINKS & set(slot.meanings):
                break
            if "property" in slot and "measure" not in slot:
                return False
            figured = figured or bool(FIGURES & set(slot.meanings))
            place -= 1
        if "duration" in self._slots[behind]:
            return figured and self.measure is not None and self.measure.unit in ("hours", "days")
        if self.noun_at is not None and not self._is_verb(self.noun_at):
            # "invoices over 5,000 by client": each of them.
            own = "average" in self.flags or (self.measure is not None and self.noun_at < place)
            return figured and is_near and own
        if not (self.measure or self.rate or self.entity.default_measure):
            return False
        return figured or self._is_amount(at, behind)

    def _is_verb(self, at: int) -> bool:
        """``did we bill``: what is done, no noun."""
        return at > 0 and self._slots[at - 1].text.lower().split()[-1] == "we"

    def _is_amount(self, at: int, behind: int) -> bool:
        """``which industries did we bill more than 100,000``: no noun that the number counts."""
        rest = [one for one in self._slots[behind + 1 : behind + 3] if "stop" not in one]
        counted = rest and {"noun", "property", "dimension"} & set(rest[0].meanings)
        before = self._slots[at - 1] if at else None
        if counted or before is None or "property" in before:
            return False
        return "noun" not in before or self._is_verb(at - 1)

    def _of_groups(self, at: int, behind: int, operator: str) -> int:
        """Take in what groups are compared with; returns the place of the next slot."""
        slot = self._slots[behind]
        self.score += 1
        if "duration" in slot:
            measured = (self.measure.unit if self.measure is not None else None) or "days"
            count, unit = slot["duration"]
            number = plain(in_units(count, unit, measured))
            self.threshold = Threshold(operator, number, counted=False, unit=measured)
            return behind + 1
        for place in range(at + 1, behind):
            if "currency" in self._slots[place]:
                self._add(place, self._currency(self._slots[place]["currency"]))
        counted = self._is_counting(behind)
        self.threshold = Threshold(operator, plain(slot["number"]), counted=counted)
        if counted:
            self.flags.discard("count")
        elif self.measure is None and self.rate is None:
            self.flags.add("amount")
        after = behind + 1
        is_times = after < len(self._slots) and "times" in self._slots[after]
        return after + is_times


def in_units(count: int, grain: str, unit: str) -> Decimal:
    """So many minutes, hours, days, weeks ... in the ``hours`` or ``days`` of a measure."""
    return Decimal(count) * _HOURS[grain] / (1 if unit == "hours" else 24)


def plain(number: Decimal) -> str:
    """A number as OData writes it."""
    return f"{number.normalize():f}"
