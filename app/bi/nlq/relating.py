"""Records that have others: ``clients with more than 3 overdue invoices``."""

from __future__ import annotations

from dataclasses import replace

from app.bi.nlq.bounds import OPERATORS
from app.bi.nlq.checking import UnclearError
from app.bi.nlq.filtering import condition_text
from app.bi.nlq.plan import Condition, Plan
from app.bi.nlq.reading import Reading
from app.bi.nlq.resolving import resolved
from app.bi.nlq.slots import Slot, positions, scan
from app.bi.nlq.spans import Calendar
from app.bi.nlq.values import Names
from app.bi.nlq.vocabulary import Entity, Vocabulary
from app.bi.nlq.words import Token


class Relating:
    """The part of understanding that is about related records."""

    _vocabulary: Vocabulary
    _names: Names
    _now: Calendar
    _caller_id: int

    def _related(
        self, entity: Entity, tokens: list[Token]
    ) -> tuple[list[Token], tuple[Condition, ...], tuple[str, ...]]:
        """``... with more than 3 overdue invoices``: cut off, and read for what is counted."""
        if not entity.related:
            return tokens, (), ()
        slots = positions(tokens, self._vocabulary, entity)
        own = next((at for at, end, kinds in slots if kinds.get("noun") == entity.key), None)
        if own is None:
            return tokens, (), ()
        other = next(
            ((at, end, kinds["noun"]) for at, end, kinds in slots
             if at > own and kinds.get("noun") in entity.related), None,
        )  # fmt: skip
        if other is None:
            return tokens, (), ()
        between = [one for one in slots if own < one[0] < other[0]]
        if any({"most", "least", "by", "top"} & set(kinds) for _, _, kinds in between):
            return tokens, (), ()
        start = next((at for at, _, kinds in between if {"with", "without", "not"} & set(kinds)
                      or set(OPERATORS) & set(kinds)), None)  # fmt: skip
        if start is None:
            return tokens, (), ()
        stop = next((at for at, _, kinds in slots if at > other[0] and "by" in kinds), len(tokens))
        return self._counted(entity, str(other[2]), tokens, start, stop)

    def _counted(
        self, entity: Entity, other: str, tokens: list[Token], start: int, stop: int
    ) -> tuple[list[Token], tuple[Condition, ...], tuple[str, ...]]:
        target = self._vocabulary.entities[other]
        operator, number = "gt", "0"
        clause = tokens[start:stop]
        slots = scan(clause, target, self._vocabulary, self._names, self._now)
        kept: list[Slot] = []
        at = 0
        while at < len(slots):
            slot = slots[at]
            bound = next((op for kind, op in OPERATORS.items() if kind in slot), None)
            behind = slots[at + 1] if at + 1 < len(slots) else None
            counts = any("noun" in one for one in slots[at + 2 : at + 6])
            if bound and behind is not None and "number" in behind and counts:
                operator, number = bound, str(int(behind["number"]))
                at += 2
                continue
            if "without" in slot or "not" in slot:
                operator, number = "eq", "0"
            elif "number" in slot and any("noun" in one for one in slots[at + 1 : at + 4]):
                operator, number = "eq", str(int(slot["number"]))
            elif not {"with", "list"} & set(slot.meanings):
                kept.append(slot)
            at += 1
        reading = Reading(target, self._now, self._caller_id).read(kept)
        unknown = tuple(reading.left)
        try:
            inner = resolved(reading)
        except UnclearError as error:
            return tokens, (), (str(error),)
        if inner.kind != "list" or inner.order:
            return tokens, (), (" ".join(token.text for token in clause),)
        inners = _each(inner, reading) if any(one.stem == "both" for one in clause) else [inner]
        counted = tuple(_counting(entity.related[other], one, operator, number) for one in inners)
        return [*tokens[:start], *tokens[stop:]], counted, unknown


def _each(inner: Plan, reading: Reading) -> list[Plan]:
    """``both won and lost deals``: some of each, not of either."""
    said = [one for _, one in reading.conditions]
    several = {one.path for one in said if one.path and sum(one.path == o.path for o in said) > 1}
    others = tuple(one for one in inner.conditions if one.path not in several)
    each = [one for one in said if one.path in several]
    return [replace(inner, conditions=(*others, one)) for one in each] or [inner]


def _counting(navigation: str, inner: Plan, operator: str, number: str) -> Condition:
    """Related records of a kind, counted and compared."""
    where = condition_text(inner)
    options = f"($filter={where})" if where else ""
    stated = " and ".join(one.spoken for one in inner.conditions)
    within = f" {inner.period.label}" if inner.period is not None else ""
    nouns = f"{stated} {inner.entity.many}{within}".strip()
    amount = {
        "gt": "more than",
        "ge": "at least",
        "lt": "fewer than",
        "le": "at most",
        "eq": "exactly",
    }
    if (operator, number) == ("gt", "0"):
        words = f"with {nouns}"
    elif (operator, number) == ("eq", "0"):
        words = f"without {nouns}"
    else:
        words = f"with {amount[operator]} {number} {nouns}"
    return Condition(f"{navigation}/$count{options} {operator} {number}", words)
