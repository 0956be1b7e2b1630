"""Restrictions of a meaning in words, as the answer says them back."""

from __future__ import annotations

from app.bi.plans.entities import spoken
from app.bi.questions.algebra import (
    COUNT,
    All,
    Compares,
    Dated,
    Either,
    Equals,
    Has,
    Is,
    Known,
    Mentions,
    Not,
    Of,
    Restriction,
    Tagged,
    When,
)
from app.bi.questions.lexicon import Lexicon
from app.bi.questions.model import Kind

_SIGNS = {"gt": "over", "ge": "at least", "lt": "under", "le": "at most", "eq": "exactly",
          "ne": "not"}  # fmt: skip


class Saying:
    """Puts restrictions into the words of a language."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon

    def restriction(self, kind: Kind, one: Restriction) -> str:
        """What is so of records of a kind: ``overdue``, ``with invoices (open)``."""
        match one:
            case Is(state):
                return self._state(kind, state)
            case Equals(path, _, label):
                return f"{self._path(kind, path)} {label}".strip()
            case Compares(subject, sign, number, unit, factor):
                limit = number if not factor else f"{factor} % of {self._number(kind, number)}"
                limit = limit if not kind.is_number(number) or factor else spoken(number)
                unit = "%" if unit == "%" else f" {unit}s" if unit else self._unit(kind, subject)
                return f"{self._number(kind, subject)} {_SIGNS[sign]} {limit}{unit}"
            case Known(path):
                return f"with {self._path(kind, path) or spoken(path)}"
            case Mentions(text, path):
                return f"with “{text}” in {spoken(path)}" if path else f"about “{text}”"
            case Tagged(tag):
                return f"tagged “{tag}”"
            case Dated(when, date):
                return f"{spoken(date or kind.date)} {period_words(when)}"
            case Not(of):
                return f"not {self.restriction(kind, of)}"
            case All(parts):
                return " and ".join(self.restriction(kind, part) for part in parts)
            case Either(parts):
                return " or ".join(self.restriction(kind, part) for part in parts)
            case Has(other, where, sign, number):
                many = "" if sign is None else f"{_SIGNS[sign]} {number} "
                return f"with {many}{self._described(other, where)}"
            case Of(other, where):
                return f"of {self._described(other, where)}"

    def _described(self, key: str, where: tuple[Restriction, ...]) -> str:
        kind = self._lexicon.model.kinds[key]
        parts = [self.restriction(kind, one) for one in where]
        return f"{kind.many} ({', '.join(parts)})" if parts else kind.many

    def _state(self, kind: Kind, name: str) -> str:
        path, _, member = name.rpartition(".")
        if path == "to":
            return f"to be {member}"
        return spoken(member) if path else self._lexicon.first("state", kind.key, name)

    def _path(self, kind: Kind, path: str) -> str:
        if path == "id":
            return ""
        for name, dimension in kind.dimensions.items():
            if path in (dimension.path, dimension.key):
                return self._lexicon.first("dimension", kind.key, name)
        return spoken(path)

    def _number(self, kind: Kind, name: str) -> str:
        measure = kind.figures.get(name)
        return spoken(name) if measure is None or name == COUNT else measure.label.lower()

    @staticmethod
    def _unit(kind: Kind, name: str) -> str:
        measure = kind.figures.get(name)
        return f" {measure.unit}" if measure is not None and measure.unit else ""


def period_words(when: When) -> str:
    """A period as it was said; ``more than|30 day`` as people say it."""
    head, _, rest = when.words.partition("|")
    if rest and rest.partition(" ")[0].isdecimal():
        return f"{head} {rest}s ago"
    return when.words.replace("|", " and ")
