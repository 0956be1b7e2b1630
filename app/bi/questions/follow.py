"""The next question of a session as an operation on the meaning of the one before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    Of,
    Ranking,
    Restriction,
    Threshold,
    When,
    parts_of,
)
from app.bi.questions.chart import Item
from app.bi.questions.drafts import Draft
from app.bi.questions.finish import finished
from app.bi.questions.lexicon import Options
from app.bi.questions.model import Kind, Model, TypeMismatchError
from app.bi.questions.periods import ago, before, unit_of_age
from app.bi.questions.rules import Bound

# What words may add up to that go on from a question, by the operation that they are.
OPERATIONS = frozenset((
    "period", "dated", "restriction", "having", "belonging", "group", "dimension", "property",
    "measure", "rank", "bound", "currency", "against", "f:count", "f:much", "f:total", "f:amount",
    "f:previous", "f:list", "f:pie", "f:bar", "f:line", "f:table", "question",
))  # fmt: skip


def followed(
    previous: Meaning, item: Item, model: Model, *, refers: str = "", beside: bool = False,
    lists: bool = False,
) -> Meaning | None:  # fmt: skip
    """The meaning before, changed by what was said; None where it cannot be said of it.

    ``refers``: what a pronoun stands for: ``records`` (they), a ``person`` (she);
    ``beside``: it is told beside what was asked before (``too``); ``lists``: ``which`` of them.
    """
    try:
        if item.category == "question":
            changed = _of_draft(previous, item.meaning, model, refers=refers)
        else:
            changed = _changed(previous, item.category, item.meaning, model.kinds)
        if changed is not None and beside:
            changed = _beside(previous, changed)
        if changed is not None and lists and changed.kind != previous.kind and changed.figures:
            return None  # which of them: a figure of others says nothing of these
        if changed is not None and lists and _is_some_of(changed, previous):
            changed = _listed(changed)
        told_again = item.category in ("group", "dimension", "measure", "question")
        is_new = changed is not None and (changed != previous or told_again)
        return model.checked(changed) if changed is not None and is_new else None
    except (TypeMismatchError, KeyError):
        return None


def _changed(
    previous: Meaning, category: str, told: Any, kinds: Mapping[str, Kind]
) -> Meaning | None:
    kind = kinds[previous.kind]
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
            return _grouped(previous, (told.by_kind[kind.key],), kind)
        case "dimension" if previous.figures:
            return _grouped(previous, (Group(told.by_kind[kind.key]),), kind)
        case "dimension":
            return _showing(previous, kind.dimensions[told.by_kind[kind.key]].path, kind)
        case "property":
            return _showing(previous, _column(told.by_kind, kind), kind)
        case "f:list":
            return _listed(previous)
        case "f:pie" | "f:bar" | "f:line" | "f:table":
            return replace(previous, chart=told)
        case "measure" if not previous.figures and _is_property(told, kind):
            return _showing(previous, kind.figures[told.by_kind[kind.key]].value, kind)
        case "measure":
            return replace(previous, figures=(Figure(told.by_kind[kind.key]),), columns=())
        case "rank":
            return _ranked(previous, told)
        case "f:count":
            return replace(previous, figures=(Figure(COUNT),), ranking=None, columns=())
        case "f:much" | "f:total" | "f:amount":
            return _summed(previous, kinds)
    return None


def _listed(previous: Meaning) -> Meaning:
    """The records behind a figure."""
    return replace(previous, figures=(), groups=(), ranking=None, part=None, chart="", distinct="",
                   against=None, threshold=None)  # fmt: skip


def _is_some_of(changed: Meaning, previous: Meaning) -> bool:
    """Whether only some of the records are meant that were counted before."""
    same = replace(changed, where=previous.where, dated=previous.dated, ranking=previous.ranking)
    return same == previous != changed and bool(previous.figures) and not _amounts(previous)


def _amounts(meaning: Meaning) -> bool:
    """Whether it has a figure that is more than a number of records."""
    return any(one.measure != COUNT for one in meaning.figures)


def _beside(previous: Meaning, changed: Meaning) -> Meaning:
    """With the figures or the groups of before in front of the new ones."""
    figures, groups = previous.figures, previous.groups
    if changed.kind != previous.kind or not figures:
        return changed
    if changed.figures != figures:
        return replace(changed, figures=tuple(dict.fromkeys((*figures, *changed.figures))))
    return replace(changed, groups=tuple(dict.fromkeys((*groups, *changed.groups))))


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
    if number.currency:
        money = kind.currency_of(kind.amount or "") or "currency"
        one = Equals(money, (f"'{number.currency}'",), number.currency)
        previous = _restricted(previous, (one,), kind)
    counted = all(one.measure == COUNT for one in previous.figures)
    if previous.groups and not (counted and number.currency):
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


def _is_property(told: Options, kind: Kind) -> bool:
    """Whether a measure that is only named is a number that each record has."""
    name = told.by_kind[kind.key]
    measure = kind.figures.get(name.measure if isinstance(name, Figure) else name)
    is_plain = not isinstance(name, Figure) or not name.method
    return is_plain and measure is not None and kind.is_number(measure.value)


def _column(by_kind: Mapping[str, str], kind: Kind) -> str:
    """The property of the records, or of those that they belong to.

    Raises: KeyError, neither have it.
    """
    if kind.key in by_kind:
        return by_kind[kind.key]
    other = next((one for one in kind.to_one if one in by_kind), "")
    return f"{kind.to_one[other]}/{by_kind[other]}"


def _showing(previous: Meaning, path: str, kind: Kind) -> Meaning | None:
    """The same records with one more column; of what they show already how many each has."""
    if previous.figures or path.endswith("Id"):
        return None
    if path in kind.data.get("columns", ()):
        name = next((name for name, one in kind.dimensions.items() if one.path == path), "")
        return _grouped(previous, (Group(name),), kind) if name else None
    return replace(previous, columns=(*previous.columns, path))


def _grouped(previous: Meaning, groups: tuple[Group, ...], kind: Kind) -> Meaning:
    figures = previous.figures or (Figure(kind.data.get("bare", COUNT)),)
    return replace(previous, groups=groups, figures=figures, ranking=None, columns=())


def _chosen_by(previous: Meaning, ranking: Ranking, kind: Kind) -> Ranking:
    """``by that amount``: by the amount that chose the records before, where one did."""
    states = [kind.states[one.state] for one in previous.where if isinstance(one, Is)]
    amount = next((one.amount for one in states if one.amount), "")
    is_usual = ranking.path == kind.amount
    return replace(ranking, path=amount) if amount and is_usual else ranking


def _ranked(previous: Meaning, told: tuple[str, int]) -> Meaning | None:
    role, limit = told
    down = role in ("most", "top", "highest", "newest", "slowest", "common")
    if role == "oldest" and previous.groups and not any(one.grain for one in previous.groups):
        down = True  # "only the first 3" of groups, which are told from the largest on
    if previous.ranking is not None:
        rest = previous.ranking.limit
        return replace(previous, ranking=replace(previous.ranking, descending=down,
                                                 limit=limit or rest))  # fmt: skip
    if not previous.groups:
        return None
    return replace(previous, ranking=Ranking(down, limit or 1))


def _summed(previous: Meaning, kinds: Mapping[str, Kind]) -> Meaning | None:
    if previous.ranking is not None and previous.ranking.limit:
        return None  # a figure of the first few is not that of all
    if _amounts(previous):
        return replace(previous, groups=())
    kind = kinds[previous.kind]
    if not kind.usual:
        behind = next((_behind(previous, one, kind, kinds[one.kind]) for one in previous.where
                       if isinstance(one, Has) and kinds[one.kind].usual), None)  # fmt: skip
        return None if behind is None else _summed(behind, kinds)
    amounts = [kind.states[one.state].amount for one in previous.where if isinstance(one, Is)]
    amount = next((one for one in amounts if one), kind.usual)
    if not amount:
        return None
    return replace(previous, figures=(Figure(amount),), ranking=None, columns=())


def _of_draft(previous: Meaning, draft: Draft, model: Model, *, refers: str) -> Meaning | None:
    """``only Tom's deals, by month``: all that is said of the same records, or of others."""
    kind = model.kinds[previous.kind]
    if draft.named not in ("", kind.key) or kind.key not in draft.common_kinds:
        is_bare = draft.is_plain and not (draft.where or draft.dated or draft.columns)
        if refers or (is_bare and "list" in draft.flags):
            return _of_related(previous, draft, model, refers)
        return _of_others(previous, draft, model) if is_bare else None
    if draft.threshold is not None or draft.against is not None or "share" in draft.flags:
        return None
    told = next((one.meaning for one in finished(draft, model) if one.meaning.kind == kind.key),
                None)  # fmt: skip
    if told is None:
        return None
    changed = _restricted(previous, told.where, kind)
    if told.dated is not None and not told.dated.date:
        changed = _in_period(changed, told.dated.when)
    elif told.dated is not None:
        changed = replace(changed, dated=told.dated, against=None)
    if told.groups:
        changed = _grouped(changed, told.groups, kind)
    if "summed" in draft.flags and not told.groups:
        changed = replace(changed, groups=())
    if "summed" in draft.flags and not kind.usual and not _amounts(changed):
        return _summed(changed, model.kinds)
    if draft.figures:
        asked = draft.flags & {"counted", "summed"} or told.groups or draft.rank
        if not asked and not previous.figures and _is_property(draft.figures[0], kind):
            return _showing(changed, kind.figures[told.figures[0].measure].value, kind)
        if previous.ranking is not None and previous.ranking.limit and not previous.groups:
            return None  # a figure of the first few is not that of all
        is_named = "summed" not in draft.flags or draft.figures[0].key.startswith("measure")
        figures = told.figures if is_named or not _amounts(changed) else changed.figures
        changed = replace(changed, figures=figures, columns=(), ranking=None, distinct="")
    elif told.columns:
        for path in told.columns:
            shown = _showing(changed, path, kind)
            if shown is None:
                return None
            changed = shown
    elif "list" in draft.flags and changed == previous:
        return None if previous == _listed(previous) else _listed(previous)
    if told.ranking is not None and told.ranking.path:
        return (
            None
            if changed.figures
            else replace(changed, ranking=_chosen_by(changed, told.ranking, kind))
        )
    if draft.rank is not None:
        return _ranked(changed, (draft.rank.word, draft.rank.limit))
    is_told = bool(draft.groups or draft.figures)
    return changed if is_told or changed != previous else None


