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
    Known,
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
from app.bi.questions.drafts import Draft, Rank
from app.bi.questions.finish import UNDATED, Finished, by_dealings, finished
from app.bi.questions.lexicon import Options
from app.bi.questions.model import Kind, Model, TypeMismatchError
from app.bi.questions.periods import ago, before, unit_of_age
from app.bi.questions.roles import goes_down
from app.bi.questions.rules import Bound


def followed(
    previous: Meaning, item: Item, model: Model, *, refers: str, beside: bool, lists: bool
) -> Iterator[Finished]:
    """The meaning before, changed by what was said; none where it cannot be said of it.

    ``refers``: what a pronoun stands for: ``records`` (they), a ``person`` (she);
    ``beside``: it is told beside what was asked before (``too``); ``lists``: ``which`` of them.
    """
    draft = item.meaning if item.category == "question" else None
    try:
        changed = (_changed(previous, item.category, item.meaning, model) if draft is None
                   else _of_draft(previous, draft, model, refers=refers))  # fmt: skip
        if changed is not None and beside:
            changed = _beside(previous, changed)
        if changed is None or (draft is None and changed == previous):
            return
        if lists and _is_some_of(changed, previous):
            changed = _listed(changed, model.kinds[changed.kind])
        changed = model.checked(by_dealings(changed, model.kinds[changed.kind]))
        yield Finished(changed, (UNDATED,) if draft is not None and draft.is_undated else ())
    except (TypeMismatchError, KeyError):
        return


def _changed(previous: Meaning, category: str, choices: Any, model: Model) -> Meaning | None:
    """By words that no rule makes one with the records before: ``the week before``, ``top 3``."""
    kind = model.kinds[previous.kind]
    match category:
        case "f:previous" if previous.dated is not None:
            return _in_period(previous, before(previous.dated.when))
        case "against" if previous.figures:
            return replace(previous, against=choices)
        case "f:average" | "f:median" if previous.figures:
            figures = (replace(figure, method=category[2:]) for figure in previous.figures)
            return replace(previous, figures=tuple(figures))
        case "bound":
            return _bounded(previous, choices, model)
        case "restriction" if kind.key not in choices.by_kind:
            parts = {key: parts_of(part) for key, part in choices.by_kind.items()}
            return _having(previous, parts, model)
        case "property":
            return _showing(previous, _column(choices.by_kind, kind), model)
        case "dimension" if previous.groups:  # "and channel"
            return replace(previous, groups=(Group(choices.by_kind[kind.key]),))
        case "group" if previous.figures and kind.key not in choices.by_kind:
            return _of_parts(previous, choices.by_kind, model)
        case "rank":
            role, limit = choices
            return _ranked(previous, Rank("", goes_down(role), limit, role))
        case "f:descending" | "f:ascending":
            return _ranked(previous, Rank("sort", category == "f:descending", -1, category[2:]))
        case "f:pie" | "f:bar" | "f:line" | "f:table":
            return replace(previous, chart=choices)
    return None


def _of_parts(previous: Meaning, groups: Mapping[str, Group], model: Model) -> Meaning | None:
    """By what only parts of the records have: tax by its rate, of their lines."""
    kind = model.kinds[previous.kind]
    for key, group in groups.items():
        other = model.kinds[key]
        is_told = all(figure.measure in other.figures for figure in previous.figures)
        if other.set == kind.set and other.join and is_told:
            return replace(previous, kind=key, groups=(group,), ranking=None)
    return None


def _listed(previous: Meaning, kind: Kind) -> Meaning:
    """The records behind a figure; behind a share those of its part."""
    return replace(_counted(previous, kind), figures=(), groups=(), ranking=None, chart="",
                   distinct="", against=None, threshold=None)  # fmt: skip


def _share_of(previous: Meaning, kind: Kind) -> Restriction | None:
    """What records are so that a share tells, or a rate; None where it tells none."""
    first = [*previous.figures, Figure(COUNT)][0]
    state = kind.state_with(kind.rates[first.measure].hits) if first.is_rate else ""
    return Is(state) if state else previous.part


