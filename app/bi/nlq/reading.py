"""Slots of a question collected: what is asked for, what restricts it, what is left over."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.bi.nlq.about import about
from app.bi.nlq.beside import NEAR, SHIFTS, Beside, said_more
from app.bi.nlq.bounds import OPERATORS
from app.bi.nlq.negating import goes_on, reaches
from app.bi.nlq.ordering import RANKS
from app.bi.nlq.rates import Rate
from app.bi.nlq.slots import Slot, dates_of
from app.bi.nlq.vocabulary import Entity
from app.bi.periods.spans import Calendar, Period
from app.bi.plans.entities import Dimension, Measure
from app.bi.plans.plan import Condition, Threshold
from app.bi.words.tokens import stem

_FLAGS = ("count", "how_much", "sum", "average", "share", "list", "trend", "compare", "change",
          "previous", "amount", "and_then", "listed", "distinct", "when", "how_long",
          "one_currency")  # fmt: skip
_CHARTS = ("pie", "bar", "line", "table")
_SORTING = {"sort", "descending", "ascending", "newest_first", "oldest_first", "worst_first",
            "best_first"}  # fmt: skip
# Verbs that may be about what is over as well as about what lies ahead.
_TENSELESS = ("close", "closing", "due")
_SIMPLE = re.compile(r"^([\w/]+) (?:eq '(\w+)'|in \(((?:'\w+',?)+)\))$")


@dataclass
class Reading(Beside):
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
    rank_at: int | None = None
    limit: int | None = None
    sort: str | None = None
    sets_against: bool = False  # "A versus B": what is compared is no period
    shift: str | None = None  # "the year before": by which unit the other period lies earlier
    shift_of: str | None = None  # "same quarter last year": what is set against it
    unit: str | None = None  # "which month ..."
    distinct: Dimension | None = None
    threshold: Threshold | None = None  # that groups have to pass
    took: str | None = None  # the date that ends what took so long
    is_timed: bool = False  # a date was bounded
    clock_back: tuple[int, str] | None = None
    chart: str | None = None
    converted: str | None = None  # into which currency
    one_subject: bool = False  # "the top client", not "clients"
    is_record: bool = False  # a name or number says which record is meant
    doubts: list[tuple[str, str]] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    unsure: int = 0  # what may well have been meant otherwise
    score: int = 0

    def read(self, slots: Sequence[Slot]) -> Reading:
        """Take in all slots."""
        self._slots = slots = self._dated_ahead(slots)
        self._has_period = any({"period", "grain", "unit"} & set(one.meanings) for one in slots)
        self._not = self._by = self._without = False
        self._by_at = self._missing_at = -NEAR - 1
        self._open: dict[str, str] = {}  # words that still wait for what they are about
        at = 0
        while at < len(slots):
            at = self._take(at)
        self.left += [text for text in self._open.values() if text not in self.left]
        self._join_periods()
        self._count_units()
        self._imply()
        return self

    def _dated_ahead(self, slots: Sequence[Slot]) -> Sequence[Slot]:
        """Of what lies ahead, such as due dates, ``September`` is that of this year."""
        ahead = self.entity.data.get("ahead", ())
        if not any(dates_of(slot) & set(ahead) for slot in slots):
            return slots
        return [
            replace(slot, meanings={**slot.meanings,
                                    "period": slot["period"].this_year(self.now.today)})
            if "period" in slot else slot
            for slot in slots
        ]  # fmt: skip

    @property
    def slots(self) -> Sequence[Slot]:
        """What it was read from."""
        return self._slots

    # --- one slot

    def _take(self, at: int) -> int:
        """Read the slot at this place; returns the place of the next."""
        slot, last = self._slots[at], len(self._slots) - 1
        if slot.apart and "not" in self._open:
            self._not = False  # "which will not make it: ...": not what stands behind the mark
        if doubt := self.entity.doubts.get(slot.text.lower()):
            self.doubts.append(doubt)
        if "within_time" in slot and self._within(at, *slot["within_time"]):
            pass
        elif {"clock_back", "period"} & set(slot.meanings):
            self._timed(at, slot)
        elif "grain" in slot:
            self.grain = slot["grain"]
            self._by = at + 1 < len(self._slots) and "or" in self._slots[at + 1]  # "and status"
        elif "value" in slot:
            self._value(at, slot)
        elif "about" in slot:
            self._add(at, about(self.entity, slot["about"]))
        elif shift := next((unit for unit in SHIFTS if f"shift_{unit}" in slot), None):
            self.shift = shift
            self.shift_of = next((one for one in SHIFTS if one in slot.text.lower().split()), None)
        elif chart := next((kind for kind in _CHARTS if f"chart_{kind}" in slot), None):
            self.chart = chart
        elif _SORTING & set(slot.meanings):
            return self._sorted(at)
        elif "of_person" in slot:
            self._of_person(at)
        elif self._is_helping(at) or ("unit" in slot and self._is_unit(slot)):
            pass
        elif kind := next((kind for kind in OPERATORS if kind in slot), None):
            return self._bound(at, OPERATORS[kind])
        elif "duration" in slot and (path := self._number_property(at)) is not None:
            self._days(at, path, *slot["duration"])
        elif "range" in slot:
            self._range(at, *slot["range"])
        elif "order" not in slot and (kind := next((one for one in RANKS if one in slot), None)):
            return self._ranked(at, kind)
        elif "number" in slot:
            return self._number(at)
        elif "by" in slot and set(OPERATORS) & set(self._slots[min(at + 1, last)].meanings):
            pass  # "overdue by more than 30 days"
        elif "by" in slot:
            self._by_word(at, slot)
        elif "without" in slot:
            kind = "not" if self._is_kind_of_record(at + 1) else "without"
            self._not, self._without = kind == "not", kind == "without"
            if kind == "not" and self.subjects:
                self.left.append(slot.text)  # "agents that have no urgent tickets": not one of them
            self._open[kind] = slot.text
        elif "not" in slot:
            self._not = True
            self._open["not"] = slot.text
        elif self._model_word(at, slot):
            pass
        elif "currency" in slot and "one_currency" in self.flags:
            self.converted = slot["currency"]
        elif "currency" in slot:
            self._add(at, self._currency(slot["currency"]))
        elif "me" in slot and self.entity.person is not None:
            key = self.entity.person.key or ""
            self._add(at, Condition(f"{key} eq {self.caller_id}", "yours"))
        elif "or" in slot or "compare" in slot:
            self.flags |= {"compare"} & set(slot.meanings)
            self.sets_against |= "compare" in slot and at > 0 and not self._is_before_period(at)
            if self._missing_at == at - 1 and self._is_named(at + 1):
                self._without, self._open["without"] = True, slot.text  # "without A or B"
            return at + 1  # a list of negated values goes on
        elif "amount" in slot and self._is_bounded(at):
            pass  # "worth at least 20,000"
        elif self._is_shown(at, slot):
            pass
        elif flags := set(_FLAGS) & set(slot.meanings):
            self.flags |= flags
            chosen = self.rank and self.subjects  # "top industries by value": the groups
            if "amount" in flags and not chosen and self._is_sorted_by(at):
                self.flags.discard("amount")
                self.order, self.order_words = f"{self.amount} desc", f"by {slot.text}"
            if "count" in flags or ("amount" in flags and at - self._by_at == 1):
                self._open.pop("by", None)  # "the biggest industry by number of clients"
                self._by = self._by and not chosen
        elif "unit" in slot and "compare" in self.flags:
            self.flags.add("previous")  # "over the previous month"
        elif "unit" in slot and self._by:
            self.grain, self._by = slot["unit"], False
            self._open.pop("by", None)
        elif "unit" in slot and (self.rank or {"list", "count"} & self.flags or self._is_first(at)):
            self.unit = slot["unit"]
        elif not {"stop", "with", "shows"} & set(slot.meanings) and not self._is_unit(slot):
            self.left.append(slot.text)
        return at + 1

    def _model_word(self, at: int, slot: Slot) -> bool:
        """A noun, state, measure, dimension ... of the entity."""
        if self._without and self._missing(at, slot):
            return True
        if "state" in slot and "dimension" in slot and self._is_label(at, slot["dimension"]):
            return True
        if self._by and (values := self._split_values(at, slot)) is not None:
            self._dimension(values)
            self._by = False
        if self._by and "dimension" in slot and self._is_doer(at):
            self._by = False  # "raised by clients in the public sector"
            self._open.pop("by", None)
        elif self._by and "dimension" in slot and (last := self._qualified(at)):
            if slot["dimension"].path.partition("/")[0] != last.path.partition("/")[0]:
                self.left.append(slot.text)  # "by country of the customer" is by country
        elif self._by and "dimension" in slot:
            # "per supplier region": that there are two of them is only guessed.
            beside = at > 0 and "dimension" in self._slots[at - 1] and not slot.apart
            self.unsure += bool(self.dimensions) and beside
            self._dimension(slot["dimension"])
            self.score += said_more(slot)
        elif self._by and self.subjects and self.rank and slot.meanings.get("noun") == self._key:
            self.flags.add("count")  # "top 10 clients by tickets"
            self._by = False
            self._open.pop("by", None)
            self._noun(at, slot)
        elif "noun" in slot and slot["noun"] == self.entity.key:
            self._noun(at, slot)
            if self._by and self._is_per_record(at):
                self.flags.add("average")
                self._by = False
                self._open.pop("by", None)
        elif "rate" in slot:
            self.rate, self._by = slot["rate"], False
            self._open.pop("by", None)
            self.score += 3
        elif self._is_of_each(at, slot):
            pass
        elif "measure" in slot and "state" in slot and self._is_attribute(at):
            self._state(at, slot["state"], slot.text)
        elif "measure" in slot and self._has_figure(at, slot):
            pass
        elif "measure" in slot:
            if self.measure not in (None, slot["measure"]):
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
            self._subset(at, slot)
            self._state(at, slot["subset"], slot.text)
            self.score += 1
        elif (done := self._milestone(at, slot)) is not None:
            goes_on = done.get("property") is None and bool(done.get("words")) and self._goes_on(at)
            self._state(at, done, done.get("words", slot.text))
            self._not = goes_on  # "not qualified, converted or lost"
        elif "state" in slot and not (self._has_period and self._is_new(at, slot)):
            self._state(at, slot["state"], slot["state"].get("words", slot.text))
        elif "date" in slot:
            self._date_word(at, slot["date"], slot.text)
        elif "dimension" in slot:
            self._loose_dimension(at, slot)
        elif "property" in slot and (self._is_own(at) or not set(_FLAGS) & set(slot.meanings)):
            self._property(at, slot)
        else:
            return False
        return True

    @property
    def _key(self) -> str:
        return self.entity.key

    def _noun(self, at: int, slot: Slot) -> None:
        if self.noun_at is None:
            self.noun_at = at
            self.is_singular = slot.text.lower() in self.entity.nouns
        self.score += 1

    # --- restrictions

    def _add(self, at: int, condition: Condition) -> None:
        if at - self._by_at <= NEAR:
            self._open.pop("by", None)
        if self._not and not reaches(self._slots, self.conditions, at, condition):
            self._not = False  # "never viewed and overdue"
            self.unsure += 1
        elif self._not:
            self._open.pop("not", None)
            condition = self._denied(condition)
            if self._goes_on(at):
                self.conditions.append((at, condition))
                return
            self._not = False
        self.conditions.append((at, condition))

    def _denied(self, condition: Condition) -> Condition:
        """What is not so; ``not paid on time`` is paid late or overdue, and not yet due neither."""
        missed = self.entity.data.get("missed", {}).get(condition.text)
        if missed is None:
            return replace(condition, negated=True)
        text, date = missed
        return Condition(text, f"not {condition.words}", date=date)

    def _goes_on(self, at: int) -> bool:
        return goes_on(self._slots, at)

    def _state(self, at: int, state: dict[str, Any], words: str) -> None:
        if self._asks_when(state.get("date")):
            self.date = str(state["date"])
            self.columns.append(self.date)  # "when was INV-2026-00010 paid"
            return
        text = state["text"].replace("{today}", str(self.now.today))
        text = text.replace("{now}", "now()")
        property_, values = state.get("property"), state.get("values", ())
        if property_ is None and (match := _SIMPLE.match(text)):
            property_ = match[1]
            values = (match[2],) if match[2] else tuple(v.strip("'") for v in match[3].split(","))
        self._add(at, Condition(
            text, self._said_of(words), property_, values, state.get("date"), state.get("amount")
        ))  # fmt: skip
        self.score += 1

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
        if slot["dimension"].name == "client" and self._is_attribute(at) and self.noun_at is None:
            return  # "client projects"
        if behind is not None and self._is_of_figure(slot, behind):
            return
        if self._is_asked_of_record(slot["dimension"]) or self._is_of_ranked(at):
            self.columns.append(slot["dimension"].path)
            return
        if (before is not None and "count" in before) or "distinct" in self.flags:
            self.distinct = slot["dimension"]
            self.score += 1
            return
        if behind is not None and (
            self._is_named_as(slot, behind) or self._is_value_of(slot, behind)
        ):
            return
        named = before is not None and ("value" in before or self._is_value_of(slot, before))
        if named and not (self._is_chosen_by_figure(at) or self._is_ranked(slot)):
            return
        if "property" in slot and self.noun_at is not None and not self._is_chosen(at):
            self._column(at, slot["property"])
            return
        shown = before is not None and (
            "shows" in before or self._is_added(at, slot["dimension"]) or self._is_beside(at)
            or self._is_shown_with(at)
        )  # fmt: skip
        begins = at == 1  # "and with their owner", of what was asked before
        if shown and (self.noun_at is not None or begins or self._is_beside(at)):
            self.columns.append(slot["dimension"].path)  # "tasks with their project"
            return
        self.subjects.append(slot["dimension"])
        last = slot.text.split()[-1]
        self.one_subject = stem(last) == last.lower()
        self.score += 1 + said_more(slot)

    def _date_word(self, at: int, path: str, words: str) -> None:
        past = self.entity.data.get("past_dates", {}).get(path, (path,))
        if self.took in past:
            return  # "took more than 90 days to close"
        implied = None if self._is_undated(path) else self.entity.date_filters.get(path)
        earlier = self.entity.data.get("past_dates", {}).get(path)
        periods = [slot["period"] for slot in self._slots if "period" in slot]
        is_over = bool(periods and periods[0].end and periods[0].end <= self.now.today)
        if earlier and is_over and not self._is_stated(implied) and words.lower() in _TENSELESS:
            path, implied = earlier  # deals that "close" next month, or that we "close" last month
        if periods and self.date not in (None, path):
            self.unsure += 1  # "received in May, solved": of which of the two the period is
        self.date = path
        if self._asks_when(path):
            self.columns.append(path)  # "when was ACME created"
        elif implied and self._not and not periods and path in self.entity.data.get("ahead", ()):
            self._not = False  # "not yet due": it is still to come
            self._open.pop("not", None)
            text = f"{implied} and {path} ge {self._today(path)}"
            self._add(at, Condition(text, f"not yet {words.lower()}"))
        elif implied and self._not and periods:
            self.left.append(f"not {words}")  # "not closing this month": then, or not at all
        elif implied:
            self._add(at, Condition(implied, words.lower()))
        self.score += 1
