"""Columns that a list is asked for with: ``open invoices with client, due date and amount``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.bi.nlq.slots import positions
from app.bi.nlq.vocabulary import Entity, Vocabulary
from app.bi.plans.plan import Plan
from app.bi.words.tokens import Token

_INTRODUCES = ("with", "showing", "including", "incl", "include")
_ARTICLES = ("the", "their", "its", "all", "also")
_DEFINITE = ("the", "their", "its")
_LONGEST = 4
# How words for a day end; other words for it say what was done.
_DAYS = ("date", "deadline")
# What asks for a figure, not for records.
_FIGURES = {"count", "how_much", "how_long", "average", "share", "by", "change", "trend"}
_AMOUNTS = {"amount", "sum"}


@dataclass(frozen=True)
class Shown:
    """The question without its columns, and these; ``may_restrict``: "with email and phone"."""

    tokens: tuple[Token, ...]
    columns: tuple[str, ...]
    may_restrict: bool


def shown_columns(tokens: Sequence[Token], vocabulary: Vocabulary) -> Shown | None:
    """Two columns or more at the end of a question about records; None where there are none."""
    for at in range(len(tokens) - 3, 0, -1):
        if tokens[at].stem not in _INTRODUCES:
            continue
        heads = positions(tokens[:at], vocabulary)
        kinds = {kind for _, _, found in heads for kind in found}
        nouns = [str(found["noun"]) for _, _, found in heads if "noun" in found]
        if not nouns or kinds & _FIGURES:
            return None
        entity = vocabulary.entities[nouns[0]]
        if entity.join is not None:
            return None
        paths = _columns(tokens[at + 1 :], entity, vocabulary)
        if paths is None or (len(paths) < 2 and not _is_theirs(tokens[at + 1 :], paths, entity)):
            continue
        asked = "list" in kinds or "shows" in kinds
        props = [entity.prop(path) for path in paths]
        nullable = any(prop is not None and prop.nullable for prop in props)
        return Shown(tuple(tokens[:at]), paths, may_restrict=nullable and not asked)
    return None


def _is_theirs(tokens: Sequence[Token], paths: Sequence[str], entity: Entity) -> bool:
    """``open invoices with the amount due``: a figure that each of the records has."""
    doubtful = any(token.stem in entity.doubts for token in tokens)
    numbers = all(entity.is_number(path) for path in paths)
    return tokens[0].stem in _DEFINITE and numbers and not doubtful


def with_columns(plan: Plan, shown: Shown) -> Plan | None:
    """The list with its columns; None where it is no list."""
    if plan.kind != "list" or plan.entity.join is not None:
        return None
    there = (*plan.entity.columns, *plan.extra_columns)
    more = tuple(path for path in shown.columns if path not in there)
    return replace(plan, extra_columns=(*plan.extra_columns, *more),
                   unsure=plan.unsure + shown.may_restrict)  # fmt: skip


def _columns(
    tokens: Sequence[Token], entity: Entity, vocabulary: Vocabulary
) -> tuple[str, ...] | None:
    """The paths of columns that words name one after the other; None where some name none."""
    found: list[str] = []
    linked, at = True, 0
    while at < len(tokens):
        linked = linked or tokens[at].mark == ","
        if tokens[at].stem in (*_ARTICLES, *vocabulary.links):
            linked = linked or tokens[at].stem in vocabulary.links
            at += 1
            continue
        if not linked:
            return None  # "with status sent"
        for length in range(min(_LONGEST, len(tokens) - at), 0, -1):
            stems = tuple(token.stem for token in tokens[at : at + length])
            if (path := _path(stems, entity, vocabulary)) is not None:
                found.append(path)
                linked, at = False, at + length
                break
        else:
            return None
    return tuple(dict.fromkeys(found))


def _path(stems: tuple[str, ...], entity: Entity, vocabulary: Vocabulary) -> str | None:
    """The property that words name; of an amount that of the records."""
    meanings = entity.lexicon.get(stems, ())
    if any(meaning.kind == "state" for meaning in meanings):
        return None
    for meaning in meanings:
        if meaning.kind == "property" or (meaning.kind == "date" and stems[-1] in _DAYS):
            return str(meaning.value)
        if meaning.kind == "dimension" and meaning.value.path.count("/") < 2:
            return str(meaning.value.path)
        if meaning.kind == "measure" and entity.is_number(meaning.value.value):
            return str(meaning.value.value)
    if stems == ("name",):
        return entity.name
    general = {meaning.kind for meaning in vocabulary.words.get(stems, ())}
    return entity.amount if general & _AMOUNTS else None
