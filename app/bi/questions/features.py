"""What tells a right analysis of a question from a wrong one, by name: the ranker weighs each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from app.bi.questions.algebra import (
    COUNT,
    Compares,
    Dated,
    Equals,
    Has,
    Is,
    Known,
    Meaning,
    Of,
    Restriction,
    inner,
)
from app.bi.questions.chart import Item
from app.bi.questions.model import Kind
from app.bi.questions.ranker import roles_in
from app.bi.questions.reading import Leaf, Read


def features_of(read: Read, item: Item, meaning: Meaning) -> Iterator[str]:
    """The features of a whole meaning; those of the words and rules are on the item's parts."""
    yield from of_meaning(meaning)
    categories = [leaf.category for leaf in item.leaves()]
    yield from (f"next {category} {other}" for category, other in pairwise(("^", *categories, "$")))
    shape = _shape(meaning)
    roles = {leaf.category for leaf in read.leaves if leaf.category.startswith("f:")}
    yield from (f"shape {shape} {role}" for role in roles)
    yield from _of_nouns(read, item, meaning.kind)


def _shape(meaning: Meaning) -> str:
    """What kind of answer it is: records, a number, groups, and what is done to them."""
    parts = ["distinct" if meaning.distinct else "records"]
    if meaning.figures:
        first = meaning.figures[0]
        counted = "count" if first.measure == COUNT else first.method or "figure"
        parts = ["rate" if first.is_rate else counted]
        parts += ["more"] if len(meaning.figures) > 1 else []
    if meaning.groups:
        parts.append("time" if any(group.grain for group in meaning.groups) else "groups")
    for name in ("ranking", "against", "columns"):
        parts += [name] if getattr(meaning, name) else []
    return "/".join(parts)


def _of_nouns(read: Read, item: Item, kind: str) -> Iterator[str]:
    """Whether the kind of record is the one that is named first, and which are not heeded."""
    leaves = sorted(read.leaves, key=lambda leaf: (leaf.start, -leaf.end))
    named = [leaf.meaning[0] for leaf in leaves if leaf.category == "kind"]
    standing = "first" if kind in named[:1] else "later" if kind in named else "other"
    yield f"noun {standing if named else 'none'}"
    used = {leaf.meaning[0] for leaf in item.leaves() if leaf.category == "kind"}
    for noun in {*named} - used - {kind}:
        yield "noun unused"
        yield f"noun unused {noun} {kind}"


def of_meaning(meaning: Meaning) -> Iterator[str]:
    kind = meaning.kind
    yield f"kind {kind}"
    yield f"parts {len(meaning.where)} {len(meaning.groups)} {len(meaning.figures)}"
    for figure in meaning.figures:
        yield f"figure {kind} {figure.measure} {figure.method}"
    for group in meaning.groups:
        yield f"group {kind} {group.dimension}"
    for restriction in meaning.where:
        yield from _of_restriction(kind, restriction)
    if meaning.dated is not None:
        yield f"dated {kind} {meaning.dated.date}"
    if meaning.ranking is not None:
        yield f"ranked {kind} {meaning.ranking.path}"
    if meaning.is_converted:
        yield "converted"


def _of_restriction(kind: str, restriction: Restriction) -> Iterator[str]:
    for part in inner(restriction):
        yield f"restricted {type(part).__name__}"
        match part:
            case Is(state):
                yield f"state {kind} {state}"
            case Equals(path) | Known(path):
                yield f"path {kind} {path}"
            case Compares(subject):
                yield f"number {kind} {subject}"
            case Dated(_, date):
                yield f"restricted date {kind} {date}"
            case Has(other, where) | Of(other, where):
                yield f"related {kind} {type(part).__name__} {other}"
                for of_other in where:
                    yield from _of_restriction(other, of_other)


def repeated_and_aside(
    read: Read, item: Item, meaning: Meaning, kind: Kind
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Features of the words that say something again, and the places of those that do not.

    In ``articles in the knowledge base`` the base is no more than the articles.
    """
    again, aside = [], []
    for position in sorted(set(item.all_crossed())):
        leaves = (leaf for leaf in read.leaves_at(position) if _is_said(leaf, meaning, kind))
        leaf = next(leaves, None)
        if leaf is None:
            aside.append(position)
        else:
            again.append(f"again {leaf.category}")
    # A word that says that it is still to be done: "sein sollen".
    if any("tobe" in roles_in(read.crossing[position]) for position in aside):
        dates = {state.date for state in kind.stated(meaning.where)}
        dates.add(meaning.dated.date if meaning.dated is not None else "")
        again += ["done and not to do"] * (not dates.isdisjoint(kind.data.get("planned", ())))
    return tuple(again), tuple(aside)


def _is_narrowed(meaning: Meaning, kind: Kind, name: str) -> bool:
    """Whether only some of a dimension are meant: of ``Swiss customers`` the country is theirs."""
    owner = kind.dimensions[name].path.rpartition("/")[0] if name else ""
    parts = (part for restriction in meaning.where for part in inner(restriction))
    return bool(owner) and any(
        isinstance(part, Equals) and part.path.startswith(f"{owner}/") for part in parts
    )


def _is_said(leaf: Leaf, meaning: Meaning, kind: Kind) -> bool:
    """Whether what a word means is a part of the meaning."""
    category, meant = leaf.category, leaf.meaning
    if category == "kind":
        return bool(meant[0] == meaning.kind)
    if category == "f:count":
        return any(figure.measure == COUNT for figure in meaning.figures)
    if category == "named":
        meant = meant[0]
    if category not in ("measure", "rate", "verb", "dimension", "state", "named", "date"):
        return False
    name = meant.by_kind.get(meaning.kind, "")
    match category:
        case "rate":
            return name in meaning.figures
        case "measure":
            return any(figure.measure == name for figure in meaning.figures)
        case "verb":
            figure = kind.data.get("verbs", {}).get(name, {}).get("figure")
            return any(counted.measure == figure for counted in meaning.figures)
        case "dimension":
            # What clients pay are the payments of clients.
            figures = {figure.measure for figure in meaning.figures}
            verbs = kind.data.get("verbs", {}).values()
            doers = {verb["subject"] for verb in verbs if verb["figure"] in figures}
            states = (kind.states[part.state].filter for restriction in meaning.where
                      for part in inner(restriction) if isinstance(part, Is))  # fmt: skip
            done = kind.data.get("done_by", {}).items()
            doers |= {doer for state in states for date, doer in done if date in state}
            is_grouped = name in {group.dimension for group in meaning.groups}
            return is_grouped or name in doers or _is_narrowed(meaning, kind, name)
        case "date":
            return name in ((meaning.dated.date if meaning.dated else "") or kind.date, kind.date)
        case _:
            stated = (part for restriction in meaning.where for part in inner(restriction))
            return name in stated
