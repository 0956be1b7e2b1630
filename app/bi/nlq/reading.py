"""Slots of a question collected: what is asked for, what restricts it, what is left over."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.bi.nlq.bounds import OPERATORS
from app.bi.nlq.naming import Naming
from app.bi.nlq.ordering import RANKS
from app.bi.nlq.plan import Condition
from app.bi.nlq.slots import Slot
from app.bi.nlq.spans import Calendar, Period, midnight
from app.bi.nlq.vocabulary import Dimension, Entity, Measure, Rate, spoken

_FLAGS = ("count", "how_much", "sum", "average", "share", "list", "trend", "compare", "change",
          "previous", "amount", "and_then", "listed", "distinct", "when", "how_long")  # fmt: skip
_SHIFTS = ("day", "week", "month", "quarter", "half", "year")
_CHARTS = ("pie", "bar", "line", "table")
_SIMPLE = re.compile(r"^([\w/]+) (?:eq '(\w+)'|in \(((?:'\w+',?)+)\))$")


@dataclass
class Reading(Naming):
    """What the slots of a question say about one entity; ``left`` is what they do not."""

    entity: Entity
    now: Calendar
    caller_id: int
    flags: set[str] = field(default_factory=set)
    noun_at: int | None = None
    is_singular: bool = False
    conditions: list[tuple[int, Condition]] = field(default_factory=list)
    dimensions: list[Dimension] = field(default_factory=list)
    subjects: list[Dimension] = field(default_factory=list)
    grain: str | None = None
    periods: list[Period] = field(default_factory=list)
    date: str | None = None
    measure: Measure | None = None
    measure_at: int | None = None
    measure_word: str = ""
    rate: Rate | None = None
    order: str | None = None
    order_words: str = ""
    rank: str | None = None
    rank_word: str = ""
    limit: int | None = None
    sort: str | None = None
    sets_against: bool = False  # "A versus B": what is compared is no period
    shift: str | None = None  # "the year before": by which unit the other period lies earlier
    unit: str | None = None  # "which month ..."
    distinct: Dimension | None = None
    chart: str | None = None
    is_record: bool = False  # a name or number says which record is meant
    doubts: list[tuple[str, str]] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    score: int = 0

    def read(self, slots: Sequence[Slot]) -> Reading:
        """Take in all slots."""
        self._slots = slots = self._dated_ahead(slots)
        self._has_period = any("period" in slot or "grain" in slot for slot in slots)
        self._not = self._by = self._without = False
        self._open: dict[str, str] = {}  # words that still wait for what they are about
        at = 0
        while at < len(slots):
            at = self._take(at)
        self.left += [text for text in self._open.values() if text not in self.left]
        return self

    def _dated_ahead(self, slots: Sequence[Slot]) -> Sequence[Slot]:
        """Of what lies ahead, such as due dates, ``September`` is that of this year."""
        ahead = self.entity.data.get("ahead", ())
        if not any(slot.meanings.get("date") in ahead for slot in slots if "date" in slot):
            return slots
        return [
            Slot(slot.text, {**slot.meanings, "period": slot["period"].this_year(self.now.today)})
            if "period" in slot else slot
            for slot in slots
        ]  # fmt: skip

    # --- one slot

    def _take(self, at: int) -> int:
        """Read the slot at this place; returns the place of the next."""
        slot = self._slots[at]
        if doubt := self.entity.doubts.get(slot.text.lower()):
            self.doubts.append(doubt)
        if "period" in slot:
            self.periods.append(slot["period"])
        elif "grain" in slot:
            self.grain = slot["grain"]
        elif "value" in slot:
            self._value(at, slot)
        elif shift := next((unit for unit in _SHIFTS if f"shift_{unit}" in slot), None):
            self.shift = shift
        elif chart := next((kind for kind in _CHARTS if f"chart_{kind}" in slot), None):
            self.chart = chart
        elif "sort" in slot or "descending" in slot or "ascending" in slot:
            return self._sorted(at)
        elif "of_person" in slot:
            self._of_person(at)
        elif kind := next((kind for kind in OPERATORS if kind in slot), None):
            return self._bound(at, OPERATORS[kind])
        elif "range" in slot:
            self._range(at, *slot["range"])
        elif kind := next((kind for kind in RANKS if kind in slot), None):
            return self._ranked(at, kind)
        elif "number" in slot:
            return self._number(at)
        elif "by" in slot:
            self._by = True
            self._open["by"] = slot.text
        elif "without" in slot:
            self._without = True
            self._open["without"] = slot.text
        elif "not" in slot:
            self._not = True
            self._open["not"] = slot.text
        elif self._model_word(at, slot):
            pass
        elif "currency" in slot:
            self._add(at, self._currency(slot["currency"]))
        elif "me" in slot and self.entity.person is not None:
            key = self.entity.person.key or ""
            self._add(at, Condition(f"{key} eq {self.caller_id}", "yours"))
        elif "or" in slot or "compare" in slot:
            self.flags |= {"compare"} & set(slot.meanings)
            self.sets_against |= "compare" in slot and at > 0 and not self._is_before_period(at)
            return at + 1  # a list of negated values goes on
        elif "amount" in slot and self._is_bounded(at):
            pass  # "worth at least 20,000"
        elif flags := set(_FLAGS) & set(slot.meanings):
            self.flags |= flags
            if "count" in flags:
                self._open.pop("by", None)  # "the biggest industry by number of clients"
        elif "unit" in slot and "compare" in self.flags:
            self.flags.add("previous")  # "over the previous month"
        elif "unit" in slot and self._by:
            self.grain, self._by = slot["unit"], False
            self._open.pop("by", None)
        elif "unit" in slot and (self.rank or {"list", "count"} & self.flags):
            self.unit = slot["unit"]
        elif "stop" not in slot and "with" not in slot and not self._is_unit(slot):
            self.left.append(slot.text)
        return at + 1

    def _model_word(self, at: int, slot: Slot) -> bool:
        """A noun, state, measure, dimension ... of the entity."""
        if self._without and self._missing(at, slot):
            return True
        if "state" in slot and "dimension" in slot and self._is_label(at, slot["dimension"]):
            return True
        if self._by and "dimension" in slot and self._is_doer(at):
            self._by = False  # "raised by clients in the public sector"
            self._open.pop("by", None)
        elif self._by and "dimension" in slot:
            self._dimension(slot["dimension"])
        elif "noun" in slot and slot["noun"] == self.entity.key:
            self._noun(at, slot)
        elif "rate" in slot:
            self.rate, self._by = slot["rate"], False
            self._open.pop("by", None)
            self.score += 3
        elif "measure" in slot:
            if self.measure is not None:
                self.left.append(slot.text)
            self.measure, self.measure_at = slot["measure"], at
            self.measure_word = slot.text.lower()
            self.score += 3
            self._by = False
            self._open.pop("by", None)
        elif "order" in slot:
            self.order, self.order_words = slot["order"], slot.text
            self.score += 2
        elif "subset" in slot:
            self.noun_at = at if self.noun_at is None else self.noun_at
            self._state(at, slot["subset"], slot.text)
            self.score += 1
        elif "state" in slot and not (self._has_period and "date" in slot and self._is_new(slot)):
            self._state(at, slot["state"], slot.text)
        elif "date" in slot:
            self._date_word(at, slot["date"], slot.text)
        elif "dimension" in slot:
            self._loose_dimension(at, slot)
        elif "property" in slot and not set(_FLAGS) & set(slot.meanings):
            self._property(at, slot)
        else:
            return False
        return True

    def _is_doer(self, at: int) -> bool:
        """Whether a verb stands before the ``by`` and a name behind whom it is about."""
        before = self._slots[at - 2] if at > 1 and "by" in self._slots[at - 1] else None
        named = any("value" in slot for slot in self._slots[at + 1 : at + 4])
        return before is not None and {"date", "with"} & set(before.meanings) != set() and named

    def _noun(self, at: int, slot: Slot) -> None:
        if self.noun_at is None:
            self.noun_at = at
            self.is_singular = slot.text.lower() in self.entity.nouns
        self.score += 1

    def _is_before_period(self, at: int) -> bool:
        times = {"period", "grain", "previous", "unit", *(f"shift_{unit}" for unit in _SHIFTS)}
        behind = [one for one in self._slots[at + 1 : at + 5] if set(one.meanings) != {"stop"}]
        return bool(behind) and bool(times & set(behind[0].meanings))

    def _is_bounded(self, at: int) -> bool:
        behind = self._slots[at + 1] if at + 1 < len(self._slots) else None
        return behind is not None and bool({*OPERATORS, "range"} & set(behind.meanings))

    def _is_unit(self, slot: Slot) -> bool:
        """``in hours``, of a figure that is in hours."""
        return self.measure is not None and slot.text.lower() == self.measure.unit

    @staticmethod
    def _is_new(slot: Slot) -> bool:
        """``new`` and the like, which with a period are about a date, not a state."""
        return slot["state"].get("date") is None

    # --- restrictions

    def _add(self, at: int, condition: Condition) -> None:
        self._open.pop("by", None)
        if self._not:
            self._open.pop("not", None)
            condition = replace(condition, negated=True)
            if self._goes_on(at):
                self.conditions.append((at, condition))
                return
            self._not = False
        self.conditions.append((at, condition))

    def _goes_on(self, at: int) -> bool:
        """Whether a list such as ``neither A nor B`` goes on behind this place."""
        after = self._slots[at + 1 : at + 2]
        return bool(after) and ("or" in after[0] or "not" in after[0])

    def _state(self, at: int, state: dict[str, Any], words: str) -> None:
        text = state["text"].replace("{today}", str(self.now.today))
        text = text.replace("{now}", midnight(self.now.today, self.now.zone))
        property_, values = state.get("property"), state.get("values", ())
        if property_ is None and (match := _SIMPLE.match(text)):
            property_ = match[1]
            values = (match[2],) if match[2] else tuple(v.strip("'") for v in match[3].split(","))
        self._add(at, Condition(
            text, words.lower(), property_, values, state.get("date"), state.get("amount")
        ))  # fmt: skip
        self.score += 1

    def _missing(self, at: int, slot: Slot) -> bool:
        """``without an email``: the property is null."""
        path = None
        if "property" in slot:
            path = slot["property"]
        elif "dimension" in slot:
            path = slot["dimension"].key or slot["dimension"].path
        elif "date" in slot:
            path = slot["date"]
        if path is None:
            return False
        self._without = False
        self._open.pop("without", None)
        self._add(at, Condition(f"{path} eq null", f"without {slot.text}"))
        self.score += 1
        return True

    # --- groups, figures, order

    def _dimension(self, dimension: Dimension) -> None:
        if dimension not in self.dimensions:
            self.dimensions.append(dimension)
        self._by = True  # "by status and priority": what follows is one more
        self._open.pop("by", None)
        self.score += 1

    def _loose_dimension(self, at: int, slot: Slot) -> None:
        """A dimension that no ``by`` stands before: what is asked for, or a mere label."""
        before = self._slots[at - 1] if at else None
        rest = [one for one in self._slots[at + 1 : at + 4] if set(one.meanings) - {"stop"}]
        behind = rest[0] if rest else None
        if self._is_asked_of_record(slot["dimension"]):
            self.columns.append(slot["dimension"].path)
            return
        if (before is not None and "count" in before) or "distinct" in self.flags:
            self.distinct = slot["dimension"]
            self.score += 1
            return
        if behind is not None and ("value" in behind or self._is_value_of(slot, behind)):
            return
        if before is not None and ("value" in before or self._is_value_of(slot, before)):
            return
        if "property" in slot and self.noun_at is not None and not self.rank:
            self._column(at, slot["property"])
            return
        self.subjects.append(slot["dimension"])
        self.score += 1

    def _is_label(self, at: int, dimension: Dimension) -> bool:
        """``competitor Zeitwerk``: the word names the property, it is no value itself."""
        behind = self._slots[at + 1] if at + 1 < len(self._slots) else None
        if behind is not None and "value" in behind:
            return any(one.kind == f"text:{dimension.path}" for one in behind["value"])
        before = [one for one in self._slots[max(0, at - 3) : at] if set(one.meanings) != {"stop"}]
        if before and "list" in before[-1] and "noun" not in before[-1]:
            self.subjects.append(dimension)
            return True
        return False

    def _is_value_of(self, slot: Slot, other: Slot) -> bool:
        """``high priority``, ``status paid``: the word names the property of the value."""
        return "state" in other and other["state"].get("property") == slot["dimension"].path

    def _date_word(self, at: int, path: str, words: str) -> None:
        implied = self.entity.date_filters.get(path)
        earlier = self.entity.data.get("past_dates", {}).get(path)
        periods = [slot["period"] for slot in self._slots if "period" in slot]
        if earlier and periods and periods[0].end and periods[0].end <= self.now.today:
            path, implied = earlier  # deals that "close" next month, or that we "close" last month
        self.date = path
        if implied:
            self._add(at, Condition(implied, words.lower()))
        self.score += 1

    def _property(self, at: int, slot: Slot) -> None:
        path = slot["property"]
        is_number = self.entity.is_number(path)
        asked = self.flags & {"average", "sum"} or self.rank in ("desc", "asc")
        if self._by and is_number:
            self.order, self.order_words, self._by = f"{path} desc", slot.text, False
            self._open.pop("by", None)
            self.score += 1
        elif is_number and asked and self.measure is None:
            money = self.entity.currency_of(path)
            self.measure = Measure(label=spoken(path).capitalize(), value=path, money=money)
            self.score += 1
        elif is_number and self.noun_at is None:
            self.left.append(slot.text)  # a figure asked for, and nothing says how
        else:
            self._column(at, path)

    def _column(self, at: int, path: str) -> None:
        """``with their email`` shows it, ``with an email`` asks for those that have one.

        A property that nothing introduces is not understood.
        """
        place = at - 1
        while place >= 0 and set(self._slots[place].meanings) == {"stop"}:
            place -= 1
        before = self._slots[place] if place >= 0 else None
        behind = self._slots[at + 1] if at + 1 < len(self._slots) else None
        if behind is not None and {*OPERATORS, "number"} & set(behind.meanings):
            self.columns.append(path)  # the number takes it away again
            return
        shown = ("shows", "or", "list", "property", "dimension", "listed")
        if self.is_record or self._names_record() or (before and set(shown) & set(before.meanings)):
            self.columns.append(path)
        elif before is not None and "with" in before:
            self._add(at, Condition(f"{path} ne null", f"with {spoken(path)}"))
        else:
            self.left.append(self._slots[at].text)