def _of_others(previous: Meaning, draft: Draft, model: Model) -> Meaning | None:
    """``what about leads?``: the same of records of another kind."""
    kind, other = model.kinds[previous.kind], model.kinds.get(draft.named)
    if other is None:
        return None
    where = tuple(_alike(one, kind, other) for one in previous.where)
    return replace(previous, kind=draft.named, where=where)


def _of_related(previous: Meaning, draft: Draft, model: Model, refers: str) -> Meaning | None:
    """``which invoices``, ``how many tickets do they have``: records that belong to those before.

    They are the ones behind the figure, or those of whoever was named.
    """
    kind = model.kinds[previous.kind]
    made = [one.meaning for one in finished(draft, model)]
    told = next((one for one in made if one.kind == draft.named), made[0] if made else None)
    if told is None:
        return None
    other = model.kinds[told.kind]
    has = next((one for one in previous.where if isinstance(one, Has) and one.kind == other.key),
               None)  # fmt: skip
    if has is not None:
        behind = _behind(previous, has, kind, other)
        return replace(told, where=(*behind.where, *told.where))
    parts = tuple(_named_in(previous, kind, other)) if refers == "person" else ()
    if parts := parts or tuple(_belonging(previous, kind, other)):
        return replace(told, where=(*parts, *told.where))
    name = other.data["one"]
    if draft.is_plain and name in kind.dimensions and not previous.groups:
        return _grouped(previous, (Group(name),), kind)
    return None


