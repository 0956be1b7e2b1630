"""The next question of a session as an operation on the meaning of the one before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from app.bi.questions.algebra import (
    COUNT,
    Compares,
    Dated,
    Equals,
    Figure,
    Group,
    Has,
    Is,
    Meaning,
    Not,
    Ranking,
    Restriction,
    Threshold,
    When,
    parts_of,
)
from app.bi.questions.chart import Item
from app.bi.questions.drafts import Draft
from app.bi.questions.model import Kind, Model, TypeMismatchError
from app.bi.questions.periods import ago, before, unit_of_age
from app.bi.questions.rules import Bound

# What words may add up to that go on from a question, by the operation that they are.
OPERATIONS = frozenset((
    "period", "dated", "restriction", "having", "belonging", "group", "dimension", "property",
    "measure", "rank", "bound", "currency", "against", "f:count", "f:much", "f:total", "f:amount",
    "f:previous", "f:list", "f:pie", "f:bar", "f:line", "f:table", "question",
))  # fmt: skip
_FIRST = 10


def followed(previous: Meaning, item: Item, model: Model) -> Meaning | None:
    """The meaning before, changed by what was said; None where it cannot be said of it."""
    kind = model.kinds[previous.kind]
    try:
        changed = _changed(previous, item.category, item.meaning, kind)
        return None if changed is None or changed == previous else model.checked(changed)
    except (TypeMismatchError, KeyError):
        return None


def _changed(previous: Meaning, category: str, told: Any, kind: Kind) -> Meaning | None:
    match category:
        case "period":
            return _in_period(previous, told)
        case "dated":
            return replace(previous, dated=Dated(told[0], told[1].by_kind[kind.key]), against=None)
        case "f:previous" if previous.dated is not None:
            return _in_period(previous, before(previous.dated.when))
        case "restriction" | "having" | "belonging":
            return _restricted(previous, parts_of(told.by_kind[kind.key]), kind)
        case "bound":
            return _bounded(previous, told, kind)
        case "currency":
            money = kind.currency_of(kind.amount or "") or "currency"
            return _restricted(previous, (Equals(money, (f"'{told}'",), told),), kind)
        case "against" if previous.figures:
            return replace(previous, against=told)
        case "group":
            return _grouped(previous, told.by_kind[kind.key], kind)
        case "dimension" if previous.figures:
            return _grouped(previous, Group(told.by_kind[kind.key]), kind)
        case "dimension":
            return _showing(previous, kind.dimensions[told.by_kind[kind.key]].path)
        case "property":
            return _showing(previous, told.by_kind[kind.key])
        case "f:list":
            return replace(previous, figures=(), groups=(), ranking=None, part=None, chart="")
        case "f:pie" | "f:bar" | "f:line" | "f:table":
            return replace(previous, chart=told)
        case "measure":
            return replace(previous, figures=(Figure(told.by_kind[kind.key]),), columns=())
        case "rank":
            return _ranked(previous, told)
        case "f:count":
            return replace(previous, figures=(Figure(COUNT),), ranking=None, columns=())
        case "f:much" | "f:total" | "f:amount":
            return _summed(previous, kind)
        case "question":
            return _of_records(previous, told, kind)
    return None


def _in_period(previous: Meaning, when: When) -> Meaning:
    date = previous.dated.date if previous.dated is not None else ""
    return replace(previous, dated=Dated(when, date), against=None)


def _restricted(previous: Meaning, parts: tuple[Restriction, ...], kind: Kind) -> Meaning:
    """With other restrictions; what was said of the same property before is replaced."""
    paths = {path for one in parts if (path := _path(one, kind))}
    kept = tuple(one for one in previous.where if _path(one, kind) not in paths)
    return replace(previous, where=(*kept, *parts))


def _path(one: Restriction, kind: Kind) -> str:
    match one:
        case Equals(path):
            return path
        case Is(state):
            return kind.states[state].path
        case Not(of):
            return _path(of, kind)
    return ""


def _bounded(previous: Meaning, bound: Bound, kind: Kind) -> Meaning | None:
    """More or less than a number: groups by their figure, records by what they were before."""
    number = bound.number
    if previous.groups:
        return replace(previous, threshold=Threshold(bound.sign, number.text, unit=number.unit))
    limited = tuple(_limited(one, bound) for one in previous.where)
    if limited != previous.where:
        return replace(previous, where=limited)
    known = [one for one in previous.where if isinstance(one, Compares)]
    subject = known[0].subject if known else "" if number.unit else kind.amount or ""
    unit = number.unit or (known[0].unit if known else "")
    if not subject or bound.upper is not None:
        return None
    rest = tuple(one for one in previous.where if one not in known)
    return replace(previous, where=(*rest, Compares(subject, bound.sign, number.text, unit)))


def _limited(one: Restriction, bound: Bound) -> Restriction:
    """The same limit with another number: how old something is, how many of something there are."""
    longer, number = bound.sign in ("gt", "ge"), bound.number
    match one:
        case Dated(when, date) if (unit := unit_of_age(when)) and "." not in number.text:
            return Dated(ago(number.text, number.unit or unit, longer=longer), date)
        case Has(sign=sign) if sign is not None and not number.unit:
            return replace(one, sign=bound.sign, number=number.text)
    return one


def _showing(previous: Meaning, path: str) -> Meaning | None:
    """The same records with one more column."""
    return None if previous.figures else replace(previous, columns=(*previous.columns, path))


def _grouped(previous: Meaning, group: Group, kind: Kind) -> Meaning:
    figures = previous.figures or (Figure(kind.data.get("bare", COUNT)),)
    return replace(previous, groups=(group,), figures=figures, ranking=None, columns=())


def _ranked(previous: Meaning, told: tuple[str, int]) -> Meaning | None:
    role, limit = told
    down = role in ("most", "top", "highest", "newest", "slowest", "common")
    if previous.ranking is not None:
        rest = previous.ranking.limit
        return replace(previous, ranking=replace(previous.ranking, descending=down,
                                                 limit=limit or rest))  # fmt: skip
    if not previous.groups:
        return None
    return replace(previous, ranking=Ranking(down, limit or 1))


def _summed(previous: Meaning, kind: Kind) -> Meaning | None:
    if previous.ranking is not None and previous.ranking.limit:
        return None  # a figure of the first few is not that of all
    amounts = [kind.states[one.state].amount for one in previous.where if isinstance(one, Is)]
    amount = next((one for one in amounts if one), kind.usual)
    if not amount:
        return None
    return replace(previous, figures=(Figure(amount),), ranking=None, columns=())


def _of_records(previous: Meaning, draft: Draft, kind: Kind) -> Meaning | None:
    """``only Tom's deals``: what is said of the same records."""
    if draft.is_plain and draft.named and draft.named != kind.key:
        return _of_others(previous, draft)
    if kind.key not in draft.common_kinds or not (draft.is_plain or draft.flags & {"counted"}):
        return None
    changed = previous
    if draft.where:
        parts = tuple(
            part for told in draft.where for part in parts_of(told.by_kind[kind.key])
        )  # fmt: skip
        changed = _restricted(changed, parts, kind)
    for when, date in draft.dated:
        if when.words:
            path = date.by_kind[kind.key] if date is not None else ""
            changed = replace(changed, dated=Dated(when, path))
    if "counted" in draft.flags and draft.figures and not previous.figures:
        changed = replace(changed, figures=(Figure(COUNT),), ranking=None, columns=())
    return changed


def _of_others(previous: Meaning, draft: Draft) -> Meaning | None:
    """``what about leads?``: the same of records of another kind."""
    if draft.where or draft.dated or draft.columns:
        return None
    return replace(previous, kind=draft.named)


def operations(items: list[Item]) -> Iterator[Item]:
    """What the whole of the words may be an operation of, the likeliest first."""
    for item in sorted(items, key=lambda one: -one.score):
        if item.category in OPERATIONS:
            yield item
