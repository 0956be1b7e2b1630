"""Shares: which records hit, and of which they are a part."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise

from app.bi.nlq.checking import UnclearError
from app.bi.nlq.dating import is_of_records
from app.bi.nlq.rates import Rate
from app.bi.nlq.reading import Reading
from app.bi.plans.entities import Measure
from app.bi.plans.plan import Condition, Plan

_AMONG = ("among", "amongst")  # of what is the whole of a share
# With what is begun that is said of the records; behind the others it only says which are meant.
_FINITE = ("is", "are", "was", "were", "has", "have", "had", "got", "get", "did", "do")
_RELATIVE = ("that", "which", "who", "and", "or", "not")
# What makes parts of a whole.
_DIVIDING = ("split by", "split into", "divided into", "broken down into")


def with_share(plan: Plan, reading: Reading, related: Sequence[Condition]) -> Plan:
    """The plan of a share: what hits, and of what it is a part.

    Raises: UnclearError.
    """
    rate = reading.rate
    if plan.measure is not None and (rate is not None or plan.method != "sum"):
        raise UnclearError(f"what part of {plan.measure.label.lower()} is wanted")
    if plan.measure is not None and plan.compared is not None:
        raise UnclearError("how these shares of two periods are to be compared")
    if rate is not None:
        return _rated(plan, rate, reading)
    noun_at = -1 if reading.noun_at is None else reading.noun_at
    behind = [one for at, one in reading.conditions if at > noun_at]
    ahead = [one for at, one in reading.conditions if at <= noun_at]
    whole = next((at for at, one in enumerate(reading.slots) if one.text.lower() in _AMONG), None)
    if whole is not None and any(at < whole for at, _ in reading.conditions):
        behind = [one for at, one in reading.conditions if at < whole]
        ahead = [one for at, one in reading.conditions if at > whole]
    if whole is None and (done := _said_of_them(reading, noun_at)) is not None:
        behind = [one for at, one in reading.conditions if at > done]
        ahead = [one for at, one in reading.conditions if at < done]
    if any({"his", "her"} & set(one.text.lower().split()) for one in reading.slots):
        ahead += [one for one in behind if is_person(one)]  # "what percentage of his deals did X"
        behind = [one for one in behind if not is_person(one)]
    money = plan.measure.money if plan.measure is not None else None
    if money is not None and len(behind) + len(ahead) > 1:  # "of EUR revenue, from Germany"
        ahead += [one for one in behind if one.path == money]
        behind = [one for one in behind if one.path != money]
    owned = [one for one in related if one.text.startswith("Client/")]
    hits = behind or ahead or owned  # "what share of revenue comes from clients with ..."
    if not hits:
        raise UnclearError("the share of what is wanted", _split(plan, ()))
    found = merged(hits)
    if _is_split(plan, reading, found):
        raise UnclearError("of what each is a part", _split(plan, merged([*ahead, *behind])))
    if plan.measure is not None and any(one.path == plan.measure.money for one in found):
        raise UnclearError("how amounts of several currencies are to be set against each other")
    if len(found) > 1 and whole is None:
        plan = replace(plan, unsure=plan.unsure + 1)  # "leads from the web converted"
    text = " and ".join(f"({one.odata})" if len(found) > 1 else one.odata for one in found)
    words = " and ".join(one.spoken for one in found)
    among = tuple(merged(ahead)) if behind else ()
    rates = reading.entity.data.get("rates", {}).values()
    decided = next((among for hits, among, *_ in rates if hits == text and among), None)
    hit = Condition(text, words)
    if decided is not None and not any(one.is_own_state for one in among):
        # "share of deals won": of those won or lost, then
        among = (*among, Condition(decided, "decided"))
        return replace(plan, share_of=hit, conditions=among, unsure=plan.unsure + 1)
    return _of_whole(replace(plan, share_of=hit, conditions=among), reading, hits)


def _rated(plan: Plan, rate: Rate, reading: Reading) -> Plan:
    """The plan of a share that has a name of its own.

    Raises: UnclearError.
    """
    if (ratio := rate.ratio) is not None:
        if plan.compared is not None:
            raise UnclearError("how these shares of two periods are to be compared")
        plan = plan if ratio.note is None else plan.with_assumption(ratio.note)
        issued = plan.entity.issued is not None
        of = Measure(label=ratio.label, value=ratio.whole, issued=issued)
        return replace(plan, share_of=Condition("", rate.label), measure=of, ratio=ratio)
    among = rate.decided if rate.decided and is_of_records(reading) else rate.among
    words = "decided" if among == rate.decided else "closed"
    closed: tuple[Condition, ...] = (Condition(among, words),) if among else ()
    kept = tuple(one for one in plan.conditions if one.text not in (rate.hits, among))
    return replace(plan, share_of=Condition(rate.hits, rate.label), conditions=(*kept, *closed))


def _is_split(plan: Plan, reading: Reading, hits: Sequence[Condition]) -> bool:
    """``lost deals by reason as percentages``: each group as a part of all, not what hits in it.

    Nothing else can be meant where only records that hit have the group at all.
    """
    if not plan.dimensions or plan.measure is not None:
        return False
    slots = reading.slots
    by = [at for at, one in enumerate(slots) if "by" in one]
    shares = [at for at, one in enumerate(slots) if "share" in one]
    behind = [at for at, _ in reading.conditions if shares and at > shares[-1]]
    is_last = bool(by) and bool(shares) and shares[-1] > by[-1] and not behind
    each = any(
        at - 1 in shares or at - 2 in shares for at in by if slots[at].text.lower() == "each"
    )
    divided = any(slots[at].text.lower() in _DIVIDING for at in by)
    own = reading.entity.data.get("only", {})
    texts = {one.text for one in hits}
    return is_last or each or divided or any(own.get(one.path) in texts for one in plan.dimensions)


def _split(plan: Plan, conditions: Sequence[Condition]) -> list[str]:
    """The question for the figure of each group, which a pie shows as parts of all."""
    stated = ", ".join(one.spoken for one in conditions)
    of = f"{stated} {plan.entity.many}" if stated else plan.entity.many
    figure = f"Number of {of}" if plan.measure is None else plan.measure.label
    return [f"{figure} by {one.label}" for one in plan.dimensions[:1]]


def is_person(condition: Condition) -> bool:
    """Whether it is about the person whose records they are."""
    path = condition.path or condition.text.partition(" ")[0]
    return path in ("ownerId", "assigneeId", "managerId", "Client/ownerId")


def is_of_person(plan: Plan) -> bool:
    """Whether the records of a person are meant."""
    hit = () if plan.share_of is None else (plan.share_of,)
    return any(is_person(one) for one in (*plan.conditions, *hit))


def _of_whole(plan: Plan, reading: Reading, hits: Sequence[Condition]) -> Plan:
    """``share of this year's invoices that is paid``: of those made then, not paid then.

    By the day on which they became so, all of them would be so.
    """
    date, entity = plan.date, plan.entity
    if plan.period is None or date in (None, entity.date):
        return plan
    implied = entity.date_filters.get(date or "")
    own = any(one.date == date or one.text == implied for one in plan.conditions)
    decides = any(one.date == date or one.text == implied for one in hits)
    if own or not decides:
        return plan
    period = next((at for at, one in enumerate(reading.slots) if "period" in one), 0)
    behind = any(at < period for at, one in reading.conditions if one in hits)
    return replace(plan, date=entity.date, unsure=plan.unsure + behind)


def _said_of_them(reading: Reading, noun_at: int) -> int | None:
    """``leads that came by referral have been converted``: where the verb of the question stands.

    What is said before it tells which records are meant.
    """
    places = [at for at, _ in reading.conditions if at > noun_at]
    if len(places) < 2:
        return None
    for at in range(places[-1], places[0], -1):
        words = reading.slots[at].text.lower().split()
        before = reading.slots[at - 1].text.lower().split()[-1:]
        if words[0] in _FINITE and not set(before) & set(_RELATIVE):
            return at
    return None


def merged(conditions: Sequence[Condition], alternatives: Collection[int] = ()) -> list[Condition]:
    """Conditions on values of one property joined: it can have but one of them.

    Args:
        alternatives: places of those with an "or" before them, which widen what stands before.
    """
    found: list[Condition] = []
    for place, one in enumerate(conditions):
        twin = next(
            (at for at, other in enumerate(found)
             if one.path is not None and other.path == one.path
             and not one.negated and not other.negated),
            None,
        )  # fmt: skip
        if twin is None:
            if one not in found:
                found.append(one)
            continue
        other = found[twin]
        if one.values == other.values:
            continue
        common = [value for value in other.values if value in one.values]
        if common and place in alternatives:  # "new or open": the two, not all that is open
            one, other, common = _as_named(one), _as_named(other), []
        values = tuple(common or dict.fromkeys((*other.values, *one.values)))
        literals = ",".join(v if v[:1] in "'0123456789" else f"'{v}'" for v in values)
        words = one.words if common else f"{other.words} or {one.words}"
        found[twin] = replace(
            other, text=f"{one.path} in ({literals})", values=values, words=words,
            date=other.date or one.date,
        )  # fmt: skip
    return found


def alternatives(reading: Reading) -> frozenset[int]:
    """Places of the conditions that an "or" joins to the one before: ``new, open or pending``."""
    slots, found = reading.slots, set()
    ors = [at for at, slot in enumerate(slots) if slot.text.lower() == "or"]
    places = [at for at, _ in reading.conditions]
    for place, (before, at) in enumerate(pairwise(places), 1):
        listed = at < len(slots) and slots[at].apart and any(at < one for one in ors)
        if listed or any(before < one < at for one in ors):
            found.add(place)
    return frozenset(found)


def _as_named(one: Condition) -> Condition:
    """A state whose words are the name of one of its values, as that value alone."""
    name = one.words.replace(" ", "").lower()
    named = tuple(value for value in one.values if value.strip("'").lower() == name)
    return replace(one, values=named or one.values)