def _counted(previous: Meaning, kind: Kind) -> Meaning:
    """In place of a share the number of the records that are so."""
    part, where = _share_of(previous, kind), previous.where
    where += (part,) if part is not None and part not in where else ()
    return replace(previous, where=where, part=None, figures=(Figure(COUNT),))


def _is_some_of(changed: Meaning, previous: Meaning) -> bool:
    """Whether only some of the records are meant that were counted before."""
    same = replace(changed, where=previous.where, dated=previous.dated, ranking=previous.ranking)
    return same == previous != changed and bool(previous.figures) and not _amounts(previous)


def _amounts(meaning: Meaning) -> bool:
    """Whether it has a figure that is more than a number of records."""
    return any(figure.measure != COUNT for figure in meaning.figures)


def _beside(previous: Meaning, changed: Meaning) -> Meaning:
    """With the figures or the groups of before in front of the new ones."""
    figures, groups = previous.figures, previous.groups
    if changed.kind != previous.kind or not figures:
        return changed
    if changed.figures != figures:
        return replace(changed, figures=tuple(dict.fromkeys((*figures, *changed.figures))))
    return replace(changed, groups=tuple(dict.fromkeys((*groups, *changed.groups))))


def _in_period(previous: Meaning, when: When, date: str = "") -> Meaning:
    date = date or (previous.dated.date if previous.dated is not None else "")
    return replace(previous, dated=Dated(when, date), against=None)


def _restricted(previous: Meaning, parts: tuple[Restriction, ...], model: Model) -> Meaning:
    """With other restrictions; what was said of the same properties before is replaced."""
    kind = model.kinds[previous.kind]
    paths = {path for part in parts for path in _paths(part, kind, model)}
    others = tuple(part for part in previous.where
                 if part not in parts and not _is_among(part, paths, kind, model))  # fmt: skip
    dated = None if previous.dated is not None and previous.dated.date in paths else previous.dated
    return replace(previous, where=(*others, *parts), dated=dated)


def _is_among(part: Restriction | None, paths: set[str], kind: Kind, model: Model) -> bool:
    """Whether a restriction is of such properties, and of no others."""
    of_part = set(_paths(part, kind, model))
    return bool(of_part) and of_part <= paths


def _is_one_of(part: Restriction, paths: set[str], kind: Kind) -> bool:
    """Whether it names one value of such properties."""
    is_value = isinstance(part, Equals) and len(part.values) == 1 and part.path in paths
    return is_value or (isinstance(part, Is) and kind.states[part.state].path in paths)


def _paths(restriction: Restriction | None, kind: Kind, model: Model) -> Iterator[str]:
    """The properties whose values a restriction says, those of the client of an invoice, too."""
    match restriction:
        case Equals(path) | Known(path):
            yield path
        case Is(state) if kind.states[state].path:
            yield kind.states[state].path
        case Not(of):
            yield from _paths(of, kind, model)
        case Of(other, where):
            paths = (path for part in where for path in _paths(part, model.kinds[other], model))
            yield from (f"{kind.to_one[other]}/{path}" for path in paths)


def _bounded(previous: Meaning, bound: Bound, model: Model) -> Meaning | None:
    """More or less than a number: groups by their figure, records by what they were before."""
    kind, number = model.kinds[previous.kind], bound.number
    if number.currency:
        money = kind.currency_of(kind.amount or "") or "currency"
        of_currency = Equals(money, (f"'{number.currency}'",), number.currency)
        previous = _restricted(previous, (of_currency,), model)
    counted = all(figure.measure == COUNT for figure in previous.figures)
    if previous.groups and not (counted and number.currency):
        return replace(previous, threshold=Threshold(bound.sign, number.text, unit=number.unit))
    limited = tuple(_limited(restriction, bound) for restriction in previous.where)
    if limited != previous.where:
        return replace(previous, where=limited)
    known = [restriction for restriction in previous.where if isinstance(restriction, Compares)]
    subject = known[0].subject if known else "" if number.unit else kind.amount or ""
    unit = number.unit or (known[0].unit if known else "")
    if not subject or bound.upper is not None:
        return None
    rest = tuple(restriction for restriction in previous.where if restriction not in known)
    return replace(previous, where=(*rest, Compares(subject, bound.sign, number.text, unit)))


