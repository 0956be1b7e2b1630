"""What stands beside a word and says how it is meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from app.bi.nlq.bounds import OPERATORS
from app.bi.nlq.either import is_neither, joined
from app.bi.nlq.named import Value
from app.bi.nlq.ordering import RANKS
from app.bi.nlq.slots import Slot
from app.bi.nlq.sorting import Sorting
from app.bi.nlq.thresholds import FIGURES
from app.bi.periods.spans import Period, midnight
from app.bi.plans.entities import Dimension, spoken
from app.bi.plans.plan import Condition
from app.bi.words.tokens import stem

SHIFTS = ("day", "week", "month", "quarter", "half", "year")
# Slots between a "by" and what it is about, at most.
NEAR = 3


class Beside(Sorting):
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
    periods: list[Period]
    shift: str | None
    unsure: int
    is_singular: bool
    clock_back: tuple[int, str] | None
    is_timed: bool

    def _is_doer(self, at: int) -> bool:
        """Whether a verb stands before the ``by`` and a name behind whom it is about."""
        by_at = self._by_at if 0 < self._by_at < at <= self._by_at + NEAR else None
        if by_at is None:
            return False
        before = self._slots[by_at - 1]
        if not ({"date", "with"} & set(before.meanings) or before.text.lower().endswith("used")):
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

    def _timed(self, at: int, slot: Slot) -> None:
        """``in May``, ``in the last 24 hours``."""
        if "clock_back" in slot:
            self.clock_back, self.is_timed = slot["clock_back"], True
            return
        self.periods.append(slot["period"])
        self.unsure += slot["period"].unsure or self._is_since_when(at)

    def _is_since_when(self, at: int) -> bool:
        """``tasks blocked since May``: since when they are so is not what is known of them."""
        before = self._slots[at - 1] if at else None
        begins = self._slots[at]["period"].end is None and self._slots[at]["period"].start
        stated = before is not None and "state" in before and "date" not in before
        return bool(begins and stated and before and before["state"].get("date") is None)

    def _split_values(self, at: int, slot: Slot) -> Dimension | None:
        """``by new business, expansion and renewal``: the property that these are values of."""
        path = slot["state"].get("property") if "state" in slot else None
        if path is None or at - self._by_at > NEAR or "dimension" in slot:
            return None
        for other in self._slots[at + 1 : at + 4]:
            if "state" in other and other["state"].get("property") == path:
                found = self.entity.dimensions.values()
                return next((one for one in found if one.path == path), None)
            if not ({"or", "stop"} & set(other.meanings) or other.apart):
                return None
        return None

    def _is_kind_of_record(self, at: int) -> bool:
        """``revenue without void invoices``: which of the records themselves are left out."""
        two = [set(one.meanings) for one in self._slots[at : at + 2]]
        noun = self._slots[at + 1].meanings.get("noun") if len(two) > 1 else None
        return "state" in (two[0] if two else ()) and noun == self.entity.key

    def _is_of_figure(self, slot: Slot, behind: Slot) -> bool:
        """``customer rating per agent``: whose rating it is; they are no groups."""
        measured = behind.meanings.get("measure")
        figured = measured is not None and measured.average and slot["dimension"].name == "client"
        return figured and not {"list", "by"} & self.flags and self.rank is None

    def _is_shown(self, at: int, slot: Slot) -> bool:
        """``credit notes and their totals``: a list has them, none is asked for."""
        before = self._slots[at - 1] if at else None
        several = bool({"sum", "amount"} & set(slot.meanings)) and slot.text.lower().endswith("s")
        two = [set(one.meanings) for one in self._slots[max(0, at - 2) : at]]
        if len(two) == 2 and "or" in two[1] and "state" in two[0] and "sum" in slot:
            self.left.append(slot.text)  # "billable and total": two figures, not one
            return True
        if self.noun_at is None or before is None:
            return False
        if "shows" not in before and not (several and "with" in before):
            return False
        if "count" in self.flags and {"sum", "amount"} & set(slot.meanings):
            self.left.append(slot.text)  # a number and a total: not one of them alone
        return several and not self.flags & {"average", "share"}

    def _is_own(self, at: int) -> bool:
        """``clients with their balance``: a property, not the amount of what they were sold."""
        shown = at > 0 and "shows" in self._slots[at - 1] and self.noun_at is not None
        return shown and "amount" in self._slots[at] and self.entity.default_measure is None

    def _is_named_as(self, slot: Slot, behind: Slot) -> bool:
        """``clients from Hamburg``, ``city Hamburg``: the word only says what the name is of."""
        own, values = slot["dimension"], behind.meanings.get("value", ())
        if own.name != "country" and own.path not in self.entity.texts.values():
            return bool(values) and (not self._is_ranked(slot) or own.name in _kinds(values))
        paths = [self._path(one) or "" for one in values]
        line = own.path.partition("/")[0] if self.entity.join is not None else own.path
        return any(own.path == path or path.partition("/")[0] == line for path in paths)

    def _is_ranked(self, slot: Slot) -> bool:
        """``the 5 biggest customers in France by revenue``: they are the groups."""
        at = next(place for place, one in enumerate(self._slots) if one is slot)
        before = [set(one.meanings) for one in self._slots[:at] if set(one.meanings) != {"stop"}]
        while before and {"number", "state", "value"} & before[-1] and not set(RANKS) & before[-1]:
            before.pop()
        rest = [set(one.meanings) for one in self._slots[at + 1 :] if set(one.meanings) != {"stop"}]
        by = next((place for place, one in enumerate(rest) if "by" in one), len(rest))
        figured = any({"measure", "amount", "count", "noun"} & one for one in rest[by + 1 : by + 3])
        ranks = [*before[-1:], *rest[by:]]
        return figured and any(set(RANKS) & one for one in ranks)

    def _is_stated(self, text: str | None) -> bool:
        """Whether a word of the question says what a date implies."""
        return any("state" in slot and slot["state"]["text"] == text for slot in self._slots)

    def _is_label(self, at: int, dimension: Dimension) -> bool:
        """``competitor Zeitwerk``: the word names the property, it is no value itself."""
        behind = self._slots[at + 1] if at + 1 < len(self._slots) else None
        if behind is not None and "value" in behind:
            return any(one.kind == f"text:{dimension.path}" for one in behind["value"])
        before = [one for one in self._slots[max(0, at - 3) : at] if set(one.meanings) != {"stop"}]
        if before and "value" in before[-1]:  # "where Zeitwerk is the competitor"
            return any(one.kind == f"text:{dimension.path}" for one in before[-1]["value"])
        if before and "list" in before[-1] and "noun" not in before[-1]:
            self.subjects.append(dimension)
            return True
        return False

    def _today(self, path: str) -> str:
        today = self.now.today
        return str(today) if self.entity.is_date(path) else midnight(today, self.now.zone)

    def _asks_when(self, path: str | None) -> bool:
        """``when was ACME created``: of one record, the day on which that was."""
        return bool(path) and "when" in self.flags and self._names_record() and not self._has_period

    def _is_helping(self, at: int) -> bool:
        """``got solved``: the verb behind it says what was done; ``of them``: known from before."""
        if {"of_them", "ago"} & set(self._slots[at].meanings):
            return True
        if "after_due" in self._slots[at]:
            return self.took is not None
        behind = [one for one in self._slots[at + 1 : at + 3] if set(one.meanings) != {"stop"}]
        done = bool(behind) and bool({"state", "date"} & set(behind[0].meanings))
        return done and "auxiliary" in self._slots[at]

    @property
    def counts_measure(self) -> bool:
        """``how many reminders did we send for invoices``: the figure is meant, not the records."""
        if self.noun_at is None or self.measure_at is None or self.noun_at < self.measure_at:
            return self.noun_at is None
        before = [one for one in self._slots[: self.measure_at] if set(one.meanings) != {"stop"}]
        return bool(before) and "count" in before[-1]

    def _count_units(self) -> None:
        """``how many gateways did we sell``: of what is named, the quantity is counted."""
        counted, needed = self.entity.data.get("counted"), self.entity.data.get("needs")
        if not (counted and needed) or self.noun_at is not None or self.measure is not None:
            return
        paths = {self.entity.dimensions[needed].path, self.entity.texts.get("code")} - {None}
        asked = "count" in self.flags or (self.subjects and self.rank_word in ("most", "least"))
        if asked and any(one.path in paths for _, one in self.conditions):
            self.measure = next(one for _, one in self.entity.measures if one.value == counted)
            self.flags.discard("count")

    def _join_periods(self) -> None:
        """``in April and May``, ``today or tomorrow``: periods next to each other are one."""
        places = [at for at, one in enumerate(self._slots) if "period" in one]
        if len(places) > 2 and len(places) == len(self.periods):
            self._join_several(places)
            return
        against = any(one.text.lower().startswith(("compar", "v")) for one in self._slots
                      if "or" in one)  # fmt: skip
        if len(places) != 2 or len(self.periods) != 2 or against:
            return
        if {"compare", "change", "previous"} & self.flags or self.shift is not None:
            return
        between = self._slots[places[0] + 1 : places[1]]
        links = {one.text.lower() for one in between} & {"and", "or", "&"}
        if not links or any(not {"or", "stop"} & set(one.meanings) for one in between):
            return
        first, second = sorted(self.periods, key=lambda one: str(one.start))
        if first.start is None or first.end is None or first.end != second.start:
            return
        self.periods = [Period(first.start, second.end, f"{first.label} and {second.label}")]
        # Unless a total is asked for, each of them by itself may be meant.
        self.unsure += "or" not in links and not {"sum", "list", "amount"} & self.flags

    def _join_several(self, places: Sequence[int]) -> None:
        """``in April, May and June``: each of them by itself, or all of them together."""
        grains = {one.grain for one in self.periods}
        ordered = sorted(self.periods, key=lambda one: str(one.start))
        is_row = all(one.end == other.start for one, other in pairwise(ordered))
        between = self._slots[places[0] : places[-1]]
        plain = all({"or", "stop", "period"} & set(one.meanings) for one in between)
        grain = next(iter(grains)) if len(grains) == 1 else None
        if not (grain and is_row and plain) or self.grain not in (None, grain):
            return
        first, last = ordered[0], ordered[-1]
        self.periods = [Period(first.start, last.end, f"{first.label} to {last.label}")]
        if "sum" not in self.flags:
            self.grain = grain
        self.unsure += 1

    def _is_undated(self, path: str) -> bool:
        """``drafts created since Monday``: they have no date yet but that of their making."""
        undated = self.entity.data.get("undated", ())
        stated = [one.meanings.get(kind) for one in self._slots for kind in ("state", "subset")]
        return path == self.entity.date and any(one and one["text"] in undated for one in stated)

    def _said_of(self, words: str) -> str:
        """The word for a state as it is said back: ``won`` for ``win``."""
        said: Mapping[str, str] = self.entity.data.get("said", {})
        return said.get(words.lower(), words.lower())

    def _by_word(self, at: int, slot: Slot) -> None:
        """``by``, ``per``, ``each``: what follows is what groups are made by."""
        self._by, self._by_at = True, at
        self.flags |= {"each"} & {slot.text.lower()}
        if at + 1 < len(self._slots) or slot.text.lower() != "each":  # "retail and logistics, each"
            self._open["by"] = slot.text

    def _subset(self, at: int, slot: Slot) -> None:
        """``the oldest incident``: a word for records of one kind."""
        if self.noun_at is None:
            self.noun_at = at
            self.is_singular = stem(slot.text.split()[-1]) == slot.text.split()[-1].lower()

    def _is_new(self, at: int, slot: Slot) -> bool:
        """``new`` and the like, which with a period are about a date, not a state."""
        before = self._slots[at - 1].text.lower().split() if at else []
        is_said = self.noun_at is not None and bool({"still", "are", "is", "yet"} & set(before))
        return "date" in slot and slot["state"].get("date") is None and not is_said

    def _imply(self) -> None:
        """What no word says and others mean."""
        said = [one for _, one in self.conditions]
        is_or = any(one.text.lower() == "or" for one in self._slots)
        self.unsure += is_or and any(is_neither(one, other) for one, other in pairwise(said))
        self.conditions = joined(self._slots, self.conditions, has_period=self._has_period)
        self._imply_states()
        if self.clock_back is None:
            return
        count, unit = self.clock_back
        stated = [one.date for _, one in self.conditions if one.date and not one.negated]
        path = self.date or next(iter(stated), self.entity.date)
        words = f"in the last {count} {unit}{'' if count == 1 else 's'}"
        if self.entity.is_date(path):
            self.left.append(words)  # a day, and no time of it
            return
        text = f"{path} ge now() sub duration'PT{count}{unit[0].upper()}'"
        self._add(len(self._slots), Condition(text, f"{spoken(path)} {words}"))

    def _imply_states(self) -> None:
        """``in the same stage for 45 days``: what is closed is in none any more."""
        texts = [one.text for _, one in self.conditions]
        for path, implied in self.entity.data.get("implied", {}).items():
            stated = any(text.startswith(("status", "stage")) for text in texts)
            if not stated and any(text.startswith(f"{path} ") for text in texts):
                self._add(len(self._slots), Condition(implied, "open"))

    def _is_added(self, at: int, dimension: Dimension) -> bool:
        """``..., with the client``: a column more of a list."""
        place = at - 1
        while place > 0 and set(self._slots[place].meanings) == {"stop"}:
            place -= 1
        is_list = not self.flags & {"count", "sum", "average", "share", "amount"}
        named = dimension.path.count("/") == 1 and dimension.key is not None
        return "with" in self._slots[place] and place < at and is_list and named

    def _is_first(self, at: int) -> bool:
        """``months in which we issued more than 250 invoices``: what is asked for."""
        return at == 0 and any(set(OPERATORS) & set(one.meanings) for one in self._slots)

    def _is_chosen_by_figure(self, at: int) -> bool:
        """``french clients with revenue above 3000``: the clients are the groups."""
        rest = [set(one.meanings) for one in self._slots[at + 1 :]]
        end = next((place for place, one in enumerate(rest) if set(OPERATORS) & one), 0)
        figured = any({"measure", "average"} & one for one in rest[:end])
        return figured and self.noun_at is None and not any("noun" in one for one in rest)

    def _is_chosen(self, at: int) -> bool:
        """Whether groups are ranked, or what is behind chooses some by their figure."""
        rest = [set(one.meanings) for one in self._slots[at + 1 :]]
        ranked = self.rank is not None or any(set(RANKS) & one for one in rest)
        end = next((place for place, one in enumerate(rest) if set(OPERATORS) & one), 0)
        counted = any("number" in one for one in rest[end:]) and any(
            "noun" in one for one in rest[end:]
        )
        return ranked or any(FIGURES & one for one in rest[:end]) or bool(end and counted)

    def _is_named(self, at: int) -> bool:
        """Whether a property stands here and no value of it behind."""
        found = [one for one in self._slots[at : at + 4] if set(one.meanings) != {"stop"}]
        near = found[1:2] if found[1:2] == [*self._slots[at + 1 : at + 2]] else []
        behind = {kind for one in near for kind in one.meanings}
        named = {"property", "dimension", "date"} & set(found[0].meanings) if found else set()
        return bool(named) and not {"state", "value", "number"} & behind

    def _is_per_record(self, at: int) -> bool:
        """``amount per invoice``: of each of them on average."""
        figured = self.measure is not None or self.flags & {"amount", "average"}
        before, behind = self._slots[at - 1], self._slots[at + 1 : at + 2]
        if "dimension" in before or any("dimension" in one for one in behind):
            return False  # "per article category", "per person, tasks finished in May"
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


def said_more(slot: Slot) -> int:
    """Words that name a dimension together leave less doubt than each of them does."""
    return 2 * (len(slot.text.split()) - 1)


def _kinds(values: Sequence[Value]) -> set[str]:
    """Of what kinds of records names are."""
    return {one.kind for one in values}
