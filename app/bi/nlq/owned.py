"""Records of clients that are described: ``contacts at customers with overdue invoices``."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from app.bi.nlq.bounds import OPERATORS
from app.bi.nlq.several import Several
from app.bi.nlq.slots import positions
from app.bi.nlq.vocabulary import Entity
from app.bi.plans.plan import SIGNS, Condition, Plan
from app.bi.words.tokens import Token

_OWNERS = "Clients"
# What records are grouped by, and the way to it.
_GROUPS = {"Clients": "Client", "Projects": "Project"}
# Before the clients whose records are meant.
_PREPOSITIONS = ("of", "at", "from", "for", "to", "by", "per", "each", "with", "among")
_DESCRIBED = {"with", "without", "not"}
# What is done with clients by whoever they belong to; projects are managed, too.
_MANAGED = ("managed", "owned", "looked")
_CONNECTED = ("that", "who", "which", "whose")
_PATH = re.compile(r"(?<![\w/'])([a-z]\w*(?:/\w+)*)(?= (?:eq|ne|gt|ge|lt|le|in) )")
_WHOLE = re.compile(r"(?:\w+/(?:\$count|any)\b.*|\w+)")


class Owned(Several):
    """The part of understanding that is about the clients that records belong to."""

    @abstractmethod
    def _plan_of(self, entity: Entity, tokens: list[Token]) -> Plan | None:
        """What words mean for an entity; None where they are not understood."""

    def _of_clients(
        self, entity: Entity, tokens: list[Token]
    ) -> tuple[list[Token], tuple[Condition, ...], int]:
        """The question without what describes the clients, that as conditions, and doubts."""
        if grouped := self._of_groups(entity, tokens):
            return grouped
        client = entity.dimensions.get("client")
        if entity.key == _OWNERS or client is None or client.path != "Client/name":
            return tokens, (), 0
        slots = positions(tokens, self._vocabulary, self._vocabulary.entities[_OWNERS])
        found = next(((at, end) for at, end, kinds in slots if kinds.get("noun") == _OWNERS
                      and at and self._is_described(tokens, end, entity)), None)  # fmt: skip
        if found is None:
            return tokens, (), 0
        begin = self._begin(tokens, found[0])
        stop = next((at for at, _, kinds in slots if at > found[1] and "by" in kinds), len(tokens))
        end = self._without_period(tokens, found[1], stop)
        plan = self._plan_of(self._vocabulary.entities[_OWNERS], tokens[begin:end])
        conditions = None if plan is None else of_client(plan)
        if plan is None or conditions is None:
            return tokens, (), 0
        kept = found[1] if self._is_grouped(tokens, begin) else max(0, begin - 1)
        rest = [*tokens[:kept], *tokens[end:]]
        # "of customers with tickets this year": the tickets of this year, or all.
        counted = end < stop and any("$count" in one.text for one in conditions)
        return rest, conditions, plan.unsure + counted

    def _of_groups(
        self, entity: Entity, tokens: list[Token]
    ) -> tuple[list[Token], tuple[Condition, ...], int] | None:
        """``which active client has the most open tickets``: a state of what is ranked."""
        for key, link in _GROUPS.items():
            group = self._vocabulary.entities[key]
            shown = entity.dimensions.get(group.one)
            if shown is None or shown.path != f"{link}/name":
                continue
            nouns = [at for at, one in enumerate(tokens) if one.stem in group.nouns]
            if nouns and (behind := self._described_group(group, tokens, nouns[0], link)):
                return behind
            found = self._stated_before(group, tokens, nouns[0]) if nouns else None
            if found is None or not self._is_ranked_group(tokens, found[0], nouns[0]):
                continue
            text = _prefixed(found[1]["text"], link)
            if text is None:
                return None
            said = " ".join(one.text.lower() for one in tokens[found[0] : nouns[0]])
            state = Condition(text, f"{group.one}s {said}")
            return [*tokens[: found[0]], *tokens[nouns[0] :]], (state,), 0
        return None

    def _described_group(
        self, group: Entity, tokens: list[Token], at: int, link: str
    ) -> tuple[list[Token], tuple[Condition, ...], int] | None:
        """``which projects on hold have the most open tasks``: what is ranked, described behind."""
        told = positions(tokens[at + 1 :], self._vocabulary)
        place = next((at + 1 + begin for begin, _, kinds in told if "with" in kinds), at + 1)
        ranked = any({"most", "least"} & set(kinds) for begin, _, kinds in told
                     if place <= at + 1 + begin <= place + 2)  # fmt: skip
        plain = {one for one, end, _ in positions(tokens[:at], self._vocabulary)}
        begin = next((one + 1 for one in range(at - 1, -1, -1) if one in plain), at)
        if not ranked or (place == at + 1 and begin == at):
            return None
        plan = self._plan_of(group, tokens[begin:place])
        conditions = None if plan is None else of_client(plan, link)
        if plan is None or conditions is None:
            return None
        return [*tokens[:begin], tokens[at], *tokens[place:]], conditions, plan.unsure

    @staticmethod
    def _stated_before(
        group: Entity, tokens: Sequence[Token], at: int
    ) -> tuple[int, dict[str, str]] | None:
        """The state that stands before a noun, and where it begins."""
        for length in (2, 1):
            stems = tuple(one.stem for one in tokens[max(0, at - length) : at])
            for one in group.lexicon.get(stems, ()):
                if one.kind == "state":
                    return at - len(stems), one.value
        return None

    def _is_ranked_group(self, tokens: Sequence[Token], begin: int, at: int) -> bool:
        """``which active clients have the most``, ``top 3 active clients by``, ``per active``."""
        before = {kind for _, _, kinds in positions(tokens[:begin], self._vocabulary)
                  for kind in kinds}  # fmt: skip
        behind = [kinds for _, _, kinds in positions(tokens[at + 1 : at + 5], self._vocabulary)]
        has_most = bool(behind) and "with" in behind[0] and any(
            {"most", "least"} & set(kinds) for kinds in behind[1:3])  # fmt: skip
        is_by = {"top", "bottom"} & before and any("by" in kinds for kinds in behind)
        return bool(has_most or is_by or (begin and tokens[begin - 1].stem == "per"))

    def _is_described(self, tokens: Sequence[Token], at: int, entity: Entity) -> bool:
        managed = at < len(tokens) and tokens[at].stem in _MANAGED
        if managed and entity.data.get("person") != "manager":
            return True
        for place, _, kinds in positions(tokens[at : at + 9], self._vocabulary):
            if _DESCRIBED & set(kinds) or tokens[at + place].stem in _CONNECTED:
                return True
            if {"noun", "by", *OPERATORS} & set(kinds) or tokens[at + place].mark:
                return False
        return False

    def _is_grouped(self, tokens: Sequence[Token], begin: int) -> bool:
        """``revenue by client with ...``; ``raised by clients with ...`` is no group."""
        if begin < 2 or tokens[begin - 1].stem not in ("by", "per", "each"):
            return False
        verb = tokens[begin - 2]
        done = self._vocabulary.is_of_records(verb.stem, {"date"}) or verb.stem.endswith("ed")
        return not done

    @staticmethod
    def _begin(tokens: Sequence[Token], at: int) -> int:
        """Where the words about the clients begin: behind a preposition."""
        near = [place for place in range(max(0, at - 4), at) if tokens[place].stem in _PREPOSITIONS]
        return near[-1] + 1 if near else at

    def _without_period(self, tokens: Sequence[Token], at: int, stop: int) -> int:
        """A period at the end is that of the records."""
        period_at = self._periods.of(tokens[:stop])
        for place in range(at, stop):
            found = period_at(place)
            if found is not None and place + found[0] == stop:
                return place
        return stop


def of_client(plan: Plan, link: str = "Client") -> tuple[Condition, ...] | None:
    """The conditions of clients as those of what belongs to them; None where they are others."""
    odd = plan.kind != "list" or plan.order or plan.limit or plan.period or plan.within
    if odd or plan.extra_columns or not plan.conditions:
        return None
    found = []
    for one in plan.conditions:
        text = _prefixed(one.text, link)
        if text is None or one.words.startswith(tuple(SIGNS.values())):
            return None
        path = None if one.path is None else f"{link}/{one.path}"
        found.append(replace(one, text=text, path=path, date=None, amount=None,
                             words=f"{link.lower()}s {one.words}"))  # fmt: skip
    return tuple(found)


def _prefixed(text: str, link: str = "Client") -> str | None:
    if _WHOLE.fullmatch(text):
        return f"{link}/{text}"
    parts = text.split("'")
    if "(" in "".join(parts[::2]).replace("in (", ""):
        return None
    parts[::2] = [_PATH.sub(rf"{link}/\1", part) for part in parts[::2]]
    return "'".join(parts)
