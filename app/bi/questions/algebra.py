"""What a question means: a frozen value in names of the model, written back as words or a plan.

Names are those of ``model.toml``; nothing here knows a language. A meaning is made by
``Model.checked``, which refuses what does not fit together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

Sign = Literal["gt", "ge", "lt", "le", "eq", "ne"]
Method = str  # one of METHODS
COUNT = "count"
PERCENTILES = tuple(f"percentile{percent}" for percent in range(1, 100))
# How values become one; empty for the usual way.
METHODS = frozenset(("", "sum", "average", "median", "max", "min", *PERCENTILES))
OR = "|"  # between names of which any is meant
OPPOSITE: dict[str, Sign] = {"gt": "le", "ge": "lt", "lt": "ge", "le": "gt", "eq": "ne", "ne": "eq"}


@dataclass(frozen=True)
class When:
    """A period as it is said, in the words that ``periods`` reads: resolved at the very end."""

    words: str


@dataclass(frozen=True)
class Is:
    """A state of the model (``overdue``), a member (``status.Paid``), what is due (``to.paid``)."""

    state: str


@dataclass(frozen=True)
class Equals:
    """A property is one of some values, written as OData does; ``label`` is how people say it."""

    path: str
    values: tuple[str, ...]
    label: str


@dataclass(frozen=True)
class Compares:
    """A property or a measure of each record against a number, or against another property.

    ``number`` is a decimal as text, or the name of a property with ``factor`` percent of it.
    """

    subject: str
    sign: Sign
    number: str
    unit: str = ""
    factor: str = ""


@dataclass(frozen=True)
class Known:
    """A property has a value."""

    path: str


@dataclass(frozen=True)
class Mentions:
    """A text stands in the record, or in one of its properties (``path``)."""

    text: str
    path: str = ""


@dataclass(frozen=True)
class Tagged:
    """The record has a tag."""

    tag: str


@dataclass(frozen=True)
class Dated:
    """A date of the record lies in a period; no date: the one that the rest implies."""

    when: When
    date: str = ""


@dataclass(frozen=True)
class Has:
    """Related records exist (no ``sign``), or so many of them do."""

    kind: str
    where: tuple[Restriction, ...] = ()
    sign: Sign | None = None
    number: str = ""


@dataclass(frozen=True)
class Of:
    """The one record that this one belongs to is so: the client of an invoice."""

    kind: str
    where: tuple[Restriction, ...]


@dataclass(frozen=True)
class Not:
    """The opposite of a restriction."""

    of: Restriction


@dataclass(frozen=True)
class All:
    """Several restrictions that one phrase says; taken apart where a meaning is made."""

    of: tuple[Restriction, ...]


@dataclass(frozen=True)
class Either:
    """One of several restrictions."""

    of: tuple[Restriction, ...]


Restriction = (
    Is | Equals | Compares | Known | Mentions | Tagged | Dated | Has | Of | Not | All | Either
)  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """A measure and how the values of records become one; ``count`` counts the records.

    ``rate`` names a rate of the model instead.
    """

    measure: str
    method: Method = ""
    is_rate: bool = False


@dataclass(frozen=True)
class Group:
    """By a dimension of the model, or by a unit of time (``grain``), of ``date`` or the usual."""

    dimension: str = ""
    grain: str = ""
    date: str = ""


@dataclass(frozen=True)
class Ranking:
    """The first ``limit`` groups or records, by the figure or by ``path``; 0 keeps all of them.

    ``within``: the first of each of the other groups.
    """

    descending: bool
    limit: int = 0
    path: str = ""
    within: bool = False


@dataclass(frozen=True)
class Threshold:
    """Groups whose figure, or whose number of records (``counted``), compares so with a number."""

    sign: Sign
    number: str
    counted: bool = False
    unit: str = ""


@dataclass(frozen=True)
class Against:
    """The same figure of another period: a named one, or the one a unit before (``shift``)."""

    when: When | None = None
    shift: str = ""
    unit: str = ""  # of which this one is compared where no period is said: the same quarter


@dataclass(frozen=True)
class Meaning:
    """A whole question. Without figures it asks for the records themselves."""

    kind: str
    figures: tuple[Figure, ...] = ()
    groups: tuple[Group, ...] = ()
    where: tuple[Restriction, ...] = ()
    dated: Dated | None = None
    against: Against | None = None
    ranking: Ranking | None = None
    threshold: Threshold | None = None
    part: Restriction | None = None  # the share of it in all
    distinct: str = ""  # how many different values of this dimension
    is_mean: bool = False  # the average over groups: of their figure, or how many records
    is_converted: bool = False  # into the currency of the organisation
    columns: tuple[str, ...] = ()
    chart: str = ""
    asked: str = ""  # whether it is "more" or "less"

    def changed(self, **values: object) -> Meaning:
        """The same with some parts replaced."""
        return replace(self, **values)  # type: ignore[arg-type]  # of the names that are given


def alternatives_of(restriction: Restriction) -> tuple[Restriction, ...]:
    """Those of which one is enough, or itself alone."""
    return restriction.of if isinstance(restriction, Either) else (restriction,)


def parts_of(restriction: Restriction) -> tuple[Restriction, ...]:
    """The restrictions that a phrase says."""
    if isinstance(restriction, All):
        return tuple(part for of in restriction.of for part in parts_of(of))
    return (restriction,)


def positive(restriction: Restriction) -> Iterator[Restriction]:
    """What a restriction says that is so; nothing of one that says what is not."""
    return iter(()) if isinstance(restriction, Not) else inner(restriction)


def inner(restriction: Restriction) -> Iterator[Restriction]:
    """A restriction and all that it is made of, on the same record."""
    yield restriction
    if isinstance(restriction, Not):
        yield from inner(restriction.of)
    if isinstance(restriction, (All, Either)):
        for other in restriction.of:
            yield from inner(other)
