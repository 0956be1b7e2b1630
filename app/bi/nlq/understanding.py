"""A question, and those before it, understood: a plan, a choice of plans, or a refusal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache

from app.bi.nlq.bounds import OPERATORS
from app.bi.nlq.checking import UnclearError, has_head, has_needs
from app.bi.nlq.compiling import condition_text
from app.bi.nlq.continuing import changed
from app.bi.nlq.naming import AmbiguousName
from app.bi.nlq.plan import Condition, Having, Plan
from app.bi.nlq.reading import Reading
from app.bi.nlq.resolving import resolved
from app.bi.nlq.slots import Slot, scan
from app.bi.nlq.spans import Calendar
from app.bi.nlq.values import Names
from app.bi.nlq.vocabulary import Entity, Vocabulary, read_file
from app.bi.nlq.words import Token, phrase, repaired, repairs, tokenise
from app.container import container

_SQL = re.compile(
    r"(?i)\b(select\b.*\bfrom|drop\s+table|insert\s+into|delete\s+from|update\s+\w+\s+set|union\s+"
    r"(all\s+)?select|or\s+1\s*=\s*1|truncate\s+table)\b|--|/\*|;\s*\w|<script|\$\{|\{\{"
)
# Entities that answer a question equally well are a choice when nothing tells them apart.
CLOSE = 1


@dataclass(frozen=True)
class Understood:
    """``plans``: one, or several to choose from; ``unknown``: words that nothing was made of."""

    plans: tuple[Plan, ...] = ()
    unknown: tuple[str, ...] = ()
    reason: str | None = None
    choices: tuple[str, ...] = ()
    refused: bool = False


@lru_cache(maxsize=4)
def vocabulary_of(language: str = "en") -> Vocabulary:
    """The vocabulary of a language over the model of the business."""
    return Vocabulary(read_file(language), container())


def understand(
    question: str, before: Sequence[str], now: Calendar, caller_id: int, language: str = "en"
) -> Understood:
    """What a question means after those asked before it in the same session.

    Raises: AmbiguousName.
    """
    return _Understanding(vocabulary_of(language), now, caller_id).of(question, before)


def is_refused(question: str, language: str = "en") -> bool:
    """Whether a question asks for something that no question can do."""
    reader = _Understanding(vocabulary_of(language), Calendar(date.min), 0)
    return reader.refusal(question) is not None


@dataclass
class _Candidate:
    plan: Plan | None
    reading: Reading
    unknown: tuple[str, ...]
    unclear: str | None
    score: int
    choices: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether every word was made something of."""
        return self.plan is not None and not self.unknown


