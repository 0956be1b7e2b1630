"""Names in a question: which record, colleague, country or text is meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.bi.nlq.named import Value
from app.bi.nlq.ordering import Ordering
from app.bi.nlq.slots import Slot
from app.bi.plans.entities import Dimension
from app.bi.plans.plan import Condition
from app.bi.words.tokens import stem
from app.odata.syntax.literal_text import quoted

# What somebody did who made a record, and the property that says who.
_MADE = frozenset(("created", "added", "entered", "recorded", "registered"))
_MAKER = "createdById"
# What tells one record from all others.
_KEYS = ("id", "number", "code", "fullName")


class AmbiguousName(Exception):
    """A name in the question is that of several records."""

    def __init__(self, text: str, values: Sequence[Value]) -> None:
        super().__init__(text)
        self.text = text
        self.values = values


class Naming(Ordering):
    """The part of a reading that is about names."""

    flags: set[str]
    _without: bool
    _not: bool
    _open: dict[str, str]
    is_record: bool
    noun_at: int | None

    def _value(self, at: int, slot: Slot) -> None:
        values: tuple[Value, ...] = slot["value"]
        usable = [value for value in values if self._path(value) is not None]
        if not usable:
            self.left.append(slot.text)
            return
        if len(usable) > 1:
            raise AmbiguousName(slot.text, usable)
        value = usable[0]
        if value.kind == "told":
            self._add(at, Condition(value.key, f"about “{value.name}”"))
            self.unsure += 1
            self.score += 1
            return
        if value.kind == "line":
            text = f"LineItems/any(line:line/description eq {quoted(value.key)})"
            self._add(at, Condition(text, f"with {value.name}"))
            self.score += 1
            return
        if value.kind in ("tag", "client_tag"):
            path, whose = (
                ("Client/tags", "clients ") if value.kind == "client_tag" else ("tags", "")
            )
            text = f"{path}/any(t:t eq {quoted(value.key)})"
            self._add(at, Condition(text, f"{whose}tagged {value.name}"))
            self.score += 1
            return
        self.unsure += value.kind == "text:category" and self._is_ordinary(at)
        called = [f"text:{path}" for path in self.entity.data.get("called", ())]
        if value.kind in called and self.noun_at is None:
            self.noun_at = at
        before = [one for one in self._slots[max(0, at - 3) : at] if set(one.meanings) != {"stop"}]
        # "revenue from training courses": one of the products is called so, others may be some.
        word = slot.text.split()[-1].lower()
        partly = [f"text:{self.entity.texts[name]}" for name in self.entity.partly]
        named = f" {slot.text.lower()} " in f" {value.name.lower()} "
        self.unsure += value.kind in partly and not named and stem(word) != word
        person = self.entity.person
        group = self._of_group(at, value)
        if value.kind == "user" and group is None and before and "dimension" in before[-1]:
            # "tickets on topics of Leyla": whose the topics are, not the tickets.
            self.unsure += before[-1]["dimension"] != person
        self.unsure += not value.exact
        said = value.name if group is None else f"{group[0]} of {value.name}"
        path = self._made_by(at, value) or self._named_before(at, value) or self._path(value) or ""
        path = path if group is None else group[1]
        literal = value.key if value.kind in ("client", "user", "project") else quoted(value.key)
        codes = tuple(quoted(one) for one in value.key.split(",")) if value.kind == "region" else ()
        self.is_record = self.is_record or path in _KEYS
        if self._without:
            self._without, self._not = False, True  # "without Germany"
            self._open.pop("without", None)
        text = f"{path} in ({','.join(codes)})" if codes else f"{path} eq {literal}"
        self._add(at, Condition(text, said, path, codes or (literal,)))
        self.score += 1

    def _is_ordinary(self, at: int) -> bool:
        """``sales satisfaction``: a small word that is a category, too, and nothing says so."""
        slot = self._slots[at]
        behind = self._slots[at + 1] if at + 1 < len(self._slots) else None
        named = behind is not None and {"noun", "subset"} & set(behind.meanings)
        before = [one for one in self._slots[max(0, at - 2) : at] if set(one.meanings) != {"stop"}]
        told = bool(before) and bool(
            {"dimension", "about", "noun", "or"} & set(before[-1].meanings)
        )
        small = slot.text.islower() and " " not in slot.text
        return small and not named and not told

    def _made_by(self, at: int, value: Value) -> str | None:
        """``created by Tom``: who made a record, whoever is responsible for it now."""
        before = [one.text.lower() for one in self._slots[max(0, at - 2) : at]]
        if value.kind != "user" or before[1:] != ["by"] or before[0] not in _MADE:
            return None
        return _MAKER if self.entity.prop(_MAKER) else None

    def _of_group(self, at: int, value: Value) -> tuple[str, str] | None:
        """``tasks in Leyla's projects``: what belongs to her, and the property that says so."""
        groups: Mapping[str, str] = self.entity.data.get("whose", {})
        if value.kind != "user" or not groups:
            return None
        name, found = self._slots[at].text.lower(), [*self._slots[at + 1 : at + 2]]
        if not name.endswith("'s"):  # of "Jonas' projects" the mark is lost
            found = [one for one in found if name.endswith("s") and one.text.endswith("s")]
        found = [one for one in found if " " not in one.text]  # "Jonas in projects"
        leading = self.entity.data.get("led", ())  # "assigned to" is about the task
        place = next((one for one in range(at - 1, max(-1, at - 4), -1)
                      if "stop" not in self._slots[one]
                      and self._slots[one].text.lower() not in leading), at)  # fmt: skip
        if 0 < place < at - 1 and "by" not in self._slots[place - 1]:
            found = [*found, self._slots[place]]
        words = [stem(slot.text.split()[-1]) for slot in found]
        return next(((f"{one}s", groups[one]) for one in words if one in groups), None)

    def _named_before(self, at: int, value: Value) -> str | None:
        """``reference PO-96884``: the property that a code is said to be of."""
        if value.kind != "text:number" or self._slots[at - 1].text.lower() == "of":
            return None  # "status of T-000134"
        before = [one for one in self._slots[max(0, at - 2) : at] if set(one.meanings) != {"stop"}]
        path = before[-1].meanings.get("property") if before else None
        if path is None or path == "number" or self.entity.is_number(path):
            return None
        if path in self.columns:
            self.columns.remove(path)
        self.conditions = [one for one in self.conditions if one[1].text != f"{path} ne null"]
        return str(path)

    def _of_person(self, at: int) -> None:
        """``managed by``: whose name stands behind it."""
        behind = [one for one in self._slots[at + 1 : at + 3] if "stop" not in one or "me" in one]
        if not behind or not {"value", "me", "by"} & set(behind[0].meanings):
            self.left.append(self._slots[at].text)

    def _path(self, value: Value) -> str | None:
        """The property that a name is compared with."""
        entity = self.entity
        if value.kind.startswith("text:"):
            return value.kind.removeprefix("text:")
        if value.kind in ("line", "told"):
            return "LineItems" if value.kind == "line" else self.entity.name
        if value.kind in ("tag", "client_tag"):
            return "tags"
        if value.kind in ("country", "region"):
            found = entity.dimensions.get("country")
            return None if found is None else found.path
        if value.kind == "title":
            found = entity.dimensions.get("project")
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

    def _is_asked_of_record(self, dimension: Dimension) -> bool:
        """``the owner of ACME``: one record is named, and this is what is asked of it."""
        plain = not (self.rank or "count" in self.flags or dimension.path.count("/") > 1)
        return plain and self._names_record()

    def _names_record(self) -> bool:
        values = [slot["value"] for slot in self._slots if "value" in slot]
        return any(self._path(one) in _KEYS for found in values for one in found)
