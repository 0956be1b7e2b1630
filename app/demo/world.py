"""The dice and the calendar of the demonstration: the same seed and day give the same year."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, TypeVar

Item = TypeVar("Item")
Record = dict[str, Any]
SEED = 2026
# Working hours, in seconds of the day.
_OPENS, _CLOSES = 7 * 3600, 16 * 3600
RATES = {"EUR": Decimal(1), "CHF": Decimal("1.06"), "GBP": Decimal("1.15")}


@dataclass(frozen=True)
class Employee:
    """Somebody of the demonstration's own company; ``id`` is the one in the file."""

    id: int
    username: str
    name: str
    role: str
    language: str = "en"


STAFF = (
    Employee(1, "maria.lindqvist", "Maria Lindqvist", "Manager"),
    Employee(2, "jonas.petersen", "Jonas Petersen", "Sales", "de"),
    Employee(3, "leyla.oezdemir", "Leyla Özdemir", "Sales", "de"),
    Employee(4, "tom.becker", "Tom Becker", "Sales"),
    Employee(5, "karin.vogt", "Karin Vogt", "Accountant", "de"),
    Employee(6, "felix.brandt", "Felix Brandt", "Support", "de"),
    Employee(7, "amina.haddad", "Amina Haddad", "Support", "fr"),
    Employee(8, "ole.jensen", "Ole Jensen", "Support"),
    Employee(9, "vera.kraft", "Vera Kraft", "Viewer", "de"),
)


@dataclass
class World:
    """What the parts of the demonstration share, and the records that they made so far."""

    today: date
    now: datetime
    dice: random.Random = field(default_factory=lambda: random.Random(SEED))
    records: dict[str, list[Record]] = field(default_factory=dict)
    # Euros for one unit of a currency.
    rates: dict[str, Decimal] = field(default_factory=lambda: dict(RATES))
    picked: set[Hashable] = field(default_factory=set)

    def add(self, set_name: str, **record: Any) -> Record:
        """A record of a set, with the next id; what is None is left out."""
        records = self.records.setdefault(set_name, [])
        values = {"id": len(records) + 1}
        values.update((name, value) for name, value in record.items() if value is not None)
        records.append(values)
        return values

    def employee(self, *roles: str) -> int:
        """The id of somebody with one of the roles."""
        return self.pick([person.id for person in STAFF if person.role in roles])

    def pick(self, items: Sequence[Item]) -> Item:
        """Any of the items, the same in every run."""
        return items[int(self.dice.random() * len(items))]

    def pick_new(self, items: Sequence[Item], *owner: Hashable) -> Item:
        """One of the items that was not picked for its owner before: no two of theirs are alike."""
        first = int(self.dice.random() * len(items))
        for item in (*items[first:], *items[:first]):
            if (item_of := (*owner, id(item))) not in self.picked:
                self.picked.add(item_of)
                return item
        raise ValueError(f"all are taken: {owner}")

    def weighted(self, items: Iterable[tuple[Item, float]]) -> Item:
        """One of the items, as likely as its weight."""
        choices = list(items)
        return self.dice.choices([item for item, _ in choices], [weight for _, weight in choices])[
            0
        ]

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.dice.random() < probability

    def between(self, low: float, high: float) -> float:
        """A number from ``low`` to ``high``, small ones more often."""
        return low + (high - low) * self.dice.random() ** 2

    def days_ago(self, days: float) -> date:
        """The working day that lies so many days back."""
        return workday(self.today - timedelta(days=int(days)))

    def some_day(self, oldest: int, newest: int) -> date:
        """A working day between so many days ago and so many days ago."""
        return self.days_ago(self.dice.randint(newest, oldest))

    def at(self, day: date, earliest: datetime | None = None) -> datetime:
        """A moment of the working hours of ``day``, never in the future or before ``earliest``."""
        seconds = self.dice.randint(_OPENS, _CLOSES)
        midnight = datetime.combine(day, time(), UTC)
        moment = midnight + timedelta(seconds=seconds)
        if earliest is not None and moment <= earliest:
            moment = earliest + timedelta(minutes=self.dice.randint(2, 50))
        begin = midnight if earliest is None else max(midnight, earliest)
        return self.past(begin, moment, (seconds - _OPENS) / (_CLOSES - _OPENS))

    def after(self, moment: datetime, low_hours: float, high_hours: float) -> datetime:
        """A moment so many hours later, never in the future."""
        hours = self.between(low_hours, high_hours)
        return self.past(moment, moment + timedelta(seconds=int(3600 * hours)), hours / high_hours)

    def past(self, begin: datetime, moment: datetime, share: float) -> datetime:
        """``moment``; where that is still to come, ``share`` of the time from ``begin`` to now.

        So what has just begun does not all happen in the second in which the year ends.
        """
        if moment <= self.now:
            return moment
        return begin + timedelta(seconds=int((self.now - begin).total_seconds() * share))


def workday(day: date) -> date:
    """``day``, or the Friday before a weekend."""
    return day - timedelta(days=max(0, day.weekday() - 4))


def money(value: float, step: str = "0.01") -> Decimal:
    """An amount in whole steps."""
    unit = Decimal(step)
    return (Decimal(int(value / float(unit))) * unit).quantize(Decimal("0.01"))


def host_name(name: str) -> str:
    """``Øresund Freight ApS`` -> ``oresund-freight-aps``, for addresses under .example."""
    plain = unicodedata.normalize("NFKD", name.replace("Ø", "O").replace("ø", "o"))
    plain = plain.replace("ß", "ss").replace("ł", "l").replace("æ", "ae")
    return re.sub(r"[^a-z0-9]+", "-", plain.encode("ascii", "ignore").decode().lower()).strip("-")
