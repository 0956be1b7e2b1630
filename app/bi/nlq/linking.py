"""What two restrictions with a link between them mean together: ``open tickets or an open deal``.

Each half is read as a question by itself, with the words that stand before both; what they have
in common holds, and of the rest both or either. Only what is not understood as a whole is read so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache

from app.bi.nlq.accounting import asked
from app.bi.nlq.agreement import check_agreement
from app.bi.nlq.checking import UnclearError
from app.bi.nlq.slots import positions
from app.bi.nlq.vocabulary import Vocabulary
from app.bi.plans.plan import Condition, Plan
from app.bi.words.tokens import Token

# With what a restriction of records begins, behind their noun.
_MARKS = {"with", "without", "not"}
_CONNECTED = ("that", "who", "which", "whose", "whom", "where")
_BEGINS = {"without", "not", "with"}
# What a half that only restricts has not: it would ask for something else.
_ASKING = {"count", "how_much", "how_long", "average", "sum", "share", "by", "compare", "change",
           "trend", "most", "least", "top", "bottom", "grain", "distinct", "sort"}  # fmt: skip
_SMALL = ("either", "both", "also", "additionally", "even", "then", "still", "already")
_OR, _AND = ("or",), ("and", "but", "plus", "&", "+", "yet", "nor")
# A sentence with more links is no pair of restrictions any more.
MOST_LINKS = 3


@dataclass(frozen=True)
class Halves:
    """The two questions that a link makes of one."""

    first: tuple[Token, ...]
    second: tuple[Token, ...]
    either: bool


def halves(tokens: Sequence[Token], vocabulary: Vocabulary) -> Iterator[Halves]:
    """The ways to cut a question at a link between two restrictions of the same records."""
    told = positions(tokens, vocabulary)
    noun = next(((at, end) for at, end, kinds in told if "noun" in kinds), None)
    if noun is None:
        return
    own = noun[1]
    links = [at for at in range(own + 1, len(tokens) - 1)
             if tokens[at].stem in (*_OR, *_AND)]  # fmt: skip
    if len(links) > MOST_LINKS:
        return
    begins = [at for at, _, kinds in told if at >= own and _MARKS & set(kinds)]
    begins += [at for at in range(own, len(tokens)) if tokens[at].stem in _CONNECTED]
    for link in links:
        begin = min((at for at in begins if at < link), default=own)
        behind = _behind(tokens, link)
        if behind >= len(tokens) or _asks(told, link, len(tokens)):
            continue
        plain = [one for one in tokens[begin:link] if one.stem not in _SMALL]
        first = (*tokens[:begin], *plain)
        led = {kind for at, _, kinds in told if at == behind for kind in kinds}
        whole = bool(_BEGINS & led) or tokens[behind].stem in _CONNECTED
        either = tokens[link].stem in _OR
        if not whole:
            mark = _mark(tokens, begin, told)
            led = {kind for at, _, kinds in told if at == begin for kind in kinds}
            neither = either and bool({"without", "not"} & led)  # "without tickets or projects"
            yield Halves(first, (*tokens[:begin], *mark, *tokens[behind:]), either and not neither)
        yield Halves(first, (*tokens[:begin], *tokens[behind:]), either)


def _behind(tokens: Sequence[Token], link: int) -> int:
    """Where the second half begins: behind the links and what only leads to it."""
    place = link + 1
    while place < len(tokens) and tokens[place].stem in (*_OR, *_AND, *_SMALL):
        place += 1
    return place


def _mark(
    tokens: Sequence[Token], begin: int, told: Sequence[tuple[int, int, dict[str, object]]]
) -> Sequence[Token]:
    """The words that lead to both restrictions: ``with``, ``that have``."""
    end = begin
    while end < len(tokens) and tokens[end].stem in _CONNECTED:
        end += 1
    marked = [stop for at, stop, kinds in told if begin <= at <= end and _MARKS & set(kinds)]
    return tokens[begin : max([end, *marked])]


def _asks(told: Sequence[tuple[int, int, dict[str, object]]], start: int, stop: int) -> bool:
    """Whether something in the words asks for a figure, groups or an order."""
    return any(start < at < stop and _ASKING & set(kinds) for at, _, kinds in told)


def linked(
    tokens: Sequence[Token],
    vocabulary: Vocabulary,
    plans_of: Callable[[list[Token]], Sequence[Plan]],
) -> Plan | None:
    """The plan of a question whose restrictions are understood one by one; None for none."""
    known = cache(lambda part: plans_of(list(part)))
    for one in halves(tokens, vocabulary):
        first = known(one.first)
        second = known(one.second) if len(first) == 1 else ()
        if len(second) == 1 and (plan := _together(first[0], second[0], either=one.either)):
            return plan
    return None


def _together(first: Plan, second: Plan, *, either: bool) -> Plan | None:
    """Both as one; None where they differ in more than in what restricts them."""
    if first.kind not in ("list", "count") or bare(first) != bare(second):
        return None
    texts = {one.odata for one in first.conditions}
    others = {one.odata for one in second.conditions}
    common = tuple(one for one in first.conditions if one.odata in others)
    left = tuple(one for one in first.conditions if one.odata not in others)
    right = tuple(one for one in second.conditions if one.odata not in texts)
    if not left or not right:
        return None
    conditions = (*common, _either(left, right)) if either else (*common, *left, *right)
    try:
        check_agreement(conditions, first.entity.data.get("means", {}), first.today or date.min)
    except UnclearError:
        return None  # "overdue and not overdue"
    notes = tuple(dict.fromkeys((*first.assumptions, *second.assumptions)))
    doubts = tuple(dict.fromkeys((*first.doubts, *second.doubts)))
    return replace(first, conditions=conditions, assumptions=notes, doubts=doubts,
                   repaired=tuple(dict.fromkeys((*first.repaired, *second.repaired))),
                   unsure=max(first.unsure, second.unsure))  # fmt: skip


def bare(plan: Plan) -> Plan:
    """What is asked for, whatever restricts it."""
    return replace(asked(plan), conditions=())


def _either(left: Sequence[Condition], right: Sequence[Condition]) -> Condition:
    texts = [" and ".join(f"({one.odata})" if " or " in one.odata else one.odata for one in part)
             for part in (left, right)]  # fmt: skip
    texts = [f"({one})" if " and " in one and "$count" not in one else one for one in texts]
    words = [" and ".join(one.spoken for one in part) for part in (left, right)]
    return Condition(f"{texts[0]} or {texts[1]}", " or ".join(words))


def restriction(tokens: Sequence[Token], vocabulary: Vocabulary) -> Sequence[Token] | None:
    """What a later question restricts the records before by; None where it does something else."""
    told = positions(tokens, vocabulary)
    begin = 0
    while begin < len(tokens) and any(at == begin and "and_then" in one for at, _, one in told):
        begin = next(end for at, end, one in told if at == begin)
    kinds = next((set(one) for at, _, one in told if at == begin), set())
    begins = begin < len(tokens) and (_MARKS & kinds or tokens[begin].stem in _CONNECTED)
    return tokens[begin:] if begins and not _asks(told, begin, len(tokens)) else None