def _limited(restriction: Restriction, bound: Bound) -> Restriction:
    """The same limit with another number: how old something is, how many of something there are."""
    role, number = "older" if bound.sign in ("gt", "ge") else "younger", bound.number
    match restriction:
        case Dated(when, date) if (unit := unit_of_age(when)) and "." not in number.text:
            return Dated(ago(number.text, number.unit or unit, role), date)
        case Has(sign=sign) if sign is not None and not number.unit:
            return replace(restriction, sign=bound.sign, number=number.text)
    return restriction


def _is_property(choices: Options, kind: Kind) -> bool:
    """Whether a measure that is only named is a number that each record has."""
    name = choices.by_kind[kind.key]
    measure = kind.figures.get(name.measure if isinstance(name, Figure) else name)
    is_plain = not isinstance(name, Figure) or not name.method
    return is_plain and measure is not None and kind.is_number(measure.value)


def _column(by_kind: Mapping[str, str], kind: Kind) -> str:
    """The property of the records, or of those that they belong to.

    Raises: KeyError, neither have it.
    """
    if kind.key in by_kind:
        return by_kind[kind.key]
    other = next((link for link in kind.to_one if link in by_kind), "")
    return f"{kind.to_one[other]}/{by_kind[other]}"


def _showing(previous: Meaning, path: str, model: Model, *, beside: bool = False) -> Meaning:
    """The same records with one more column; of what they show already how many each has.

    Args:
        beside: it is asked for beside others, or of the first records: it is a column then.
    Raises: TypeMismatchError, KeyError.
    """
    kind = model.kinds[previous.kind]
    if previous.figures or path.endswith("Id"):
        raise TypeMismatchError("figures have no columns")
    names = {dimension.path: name for name, dimension in kind.dimensions.items()}
    is_known = path in kind.data.get("columns", ()) and path in names
    if is_known and not (beside or kind.is_dated(path)):
        return _grouped(previous, (Group(names[path]),), model)
    return replace(previous, columns=(*previous.columns, path))


def _grouped(previous: Meaning, groups: tuple[Group, ...], model: Model) -> Meaning:
    kind = model.kinds[previous.kind]
    figures = previous.figures or (Figure(kind.data.get("bare", COUNT)),)
    paths = {kind.dimensions[group.dimension].path for group in groups if group.dimension}
    if not previous.groups:  # "web leads in June" "all sources": of one nothing is told by it
        where = tuple(part for part in previous.where if not _is_one_of(part, paths, kind))
        previous = replace(previous, where=where)
    if _is_among(previous.part, paths, kind, model):
        previous = replace(previous, part=None)  # "what part is Swiss? Which country has most?"
    return replace(previous, groups=groups, figures=figures, ranking=None, columns=())


def _chosen_by(previous: Meaning, ranking: Ranking, kind: Kind) -> Ranking:
    """``by that amount``: by the amount that chose the records before, where one did."""
    amount = kind.amount_of(previous.where)
    is_usual = ranking.path == kind.amount
    return replace(ranking, path=amount) if amount and is_usual else ranking


def _ranked(previous: Meaning, rank: Rank) -> Meaning | None:
    """From the end that was said; so many, as many as before, or all where they are sorted."""
    is_sorted = rank.limit < 0
    by_time = any(group.grain for group in previous.groups)
    # "Only the first 3" of groups, which are told from the largest on.
    is_first = rank.word == "oldest" and bool(previous.groups) and not by_time
    down = rank.descending or is_first
    if not previous.groups:
        return None
    all_of_them = is_sorted or not rank.word  # "who has how many"
    return replace(previous, ranking=Ranking(down, 0 if all_of_them else rank.limit or 1))


