"""Readings of one question beside each other: which of them is meant, or why none is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.bi.nlq.reading import Reading
from app.bi.nlq.slots import Slot
from app.bi.nlq.understood import Understood
from app.bi.nlq.vocabulary import Vocabulary
from app.bi.plans.plan import Plan
from app.bi.words.tokens import Token, phrase

# Records that are no persons or firms.
_THINGS = ("Invoices", "CreditNotes", "LineItems", "Payments", "Tickets", "Documents", "KbArticles",
           "Tasks", "Projects", "Opportunities")  # fmt: skip
# What happens to records, and in what state they are.
_TELLING = {"date", "state"}
_WAYS = ("source", "channel", "method")

_TAKEN = "it is taken to be about"


@dataclass
class Candidate:
    """What a question means, if it is about records of one kind."""

    plan: Plan | None
    reading: Reading
    unknown: tuple[str, ...]
    unclear: str | None
    score: int
    choices: tuple[str, ...] = ()
    inferred: Plan | None = None  # no word says of what records, unless the others do

    @property
    def is_whole(self) -> bool:
        """Whether every word was made something of."""
        return self.plan is not None and not self.unknown

    @property
    def asks_own_amount(self) -> bool:
        """``revenue of active clients``: reports take what they were invoiced, no property."""
        entity, shown = self.reading.entity, [*self.reading.columns]
        shown += [self.plan.measure.value] if self.plan is not None and self.plan.measure else []
        said = any(one.text.lower() == entity.amount for one in self.reading.slots)
        return bool(entity.data.get("unranked")) and entity.amount in shown and said

    @property
    def is_of_clients(self) -> bool:
        """Whether groups are chosen, and the groups are clients."""
        plan = self.plan
        chosen = plan is not None and plan.threshold is not None
        return chosen and plan is not None and [o.name for o in plan.dimensions] == ["client"]


def of_records(whole: list[Candidate]) -> list[Candidate]:
    """``clients with more than 3 invoices``: the clients, where they can be asked for."""
    revenue = any(one.plan and one.plan.measure and one.plan.measure.issued for one in whole)
    whole = [one for one in whole if not (revenue and one.asks_own_amount)]
    if not any(
        one.reading.entity.key == "Clients" and one.reading.noun_at is not None for one in whole
    ):
        return whole
    return [one for one in whole if not one.is_of_clients]


def tells_kind(reading: Reading) -> bool:
    """``what expires next month``: what happens to records, or in what state they are."""
    figures = {"amount", "how_much", "sum", "average"} & reading.flags
    others = any(one.meanings.get("noun", reading.entity.key) != reading.entity.key
                 for one in reading.slots)  # fmt: skip
    told = [one for one in reading.slots if _TELLING & set(one.meanings) and not _is_way(one)]
    named = any("value" in one for one in reading.slots)  # "could you call ACME"
    asked = {"list", "count"} & reading.flags or len(told) > 1 or not named
    return bool(told and asked) and not (figures or others or reading.rank)


def is_inferred(plan: Plan) -> bool:
    """Whether no word of the question named the kind of its records."""
    return any(note.startswith(_TAKEN) for note in plan.assumptions)


def _is_way(slot: Slot) -> bool:
    """``calls``, ``mails``: how something came, which records of other kinds are, too."""
    return slot.meanings.get("state", {}).get("property") in _WAYS


def of_only_kind(candidates: Sequence[Candidate]) -> Understood | None:
    """``what did we publish this week``: what only one kind of record can be; less sure of it."""
    found = [(one.inferred, one.reading.entity) for one in candidates if one.inferred]
    is_named = any(one.reading.noun_at is not None for one in candidates if not one.inferred)
    if len(found) != 1 or is_named:
        return None
    plan, entity = found[0]
    note = f"{_TAKEN} {entity.many}"
    return Understood(plans=(replace(plan, unsure=plan.unsure + 1).with_assumption(note),))


def is_before(head: Candidate, other: Candidate) -> bool:
    """``clients that owe us``: the records are named before the figure that others have."""
    at, named = other.reading.measure_at, head.reading.noun_at
    return other is head or (at is not None and named is not None and named < at)


def asks_who(tokens: Sequence[Token], plan: Plan) -> bool:
    """``who gets our invoices``: somebody is asked for, and the plan has records alone."""
    asked = bool(tokens) and tokens[0].stem == "who"
    told = any("/" in one for one in plan.extra_columns) or plan.limit == 1
    return asked and plan.kind == "list" and plan.entity.key in _THINGS and not told


def not_understood(candidates: Sequence[Candidate], tokens: Sequence[Token]) -> Understood:
    """Why nothing came of it: the reading that came furthest says."""
    if not candidates:
        words = tuple(token.text for token in tokens if token.kind == "word")
        return Understood(unknown=words[:5])
    best = min(candidates, key=lambda one: (len(one.unknown), -one.score))
    choices = () if best.unknown else best.choices
    return Understood(unknown=best.unknown, reason=best.unclear, choices=choices)


def may_be_of_groups(plan: Plan, slots: Sequence[Slot], vocabulary: Vocabulary) -> bool:
    """``hours per project, only completed ones``: a state of the groups as well."""
    for one in plan.dimensions:
        records = [entity for entity in vocabulary.entities.values() if entity.one == one.name]
        place = next((at for at, slot in enumerate(slots)
                      if slot.meanings.get("dimension") == one), len(slots))  # fmt: skip
        behind = [phrase(slot.text) for slot in slots[place:] if "state" in slot]
        for entity in records:
            states = [entity.lexicon.get(words, ()) for words in behind]
            if any(meaning.kind == "state" for meanings in states for meaning in meanings):
                return entity is not plan.entity
    return False
