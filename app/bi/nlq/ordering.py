"""What comes first: ranks, how many rows, and what rows are sorted by."""

from __future__ import annotations

from app.bi.nlq.bounds import Bounds
from app.bi.nlq.rates import Rate
from app.bi.nlq.thresholds import plain
from app.bi.plans.entities import Measure, spoken
from app.bi.plans.plan import Condition

RANKS = {"most": "desc", "top": "desc", "highest": "desc", "least": "asc", "bottom": "asc",
          "lowest": "asc", "newest": "new", "oldest": "old", "best": "desc",
          "worst": "asc"}  # fmt: skip
# How many there are of each group.
_NUMBERS = ("number", "count", "the number", "amount of them")
_TIMES = ("newest", "oldest")


class Ordering(Bounds):
    """The part of a reading that is about order."""

    rank: str | None
    rank_word: str
    rank_at: int | None
    limit: int | None
    grain: str | None
    sort: str | None
    rate: Rate | None
    date: str | None
    order: str | None
    order_words: str

    def _ranked(self, at: int, kind: str) -> int:
        behind = self._slots[at + 1] if at + 1 < len(self._slots) else None
        if self.rank in ("desc", "asc") and kind == "oldest" and behind and "number" in behind:
            self.limit = int(behind["number"])  # "the biggest debtors, just the first five"
            return at + 2
        if self.rank not in (None, RANKS[kind]) and kind in _TIMES:
            self.left.append(self._slots[at].text)  # "the first and the last invoice"
            return at + 1
        if self.rank is None or kind not in ("top", "bottom"):  # "the biggest deals, top 3"
            self.rank, self.rank_word, self.rank_at = RANKS[kind], kind, at
        self.score += 1
        # "tickets without the first answer": not the first ones of the tickets.
        unled = behind is not None and bool({"date", "measure", "property"} & set(behind.meanings))
        self.unsure += unled and kind in _TIMES and self.noun_at is not None
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
        if behind is not None and any(kind in behind for kind in RANKS):
            return at + 1
        if self._is_wanted(at):
            self.limit = int(self._slots[at]["number"])
            return at + 1
        if (path := self._number_property(at)) is not None:
            number = plain(self._slots[at]["number"])
            self._add(at, Condition(f"{path} eq {number}", f"{spoken(path)} {number}", path,
                                    (number,)))  # fmt: skip
            self.score += 1
            return at + 1
        told = self.entity.data.get("percent_state")
        if told is not None and "percent" in self._slots[at] and self.noun_at is not None:
            number = plain(self._slots[at]["number"])
            text, words = (one.replace("{number}", number) for one in told)
            self._add(at, Condition(text, words))
            return at + 1
        self.left.append(self._slots[at].text)
        return at + 1

    def _is_wanted(self, at: int) -> bool:
        """``which three clients owe the most``, ``the 3 most viewed``: how many of the ranking."""
        number, rest = self._slots[at]["number"], self._slots[at + 1 :]
        whole = number == int(number) and 0 < number <= 1000
        if not whole or self.limit is not None or not rest:
            return False
        if "order" in rest[0]:
            return True
        named = {"noun", "dimension", "subset"} & set(rest[0].meanings)
        ranks = [place for place, one in enumerate(self._slots) if set(RANKS) & set(one.meanings)]
        counted = any("number" in self._slots[one + 1] for one in ranks if one + 1 < at)
        return bool(named and ranks) and not counted

    def _days(self, at: int, path: str, count: int, unit: str) -> None:
        """``payment terms of 60 days``."""
        if unit != "day":
            self.left.append(self._slots[at].text)
            return
        words = f"{spoken(path)} {count}"
        self._add(at, Condition(f"{path} eq {count}", words, path, (str(count),)))
        self.score += 1

    def _number_property(self, at: int) -> str | None:
        """``a rating of 1 or 2``: the property that the number is a value of."""
        for place in range(at - 1, max(-1, at - 5), -1):
            slot = self._slots[place]
            if "property" in slot and self.entity.is_number(slot["property"]):
                path: str = slot["property"]
                if path in self.columns:
                    self.columns.remove(path)
                if self.measure is not None and self.measure.value == path:
                    self.measure = None
                return path
            if not {"stop", "with", "or", "number"} & set(slot.meanings):
                return None
        return None

    def _sorted(self, at: int) -> int:
        """``sorted by due date``, ``highest first``, ``in ascending order``."""
        slot = self._slots[at]
        if {"newest_first", "oldest_first"} & set(slot.meanings):
            self.sort = "desc" if "newest_first" in slot else "asc"
            if self.order not in self.entity.data.get("dates", {}):  # "by due date, latest first"
                self.order, self.order_words = self.date or self.entity.date, "by date"
            return at + 1
        if {"worst_first", "best_first"} & set(slot.meanings):
            of = self.measure or self.rate
            low = of is not None and of.low_is_good
            self.sort = "asc" if low == ("best_first" in slot) else "desc"
            if self.measure is None and self.rate is None and self.sort == "asc":
                self.sort, self.unsure = "desc", self.unsure + 1  # of a number, many are bad
            return at + 1
        if "sort" not in slot:
            self.sort = "asc" if "ascending" in slot else "desc"
            return at + 1
        behind = self._slots[at + 1] if at + 1 < len(self._slots) else None
        counted = behind is not None and behind.text.lower() in _NUMBERS
        if counted and {"by", "count", "dimension"} & {
            k for o in self._slots[:at] for k in o.meanings
        }:
            self.sort = self.sort or "desc"  # "leads per owner, sorted by number"
            return at + 2
        path = None if behind is None else next(
            (behind[kind] for kind in ("date", "property") if kind in behind), None
        )  # fmt: skip
        if behind is not None and behind.text.lower() == "date":
            path = self.date or self.entity.date
        measure = None if behind is None else behind.meanings.get("measure")
        if measure is not None and self._is_list() and self._is_summed(measure):
            path = measure.value  # "active projects sorted by budget"
        elif behind is not None and {"count", "amount", "measure", "share"} & set(behind.meanings):
            self.sort = self.sort or "desc"
            self.measure = self.measure or behind.meanings.get("measure")
        elif path is None and behind is not None and "dimension" in behind:
            path = behind["dimension"].path
        elif path is None:
            self.left.append(slot.text)
            return at + 1
        if path is not None and behind is not None:
            down = " desc" if self.entity.is_number(path) else ""
            self.order, self.order_words = f"{path}{down}", f"by {behind.text}"
        return at + 2

    def _is_list(self) -> bool:
        """Whether records are asked for so far: no groups, and no figure of them."""
        grouped = self.dimensions or self.grain or self.rank or self.subjects
        figured = self.flags & {"sum", "average", "count", "share"}
        return self.noun_at is not None and not grouped and not figured

    def _is_summed(self, measure: Measure) -> bool:
        """Whether it is a figure of each record; of ratings and the like there are groups."""
        return self.entity.is_number(measure.value) and not measure.average