class _Understanding:
    def __init__(self, vocabulary: Vocabulary, now: Calendar, caller_id: int) -> None:
        self._vocabulary = vocabulary
        self._now = now
        self._caller_id = caller_id
        self._names = Names(vocabulary)
        self._earlier: dict[int, Plan | None] = {}

    def of(self, question: str, before: Sequence[str]) -> Understood:
        if (reason := self.refusal(question)) is not None:
            return Understood(refused=True, reason=reason)
        text = self._rewritten(question)
        tokens = list(repaired(tokenise(text), self._vocabulary.known))
        for pattern, choices in self._vocabulary.ambiguous:
            if pattern.fullmatch(text.strip(" ?!.").lower()):
                return Understood(choices=tuple(choices), reason="it can be meant in several ways")
        follows = bool(before) and self._follows(tokens)
        if follows and (found := self._continued(tokens, before)):
            return found
        found = self._fresh(tokens)
        if found.plans or found.choices or not before or follows:
            return found
        return self._continued(tokens, before) or found

    def refusal(self, question: str) -> str | None:
        """Why a question is not even read; None where it is."""
        if _SQL.search(question):
            return "only questions about figures are answered here"
        tokens = repaired(tokenise(self._rewritten(question)), self._vocabulary.known)
        refused = self._refused(tuple(token.stem for token in tokens))
        return None if refused is None else f"“{refused}” is nothing that a question can do"

    def _rewritten(self, question: str) -> str:
        """The question with idioms said plainly; names keep their capitals."""
        text = question.strip().replace("\u2019", "'")
        for pattern, plain in self._vocabulary.idioms:
            if found := pattern.search(text):
                text = f"{text[: found.start()]}{found.expand(plain)}{text[found.end() :]}"
        return text

    def _refused(self, stems: tuple[str, ...]) -> str | None:
        for one in self._vocabulary.refused:
            for at in range(len(stems) - len(one) + 1):
                if stems[at : at + len(one)] == one:
                    return " ".join(one)
        return None

    # --- a question by itself

    def _fresh(self, tokens: list[Token]) -> Understood:
        likely = self._entities(tokens)
        others = [one for one in self._vocabulary.entities.values() if one not in likely]
        unclear: AmbiguousName | None = None
        candidates: list[_Candidate] = []
        for entity in [*likely, *others]:
            if entity in others and any(one.is_whole for one in candidates):
                break  # only "the phone of ACME" names no kind of record
            try:
                candidates.append(self._candidate(entity, tokens))
            except AmbiguousName as error:
                unclear = unclear or error
        candidates = [one for one in candidates if one.score > -2]
        whole = [one for one in candidates if one.is_whole]
        if not whole:
            if unclear is not None:
                raise unclear
            return _not_understood(candidates, tokens)
        whole.sort(key=lambda one: -one.score)
        best = whole[0]
        torn = next((one for one in candidates if one.choices and not one.unknown), None)
        if torn is not None and torn.score >= best.score:
            return Understood(reason=torn.unclear, choices=torn.choices)
        close = [one for one in whole if best.score - one.score <= CLOSE]
        heads = [one for one in close if one.reading.noun_at is not None]
        if len(heads) == 1 and all(_is_before(heads[0], one) for one in close):
            return Understood(plans=tuple(one.plan for one in heads if one.plan))
        plans = [one.plan for one in whole if best.score - one.score <= CLOSE and one.plan]
        return Understood(plans=tuple(plans))

    def _entities(self, tokens: Sequence[Token]) -> list[Entity]:
        """The entities that a word of the question belongs to."""
        stems = {token.stem for token in tokens}
        telling = ("noun", "subset", "measure", "rate", "state", "order", "amount")
        found = [
            entity
            for entity in self._vocabulary.entities.values()
            if any(
                set(words) <= stems and any(meaning.kind in telling for meaning in meanings)
                for words, meanings in entity.lexicon.items()
            )
            or (entity.key == "Invoices" and "much" in stems)
        ]
        return found

    def _candidate(self, entity: Entity, tokens: list[Token]) -> _Candidate:
        main, having, related, unknown = self._related(entity, tokens)
        slots = scan(main, entity, self._vocabulary, self._names, self._now)
        reading = Reading(entity, self._now, self._caller_id).read(slots)
        unknown += tuple(reading.left)
        score = reading.score + self._prior(reading, slots, tokens) + (3 if related else 0)
        try:
            if (not related and not has_head(reading)) or not has_needs(reading):
                raise UnclearError("of what kind of record")
            plan = None if unknown else resolved(reading, having, related)
        except UnclearError as error:
            return _Candidate(None, reading, unknown, str(error), score, error.choices)
        if plan is not None:
            asked = "yes" if tokens and tokens[0].stem in self._vocabulary.yes_no else ""
            plan = replace(plan, repaired=repairs(tokens), zone=self._now.zone,
                           today=self._now.today, asked=asked)  # fmt: skip
        return _Candidate(plan, reading, unknown, None, score)

    def _prior(self, reading: Reading, slots: Sequence[Slot], tokens: Sequence[Token]) -> int:
        """How well the entity fits the head of the question."""
        first = next((slot for slot in slots if "noun" in slot or "subset" in slot), None)
        is_head = first is not None and first.meanings.get("noun") == reading.entity.key
        is_head = is_head or (first is not None and "subset" in first)
        score = 4 if is_head else 0
        has_amount = bool({"amount", "how_much"} & reading.flags) and reading.entity.default_measure
        if reading.noun_at is None and not (reading.measure or reading.rate or has_amount):
            score -= 2
        if first is None or "dimension" in first:
            score += int(reading.entity.data.get("prior", 0))
        if (
            reading.order
            and reading.entity.key == "Clients"
            and reading.periods
            and not reading.date
        ):
            score -= 6  # a period is about what was sold, not about when the client was added
        if reading.subjects and not reading.rank:
            score -= 1
        return score

    def _related(
        self, entity: Entity, tokens: list[Token]
    ) -> tuple[list[Token], Having | None, tuple[Condition, ...], tuple[str, ...]]:
        """``... with more than 3 overdue invoices``: cut off, and read for what is counted."""
        if not entity.related:
            return tokens, None, (), ()
        slots = _positions(tokens, self._vocabulary)
        own = next((at for at, end, kinds in slots if kinds.get("noun") == entity.key), None)
        if own is None:
            return tokens, None, (), ()
        other = next(
            ((at, end, kinds["noun"]) for at, end, kinds in slots
             if at > own and kinds.get("noun") in entity.related), None,
        )  # fmt: skip
        if other is None:
            return tokens, None, (), ()
        between = [one for one in slots if own < one[0] < other[0]]
        if any({"most", "least", "by", "top"} & set(kinds) for _, _, kinds in between):
            return tokens, None, (), ()
        start = next((at for at, _, kinds in between if {"with", "without", "not"} & set(kinds)
                      or set(OPERATORS) & set(kinds)), None)  # fmt: skip
        if start is None:
            return tokens, None, (), ()
        stop = next((at for at, _, kinds in slots if at > other[0] and "by" in kinds), len(tokens))
        return self._counted(entity, str(other[2]), tokens, start, stop)

    def _counted(
        self, entity: Entity, other: str, tokens: list[Token], start: int, stop: int
    ) -> tuple[list[Token], Having | None, tuple[Condition, ...], tuple[str, ...]]:
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
            return tokens, None, (), (str(error),)
        if inner.kind != "list" or inner.order:
            return tokens, None, (), (" ".join(token.text for token in clause),)
        condition = _counting(entity.related[other], inner, operator, number)
        return [*tokens[:start], *tokens[stop:]], None, (condition,), unknown

    # --- a question that goes on

    def _follows(self, tokens: Sequence[Token]) -> bool:
        """Whether it begins like one that goes on, or names nothing of its own."""
        first = _positions(tokens, self._vocabulary)[:1]
        if first and {"and_then", "by"} & set(first[0][2]):
            return True
        kinds = [kinds for _, _, kinds in _positions(tokens, self._vocabulary)]
        nouns = any("noun" in one for one in kinds)
        telling = any(
            meaning.kind in ("measure", "rate")
            for entity in self._vocabulary.entities.values()
            for words, meanings in entity.lexicon.items()
            for meaning in meanings
            if set(words) <= {token.stem for token in tokens}
        )
        return not nouns and not telling

    def _continued(self, tokens: list[Token], before: Sequence[str]) -> Understood | None:
        """The plan of the last question that was understood, changed by what this one says."""
        place = next((at for at in range(len(before) - 1, -1, -1) if self._plan(before, at)), None)
        if place is None:
            return None
        plan = self._plan(before, place)
        assert plan is not None
        slots = scan(tokens, plan.entity, self._vocabulary, self._names, self._now)
        reading = Reading(plan.entity, self._now, self._caller_id).read(slots)
        if reading.left:
            return self._of_others(tokens, before[place])
        try:
            return Understood(plans=(changed(plan, reading, repairs(tokens)),))
        except UnclearError as error:
            return Understood(reason=str(error), choices=error.choices)

    def _plan(self, before: Sequence[str], at: int) -> Plan | None:
        """What was understood of an earlier question; found out once."""
        if at not in self._earlier:
            self._earlier[at] = None
            try:
                found = self.of(before[at], before[:at])
            except AmbiguousName:
                return None
            self._earlier[at] = found.plans[0] if len(found.plans) == 1 else None
        return self._earlier[at]

    def _of_others(self, tokens: Sequence[Token], earlier: str) -> Understood | None:
        """``what about leads?``: the question before, asked of other records."""
        kinds = [kinds for _, _, kinds in _positions(tokens, self._vocabulary)]
        nouns = [kinds["noun"] for kinds in kinds if "noun" in kinds]
        plain = all({"noun", "and_then", "stop", "list", "by"} & set(one) for one in kinds)
        whole = sum(end - at for at, end, _ in _positions(tokens, self._vocabulary))
        if len(nouns) != 1 or not plain or whole != len(tokens):
            return None
        words = list(repaired(tokenise(self._rewritten(earlier)), self._vocabulary.known))
        places = [(at, end) for at, end, kinds in _positions(words, self._vocabulary)
                  if "noun" in kinds]  # fmt: skip
        if len(places) != 1:
            return None
        at, end = places[0]
        noun = phrase(self._vocabulary.entities[str(nouns[0])].one + "s")
        replaced = [Token(text, text) for text in noun]
        return self._fresh([*words[:at], *replaced, *words[end:]])