def _behind(previous: Meaning, has: Has, kind: Kind, other: Kind) -> Meaning:
    """The records that others were to have."""
    rest = tuple(one for one in previous.where if one != has)
    of = tuple(_belonging(replace(previous, where=rest), kind, other))
    return Meaning(other.key, where=(*has.where, *of))


def _belonging(previous: Meaning, kind: Kind, other: Kind) -> Iterator[Restriction]:
    """What says of other records that they belong to those before, or to whoever these are of."""
    parts = [*previous.where, *((previous.dated,) if previous.dated is not None else ())]
    if kind.key in other.to_one:
        named = [one for one in parts if isinstance(one, Equals) and one.path == "id"]
        dimension = other.dimensions.get(kind.data["one"])
        if dimension is not None and dimension.key:
            yield from (replace(one, path=dimension.key) for one in named)
            parts = [one for one in parts if one not in named]
        if parts:
            yield Of(kind.key, tuple(parts))
    else:
        yield from _named_in(previous, kind, other)


def _named_in(previous: Meaning, kind: Kind, other: Kind) -> Iterator[Restriction]:
    """The same client, project or colleague as a restriction of other records."""
    for one in previous.where:
        if isinstance(one, Of) and one.kind in other.to_one:
            yield one
        if isinstance(one, Equals) and (path := _whose(one.path, kind, other)):
            yield replace(one, path=path)


def _whose(path: str, kind: Kind, other: Kind) -> str:
    """The property of other records that says the same client, project or colleague."""
    for name, dimension in kind.dimensions.items():
        if dimension.key and path == dimension.key:
            is_person = dimension.path.endswith("displayName")
            wanted = other.data.get("person", "owner") if is_person else name
            found = other.dimensions.get(name) or other.dimensions.get(wanted)
            if found is not None and found.key:
                return found.key
    return ""


def _alike(one: Restriction, kind: Kind, other: Kind) -> Restriction:
    """The same of records of another kind: a value of what they have too, a state called so.

    Raises: KeyError, they have no such property.
    """
    if isinstance(one, Equals):
        return replace(one, path=_path_alike(one.path, kind, other))
    if not isinstance(one, Is) or one.state in other.states:
        return one
    called = one.state.rpartition(".")[2].lower()
    name = next((name for name in other.states if name.rpartition(".")[2].lower() == called), "")
    return Is(name) if name else one


def _path_alike(path: str, kind: Kind, other: Kind) -> str:
    for name, dimension in kind.dimensions.items():
        found = other.dimensions.get(name)
        if found is not None and path in (dimension.path, dimension.key):
            return found.path if path == dimension.path else found.key or found.path
    if other.prop(path) is None:
        raise KeyError(path)
    return path


def operations(items: list[Item]) -> Iterator[Item]:
    """What the whole of the words may be an operation of, the likeliest first."""
    for item in sorted(items, key=lambda one: -one.score):
        if item.category in OPERATIONS:
            yield item
