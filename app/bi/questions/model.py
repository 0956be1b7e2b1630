"""The business as it is counted: kinds of records, states, figures, dates, read from a file.

``model.toml`` has names and OData alone; enumerations, properties and navigation come from the
entity data model. What things are called is said by the lexicon of a language.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from app.bi.plans.entities import Entity, Measure, Ratio, spoken
from app.bi.questions.algebra import (
    COUNT,
    METHODS,
    Compares,
    Dated,
    Equals,
    Figure,
    Has,
    Is,
    Known,
    Meaning,
    Mentions,
    Of,
    Restriction,
    Tagged,
    inner,
)
from app.bi.words.speech import Speech
from app.container.model import container
from app.container.words import options_of
from app.localisation.data_files import data_beside
from app.odata.model import edm

# Enumerations that say nothing of a record to people.
_TECHNICAL = frozenset((
    "relatedType", "entityType", "eInvoiceFormat", "bodyFormat", "previousStage", "taxCategory",
    "unitCode", "eInvoiceScheme",
))  # fmt: skip


class TypeMismatchError(Exception):
    """Parts of a meaning that do not fit together, or that the model does not have."""


@dataclass(frozen=True)
class State:
    """What a record is: a filter, the date since when, the amount that counts then."""

    filter: str
    date: str = ""
    amount: str = ""
    path: str = ""  # of one value of a property
    value: str = ""


@dataclass(frozen=True)
class Rate:
    """What part of some records hits, or what part one sum is of another."""

    hits: str = ""
    among: str = ""
    date: str = ""
    low_is_good: bool = False
    ratio: Ratio | None = None


class Kind(Entity):
    """One kind of record: what compiles it (``Entity``) and what can be said of it."""

    def __init__(
        self, key: str, data: Mapping[str, Any], singular: str, many: str,
        labels: Mapping[str, str], say: Speech,
    ) -> None:  # fmt: skip
        dimensions = {name: [path, labels.get(name, spoken(name))]
                      for name, (path, *_) in data.get("dimensions", {}).items()}  # fmt: skip
        keys = {name: rest[0] for name, (_, *rest) in data.get("dimensions", {}).items() if rest}
        described = {**data, "dimensions": dimensions, "keys": keys, "one": singular}
        super().__init__(key, described, container())
        self.labels, self._many, self._say = labels, many, say

    @property
    def many(self) -> str:
        """What several of them are called."""
        return self._many

    @property
    def called_by(self) -> str:
        """How people speak of one: by its ``name``, or as of somebody by the ``family name``."""
        return str(self.data.get("called_by", ""))

    @cached_property
    def usual(self) -> str:
        """The measure that a bare amount means."""
        return next((name for name, figure in self.figures.items() if figure.default), "")

    @cached_property
    def rates(self) -> Mapping[str, Rate]:
        rates = {}
        for name, data in self.data.get("rates", {}).items():
            parts = {key: data[key] for key in ("part", "whole", "label", "base", "note")
                     if key in data}  # fmt: skip
            plain = {key: value for key, value in data.items() if key not in parts}
            rates[name] = Rate(**plain, ratio=Ratio(**parts) if parts else None)
        return rates

    @cached_property
    def states(self) -> Mapping[str, State]:
        """What a record can be, by name: of the file, of its enumerations, still to be done."""
        states = {name: State(**{key: value for key, value in data.items() if key != "since"})
                  for name, data in self.data.get("states", {}).items()}  # fmt: skip
        for name, data in self.data.get("pending", {}).items():
            states[f"to.{name}"] = State(**data)
        dates, amounts = (self.data.get(f"member_{name}", {}) for name in ("dates", "amounts"))
        for path, prop in self.enumerated():
            for member in options_of(prop):
                text = f"{path} eq '{member}'"
                date, amount = dates.get(member, ""), amounts.get(member, "")
                states[f"{path}.{member}"] = State(text, date, amount, path, f"'{member}'")
        for name, prop in self.own_properties():
            if getattr(prop.type, "name", "") == "Edm.Boolean" and not prop.on_request:
                states.setdefault(name, State(name, path=name, value="true"))
        return states

    def stated(self, where: Iterable[Restriction | None]) -> list[State]:
        """The states that restrictions name, in their order."""
        return [self.states[part.state] for part in where if isinstance(part, Is)]

    def since(self, restriction: object) -> str:
        """The date since when a state lasts; empty for none."""
        if not isinstance(restriction, Is):
            return ""
        since = self.data.get("since", {}).get(restriction.state.rpartition(".")[0], "")
        date = "createdAt" if self.states[restriction.state].date == "createdAt" else ""
        stated = self.data.get("states", {}).get(restriction.state, {})
        return str(since or date or stated.get("since", ""))

    def state_with(self, text: str | None) -> str:
        """The state that a filter is, unless of what is still to be done; empty for none."""
        states = self.states.items() if text else ()
        names = (name for name, state in states if state.filter == text)
        return next((name for name in names if not name.startswith("to.")), "")

    def amount_where(self, texts: Container[str]) -> str:
        """The amount that counts of records that filters are of, or else the usual one."""
        amounts = (state.amount for state in self.states.values()
                   if state.amount and state.filter in texts)  # fmt: skip
        usual = "" if self.data.get("unranked") else self.amount
        return next(amounts, usual or "")

    def amount_of(self, where: Iterable[Restriction | None]) -> str:
        """The amount that counts in the first state that has one: what is due; empty for none."""
        return next((state.amount for state in self.stated(where) if state.amount), "")

    def enumerated(self) -> Iterator[tuple[str, edm.Property]]:
        """Properties with a few values that have names; of joined parts those of the file."""
        base = (self.base or "").partition(" ")[0]
        for name, prop in self.own_properties():
            if options_of(prop) and name not in _TECHNICAL and name != base:
                yield name, prop
        part, _, alias = str(self.join).partition(" as ")
        for path in self.data.get("enumerated", ()):
            target = container().types[self.type.navigation[part].target]
            yield path, target.properties[path.removeprefix(f"{alias}/")]

    def own_properties(self) -> Iterator[tuple[str, edm.Property]]:
        """The properties of the record itself; of a part that is joined none."""
        if self.join is None:
            yield from self.type.properties.items()

    def ways_told(self, measure: str) -> Mapping[str, str]:
        """Of a figure: how another one says that it is told -> the figure that is meant then."""
        ways: Mapping[str, str] = self.data.get("told", {}).get(measure, {})
        return ways

    @property
    def keys(self) -> tuple[str, str]:
        """The properties that say which record it is: its key, its number."""
        return "id", self.data.get("numbered", "number")

    def path_of(self, number: str) -> str:
        """The property, or the expression, that a figure is of each record; empty for none."""
        measure = self.figures.get(number)
        return number if measure is None else measure.value or ""

    def prop(self, path: str) -> edm.Property | None:
        """A property of the record, or of the part that is joined."""
        part, _, alias = str(self.join).partition(" as ")
        if self.join is not None and path.startswith(f"{alias}/"):
            name = path.removeprefix(f"{alias}/")
            if nav := self.type.navigation.get(part):
                return container().types[nav.target].properties.get(name)
            values = self.type.properties[part].type  # a collection of complex values
            element = values.element if isinstance(values, edm.CollectionType) else values
            return element.properties.get(name) if isinstance(element, edm.ComplexType) else None
        return super().prop(path)

    @cached_property
    def dates(self) -> Mapping[str, str]:
        """Dates that people speak of: property -> filter that the word alone implies."""
        return {path: date.get("filter", "") for path, date in self.data.get("dates", {}).items()}

    def leads_along(self, path: str) -> bool:
        """Whether a path is, or begins with, what records of the kind have."""
        first = path.partition("/")[0]
        own = self.prop(first) or self.prop(path)
        return own is not None or first in self.type.navigation

    def happened(self, path: str) -> Iterator[Restriction]:
        """What an event says of records where no period is said: nothing of one that all have."""
        prop = self.prop(path)
        if state := self.state_with(self.dates.get(path)):
            yield Is(state)
        elif prop is not None and prop.nullable:
            yield Known(path)

    @cached_property
    def to_one(self) -> Mapping[str, str]:
        """Other kinds that each record belongs to: kind -> navigation."""
        links: dict[str, str] = {}
        for name, navigation in self.type.navigation.items():
            if navigation.collection:
                continue
            for key, data in model_data().items():
                plain = "base" not in data and "join" not in data
                if plain and container().sets[data["set"]].type.name == navigation.target:
                    links.setdefault(key, name)
        return links

    def lasts(self, name: str) -> Measure | None:
        """The time between two dates, ``createdAt..convertedAt``; None where there is none."""
        start, _, end = name.partition("..")
        if not end or not (self.is_dated(start) and self.is_dated(end)):
            return None
        mixed = self.is_date(start) != self.is_date(end)
        first = f"date({start})" if mixed and not self.is_date(start) else start
        last = f"date({end})" if mixed and not self.is_date(end) else end
        hours = bool(self.data.get("lasts_hours"))
        title = "Hours from {start} to {end}" if hours else "Days from {start} to {end}"
        first_day, last_day = (self._say.named(spoken(path)) for path in (start, end))
        label = self._say(title, start=first_day, end=last_day)
        return Measure(
            label=label, value=f"totalseconds({last} sub {first}) div {3600 if hours else 86400}",
            filter=f"{start} ne null and {end} ne null", unit="hours" if hours else "days",
            average=True, low_is_good=True, date=end,
        )  # fmt: skip

    def is_text(self, path: str) -> bool:
        """Whether a property is words of people, not a member of a short list."""
        prop = self.prop(path)
        name = getattr(getattr(prop, "type", None), "name", "")
        return prop is not None and name == "Edm.String" and not options_of(prop)

    def is_dated(self, path: str) -> bool:
        """Whether a property is a day or an instant."""
        property_ = self.prop(path)
        return path in self.dates or getattr(getattr(property_, "type", None), "name", "") in (
            "Edm.Date", "Edm.DateTimeOffset",
        )  # fmt: skip


class Model:
    """All kinds of records, with what one and several of them are called."""

    def __init__(
        self, nouns: Mapping[str, tuple[str, str]], labels: Mapping[str, Any], say: Speech
    ) -> None:
        self.kinds = {
            key: self._kind(key, data, nouns, labels, say) for key, data in model_data().items()
        }

    @staticmethod
    def _kind(
        key: str, data: Mapping[str, Any], nouns: Mapping[str, tuple[str, str]],
        labels: Mapping[str, Any], say: Speech,
    ) -> Kind:  # fmt: skip
        singular, many = nouns.get(key, (str(data["one"]), f"{data['one']}s"))
        return Kind(key, data, singular, many, labels.get(key, {}), say)

    def checked(self, meaning: Meaning) -> Meaning:
        """The same meaning, if all of its names are those of the model and fit together.

        Raises: TypeMismatchError.
        """
        kind = self.kinds.get(meaning.kind)
        if kind is None:
            raise TypeMismatchError(f"no such kind: {meaning.kind}")
        for figure in meaning.figures:
            self._check_figure(kind, figure)
        for group in meaning.groups:
            if group.dimension and group.dimension not in kind.dimensions:
                raise TypeMismatchError(f"{kind.key} are not grouped by {group.dimension}")
            if group.date and not kind.is_dated(group.date):
                raise TypeMismatchError(f"{kind.key} have no date {group.date}")
        parts = [*meaning.where, *([meaning.dated] if meaning.dated else [])]
        for part in [*parts, *([meaning.part] if meaning.part else [])]:
            self.check(kind, part)
        if meaning.distinct and meaning.distinct not in kind.dimensions:
            raise TypeMismatchError(f"{kind.key} have no {meaning.distinct}")
        self._check_whole(meaning)
        self._check_totals(kind, meaning)
        return meaning

    @staticmethod
    def _check_totals(kind: Kind, meaning: Meaning) -> None:
        """What a record has in all is not that of a period, which is not when it was created."""
        numbers = [part.subject for part in meaning.where if isinstance(part, Compares)]
        numbers += [meaning.ranking.path] if meaning.ranking is not None else []
        is_then = meaning.dated is not None and not meaning.dated.date
        if is_then and not meaning.figures and set(numbers) & set(kind.data.get("totals", ())):
            raise TypeMismatchError("a total has no period")

    @staticmethod
    def _check_whole(meaning: Meaning) -> None:
        groups, figures = meaning.groups, meaning.figures
        wrong = {
            "a threshold needs groups": meaning.threshold and not groups,
            "what is compared is a figure": meaning.against and not figures,
            "groups have figures": groups and not (figures or meaning.distinct or meaning.ranking),
            "a rate has its own part": meaning.part and any(figure.is_rate for figure in figures),
            "columns are those of records": meaning.columns and figures,
        }
        if reason := next((reason for reason, is_so in wrong.items() if is_so), ""):
            raise TypeMismatchError(reason)

    @staticmethod
    def _check_figure(kind: Kind, figure: Figure) -> None:
        if figure.is_rate:
            known = figure.measure in kind.rates
        else:
            known = figure.measure in (COUNT, *kind.figures) or kind.is_number(figure.measure)
            known = known or kind.lasts(figure.measure) is not None
        if not known:
            raise TypeMismatchError(f"{kind.key} have no figure {figure.measure}")
        if figure.method not in METHODS:
            raise TypeMismatchError(f"no such method: {figure.method}")

    def check(self, kind: Kind, restriction: Restriction) -> None:
        """Whether a restriction can be one of records of a kind.

        Raises: TypeMismatchError.
        """
        for part in inner(restriction):
            match part:
                case Is(state) if state not in kind.states:
                    raise TypeMismatchError(f"{kind.key} are not {state}")
                case Compares(name) if not (name in kind.figures or kind.is_number(name)):
                    raise TypeMismatchError(f"{kind.key} have no number {name}")
                case Equals(path) | Known(path) if not kind.leads_along(path):
                    raise TypeMismatchError(f"{kind.key} have no {path}")
                case Dated(_, date) if date and not kind.is_dated(date):
                    raise TypeMismatchError(f"{kind.key} have no date {date}")
                case Mentions(_, path) if not (
                    kind.is_text(path) if path else kind.data.get("about")
                ):
                    raise TypeMismatchError(f"{kind.key} have no text {path}")
                case Tagged() if kind.prop("tags") is None:
                    raise TypeMismatchError(f"{kind.key} have no tags")
                case Has(other, where) | Of(other, where):
                    if other not in (kind.related if isinstance(part, Has) else kind.to_one):
                        raise TypeMismatchError(f"{kind.key} have no {other}, or belong to none")
                    for of_other in where:
                        self.check(self.kinds[other], of_other)


@lru_cache(maxsize=1)
def model_data() -> Mapping[str, Any]:
    """The file of the model."""
    return data_beside(__file__, "model.toml")
