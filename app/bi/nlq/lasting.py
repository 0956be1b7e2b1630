"""How long something took, has been so, or is ago: ``solved within 24 hours``, ``older than``."""

from __future__ import annotations

from dataclasses import replace

from app.bi.nlq.slots import Slot
from app.bi.nlq.thresholds import Thresholds, in_units, plain
from app.bi.periods.spans import Calendar, midnight, step
from app.bi.plans.entities import Measure, spoken
from app.bi.plans.plan import SIGNS, Condition

_DAYS = {"day": 1, "week": 7, "month": 30, "quarter": 91, "year": 365}
# Comparatives that are about the age of records, whatever was done to them.
_AGES = ("older than", "younger than")
# Since when every record is there.
_MADE = "createdAt"
# Slots between what is done and how long it took, small words left out.
_NEAR = 4


class Lasting(Thresholds):
    """The part of a reading that is about durations."""

    now: Calendar
    conditions: list[tuple[int, Condition]]
    date: str | None
    is_timed: bool
    took: str | None
    left: list[str]
    _since_made: bool = False
    _not: bool
    _open: dict[str, str]

    def _duration(self, at: int, operator: str, count: int, unit: str) -> None:
        """``in stage for more than 60 days``, ``solved in under 2 days``, else how old it is."""
        self.score += 1
        if unit in _DAYS and (path := self._days_property(at)) is not None:
            days = count * _DAYS[unit]
            words = f"{path[1]}{SIGNS[operator]} {days}"
            self._add(at, Condition(f"{path[0]} {operator} {days}", words))
        elif self._is_ago(at):
            self._long_ago(at, operator, count, unit)
        elif self._slots[at].text.lower() not in _AGES and (took := self._took(at)) is not None:
            self._took_so_long(at, took, operator, count, unit)
        elif unit in _DAYS and (lasting := self._lasting(at)) is not None:
            count *= _DAYS[unit]
            words = f"for {SIGNS[operator]} {count} days"
            self._add(at, Condition(f"{lasting} {operator} {count}", words))
        else:
            self._age(at, operator, count, unit)

    def _days_property(self, at: int) -> tuple[str, str] | None:
        """``days in stage for more than 60 days``, ``payment terms over 30 days``: of what."""
        near = self._slots[max(0, at - 3) : at]
        named = [slot["property"] for slot in near if "property" in slot]
        if not any(path.lower().startswith("days") or path.endswith("Days") for path in named):
            return None
        path, words = self._bounded(at, None)
        return None if path is None else (path, words)

    def _bounded(self, at: int, named: str | None) -> tuple[str | None, str]:
        raise NotImplementedError

    # --- how long it took

    def _within(self, at: int, count: int, unit: str) -> bool:
        """``answered within 4 hours``: of what is done, how long it took."""
        took = self._took(at)
        if took is None or self._is_ahead(at):
            return False
        self.score += 1
        said = self.conditions[-1][1] if self.conditions else None
        if self._not or (said is not None and said.negated and said.date == took[0]):
            self._not_within(at, took, count, unit)
        else:
            self._took_so_long(at, took, "le", count, unit)
        return True

    def _is_ahead(self, at: int) -> bool:
        """``closing within 2 weeks``: what lies ahead took nothing yet."""
        before = [one for one in self._slots[:at] if "date" in one][-1:]
        return any(one["date"] in self.entity.data.get("ahead", ()) for one in before)

    def _not_within(self, at: int, took: tuple[str, Measure], count: int, unit: str) -> None:
        """``not solved within 2 days``: it took longer, or is not done at all."""
        if sum("not" in one for one in self._slots[:at]) > 1:
            self.left.append("neither")  # "neither answered nor closed within 2 days": two of them
        if self.conditions and self.conditions[-1][1].negated:
            self.conditions.pop()
        self._not = False
        self._open.pop("not", None)
        self._took_so_long(at, took, "gt", count, unit)
        place, longer = self.conditions.pop()
        text = f"({took[0]} eq null or {longer.text})"
        self.conditions.append((place, replace(longer, text=text, words=f"{longer.words} or not")))
        self.unsure += 1

    def _took_so_long(
        self, at: int, took: tuple[str, Measure], operator: str, count: int, unit: str
    ) -> None:
        self.took, measure = took
        number = plain(in_units(count, unit, measure.unit or "days"))
        label = measure.label[:1].lower() + measure.label[1:]
        self._add(at, Condition(f"{measure.value} {operator} {number}",
                                f"{label} {SIGNS[operator]} {number}"))  # fmt: skip

    def _took(self, at: int) -> tuple[str, Measure] | None:
        """The date that ends what took so long, and the measure of it."""
        before = [one for one in self._slots[:at] if set(one.meanings) != {"stop"}]
        before = before[-_NEAR:]
        behind = [one for one in self._slots[at + 1 :] if set(one.meanings) != {"stop"}]
        figured = next((one for one in before if "measure" in one), None)
        if figured is not None and figured["measure"].unit in ("hours", "days"):
            self.measure = None if self.measure is figured["measure"] else self.measure
            return "", figured["measure"]  # "with a resolution time over 48 hours"
        late = any("after_due" in one for one in self._slots[at : at + 4])
        for slot in (*reversed(before), *behind[:2]):
            paths = self._done(slot)
            found = [(path, self._measure_of(path, late=late)) for path in paths]
            timed = next(((path, one) for path, one in found if one is not None), None)
            if paths:
                return None if timed is None else (timed[0], timed[1])
        return None

    def _done(self, slot: Slot) -> list[str]:
        """The dates of what a word says was done."""
        found = [slot["date"]] if "date" in slot else []
        if "state" in slot and slot["state"].get("date"):
            found.append(slot["state"]["date"])
        past = self.entity.data.get("past_dates", {})
        return [past[one][0] if one in past else one for one in found]

    def _measure_of(self, path: str, *, late: bool) -> Measure | None:
        durations = self.entity.data.get("delays" if late else "durations", {})
        label = durations.get(path)
        return next((one for _, one in self.entity.measures if one.label == label), None)

    # --- how long ago, or since when

    def _is_ago(self, at: int) -> bool:
        """Whether an "ago" stands behind the number."""
        return any("ago" in one for one in self._slots[at + 1 : at + 4])

    def _long_ago(self, at: int, operator: str, count: int, unit: str) -> None:
        """``due more than a week ago``."""
        path = self.date or next((p for s in reversed(self._slots[max(0, at - 3) : at])
                                  for p in self._done(s)), self.entity.date)  # fmt: skip
        self.is_timed = True
        units = unit if count == 1 else f"{unit}s"
        said = "" if path == self.entity.date else f"{spoken(path).removesuffix(' at')} "
        words = f"{said}{SIGNS[operator]} {count} {units} ago"
        self._before(at, path, operator, count, unit, words)

    def _lasting(self, at: int) -> str | None:
        """``in negotiation for more than 14 days``: how long it has been so, if that is known."""
        before = [one for one in self._slots[max(0, at - 3) : at] if set(one.meanings) != {"stop"}]
        if not before or not self._is_for(at) or "state" not in before[-1]:
            return None
        state = before[-1]["state"]
        named = state.get("property") or state["text"].partition(" ")[0]
        path: str | None = self.entity.data.get("lasting", {}).get(named)
        # Since when it is so is known of nothing but what began with the record.
        first = self.entity.data.get("from_the_start", ())
        known = before[-1].text.lower() in first or self._since(before[-1]) is not None
        if path is None and not known:
            self.unsure += 2
            self._since_made = True
        return path

    def _is_for(self, at: int) -> bool:
        return any(one.text.lower() == "for" for one in self._slots[max(0, at - 2) : at])

    def _since(self, slot: Slot) -> str | None:
        """The instant since when a record is in the state of a word."""
        values = slot.meanings.get("state", {}).get("values") or ()
        named = slot.meanings.get("state", {}).get("property")
        path: str | None = self.entity.data.get("since", {}).get(named)
        return path if len(values) == 1 else None

    def _age(self, at: int, operator: str, count: int, unit: str) -> None:
        """Older than so many days: of what is overdue, counted from the due date."""
        around = [*self._slots[max(0, at - 3) : at], *self._slots[at : at + 5]]
        overdue = any("state" in s and "isOverdue" in s["state"]["text"] for s in around)
        paths = [p for p in ("dueDate", "dueAt", "endDate") if self.entity.prop(p)]
        before = [one for one in self._slots[max(0, at - 3) : at] if "state" in one]
        since = self._since(before[-1]) if before and self._is_for(at) else None
        path = paths[0] if overdue and paths else since or self._born(around)
        units = unit if count == 1 else f"{unit}s"
        words = f"for {SIGNS[operator]} {count} {units}"
        if self._since_made:  # since when it is so, nobody knows
            words = f"made {SIGNS[operator]} {count} {units} ago"
        self._before(at, path, operator, count, unit, words)

    def _born(self, around: list[Slot]) -> str:
        """The date that age counts from; a draft has none but that of its making."""
        said = {one["state"]["text"] for one in around if "state" in one}
        said |= {condition.text for _, condition in self.conditions}
        return self.entity.date if said.isdisjoint(self.entity.data.get("undated", ())) else _MADE

    def _before(self, at: int, path: str, operator: str, count: int, unit: str, words: str) -> None:
        """A date that lies so long ago."""
        turned = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge", "eq": "eq"}[operator]
        if unit in ("hour", "minute"):
            literal = f"now() sub duration'PT{count}{unit[:1].upper()}'"
        else:
            day = step(self.now.today, unit, -count)
            literal = str(day) if self.entity.is_date(path) else midnight(day, self.now.zone)
        self._add(at, Condition(f"{path} {turned} {literal}", words))
