"""Slots of a question collected: what is asked for, what restricts it, what is left over."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.bi.nlq.bounds import OPERATORS, Bounds
from app.bi.nlq.periods import Calendar, Period, midnight
from app.bi.nlq.plan import Condition
from app.bi.nlq.slots import Slot
from app.bi.nlq.values import Value
from app.bi.nlq.vocabulary import Dimension, Entity, Measure, Rate, spoken

_FLAGS = ("count", "how_much", "sum", "average", "share", "list", "trend", "compare", "change",
          "previous", "amount", "and_then")  # fmt: skip
_RANKS = {"most": "desc", "top": "desc", "highest": "desc", "least": "asc", "bottom": "asc",
          "lowest": "asc", "newest": "new", "oldest": "old"}  # fmt: skip
_SIMPLE = re.compile(r"^([\w/]+) (?:eq '(\w+)'|in \(((?:'\w+',?)+)\))$")


class AmbiguousName(Exception):
    """A name in the question is that of several records."""

    def __init__(self, text: str, values: Sequence[Value]) -> None:
        super().__init__(text)
        self.text = text
        self.values = values


@dataclass
class Reading(Bounds):
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
    rate: Rate | None = None
    order: str | None = None
    order_words: str = ""
    rank: str | None = None
    rank_word: str = ""
    limit: int | None = None
    columns: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    score: int = 0

    def read(self, slots: Sequence[Slot]) -> Reading:
        """Take in all slots."""
        self._slots = slots
        self._has_period = any("period" in slot or "grain" in slot for slot in slots)
        self._not = self._by = self._without = self._listing = False
        at = 0
        while at < len(slots):
            at = self._take(at)
        return self

    # --- one slot

    def _take(self, at: int) -> int:
        """Read the slot at this place; returns the place of the next."""
        slot = self._slots[at]
        if "period" in slot:
            self.periods.append(slot["period"])
        elif "grain" in slot:
            self.grain = slot["grain"]
        elif "value" in slot:
            self._value(at, slot)
        elif kind := next((kind for kind in OPERATORS if kind in slot), None):
            return self._bound(at, OPERATORS[kind])
        elif "range" in slot:
            self._range(at, *slot["range"])
        elif kind := next((kind for kind in _RANKS if kind in slot), None):
            return self._ranked(at, kind)
        elif "number" in slot:
            return self._number(at)
        elif "by" in slot:
            self._by = True
        elif "without" in slot:
            self._without = True
        elif "not" in slot:
            self._not = True
        elif self._model_word(at, slot):
            pass
        elif "currency" in slot:
            self._add(at, self._currency(slot["currency"]))
        elif "me" in slot and self.entity.person is not None:
            key = self.entity.person.key or ""
            self._add(at, Condition(f"{key} eq {self.caller_id}", "yours"))
        elif "or" in slot or "compare" in slot:
            self.flags |= {"compare"} & set(slot.meanings)
            return at + 1  # a list of negated values goes on
        elif flags := set(_FLAGS) & set(slot.meanings):
            self.flags |= flags
        elif "unit" in slot and "compare" in self.flags:
            self.flags.add("previous")  # "over the previous month"
        elif "unit" in slot and self._by:
            self.grain, self._by = slot["unit"], False
        elif "stop" not in slot and "with" not in slot and not self._is_unit(slot):
            self.left.append(slot.text)
        return at + 1

    def _model_word(self, at: int, slot: Slot) -> bool:
        """A noun, state, measure, dimension ... of the entity."""
        if self._without and self._missing(at, slot):
            return True
        if self._by and "dimension" in slot:
            self._dimension(slot["dimension"])
        elif "noun" in slot and slot["noun"] == self.entity.key:
            self._noun(at, slot)
        elif "rate" in slot:
            self.rate, self._by = slot["rate"], False
            self.score += 3
        elif "measure" in slot:
            if self.measure is not None:
                self.left.append(slot.text)
            self.measure = slot["measure"]
            self.score += 3
            self._by = False
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

    def _noun(self, at: int, slot: Slot) -> None:
        if self.noun_at is None:
            self.noun_at = at
            self.is_singular = slot.text.lower() == self.entity.one
        self.score += 1

    def _is_unit(self, slot: Slot) -> bool:
        """``in hours``, of a figure that is in hours."""
        return self.measure is not None and slot.text.lower() == self.measure.unit

    @staticmethod
    def _is_new(slot: Slot) -> bool:
        """``new`` and the like, which with a period are about a date, not a state."""
        return slot["state"].get("date") is None

    # --- restrictions

    def _add(self, at: int, condition: Condition) -> None:
        if self._not:
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

    def _value(self, at: int, slot: Slot) -> None:
        values: tuple[Value, ...] = slot["value"]
        usable = [value for value in values if self._path(value) is not None]
        if not usable:
            self.left.append(slot.text)
            return
        if len(usable) > 1:
            raise AmbiguousName(slot.text, usable)
        value = usable[0]
        path = self._path(value) or ""
        literal = value.key if value.kind in ("client", "user", "project") else _quoted(value.key)
        self._add(at, Condition(f"{path} eq {literal}", value.name, path, (literal,)))
        self.score += 1

    def _path(self, value: Value) -> str | None:
        """The property that a name is compared with."""
        entity = self.entity
        if value.kind.startswith("text:"):
            return value.kind.removeprefix("text:")
        if value.kind == "country":
            found = entity.dimensions.get("country")
            return None if found is None else found.path
        if value.kind == "user":
            return None if entity.person is None else entity.person.key
        if value.kind == "client" and entity.key == "Clients":
            return "id"
        if value.kind == "project" and entity.key == "Projects":
            return "id"
        found = entity.dimensions.get(value.kind)
        return None if found is None else found.key

    def _currency(self, code: str) -> Condition:
        money = self.entity.currency_of(self.entity.amount or "") or "currency"
        return Condition(f"{money} eq '{code}'", f"in {code}", money, (f"'{code}'",))

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
        self._add(at, Condition(f"{path} eq null", f"without {slot.text}"))
        self.score += 1
        return True

    # --- groups, figures, order

    def _dimension(self, dimension: Dimension) -> None:
        if dimension not in self.dimensions:
            self.dimensions.append(dimension)
        self._by = self._another_follows()
        self.score += 1

    def _another_follows(self) -> bool:
        return True  # ``by status and priority``: what follows an "and" is one more

    def _loose_dimension(self, at: int, slot: Slot) -> None:
        """A dimension that no ``by`` stands before: what is asked for, or a mere label."""
        before = self._slots[at - 1] if at else None
        rest = [one for one in self._slots[at + 1 : at + 4] if set(one.meanings) - {"stop"}]
        behind = rest[0] if rest else None
        if behind is not None and ("value" in behind or self._is_value_of(slot, behind)):
            return
        if before is not None and ("value" in before or self._is_value_of(slot, before)):
            return
        if "property" in slot and self.noun_at is not None and not self.rank:
            self.columns.append(slot["property"])
            return
        self.subjects.append(slot["dimension"])
        self.score += 1

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
            self.score += 1
        elif is_number and asked and self.measure is None:
            money = self.entity.currency_of(path)
            self.measure = Measure(label=spoken(path).capitalize(), value=path, money=money)
            self.score += 1
        elif is_number and self.noun_at is None:
            self.left.append(slot.text)  # a figure asked for, and nothing says how
        else:
            self.columns.append(path)

    def _ranked(self, at: int, kind: str) -> int:
        if self.rank is None or kind not in ("top", "bottom"):  # "the biggest deals, top 3"
            self.rank, self.rank_word = _RANKS[kind], kind
        self.score += 1
        if at and "number" in self._slots[at - 1]:
            self.limit = int(self._slots[at - 1]["number"])
            shown = self._slots[at - 1].text
            if shown in self.left:
                self.left.remove(shown)
        elif at + 1 < len(self._slots) and "number" in self._slots[at + 1]:
            self.limit = int(self._slots[at + 1]["number"])
            return at + 2
        return at + 1

    def _number(self, at: int) -> int:
        """A number by itself: how many rows are wanted, if a rank says which."""
        behind = self._slots[at + 1] if at + 1 < len(self._slots) else None
        if behind is not None and any(kind in behind for kind in _RANKS):
            return at + 1
        self.left.append(self._slots[at].text)
        return at + 1


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
