"""Properties in a question: a column that is shown, a figure, or something that must be there."""

from __future__ import annotations

from abc import abstractmethod

from app.bi.nlq.bounds import OPERATORS
from app.bi.nlq.naming import Naming
from app.bi.nlq.ordering import RANKS
from app.bi.nlq.slots import Slot
from app.bi.plans.entities import spoken
from app.bi.plans.plan import Condition

_FIGURED = {"average", "sum", "share", "amount", "how_much", "trend", "change", "compare"}

# Between what is asked for and the record that it is asked of, and what says which record.
_LINKS = {"of", "is", "are", "was", "were"}
_HAS = {"has", "had"}
_RANKED = {"highest", "lowest", "newest", "oldest", "top"}


class Asking(Naming):
    """The part of a reading that is about properties of records."""

    noun_at: int | None
    rank: str | None
    _by: bool
    _without: bool
    _missing_at: int
    _has_period: bool

    @abstractmethod
    def _is_list_by(self, at: int, *, grouping: bool = False) -> bool:
        """Whether a list is asked for, and this says in what order."""

    def _missing(self, at: int, slot: Slot) -> bool:
        """``without an email``: the property is null."""
        path = None
        if "property" in slot:
            path = slot["property"]
        elif "dimension" in slot:
            path = slot["dimension"].key or slot["dimension"].path
        elif "date" in slot and not self._has_period:  # "no reply in the last 3 days"
            path = slot["date"]
        found = self.entity.prop(path) if path else None
        is_number = found is not None and not found.nullable and self.entity.is_number(path or "")
        none = "0" if is_number or path is None else "null"  # "no reminder", "no balance"
        path = path or self._number_of(slot)
        if path is None:
            return False
        self._without, self._missing_at = False, at
        self._open.pop("without", None)
        self._add(at, Condition(f"{path} eq {none}", f"without {slot.text}"))
        self.score += 1
        return True

    def _property(self, at: int, slot: Slot) -> None:
        path = slot["property"]
        is_number = self.entity.is_number(path)
        asked = self.flags & {"average", "sum"} or self.rank in ("desc", "asc")
        if self._by and is_number:
            words = f"by {slot.text}" if self._is_list_by(at) else slot.text
            self.order, self.order_words, self._by = f"{path} desc", words, False
            self._open.pop("by", None)
            self.score += 1
        elif is_number and asked and self.measure is None:
            self.measure = self.entity.measure_of(path)
            self.score += 1
        elif is_number and self._is_compared(at):
            self.columns.append(path)  # "only those with revenue over 1 million"
        elif is_number and self.noun_at is None and self._is_of(at):
            self.columns.append(path)  # "progress of all projects"
        elif is_number and self.noun_at is None:
            self.left.append(slot.text)  # a figure asked for, and nothing says how
        else:
            self._column(at, path)

    def _has_figure(self, at: int, slot: Slot) -> bool:
        """``tickets with a rating``: those that have the figure; it is asked for nowhere."""
        found = self.entity.prop(slot["measure"].value)
        before = [one for one in self._slots[:at] if set(one.meanings) != {"stop"}]
        rest = [one for one in self._slots[at + 1 : at + 4] if set(one.meanings) != {"stop"}]
        compared = bool(rest) and {*OPERATORS, "number", "duration"} & set(rest[0].meanings)
        asked = self.rank or self._by or self.flags & _FIGURED
        had = self.noun_at is not None and bool(before) and "with" in before[-1]
        if found is None or not found.nullable or not had or asked or compared:
            return False
        self._open.pop("with", None)
        self._add(at, Condition(f"{found.name} ne null", f"with {slot.text}"))
        self.score += 1
        return True

    def _is_compared(self, at: int) -> bool:
        """Whether a number that it is compared with stands behind; that takes the column away."""
        rest = [one for one in self._slots[at + 1 : at + 4] if set(one.meanings) != {"stop"}]
        compared = bool(rest) and bool(set(OPERATORS) & set(rest[0].meanings))
        return compared and at > 0 and "with" in self._slots[at - 1]

    def _is_of(self, at: int) -> bool:
        """``score of Sabine Hartmann``: a figure of records that are named or described."""
        return self._is_of_records(at) or self._names_record()

    def _is_of_records(self, at: int) -> bool:
        """Whether an "of" and the noun of the records stand behind."""
        rest = self._slots[at + 1 : at + 5]
        is_of = bool(rest) and rest[0].text.lower().split()[0] == "of"
        noun = next((place for place, one in enumerate(rest) if self._names_kind(one)), None)
        kinds = {"stop", "state", "value", "noun", "subset"}
        return is_of and noun is not None and all(kinds & set(o.meanings) for o in rest[:noun])

    def _names_kind(self, slot: Slot) -> bool:
        """Whether it names records as a noun does: ``clients``, ``prospects``, ``IT managers``."""
        called = [f"text:{path}" for path in self.entity.data.get("called", ())]
        return {"noun", "subset"} & set(slot.meanings) != set() or any(
            one.kind in called for one in slot.meanings.get("value", ())
        )

    def _is_listed(self, at: int) -> bool:
        """``names and e-mails of Polish contacts``: columns of the records behind."""
        linked = {"stop", "or", "property", "dimension"}
        end = at + 1
        while end < len(self._slots) and linked & set(self._slots[end].meanings):
            if self._slots[end].text.lower().split()[0] == "of":
                return self._is_of_records(end - 1)
            end += 1
        return False

    def _is_beside(self, at: int) -> bool:
        """``names and cities of clients``: one more column of the records behind."""
        linked = at > 1 and "or" in self._slots[at - 1]
        return linked and "property" in self._slots[at - 2] and self._is_of_records(at)

    def _column(self, at: int, path: str) -> None:
        """``with their email`` shows it, ``with an email`` asks for those that have one.

        A property that nothing introduces is not understood.
        """
        place = at - 1
        while place >= 0 and set(self._slots[place].meanings) == {"stop"}:
            place -= 1
        before = self._slots[place] if place >= 0 else None
        rest = [one for one in self._slots[at + 1 : at + 3] if set(one.meanings) != {"stop"}]
        behind = rest[0] if rest else None
        if behind is not None and {*OPERATORS, "number", "duration"} & set(behind.meanings):
            self.columns.append(path)  # the number takes it away again
            return
        shown = ("shows", "or", "list", "property", "dimension", "listed")
        last = self.conditions[-1][1] if self.conditions else None
        is_or = before is not None and before.text.lower() == "or"
        if is_or and last is not None and last.words.startswith("with ") and "ne null" in last.text:
            said = Condition(f"{last.text} or {path} ne null", f"{last.words} or {spoken(path)}")
            self.conditions[-1] = (self.conditions[-1][0], said)  # "with an email or a phone"
            return
        if self.noun_at is None and (self._is_listed(at) or self._is_of_records(at)):
            self.columns.append(path)
            return
        is_shown = self._is_shown_with(at) or (before and set(shown) & set(before.meanings))
        if self.is_record or self._names_record() or is_shown:
            self.columns.append(path)
        elif before is not None and "with" in before:
            self._add(at, Condition(f"{path} ne null", f"with {spoken(path)}"))
        else:
            self.left.append(self._slots[at].text)

    def _is_shown_with(self, at: int) -> bool:
        """``lost deals with the reason``: each of them has one, which is shown.

        ``with the reason Price`` and ``with the highest value`` say which of them are meant.
        """
        behind = next((one for one in self._slots[at + 1 :] if set(one.meanings) != {"stop"}), None)
        chosen = {"value", "state", "number", "text", *OPERATORS, *RANKS}
        if self.noun_at is None or self.flags & {"count", "how_much", "sum", "average", "share"}:
            return False
        if self._slots[at - 1].text.lower() != "the" or (
            behind is not None and chosen & set(behind.meanings) and not behind.apart
        ):
            return False
        place = at - 2
        while place >= 0 and set(self._slots[place].meanings) == {"stop"}:
            place -= 1
        return place >= 0 and bool({"shows", "with"} & set(self._slots[place].meanings))

    def _is_of_ranked(self, at: int) -> bool:
        """``the stage of our largest open deal``, ``which owner has the largest deal``: what is
        known of that record, no groups."""
        behind = self._slots[at + 1 :]
        links: set[str] = set()
        while behind and (set(behind[0].meanings) == {"stop"} or behind[0].text.lower() in _HAS):
            links |= set(behind[0].text.lower().split())
            behind = behind[1:]
        told = [one for one in behind if set(one.meanings) != {"stop"}]
        if self.rank is not None or not told or not links & (_LINKS | _HAS):
            return False
        noun = next((place for place, one in enumerate(told)
                     if one.meanings.get("noun") == self.entity.key), 0)  # fmt: skip
        if links & _HAS and (
            told[noun].text.lower() not in self.entity.nouns
            or any({"amount", "measure", "count"} & set(one.meanings) for one in told[noun + 1 :])
        ):
            return False  # "has the largest deals", "has the highest deal value": of all of them
        first = told[1:2] if "number" in told[0] else told[:1]
        ranked = any(_RANKED & set(one.meanings) for one in first)
        kinds = {"state", "value", "subset", "number", *_RANKED}
        return ranked and noun > 0 and all(kinds & set(one.meanings) for one in told[:noun])