def _summed(previous: Meaning, kinds: Mapping[str, Kind]) -> Meaning | None:
    if previous.ranking is not None and previous.ranking.limit:
        return None  # a figure of the first few is not that of all
    if _amounts(previous):
        return replace(previous, groups=())
    kind = kinds[previous.kind]
    if not kind.usual:
        related = (part for part in previous.where
                   if isinstance(part, Has) and kinds[part.kind].usual)  # fmt: skip
        has = next(related, None)
        records = has and _behind(previous, has, kind, kinds[has.kind])
        return _summed(records, kinds) if records else None
    amount = kind.amount_of(previous.where) or kind.usual
    if not amount:
        return None
    return replace(previous, figures=(Figure(amount),), ranking=None, columns=())


def _meanings(draft: Draft, model: Model) -> dict[str, Meaning]:
    """The meaning of a draft for each kind that it can be about."""
    return {ending.meaning.kind: ending.meaning for ending in finished(draft, model)}


def _of_draft(previous: Meaning, draft: Draft, model: Model, *, refers: str) -> Meaning | None:
    """``only Tom's deals, by month``: all that is said of the same records, or of others."""
    kind = model.kinds[previous.kind]
    if draft.named not in ("", kind.key) or kind.key not in draft.common_kinds:
        is_of_one = tells_one(previous, kind) and draft.named
        if is_of_one and (of_one := _of_related(previous, draft, model, refers)):
            return of_one
        is_bare = draft.is_plain and not (draft.where or draft.dated or draft.columns)
        of_others = None if is_bare or not draft.is_plain else _of_others(previous, draft, model)
        if of_others is None and (refers or (is_bare and "list" in draft.flags)):
            return _of_related(previous, draft, model, refers)
        # "what about leads?": the same of records of another kind
        return replace(previous, kind=draft.named) if is_bare else of_others
    if draft.threshold is not None or draft.against is not None or "share" in draft.flags:
        return None
    meaning = _meanings(draft, model)[kind.key]
    changed = _of_part(previous, meaning.where, draft, model)
    date = previous.dated.date if previous.dated is not None else ""
    if meaning.dated is not None:
        changed = _in_period(changed, meaning.dated.when, meaning.dated.date)
    elif date and date in map(kind.since, meaning.where):
        changed = replace(changed, dated=None)  # "due today?" "And the overdue ones?"
    if meaning.groups:
        changed = _grouped(changed, meaning.groups, model)
    if "summed" in draft.flags and not meaning.groups:
        changed = replace(changed, groups=())
    if "summed" in draft.flags and not kind.usual and not _amounts(changed):
        return _summed(changed, model.kinds)
    of_records = draft.rank is not None and draft.rank.of == "records"
    of_records &= not (draft.figures or changed.groups)
    several = bool(draft.rank and draft.rank.limit > 1)  # "how much is overdue?" "The ten largest?"
    if of_records and (several or meaning.columns or not _amounts(changed)):
        changed = _listed(changed, kind)  # "how many did we send?" "And the largest?"
    if draft.figures:
        is_narrowed = draft.flags & {"counted", "summed"} or meaning.groups or draft.rank
        if not is_narrowed and not previous.figures and _is_property(draft.figures[0], kind):
            return _showing(changed, kind.figures[meaning.figures[0].measure].value, model)
        if previous.ranking is not None and previous.ranking.limit and not previous.groups:
            return None  # a figure of the first few is not that of all
        is_named = "summed" not in draft.flags or draft.figures[0].key.startswith("measure")
        figures = meaning.figures
        if not is_named and figures == (Figure(kind.usual),):  # of overdue ones what is due
            figures = (Figure(kind.amount_of(changed.where) or kind.usual),)
        if not is_named and _amounts(changed):
            figures = changed.figures
            if not previous.groups:  # the sum, and no average of all groups
                figures = tuple(replace(figure, method="") for figure in figures)
        if len(previous.figures) == len(figures) == 1:  # "revenue in May, net" "And gross?"
            ways = kind.ways_told(previous.figures[0].measure)
            figures = (
                replace(figures[0], measure=ways.get(figures[0].measure, figures[0].measure)),
            )
        if "counted" in draft.flags and figures == previous.figures and not meaning.where:
            changed = _counted(changed, kind)  # "what share is overdue?" "How many is that?"
        changed = replace(changed, figures=figures, columns=(), ranking=None, distinct="")
    elif meaning.columns:
        paths = meaning.columns
        if "when" in draft.flags:  # of a figure the records, since when they are so
            changed = _listed(changed, kind)
            since = tuple(filter(None, map(kind.since, changed.where)))
            return replace(changed, columns=since or paths)
        if len(paths) > 1 and not changed.groups:  # "how many?" "Names and city, please"
            changed = _listed(changed, kind)
        for path in paths:
            changed = _showing(changed, path, model, beside=of_records or len(paths) > 1)
    elif "list" in draft.flags and changed == previous and not (draft.rank or meaning.where):
        listed = _listed(previous, kind)
        return None if listed == replace(previous, ranking=None) else listed
    if meaning.ranking is not None and meaning.ranking.path:
        ranking = _chosen_by(changed, meaning.ranking, kind)
        return None if changed.figures else replace(changed, ranking=ranking)
    if draft.rank is not None:
        is_of_records = not (changed.ranking or changed.groups or changed.figures)
        if is_of_records and meaning.ranking is not None:
            return replace(changed, ranking=meaning.ranking)
        return _ranked(changed, draft.rank)
    is_told = draft.groups or draft.figures or meaning.columns or (refers and meaning.where)
    return changed if is_told or changed != previous else None


