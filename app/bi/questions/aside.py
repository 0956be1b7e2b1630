"""Words that an analysis passes over: which of them say what it means anyway."""

from __future__ import annotations

from app.bi.questions.algebra import COUNT, Equals, Is, Meaning, inner
from app.bi.questions.chart import Item
from app.bi.questions.model import Kind
from app.bi.questions.reading import Leaf, Read


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
    category, said = leaf.category, leaf.meaning
    if category == "kind":
        return bool(said[0] == meaning.kind)
    if category == "f:count":
        return any(figure.measure == COUNT for figure in meaning.figures)
    if category == "named":
        said = said[0]
    if category not in ("measure", "rate", "verb", "dimension", "state", "named", "date"):
        return False
    name = said.by_kind.get(meaning.kind, "")
    match category:
        case "measure" | "rate":
            return any(figure.measure == name for figure in meaning.figures)
        case "verb":
            figure = kind.data.get("verbs", {}).get(name, {}).get("figure")
            return any(counted.measure == figure for counted in meaning.figures)
        case "dimension":
            # What clients pay are the payments of clients.
            figures = {figure.measure for figure in meaning.figures}
            verbs = kind.data.get("verbs", {}).values()
            doers = {verb["subject"] for verb in verbs if verb["figure"] in figures}
            is_grouped = name in {group.dimension for group in meaning.groups}
            return is_grouped or name in doers or _is_narrowed(meaning, kind, name)
        case "date":
            return name in ((meaning.dated.date if meaning.dated else "") or kind.date, kind.date)
        case _:
            stated = (part for restriction in meaning.where for part in inner(restriction))
            return Is(name) in stated
