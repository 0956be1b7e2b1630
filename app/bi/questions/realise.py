"""Restrictions of a meaning in words, as the answer says them back."""

from __future__ import annotations

from dataclasses import replace

from app.bi.plans.entities import spoken
from app.bi.plans.phrasing import SIGNS
from app.bi.questions.algebra import (
    OPPOSITE,
    OR,
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
from app.bi.questions.periods import Periods, is_long_ago
from app.bi.words.speech import ENGLISH_CODE


class Saying:
    """Puts restrictions into the words of a language; periods are told by their days."""

    def __init__(self, lexicon: Lexicon, periods: Periods) -> None:
        self._lexicon, self._periods, self._say = lexicon, periods, lexicon.say

    def restriction(self, kind: Kind, restriction: Restriction) -> str:
        """What is so of records of a kind: ``overdue``, ``with invoices (open)``."""
        say = self._say
        match restriction:
            case Is(state):
                return self._state(kind, state)
            case Equals(path, _, label):
                return f"{self._path(kind, path)} {label.replace(OR, say(' or '))}".strip()
            case Compares() if some := self._some(kind, restriction):
                return say("with {property}", property=some)
            case Compares():
                return self._compared(kind, restriction)
            case Known(path):
                named = self._path(kind, path) or self._of(path)
                event = named.removesuffix(" at")  # "paid", as people say it
                return event if event != named else say("with {property}", property=named)
            case Mentions(text, path):
                if path:
                    return say("with “{text}” in {property}", text=text, property=self._of(path))
                return say("about “{text}”", text=text)
            case Tagged(tag):
                return say("tagged “{tag}”", tag=tag)
            case Dated(when, date):
                return f"{self._of(date or kind.date).removesuffix(' at')} {self._period(when)}"
            case Not(of):
                return self._negated(kind, of)
            case All(parts):
                return say(" and ").join(self.restriction(kind, part) for part in parts)
            case Either(parts):
                return say(" or ").join(self.restriction(kind, part) for part in parts)
            case Has(other, where, sign, number):
                many = self._described(other, where, is_one=number == "1")
                if sign is not None:
                    many = f"{say(SIGNS[sign], limit=number)} {many}"
                return say("with {property}", property=many)
            case Of(other, where):
                return say("of {whole}", whole=self._whole(other, where))

    def _negated(self, kind: Kind, of: Restriction) -> str:
        """What is not so: ``without invoices``, ``reminders sent at most 2``."""
        say = self._say
        match of:
            case Known(path) if not (self._path(kind, path) or self._of(path)).endswith(" at"):
                named = self._path(kind, path) or self._of(path)
                return say("without {property}", property=named)
            case Has(other, where, None):
                return say("without {property}", property=self._described(other, where))
            case Compares() if some := self._some(kind, of):
                return say("without {property}", property=some)
            case Compares(sign=sign):
                return self._compared(kind, replace(of, sign=OPPOSITE[sign]))
        return say("not {words}", words=self.restriction(kind, of))

    def _whole(self, key: str, where: tuple[Restriction, ...]) -> str:
        """What something is part of: ``project P-000034``, ``projects (active)``."""
        kind = self._lexicon.model.kinds[key]
        match where:
            case (Equals(path, (_,), label),) if kind.names_one(path):
                return f"{self._say.named(kind.one)} {label}"
        return self._described(key, where)

    def _compared(self, kind: Kind, comparison: Compares) -> str:
        say, measure = self._say, kind.figures.get(comparison.subject)
        if comparison.factor:
            whole = self._number(kind, comparison.number)
            limit = say("{part} of {whole}", part=f"{say.digits(comparison.factor)} %", whole=whole)
        else:
            is_property = kind.is_number(comparison.number)
            limit = self._of(comparison.number) if is_property else say.limit(comparison.number)
        own = (measure.unit or "") if measure is not None and not comparison.factor else ""
        unit = f"{comparison.unit}s" if comparison.unit else own
        if comparison.unit == "%":
            limit = say("{number}%", number=limit)
        elif unit:
            limit = f"{limit} {say.named(unit)}"
        return (
            f"{self._number(kind, comparison.subject)} {say(SIGNS[comparison.sign], limit=limit)}"
        )

    def _some(self, kind: Kind, comparison: Compares) -> str:
        """What a record has any of, ``reminders sent over 0``; empty of all else."""
        if replace(comparison, subject="") != Compares("", "gt", "0"):
            return ""
        measure = kind.figures.get(comparison.subject)
        is_amount = kind.currency_of(kind.path_of(comparison.subject)) or (
            measure is not None and measure.money
        )
        return "" if is_amount else self._number(kind, comparison.subject)

    def _of(self, path: str) -> str:
        return self._say.named(spoken(path))

    def _described(self, key: str, where: tuple[Restriction, ...], *, is_one: bool = False) -> str:
        kind = self._lexicon.model.kinds[key]
        many = self._say.named(kind.one if is_one else kind.many)
        parts = [self.restriction(kind, restriction) for restriction in where]
        return f"{many} ({', '.join(parts)})" if parts else many

    def _state(self, kind: Kind, name: str) -> str:
        path, _, member = name.rpartition(".")
        if path == "to":
            return self._say("to be {done}", done=self._say.named(member))
        named = self._say.named(spoken(member))
        return named if path else self._lexicon.first("state", kind.key, name, named)

    def _path(self, kind: Kind, path: str) -> str:
        if path == "id":
            return ""
        for dimension in kind.dimensions.values():
            if path in (dimension.path, dimension.key):
                return self._say.named(dimension.label)
        return self._of(path)

    def _number(self, kind: Kind, name: str) -> str:
        measure = kind.figures.get(name)
        if measure is None:
            return self._of(name)
        return self._say.lower(measure.label)

    def _period(self, when: When) -> str:
        if self._lexicon.code == ENGLISH_CODE:
            return period_words(when)
        period = self._periods.resolve(when)
        return when.words if period is None else self._say.period(period)


def period_words(when: When) -> str:
    """A period as it was said in English; ``more than|30 day`` as people say it."""
    head, _, rest = when.words.partition("|")
    if head == "all before":
        return f"before {rest.removeprefix('in ')}"
    if rest and rest.partition(" ")[0].isdecimal():
        head = "more than" if is_long_ago(when) else head
        return f"{head} {rest}{'' if rest.startswith('1 ') else 's'} ago"
    return when.words.replace("|", " and ")
