"""What a question says must show in its plan: what is left over makes it unclear or unsure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from app.bi.nlq.reading import Reading
from app.bi.periods.spans import unit_start
from app.bi.plans.entities import Dimension, spoken
from app.bi.plans.plan import Plan
from app.bi.words.tokens import stem


class UnclearError(Exception):
    """The words were understood, what they ask for together was not; ``choices`` may settle it."""

    def __init__(self, text: str, choices: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.choices = tuple(choices)


def checked(plan: Plan, reading: Reading) -> Plan:
    """Words that say what is wanted must show in the plan; where they hardly do, it is unsure.

    Raises: UnclearError.
    """
    flags = reading.flags
    plan = replace(plan, unsure=plan.unsure + reading.unsure)
    totals = reading.entity.data.get("totals")
    if (
        "average" in flags
        and totals
        and (plan.dimensions or plan.grain is None)
        and reading.measure_word in totals["words"]
    ):
        group = plan.dimensions[0].label if plan.dimensions else "month"
        by = f"by {group}" + (f" {plan.period.label}" if plan.period else "")
        choices = (f"{reading.measure_word.capitalize()} {by}", f"Average {totals['single']} {by}")
        raise UnclearError("whether totals or single amounts are averaged", choices)
    if "average" in flags and plan.method != "average" and plan.kind != "mean":
        raise UnclearError("of what the average is wanted")
    if plan.kind != "list" and reading.columns:
        raise UnclearError(f"what {spoken(reading.columns[0])} has to do with it")
    if flags & {"change", "previous"} and plan.compared is None:
        raise UnclearError("what is to be compared")
    if "share" in flags and plan.kind != "share":
        raise UnclearError("the share of what is wanted")
    if reading.rank and not (plan.ranked or plan.order or plan.method in ("max", "min")):
        raise UnclearError(f"what is meant by {reading.rank_word}")
    if plan.measure is not None and plan.measure.of_named and reading.noun_at is None:
        raise UnclearError(f"whose {reading.measure_word} is meant")
    if "how_long" in flags and (plan.measure is None or plan.measure.unit is None):
        raise UnclearError("what is to be measured")
    if "how_much" in flags and plan.kind not in ("measure", "share"):
        raise UnclearError("what amount is meant")
    told = reading.is_record and reading.date in reading.columns
    figured = plan.entity.default_measure or plan.entity.amount is None
    if "amount" in flags and plan.kind == "count" and plan.dimensions and not figured:
        raise UnclearError("what amount is meant")  # "clients and balance per account manager"
    if "when" in flags and not told and (plan.order is None or plan.kind != "list"):
        raise UnclearError("whose date is wanted")
    timed = (
        reading.is_timed
        or reading.periods
        or reading.grain
        or reading.rank
        or reading.sort
        or reading.unit
    )
    implied = reading.entity.date_filters.get(reading.date or "")
    if (
        reading.date
        and not (timed or implied or "when" in flags)
        and plan.kind in ("list", "count")
    ):
        plan = replace(plan, unsure=plan.unsure + 1)  # "which invoices does ACME pay"
    plan = replace(plan, unsure=plan.unsure + _taken_for_granted(plan, reading))
    figures = {
        "how_much",
        "sum",
        "average",
        "amount",
        "compare",
        "trend",
        *reading.flags & {"list"},
    }
    said = flags & figures or plan.dimensions or plan.grain or plan.ranked or reading.rank
    named = reading.noun_at is not None and reading.measure_at is not None
    if (
        plan.kind == "measure"
        and named
        and not said
        and (reading.noun_at or 0) < (reading.measure_at or 0)
    ):
        return replace(plan, unsure=plan.unsure + 1)  # "invoices with a discount"
    return plan


def _taken_for_granted(plan: Plan, reading: Reading) -> int:
    """How much of a plan is only the usual: what no word of the question says."""
    owed = any(one.amount for _, one in reading.conditions)
    default = plan.measure is not None and plan.measure.default and reading.measure is None
    # "how much have we booked": nothing but a verb says whose amounts they are.
    found = int(plan.kind == "measure" and default and reading.noun_at is None and not owed)
    # "the overdue amount by rep", counted: the amount is nowhere.
    found += "amount" in reading.flags and plan.kind in ("list", "count") and plan.order is None
    if plan.period is not None and plan.date == plan.entity.date and not reading.date:
        # "blocked tasks since May", "hours spent this year": the day that they were created may not
        # be what is meant.
        stated = any(
            one.path in ("status", "stage") and one.date is None for one in plan.conditions
        )
        noted = "date_note" in plan.entity.data
        found += noted and (stated or plan.kind == "measure")
    # "the highest invoice amount by country": of each of them, or the first of all.
    extreme = reading.rank_word in ("highest", "lowest") and not (reading.subjects or reading.limit)
    found += extreme and bool(plan.ranked) and plan.kind == "measure"
    found += _is_cut(plan) + _is_of_no_kind(plan, reading)
    # "the stage with the most money": that of the open deals, or the won ones.
    found += bool(plan.ranked) and plan.kind == "measure" and _is_of_all_stages(plan)
    found += _is_to_come(plan, reading) + _is_of_two_dates(plan, reading)
    # "not qualified": not yet, or no more.
    found += any(one.negated and one.path in ("status", "stage") and len(one.values) == 1
                 for one in plan.conditions)  # fmt: skip
    # "not solved in May": not then, or made then and not solved at all.
    found += (
        plan.date == plan.entity.date
        and bool(plan.period)
        and plan.kind != "share"
        and any(one.negated and one.date for one in plan.conditions)
    )
    # "which clients have the most tickets": one, or some of them.
    singular = reading.one_subject or reading.rank_word in ("top", "bottom")
    found += bool(plan.ranked and reading.subjects and not reading.limit and not singular)
    totals = plan.entity.data.get("totals", {}).get("words", ())
    # "monthly average revenue": of the months, or of what is in them.
    found += "average" in reading.flags and bool(plan.grain) and reading.measure_word in totals
    found += _is_of_either_end(plan, reading)
    return found + _may_be_apart(plan, reading) + _is_odd(plan, reading)


def _is_of_either_end(plan: Plan, reading: Reading) -> bool:
    """``weighted pipeline by month``: of the month that deals were made in, or are to close in."""
    waiting = plan.measure is not None and plan.measure.money and plan.measure.filter
    ahead = plan.entity.data.get("ahead") and not reading.date
    return bool(plan.grain and waiting and ahead and plan.date == plan.entity.date)


def _is_of_two_dates(plan: Plan, reading: Reading) -> bool:
    """``opened and closed in May``, ``reopened in May``: of what day of them the period is."""
    if plan.period is None or plan.kind == "share":
        return False
    stated = [one for one in plan.conditions if not one.negated and "/" not in one.text[:12]]
    if reading.date:
        return any(one.date not in (None, plan.date) for one in stated)
    if plan.date != plan.entity.date:
        return _is_from_then(reading)  # "invoices from May that are paid"
    if plan.entity.issued:
        return False
    words = [one.words.split()[-1] for one in stated if one.words and one.date is None]
    return any(word.endswith("ed") and not word.startswith("un") for word in words)


def _is_from_then(reading: Reading) -> bool:
    """Whether the records themselves are said to be from the period, not what was done."""
    at = next((at for at, one in enumerate(reading.slots) if "period" in one), 0)
    said = " ".join(one.text.lower() for one in reading.slots[max(0, at - 1) : at + 1]).split()
    noun = reading.noun_at is not None and reading.noun_at < at
    behind = any("state" in one for one in reading.slots[at + 1 :])
    return noun and behind and bool({"from", "of"} & set(said[:2]))


def _is_of_all_stages(plan: Plan) -> bool:
    """Whether groups are the stages of records in whichever state."""
    staged = any(one.path == "stage" for one in plan.dimensions)
    return staged and not any(one.is_own_state for one in plan.conditions)


def _is_cut(plan: Plan) -> bool:
    """``per quarter, the last 4 quarters``: whole ones may be meant, not those days back."""
    start = plan.period.start if plan.period is not None else None
    if plan.period is None or start is None or plan.grain not in ("quarter", "half", "year"):
        return False
    named = f"{plan.grain}s" in plan.period.label
    return named and unit_start(start, plan.grain) != start


def _is_of_no_kind(plan: Plan, reading: Reading) -> bool:
    """``what is overdue``: the word is one of several kinds of records, and none is named."""
    named = reading.noun_at is not None or reading.is_record or reading.measure or reading.rate
    figure = {"amount", "how_much", "sum"} & reading.flags or reading.order
    return plan.kind in ("list", "count") and not (named or figure or plan.dimensions)


def _is_to_come(plan: Plan, reading: Reading) -> bool:
    """``solved within 2 days``: days that are still to come, of what is over."""
    if plan.period is None or plan.date in plan.entity.data.get("ahead", ()):
        return False
    start, end, today = plan.period.start, plan.period.end, reading.now.today
    is_running = plan.period.grain is not None and start == today  # "this week", on a Monday
    is_ahead = start is not None and start >= today and not is_running
    return is_ahead and (end is None or (end - today).days > 1)


def _is_odd(plan: Plan, reading: Reading) -> bool:
    """What nobody would ask for: the words were probably meant otherwise."""
    single = {one.path for one in plan.conditions if len(one.values) == 1 and not one.negated}
    if any({one.path, one.key} & single for one in plan.dimensions):
        return True  # groups of which there is but one
    at, slots = reading.noun_at, reading.slots
    before = slots[at - 1].text.lower() if at else ""
    if plan.kind == "count" and "count" not in reading.flags and before.split()[-1:] == ["we"]:
        return True  # "what did we bill": no noun, but what is done
    amounts = [place for place, one in enumerate(slots) if place and "amount" in one]
    owned = any("with" in slots[place - 1] or "with" in slots[place - 2] for place in amounts)
    return plan.kind == "measure" and owned and reading.measure is None


def _may_be_apart(plan: Plan, reading: Reading) -> bool:
    """``won and lost deals per month``: of both together, or of each."""
    for first, second in pairwise(reading.conditions):
        between = {one.text.lower() for one in reading.slots[first[0] : second[0]]}
        values = set(first[1].values), set(second[1].values)
        same = first[1].path == second[1].path and first[1].path is not None
        if same and {"and", "or"} & between and values[0] & values[1] and values[0] != values[1]:
            return True  # "new and open tickets": the new ones are open, too
        if same and plan.kind == "count" and not {"and", "or"} & between and not plan.dimensions:
            return True  # "how many hot, warm, cold"
    if plan.kind == "list" or not (plan.grain or plan.dimensions):
        return False
    grouped = {path for one in plan.dimensions for path in (one.path, one.key)}
    several = {one.path for one in plan.conditions if len(one.values) > 1 and not one.negated}
    said = [(at, one) for at, one in reading.conditions if one.path in several - grouped]
    return any(
        first[1].path == second[1].path
        and any(one.text.lower() == "and" for one in reading.slots[first[0] : second[0]])
        for first, second in pairwise(said)
    )


def check_ranks(reading: Reading, dimensions: Sequence[Dimension]) -> None:
    """What looks like a ranking and is none that one query gives.

    Raises: UnclearError.
    """
    ranked = reading.rank in ("desc", "asc")
    if ranked and dimensions and reading.grain and not reading.subjects:
        raise UnclearError(f"how to rank the {dimensions[0].label} within each {reading.grain}")
    if ranked and reading.subjects and _is_of_ranked(reading):
        raise UnclearError(f"which {reading.subjects[0].label} is meant: ask for it first")
    figure = reading.measure or reading.rate
    extreme = reading.rank_word in ("highest", "lowest") and not {"count", "amount"} & reading.flags
    if ranked and extreme and reading.grain and not (figure or dimensions or reading.subjects):
        raise UnclearError(f"how to rank {reading.entity.many} within each {reading.grain}")
    if ranked and dimensions and reading.order and not reading.order_words.startswith("by "):
        label = dimensions[0].label
        raise UnclearError(f"how to rank {reading.entity.many} within each {label}: ask for one")
    if reading.rank_word in ("best", "worst") and figure is None:
        raise UnclearError(f"by what the {reading.rank_word} is chosen")
    if reading.unit and reading.rank is None and reading.threshold is None:
        raise UnclearError(f"which {reading.unit} is wanted")


def _is_of_ranked(reading: Reading) -> bool:
    """``invoices of the top debtor``: a ranking within a question about other records."""
    noun, rank = reading.noun_at, reading.rank_at
    if noun is None or rank is None or noun > rank:
        return False
    between = reading.slots[noun + 1 : rank]
    plain = all({"stop"} == set(one.meanings) for one in between)
    return plain and any(one.text.lower() in ("of", "from", "for") for one in between)


def check_period_of_amount(reading: Reading) -> None:
    """``customers whose revenue this year is above 20k``: what was sold, no property of theirs.

    Raises: UnclearError.
    """
    path = reading.entity.amount
    is_own = reading.entity.data.get("unranked") and reading.periods and not reading.date
    if is_own and any(re.match(rf"{path} (?!ne)", one.text) for _, one in reading.conditions):
        raise UnclearError(f"which {spoken(path or '')} of that time is meant")


def has_head(reading: Reading) -> bool:
    """Whether a word says what is asked for: records of a kind, or a figure of them."""
    figures = reading.measure or reading.rate or (reading.order and not _is_bare_rank(reading))
    amount = {"amount", "how_much"} & reading.flags and reading.entity.default_measure
    owed = any(one.amount for _, one in reading.conditions)
    chosen = reading.rank or reading.threshold
    grouped = reading.dimensions or reading.grain or (reading.subjects and chosen)
    stated = bool(reading.conditions and grouped)
    said = reading.noun_at is not None or reading.is_record or _is_named_by_group(reading)
    heads = reading.entity.data.get("heads", ())  # "what did Tom Becker win"
    named = any("value" in one for one in reading.slots) and "list" in reading.flags
    needed = reading.entity.data.get("needs")
    listed = reading.date and "list" in reading.flags
    said = said or bool(listed and any(one.name == needed for one in reading.subjects))
    said = said or (named and any(one.text.lower() in heads for one in reading.slots))
    return bool(said or figures or amount or owed or stated)


def _is_bare_rank(reading: Reading) -> bool:
    """``the biggest``: that something is ordered so does not say what it is."""
    ranks = {"highest", "lowest", "newest", "oldest", "best", "worst"}
    return any("order" in one and ranks & set(one.meanings) for one in reading.slots)


def _is_named_by_group(reading: Reading) -> bool:
    """``payment methods used more than 10 times``: the group says whose it is."""
    words = [one.text.lower().split() for one in reading.slots if "dimension" in one]
    nouns, lexicon = reading.entity.nouns, reading.entity.lexicon
    parts = {stem(part) for one in words for part in one[:-1]}
    named = any(one in nouns or (one,) in lexicon for one in parts)
    if reading.rank_word in ("most", "least"):  # "the most common payment method"
        return named or len({*reading.subjects, *reading.dimensions}) > 1
    return named and reading.threshold is not None and reading.threshold.counted


def has_needs(reading: Reading) -> bool:
    """Whether records that nobody asks for by themselves are what the question is about."""
    data = reading.entity.data
    needed, only = data.get("needs"), data.get("named_only")
    if only is not None and reading.noun_at is None:
        return bool(reading.measure_word == only)
    if needed is None or reading.noun_at is not None:
        return True
    lines = reading.entity.dimensions[needed].path.partition("/")[0]
    named = any((one.path or "").startswith(f"{lines}/") for _, one in reading.conditions)
    counted = reading.measure is not None and reading.measure.money is None
    return (
        named
        or counted
        or any(
            one.name in (needed, *data.get("needs_also", ()))
            for one in (*reading.dimensions, *reading.subjects)
        )
    )