def tells_one(meaning: Meaning, kind: Kind) -> bool:
    """Whether it is about one record that was named, or what belongs to one client or project:
    ``phone of Granit Software``, ``how much does it owe us``."""
    paths = {*kind.keys, *(dimension.key for dimension in kind.dimensions.values()
                           if dimension.path.endswith("/name"))}  # fmt: skip
    return any(
        isinstance(part, Equals) and part.path in paths and len(part.values) == 1
        for part in meaning.where
    )


def of_itself(meaning: Meaning, kind: Kind) -> Meaning:
    """Of one record that is named the record: what goes on from ``is INV-7 paid`` is about it,
    and not about paid ones."""
    named = [part for part in meaning.where if isinstance(part, Equals) and len(part.values) == 1
             and part.path in kind.keys]  # fmt: skip
    if not named or meaning.figures or meaning.groups or meaning.ranking:
        return meaning
    return replace(meaning, where=tuple(named[:1]), dated=None)


def _of_part(
    previous: Meaning, parts: tuple[Restriction, ...], draft: Draft, model: Model
) -> Meaning:
    """Restricted; of a share the records of its part (``which ones are overdue``), or another."""
    kind = model.kinds[previous.kind]
    changed, part = _restricted(previous, parts, model), _share_of(previous, kind)
    paths = {path for part in parts for path in _paths(part, kind, model)}
    is_other = _is_among(part, paths, kind, model)
    if part in parts or (is_other and (previous.part is None or "list" in draft.flags)):
        return _listed(replace(changed, part=None, figures=()), kind)
    return replace(previous, part=parts[-1]) if is_other else changed


def _of_others(previous: Meaning, draft: Draft, model: Model) -> Meaning | None:
    """Restricted by what is said of others: those that they have, or whose groups they are."""
    kind = model.kinds[previous.kind]
    restrictions = {key: (*meaning.where, *filter(None, (meaning.dated,)))
            for key, meaning in _meanings(draft, model).items()}  # fmt: skip
    parts = {key: of_key for key, of_key in restrictions.items() if of_key}
    for key in parts if not draft.named else {draft.named} & {*parts}:
        if Group(model.kinds[key].data["one"]) in previous.groups and key in kind.to_one:
            return _restricted(previous, (Of(key, parts[key]),), model)
    return None if draft.named else _having(previous, parts, model)


