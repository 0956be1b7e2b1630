"""What is counted: kinds of records, and the dimensions and figures that each has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from app.bi.plans.qualifying import qualified
from app.bi.words.speech import plural
from app.container.measures import CURRENCY, MEASURES
from app.container.words import options_of
from app.odata.model import edm
from app.odata.names import apart

_NUMBERS = ("Edm.Byte", "Edm.Int16", "Edm.Int32", "Edm.Int64", "Edm.Decimal", "Edm.Double")


@dataclass(frozen=True)
class Dimension:
    """What rows are grouped by; ``key`` tells equal names apart."""

    name: str
    path: str
    label: str
    key: str | None = None


@dataclass(frozen=True)
class Measure:
    """A figure of each record; ``money`` is the property that names its currency, ``worth`` the
    one currency that all of them are converted into."""

    label: str
    value: str
    money: str | None = None
    filter: str | None = None
    unit: str | None = None
    date: str | None = None
    note: str | None = None
    average: bool = False
    issued: bool = False
    default: bool = False
    snapshot: bool = False
    low_is_good: bool = False
    worth: str | None = None
    is_whole: bool = False  # counts records that the entity leaves out
    within: str | None = None  # what is so of all that it counts then
    base: str | None = None  # the same in the currency of the organisation, where it is kept


@dataclass(frozen=True)
class Ratio:
    """What part one sum is of another; ``base`` says of which records, if not of the usual."""

    part: str
    whole: str
    label: str  # of the whole
    base: str | None = None
    note: str | None = None


class Entity:
    """One kind of record: its set, its dates and amounts, what it is grouped and measured by."""

    def __init__(self, key: str, data: Mapping[str, Any], container: edm.EntityContainer) -> None:
        self.key = key
        self.data = data
        self.set: str = data["set"]
        self.type = container.sets[self.set].type
        self.join: str | None = data.get("join")
        self.one: str = data["one"]
        self.name: str = data["name"]
        self.date: str = data["date"]
        self.base: str | None = data.get("base")
        self.issued: str | None = data.get("issued")
        self.amount: str | None = data.get("amount")
        self.columns: tuple[str, ...] = tuple(data["columns"])
        self.related: Mapping[str, str] = data.get("related", {})

    @property
    def many(self) -> str:
        return plural(self.one)

    @property
    def person(self) -> Dimension | None:
        """The dimension of the person responsible."""
        for name in ("assignee", "manager", "owner", "author"):
            if name in self.dimensions and (self.data.get("person", name) == name):
                return self.dimensions[name]
        return None

    def prop(self, path: str) -> edm.Property | None:
        """A property of the record itself."""
        return self.type.properties.get(path)

    def currency_of(self, path: str) -> str | None:
        """The property that names the currency of an amount."""
        if self.join is not None:
            return str(self.data["currency"])
        prop = self.prop(path)
        return None if prop is None else prop.currency_property

    def names_one(self, path: str) -> bool:
        """Whether a property tells a record from all others, or is what it is called."""
        own = () if self.join is not None else ("id", self.data.get("numbered", "number"))
        return path in (self.name, *own)

    @cached_property
    def dimensions(self) -> Mapping[str, Dimension]:
        keys = self.data.get("keys", {})
        dimensions = {
            name: Dimension(name, path, words[0] if words else name, keys.get(name))
            for name, (path, *words) in self.data.get("dimensions", {}).items()
        }
        for name, prop in self.type.properties.items():
            if (
                (options_of(prop) or name == "currency")
                and name not in dimensions
                and self.join is None
            ):
                dimensions[name] = Dimension(name, name, spoken(name))
        return dimensions

    @cached_property
    def figures(self) -> Mapping[str, Measure]:
        """The measures by their names."""
        return {name: self._measure(data) for name, data in self.data.get("measures", {}).items()}

    def _measure(self, data: Mapping[str, Any]) -> Measure:
        """A figure of the file; of a named measure that of ``app.container.measures``."""
        if "measure" not in data:
            return Measure(**data)
        defined = MEASURES[data["measure"]]
        texts = {name: value for name, value in data.items() if name != "measure"}
        value, where = str(defined.value), list(defined.where)
        if self.join is not None:
            alias = self.join.partition(" as ")[2]
            value, *where = (self._joined(text, alias) for text in (value, *where))
        base = self.base.split(" and ") if self.base else []
        is_whole = any(part not in where for part in base)
        # What the entity says of all its records, and what another state may take the place of.
        already = {*base, *([self.issued] if data.get("issued") else [])}
        label = defined.label
        return Measure(
            label=label,
            value=value,
            money=str(self.data.get("currency", CURRENCY)),
            filter=" and ".join(part for part in where if part not in already) or None,
            note=note_of(label, defined.description),
            is_whole=is_whole,
            within=" and ".join(part for part in base if part in where) or None,
            base=defined.base if self.join is None else None,
            **texts,
        )

    @staticmethod
    def _joined(text: str, alias: str) -> str:
        """An expression of a part of the record, where the part is joined to it."""
        return re.sub(rf"\b{alias}/[A-Z]\w*/", "", qualified(text, alias))

    def measure_of(self, path: str) -> Measure:
        """The figure of a property; of one whose sum says nothing, the average."""
        level = path in self.data.get("levels", ())
        declared = next(
            (measure for measure in self.figures.values() if level and measure.value == path), None
        )
        label, money = spoken(path).capitalize(), self.currency_of(path)
        return declared or Measure(label=label, value=path, money=money, average=level)

    def is_number(self, path: str) -> bool:
        """Whether a property of the record is a number; a key of another record is none."""
        prop = None if path.endswith("Id") else self.prop(path)
        return prop is not None and getattr(prop.type, "name", "") in _NUMBERS

    def is_date(self, path: str) -> bool:
        """Whether a property is a calendar day, not an instant."""
        if self.join is not None and path.startswith("payment/"):
            return path == "payment/date"
        prop = self.prop(path)
        return prop is not None and getattr(prop.type, "name", "") == "Edm.Date"


def note_of(label: str, description: str) -> str:
    """What a figure is, as an answer tells it: ``net revenue = …``."""
    return f"{label[:1].lower()}{label[1:]} = {description.rstrip('.')}"


def spoken(name: str) -> str:
    """``PartiallyPaid`` -> ``partially paid``."""
    return apart(name.rpartition("/")[2]).lower()
