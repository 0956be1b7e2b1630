"""Conditions that people add to a list and take away, each written as the engine's ``$filter``.

In an address each is ``where=property:operator:value``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation

from app.bi.periods.spans import step, unit_start
from app.clock import day_after
from app.console import wording
from app.console.columns import choosable, key_of
from app.console.language import translated
from app.console.named_codes import code_name, list_of, typed_code
from app.console.numbers import typed_number
from app.console.property_kinds import NUMBERS, kind_of
from app.console.references import Kind, find, named, referred_to
from app.console.sets import Page
from app.console.typed import refused_at
from app.container.words import options_of
from app.db.types import iso_instant
from app.errors import ValidationError
from app.http.security import current_caller
from app.localisation.data_files import data_beside
from app.odata.model import edm
from app.odata.syntax.literals import decimal_text, quoted
from app.settings.days import start_of, today

WHERE = "where"
ME = "me"
MOST = 20  # conditions of one list
_LONGEST = 500
# Kinds of properties that conditions take for one.
_ALIKE = {"moment": "day", **dict.fromkeys(NUMBERS, "number")}


@dataclass(frozen=True, kw_only=True)
class Operator:
    """What a condition says of a property, as ``filters.toml`` has it."""

    words: str
    filter: str = ""
    takes: bool = True
    first: int | None = None
    last: int | None = None
    whole: str = ""
    shift: int = 0

    @property
    def is_of_days(self) -> bool:
        """Whether it says in which days something lies."""
        return not self.filter

    def days(self, day: date) -> tuple[date | None, date | None]:
        """From a day the first one and the last of what is looked for; None where it is open."""
        if self.whole:
            first = step(unit_start(day, self.whole), self.whole, self.shift)
            return first, step(first, self.whole, 1) - timedelta(days=1)
        return (
            None if self.first is None else day + timedelta(days=self.first),
            None if self.last is None else day + timedelta(days=self.last),
        )


_DECLARED = data_beside(__file__, "filters.toml")
OPERATORS: Mapping[str, Mapping[str, Operator]] = {
    kind: {name: Operator(**declared) for name, declared in operators.items()}
    for kind, operators in _DECLARED.items()
}


@dataclass(frozen=True)
class Filterable:
    """A property that people filter by, as ``declared``; ``reference`` is what it names."""

    declared: edm.Property
    kind: str
    reference: Kind | None = None

    @property
    def name(self) -> str:
        return self.declared.name

    @property
    def operators(self) -> Mapping[str, Operator]:
        return OPERATORS[self.kind]

    @property
    def options(self) -> Sequence[str]:
        return options_of(self.declared)


@dataclass(frozen=True)
class Condition:
    """A property, what is said of it, and the value that is stored in the address."""

    of: Filterable
    operator: str
    value: str = ""

    @property
    def text(self) -> str:
        """As an address has it."""
        return f"{self.of.name}:{self.operator}:{self.value}"

    @property
    def words(self) -> str:
        """``Assignee is me``."""
        condition = (
            f"{wording.label(self.of.name)} {translated(self.of.operators[self.operator].words)}"
        )
        return f"{condition} {self._value_words}" if self._takes else condition

    @property
    def _value_words(self) -> str:
        if self.of.kind == "choice":
            return ", ".join(wording.words(each) for each in self.value.split(","))
        if self.of.reference is not None:
            return named(self.of.reference, int(self.value))
        if list_of(self.of.name):
            return code_name(self.of.name, self.value)
        return wording.grouped(Decimal(self.value)) if self.of.kind == "number" else self.value

    @property
    def _takes(self) -> bool:
        return self.of.operators[self.operator].takes

    @property
    def filter(self) -> str:
        """As the engine reads it."""
        operator = self.of.operators[self.operator]
        if operator.is_of_days:
            chosen = date.fromisoformat(self.value) if operator.takes else today()
            return self._between(*operator.days(chosen))
        return operator.filter.format(name=self.of.name, value=self._literal)

    @property
    def _literal(self) -> str:
        if self.operator == ME and self.of.kind == "person":
            return str(current_caller().user_id)
        if self.of.kind == "choice":
            return ",".join(quoted(each) for each in self.value.split(","))
        if self.of.kind == "number":
            return decimal_text(Decimal(self.value))
        if self.of.kind in ("person", "reference"):
            return self.value
        is_part = self.of.kind == "text" and self.operator == "has"
        return quoted(self.value.lower() if is_part else self.value)

    def _between(self, first: date | None, last: date | None) -> str:
        name, parts = self.of.name, []
        if first is not None:
            parts.append(f"{name} ge {self._day(first)}")
        if last is not None:
            parts.append(f"{name} lt {self._day(day_after(last))}")
        return " and ".join(parts)

    def _day(self, day: date) -> str:
        """The day, or the instant at which it begins."""
        if self.of.declared.type == edm.DATE:
            return day.isoformat()
        return iso_instant(start_of(day))


def filterable(set_page: Page) -> dict[str, Filterable]:
    """The properties of a set that a condition can be about: those of its list first."""
    type_ = set_page.entity_set.type
    keys = {
        column.path: key
        for column in choosable(set_page)
        if column.path in type_.navigation
        and (key := key_of(type_, type_.navigation[column.path])) is not None
    }
    names = dict.fromkeys(keys.get(path, path) for path in set_page.columns)
    names |= dict.fromkeys(keys.values())
    names |= dict.fromkeys(type_.properties)
    known = (type_.properties[name] for name in names if name in type_.properties)
    filterables = {property_.name: _filterable(type_, property_) for property_ in known}
    return {name: each for name, each in filterables.items() if each is not None}


def _filterable(type_: edm.EntityType, property_: edm.Property) -> Filterable | None:
    if property_.name in ("id", "allowedActions"):
        return None
    if (referred := referred_to(type_, property_)) is not None:
        is_person = referred.set_name == "Users"
        return Filterable(property_, "person" if is_person else "reference", referred)
    if property_.name.endswith("Id") and property_.type == edm.INT64:
        return None  # of a record of any type: its number says nothing
    kind = kind_of(property_)
    return Filterable(property_, _ALIKE.get(kind, kind)) if kind else None


def read_conditions(set_page: Page, texts: Sequence[str]) -> dict[str, Condition | None]:
    """The conditions of an address by their texts; None for a text that is none.

    Args:
        texts: ``property:operator:value``; of more than ``MOST`` the last ones are none.
    """
    if not texts:
        return {}
    filterables = filterable(set_page)
    return {
        text: _condition(filterables, text) if at < MOST else None
        for at, text in enumerate(dict.fromkeys(texts))
    }


def _condition(filterables: Mapping[str, Filterable], text: str) -> Condition | None:
    name, _, rest = text.partition(":")
    operator, _, value = rest.partition(":")
    of = filterables.get(name)
    if of is None or operator not in of.operators or len(value) > _LONGEST:
        return None
    if not of.operators[operator].takes:
        return Condition(of, operator)
    return Condition(of, operator, value) if _is_value(of, value) else None


def _is_value(of: Filterable, value: str) -> bool:
    """Whether a text of an address is a value of the property."""
    if of.kind == "choice":
        return all(each in of.options for each in value.split(","))
    if of.reference is not None:
        return value.isdecimal() and len(value) <= 18
    try:
        if of.kind == "day":
            return date.fromisoformat(value).year < date.max.year
        return of.kind != "number" or Decimal(value).is_finite()
    except (ValueError, InvalidOperation):
        return False


def typed_condition(set_page: Page, name: str, operator: str, values: Sequence[str]) -> Condition:
    """The condition that was typed into the form of a list.

    Raises: ValidationError, the value is none; its field is ``value``.
    """
    of = filterable(set_page).get(name)
    if of is None or operator not in of.operators:
        raise ValidationError([("value", translated("choose what to filter by"))])
    if not of.operators[operator].takes:
        return Condition(of, operator)
    value = ",".join(each.strip() for each in values if each.strip())
    with refused_at("value"):
        if value and of.reference is not None:
            value = str(find(of.reference, value))
        elif value and of.kind == "number":
            value = decimal_text(typed_number(value))
        elif value and list_of(name):
            value = typed_code(name, value)
    if not value or len(value) > _LONGEST or not _is_value(of, value):
        text = (
            translated("choose at least one")
            if of.kind == "choice"
            else translated("is missing, or cannot be read")
        )
        raise ValidationError([("value", text)])
    return Condition(of, operator, value)