def _having(
    previous: Meaning, parts: Mapping[str, tuple[Restriction, ...]], model: Model
) -> Meaning | None:
    """The records of which others are so: of clients without open deals ``those with lost ones``.

    The others are those of which something was said before: who says "invoices" of clients means
    no documents of that category.
    """
    related = [key for key in parts if key in model.kinds[previous.kind].related]
    for has in previous.where:
        if isinstance(has, Has) and has.kind in related:
            others = _restricted(Meaning(has.kind, where=has.where), parts[has.kind], model)
            where = (replace(has, where=others.where) if part == has else part
                     for part in previous.where)  # fmt: skip
            return replace(previous, where=tuple(where))
    denied = (part.of for part in previous.where if isinstance(part, Not))
    lacking = {has.kind for has in denied if isinstance(has, Has)}
    related = [key for key in related if key in lacking]
    if len(related) != 1:
        return None
    return replace(previous, where=(*previous.where, Has(related[0], parts[related[0]])))


def _of_related(previous: Meaning, draft: Draft, model: Model, refers: str) -> Meaning | None:
    """``which invoices``, ``how many tickets do they have``: records that belong to those before.

    They are the ones behind the figure, or those of whoever was named.
    """
    kind = model.kinds[previous.kind]
    meanings = _meanings(draft, model)
    meaning = meanings.get(draft.named) or next(iter(meanings.values()), None)
    if meaning is None:
        return None
    other = model.kinds[meaning.kind]
    related = (part for part in previous.where if isinstance(part, Has) and part.kind == other.key)
    has = next(related, None)
    if has is not None:
        records = _behind(previous, has, kind, other)
        return replace(meaning, where=(*records.where, *meaning.where))
    name = other.data["one"]
    is_same = refers == "person" or not (refers or "list" in draft.flags)  # "open tickets?"
    parts = tuple(_named_in(previous, kind, other)) if is_same else ()
    if parts := parts or tuple(belonging(previous, kind, other)):
        return replace(meaning, where=(*parts, *meaning.where))
    if draft.is_plain and name in kind.dimensions and not previous.groups:
        return _grouped(previous, (Group(name),), model)
    return None


def _behind(previous: Meaning, has: Has, kind: Kind, other: Kind) -> Meaning:
    """The records that others were to have."""
    rest = tuple(restriction for restriction in previous.where if restriction != has)
    of = tuple(belonging(replace(previous, where=rest), kind, other))
    return Meaning(other.key, where=(*has.where, *of))


def belonging(previous: Meaning, kind: Kind, other: Kind) -> Iterator[Restriction]:
    """What says of other records that they belong to those before, or to whoever these are of."""
    parts = [*previous.where, *((previous.dated,) if previous.dated is not None else ())]
    if kind.key in other.to_one:
        named = [part for part in parts if isinstance(part, Equals) and part.path == "id"]
        dimension = other.dimensions.get(kind.data["one"])
        if dimension is not None and dimension.key:
            yield from (replace(record, path=dimension.key) for record in named)
            parts = [part for part in parts if part not in named]
        if parts:
            yield Of(kind.key, tuple(parts))
    elif theirs := tuple(_named_in(previous, kind, other)):
        yield from theirs
    elif kind.key in other.related and tells_one(previous, kind):  # the contact of a ticket
        yield Has(kind.key, tuple(parts))


def _named_in(previous: Meaning, kind: Kind, other: Kind) -> Iterator[Restriction]:
    """The same client, project or colleague as a restriction of other records."""
    for restriction in previous.where:
        if isinstance(restriction, Of) and restriction.kind in other.to_one:
            yield restriction
        if isinstance(restriction, Equals) and (path := _whose(restriction.path, kind, other)):
            yield replace(restriction, path=path)


def _whose(path: str, kind: Kind, other: Kind) -> str:
    """The property of other records that says the same client, project or colleague."""
    for name, dimension in kind.dimensions.items():
        if dimension.key and path == dimension.key:
            if name == other.data["one"]:
                return "id"
            is_person = dimension.path.endswith("displayName")
            wanted = other.data.get("person", "owner") if is_person else name
            their_dimension = other.dimensions.get(name) or other.dimensions.get(wanted)
            if their_dimension is not None and their_dimension.key:
                return their_dimension.key
    return ""