def _is_before(head: _Candidate, other: _Candidate) -> bool:
    """``clients that owe us``: the records are named before the figure that others have."""
    at, named = other.reading.measure_at, head.reading.noun_at
    return other is head or (at is not None and named is not None and named < at)


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


def _positions(
    tokens: Sequence[Token], vocabulary: Vocabulary
) -> list[tuple[int, int, dict[str, object]]]:
    """Phrases of the general vocabulary: begin, end, kind -> value."""
    found = []
    at = 0
    while at < len(tokens):
        for length in range(min(6, len(tokens) - at), 0, -1):
            stems = tuple(token.stem for token in tokens[at : at + length])
            if meanings := vocabulary.words.get(stems):
                found.append((at, at + length, {one.kind: one.value for one in meanings}))
                at += length
                break
        else:
            at += 1
    return found


def _not_understood(candidates: Sequence[_Candidate], tokens: Sequence[Token]) -> Understood:
    """Why nothing came of it: the reading that came furthest says."""
    if not candidates:
        words = tuple(token.text for token in tokens if token.kind == "word")
        return Understood(unknown=words[:5])
    best = min(candidates, key=lambda one: (len(one.unknown), -one.score))
    choices = () if best.unknown else best.choices
    return Understood(unknown=best.unknown, reason=best.unclear, choices=choices)
