"""Records that have others: ``clients with more than 3 overdue invoices``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

from app.bi.nlq.bounds import OPERATORS
from app.bi.nlq.checking import UnclearError
from app.bi.nlq.period_places import PeriodPlaces
from app.bi.nlq.reading import Reading
from app.bi.nlq.resolving import resolved
from app.bi.nlq.slots import Slot, positions, scan
from app.bi.nlq.values import Names
from app.bi.nlq.vocabulary import Entity, Meaning, Phrase, Vocabulary
from app.bi.periods.spans import CLOCK_UNITS, GRAINS, Calendar, Period, step
from app.bi.plans.filtering import condition_text
from app.bi.plans.plan import Condition, Plan
from app.bi.words.tokens import Token

# With what a clause about related records begins.
_MARKS = {"with", "without", "not", *OPERATORS}
# What leads to more about records that are named, and what stands before it.
_RELATIVE = ("that", "which", "who")
_BEING = (
    "are",
    "is",
    "were",
    "was",
    "not",
    "still",
    "yet",
    "already",
    "never",
    "been",
    "currently",
)
# Between a link and what is linked.
_BETWEEN = ("also", "a", "an", "the", "with", "have")


class Relating:
    """The part of understanding that is about related records."""

    _vocabulary: Vocabulary
    _names: Names
    _periods: PeriodPlaces
    _now: Calendar
    _caller_id: int

    def _related(
        self, entity: Entity, tokens: list[Token]
    ) -> tuple[list[Token], tuple[Condition, ...], tuple[str, ...]]:
        """``... with more than 3 overdue invoices``: cut off, and read for what is counted."""
        found: tuple[Condition, ...] = ()
        unknown: tuple[str, ...] = ()
        while clause := self._clause(entity, tokens, is_first=not found):
            rest, counted, missing = self._counted(entity, *clause)
            unknown += missing
            if not counted:
                break
            tokens, found = rest, (*found, *counted)
        return tokens, found, unknown

    def _clause(
        self, entity: Entity, tokens: list[Token], *, is_first: bool
    ) -> tuple[str, list[Token], int, int] | None:
        """What is counted, and where the words about it begin and end."""
        slots = positions(tokens, self._vocabulary, entity)
        own = next((at for at, _, kinds in slots
                    if kinds.get("noun") == entity.key or "subset" in kinds), None)  # fmt: skip
        if own is None:
            return None
        others = [(at, str(kinds["noun"])) for at, _, kinds in slots
                  if at > own and kinds.get("noun") in entity.related
                  and tokens[at].stem not in self._loose(str(kinds["noun"]))]  # fmt: skip
        others = sorted([*others, *self._kinds_of(entity, tokens, own)])
        if not others:
            return None
        at, other = others[0]
        between = [one for one in slots if own < one[0] < at]
        if any({"most", "least", "by", "top"} & set(kinds) for _, _, kinds in between):
            return None
        start = self._start(tokens, between)
        if start is None and not is_first:
            start = own + 1  # "... and an overdue invoice"
        if start is None:
            return None
        start = self._behind_own(entity, tokens, start, at)
        bounds = {at for at, _, kinds in between if set(OPERATORS) & set(kinds)}
        links = [one for one in range(start, at) if self._links(tokens[one])]
        if start in bounds and links:
            start = links[-1] + 1  # "with a budget over 10,000 and overdue tasks"
        if start and tokens[start - 1].stem == "or":
            return None  # "over budget or with overdue tasks": not both of them
        groups = [one for one in slots if one[0] > at and "by" in one[2]]
        ends = [place for place, end, _ in groups if not self._is_way(other, tokens, end)]
        stops = [*ends, self._next(tokens, at, others[1:]), self._own(entity, other, tokens, at),
                 self._more_of_own(entity, other, tokens, start, at)]  # fmt: skip
        return other, tokens, start, min(stops)

    def _kinds_of(self, entity: Entity, tokens: list[Token], own: int) -> list[tuple[int, str]]:
        """``clients with incidents``: a word for records of one kind, of one related entity."""
        found = []
        for at in range(own + 1, len(tokens)):
            stems = (tokens[at].stem,)
            keys = [
                key
                for key in entity.related
                if any(one.kind == "subset" for one in self._lexicon(key).get(stems, ()))
            ]
            if len(keys) == 1 and stems not in entity.lexicon:
                behind = tuple(one.stem for one in tokens[at + 1 : at + 2])
                if not any(one.kind == "noun" for one in self._lexicon(keys[0]).get(behind, ())):
                    found.append((at, keys[0]))
        return found

    def _lexicon(self, key: str) -> Mapping[Phrase, list[Meaning]]:
        return self._vocabulary.entities[key].lexicon

    def _loose(self, key: str) -> Sequence[str]:
        """What records are called that is about more than them: ``no activity since May``."""
        found: Sequence[str] = self._vocabulary.entities[key].data.get("loose", ())
        return found

    def _own(self, entity: Entity, other: str, tokens: list[Token], at: int) -> int:
        """Where a state of the records themselves is linked: ``but also a credit balance``."""
        theirs = self._vocabulary.entities[other].lexicon
        for place in range(at + 1, len(tokens) - 1):
            if not self._links(tokens[place]):
                continue
            begin = place + 1
            while begin < len(tokens) and tokens[begin].stem in _BETWEEN:
                begin += 1
            for length in (3, 2):
                stems = tuple(token.stem for token in tokens[begin : begin + length])
                kinds = {one.kind for one in entity.lexicon.get(stems, ())}
                if "state" in kinds and stems not in theirs:
                    return place
        return len(tokens)

    def _more_of_own(
        self, entity: Entity, other: str, tokens: list[Token], start: int, at: int
    ) -> int:
        """``projects with no open tasks that are not completed``: these are the projects.

        Of what is counted a state of this kind is known already, or it can have none such.
        """
        theirs = self._vocabulary.entities[other].lexicon
        stated = {_property(theirs, (one.stem,)) for one in tokens[start:at]} - {None}
        for place in range(at + 1, len(tokens) - 1):
            if tokens[place].stem not in _RELATIVE:
                continue
            begin = place + 1
            while begin < len(tokens) and tokens[begin].stem in _BEING:
                begin += 1
            for length in (3, 2, 1):
                stems = tuple(token.stem for token in tokens[begin : begin + length])
                if _property(entity.lexicon, stems) is not None:
                    own = _property(theirs, stems) in (None, *stated)
                    if not own and _is_named(entity.lexicon, stems) and _is_wide(theirs, stems):
                        raise _whose(tokens, at, place, begin, length, entity)
                    return place if own else len(tokens)
        return len(tokens)

    def _behind_own(self, entity: Entity, tokens: list[Token], start: int, at: int) -> int:
        """``with a credit balance and open invoices``: what is counted begins behind the link."""
        begin = start
        while begin < at and tokens[begin].stem in _BETWEEN:
            begin += 1
        place = next((one for one in range(begin, at) if self._links(tokens[one])), at)
        stems = tuple(token.stem for token in tokens[begin:place])
        kinds = {one.kind for one in entity.lexicon.get(stems, ())}
        return place + 1 if place < at and {"state", "property"} & kinds else start

    def _is_way(self, other: str, tokens: list[Token], at: int) -> bool:
        """``payments by card``: how it was done, no group."""
        lexicon = self._vocabulary.entities[other].lexicon
        stems = tuple(token.stem for token in tokens[at : at + 2])
        meanings = [*lexicon.get(stems, ()), *lexicon.get(stems[:1], ())]
        return any(one.kind == "state" for one in meanings)

    def _start(
        self, tokens: list[Token], between: list[tuple[int, int, dict[str, object]]]
    ) -> int | None:
        """Where the words about what is counted begin: ``have not had any``, no word between."""
        marks = [(at, end) for at, end, kinds in between if _MARKS & set(kinds)
                 and not (set(OPERATORS) & set(kinds) and self._is_time(tokens, end))]  # fmt: skip
        plain = {at for at, _, kinds in between if "stop" in kinds}
        start = marks[-1][0] if marks else None
        for (_, end), (at, _) in reversed(list(pairwise(marks))):
            if not set(range(end, at)) <= plain:
                break
            start = next(begin for begin, stop in marks if stop == end)
        noun = between[-1][1] if between else 0
        linked = [at + 1 for at in range(start or noun, noun) if self._links(tokens[at])
                  and self._vocabulary.periods.is_article(tokens[at + 1])]  # fmt: skip
        return linked[-1] if linked else start

    def _links(self, token: Token) -> bool:
        return token.stem in (*self._vocabulary.links, "but", "nor")

    @staticmethod
    def _is_time(tokens: list[Token], at: int) -> bool:
        """``older than 3 years``: it is about the records themselves."""
        return at + 1 < len(tokens) and tokens[at + 1].stem in (*GRAINS, *CLOCK_UNITS)

    def _next(self, tokens: list[Token], at: int, others: list[tuple[int, str]]) -> int:
        """Where other records begin that there have to be as well: ``and an overdue invoice``."""
        linked = [place for place in range(at + 1, others[0][0] if others else 0)
                  if self._links(tokens[place])]  # fmt: skip
        return linked[-1] if linked else len(tokens)

    def _counted(
        self, entity: Entity, other: str, tokens: list[Token], start: int, stop: int
    ) -> tuple[list[Token], tuple[Condition, ...], tuple[str, ...]]:
        target = self._vocabulary.entities[other]
        operator, number = "gt", "0"
        clause = tokens[start:stop]
        slots = scan(clause, target, self._vocabulary, self._names, self._periods)
        if _is_negated(slots):
            slots = self._since_then(slots)
        negated = _is_negated(slots)
        if negated and any(set(OPERATORS) & set(one.meanings) and "number" in other
                           for one, other in pairwise(slots)):  # fmt: skip
            return tokens, (), (" ".join(token.text for token in clause),)
        if _leaves_out(slots):  # "clients with unpaid invoices, excluding Germany"
            return tokens, (), (" ".join(token.text for token in clause),)
        if any("percent" in one for one in slots):  # "with more than half of their invoices late"
            return tokens, (), (" ".join(token.text for token in clause),)
        if _has_two_numbers(slots):  # "with one or two invoices"
            return tokens, (), (" ".join(token.text for token in clause),)
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
            if {"without", "not"} & set(slot.meanings) and at < _noun_at(slots):
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
        odd = inner.kind != "list" or inner.order or inner.extra_columns
        if odd or (target.join and number != "0"):
            return tokens, (), (" ".join(token.text for token in clause),)
        inner, own = _of_head(entity, other, inner) if number == "0" else (inner, ())
        inners = _each(inner, reading) if any(one.stem == "both" for one in clause) else [inner]
        counted = tuple(_counting(entity.related[other], one, operator, number) for one in inners)
        return [*tokens[:start], *tokens[stop:]], (*own, *counted), unknown

    def _since_then(self, slots: list[Slot]) -> list[Slot]:
        """``not invoiced for more than 6 months``: none in all that time."""
        found: list[Slot] = []
        tomorrow = self._now.today + timedelta(days=1)
        for slot in slots:
            before = found[-1] if found else None
            longer = before is not None and {"more_than", "at_least"} & set(before.meanings)
            is_for = before is not None and before.text.lower().split()[-1] == "for"
            is_age = before is not None and before.text.lower() == "older than"
            if "duration" not in slot or is_age or not (longer or is_for):
                found.append(slot)
                continue
            count, unit = slot["duration"]
            label = f"the last {unit}" if count == 1 else f"the last {count} {unit}s"
            period = Period(step(self._now.today, unit, -count), tomorrow, label)
            found = [*(found[:-1] if longer else found), Slot(slot.text, {"period": period})]
        return found


def _property(lexicon: Mapping[Phrase, list[Meaning]], stems: Phrase) -> str | None:
    """The property of records that a state is about; None where the words are none."""
    state = next((one.value for one in lexicon.get(stems, ()) if one.kind == "state"), None)
    return None if state is None else state.get("property") or state["text"].partition(" ")[0]


def _is_named(lexicon: Mapping[Phrase, list[Meaning]], stems: Phrase) -> bool:
    """Whether words are the name of a value, which says more than what it may be called."""
    state = next((one.value for one in lexicon.get(stems, ()) if one.kind == "state"), None)
    values: Sequence[str] = () if state is None else state.get("values") or ()
    return [one.strip("'").lower() for one in values] == ["".join(stems)]


def _is_wide(lexicon: Mapping[Phrase, list[Meaning]], stems: Phrase) -> bool:
    """Whether words are what several values together may be called."""
    texts = [one.value["text"] for one in lexicon.get(stems, ()) if one.kind == "state"]
    return any(" in (" in text for text in texts)


def _whose(
    tokens: Sequence[Token], at: int, place: int, begin: int, length: int, entity: Entity
) -> UnclearError:
    """``clients with no tickets that are active``: active clients, or active tickets."""
    words = [one.text for one in tokens]
    said, rest = words[begin : begin + length], words[begin + length :]
    own = next(one for one in range(at) if tokens[one].stem in entity.nouns)
    choices = [" ".join([*words[:one], *said, *words[one:place], *rest]) for one in (own, at)]
    text = f"whether the {words[own]} or the {words[at]} are {' '.join(said)}"
    return UnclearError(text, [one[:1].upper() + one[1:] for one in choices])


def _noun_at(slots: Sequence[Slot]) -> int:
    named = (at for at, one in enumerate(slots) if {"noun", "subset"} & set(one.meanings))
    return next(named, len(slots))


def _is_negated(slots: Sequence[Slot]) -> bool:
    """Whether a word before the noun says that there are none; behind it, it is about a state."""
    return any({"without", "not"} & set(one.meanings) for one in slots[: _noun_at(slots)])


def _has_two_numbers(slots: Sequence[Slot]) -> bool:
    """Whether either of two numbers of what is counted would do."""
    head = pairwise(slots[: _noun_at(slots)])
    return any(one.text.lower() == "or" and "number" in other for one, other in head)


def _leaves_out(slots: Sequence[Slot]) -> bool:
    """Whether a name behind the noun is left out: none of the records is said to be missing."""
    behind = slots[_noun_at(slots) :]
    return any("not" in one and "value" in other for one, other in pairwise(behind))


def _each(inner: Plan, reading: Reading) -> list[Plan]:
    """``both won and lost deals``: some of each, not of either."""
    said = [one for _, one in reading.conditions]
    several = {one.path for one in said if one.path and sum(one.path == o.path for o in said) > 1}
    others = tuple(one for one in inner.conditions if one.path not in several)
    each = [one for one in said if one.path in several]
    return [replace(inner, conditions=(*others, one)) for one in each] or [inner]


def _of_head(entity: Entity, other: str, inner: Plan) -> tuple[Plan, tuple[Condition, ...]]:
    """``clients without open deals in the software industry``: that is theirs, deals or not."""
    link = entity.type.navigation[entity.related[other]].partner
    if link is None or inner.entity.join is not None:
        return inner, ()
    own = tuple(one for one in inner.conditions if (one.path or "").startswith(f"{link}/"))
    rest = tuple(one for one in inner.conditions if one not in own)
    of_head = tuple(
        replace(one, text=one.text.replace(f"{link}/", ""), path=(one.path or "")[len(link) + 1 :])
        for one in own
    )
    return replace(inner, conditions=rest), of_head


def _counting(navigation: str, inner: Plan, operator: str, number: str) -> Condition:
    """Related records of a kind, counted and compared."""
    where = condition_text(inner)
    if inner.entity.join is not None:  # payments, which are those of invoices
        path, _, name = inner.entity.join.partition(" as ")
        where = f"{path}/any({name}:{where})"
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
    kept = None if number == "0" and operator == "eq" else inner
    return Condition(f"{navigation}/$count{options} {operator} {number}", words, inner=kept)
